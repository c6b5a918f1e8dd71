//! `confirm`: a test on sealed candles reveals a single bit, and a shown edge spends the days.

use crate::candlewick::{Folder, Run, bot_with};
use crate::excerpt::{DAY, HEADER, HOUR, MONDAY, before};
use crate::regimes::{FOLLOW, follower, generate_market};
use serde_json::{Value, json};
use std::fs;

/// The candles span 60 days from 2026-01-05, so that 48 days are explored and 2026-02-22 is the sealed day.
const CONFIRM: &str = "confirm bot.toml --data BTCUSDT_5m.csv --yes";
const STRONG: &str = "edge:0.65:5m";
const SEAL: &str = "CANDLEWICK_EVIDENCE__SEAL";
const LEDGER: &str = ".state/candlewick/evidence.jsonl";
const NOT_SHOWN: &str = "Not shown. The sealed candles do not show an edge at the threshold of this test.\n\
                         This does not rule out an edge. With more candles, the same command continues\n\
                         this test. Nothing else is revealed, so the next test can use these days too.\n";

fn market(regime: &str) -> Folder {
    follower(regime, "").with_variable(SEAL, "true")
}

/// Returns a folder whose candles were explored once, which seals the last days.
fn explored(regime: &str) -> Folder {
    let folder = market(regime);
    let report = folder.run(&FOLLOW).json();
    assert_eq!(report["evidence"], json!({ "kind": "exploratory", "until": "2026-02-22", "run": 1 }));
    folder
}

#[track_caller]
fn document(run: &Run, code: i32) -> Value {
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn count_tests(folder: &Folder) -> usize {
    folder.read(LEDGER).lines().filter(|line| line.contains("\"begun\"")).count()
}

#[test]
fn shown_edge_is_reported_and_spends_the_days() {
    let folder = explored(STRONG);
    let report = document(&folder.run_line(&format!("{CONFIRM} --json")), 0);
    let expected = json!({
        "answer": "shown", "test": 1, "threshold": 25.0, "from": "2026-02-23", "until": "2026-03-06",
        "repeat": false, "sets": ["bot.toml"]
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(report[key], *value, "{key}");
    }
    let run = &report["report"][0];
    assert_eq!((&run["set"], &run["verdict"]), (&json!("bot.toml"), &json!("edge_shown")));
    let evidence = json!({ "kind": "confirmed", "test": 1, "from": "2026-02-23", "until": "2026-03-06" });
    assert_eq!(run["evidence"], evidence);
    let threshold = run["edge"]["threshold_for"].as_f64().unwrap();
    assert!((threshold - 25.0).abs() < 1e-6, "{threshold}");
    let trades = run["trades"].as_u64().unwrap();
    // A trade every ten minutes on eleven days.
    assert!((1_500..=1_584).contains(&trades), "{trades}");
    let later = folder.run(&FOLLOW).json();
    assert_eq!(
        (&later["evidence"]["until"], &later["verdict"]),
        (&json!("2026-03-06"), &json!("exploratory"))
    );
    let again = document(&folder.run_line(&format!("{CONFIRM} --json")), 0);
    assert_eq!(
        (&again["answer"], &again["test"], &again["repeat"]),
        (&json!("shown"), &json!(1), &json!(true))
    );
    assert_eq!(count_tests(&folder), 1);
    let text = explored(STRONG).run_line(CONFIRM);
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(text.stdout.starts_with("Shown. "), "{}", text.stdout);
}

#[test]
fn copies_of_explored_candles_are_refused() {
    let folder = explored(STRONG);
    let candles = folder.read("BTCUSDT_5m.csv");
    // The same candles half the price, 301 days and 90 minutes earlier, under another name.
    let copied = candles.lines().skip(1).map(|line| {
        let numbers: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let time = numbers[0] as i64 - 301 * DAY - HOUR * 3 / 2;
        let prices: Vec<String> = numbers[1..5].iter().map(|price| (price / 2.0).to_string()).collect();
        format!("{time},{},1\n", prices.join(","))
    });
    let copied: String = [HEADER.to_owned()].into_iter().chain(copied).collect();
    let bot = folder.read("bot.toml").replace("BTCUSDT", "ETHUSDT");
    let folder = folder.with("ETHUSDT_5m.csv", &copied).with("copy.toml", &bot);
    folder.run_line("backtest --config copy.toml --data ETHUSDT_5m.csv --json").json();
    folder.run_line(CONFIRM).fails(3, &["BTCUSDT", "copy of explored candles", "later candles"]);
    assert_eq!(count_tests(&folder), 0);
}

#[test]
fn not_shown_reveals_nothing_else() {
    let folder = explored("random-walk");
    let run = folder.run_line(CONFIRM);
    assert_eq!((run.code, run.stdout.as_str()), (8, NOT_SHOWN), "{}", run.stderr);
    for part in
        ["sealed days 2026-02-23 to 2026-03-05, 11 days", "Threshold  25\n", "bot.toml", "of 100 cases"]
    {
        assert!(run.stderr.contains(part), "no {part:?} in:\n{}", run.stderr);
    }
    let words = ["Test ", "Days ", "Threshold ", "Set "];
    let is_plan = |line: &str| words.iter().any(|word| line.starts_with(word));
    assert!(run.stderr.lines().all(is_plan), "{}", run.stderr);
    let quiet = folder.run_line(&format!("{CONFIRM} --quiet"));
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (8, NOT_SHOWN, ""));
    let report = document(&folder.run_line(&format!("{CONFIRM} --json")), 8);
    let expected = json!({
        "answer": "not_shown", "test": 1, "threshold": 25.0, "from": "2026-02-23", "until": "2026-03-06",
        "repeat": true, "sets": ["bot.toml"]
    });
    assert_eq!(report, expected);
    assert_eq!(folder.run(&FOLLOW).json()["evidence"]["until"], "2026-02-22");
}

#[test]
fn failure_on_sealed_candles_reads_like_a_loss() {
    // Trades of one minute need the one-minute candles, which end with the explored days.
    let bot = bot_with("rsi-reversal", "period = 2").replace("interval = \"1m\"", "interval = \"5m\"");
    let folder = Folder::new().with("bot.toml", &bot).with_variable(SEAL, "true");
    let [fine, coarse] = ["BTCUSDT_1m.csv", "BTCUSDT_5m.csv"].map(|file| generate_market(file, "--days 10"));
    let fine = before(&fine, MONDAY + 8 * DAY);
    let folder = folder.with("BTCUSDT_1m.csv", &fine).with("BTCUSDT_5m.csv", &coarse);
    let data = "--data BTCUSDT_5m.csv --data BTCUSDT_1m.csv";
    assert_eq!(folder.run_line(&format!("backtest --config bot.toml {data} --json")).code, 0);
    let run = folder.run_line(&format!("confirm bot.toml {data} --yes --quiet"));
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (8, NOT_SHOWN, ""));
}

