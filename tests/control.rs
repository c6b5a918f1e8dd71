//! The kill switch as a user types it: with a bot that listens, and with none.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::recording;
use crate::serving::Served;
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

/// A bot as far as orders go: it reads one, and answers with these words.
fn bot(socket: &Path, answer: String) -> JoinHandle<Value> {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
        let mut order: Value = serde_json::from_str(&line).unwrap();
        // By it an order is known again when it comes another way; a question needs none.
        if order["order"] != "status" {
            assert_eq!(order.as_object_mut().unwrap().remove("token").unwrap().as_str().unwrap().len(), 32);
        }
        order
    })
}

#[test]
fn without_a_bot_a_file_halts_the_next_one_until_resumed() {
    let folder = Folder::new();
    let file = folder.path("candlewick.db.HALT");
    recording::write(&folder.path("candlewick.db"), []);
    let halted = folder.run(&["halt", "--reason", "news at noon"]);
    assert_eq!(halted.code, 0, "{}", halted.stderr);
    assert!(halted.stdout.contains("No bot runs") && halted.stdout.contains("candlewick.db.HALT"));
    assert_eq!(folder.read("candlewick.db.HALT"), "news at noon\n");
    let again = folder.run(&["halt", "--json"]).json();
    assert_eq!(again, json!({"halted": true, "bot_runs": false, "halt_file": "candlewick.db.HALT"}));
    let resumed = folder.run(&["resume", "--json"]).json();
    let expected = json!({"bot_runs": false, "removed": "candlewick.db.HALT", "orders_taken_back": 2});
    assert_eq!(resumed, expected);
    assert!(!file.exists());
    let nothing = ["nothing to resume", "candlewick.db.sock", "candlewick.db.HALT", "--config"];
    folder.run(&["resume"]).fails(2, &nothing);
}

#[test]
fn a_run_that_a_final_limit_ended_is_told_as_such_by_status_resume_and_why() {
    let folder = recording::folder().with("streak.toml", "[risk]\nmax_loss_streak = 2\n");
    let run = ["--speed", "max", "--until-end", "--config", "streak.toml"];
    assert_eq!(recording::record(&folder, &run).code, 6);
    let status = folder.run(&["status", "--journal", "run.db", "--json"]).json();
    assert_eq!(status["ended_by"]["rule"], "LossStreak", "{status}");
    let status = folder.run(&["status", "--journal", "run.db"]).stdout;
    let ended = "halted: LossStreak, 2026-";
    assert!(
        status.contains(ended)
            && status.contains("; to go on, candlewick halt, start the bot, candlewick resume"),
        "{status}"
    );
    let resumed = folder.run(&["resume", "--journal", "run.db"]);
    resumed.fails(
        2,
        &[
            "nothing to resume: the run of this journal ended, halted: LossStreak",
            "`candlewick halt` before it begins",
        ],
    );
    let why = folder.run(&["why", "2030-01-01T00:00", "--journal", "run.db"]).stdout;
    assert!(
        why.contains("nothing is recorded after 2026-") && why.contains("the run was halted: LossStreak"),
        "{why}"
    );
    // Another end is none of a limit, and a moment within the run is not behind it.
    let other = recording::folder();
    assert_eq!(recording::record_in_lock_step(&other).code, 0);
    assert_eq!(other.run(&["status", "--journal", "run.db", "--json"]).json()["ended_by"], Value::Null);
    let why = other.run(&["why", "2026-01-06T01:00", "--journal", "run.db"]).stdout;
    assert!(!why.contains("nothing is recorded after"), "{why}");
}

#[test]
fn time_and_reason_of_a_halt_outlive_the_run() {
    let folder = recording::folder().with("run.db.HALT", "news at noon\n");
    let run = recording::record_in_lock_step(&folder);
    let ended = "the run ended halted at 2026-";
    assert_eq!(run.code, 6, "{}", run.stderr);
    assert!(
        run.stderr.contains(ended) && run.stderr.contains("UTC: the file run.db.HALT is there: news at noon"),
        "{}",
        run.stderr
    );
    let status = folder.run(&["status", "--journal", "run.db"]).stdout;
    assert!(
        status.contains("halted at 2026-") && status.contains("HALT is there: news at noon; run `cand"),
        "{status}"
    );
    let status = folder.run(&["status", "--journal", "run.db", "--json"]).json();
    let reason = json!("the file run.db.HALT is there: news at noon");
    assert_eq!((&status["halted"], &status["halt"]["reason"]), (&json!(true), &reason));
    assert!(status["halt"]["at"].as_i64() > Some(1_767_571_200_000), "{status}");
    assert_eq!(recording::record_in_lock_step(&recording::folder()).code, 0);
}

