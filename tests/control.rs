//! The kill switch, with and without a running bot.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::recording;
use crate::serving::{Served, send};
use candlewick_journal::{JournalUrl, Reader};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

const STATE: &str =
    r#"{"phase":"halted","reason":"news","in_flight":0,"in_doubt":[],"open":2,"at":1767571200000}"#;

fn bot(socket: &Path, answer: String) -> JoinHandle<Value> {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
        let mut order: Value = serde_json::from_str(&line).unwrap();
        // The id identifies an order that arrives by two routes; a query needs none.
        if order["order"] != "status" {
            assert_eq!(order.as_object_mut().unwrap().remove("token").unwrap().as_str().unwrap().len(), 32);
        }
        order
    })
}

fn serve_obedient_bot(socket: &Path, state: &str) -> JoinHandle<Value> {
    bot(socket, format!("{{\"answer\":\"done\",\"state\":{state}}}"))
}

#[test]
fn halt_without_a_bot_writes_a_file_that_halts_the_next_bot() {
    let folder = Folder::new();
    recording::write(&folder.path("candlewick.db"), []);
    let halted = json!({"halted": true, "bot_runs": false, "halt_file": "candlewick.db.HALT"});
    assert_eq!(folder.run(&["halt", "--json", "--reason", "news at noon"]).json(), halted);
    assert_eq!(folder.read("candlewick.db.HALT"), "news at noon\n");
    assert_eq!(folder.run(&["halt", "--json"]).json(), halted);
    let resumed = json!({"bot_runs": false, "removed": "candlewick.db.HALT", "orders_taken_back": 2});
    assert_eq!(folder.run(&["resume", "--json"]).json(), resumed);
    assert!(!folder.path("candlewick.db.HALT").exists());
    folder.run(&["resume"]).fails(2, &["candlewick.db.sock", "candlewick.db.HALT", "--config"]);
    // Symbolic links are not followed; the order in the journal halts.
    std::os::unix::fs::symlink(folder.path("mine"), folder.path("candlewick.db.HALT")).unwrap();
    let halted = folder.run(&["halt", "--reason", "news", "--json"]).json();
    assert_eq!(halted, json!({"halted": true, "bot_runs": false, "halt_file": null}));
    assert!(!folder.path("mine").exists());
}

#[test]
fn status_and_why_show_the_end_of_a_run_its_blocks_and_its_gates() {
    let limited = |limit: &str, code| {
        let folder = recording::folder().with("limit.toml", &format!("[risk]\n{limit}\n"));
        let run = ["--speed", "max", "--until-end", "--config", "limit.toml"];
        assert_eq!(recording::record(&folder, &run).code, code);
        folder
    };
    let why = |folder: &Folder, at: &str| folder.query(&format!("why {at}"), "run.db");
    let folder = limited("max_loss_streak = 2", 6);
    assert_eq!(folder.query("status", "run.db")["ended_by"]["rule"], "LossStreak");
    folder.run(&["resume", "--journal", "run.db"]).fails(2, &["LossStreak", "candlewick halt"]);
    assert!(why(&folder, "2030-01-01T00:00")["ended"].to_string().contains("LossStreak"));
    // Trades of 10.00 and a daily loss limit of 15.00: after the first loss no stake fits.
    let folder = limited("daily_loss_limit = 15", 0);
    let status = folder.query("status", "run.db");
    assert!(status["all_blocked"] == true && status["blocked"][0]["rule"] == "DailyLossLimit", "{status}");
    assert_eq!(status["ended_by"], Value::Null);
    let latest = why(&folder, "");
    let decisions = latest["decisions"].as_array().unwrap();
    assert!(decisions.iter().all(|decision| decision["rule"] == "DailyLossLimit"), "{latest}");
    assert_eq!(why(&folder, "2026-01-06T01:00")["ended"], Value::Null);
    let gates = "\"open\":2,\"gates\":{\"hook\":\"closed: 1 of 2 virtual losses in a row\"}";
    let bot = serve_obedient_bot(&folder.path("run.db.sock"), &STATE.replace("\"open\":2", gates));
    let gate = folder.query("status", "run.db")["bot"]["gates"]["hook"].to_string();
    assert!(gate.contains("1 of 2"), "{gate}");
    assert_eq!(bot.join().unwrap(), json!({"order": "status"}));
}

