//! Real candles from the folder `CANDLEWICK_REAL_DATA`, which is not part of the repository.
#![allow(clippy::unwrap_used, reason = "a failed read or command fails the test")]

mod agreement;
#[allow(dead_code, reason = "other tests use the rest")]
mod candlewick;
mod oracle;

use agreement::{Ground, variations};
use candlewick::Folder;
use serde_json::{Value, json};
use std::path::PathBuf;

const LATENCIES_MS: [i64; 3] = [0, 1_500, 61_000];

const MINUTES: [(&str, i64); 2] = [("01:00", 60_000), ("05:00", 300_000)];
const FIVE_MINUTES: [(&str, i64); 2] = [("05:00", 300_000), ("15:00", 900_000)];

/// File, series, interval, number of candles between two signals, and two expiries.
type GroundOfFile = (&'static str, &'static str, i64, usize, [(&'static str, i64); 2]);
const GROUNDS: [GroundOfFile; 3] = [
    ("btcperp_m1_2022-01.csv", "BTCPERP@1m", 60_000, 3, MINUTES),
    ("gbpusd_m1_bid_2012-02.csv", "GBPUSD@1m", 60_000, 1, MINUTES),
    ("ethbtc_m5_2018-01.csv", "ETHBTC@5m", 300_000, 1, FIVE_MINUTES),
];

fn real_data_path(name: &str) -> PathBuf {
    let folder = std::env::var_os("CANDLEWICK_REAL_DATA")
        .expect("set CANDLEWICK_REAL_DATA to the folder that holds the real candles");
    let path = PathBuf::from(folder).join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn trades_on_real_candles_match_the_oracle() {
    for (name, series, interval_ms, pace, durations) in GROUNDS {
        let candles = std::fs::read_to_string(real_data_path(name)).unwrap();
        let ground = Ground { series, interval_ms, candles, pace, durations };
        for variation in variations(&LATENCIES_MS) {
            let met = ground.check(variation);
            assert!(met.contains("WON") && met.contains("LOST"), "{name}: {met:?}");
        }
    }
}

/// File, series, rows, first open, last close, gaps while the market was open, candles missing in them (as counted by
/// another program with the New York calendar), and spikes.
type FileByName = (&'static str, &'static str, u64, [i64; 2], [u64; 3]);
const FILES: [FileByName; 4] = [
    ("gbpusd_m1_bid_2012-02.csv", "GBPUSD 1m", 30_117, [1_328_054_400_000, 1_330_560_060_000], [110, 124, 0]),
    ("btcperp_m1_2022-01.csv", "BTCPERP 1m", 45_031, [1_640_991_660_000, 1_643_693_520_000], [0, 0, 1]),
    ("ethbtc_m5_2018-01.csv", "ETHBTC 5m", 5_760, [1_515_560_100_000, 1_517_288_100_000], [0, 0, 0]),
    // Its gaps are Christmas and New Year.
    ("eurusd_h1_2017-2018.csv", "EURUSD 1h", 5_000, [1_492_592_400_000, 1_518_019_200_000], [2, 48, 0]),
];

#[test]
fn check_infers_series_from_file_names_and_distinguishes_weekends_from_gaps() {
    for (name, series, rows, [start, end], [gaps, missing, spikes]) in FILES {
        let run = Folder::new().run(&["data", "check", real_data_path(name).to_str().unwrap(), "--json"]);
        assert_eq!(run.code, if gaps + spikes == 0 { 0 } else { 5 }, "{name}: {}", run.stderr);
        let checked = serde_json::from_str::<Value>(&run.stdout).unwrap()[0].clone();
        let (symbol, interval) = series.split_once(' ').unwrap();
        let keys = "/symbol /interval /candles /start /end /missing /problems /counts/gap /counts/spike";
        let found: Vec<_> = keys.split(' ').map(|key| checked.pointer(key)).collect();
        let expected = json!([symbol, interval, rows, start, end, missing, gaps + spikes, gaps, spikes]);
        assert_eq!(json!(found), expected, "{name}");
    }
}

fn rows<const N: usize>(document: &str) -> Vec<[&str; N]> {
    let cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    cells.filter_map(|cells| cells.split(" | ").collect::<Vec<_>>().try_into().ok()).collect()
}

#[test]
fn figures_of_the_strategies_page_match_backtests() {
    let page = std::fs::read_to_string(candlewick::repository().join("docs/strategies.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (template, _) = rest.split_once("```").unwrap();
    let files = rows::<5>(&page);
    let mut checked = 0;
    for [strategy, candles, trades, win_rate, interval, verdict] in rows::<6>(&page) {
        let Some([_, file, .., close_type]) = files.iter().find(|[of, ..]| *of == candles) else { continue };
        // The table heads must match as well.
        let Some((symbol, length)) = candles.split_once(' ') else { continue };
        let mut bot = template.replace("BTCPERP", symbol).replace("\"1m\"", &format!("\"{length}\""));
        bot = bot.replace("coin", strategy).replace("05:00", close_type.trim_matches('`'));
        if strategy == "trend-filter" {
            bot += match length {
                "1m" => "params = { trend_seconds = 300 }\n",
                "5m" => "params = { trend_seconds = 1500 }\n",
                _ => "params = { trend_seconds = 18000 }\n",
            };
        }
        let data = format!("{symbol}@{length}={}", real_data_path(file.trim_matches('`')).display());
        let folder = Folder::new().with("bot.toml", &bot);
        let report = folder.run(&["backtest", "--config", "bot.toml", "--data", &data, "--json"]).json();
        let percent = |share: &Value| format!("{:.2} %", share.as_f64().unwrap() * 100.0);
        let sequence = &report["edge"]["win_rate_sequence_95"];
        let label = match report["verdict"].as_str().unwrap() {
            "edge_rejected" => "no edge",
            other => other,
        };
        let found = format!(
            "{} | {} | {} to {} | {label}",
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