#[test]
fn a_limit_that_refuses_every_signal_is_said_by_status_and_why() {
    // Trades of 10.00 and a loss of 15.00 a day: after the first loss no stake fits.
    let folder = recording::folder().with("loss.toml", "[risk]\ndaily_loss_limit = 15\n");
    let run = ["--speed", "max", "--until-end", "--config", "loss.toml"];
    assert_eq!(recording::record(&folder, &run).code, 0);
    let status = folder.run(&["status", "--journal", "run.db"]).stdout;
    let says = [
        "none at present, because risk rules refuse every signal",
        "daily loss limit any more (",
        " left",
        "until 00:00 UTC",
    ];
    assert!(says.iter().all(|part| status.contains(part)), "{status}");
    let why = folder.run(&["why", "--journal", "run.db"]).stdout;
    let figures = "daily loss limit (DailyLossLimit: daily_loss_limit = 15; stake 10.00, ";
    assert!(why.contains(figures) && why.contains(" left)"), "{why}");
}

#[test]
fn status_says_how_far_the_gates_of_the_bot_are_from_opening() {
    let folder = recording::folder();
    assert_eq!(recording::record_in_lock_step(&folder).code, 0);
    let words = "closed: 1 of 2 virtual losses in a row";
    let answer = STATE.replace("\"open\":2", &format!("\"open\":2,\"gates\":{{\"hook\":\"{words}\"}}"));
    let status = |more: &[&str]| folder.run(&[&["status", "--journal", "run.db"], more].concat());
    for json in [false, true] {
        let socket = folder.path("run.db.sock");
        let bot = bot(&socket, format!("{{\"answer\":\"done\",\"state\":{answer}}}"));
        if json {
            assert_eq!(status(&["--json"]).json()["bot"]["gates"]["hook"], words);
        } else {
            let said = status(&[]).stdout;
            let line = said.lines().find(|line| line.contains("hook: ")).unwrap_or_default().to_owned();
            assert!(line.contains("gates") && line.contains(words), "{said}");
        }
        assert_eq!(bot.join().unwrap(), json!({"order": "status"}));
        std::fs::remove_file(socket).unwrap();
    }
    // Without a bot nobody knows.
    assert!(!status(&[]).stdout.contains("gates"));
}

/// A bot listens at this socket and is found by this configuration.
fn check_found(folder: &Folder, socket: &Path) {
    let bot = bot(socket, format!("{{\"answer\":\"done\",\"state\":{STATE}}}"));
    let halted = folder.run(&["halt", "--json", "--config", "bot.toml", "--reason", "news"]).json();
    assert_eq!(bot.join().unwrap(), json!({"order": "halt", "reason": "news"}));
    let state: Value = serde_json::from_str(STATE).unwrap();
    assert_eq!(halted, json!({"halted": true, "bot_runs": true, "state": state}));
}

#[test]
fn the_places_follow_the_journal_and_the_settings() {
    for (config, journal, socket, file) in [
        ("[journal]\nurl = \"sqlite://demo.db\"\n", "demo.db", "demo.db.sock", "demo.db.HALT"),
        ("[control]\nsocket = \"a.sock\"\nhalt_file = \"STOP\"\n", "candlewick.db", "a.sock", "STOP"),
    ] {
        let folder = Folder::new().with("bot.toml", config);
        recording::write(&folder.path(journal), []);
        assert_eq!(folder.run(&["halt", "--config", "bot.toml"]).code, 0);
        assert!(folder.path(file).exists(), "{file}");
        check_found(&folder, &folder.path(socket));
    }
}

