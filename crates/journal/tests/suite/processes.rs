//! Two processes with one journal. The second process runs this test binary.

use super::fixture::{Fixture, commit};
use candlewick_journal::{Holder, JournalError, JournalUrl, Reader, Store};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

pub(crate) const JOURNAL: &str = "CANDLEWICK_TEST_CHILD_JOURNAL";
pub(crate) const READING: &str = "CANDLEWICK_TEST_CHILD_READS";

pub(crate) fn command(program: &std::path::Path, url: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "child", "--nocapture"]).env(JOURNAL, url);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

pub(crate) fn outcome(child: &mut Child) -> String {
    let said = BufReader::new(child.stdout.take().expect("it was piped"));
    let mut lines = said.lines().map_while(Result::ok);
    // Stops reading here, because the child process waits for this one.
    let outcome = lines.find_map(|line| line.split_once("outcome: ").map(|(_, outcome)| outcome.to_owned()));
    outcome.expect("the started process opens a journal")
}

fn start(fixture: &Fixture) -> Child {
    let program = std::env::current_exe().expect("a test has a program");
    command(&program, &fixture.text).spawn().expect("this program can be started again")
}

pub(crate) fn play_child() {
    let Ok(url) = std::env::var(JOURNAL) else { return };
    let url: JournalUrl = url.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut opened = Store::open(&url, &Holder::current_process("child")).await;
        let mut outcome = match &mut opened {
            Ok(store) => {
                commit(store, &["child"]).await;
                "held".to_owned()
            }
            Err(error) => format!("{error:?}"),
        };
        if std::env::var(READING).is_ok() {
            let lines = Reader::open(&url).await.unwrap().verify().await.unwrap().entries;
            outcome = format!("{outcome} read: {lines}");
        }
        writeln!(std::io::stdout().lock(), "\noutcome: {outcome}").unwrap();
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    });
    // The parent process has stopped reading.
    std::process::exit(0);
}

pub(crate) async fn other_process_holds_the_journal_until_killed(fixture: &Fixture) {
    let mut child = start(fixture);
    assert_eq!(outcome(&mut child), "held");
    let us = Holder::current_process("parent");
    match Store::open(&fixture.url, &us).await.map(drop) {
        Err(JournalError::HeldBy { who, .. }) => {
            assert_eq!(who, format!("child (process {} on {})", child.id(), us.host));
        }
        other => panic!("{other:?}"),
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut store = Store::open(&fixture.url, &us).await.unwrap();
    commit(&mut store, &["parent"]).await;
    assert_eq!(fixture.bodies().await, ["child", "parent"]);
}

pub(crate) async fn concurrent_opens_have_one_winner(fixture: &Fixture) {
    let mut children: Vec<Child> = (0..4).map(|_| start(fixture)).collect();
    let mut outcomes: Vec<String> = children.iter_mut().map(outcome).collect();
    for child in &mut children {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    outcomes.sort_by_key(|outcome| outcome != "held");
    assert_eq!(outcomes[0], "held");
    assert!(outcomes[1..].iter().all(|outcome| outcome.starts_with("HeldBy")), "{outcomes:?}");
    assert_eq!(fixture.bodies().await, ["child"]);
}
