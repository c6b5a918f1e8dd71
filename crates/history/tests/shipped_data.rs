//! The candles in `backtest-data/` match their README and resemble markets.
#![allow(clippy::unwrap_used, reason = "a file that cannot be used fails its test")]

use candlewick_history::{CandleFile, GenerateSettings, generate, ignore_progress, known_market, write_csv};
use candlewick_sdk::{CandleSeries, Millis, Symbol};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

const SYMBOLS: [&str; 3] = ["BTCUSDT", "EURUSD", "GBPUSD"];
/// 2026-01-05 00:00 UTC.
const MONDAY: Millis = Millis::new(1_767_571_200_000);

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../backtest-data").join(name)
}

fn read_text(name: &str) -> String {
    fs::read_to_string(shipped(name)).unwrap()
}

fn read_series(symbol: &str, interval: &str) -> CandleSeries {
    let source = CandleFile::from_path(&shipped(&format!("{symbol}_{interval}.csv"))).unwrap();
    source.read(&mut ignore_progress).unwrap()
}

fn settings_of(command: &str) -> GenerateSettings {
    let words: Vec<&str> = command.split_whitespace().collect();
    let flags: HashMap<&str, &str> = words[3..].chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let symbol = Symbol::new(flags["--symbol"]).unwrap();
    assert_eq!(flags["--start"], "2026-01-05");
    let (market, days) = (known_market(symbol).unwrap(), flags["--days"].parse().unwrap());
    GenerateSettings {
        asset_type: flags["--asset-type"].parse().unwrap(),
        interval: flags["--interval"].parse().unwrap(),
        last_days: flags.get("--last-days").map(|days| days.parse().unwrap()),
        seed: flags["--seed"].parse().unwrap(),
        tick: flags["--tick"].parse().unwrap(),
        start_price: flags["--price"].parse().unwrap(),
        ..GenerateSettings::for_market(symbol, market, MONDAY, days)
    }
}

#[test]
fn hashes_and_row_counts_match_the_readme() {
    let readme = read_text("README.md");
    let rows: Vec<Vec<&str>> = readme
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let content = read_text(row[1]);
        let found = (content.lines().count() - 1, blake3::hash(content.as_bytes()).to_hex().to_string());
        assert_eq!((found.0.to_string().as_str(), found.1.as_str()), (row[2], row[3]), "{}", row[1]);
    }
}

#[test]
fn readme_commands_reproduce_the_files() {
    let readme = read_text("README.md");
    let commands = readme.lines().filter(|line| line.starts_with("candlewick data generate "));
    let mut made = 0;
    for command in commands {
        let series = generate(&settings_of(command)).unwrap();
        let mut content = Vec::new();
        write_csv(&series, &mut content).unwrap();
        let name = format!("{}_{}.csv", series.symbol(), series.interval());
        // Does not use assert_eq, which would print megabytes.
        assert!(content == read_text(&name).as_bytes(), "{command} does not make {name}");
        made += 1;
    }
    assert_eq!(made, 6);
}

fn autocorrelation(numbers: &[f64], lag: usize) -> f64 {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let total: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
    let shifted: f64 = numbers.iter().zip(&numbers[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum();
    shifted / total
}

#[test]
fn volatility_clusters_and_four_to_five_percent_are_ties() {
    for symbol in SYMBOLS {
        let minutes = read_series(symbol, "1m");
        let ties = minutes.candles().iter().filter(|c| c.open() == c.close()).count();
        let still = minutes.candles().windows(2).filter(|pair| pair[0].close() == pair[1].close()).count();
        for count in [ties, still] {
            let share = count as f64 / minutes.candles().len() as f64;
            assert!((0.04..=0.05).contains(&share), "{symbol}: {share}");
        }
        let moves: Vec<f64> = minutes.candles().iter().map(|c| c.close() / c.open() - 1.0).collect();
        let sizes: Vec<f64> = moves.iter().map(|size| size.abs()).collect();
        for lag in [1, 5, 15] {
            let clustering = autocorrelation(&sizes, lag);
            assert!(clustering > 0.1, "{symbol}, sizes at lag {lag}: {clustering}");
        }
        assert!(autocorrelation(&moves, 1).abs() < 0.05, "{symbol}");
        let variance = moves.iter().map(|x| x * x).sum::<f64>() / moves.len() as f64;
        let fourth = moves.iter().map(|x| x.powi(4)).sum::<f64>() / moves.len() as f64;
        assert!(fourth / variance.powi(2) > 4.0, "{symbol}: tails fatter than the normal distribution's 3");
        let usual = known_market(Symbol::new(symbol).unwrap()).unwrap().volatility;
        assert!((0.8..1.2).contains(&(variance.sqrt() / usual)), "{symbol}: {}", variance.sqrt());
    }
}