/// A database that does not answer, and the places of its bot do not depend on the folder where a command is given.
#[test]
fn a_journal_that_does_not_say_whether_a_bot_runs_is_no_journal_without_a_bot() {
    let server = "[journal]\nurl = \"postgres://ann@127.0.0.1:1/trading\"\n";
    let folder = Folder::new().with("bot.toml", server);
    let parts = ["does not say whether a bot runs", "trading-", ".HALT is there now"];
    folder.run(&["halt", "--config", "bot.toml"]).fails(1, &parts);
    let made: Vec<_> = std::fs::read_dir(folder.path(".state/candlewick")).unwrap().collect();
    let [Ok(made)] = &made[..] else { panic!("{made:?}") };
    check_found(&folder, &made.path().with_extension("sock"));
}

#[test]
fn where_there_is_no_journal_nothing_is_said_to_be_halted() {
    let folder = Folder::new();
    let halted = folder.run(&["halt"]);
    let place = folder.path("candlewick.db").canonicalize().unwrap_or(folder.path("candlewick.db"));
    let place = format!("no journal at {}", place.display());
    halted.fails(2, &["nothing was halted", &place, "--journal"]);
    assert!(!folder.path("candlewick.db.HALT").exists(), "no file is left where no bot looks");
    folder.run(&["resume"]).fails(2, &["nothing to resume"]);
}

#[test]
fn a_bot_that_was_given_a_journal_is_found_by_it() {
    let folder = Folder::new();
    recording::write(&folder.path("run.db"), []);
    let halted = folder.run(&["halt", "--journal", "run.db"]);
    assert!(folder.path("run.db.HALT").exists() && !folder.path("candlewick.db.HALT").exists());
    assert!(
        halted.stdout.contains("No bot runs on") && halted.stdout.contains("run.db"),
        "{}",
        halted.stdout
    );
    let bot = bot(&folder.path("run.db.sock"), format!("{{\"answer\":\"done\",\"state\":{STATE}}}"));
    folder.run(&["resume", "--journal", "run.db"]);
    assert_eq!(bot.join().unwrap(), json!({"order": "resume"}));
    assert!(!folder.path("run.db.HALT").exists());
}

#[test]
fn a_resume_removes_the_file_before_it_gives_the_order() {
    let folder = Folder::new().with("candlewick.db.HALT", "news\n");
    let state = STATE.replace("halted", "trading").replace("\"reason\":\"news\",", "");
    let bot = bot(&folder.path("candlewick.db.sock"), format!("{{\"answer\":\"done\",\"state\":{state}}}"));
    let resumed = folder.run(&["resume"]);
    assert_eq!(bot.join().unwrap(), json!({"order": "resume"}));
    let expected =
        "The file candlewick.db.HALT is removed.\nThe bot opens trades; 2 trades open, 0 in flight.\n";
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, expected));
    assert!(!folder.path("candlewick.db.HALT").exists());
}

