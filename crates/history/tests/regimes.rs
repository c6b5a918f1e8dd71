//! Synthetic markets have the requested statistics, and checks find the planted defects.
#![allow(clippy::unwrap_used, reason = "settings that make no candles fail their test")]

use candlewick_history::{
    BadRows, CheckSettings, FindingKind, GenerateSettings, ImportSettings, check_bytes, check_series,
    generate, known_market, resample, with_gaps,
};
use candlewick_sdk::{Candle, CandleSeries, Millis, Symbol};
use std::path::Path;

/// 2026-01-05 00:00 UTC.
const MONDAY: Millis = Millis::new(1_767_571_200_000);

fn settings(symbol: &str, regime: &str, seed: u64, days: u32) -> GenerateSettings {
    let symbol = Symbol::new(symbol).unwrap();
    let market = known_market(symbol).unwrap();
    let settings = GenerateSettings::for_market(symbol, market, MONDAY, days);
    GenerateSettings { seed, regime: regime.parse().unwrap(), ..settings }
}

fn minutes(regime: &str, seed: u64, days: u32) -> CandleSeries {
    generate(&settings("BTCUSDT", regime, seed, days)).unwrap()
}

fn direction(candle: &Candle) -> i32 {
    i32::from(candle.close() > candle.open()) - i32::from(candle.close() < candle.open())
}

fn repeats(series: &CandleSeries) -> (u64, u64) {
    let moving: Vec<i32> = series.candles().iter().map(direction).filter(|way| *way != 0).collect();
    let same = moving.windows(2).filter(|pair| pair[0] == pair[1]).count();
    (same as u64, moving.len() as u64 - 1)
}

fn is_within_three_errors((hits, total): (u64, u64), chance: f64) -> bool {
    let total = total as f64;
    let error = (chance * (1.0 - chance) / total).sqrt();
    (hits as f64 / total - chance).abs() <= 3.0 * error
}

#[test]
fn planted_edge_has_the_requested_size_across_weekends() {
    for (seed, chance, span) in [
        (1, 0.5, "5m"),
        (2, 0.53, "5m"),
        (3, 0.58, "5m"),
        (4, 0.58, "1m"),
        (5, 0.75, "15m"),
        (6, 0.4, "5m"),
        (7, 0.55, "1h"),
    ] {
        let days = if span == "1h" { 60 } else { 30 };
        let made = minutes(&format!("edge:{chance}:{span}"), seed, days);
        let spans = resample(&made, span.parse().unwrap()).unwrap();
        assert!(spans.candles().iter().all(|candle| direction(candle) != 0), "{span}");
        let counted = repeats(&spans);
        assert!(is_within_three_errors(counted, chance), "{chance} {span}: {counted:?}");
        // The sample is large enough to distinguish each edge from no edge.
        assert!(chance == 0.5 || !is_within_three_errors(counted, 0.5), "{chance} {span}: {counted:?}");
    }
    // A span moves as far as in a random walk: the median is 0.67 standard deviations.
    let spans = resample(&minutes("edge:0.9:5m", 1, 10), "5m".parse().unwrap()).unwrap();
    let mut reach: Vec<f64> = spans.candles().iter().map(|c| (c.close() / c.open() - 1.0).abs()).collect();
    reach.sort_by(f64::total_cmp);
    let median = reach[reach.len() / 2] / (0.000_5 * 5_f64.sqrt());
    assert!((0.6..0.75).contains(&median), "{median}");
    for (chance, hits) in [("0", 0), ("1", 287)] {
        let spans = resample(&minutes(&format!("edge:{chance}"), 1, 1), "5m".parse().unwrap()).unwrap();
        assert_eq!(repeats(&spans), (hits, 287));
    }
    let made = generate(&settings("EURUSD", "edge:0.6:15m", 1, 60)).unwrap();
    let counted = repeats(&resample(&made, "15m".parse().unwrap()).unwrap());
    assert!(counted.1 > 3_500 && is_within_three_errors(counted, 0.6), "{counted:?}");
}

#[test]
fn random_walk_has_no_autocorrelation() {
    for seed in 1..=2 {
        let walk = minutes("random-walk", seed, 30);
        for interval in ["1m", "5m", "1h"] {
            let counted = repeats(&resample(&walk, interval.parse().unwrap()).unwrap());
            assert!(is_within_three_errors(counted, 0.5), "seed {seed}, {interval}: {counted:?}");
        }
        // The variance of an hour is the sum over its minutes. Ties, 4.5 % of the minutes, add nothing.
        let variance = |series: &CandleSeries| {
            let moves = series.candles().iter().map(|candle| (candle.close() / candle.open()).ln());
            moves.map(|size| size * size).sum::<f64>() / series.candles().len() as f64
        };
        let hours = resample(&walk, "1h".parse().unwrap()).unwrap();
        let ratio = variance(&hours) / (60.0 * variance(&walk));
        // For 720 hours, the standard error is sqrt(2 / 720) = 0.053. The daily cycle fattens the tails.
        assert!((0.8..1.2).contains(&ratio), "seed {seed}: {ratio}");
    }
}

