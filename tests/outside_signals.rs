//! Signals from the shell for a running bot: trades by the same rules, counted, and replayed from the journal.
#![cfg(unix)]

use crate::candlewick::{Folder, candles};
use crate::control::{Live, venue_of_short_trades};
use crate::recording;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

fn signal(folder: &Folder, arguments: &[&str]) -> Value {
    let common = ["--json", "--config", "bot.toml"];
    folder.run(&[&["signal", "btc"], arguments, &common].concat()).json()["outcome"].clone()
}

/// The journal's entries of this text.
fn count(folder: &Folder, text: &str) -> usize {
    let lines = recording::lines(&folder.path("candlewick.db"));
    lines.iter().filter(|stored| stored.line.body.contains(text)).count()
}

#[test]
fn a_signal_for_no_bot_is_an_error_with_a_way_out() {
    let folder = Folder::new();
    folder.run(&["signal", "btc", "--buy"]).fails(2, &["no signal was given", "--journal"]);
    folder.run(&["signal", "btc"]).fails(2, &["--buy"]);
    folder.run(&["signal", "btc", "--buy", "--sell"]).fails(2, &["--sell"]);
    folder.run(&["signal", "btc", "--buy", "--expires", "5"]).fails(2, &["such as 5s or 500ms"]);
    let long = "x".repeat(64);
    folder.run(&["signal", "btc", "--buy", "--id", &long]).fails(2, &["--id is too long"]);
}

#[test]
fn a_list_is_shown_line_by_line_without_a_run() {
    let list = "SINAIS VIP\n# today\nM5;BTC/USDT;14h35;COMPRA\nBTCUSDT 2:40 PM PUTT\n";
    let bot = "[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"coin\"\nclose_type = \"01:00\"\n";
    let skipping = format!("[signals]\nskip_unknown = true\n{bot}");
    let folder = Folder::new().with("list.txt", list).with("bot.toml", bot).with("skip.toml", &skipping);
    let check = |config| folder.run(&["signal", "--config", config, "--check", "list.txt"]);
    let run = check("bot.toml");
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("2 of 3 lines are no entries: put # before them"), "{}", run.stderr);
    for part in [
        "1  no entry: \"SINAIS\" is no symbol",
        "(SINAIS VIP)",
        "3  BUY for btc, 05:00: 14:35:00 each day, UTC",
        "4  no entry: \"PUTT\" is no direction: did you mean PUT?",
    ] {
        assert!(run.stdout.contains(part), "no {part:?} in:\n{}", run.stdout);
    }
    let skipped = check("skip.toml");
    assert!(skipped.code == 0 && skipped.stdout.starts_with(&run.stdout), "{}", skipped.stdout);
    let sum = "\n3 lines read: 1 would trade from now on, 2 skipped (1: \"SINAIS\" is no symbol";
    assert!(skipped.stdout.contains(sum), "{}", skipped.stdout);
    let json = folder.run(&["signal", "--config", "skip.toml", "--check", "list.txt", "--json"]).json();
    assert_eq!((json["entries"].as_u64(), json["no_entries"].as_u64()), (Some(1), Some(2)), "{json}");
    assert_eq!(json["lines"][1]["entry"]["direction"], "BUY", "{json}");
    folder.run(&["signal", "btc", "--check", "list.txt"]).fails(2, &["--check"]);
    let nothing = folder.with("list.txt", "SINAIS VIP\nFREE\n");
    for file in ["bot.toml", "skip.toml"] {
        let none = ["signal", "--config", file, "--check", "list.txt"];
        let run = nothing.run(&none);
        let words = "none of its 2 lines is an entry, such as M5;EURUSD;10:00;CALL";
        assert!(run.code == 2 && run.stderr.contains(words), "{}", run.stderr);
    }
    let folder = nothing;
    folder.run(&["signal", "btc", "--call"]).fails(2, &["no signal was given"]);
}

