//! Verdicts per bot: equal in a backtest and live, enforced, preserved by a restart, and in older journals.

use crate::candlewick::{Folder, Run};
use crate::excerpt::{HOUR, MONDAY, shipped};
use crate::recording::{lines, write};
use candlewick_engine::Header;
use candlewick_journal::Line;
use serde_json::{Value, json};

const QUICK: &str = r#"
[risk]
max_trades_per_day = 0
daily_loss_limit = 0
max_drawdown_percent = 0
enforce_verdict = true
verdict = { alpha = 0.4, beta = 0.4, delta = 0.5 }
[[bots]]
name = "often"
symbol = "BTCUSDT"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 3, oversold = 45.0, overbought = 55.0 }
close_type = "01:00"
[[bots]]
name = "calm"
symbol = "EURUSD"
asset_type = "forex"
interval = "1m"
strategy = "rsi-reversal"
params = { period = 14, oversold = 20.0, overbought = 80.0 }
close_type = "05:00"
"#;

const DATA: [&str; 6] = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--config", "bots.toml"];
const LIVE: [&str; 7] = ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db"];

fn folder(settings: &str) -> Folder {
    Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("bots.toml", settings)
}

fn query_json(folder: &Folder, command: &[&str]) -> Value {
    folder.run(&[command, &["--json"]].concat()).json()
}

fn assert_replayed(parity: &Value) {
    assert_eq!((&parity["ok"], &parity["decisions"]["difference"]), (&true.into(), &Value::Null), "{parity}");
}

/// Verdict of a bot without its labels, because only a backtest assumes payouts.
fn verdict_fields(bot: &Value) -> Vec<Value> {
    let edge = ["judged_trades", "account_for", "account_against", "clusters", "variance_inflation"];
    let edge = edge.map(|key| bot["edge"][key].clone());
    ["bot", "trades", "verdict"].map(|key| bot[key].clone()).into_iter().chain(edge).collect()
}

#[test]
fn verdict_and_its_enforcement_match_in_backtest_and_live() {
    let folder = folder(QUICK);
    let backtest = [&["backtest", "--quiet"], &DATA[..]].concat();
    let stored = query_json(&folder, &backtest);
    let live = query_json(&folder, &[&LIVE[..], &DATA].concat());
    assert_eq!(stored["bots"][0]["verdict"], "edge_rejected", "{}", stored["bots"][0]);
    assert!(stored["refused"]["EdgeRejected"].as_u64() > Some(50), "{}", stored["refused"]);
    assert_eq!(live["refused"], stored["refused"]);
    for place in [0, 1] {
        assert_eq!(verdict_fields(&live["bots"][place]), verdict_fields(&stored["bots"][place]));
    }
    let report = query_json(&folder, &["report", "--journal", "run.db"]);
    assert_eq!(verdict_fields(&report["bots"][0]), verdict_fields(&stored["bots"][0]));
    let line = &query_json(&folder, &["status", "--journal", "run.db"])["verdicts"][0];
    assert_eq!((&line["bot"], &line["verdict"]), (&json!("often"), &json!("edge_rejected")));
    assert_eq!(line["since_intent"], 1);
    assert_eq!(line["account_against"], stored["bots"][0]["edge"]["account_against"]);
    assert_replayed(&query_json(&folder, &["parity", "--journal", "run.db"]));
    let free = folder.with("bots.toml", &QUICK.replace("enforce_verdict = true", "enforce_verdict = false"));
    let free = query_json(&free, &backtest);
    assert_eq!(free["bots"][0]["verdict"], "edge_rejected");
    assert_eq!(free["refused"]["EdgeRejected"], Value::Null);
    assert!(free["trades"].as_u64() > stored["trades"].as_u64());
}

fn replay(folder: &Folder, name: &str, change: impl FnMut(Line) -> Option<Line>) -> Run {
    let recorded = lines(&folder.path("run.db")).into_iter().map(|stored| stored.line);
    write(&folder.path(name), recorded.filter_map(change));
    folder.run(&["parity", "--journal", name, "--json"])
}

#[test]
fn compares_a_journal_of_format_2_without_verdicts() {
    let folder = folder(&QUICK.replace("enforce_verdict = true", "enforce_verdict = false"))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + HOUR));
    query_json(&folder, &[&LIVE[..], &DATA].concat());
    let is_verdict = |line: &Line| line.body.contains("\"action\":\"verdict\"");
    assert!(lines(&folder.path("run.db")).iter().any(|stored| is_verdict(&stored.line)), "none fell");
    let today = format!("\"format\":{}", Header::FORMAT);
    let without = |name: &str, format: &str| {
        replay(&folder, name, |line| {
            let body = line.body.replacen(&today, format, 1);
            (!is_verdict(&line)).then_some(Line { body, ..line })
        })
    };
    assert_replayed(&without("old.db", "\"format\":2").json());
    assert_eq!(without("changed.db", &today).code, 5, "without its verdicts it counts as changed");
}

