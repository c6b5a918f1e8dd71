//! The verdict that a bot's own trades bring about: alike in a backtest and live, enforced where that is wished for, the
//! same after a restart, begun anew for other parameters.

use crate::candlewick::Folder;
use crate::excerpt::{HOUR, MONDAY, shipped};
use crate::recording::{lines, write};
use candlewick_engine::Header;
use candlewick_journal::Line;
use serde_json::Value;

/// A verdict that falls after a few trades, and is enforced.
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

/// What is compared of a bot: labels differ, since only a backtest assumes its payouts.
fn verdict_of(bot: &Value) -> Vec<Value> {
    let edge = ["judged_trades", "account_for", "account_against", "clusters", "variance_inflation"];
    let edge = edge.map(|key| bot["edge"][key].clone());
    ["bot", "trades", "verdict"].map(|key| bot[key].clone()).into_iter().chain(edge).collect()
}

#[test]
fn a_verdict_falls_alike_in_a_backtest_and_live_and_is_enforced_alike() {
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("bots.toml", QUICK);
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--config", "bots.toml"];
    let run = |command: &[&str]| folder.run(&[command, &data, &["--json"]].concat());
    let stored = run(&["backtest", "--quiet"]).json();
    let live = run(&["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db"]);
    let printed = live.stderr.clone();
    let live = live.json();

    assert_eq!(stored["bots"][0]["verdict"], "edge_rejected", "{}", stored["bots"][0]);
    let refused = stored["refused"]["EdgeRejected"].as_u64().unwrap();
    assert!(refused > 50, "{refused}");
    assert_eq!(live["refused"], stored["refused"]);
    for place in [0, 1] {
        assert_eq!(verdict_of(&live["bots"][place]), verdict_of(&stored["bots"][place]));
    }
    assert!(printed.contains("often: its edge is ruled out after"), "{printed}");

    // The journal says the same: it holds the verdict as what the engine answered, and its trades bring it about again.
    let report = folder.run(&["report", "--journal", "run.db", "--json"]).json();
    assert_eq!(verdict_of(&report["bots"][0]), verdict_of(&stored["bots"][0]));
    let status = folder.run(&["status", "--journal", "run.db", "--json"]).json();
    let line = &status["verdicts"][0];
    assert_eq!(
        (&line["bot"], &line["verdict"], &line["since_intent"]),
        (&"often".into(), &"edge_rejected".into(), &1.into())
    );
    assert_eq!(line["account_against"], stored["bots"][0]["edge"]["account_against"]);
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!((&parity["ok"], &parity["decisions"]["difference"]), (&true.into(), &Value::Null), "{parity}");
    for part in [&["report"][..], &["status"]] {
        let printed = folder.run(&[part, &["--journal", "run.db"]].concat()).stdout;
        assert!(printed.contains("no edge"), "{printed}");
    }

    // Without enforcement it falls at the same trade, and nothing is refused for it.
    let free = folder.with("bots.toml", &QUICK.replace("enforce_verdict = true", "enforce_verdict = false"));
    let free = free.run(&[&["backtest", "--quiet", "--json"], data.as_slice()].concat()).json();
    assert_eq!(free["bots"][0]["verdict"], "edge_rejected");
    assert_eq!(free["refused"]["EdgeRejected"], Value::Null);
    assert!(free["trades"].as_u64() > stored["trades"].as_u64());
}