#[test]
fn repeats_continue_with_later_candles_and_changes_are_new_tests() {
    let folder = market("random-walk");
    let whole = folder.read("BTCUSDT_5m.csv");
    let folder = folder.with("BTCUSDT_5m.csv", &before(&whole, MONDAY + 55 * DAY));
    assert_eq!(folder.run(&FOLLOW).code, 0);
    let confirm = |folder: &Folder, file: &str| {
        let line = format!("{CONFIRM} --json").replace("bot.toml", file);
        let report = document(&folder.run_line(&line), 8);
        ["test", "repeat", "threshold", "until"].map(|key| report[key].clone())
    };
    let first = confirm(&folder, "bot.toml");
    assert_eq!(first, [json!(1), json!(false), json!(25.0), json!("2026-03-01")]);
    let folder = folder.with("BTCUSDT_5m.csv", &whole);
    let longer = [json!(1), json!(true), json!(25.0), json!("2026-03-06")];
    assert_eq!(confirm(&folder, "bot.toml"), longer);
    let bot = folder.read("bot.toml");
    let folder = folder.with("renamed.toml", &bot.replace("\"follow\"", "\"other\""));
    assert_eq!(confirm(&folder, "renamed.toml"), longer);
    let second = [json!(2), json!(false), json!(200.0), json!("2026-03-06")];
    let folder = folder.with("longer.toml", &bot.replace("\"05:00\"", "\"10:00\""));
    assert_eq!(confirm(&folder, "longer.toml"), second);
    // Other candles on the same days are a new test of the first bot.
    let sealed = (MONDAY + 50 * DAY).to_string();
    let line = whole.lines().find(|line| line.starts_with(&sealed)).unwrap();
    let (prices, _) = line.rsplit_once(',').unwrap();
    let folder = folder.with("BTCUSDT_5m.csv", &whole.replace(line, &format!("{prices},7")));
    assert_eq!(confirm(&folder, "bot.toml")[..2], [json!(3), json!(false)]);
}