#[test]
fn a_list_of_a_chat_is_shown_whole_with_its_times_repetitions_and_contradictions() {
    let list = "28/11/2026\nM5;EUR/USD;14:48;PUT \u{2b07}\u{fe0f}\nM5;EUR/USD;14:48;PUT\nM5;EUR/USD;15:00;CALL\nGBPJPY\nGBPJPY\n";
    let bot = "[signals]\ntimezone = \"Europe/Berlin\"\nskip_unknown = true\n[[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\n\
               interval = \"1m\"\nstrategy = \"coin\"\nclose_type = \"01:00\"\n\
               stake = { kind = \"gale\", amount = 10, factor = 2.2, levels = 2 }\n";
    let turned = list.replacen("GBPJPY", "M5;EUR/USD;15:00;PUT", 1);
    let folder = Folder::new().with("list.txt", list).with("turned.txt", &turned).with("bot.toml", bot);
    let check = |list| folder.run(&["signal", "--config", "bot.toml", "--check", list]);
    let run = check("list.txt");
    let expected = [
        "    1  the date of the lines below (28/11/2026)",
        "    2  SELL for eur, 05:00: 2026-11-28T13:48:00Z (14:48 Europe/Berlin); a Saturday: EURUSD is closed",
        "    3  as line 2, passed over (M5;EUR/USD;14:48;PUT)",
    ];
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.lines().take(3).collect::<Vec<_>>(), expected);
    assert!(
        run.stdout.contains("  5-6  no entry: ") && run.stdout.contains("(2 lines, the first: GBPJPY)"),
        "{}",
        run.stdout
    );
    let turned = check("turned.txt");
    assert!(turned.code == 2 && turned.stderr.contains("1 line contradicts another"), "{}", turned.stderr);
    assert!(turned.stdout.starts_with(expected[0]), "all lines are shown: {}", turned.stdout);
    assert!(turned.stdout.contains("    5  error: line 4 asks eur for another trade at that time already"));
}

#[test]
fn what_of_a_combination_binds_no_signal_from_outside_is_said_wherever_one_is_read() {
    let bot = |params: &str| {
        format!(
            "[signals]\nlist = \"list.txt\"\n[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"combine\"\n\
             close_type = \"01:00\"\nparams = {{ first_of = [{{ strategy = \"rsi-reversal\" }}]{params} }}\n"
        )
    };
    let all = ", invert = true, filters = [{ hours = [\"22:00\", \"23:00\"] }], expiry = \"05:00\"";
    for (params, expected) in [
        (
            all,
            "are not turned round (invert), pass its filters unasked and last 01:00 (close_type), not 05:00 (expiry)",
        ),
        (", invert = true", "are not turned round (invert)"),
        ("", ""),
    ] {
        let folder = Folder::new()
            .with("list.txt", "2026-01-05 00:30 BTCUSDT CALL\n")
            .with("BTCUSDT_1m.csv", &candles(50))
            .with("bot.toml", &bot(params));
        let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--data", "BTCUSDT_1m.csv"];
        for command in [&["config", "check"][..], &["signal", "--check", "list.txt"], &live] {
            let run = folder.run(&[command, &["--config", "bot.toml"]].concat());
            let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = format!("bot \"btc\": signals from outside {expected}");
            let is_told = !expected.is_empty();
            assert!(said.contains(&words) == is_told, "{command:?}: {}{}", run.stdout, run.stderr);
            assert_eq!(said.contains("signals from outside are not"), is_told, "{command:?}: {said}");
        }
    }
}

#[test]
fn entries_that_the_configuration_would_refuse_are_told_before_the_run() {
    let bot = "[signals]\nlist = \"list.txt\"\n[[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"none\"\n\
               close_type = \"05:00\"\n";
    let list = "27/11/2026\nEURUSD 10:00 CALL\nEURUSD 10:05 CALL\nEURUSD 10:10 CALL\n";
    let folder = Folder::new().with("list.txt", list).with("bot.toml", bot);
    let checked = folder.run(&["signal", "--config", "bot.toml", "--check", "list.txt"]);
    let words = "1 of 3 entries would be refused as the configuration stands: while a trade of an earlier line is open on the symbol; \
                 max_open_trades_per_symbol = 2 would let those of one direction be open together";
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let line = "    3  BUY for eur: 2026-11-27T10:05:00Z; refused: the BUY of line 2 runs until 10:05:02 (max_open_trades_per_symbol = 1)";
    assert!(checked.stdout.contains(line) && checked.stdout.contains(words), "{}", checked.stdout);
    let sound = folder.run(&["config", "check", "--config", "bot.toml"]).stdout;
    assert!(
        sound.contains(&format!("signals.list: {words}; `candlewick signal --check list.txt`")),
        "{sound}"
    );
}