/// Programs that did not know verdicts wrote journals without them.
#[test]
fn a_journal_from_before_there_were_verdicts_is_held_to_what_it_can_say() {
    let settings = QUICK.replace("enforce_verdict = true", "enforce_verdict = false");
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + HOUR))
        .with("bots.toml", &settings);
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--config", "bots.toml"];
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db", "--json"];
    folder.run(&[&live[..], &data].concat()).json();
    let recorded = lines(&folder.path("run.db"));
    let is_verdict = |line: &Line| line.body.contains("\"action\":\"verdict\"");
    assert!(recorded.iter().any(|stored| is_verdict(&stored.line)), "none fell");
    let today = format!("\"format\":{}", Header::FORMAT);
    let without = |name: &str, format: &str| {
        let kept = recorded.iter().map(|stored| stored.line.clone()).filter(|line| !is_verdict(line));
        let body = |line: &Line| line.body.replacen(&today, format, 1);
        write(&folder.path(name), kept.map(|line| Line { body: body(&line), ..line }));
        folder.run(&["parity", "--journal", name, "--json"])
    };
    let old = without("old.db", "\"format\":2").json();
    assert_eq!((&old["ok"], &old["decisions"]["difference"]), (&true.into(), &Value::Null), "{old}");
    // One of today that lacks them was changed.
    let changed = without("changed.db", &today);
    assert_eq!(changed.code, 5, "{}", changed.stdout);
    assert!(changed.stderr.contains("a decision that the journal lacks"), "{}", changed.stderr);
}

/// Programs that gave every bot all of alpha wrote no weights, staked by Wilson's bound without a word of it, and refused by verdicts
/// that fell at other trades.
#[test]
fn a_journal_of_earlier_verdicts_opens_and_is_compared_up_to_the_first_refusal_by_one() {
    let kelly = "stake = { kind = \"kelly\", fraction = 0.2, kelly_floor_trades = 5, bound = \"wilson\" }\n";
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", MONDAY, MONDAY + 6 * HOUR))
        .with("bots.toml", &format!("{QUICK}{kelly}"));
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--config", "bots.toml"];
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db", "--json"];
    let refused = folder.run(&[&live[..], &data].concat()).json()["refused"]["EdgeRejected"].clone();
    assert!(refused.as_u64() > Some(50), "{refused}");
    let recorded = lines(&folder.path("run.db"));
    let header = &recorded[0].line.body;
    let bound =
        ["\"bound\":\"wilson\",", ",\"bound\":\"wilson\""].into_iter().find(|bound| header.contains(bound));
    let older = |name: &str, has_weights: bool| {
        let body = |body: &str| match body.split_once(",\"weight\":") {
            Some((before, after)) if !has_weights => {
                let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.e".contains(c));
                format!("{before}{rest}")
            }
            // No verdict would fall by these.
            _ => body
                .replacen(bound.unwrap(), "", 1)
                .replacen("\"alpha\":0.4", "\"alpha\":0.0000001", 1)
                .replacen("\"beta\":0.4", "\"beta\":0.0000001", 1),
        };
        let all = recorded.iter().map(|stored| stored.line.clone());
        write(&folder.path(name), all.map(|line| Line { body: body(&line.body), ..line }));
        folder.run(&["parity", "--journal", name, "--json"])
    };
    // With weights it is one of today that was changed.
    assert_eq!(older("changed.db", true).code, 5);
    let old = older("old.db", false).json();
    let (decisions, first) = (&old["decisions"], &old["decisions"]["not_compared"][0]);
    assert_eq!((&old["ok"], &decisions["difference"]), (&true.into(), &Value::Null), "{old}");
    assert!(
        first["run"] == 1 && first["seq"].as_u64() > Some(1) && decisions["actions"].as_u64() > Some(5),
        "{old}"
    );
    let run = |command: &[&str]| folder.run(&[command, &["--journal", "old.db"]].concat());
    assert!(run(&["parity"]).stdout.contains("by a verdict of an earlier rule"));
    assert_eq!(run(&["report", "--json"]).json()["refused"]["EdgeRejected"], refused);
    assert_eq!(run(&["status", "--json"]).json()["verdicts"][0]["bot"], "often");
    let explained = run(&["explain", "1"]);
    assert!(
        explained.code == 0 && explained.stdout.contains("often"),
        "{}{}",
        explained.stdout,
        explained.stderr
    );
}