#[test]
fn halt_time_and_reason_outlive_the_run() {
    let folder = recording::folder().with("run.db.HALT", "news at noon\n");
    let run = recording::record_in_lock_step(&folder);
    assert!(run.code == 6 && run.stderr.contains("news at noon"), "{}", run.stderr);
    let status = folder.query("status", "run.db");
    assert_eq!(status["halted"], true);
    for part in ["run.db.HALT", "news at noon"] {
        assert!(status["halt"]["reason"].as_str().unwrap().contains(part), "{status}");
    }
    assert!(status["halt"]["at"].as_i64() > Some(1_767_571_200_000), "{status}");
}

#[test]
fn paths_of_socket_and_halt_file_follow_the_journal_and_the_settings() {
    let (config, control) = (["--config", "bot.toml"], "control = { socket = 'a.sock', halt_file = 'STOP' }");
    for (settings, named, journal, socket, file) in [
        ("[journal]\nurl = \"sqlite://demo.db\"\n", config, "demo.db", "demo.db.sock", "demo.db.HALT"),
        (control, config, "candlewick.db", "a.sock", "STOP"),
        ("", ["--journal", "run.db"], "run.db", "run.db.sock", "run.db.HALT"),
    ] {
        let folder = Folder::new().with("bot.toml", settings);
        recording::write(&folder.path(journal), []);
        assert_eq!(folder.run(&[&["halt", "--json"], &named[..]].concat()).json()["halt_file"], file);
        assert!(folder.path(file).exists(), "{file}");
        check_found(&folder, &named, &folder.path(socket));
    }
}

fn check_found(folder: &Folder, named: &[&str], socket: &Path) {
    let bot = serve_obedient_bot(socket, STATE);
    let halted = folder.run(&[&["halt", "--json", "--reason", "news"], named].concat()).json();
    assert_eq!(bot.join().unwrap(), json!({"order": "halt", "reason": "news"}));
    let state: Value = serde_json::from_str(STATE).unwrap();
    assert_eq!(halted, json!({"halted": true, "bot_runs": true, "state": state}));
}

/// A database that does not answer. The paths of its bot do not depend on the working folder.
#[test]
fn unreadable_journal_does_not_count_as_a_journal_without_a_bot() {
    let server = "[journal]\nurl = \"postgres://ann@127.0.0.1:1/trading\"\n";
    let folder = Folder::new().with("bot.toml", server);
    folder.run(&["halt", "--config", "bot.toml"]).fails(1, &["trading-", ".HALT"]);
    let made: Vec<_> = std::fs::read_dir(folder.path(".state/candlewick")).unwrap().collect();
    let [Ok(made)] = &made[..] else { panic!("{made:?}") };
    check_found(&folder, &["--config", "bot.toml"], &made.path().with_extension("sock"));
}

#[test]
fn resume_removes_the_halt_file_before_sending_the_order() {
    let folder = Folder::new().with("candlewick.db.HALT", "news\n");
    let state = STATE.replace("halted", "trading").replace("\"reason\":\"news\",", "");
    let bot = serve_obedient_bot(&folder.path("candlewick.db.sock"), &state);
    let resumed = folder.run(&["resume", "--json"]).json();
    assert_eq!(bot.join().unwrap(), json!({"order": "resume"}));
    assert_eq!(resumed["removed"], "candlewick.db.HALT");
    assert!(!folder.path("candlewick.db.HALT").exists());
}