#[test]
fn signals_by_command_become_trades_at_most_one_each_and_parity_replays_them() {
    let (_served, folder) = venue_of_short_trades();
    let bot = Live::start(&folder);
    let first = signal(&folder, &["--buy", "--id", "one", "--reason", "news"]);
    assert_eq!(first["signal"], "approved", "{first}");
    for _ in 0..5 {
        assert_eq!(signal(&folder, &["--buy", "--id", "one"]), json!({"signal": "duplicate"}));
    }
    let opposite = signal(&folder, &["--sell", "--id", "two"]);
    assert_eq!(opposite["signal"], "refused", "{opposite}");
    let unknown = folder.run(&["signal", "eth", "--buy", "--config", "bot.toml"]);
    unknown.fails(2, &["the bot took no signal: there is no bot \"eth\": the bots are btc"]);
    let status = folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    let tally = &status["bot"]["signals"];
    assert_eq!((&tally["approved"], &tally["duplicates"]), (&json!(1), &json!(5)), "{status}");
    assert_eq!(tally["malformed"], json!({"command": 1}));
    bot.end();
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 2);
    assert_eq!(count(&folder, "command: news"), 1, "one trade of it");
    // What was decided last, without a time, after the end of the run; and at the moment itself.
    let why = |arguments: &[&str]| folder.run(&[&["why", "--config", "bot.toml"], arguments].concat());
    let last = why(&[]).stdout;
    assert!(last.contains("BUY approved as trade #1") && last.contains("(command: news)"), "{last}");
    let decisions = why(&["--json"]).json()["decisions"].as_array().unwrap().clone();
    let refused = decisions.iter().find(|decision| decision["rule"] == opposite["rule"]).unwrap();
    let moment = why(&[&refused["time"].to_string(), "--json"]).json();
    let signals = moment["bots"][0]["signals"].as_array().unwrap().clone();
    let two = signals.iter().find(|signal| signal["id"] == "two").unwrap();
    assert_eq!((&two["source"], &two["rule"]), (&json!("command"), &opposite["rule"]), "{moment}");
    why(&["--bot", "nobody"]).fails(2, &["nobody", "btc"]);
    let proven = folder.run(&["parity", "--journal", "candlewick.db", "--json"]).json();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    // After a restart it is still known.
    let bot = Live::start(&folder);
    assert_eq!(signal(&folder, &["--buy", "--id", "one"]), json!({"signal": "duplicate"}));
    bot.end();
}