/// Older programs gave every bot all of alpha, wrote no weights, and staked by Wilson's bound without naming it.
#[test]
fn compares_a_journal_with_older_verdicts_up_to_their_first_refusal() {
    let kelly = "stake = { kind = \"kelly\", fraction = 0.2, kelly_floor_trades = 5, bound = \"wilson\" }\n";
    let folder = folder(&format!("{QUICK}{kelly}"));
    let refused = query_json(&folder, &[&LIVE[..], &DATA].concat())["refused"]["EdgeRejected"].clone();
    assert!(refused.as_u64() > Some(50), "{refused}");
    let header = lines(&folder.path("run.db"))[0].line.body.clone();
    let bounds = ["\"bound\":\"wilson\",", ",\"bound\":\"wilson\""];
    let bound = bounds.into_iter().find(|bound| header.contains(bound)).unwrap();
    let older = |name: &str, has_weights: bool| {
        replay(&folder, name, |line| {
            let body = match line.body.split_once(",\"weight\":") {
                Some((before, after)) if !has_weights => {
                    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.e".contains(c));
                    format!("{before}{rest}")
                }
                // At these error rates no verdict would be reached.
                _ => line
                    .body
                    .replacen(bound, "", 1)
                    .replacen("\"alpha\":0.4", "\"alpha\":0.0000001", 1)
                    .replacen("\"beta\":0.4", "\"beta\":0.0000001", 1),
            };
            Some(Line { body, ..line })
        })
    };
    assert_eq!(older("changed.db", true).code, 5, "with weights it counts as a changed current journal");
    let old = older("old.db", false).json();
    assert_replayed(&old);
    let (decisions, first) = (&old["decisions"], &old["decisions"]["not_compared"][0]);
    assert!(first["run"] == 1 && first["seq"].as_u64() > Some(1), "{old}");
    assert!(decisions["actions"].as_u64() > Some(5), "{old}");
    let of_old = |command: &[&str]| query_json(&folder, &[command, &["--journal", "old.db"]].concat());
    assert_eq!(of_old(&["report"])["refused"]["EdgeRejected"], refused);
    assert_eq!(of_old(&["status"])["verdicts"][0]["bot"], "often");
    assert_eq!(of_old(&["explain", "1"])["trade"]["intent_id"], 1);
}

#[test]
fn verdict_on_all_trades_equals_that_of_the_only_bot() {
    let bot = QUICK.split("[[bots]]").take(2).collect::<Vec<_>>().join("[[bots]]");
    let bot = bot.replace("01:00", "03:00").replace("enforce_verdict = true", "");
    let rules = "[risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 0\nallow_opposite = true\nallow_duplicate = true";
    let bot = bot.replace("[risk]", rules);
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 24 * HOUR);
    for (latency_ms, settle_delay_ms) in [(0, 0), (2_000, 4_000), (60_000, 0), (60_000, 60_000)] {
        let venue = format!(
            "[simulation]\nopen_rounding = \"none\"\nlatency_ms = {latency_ms}\nsettle_delay_ms = {settle_delay_ms}\n"
        );
        let folder = Folder::new().with("BTCUSDT_1m.csv", &candles).with("bots.toml", &(venue + &bot));
        let report = query_json(&folder, &["backtest", "--config", "bots.toml", "--data", "BTCUSDT_1m.csv"]);
        assert!(report["edge"]["judged_trades"].as_u64() > Some(100), "{}", report["edge"]);
        assert_eq!(report["edge"], report["bots"][0]["edge"], "{latency_ms} {settle_delay_ms}");
    }
}

#[cfg(unix)]
#[test]
fn restart_continues_a_verdict_and_other_parameters_start_a_new_one() {
    use crate::consecutive_runs::{BOT, judged as count_judged, run_until, venue_and_bot};
    let (_served, folder) = venue_and_bot("");
    let of_run = |command: &str| query_json(&folder, &[command, "--journal", "run.db"]);
    let judged = |verdict: &Value| verdict["trades"].as_u64().unwrap();
    let run = || {
        let before = count_judged(&folder, "run.db");
        let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
        let ended = run_until(&folder, &live, || count_judged(&folder, "run.db") > before).json();
        let verdict = of_run("status")["verdicts"][0].clone();
        let edge = &ended["bots"][0]["edge"];
        assert_eq!(edge["account_for"], verdict["account_for"], "the fold must equal the live state");
        (ended, verdict)
    };
    let (_, first) = run();
    assert!(judged(&first) > 0, "{first}");
    let (_, second) = run();
    assert!(judged(&second) > judged(&first), "{second}");
    assert_eq!(second["since_intent"], 1, "a restart does not make a new bot");
    let settled = &query_json(&folder, &["edge", "verdict", "--journal", "run.db"])["all"];
    let settled = ["won", "lost", "draw"].map(|key| settled[key].as_u64().unwrap());
    assert_eq!(settled.iter().sum::<u64>(), judged(&second), "the trades of both runs are judged");

    std::fs::write(folder.path("bot.toml"), BOT.replace("period = 2", "period = 3")).unwrap();
    let (ended, third) = run();
    assert!(third["since_intent"].as_u64() > Some(judged(&second)), "{third}");
    assert!(judged(&third) <= ended["trades"].as_u64().unwrap(), "{third}");
    let parity = of_run("parity");
    assert_eq!((&parity["ok"], &parity["runs"]), (&true.into(), &3.into()), "{parity}");
}