#[test]
fn sets_share_the_error_rate_and_only_shown_sets_are_reported() {
    let folder = explored(STRONG);
    let list = folder.read("list.csv");
    let reversed = list.replace("BUY", "?").replace("SELL", "BUY").replace('?', "SELL");
    let other = folder.read("bot.toml").replace("list.csv", "reversed.csv");
    let folder = folder.with("reversed.csv", &reversed).with("other.toml", &other);
    let line = format!("{CONFIRM} --json").replace("bot.toml", "other.toml bot.toml");
    let report = document(&folder.run_line(&line), 0);
    assert_eq!(report["sets"], json!(["other.toml", "bot.toml"]));
    assert_eq!((&report["test"], &report["threshold"]), (&json!(1), &json!(50.0)));
    let reports = report["report"].as_array().unwrap();
    assert_eq!((reports.len(), &reports[0]["set"]), (1, &json!("bot.toml")));
}

#[test]
fn open_reveals_a_test_that_is_not_shown() {
    let folder = explored("random-walk");
    let report = document(&folder.run_line(&format!("{CONFIRM} --open --json")), 8);
    let run = &report["report"][0];
    assert_eq!((&report["answer"], &run["evidence"]["kind"]), (&json!("not_shown"), &json!("exploratory")));
    assert!(run["trades"].as_u64() > Some(1_000) && run["verdict"] != "edge_shown", "{run}");
    assert_eq!(folder.run(&FOLLOW).json()["evidence"]["until"], "2026-03-06");
}

#[test]
fn refuses_to_begin_before_a_test_is_used_up() {
    market("random-walk").run_line(CONFIRM).fails(3, &["no candles are sealed yet", "candlewick backtest"]);
    let folder = explored("random-walk");
    let bot = folder.read("bot.toml");
    let generate = "data generate --symbol ETHUSDT --interval 5m --days 9";
    assert_eq!(folder.run_line(generate).code, 0);
    let practice = bot_with("rsi-reversal", "period = 2").replace("BTCUSDT", "ETHUSDT");
    let folder = folder
        .with("practice.toml", &practice.replace("\"1m\"", "\"5m\"").replace("01:00", "05:00"))
        .with("fast.toml", &format!("{bot}[simulation]\nlatency_ms = 0\n"))
        .with("strict.toml", &format!("{bot}[risk.verdict]\nalpha = 0.01\n"));
    for (arguments, code, parts) in [
        ("confirm bot.toml --data BTCUSDT_5m.csv", 2, &["needs a terminal", "--yes"][..]),
        ("confirm fast.toml --data BTCUSDT_5m.csv --yes", 2, &["fast.toml: the latency of 0 ms", "withhold"]),
        ("confirm bot.toml --data BTCUSDT_5m.csv --payout 185 --yes", 2, &["185 %"]),
        ("confirm practice.toml --data ETHUSDT_5m.csv --yes", 3, &["synthetic candles"]),
        ("confirm bot.toml strict.toml --data BTCUSDT_5m.csv --yes", 2, &["[risk.verdict]"]),
        ("confirm bot.toml --data missing_5m.csv --yes", 3, &["missing_5m.csv"]),
        ("confirm missing.toml --data BTCUSDT_5m.csv --yes", 2, &["missing.toml"]),
    ] {
        folder.run_line(arguments).fails(code, parts);
    }
    assert_eq!(count_tests(&folder), 0);
    folder.with_variable(SEAL, "false").run_line(CONFIRM).fails(2, &["evidence.seal"]);
}

#[cfg(target_os = "linux")]
#[test]
fn declined_question_uses_up_no_test() {
    use std::fs::File;
    use std::process::Command;
    let folder = explored("random-walk");
    let program = crate::candlewick::BINARY;
    for (answer, code, tests) in [("n\n", 130, 0), ("\n", 130, 0), ("y\n", 8, 1)] {
        fs::write(folder.path("answer"), answer).unwrap();
        let shell = format!("{program} confirm bot.toml --data BTCUSDT_5m.csv");
        let of_folder = folder.command(&[]);
        let mut command = Command::new("script");
        command.args(["-qec", &shell, "/dev/null"]).current_dir(folder.path("")).env_clear();
        command.envs(of_folder.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.stdin(File::open(folder.path("answer")).unwrap()).output().unwrap();
        let run = Run::from_output(&output);
        assert_eq!((run.code, count_tests(&folder)), (code, tests), "{answer:?}: {}", run.stdout);
        assert!(run.stdout.contains("This uses up test 1. Continue? [y/N]"), "{}", run.stdout);
    }
}
