//! Fixtures for the tests of variants.

use super::steps::Steps;
use super::{CandleSample, Family, Look, LookEnd, LookKind, Variant, VariantLedger, VariantNote};
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series};

pub(super) fn family(strategy: &str) -> Family {
    Family { strategy: strategy.to_owned() }
}

pub(super) fn note(strategy: &str, variant: u32) -> VariantNote {
    let tried = Variant { family: family(strategy), name: format!("{variant:016x}"), bots: Vec::new() };
    VariantNote {
        variant: tried,
        p_value: Some(0.25),
        daily_sharpe: None,
        trades_hash: Some(format!("{variant:x}")),
    }
}

pub(super) fn candles(name: &str, candles: &[Candle]) -> CandleSample {
    let series = Series { symbol: name.parse().unwrap(), interval: "1m".parse().unwrap() };
    CandleSample::from_series([&CandleSeries::new(series, candles.to_vec()).unwrap()])
}

pub(super) fn look(hour: i64) -> Look {
    let all = look_at(candles("BTCUSDT", &random_walk(1, 180)));
    let start = all.span.start + Millis::HOUR * hour;
    Look { span: start..start + Millis::HOUR, ..all }
}

pub(super) fn look_at(candles: CandleSample) -> Look {
    let (kind, run, is_truncated) = (LookKind::Backtest, None, false);
    Look { kind, run, span: candles.span().unwrap(), candles, is_truncated, end: LookEnd::Whole }
}

pub(super) struct Fixture(pub(super) tempfile::TempDir);

impl Fixture {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn ledger(&self) -> VariantLedger {
        self.named("variants.jsonl")
    }

    pub(super) fn named(&self, name: &str) -> VariantLedger {
        VariantLedger::new(self.0.path().join(name)).with_receipt_in(&self.0.path().join("state"))
    }
}

pub(super) type Closes = Vec<(Millis, f64)>;

pub(super) fn closes(seed: u64, count: usize) -> Closes {
    random_walk(seed, count).iter().map(|candle| (candle.time(), candle.close())).collect()
}

pub(super) fn series(minutes: i64, closes: impl IntoIterator<Item = (Millis, f64)>) -> CandleSeries {
    let interval = Interval::from_seconds(60 * minutes).unwrap();
    let candle = |(time, close)| {
        let (open, high, low, volume) = (close, close, close, 1.0);
        Candle::new(time, interval, Ohlcv { open, high, low, close, volume }).unwrap()
    };
    let candles: Vec<Candle> = closes.into_iter().map(candle).collect();
    CandleSeries::new(Series { symbol: "X".parse().unwrap(), interval }, candles).unwrap()
}

pub(super) fn longer_candles(minutes: i64, closes: &[(Millis, f64)]) -> Closes {
    let length = Millis::MINUTE * minutes;
    let ends = closes.iter().filter(|(time, _)| (*time + Millis::MINUTE).is_aligned_to(length));
    let ends = ends.map(|(time, close)| (time.floor_to(length), *close)).collect::<Closes>();
    ends[1..].to_vec()
}

pub(super) fn with_steps(series: CandleSeries) -> (CandleSeries, Steps) {
    let steps = Steps::from_series(&series).unwrap();
    (series, steps)
}

pub(super) fn changed(closes: &[(Millis, f64)], change: &dyn Fn(usize, f64) -> f64) -> Closes {
    let other = |(place, (time, close)): (usize, &(Millis, f64))| (*time, change(place, *close));
    closes.iter().enumerate().map(other).collect()
}

/// Returns closes whose moves have a correlation of 0.8 with those of another series mixed with the same `common`.
pub(super) fn mixed(common: &[(Millis, f64)], own: &[(Millis, f64)]) -> Closes {
    changed(common, &|place, close| (2.0 * close.ln() + own[place].1.ln()).exp())
}

pub(super) fn size(closes: &[(Millis, f64)]) -> f64 {
    let squares = closes.windows(2).map(|pair| (pair[1].1 - pair[0].1).powi(2));
    (squares.sum::<f64>() / closes.len() as f64).sqrt()
}

pub(super) fn changes(size: f64) -> [Box<dyn Fn(usize, f64) -> f64>; 7] {
    [
        Box::new(|_, close| close * 1.000_1),
        Box::new(|_, close| close / 1_000.0),
        Box::new(move |_, close| close + 100.0 * size),
        Box::new(move |_, close| (close / size).round() * size),
        Box::new(move |place, close| close + 0.3 * size * (place as f64 * 12.9898).sin()),
        Box::new(|_, close| 1_000.0 / close),
        Box::new(move |_, close| 1_000.0 * size - close),
    ]
}