/// What was dropped is in no entry, and so it is not counted then.
#[test]
fn the_signals_of_a_run_that_was_killed_are_counted_by_its_journal() {
    let (_served, folder) = venue_of_short_trades();
    let bot = Live::start(&folder);
    for arguments in [["--buy", "--id", "one"], ["--buy", "--id", "one"], ["--sell", "--id", "two"]] {
        signal(&folder, &arguments);
    }
    let late = format!(
        "{{\"order\":\"signal\",\"bot\":\"btc\",\"direction\":\"BUY\",\"source\":\"drill\",\"id\":\"x\",\"time\":{}}}",
        venue_time(&folder) - 80_000_000
    );
    assert_eq!(give(&folder, &late)["rule"], "LateSignal");
    let status = || folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    let running = status()["signals"].clone();
    // What is refused is answered before it is written.
    let is_written = |word: &str| {
        recording::lines(&folder.path("candlewick.db")).iter().any(|stored| stored.line.body.contains(word))
    };
    for _ in 0..3_000 {
        if is_written("\"drill\"") {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // With SIGKILL: the run notes nothing.
    drop(bot);
    let killed = status();
    assert!(killed["bot"].is_null() && killed["holder"]["alive"] == json!(false), "{killed}");
    let counted = &killed["signals"];
    assert_eq!((&counted["approved"], &running["duplicates"]), (&json!(1), &json!(1)), "{killed}");
    assert_eq!(counted["refused"], running["refused"], "{killed}");
    assert_eq!(counted["by_source"]["command"]["refused"], json!(1), "{killed}");
    assert_eq!(counted["by_source"]["drill"]["late"], json!(1), "{killed}");
    let words = folder.run(&["status", "--config", "bot.toml"]).stdout;
    assert!(words.contains("3 came: 1 approved, 1 refused"), "{words}");
}

/// Hands the bot a line, as another program would.
fn give(folder: &Folder, line: &str) -> Value {
    let mut stream = UnixStream::connect(folder.path("candlewick.db.sock")).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

/// The venue's time, as the bot says.
pub(crate) fn venue_time(folder: &Folder) -> i64 {
    let answer = give(folder, "{\"order\":\"status\"}");
    answer["state"]["at"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

/// The line of the signal of this number among a thousand: by turns a new one, one that came before, one of yesterday, and
/// what is none.
fn line_of(number: u64, now: i64) -> (String, &'static str) {
    let signal = |id: u64, more: &str| {
        let direction = if id.is_multiple_of(8) { "BUY" } else { "SELL" };
        format!(
            "{{\"order\":\"signal\",\"bot\":\"btc\",\"direction\":\"{direction}\",\"source\":\"drill\",\"id\":\"{id}\"{more}}}"
        )
    };
    match number % 8 {
        0 | 4 => (signal(number, ""), "taken"),
        1 | 2 => (signal(number - number % 8, ""), "duplicate"),
        3 if number % 16 == 3 => (signal(number, ",\"time\":1000"), "refused"),
        3 => (signal(number, &format!(",\"time\":{}", now - 80_000_000)), "late"),
        5 => (signal(number, "").replace("btc", "nobody"), "refused"),
        6 => (signal(number, "").replace("BUY", "UP").replace("SELL", "DOWN"), "refused"),
        _ => ("{\"order\":\"signal\",\"bot\":[]}".to_owned(), "refused"),
    }
}

#[test]
fn of_a_thousand_signals_each_is_one_trade_at_most_and_parity_explains_all() {
    let (_served, folder) = venue_of_short_trades();
    let bot = Live::start(&folder);
    let mut approved = 0;
    let now = venue_time(&folder);
    for number in 0..1_000 {
        let (line, expected) = line_of(number, now);
        let answer = give(&folder, &line);
        let outcome = answer["signal"].as_str().unwrap_or_default();
        approved += usize::from(outcome == "approved");
        match expected {
            "taken" => assert!(["approved", "refused"].contains(&outcome), "{line}: {answer}"),
            "duplicate" => assert_eq!(outcome, "duplicate", "{line}: {answer}"),
            "late" => assert_eq!(answer["rule"], "LateSignal", "{line}: {answer}"),
            _ => assert_eq!((&answer["answer"], outcome), (&json!("refused"), ""), "{line}: {answer}"),
        }
    }
    let status = folder.run(&["status", "--json", "--config", "bot.toml"]).json();
    let tally = &status["bot"]["signals"];
    let refused: u64 =
        tally["refused"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!((&tally["approved"], &tally["duplicates"]), (&json!(approved), &json!(250)), "{status}");
    assert_eq!(approved as u64 + refused, 250 + 62, "{status}");
    assert_eq!(tally["refused"]["LateSignal"], 62, "{status}");
    assert_eq!(tally["malformed"], json!({"drill": 125 + 63}), "no such bot, or the year 1970");
    bot.end();
    let why = folder.run(&["why", "--config", "bot.toml"]).stdout;
    assert!(why.contains("late signal (LateSignal: 80") && why.contains(" s old, 5 s allowed)"), "{why}");
    assert!(approved > 0);
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 312);
    assert_eq!(count(&folder, "signal from drill") - refused as usize, approved, "a trade each");
    let proven = folder.run(&["parity", "--journal", "candlewick.db", "--json"]).json();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    assert_eq!((&proven["ok"], &proven["unexplained"]), (&json!(true), &json!(0)), "{proven}");
}
