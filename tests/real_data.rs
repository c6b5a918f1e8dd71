//! Real candles, which are not part of the repository: the program against the oracle, and every strategy.
//!
//! `CANDLEWICK_REAL_DATA` names the folder that holds them.
#![allow(clippy::unwrap_used, reason = "what cannot be read or run fails its test")]

mod agreement;
#[allow(dead_code, reason = "made for the other tests, of which there are more")]
mod candlewick;
mod oracle;

use agreement::{Ground, variations};
use candlewick::Folder;
use serde_json::Value;
use std::path::PathBuf;

const LATENCIES_MS: [i64; 3] = [0, 1_500, 61_000];

/// A file: its name, its series, its interval, how many candles lie between two signals, and two durations.
type File = (&'static str, &'static str, i64, usize, [(&'static str, i64); 2]);

const MINUTES: [(&str, i64); 2] = [("01:00", 60_000), ("05:00", 300_000)];
const FIVE_MINUTES: [(&str, i64); 2] = [("05:00", 300_000), ("15:00", 900_000)];

const BTC: File = ("btcperp_m1_2022-01.csv", "BTCPERP@1m", 60_000, 3, MINUTES);
const GBPUSD: File = ("gbpusd_m1_bid_2012-02.csv", "GBPUSD@1m", 60_000, 1, MINUTES);
const ETHBTC: File = ("ethbtc_m5_2018-01.csv", "ETHBTC@5m", 300_000, 1, FIVE_MINUTES);

fn path_of(name: &str) -> PathBuf {
    let folder = std::env::var_os("CANDLEWICK_REAL_DATA")
        .expect("set CANDLEWICK_REAL_DATA to the folder that holds the real candles");
    let path = PathBuf::from(folder).join(name);
    assert!(
        path.is_file(),
        "{} is missing: CANDLEWICK_REAL_DATA must name a folder that has it",
        path.display()
    );
    path.canonicalize().expect("the file is there")
}

fn agree((name, series, interval_ms, pace, durations): File) {
    let candles = std::fs::read_to_string(path_of(name)).unwrap();
    let ground = Ground { series, interval_ms, candles, pace, durations };
    for variation in variations(&LATENCIES_MS) {
        let met = ground.check(variation);
        assert!(met.contains("WON") && met.contains("LOST"), "{name}: {met:?}");
    }
}

/// Those that decide by themselves and go by one interval.
const STRATEGIES: [&str; 7] = [
    "rsi-reversal",
    "ema-cross",
    "bollinger-reversal",
    "macd-cross",
    "donchian-breakout",
    "stochastic-adx",
    "coin",
];

/// Every one of them: sane figures, and the same ones in a second process.
fn trade((name, series, _, _, durations): File) {
    let (symbol, interval) = series.split_once('@').unwrap();
    let data = format!("{series}={}", path_of(name).display());
    for strategy in STRATEGIES {
        let bot = format!(
            "[[bots]]\nname = \"bot\"\nsymbol = \"{symbol}\"\ninterval = \"{interval}\"\nstrategy = \"{strategy}\"\n\
             close_type = \"{}\"\n[risk]\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\nmax_trades_per_day = 0\n",
            durations[0].0
        );
        let folder = Folder::new().with("bot.toml", &bot);
        let run = || folder.run(&["backtest", "--config", "bot.toml", "--data", &data, "--json"]).json();
        let (report, again) = (run(), run());
        assert_sane(&report, &format!("{strategy} on {name}"));
        for key in ["journal_hash", "data_hash", "trades", "pnl"] {
            assert_eq!(report[key], again[key], "{strategy} on {name}: {key}");
        }
    }
}

fn assert_sane(report: &Value, case: &str) {
    let count = |key: &str| report[key].as_u64().unwrap();
    assert!(count("trades") > 100, "{case}: {report}");
    assert_eq!(count("trades"), count("won") + count("lost") + count("draw") + count("cancelled"), "{case}");
    let cents = |key: &str| (report[key].as_f64().unwrap() * 100.0).round() as i64;
    assert_eq!(cents("final_balance"), 1_000_000 + cents("pnl"), "{case}");
    let decided = (count("won") + count("lost")) as f64;
    let win_rate = report["win_rate"].as_f64().unwrap();
    assert!((win_rate - count("won") as f64 / decided).abs() < 1e-12, "{case}: {report}");
    // Nobody sees the future of real candles: a rate far from chance would be a look ahead.
    assert!((0.35..0.65).contains(&win_rate), "{case}: {report}");
    assert!((0.0..=1.0).contains(&report["p_value"].as_f64().unwrap()), "{case}");
}

#[test]
fn on_bitcoin_every_trade_is_the_oracles() {
    agree(BTC);
}

#[test]
fn on_the_pound_with_its_gaps_every_trade_is_the_oracles() {
    agree(GBPUSD);
}

#[test]
fn on_ether_every_trade_is_the_oracles() {
    agree(ETHBTC);
}

#[test]
fn every_strategy_trades_every_file_and_repeats_itself() {
    for file in [BTC, GBPUSD, ETHBTC] {
        trade(file);
    }
}

/// Each file as its own page describes it: what its name says, its rows, and the days of its first and last candle.
const DESCRIBED: [(&str, &str, u64, &str, &str); 4] = [
    ("gbpusd_m1_bid_2012-02.csv", "GBPUSD 1m", 30_117, "2012-02-01", "2012-03-01"),
    ("btcperp_m1_2022-01.csv", "BTCPERP 1m", 45_031, "2021-12-31", "2022-02-01"),
    ("ethbtc_m5_2018-01.csv", "ETHBTC 5m", 5_760, "2018-01-10", "2018-01-30"),
    ("eurusd_h1_2017-2018.csv", "EURUSD 1h", 5_000, "2017-04-19", "2018-02-07"),
];

#[test]
fn every_file_is_imported_by_its_name_alone_and_comes_out_of_the_catalog_as_it_was() {
    let folder = Folder::new();
    for (name, series, rows, from, to) in DESCRIBED {
        let path = path_of(name);
        let imported = folder.run(&["data", "import", path.to_str().unwrap()]);
        let printed = format!("{rows} candles of {series}, {from}");
        assert!(
            imported.code == 0 && imported.stdout.contains(&printed),
            "{}{}",
            imported.stdout,
            imported.stderr
        );
        assert!(imported.stdout.contains(&format!("to {to}")), "{}", imported.stdout);
        let (symbol, interval) = series.split_once(' ').unwrap();
        let back = format!("{symbol}_{interval}.csv");
        folder.run(&["data", "export", &format!("{symbol}@{interval}"), "--out", &back]);
        // Numbers may be spelled otherwise in the file; a second import finds the same values.
        let again = folder.run(&["data", "import", &back, "--json"]).json();
        assert_eq!(
            (again[0]["same"].as_u64(), again[0]["revised"].as_u64()),
            (Some(rows), Some(0)),
            "{name}"
        );
        let file = format!("{symbol}@{interval}={}", path.display());
        let other = folder.run(&["data", "export", &file, "--out", &format!("direct_{back}")]);
        assert_eq!(other.code, 0, "{}", other.stderr);
        assert_eq!(folder.read(&back), folder.read(&format!("direct_{back}")), "{name}");
    }
}

/// What is wrong with each file: gaps while the market was open and how many candles they are, counted by another program
/// by the calendar of New York, and candles that stand out.
const WRONG: [(&str, u64, u64, u64); 4] = [
    ("gbpusd_m1_bid_2012-02.csv", 110, 124, 0),
    ("btcperp_m1_2022-01.csv", 0, 0, 1),
    ("ethbtc_m5_2018-01.csv", 0, 0, 0),
    // Christmas and the new year.
    ("eurusd_h1_2017-2018.csv", 2, 48, 0),
];

#[test]
fn a_check_takes_no_weekend_for_a_gap_and_no_gap_for_a_weekend() {
    for (name, gaps, missing, spikes) in WRONG {
        let run = Folder::new().run(&["data", "check", path_of(name).to_str().unwrap(), "--json"]);
        assert_eq!(run.code, if gaps + spikes == 0 { 0 } else { 5 }, "{name}: {}", run.stderr);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let counts = &found[0]["counts"];
        let printed = [&counts["gap"], &found[0]["missing"], &counts["spike"], &found[0]["problems"]];
        assert_eq!(printed.map(Value::as_u64), [gaps, missing, spikes, gaps + spikes].map(Some), "{name}");
    }
}

/// The cells of those rows of a document's tables that have so many.
fn rows<const N: usize>(document: &str) -> Vec<[&str; N]> {
    let cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    cells.filter_map(|cells| cells.split(" | ").collect::<Vec<_>>().try_into().ok()).collect()
}

#[test]
fn the_page_of_strategies_says_what_they_make_of_these_candles() {
    let page = std::fs::read_to_string(candlewick::repository().join("docs/strategies.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (template, _) = rest.split_once("```").unwrap();
    let files = rows::<5>(&page);
    let mut held = 0;
    for [strategy, candles, trades, win_rate, interval, verdict] in rows::<6>(&page) {
        let Some([_, file, .., close_type]) = files.iter().find(|[of, ..]| *of == candles) else { continue };
        // The heads of both tables are alike, too.
        let Some((symbol, length)) = candles.split_once(' ') else { continue };
        let mut bot = template.replace("BTCPERP", symbol).replace("\"1m\"", &format!("\"{length}\""));
        bot = bot.replace("coin", strategy).replace("05:00", close_type.trim_matches('`'));
        if strategy == "trend-filter" {
            let seconds =
                [("1m", 300), ("5m", 1_500), ("1h", 18_000)].into_iter().find(|(of, _)| *of == length);
            bot += &format!("params = {{ trend_seconds = {} }}\n", seconds.unwrap().1);
        }
        let data = format!("{symbol}@{length}={}", path_of(file.trim_matches('`')).display());
        let folder = Folder::new().with("bot.toml", &bot);
        let report = folder.run(&["backtest", "--config", "bot.toml", "--data", &data, "--json"]).json();
        let percent = |share: &Value| format!("{:.2} %", share.as_f64().unwrap() * 100.0);
        let sequence = &report["edge"]["win_rate_sequence_95"];
        let said = match report["verdict"].as_str().unwrap() {
            "edge_rejected" => "no edge",
            "not_enough_trades" => "not enough trades",
            other => other,
        };
        let found = [
            report["trades"].to_string(),
            percent(&report["win_rate"]),
            format!("{} to {}", percent(&sequence[0]), percent(&sequence[1])),
            said.to_owned(),
        ];
        assert_eq!(
            [trades, win_rate, interval, verdict].map(str::to_owned),
            found,
            "{strategy} on {candles}"
        );
        held += 1;
    }
    assert_eq!(held, 32);
}