#[test]
fn reports_a_disobedient_bot_and_halts_it_by_file() {
    let resolve = &["resolve", "1", "--not-opened"][..];
    for (order, answer, code, part) in [
        (&["halt"][..], "", 1, ""),
        (&["halt"], "what?", 1, ""),
        (&["halt"], r#"{"answer":"refused","problem":"not today"}"#, 1, "not today"),
        (&["halt"], r#"{"answer":"unanswered","problem":"too busy"}"#, 1, "too busy"),
        (resolve, r#"{"answer":"refused","problem":"trade #1 is not in doubt"}"#, 2, "trade #1"),
        (resolve, r#"{"answer":"venue_failed","problem":"no trade was read"}"#, 4, "no trade was read"),
        (resolve, r#"{"answer":"unanswered","problem":"too busy"}"#, 1, "too busy"),
    ] {
        let folder = Folder::new();
        let bot = bot(&folder.path("candlewick.db.sock"), answer.to_owned());
        folder.run(order).fails(code, &[part]);
        bot.join().unwrap();
        assert_eq!(folder.path("candlewick.db.HALT").exists(), order == ["halt"], "{order:?} {answer}");
    }
}

#[test]
fn explains_how_to_halt_without_a_journal_or_valid_configuration() {
    let halt = ["halt", "--config", "bot.toml"];
    let long = "x".repeat(5_000);
    for (settings, arguments, parts) in [
        ("risk.max_open = 1", &halt[..], &["risk.max_open", "candlewick.db.HALT"][..]),
        ("journal.url = 'mysql://ann:hush@db/x'", &halt, &["journal.url (bot.toml)"]),
        ("", &["resume", "--config", "no.toml"], &["no.toml"]),
        ("", &["halt", "--reason", &long], &["reason"]),
        ("", &["halt"], &["nothing was halted", "candlewick.db", "--journal"]),
        ("", &["resume"], &["nothing to resume"]),
    ] {
        let folder = Folder::new().with("bot.toml", settings);
        let run = folder.run(arguments);
        run.fails(2, parts);
        assert!(!run.stderr.contains("hush"), "{}", run.stderr);
        let has_file = folder.path("candlewick.db.HALT").exists();
        assert!(arguments != ["halt"] || !has_file, "no halt file may be left in a folder without a bot");
    }
}

pub(crate) struct Live(Child);

impl Live {
    pub(crate) fn start(folder: &Folder) -> Self {
        Self::started(folder.command(&["live", "--config", "bot.toml"]))
    }

    pub(crate) fn started(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the run did not start");
        Self(child)
    }

    pub(crate) fn id(&self) -> String {
        self.0.id().to_string()
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        send("INT", &self.0);
        let mut rest = self.0.stdout.take().unwrap();
        std::io::copy(&mut rest, &mut std::io::sink()).unwrap();
        self.0.wait().unwrap().code()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn venue_and_folder() -> (Served, Folder) {
    let served = Served::start(&[]);
    let folder = served.known_to(Folder::new().with("bot.toml", BOT));
    (served, folder)
}

pub(crate) fn venue_of_short_trades() -> (Served, Folder) {
    let (served, folder) = venue_and_folder();
    let bot = BOT.replace("\"01:00\"", "\"00:15\"");
    let bot = bot.replace("{ period = 2 }", "{ period = 2, oversold = 0.0, overbought = 100.0 }");
    assert!(bot.contains("00:15") && bot.contains("oversold"));
    (served, folder.with("bot.toml", &bot))
}

fn order(folder: &Folder, arguments: &[&str]) -> Value {
    folder.run(&[arguments, &["--json"]].concat()).json()["state"].clone()
}

#[track_caller]
fn check_halt_and_resume(folder: &Folder, named: [&str; 2]) {
    let halted = order(folder, &[&["halt", "--reason", "news"], &named[..]].concat());
    assert_eq!((&halted["phase"], &halted["reason"]), (&json!("halted"), &json!("news")));
    assert_eq!(order(folder, &[&["resume"], &named[..]].concat())["phase"], "trading");
}

#[test]
fn reaches_a_bot_with_a_dead_socket_through_its_journal_and_keeps_its_lock() {
    let (_served, folder) = venue_and_folder();
    let (socket, journal) = (folder.path("candlewick.db.sock"), folder.path("candlewick.db"));
    let other = UnixListener::bind(&socket).unwrap();
    folder.run(&["live", "--config", "bot.toml"]).fails(7, &["control.socket"]);
    let url = JournalUrl::from_path(&journal);
    let holder =
        recording::block_on(async { Reader::open(&url).await.unwrap().current_lease().await.unwrap() });
    assert_eq!(holder, None, "a start that cannot listen must release the journal");
    drop(other);
    std::fs::remove_file(&socket).unwrap();

    let bot = Live::start(&folder);
    // However long the heartbeat has been missing.
    recording::edit(&journal, "UPDATE lease SET heartbeat = heartbeat - 86400000");
    folder.run(&["live", "--config", "bot.toml"]).fails(7, &[&bot.id()]);
    let holder = folder.query("status", "candlewick.db")["holder"].clone();
    assert_eq!((&holder["pid"], &holder["alive"]), (&json!(bot.0.id()), &json!(true)), "{holder}");
    std::fs::rename(&socket, folder.path("away.sock")).unwrap();
    let _silent = UnixListener::bind(&socket).unwrap();
    check_halt_and_resume(&Folder::new(), ["--journal", journal.to_str().unwrap()]);
    let lines = recording::lines(&journal);
    for control in ["\"control\":\"halt\"", "\"control\":\"resume\""] {
        assert_eq!(lines.iter().filter(|stored| stored.line.body.contains(control)).count(), 1, "{control}");
    }
    assert_eq!(bot.end(), Some(130));
}

/// Its journal is `candlewick.db` in its start folder; elsewhere that path names another file, or none.
#[test]
fn finds_a_bot_from_another_folder_by_its_configuration() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let socket = folder.path("candlewick.db.sock");
    assert_eq!(std::fs::symlink_metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let (config, state) = (folder.path("bot.toml"), folder.path(".state"));
    let (config, state) = (config.to_str().unwrap(), state.to_str().unwrap());
    let elsewhere = || Folder::new().with_variable("XDG_STATE_HOME", state);
    let misled = elsewhere();
    recording::write(&misled.path("candlewick.db"), []);
    check_halt_and_resume(&misled, ["--config", config]);
    assert_eq!(order(&misled, &["reload", "--config", config])["phase"], "trading");
    let status = misled.run(&["status", "--config", config, "--json"]).json();
    assert_eq!(status["bot"]["phase"], "trading");
    assert!(!misled.path("candlewick.db.HALT").exists());
    let misled = misled.with_variable("CANDLEWICK_JOURNAL__URL", "sqlite://candlewick.db");
    misled.run(&["status", "--config", config]).fails(2, &["no run yet"]);
    let journal = folder.path("candlewick.db").canonicalize().unwrap();
    let named = format!("--journal {}", journal.display());
    elsewhere().run(&["halt"]).fails(2, &["nothing was halted", &named]);

    check_two_by_one_configuration(&folder, &elsewhere(), config);
    assert_eq!(bot.end(), Some(130));
    assert!(!socket.exists());
    let left: Vec<_> = std::fs::read_dir(folder.path(".state/candlewick")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // A bot that no longer runs is halted only if its journal is named.
    elsewhere().run(&["halt", "--config", config]).fails(2, &["nothing was halted", "--journal"]);
}

fn check_two_by_one_configuration(folder: &Folder, elsewhere: &Folder, config: &str) {
    let second = Live::started(folder.command(&["live", "--config", config, "--journal", "second.db"]));
    let both = ["2 bots", "candlewick.db or --journal ", "second.db"];
    elsewhere.run(&["halt", "--config", config]).fails(2, &both);
    let here = order(folder, &["halt", "--config", "bot.toml"]);
    assert_eq!(here["phase"], "halted", "its own folder says which");
    assert_eq!(second.end(), Some(130));
}

pub(crate) fn wait_until(folder: &Folder, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut states = (0..2_000).map(|_| {
        let status = folder.run(&["status", "--config", "bot.toml", "--json"]);
        // Nothing can be read before its first entries are durable.
        if status.code == 0 { status.json()["bot"].clone() } else { Value::Null }
    });
    states.find(is_so).unwrap_or_else(|| panic!("it never came to this: {what}"))
}

#[test]
fn order_left_in_the_journal_halts_the_next_bot_until_a_resume() {
    let (_served, folder) = venue_and_folder();
    recording::write(&folder.path("candlewick.db"), []);
    let file = folder.path("candlewick.db.HALT");
    assert_eq!(folder.run(&["halt", "--config", "bot.toml", "--reason", "news"]).code, 0);
    std::fs::remove_file(&file).unwrap();
    let bot = Live::start(&folder);
    let halted = wait_until(&folder, "halted", |bot| bot["phase"] == "halted");
    assert_eq!(halted["reason"], "news");
    std::fs::write(&file, "news\n").unwrap();
    assert_eq!(order(&folder, &["resume", "--config", "bot.toml"])["phase"], "trading");
    assert!(!file.exists());
    let is_healthy = || folder.run(&["status", "--config", "bot.toml", "--running"]).code;
    assert_eq!(is_healthy(), 0, "like a container or a monitor");
    assert_eq!(bot.end(), Some(130));
    assert_eq!(is_healthy(), 5);
}
