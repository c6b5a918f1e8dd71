//! Random walks as candles of two intervals, in step and with every kind of lag.

use super::*;
use candlewick_sdk::{Ohlcv, Series};
use std::collections::BTreeMap;

/// 2026-01-05 00:00 UTC, a Monday, in seconds.
const MONDAY: i64 = 1_767_571_200;
const DAY: i64 = 86_400;

/// Open times in seconds and closes.
type Closes = Vec<(i64, f64)>;

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn step(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

fn seconds(interval: &str) -> i64 {
    interval.parse::<Interval>().unwrap().length().get() / 1_000
}

fn walk(interval: &str, candles: i64, seed: u64) -> Closes {
    let (mut dice, mut price) = (Dice(seed), 1.1_f64);
    let step = seconds(interval);
    let times = (0..).map(|n| MONDAY + n * step).filter(|time| (time - MONDAY).rem_euclid(7 * DAY) < 5 * DAY);
    let close = |time: i64| {
        price *= 1.0 + 2e-5 * dice.step();
        (time, price)
    };
    times.take(candles as usize).map(close).collect()
}

fn joined(fine: &Closes, interval: &str) -> Closes {
    let length = seconds(interval);
    let last: BTreeMap<i64, f64> =
        fine.iter().map(|(time, close)| (time.div_euclid(length) * length, *close)).collect();
    last.into_iter().collect()
}

fn series(interval: &str, closes: &Closes) -> CandleSeries {
    let series = Series { symbol: "GBPUSD".parse().unwrap(), interval: interval.parse().unwrap() };
    let candle = |(time, close): &(i64, f64)| {
        let numbers = Ohlcv { open: *close, high: *close, low: *close, close: *close, volume: 1.0 };
        Candle::new(Millis::from_seconds(*time), series.interval, numbers).unwrap()
    };
    CandleSeries::new(series, closes.iter().map(candle).collect::<Vec<_>>()).unwrap()
}

fn shifted(closes: &Closes, by: i64) -> Closes {
    closes.iter().map(|(time, close)| (time + by, *close)).collect()
}

fn compare(fine: (&str, &Closes), coarse: (&str, &Closes)) -> Option<SeriesMismatch> {
    let (fine, coarse) = (series(fine.0, fine.1), series(coarse.0, coarse.1));
    let found = series_mismatches(&[&fine, &coarse]);
    assert_eq!(found, series_mismatches(&[&coarse, &fine]));
    assert!(found.len() < 2);
    found.into_iter().next()
}

fn find_lag(mismatch: Option<SeriesMismatch>) -> Option<i64> {
    match mismatch.map(|mismatch| mismatch.kind) {
        None => None,
        Some(MismatchKind::Shifted(lag)) => Some(lag.get() / 1_000),
        Some(other) => panic!("{other:?}"),
    }
}

type Way = (&'static str, fn(&Closes, &mut Dice) -> Closes);

const WAYS: [Way; 6] = [
    ("as it is", |closes, _| closes.clone()),
    ("a fifth is missing", |closes, dice| closes.iter().copied().filter(|_| dice.roll() > 0.2).collect()),
    ("rounded to 5 decimals", |closes, _| rounded(5, closes)),
    ("rounded to 4 decimals", |closes, _| rounded(4, closes)),
    ("only the second half", |closes, _| closes[closes.len() / 2..].to_vec()),
    ("one in a hundred revised", |closes, dice| {
        let each = closes.iter().copied();
        each.map(|(time, price)| (time, if dice.roll() < 0.01 { price * 1.001 } else { price })).collect()
    }),
];

fn rounded(decimals: i32, closes: &Closes) -> Closes {
    let unit = 10_f64.powi(decimals);
    closes.iter().map(|(time, price)| (*time, (price * unit).round() / unit)).collect()
}

const PAIRS: [(&str, &str, i64); 3] = [("5s", "1m", 90_000), ("15s", "5m", 40_000), ("1m", "5m", 10_000)];

#[test]
fn finds_every_lag_without_false_alarms() {
    for (seed, (fine, coarse, candles)) in PAIRS.into_iter().enumerate() {
        let own = walk(fine, candles, seed as u64);
        let longer = joined(&own, coarse);
        let (step, length) = (seconds(fine), seconds(coarse));
        let mut dice = Dice(99);
        for (name, way) in WAYS {
            for lag in [0, step, -step, 3 * step, -3 * step, length, -2 * length, 3_600, -5 * 3_600] {
                let late = shifted(&way(&own, &mut dice), lag);
                let found = find_lag(compare((fine, &late), (coarse, &longer)));
                assert_eq!(found, (lag != 0).then_some(lag), "{fine} {coarse} {name} {lag}");
            }
        }
    }
}

#[test]
fn tolerates_rounding_of_coarser_candles() {
    let own = walk("5s", 20_000, 3);
    let rounded = rounded(4, &joined(&own, "1m"));
    assert_eq!(compare(("5s", &own), ("1m", &rounded)), None);
    assert_eq!(find_lag(compare(("5s", &shifted(&own, 15)), ("1m", &rounded))), Some(15));
}

#[test]
fn ignores_too_few_common_closes_and_flat_markets() {
    let own = walk("5s", 20_000, 4);
    let longer = joined(&own, "1m");
    let late = shifted(&own, 15);
    assert_eq!(compare(("5s", &late[..12 * 29].to_vec()), ("1m", &longer)), None);
    assert_eq!(find_lag(compare(("5s", &late[..12 * 60].to_vec()), ("1m", &longer))), Some(15));
    let still: Closes = own.iter().map(|(time, _)| (*time, 1.1)).collect();
    assert_eq!(compare(("5s", &shifted(&still, 15)), ("1m", &joined(&still, "1m"))), None);
}

#[test]
fn finds_stretch_that_is_out_of_step() {
    let own = walk("1m", 60_000, 5);
    let longer = joined(&own, "5m");
    let (winter, summer) = own.split_at(54_000);
    let local = [winter[..53_900].to_vec(), shifted(&summer.to_vec(), 3_600)].concat();
    let found = compare(("1m", &local), ("5m", &longer)).unwrap();
    assert_eq!((found.kind, found.covers_all_closes), (MismatchKind::Shifted(Millis::HOUR), false));
    let begin = Millis::from_seconds(summer[0].0 + 3_600);
    assert!(found.span.start >= begin && found.span.start < begin + Millis::DAY, "{:?}", found.span);
}

#[test]
fn distinguishes_other_prices_from_unrelated_markets() {
    let own = walk("5s", 60_000, 6);
    let longer = joined(&own, "1m");
    let mut dice = Dice(7);
    let bid: Closes = own.iter().map(|(time, price)| (*time, price - 2e-5 * dice.roll())).collect();
    let found = compare(("5s", &bid), ("1m", &longer)).unwrap();
    assert!(matches!(found.kind, MismatchKind::OtherPrices(_)) && !found.is_fatal(), "{found:?}");
    assert!(found.to_string().starts_with("GBPUSD 5s has different prices from 1m: 100 % of"), "{found}");
    assert_eq!(find_lag(compare(("5s", &shifted(&bid, -60)), ("1m", &longer))), Some(-60));
    let other = compare(("5s", &walk("5s", 60_000, 8)), ("1m", &longer)).unwrap();
    assert!(matches!(other.kind, MismatchKind::Unrelated(_)) && other.is_fatal(), "{other:?}");
    let double: Closes = own.iter().map(|(time, price)| (*time, price * 2.0)).collect();
    assert!(compare(("5s", &double), ("1m", &longer)).unwrap().is_fatal());
}

#[test]
fn compares_only_series_of_one_symbol() {
    let own = walk("5s", 20_000, 10);
    let (fine, coarse) = (series("5s", &shifted(&own, 15)), series("1m", &joined(&own, "1m")));
    let euro = Series { symbol: "EURUSD".parse().unwrap(), ..coarse.series() };
    let other = CandleSeries::new(euro, coarse.candles().to_vec()).unwrap();
    assert_eq!(series_mismatches(&[&fine, &other]), []);
}
