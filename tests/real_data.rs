//! Real candles, which are not part of the repository. `CANDLEWICK_REAL_DATA` names their folder.
#![allow(clippy::unwrap_used, reason = "what cannot be read or run fails its test")]

mod agreement;
#[allow(dead_code, reason = "made for the other tests, of which there are more")]
mod candlewick;
mod oracle;

use agreement::{Ground, variations};
use candlewick::Folder;
use serde_json::{Value, json};
use std::path::PathBuf;

const LATENCIES_MS: [i64; 3] = [0, 1_500, 61_000];

const MINUTES: [(&str, i64); 2] = [("01:00", 60_000), ("05:00", 300_000)];
const FIVE_MINUTES: [(&str, i64); 2] = [("05:00", 300_000), ("15:00", 900_000)];

/// A file, its series, its interval, candles between two signals, and two expiries.
type GroundOfFile = (&'static str, &'static str, i64, usize, [(&'static str, i64); 2]);
const GROUNDS: [GroundOfFile; 3] = [
    ("btcperp_m1_2022-01.csv", "BTCPERP@1m", 60_000, 3, MINUTES),
    ("gbpusd_m1_bid_2012-02.csv", "GBPUSD@1m", 60_000, 1, MINUTES),
    ("ethbtc_m5_2018-01.csv", "ETHBTC@5m", 300_000, 1, FIVE_MINUTES),
];

fn path_of(name: &str) -> PathBuf {
    let folder = std::env::var_os("CANDLEWICK_REAL_DATA")
        .expect("set CANDLEWICK_REAL_DATA to the folder that holds the real candles");
    let path = PathBuf::from(folder).join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn trades_on_real_candles_are_those_of_the_oracle() {
    for (name, series, interval_ms, pace, durations) in GROUNDS {
        let candles = std::fs::read_to_string(path_of(name)).unwrap();
        let ground = Ground { series, interval_ms, candles, pace, durations };
        for variation in variations(&LATENCIES_MS) {
            let met = ground.check(variation);
            assert!(met.contains("WON") && met.contains("LOST"), "{name}: {met:?}");
        }
    }
}

/// Name, symbol, interval, rows, and times of the first open and the last close.
const DESCRIBED: [(&str, &str, &str, u64, [i64; 2]); 4] = [
    ("gbpusd_m1_bid_2012-02.csv", "GBPUSD", "1m", 30_117, [1_328_054_400_000, 1_330_560_060_000]),
    ("btcperp_m1_2022-01.csv", "BTCPERP", "1m", 45_031, [1_640_991_660_000, 1_643_693_520_000]),
    ("ethbtc_m5_2018-01.csv", "ETHBTC", "5m", 5_760, [1_515_560_100_000, 1_517_288_100_000]),
    ("eurusd_h1_2017-2018.csv", "EURUSD", "1h", 5_000, [1_492_592_400_000, 1_518_019_200_000]),
];

#[test]
fn file_is_imported_by_its_name_and_exported_unchanged() {
    let folder = Folder::new();
    for (name, symbol, interval, rows, [start, end]) in DESCRIBED {
        let path = path_of(name);
        let imported = folder.run(&["data", "import", path.to_str().unwrap(), "--json"]).json()[0].clone();
        for (key, expected) in [
            ("symbol", json!(symbol)),
            ("interval", json!(interval)),
            ("candles", json!(rows)),
            ("start", json!(start)),
            ("end", json!(end)),
        ] {
            assert_eq!(imported[key], expected, "{name}: {key}");
        }
        let back = format!("{symbol}_{interval}.csv");
        folder.run(&["data", "export", &format!("{symbol}@{interval}"), "--out", &back]);
        // Numbers may be spelled otherwise in the file; a second import finds the same values.
        let again = folder.run(&["data", "import", &back, "--json"]).json()[0].clone();
        assert_eq!((&again["same"], &again["revised"]), (&rows.into(), &0.into()), "{name}");
        let file = format!("{symbol}@{interval}={}", path.display());
        let other = folder.run(&["data", "export", &file, "--out", &format!("direct_{back}")]);
        assert_eq!(other.code, 0, "{}", other.stderr);
        assert_eq!(folder.read(&back), folder.read(&format!("direct_{back}")), "{name}");
    }
}

#[test]
fn check_takes_no_weekend_for_a_gap_and_no_gap_for_a_weekend() {
    // Gaps while the market was open and the candles missing in them, as counted by another program by the calendar of
    // New York; spikes.
    for (name, gaps, missing, spikes) in [
        ("gbpusd_m1_bid_2012-02.csv", 110, 124, 0),
        ("btcperp_m1_2022-01.csv", 0, 0, 1),
        ("ethbtc_m5_2018-01.csv", 0, 0, 0),
        // Christmas and the new year.
        ("eurusd_h1_2017-2018.csv", 2, 48, 0),
    ] {
        let run = Folder::new().run(&["data", "check", path_of(name).to_str().unwrap(), "--json"]);
        assert_eq!(run.code, if gaps + spikes == 0 { 0 } else { 5 }, "{name}: {}", run.stderr);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let counts = &found[0]["counts"];
        let counted = [&counts["gap"], &found[0]["missing"], &counts["spike"], &found[0]["problems"]];
        assert_eq!(counted.map(Value::as_u64), [gaps, missing, spikes, gaps + spikes].map(Some), "{name}");
    }
}

/// The cells of table rows with `N` cells.
fn rows<const N: usize>(document: &str) -> Vec<[&str; N]> {
    let cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    cells.filter_map(|cells| cells.split(" | ").collect::<Vec<_>>().try_into().ok()).collect()
}

#[test]
fn figures_in_the_page_of_strategies_are_those_of_backtests() {
    let page = std::fs::read_to_string(candlewick::repository().join("docs/strategies.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (template, _) = rest.split_once("```").unwrap();
    let files = rows::<5>(&page);
    let mut checked = 0;
    for [strategy, candles, trades, win_rate, interval, verdict] in rows::<6>(&page) {
        let Some([_, file, .., close_type]) = files.iter().find(|[of, ..]| *of == candles) else { continue };
        // The table heads match each other, too.
        let Some((symbol, length)) = candles.split_once(' ') else { continue };
        let mut bot = template.replace("BTCPERP", symbol).replace("\"1m\"", &format!("\"{length}\""));
        bot = bot.replace("coin", strategy).replace("05:00", close_type.trim_matches('`'));
        if strategy == "trend-filter" {
            let seconds = match length {
                "1m" => 300,
                "5m" => 1_500,
                _ => 18_000,
            };
            bot += &format!("params = {{ trend_seconds = {seconds} }}\n");
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
        let found = format!(
            "{} | {} | {} to {} | {said}",
            report["trades"],
            percent(&report["win_rate"]),
            percent(&sequence[0]),
            percent(&sequence[1])
        );
        assert_eq!([trades, win_rate, interval, verdict].join(" | "), found, "{strategy} on {candles}");
        checked += 1;
    }
    assert_eq!(checked, 32);
}
