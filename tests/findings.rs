//! Findings of runs that cause them, absent without the cause. Golden cases cover the other kinds.

use crate::candlewick::Folder;
use crate::excerpt::{MINUTE, MONDAY};
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Won,
    Lost,
    Idle,
}

use Ending::{Idle, Lost, Won};

const BOT: &str = "[simulation]\nlatency_ms = 0\nopen_rounding = \"none\"\n[risk]\ndaily_loss_limit = 0\n\
                   max_drawdown_percent = 0\nmax_trades_per_day = 0\nmax_ruin_probability = 0\nmax_open_trades = 0\n\
                   max_open_trades_per_symbol = 0\nallow_opposite = true\nallow_duplicate = true\n[account]\n\
                   initial_balance = 100000\n[[bots]]\nname = \"a\"\nsymbol = \"BTCUSDT\"\n\
                   interval = \"1m\"\nstrategy = \"signal-list\"\nparams = { file = \"list.csv\" }\nclose_type = \"01:00\"\n";

const fn price(minute: i64) -> i64 {
    100 + minute % 2
}

fn row(time: i64, open: i64, close: i64) -> String {
    format!("{time},{open},{},{},{close},1\n", open.max(close), open.min(close))
}

fn table(rows: impl Iterator<Item = String>) -> String {
    "time,open,high,low,close,volume\n".to_owned() + &rows.collect::<String>()
}

fn minutes(count: i64, close: impl Fn(i64) -> i64) -> String {
    table((0..count).map(|minute| row(MONDAY + minute * MINUTE, price(minute), close(minute))))
}

/// Signals that give the trade of each minute, from the second one on, the given outcome.
fn list(endings: &[Ending]) -> String {
    let mut text = "time,symbol,direction\n".to_owned();
    for (minute, ending) in (1..).zip(endings).filter(|(_, ending)| **ending != Idle) {
        let is_up = price(minute + 1) > price(minute);
        let direction = if is_up == (*ending == Won) { "BUY" } else { "SELL" };
        let _ = writeln!(text, "{},BTCUSDT,{direction}", MONDAY + minute * MINUTE);
    }
    text
}

fn folder(endings: &[Ending]) -> Folder {
    let candles = minutes(endings.len() as i64 + 2, |minute| price(minute + 1));
    Folder::new().with("bot.toml", BOT).with("list.csv", &list(endings)).with("BTCUSDT_1m.csv", &candles)
}

fn backtest(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&["backtest", "--config", "bot.toml", "--json"], more].concat()).json()
}

fn report_of_file(folder: &Folder) -> Value {
    backtest(folder, &["--data", "BTCUSDT_1m.csv"])
}

fn found<'a>(report: &'a Value, kind: &str) -> Option<&'a Value> {
    report["findings"].as_array().unwrap().iter().find(|finding| finding["kind"] == kind)
}

#[track_caller]
fn check(kind: &str, with: &Value, figure: &str, without: &Value) {
    let finding = found(with, kind).unwrap_or_else(|| panic!("no {kind} in {}", with["findings"]));
    assert!(finding["text"].as_str().unwrap().contains(figure), "{finding}");
    assert_eq!(found(without, kind), None, "{}", without["findings"]);
}

#[test]
fn finds_endings_and_settings() {
    let mut seed = 1_u32;
    let toss = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if seed >> 28 & 1 == 1 { Won } else { Lost }
    };
    let tossed: Vec<Ending> = (0..400).map(toss).collect();
    let ladder = "\"01:00\"\nstake = { kind = \"martingale\", amount = 10, factor = 3, levels = 2 }";
    let (payout, loss_streak) = ("latency_ms = 0\npayout_percent", "[risk]\nmax_loss_streak = 3");
    let (low, high) = (format!("{payout} = 2.5"), format!("{payout} = 350"));
    let pairs = [Won, Lost].repeat(30);
    let rounds = [Lost, Idle, Won, Idle].repeat(15);
    for (kind, figure, endings, (from, to), without) in [
        ("too_good", "100.0 % of 200", vec![Won; 200], ("", ""), [Won, Won, Lost, Lost].repeat(50)),
        ("regimes", "", [[Won; 10], [Lost; 10]].concat().repeat(20), ("", ""), tossed),
        // Decided at minutes 1 to 4, before the third loss is known; the candles end with minute 102.
        ("halted_early", "98 candles", vec![Lost; 100], ("[risk]", loss_streak), vec![Lost; 100]),
        ("unusual_payout", "2.5 %", pairs.clone(), ("latency_ms = 0", low.as_str()), pairs.clone()),
        ("unusual_payout", "350.0 %", pairs.clone(), ("latency_ms = 0", high.as_str()), pairs),
        ("few_clusters", "", vec![Won; 240], ("01:00", "25:00"), [Won, Idle].repeat(120)),
        // Each trade closes before the next one opens, so the ladder knows its outcome.
        ("ladder_hides_losses", "", rounds.clone(), ("\"01:00\"", ladder), rounds),
    ] {
        let changed = folder(&endings).with("bot.toml", &BOT.replacen(from, to, 1));
        check(kind, &report_of_file(&changed), figure, &report_of_file(&folder(&without)));
    }
}