#[test]
fn trends_continue_and_mean_reversion_reverts() {
    let hours = |regime: &str, seed| resample(&minutes(regime, seed, 30), "30m".parse().unwrap()).unwrap();
    for seed in 1..=2 {
        // Half an hour drifts by 30 x 0.2 = 6 with a deviation of 5.5. Trends last one to four hours.
        let (same, total) = repeats(&hours("trend:0.2", seed));
        assert!(same as f64 > 0.6 * total as f64, "seed {seed}: {same} of {total}");
        let (same, total) = repeats(&hours("mean-reversion", seed));
        assert!((same as f64) < 0.48 * total as f64, "seed {seed}: {same} of {total}");
        let made = minutes("mean-reversion:0.05", seed, 10);
        let home = made.candles()[0].open();
        let farthest = made.candles().iter().map(|c| (c.close() / home - 1.0).abs()).fold(0.0, f64::max);
        // The deviation is 1 / sqrt(2 x 0.05) = 3.2 times that of a minute, which is 0.05 %.
        assert!(farthest < 10.0 * 3.2 * 0.000_5, "seed {seed}: {farthest}");
    }
}

#[test]
fn every_regime_is_valid_and_reproducible() {
    for regime in ["mixed", "random-walk", "trend", "mean-reversion", "edge:0.6"] {
        let one = minutes(regime, 1, 3);
        assert_eq!(one.candles(), minutes(regime, 1, 3).candles(), "{regime}");
        assert_ne!(one.candles(), minutes(regime, 2, 3).candles(), "{regime}");
        assert_eq!(check_series(&one, &[], &CheckSettings::default()).findings.total(), 0, "{regime}");
        let five = GenerateSettings { interval: "5m".parse().unwrap(), ..settings("BTCUSDT", regime, 1, 3) };
        let joined = resample(&one, "5m".parse().unwrap()).unwrap();
        assert_eq!(generate(&five).unwrap().candles(), joined.candles(), "{regime}");
    }
    let wild = GenerateSettings { volatility: 0.05, ..settings("BTCUSDT", "edge:0.9:1h", 1, 30) };
    assert_eq!(generate(&wild).unwrap().candles().len(), 30 * 1_440);
}

#[test]
fn check_finds_exactly_the_planted_gaps() {
    let whole = minutes("mixed", 1, 7);
    for gaps in [0, 1, 40, 500] {
        let series = with_gaps(&whole, gaps, 1).unwrap();
        let missing = (whole.candles().len() - series.candles().len()) as u64;
        let checked = check_series(&series, &[], &CheckSettings::default());
        assert_eq!(checked.missing, missing);
        let counts: Vec<_> = checked.findings.counts().clone().into_iter().collect();
        let expected = if gaps == 0 { vec![] } else { vec![(FindingKind::Gap, u64::from(gaps))] };
        assert_eq!(counts, expected);
        assert!(missing >= u64::from(gaps) && missing <= 10 * u64::from(gaps), "{missing}");
        assert_eq!((series.start(), series.end()), (whole.start(), whole.end()));
    }
    let few = candlewick_sdk::CandleSeries::new(whole.series(), whole.candles()[..3].to_vec()).unwrap();
    assert_eq!(with_gaps(&few, 0, 1).unwrap().candles(), few.candles());
    let expected = "gaps: 1000 is too many for this number of candles; use a lower number or more days";
    assert_eq!(with_gaps(&whole, 1_000, 1).unwrap_err().to_string(), expected);
}

#[test]
fn check_finds_exactly_the_planted_bad_rows() {
    use FindingKind::{Misaligned, NotFinite, Price, Range, Unreadable, Volume};

    let whole = minutes("mixed", 1, 2);
    for rows in [0, 1, 9, 100] {
        let mut text = Vec::new();
        let bad = BadRows::new(whole.clone(), rows, 7).unwrap();
        bad.write_csv(&mut text).unwrap();
        let planted = bad.counts();
        assert_eq!(planted.values().sum::<u64>(), u64::from(rows));
        let (reading, settings) = (ImportSettings::default(), CheckSettings::default());
        let checked = check_bytes(&text, Path::new("BTCUSDT_1m.csv"), &reading, &settings).unwrap();
        let mut found = checked.findings.counts().clone();
        // Six kinds of planted rows are invalid, so each leaves a gap.
        let lost = [Unreadable, NotFinite, Price, Volume, Range, Misaligned];
        let gaps: u64 = lost.iter().filter_map(|kind| planted.get(kind)).sum();
        assert_eq!(found.remove(&FindingKind::Gap).unwrap_or(0), gaps);
        assert_eq!(found, planted, "{rows} rows");
    }
}