#[test]
fn a_bot_that_does_not_halt_by_order_finds_the_file() {
    for (answer, part) in [
        ("", "did not answer"),
        ("what?", "cannot be read"),
        (r#"{"answer":"refused","problem":"not today"}"#, "the bot refused: not today"),
        (r#"{"answer":"unanswered","problem":"too busy"}"#, "nobody knows whether it is done: too busy"),
    ] {
        let folder = Folder::new();
        let bot = bot(&folder.path("candlewick.db.sock"), answer.to_owned());
        folder.run(&["halt"]).fails(1, &[part, "candlewick.db.HALT is there now"]);
        bot.join().unwrap();
        assert!(folder.path("candlewick.db.HALT").exists());
    }
}

/// The codes of the same refusals where no bot runs: `tests/resolve.rs`.
#[test]
fn a_bot_refuses_to_resolve_with_the_exit_code_of_a_journal_without_a_bot() {
    for (answer, code, part) in [
        (
            r#"{"answer":"refused","problem":"trade #1 is not in doubt"}"#,
            2,
            "the bot refused: trade #1 is not",
        ),
        (r#"{"answer":"venue_failed","problem":"no trade was read"}"#, 4, "no trade was read"),
        (r#"{"answer":"unanswered","problem":"too busy"}"#, 1, "nobody knows whether it is done: too busy"),
    ] {
        let folder = Folder::new();
        let bot = bot(&folder.path("candlewick.db.sock"), answer.to_owned());
        folder.run(&["resolve", "1", "--not-opened"]).fails(code, &[part]);
        bot.join().unwrap();
    }
}

#[test]
fn a_configuration_that_cannot_be_read_still_shows_how_to_halt() {
    let folder = Folder::new().with("bot.toml", "[risk]\nmax_open = 1\n");
    folder.run(&["halt", "--config", "bot.toml"]).fails(2, &["risk.max_open", "candlewick.db.HALT"]);
    let folder = Folder::new().with("bot.toml", "[journal]\nurl = \"mysql://ann:hush@db/x\"\n");
    let run = folder.run(&["halt", "--config", "bot.toml"]);
    run.fails(2, &["journal.url (bot.toml)"]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    let long = "x".repeat(5_000);
    Folder::new().run(&["resume", "--config", "no.toml"]).fails(2, &["no.toml"]);
    let folder = Folder::new();
    folder.run(&["halt", "--reason", &long]).fails(2, &["shorten the reason"]);
}

/// A bot that trades on a sandbox; ended with the test.
pub(crate) struct Live(Child);

impl Live {
    pub(crate) fn start(folder: &Folder) -> Self {
        Self::started(folder.command(&["live", "--config", "bot.toml"]))
    }

    pub(crate) fn started(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // Its first line is printed when the run has begun.
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the run did not begin");
        Self(child)
    }

    pub(crate) fn id(&self) -> String {
        self.0.id().to_string()
    }

    pub(crate) fn end(mut self) -> Option<i32> {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
        // Read on, so that it can print how it ended.
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

/// A venue, and a folder from which `bot.toml` finds it.
pub(crate) fn venue_and_folder() -> (Served, Folder) {
    let served = Served::start(&[]);
    let folder = served.known_to(Folder::new().with("bot.toml", BOT));
    (served, folder)
}

/// The same, with trades of fifteen seconds, since a run that ends waits for those that are open; the bot itself opens
/// none, which would refuse a signal that comes meanwhile.
pub(crate) fn venue_of_short_trades() -> (Served, Folder) {
    let (served, folder) = venue_and_folder();
    let bot = BOT.replace("\"01:00\"", "\"00:15\"");
    let bot = bot.replace("{ period = 2 }", "{ period = 2, oversold = 0.0, overbought = 100.0 }");
    assert!(bot.contains("00:15") && bot.contains("oversold"));
    (served, folder.with("bot.toml", &bot))
}

#[test]
fn a_second_start_robs_nobody_however_long_the_first_was_silent() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    // As after a leap of the clock.
    recording::edit(&folder.path("candlewick.db"), "UPDATE lease SET heartbeat = heartbeat - 86400000");
    let second = folder.run(&["live", "--config", "bot.toml"]);
    second.fails(7, &["is held by candlewick live (process ", "its last sign of life is 86"]);
    let holder = folder.run(&["status", "--config", "bot.toml", "--json"]).json()["holder"].clone();
    assert_eq!((&holder["pid"], &holder["alive"]), (&json!(bot.0.id()), &json!(true)), "{holder}");
    assert_eq!(bot.end(), Some(130));
}

#[test]
fn a_start_that_cannot_listen_gives_the_journal_back() {
    let (_served, folder) = venue_and_folder();
    let _other = UnixListener::bind(folder.path("candlewick.db.sock")).unwrap();
    folder.run(&["live", "--config", "bot.toml"]).fails(7, &["another bot listens", "control.socket"]);
    let url = JournalUrl::from_path(&folder.path("candlewick.db"));
    let holder = recording::block_on(async { Reader::open(&url).await.unwrap().holder().await.unwrap() });
    assert_eq!(holder, None);
}

#[test]
fn a_running_bot_is_halted_and_resumed_by_order_and_leaves_no_socket() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let socket = folder.path("candlewick.db.sock");
    assert_eq!(std::fs::symlink_metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let order = |arguments: &[&str]| {
        folder.run(&[arguments, &["--json", "--config", "bot.toml"]].concat()).json()["state"].clone()
    };
    let halted = order(&["halt", "--reason", "news"]);
    assert_eq!((&halted["phase"], &halted["reason"]), (&json!("halted"), &json!("news")));
    assert!(!folder.path("candlewick.db.HALT").exists());
    assert_eq!(order(&["resume"])["phase"], "trading");
    assert_eq!(bot.end(), Some(130));
    assert!(!socket.exists());
}

/// Whoever listens in its place answers nothing: the order goes through the journal, once.
#[test]
fn a_bot_whose_socket_answers_nobody_is_reached_through_its_journal_from_anywhere() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let socket = folder.path("candlewick.db.sock");
    std::fs::rename(&socket, folder.path("away.sock")).unwrap();
    let _silent = UnixListener::bind(&socket).unwrap();
    let elsewhere = Folder::new();
    let journal = folder.path("candlewick.db").to_string_lossy().into_owned();
    let order = |arguments: &[&str]| {
        elsewhere.run(&[arguments, &["--json", "--journal", &journal]].concat()).json()["state"].clone()
    };
    let halted = order(&["halt", "--reason", "news"]);
    assert_eq!((&halted["phase"], &halted["reason"]), (&json!("halted"), &json!("news")));
    assert_eq!(order(&["resume"])["phase"], "trading");
    let ordered = |what: &str| {
        let lines = recording::lines(&folder.path("candlewick.db"));
        lines.iter().filter(|stored| stored.line.body.contains(what)).count()
    };
    assert_eq!((ordered("\"control\":\"halt\""), ordered("\"control\":\"resume\"")), (1, 1));
    assert_eq!(bot.end(), Some(130));
}

/// Its journal is `candlewick.db` in the folder where it was started: from elsewhere that names another file, or none.
#[test]
fn a_bot_is_found_from_another_folder_by_its_configuration() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let (config, state) = (folder.path("bot.toml"), folder.path(".state"));
    let (config, state) = (config.to_string_lossy(), state.to_string_lossy());
    let elsewhere = Folder::new().with_variable("XDG_STATE_HOME", &state);
    // Another journal of that name is not the bot's.
    recording::write(&elsewhere.path("candlewick.db"), []);
    let order =
        |arguments: &[&str]| elsewhere.run(&[arguments, &["--json", "--config", &config]].concat()).json();
    let halted = order(&["halt", "--reason", "news"])["state"].clone();
    assert_eq!((&halted["phase"], &halted["reason"]), (&json!("halted"), &json!("news")));
    assert_eq!(order(&["status"])["bot"]["phase"], "halted");
    assert_eq!(order(&["reload"])["state"]["phase"], "halted");
    assert_eq!(order(&["resume"])["state"]["phase"], "trading");
    assert!(!elsewhere.path("candlewick.db.HALT").exists());
    let elsewhere = elsewhere.with_variable("CANDLEWICK_JOURNAL__URL", "sqlite://candlewick.db");
    let asked = elsewhere.run(&["status", "--config", &config]);
    asked.fails(2, &["the journal has no run yet"]);
    let elsewhere = Folder::new().with_variable("XDG_STATE_HOME", &state);
    // Named by nothing, it is not guessed: the bots that run are.
    let nowhere = Folder::new().with_variable("XDG_STATE_HOME", &state);
    let journal = folder.path("candlewick.db").canonicalize().unwrap();
    let named = format!("--journal {}", journal.display());
    nowhere.run(&["halt"]).fails(2, &["nothing was halted", &named]);

    check_two_by_one_configuration(&folder, &elsewhere, &config);
    assert_eq!(bot.end(), Some(130));
    let left: Vec<_> = std::fs::read_dir(folder.path(".state/candlewick")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // One that no longer runs is halted where its journal is named, and nowhere else.
    let nobody = nowhere.run(&["halt", "--config", &config]);
    nobody.fails(2, &["nothing was halted", "name the bot's journal with --journal"]);
}

/// Two bots by one configuration, in two folders: which is meant is asked.
fn check_two_by_one_configuration(folder: &Folder, elsewhere: &Folder, config: &str) {
    let second = folder.command(&["live", "--config", config, "--journal", "second.db"]);
    let second = Live::started(second);
    let both = ["2 bots run by this configuration", "candlewick.db, or --journal ", "second.db"];
    elsewhere.run(&["halt", "--config", config]).fails(2, &both);
    let here = folder.run(&["halt", "--config", "bot.toml", "--json"]).json();
    assert_eq!(here["state"]["phase"], "halted", "its own folder says which");
    assert_eq!(second.end(), Some(130));
}

/// It is neither written to nor followed, and a person is told why no file was made; the order in the journal halts.
#[test]
fn a_pipe_or_a_link_in_the_place_of_the_halt_file_is_refused() {
    for link in [false, true] {
        let folder = Folder::new();
        recording::write(&folder.path("candlewick.db"), []);
        let place = folder.path("candlewick.db.HALT");
        if link {
            std::os::unix::fs::symlink(folder.path("mine"), &place).unwrap();
        } else {
            assert!(Command::new("mkfifo").arg(&place).status().unwrap().success());
        }
        let halted = folder.run(&["halt", "--reason", "news"]);
        let said = "what is there is no plain file: remove it";
        assert!(halted.code == 0 && halted.stdout.contains(said), "{}{}", halted.stdout, halted.stderr);
        assert!(!folder.path("mine").exists());
    }
}

/// What a bot says of itself once it is halted.
fn halted_state(folder: &Folder) -> Value {
    let mut states = (0..2_000).map(|_| {
        let status = folder.run(&["status", "--config", "bot.toml", "--json"]);
        // Before its first entries are durable there is nothing to read.
        if status.code == 0 { status.json()["bot"].clone() } else { Value::Null }
    });
    states.find(|bot| bot["phase"] == "halted").expect("the bot halts")
}

#[test]
fn an_order_that_was_left_in_the_journal_halts_the_next_bot_on_it() {
    let (_served, folder) = venue_and_folder();
    recording::write(&folder.path("candlewick.db"), []);
    assert_eq!(folder.run(&["halt", "--config", "bot.toml", "--reason", "news"]).code, 0);
    // As where the bot looks for the file in another folder.
    std::fs::remove_file(folder.path("candlewick.db.HALT")).unwrap();
    let bot = Live::start(&folder);
    assert_eq!(halted_state(&folder)["reason"], "news");
    assert_eq!(folder.run(&["resume", "--config", "bot.toml", "--json"]).json()["state"]["phase"], "trading");
    let is_healthy = || folder.run(&["status", "--config", "bot.toml", "--running"]);
    assert_eq!(is_healthy().code, 0, "as a container asks, or a monitor");
    assert_eq!(bot.end(), Some(130));
    let ended = is_healthy();
    assert!(ended.code == 5 && ended.stderr.contains("no bot answers"), "{}", ended.stderr);
}

#[test]
fn the_file_and_the_order_that_halt_together_end_together() {
    let is_news = |state: &Value| state["reason"].as_str().unwrap().contains("news");
    let (_served, folder) = venue_and_folder();
    recording::write(&folder.path("candlewick.db"), []);
    let halted = folder.run(&["halt", "--config", "bot.toml", "--reason", "news", "--json"]).json();
    assert_eq!((&halted["bot_runs"], &halted["halt_file"]), (&json!(false), &json!("candlewick.db.HALT")));
    let bot = Live::start(&folder);
    assert!(is_news(&halted_state(&folder)));
    // One of them alone keeps it halted.
    std::fs::remove_file(folder.path("candlewick.db.HALT")).unwrap();
    assert!(is_news(&halted_state(&folder)));
    std::fs::write(folder.path("candlewick.db.HALT"), "news\n").unwrap();
    let resumed = folder.run(&["resume", "--config", "bot.toml", "--json"]).json();
    assert_eq!(
        (&resumed["state"]["phase"], folder.path("candlewick.db.HALT").exists()),
        (&json!("trading"), false)
    );
    assert_eq!(bot.end(), Some(130));
}

#[test]
fn a_pipe_in_the_place_of_the_halt_file_halts_and_is_not_waited_for() {
    let (_served, folder) = venue_and_folder();
    let pipe = folder.path("candlewick.db.HALT");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let bot = Live::start(&folder);
    let state = halted_state(&folder);
    assert!(state["reason"].as_str().unwrap().contains("no plain file"), "{state}");
    assert_eq!(bot.end(), Some(130));
}