#[test]
fn finds_an_edge_unsupported_by_later_trades() {
    let wins = report_of_file(&folder(&[Won; 200]));
    let needed = wins["edge"]["shown"]["after_trades"].as_u64().unwrap() as usize;
    // A payout of 80 needs 55.56 %; of 400 trades 220 are won, or 300.
    let then = |won: usize| [vec![Won; won], vec![Lost; 20 - won]].concat().repeat(20);
    let [gone, held] = [11, 15].map(|won| report_of_file(&folder(&[vec![Won; needed], then(won)].concat())));
    check("edge_did_not_last", &gone, "55.00 %", &held);
    let [gone, held] = [gone, held].map(|report| report["edge"]["shown"].clone());
    assert_eq!((&gone["won_since"], &gone["lost_since"]), (&220.into(), &180.into()));
    assert_eq!((&gone["is_supported_since"], &held["is_supported_since"]), (&false.into(), &true.into()));
}

#[test]
fn verdict_on_a_trade_file_names_the_deciding_trade_and_the_trades_since() {
    let verdict = |endings: &[Ending]| {
        let row = |ending: &Ending| if *ending == Won { "won,80\n" } else { "lost,80\n" };
        let rows: String = endings.iter().map(row).collect();
        let folder = Folder::new().with("t.csv", &format!("result,payout\n{rows}"));
        folder.run(&["edge", "verdict", "--trades", "t.csv", "--json"]).json()
    };
    let five_of_eight = [Won, Won, Won, Won, Won, Lost, Lost, Lost].repeat(75);
    let shown = verdict(&five_of_eight);
    let needed = shown["all"]["shown"]["after_trades"].as_u64().unwrap() as usize;
    let then = [vec![Won; 11], vec![Lost; 9]].concat().repeat(20);
    let gone = verdict(&[five_of_eight[..needed].to_vec(), then].concat());
    assert_eq!(gone["all"]["verdict"], "exploratory");
    assert_eq!(gone["all"]["shown"]["after_trades"], needed, "{gone}");
    assert!(found(&gone, "edge_did_not_last").is_some(), "{gone}");
}

#[test]
fn finds_an_assumed_payout_above_that_of_a_recorded_journal() {
    let folder = folder(&[Won; 60]).with("more.toml", "[simulation]\npayout_percent = 92\n");
    let live = ["live", "--sandbox", "--data", "BTCUSDT_1m.csv", "--config", "bot.toml", "--speed", "max"];
    let live = [&live[..], &["--until-end", "--journal", "run.db", "--quiet", "--json"]].concat();
    let trades = folder.run(&live).json()["trades"].as_u64();
    assert!(trades > Some(30), "{trades:?}");
    let recorded = ["--data", "BTCUSDT_1m.csv", "--latency-from", "run.db"];
    let with = backtest(&folder, &[&recorded[..], &["--config", "more.toml"]].concat());
    check("assumed_payout", &with, "80.0 %", &backtest(&folder, &recorded));
}

#[cfg(unix)]
#[test]
fn finds_an_assumed_payout_above_that_of_a_live_run() {
    use crate::consecutive_runs::{judged, run_until, venue_and_bot};
    let run = |payout: u32| {
        let (_served, folder) = venue_and_bot(&format!("[simulation]\npayout_percent = {payout}\n"));
        let live = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--quiet"];
        let live = run_until(&folder, &live, || judged(&folder, "run.db") > 0).json();
        assert!(live["trades"].as_u64() > Some(0), "{live}");
        [live, folder.run(&["report", "--journal", "run.db", "--json"]).json()]
    };
    for (less, same) in run(70).iter().zip(&run(80)) {
        check("assumed_payout", less, "70.0 %", same);
    }
}

#[test]
fn revised_candles() {
    let import = |folder: Folder, raised: Range<i64>| {
        let close = |minute| price(minute + 1) + i64::from(raised.contains(&minute));
        let folder = folder.with("BTCUSDT_1m.csv", &minutes(62, close));
        let run = folder.run(&["data", "import", "BTCUSDT_1m.csv", "--catalog", "candles"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder
    };
    let run = |folder: &Folder, more: &[&str]| backtest(folder, &[&["--catalog", "candles"], more].concat());
    let folder = import(folder(&[Won; 60]), 0..0);
    let steady = run(&folder, &[]);
    let folder = import(folder, 50..53);
    let revised = run(&folder, &[]);
    check("data_revised", &revised, "3 values", &steady);
    // A live bot would have made the same run.
    assert_eq!(revised["journal_hash"], steady["journal_hash"]);
    check("data_revised", &revised, "3 values", &run(&folder, &["--to", "2026-01-05T00:50:00Z"]));
}
