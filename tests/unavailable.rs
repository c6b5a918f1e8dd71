//! What a bot does while something that it needs is not there: the venue at its start, room for its journal.
#![cfg(unix)]

use crate::believed::BOT;
use crate::candlewick::{BINARY, Folder};
use crate::lying_venue::LyingVenue;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

/// How often its status is looked at, at most.
const MAX_LOOKS: u32 = 1_000;
/// What a file may hold where the disk is full, in blocks of 512 bytes.
const FULL: &str = "1024";

fn folder(url: &str) -> Folder {
    Folder::new()
        .with("bot.toml", &BOT.replace("OPENS", "0"))
        .with_variable("CANDLEWICK_BROKER__BASE_URL", url)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", url)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", "token-1")
        .with_variable("CANDLEWICK_BROKER__API_KEY", "key-1")
}

/// A process that ends with its test.
struct Bot(Child);

impl Bot {
    fn start(mut command: Command) -> Self {
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn stdout(&mut self) -> BufReader<ChildStdout> {
        BufReader::new(self.0.stdout.take().unwrap())
    }

    fn stderr(&mut self) -> BufReader<ChildStderr> {
        BufReader::new(self.0.stderr.take().unwrap())
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A line that has one of these parts; what comes before it is left out.
fn line_with(lines: &mut impl BufRead, part: &str) -> String {
    let mut all = String::new();
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "no {part:?} in:\n{all}");
        if line.contains(part) {
            return line;
        }
        all += &line;
    }
}

#[test]
fn a_venue_that_is_down_at_the_start_is_waited_for_and_then_traded_with() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let address = listener.local_addr().unwrap();
    drop(listener);
    let folder = folder(&url);
    // Without it, the start fails.
    let arguments = ["live", "--config", "bot.toml", "--journal", "run.db", "--for", "1s"];
    folder.run(&arguments).fails(4, &["--wait"]);
    let mut bot = Bot::start(folder.command(&[&arguments[..], &["--wait"]].concat()));
    line_with(&mut bot.stderr(), "wait");
    let venue = LyingVenue::start_on(TcpListener::bind(address).unwrap(), |_, _, _| {});
    // It began, and ends by itself.
    line_with(&mut bot.stdout(), "");
    assert_eq!(bot.0.wait().unwrap().code(), Some(0));
    assert_eq!(venue.url, url);
}

#[test]
fn where_the_journal_has_no_room_any_more_the_status_says_suspended() {
    let venue = LyingVenue::start(|_, _, _| {});
    let folder = folder(&venue.url);
    // The program is told that a file may not grow, and not ended for it.
    let script =
        format!("trap '' XFSZ; ulimit -f {FULL}; exec {BINARY} live --config bot.toml --journal run.db");
    let mut command = folder.command(&[]);
    let environment: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    let place = command.get_current_dir().unwrap().to_owned();
    command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place).env_clear();
    command
        .envs(environment.into_iter().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    let mut bot = Bot::start(command);
    let (mut stdout, mut stderr) = (bot.stdout(), bot.stderr());
    std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let log = std::thread::spawn(move || line_with(&mut stderr, "the journal cannot be written"));
    let status = || folder.run(&["status", "--config", "bot.toml", "--journal", "run.db"]).stdout;
    // As soon as there is room again it goes on, so that not every look sees it.
    let is_suspended = |_| status().contains("suspended: the journal cannot be written");
    assert!((0..MAX_LOOKS).any(is_suspended), "{}", status());
    assert!(log.join().unwrap().contains("nothing is opened until it can"));
}