/// Answers, ends and decisions that meet at one moment.
#[test]
fn the_verdict_on_all_trades_of_a_single_bot_is_its_own_to_the_last_bit() {
    let bot = QUICK.split("[[bots]]").take(2).collect::<Vec<_>>().join("[[bots]]");
    let bot = bot.replace("01:00", "03:00").replace("enforce_verdict = true", "");
    let rules = "[risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 0\nallow_opposite = true\nallow_duplicate = true";
    for (latency_ms, settle_delay_ms) in [(0, 0), (2_000, 4_000), (60_000, 0), (60_000, 60_000)] {
        let venue = format!(
            "[simulation]\nopen_rounding = \"none\"\nlatency_ms = {latency_ms}\nsettle_delay_ms = {settle_delay_ms}\n"
        );
        let folder = Folder::new()
            .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 24 * HOUR))
            .with("bots.toml", &(venue + &bot.replace("[risk]", rules)));
        let run = ["backtest", "--json", "--config", "bots.toml", "--data", "BTCUSDT_1m.csv"];
        let report = folder.run(&run).json();
        assert!(report["edge"]["judged_trades"].as_u64() > Some(100), "{}", report["edge"]);
        assert_eq!(report["edge"], report["bots"][0]["edge"], "{latency_ms} {settle_delay_ms}");
    }
}

#[cfg(unix)]
#[test]
fn a_restart_goes_on_where_the_verdict_stood_and_other_parameters_begin_anew() {
    use crate::seconds;
    use crate::serving::Served;
    use crate::two_runs::{BOT, CANDLES, judged as count_judged, run_until};
    use candlewick_broker::clock::{Clock as _, SystemClock};

    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let folder = Folder::new().with("BTCUSDT_1s.csv", &seconds::candles(now, CANDLES)).with("bot.toml", BOT);
    let path = |name: &str| folder.path(name).to_string_lossy().into_owned();
    let start = (now + 1_000).to_string();
    let served = Served::start(&[
        "--speed",
        "1",
        "--start",
        &start,
        "--data",
        &path("BTCUSDT_1s.csv"),
        "--config",
        &path("bot.toml"),
    ]);
    let folder = served.known_to(folder);
    let run = |folder: &Folder| {
        let before = count_judged(folder, "run.db");
        let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
        run_until(folder, &live, || count_judged(folder, "run.db") > before).json()
    };
    let status = || folder.run(&["status", "--journal", "run.db", "--json"]).json()["verdicts"][0].clone();

    let first = run(&folder);
    let after_first = status();
    assert!(after_first["trades"].as_u64() > Some(0), "{after_first}");
    assert_eq!(
        first["bots"][0]["edge"]["account_for"], after_first["account_for"],
        "folded is as it was live"
    );
    let second = run(&folder);
    let after_second = status();
    let judged = |line: &Value| line["trades"].as_u64().unwrap();
    assert!(judged(&after_second) > judged(&after_first), "{after_second}");
    assert_eq!(second["bots"][0]["edge"]["account_for"], after_second["account_for"]);
    assert_eq!(after_second["since_intent"], 1, "a restart is no other bot");
    // The trades of both runs, and no other, are judged.
    let at_once = &folder.run(&["edge", "verdict", "--journal", "run.db", "--json"]).json()["all"];
    let settled = |key: &str| at_once[key].as_u64().unwrap();
    assert_eq!(settled("won") + settled("lost") + settled("draw"), judged(&after_second), "{at_once}");

    let folder = folder.with("bot.toml", &BOT.replace("period = 2", "period = 3"));
    let third = run(&folder);
    let after_third = folder.run(&["status", "--journal", "run.db", "--json"]).json()["verdicts"][0].clone();
    assert!(after_third["since_intent"].as_u64() > Some(judged(&after_second)), "{after_third}");
    assert_eq!(third["bots"][0]["edge"]["account_for"], after_third["account_for"]);
    assert!(judged(&after_third) <= third["trades"].as_u64().unwrap(), "{after_third}");
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!((&parity["ok"], &parity["runs"]), (&true.into(), &3.into()), "{parity}");
}
