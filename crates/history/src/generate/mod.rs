//! Synthetic candles. The same seed gives the same candles on every machine.
//!
//! The price moves by whole ticks every five seconds. Candles of all intervals aggregate the same steps, so
//! they agree exactly. Only integers and exactly rounded `f64` operations are used, because the results of
//! functions such as logarithm and sine differ between machines.

use crate::{AssetType, HistoryError};
use candlewick_sdk::{Candle, CandleSeries, CoverageRule, Millis, Resampler, Series, Symbol, TradingWeek};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use settings::ValidSettings;
use walk::Walk;

#[cfg(feature = "import")]
mod bad_rows;
mod price_model;
mod settings;
mod walk;

#[cfg(feature = "import")]
pub use bad_rows::{BadRows, with_gaps};
pub use settings::{GenerateSettings, ParseRegimeError, Regime};

pub fn generate(settings: &GenerateSettings) -> Result<CandleSeries, HistoryError> {
    let ValidSettings { step, tick, output_start, end } = settings.check()?;
    let week = match settings.asset_type {
        AssetType::Forex => TradingWeek::Currencies,
        AssetType::Crypto | AssetType::Otc => TradingWeek::Always,
    };
    let rule = CoverageRule::Share { week, percent: CoverageRule::DEFAULT_SHARE_PERCENT };
    let mut resampler = Resampler::new(step, settings.interval)?.with_coverage_rule(rule);
    let mut walk = Walk::new(settings, tick);
    let mut candles: Vec<Candle> = Vec::new();
    let mut minute = settings.start;
    while minute < end {
        if is_open(settings.asset_type, minute) {
            for (index, numbers) in walk.next_minute(minute).into_iter().enumerate() {
                let time = minute + step.length() * index as i64;
                let fine = Candle::new(time, step, numbers).expect("generated candles are valid");
                candles.extend(resampler.finish_before(time));
                candles.extend(resampler.push(&fine));
            }
        } else {
            walk.close_market();
        }
        minute += Millis::MINUTE;
    }
    candles.extend(resampler.finish());
    candles.retain(|candle| candle.time() >= output_start);
    let series = Series { symbol: settings.symbol, interval: settings.interval };
    CandleSeries::new(series, candles).map_err(|_| HistoryError::InvalidSetting {
        setting: "days",
        problem: format!("no candle of {series} is complete within the given days; use more days"),
    })
}

/// Weekend from Friday 22:00 to Sunday 22:00, in minutes since Monday 00:00 UTC.
const WEEKEND_MINUTES: std::ops::Range<i64> = (4 * 24 + 22) * 60..(6 * 24 + 22) * 60;
const WEEK: Millis = Millis::new(7 * Millis::DAY.get());
const MONDAY_TO_EPOCH: Millis = Millis::new(3 * Millis::DAY.get());

const FOREX_ACTIVITY: [f64; 24] = [
    0.70, 0.70, 0.65, 0.60, 0.60, 0.70, 0.95, 1.30, 1.35, 1.20, 1.05, 1.00, 1.20, 1.50, 1.55, 1.35, 1.10,
    0.95, 0.85, 0.75, 0.70, 0.60, 0.60, 0.65,
];
const ALL_WEEK_ACTIVITY: [f64; 24] = [
    1.05, 1.00, 0.95, 0.90, 0.85, 0.85, 0.85, 0.90, 0.95, 0.95, 0.95, 1.00, 1.05, 1.20, 1.30, 1.25, 1.15,
    1.10, 1.05, 1.00, 1.00, 0.95, 0.95, 1.00,
];

fn is_open(asset_type: AssetType, minute: Millis) -> bool {
    match asset_type {
        AssetType::Crypto | AssetType::Otc => true,
        AssetType::Forex => {
            let since_monday = minute + MONDAY_TO_EPOCH;
            let into_week = since_monday - since_monday.floor_to(WEEK);
            !WEEKEND_MINUTES.contains(&(into_week.get() / Millis::MINUTE.get()))
        }
    }
}

/// Returns the volatility factor for the hour that contains `minute`. The average is about 1.
fn activity(asset_type: AssetType, minute: Millis) -> f64 {
    let into_day = minute - minute.floor_to(Millis::DAY);
    let hour = (into_day.get() / Millis::HOUR.get()) as usize;
    match asset_type {
        AssetType::Forex => FOREX_ACTIVITY[hour],
        AssetType::Crypto | AssetType::Otc => ALL_WEEK_ACTIVITY[hour],
    }
}

struct Dice(ChaCha8Rng);

/// Context for the derivation of random keys. A change would alter all published hashes of generated candles.
const KEY_CONTEXT: &str = "candlewick 2026-01 synthetic candles";

impl Dice {
    fn new(symbol: Symbol, seed: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(KEY_CONTEXT);
        hasher.update(&seed.to_le_bytes());
        hasher.update(symbol.as_str().as_bytes());
        Self(ChaCha8Rng::from_seed(*hasher.finalize().as_bytes()))
    }

    /// Returns a uniformly distributed random number in `[0, 1)`.
    fn uniform(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 / STEPS
    }

    fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high - low) + 1;
        low + ((u64::from(self.0.next_u32()) * span) >> 32) as u32
    }

    /// Returns an approximately standard normal random number: the scaled sum of four uniform numbers.
    fn normal(&mut self) -> f64 {
        const TERMS: f64 = 4.0;
        let terms = self.0.next_u64().to_le_bytes();
        let (terms, _) = terms.as_chunks::<2>();
        let sum: u32 = terms.iter().map(|term| u32::from(u16::from_le_bytes(*term))).sum();
        // Each term is uniform over 0..1 with variance 1/12, so the sum has variance 1/3.
        (f64::from(sum) / 65_536.0 - TERMS / 2.0) * (12.0 / TERMS).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{known_market, resample};
    use candlewick_sdk::{Interval, Symbol};

    /// 2026-01-05 00:00 UTC, a Monday.
    const MONDAY: Millis = Millis::new(1_767_571_200_000);

    fn settings(symbol: &str, days: u32) -> GenerateSettings {
        let symbol = Symbol::new(symbol).unwrap();
        GenerateSettings::for_market(symbol, known_market(symbol).unwrap(), MONDAY, days)
    }

    fn interval(text: &str) -> Interval {
        text.parse().unwrap()
    }

    #[test]
    fn all_intervals_of_a_seed_agree() {
        let minutes = settings("EURUSD", 2);
        let fine = generate(&GenerateSettings { interval: interval("5s"), ..minutes }).unwrap();
        for text in ["5s", "30s", "1m", "15m", "1h"] {
            let coarse = generate(&GenerateSettings { interval: interval(text), ..minutes }).unwrap();
            assert_eq!(coarse.candles(), resample(&fine, interval(text)).unwrap().candles(), "{text}");
        }
    }

    #[test]
    fn last_days_equal_the_end_of_all_days() {
        let all = settings("BTCUSDT", 3);
        let last = generate(&GenerateSettings { last_days: Some(1), ..all }).unwrap();
        assert_eq!(last.start(), MONDAY + Millis::DAY * 2);
        assert_eq!(last.candles(), &generate(&all).unwrap().candles()[2 * 1_440..]);
    }

    #[test]
    fn rejects_settings_out_of_range() {
        let good = settings("EURUSD", 1);
        let (later, fine) = (MONDAY + Millis::SECOND * 5, interval("5s"));
        for (bad, expected) in [
            (GenerateSettings { days: 0, ..good }, "days: 0 is not between 1 and 36600"),
            (GenerateSettings { last_days: Some(2), ..good }, "last-days: 2 is not between 1 and `days` (1)"),
            (GenerateSettings { interval: interval("7s"), ..good }, "interval: 7s is not a multiple of 5s"),
            (
                GenerateSettings { interval: interval("12h"), start: MONDAY + Millis::HOUR, ..good },
                "start: 176",
            ),
            (
                GenerateSettings { interval: fine, start: later, ..good },
                "start: 1767571205000 is not aligned to",
            ),
            (GenerateSettings { start: MONDAY + Millis::DAY * 5, ..good }, "days: no candle of EURUSD 1m is"),
            (GenerateSettings { tick: 0.0, ..good }, "tick: 0 is not a number from 0.00000001"),
            (GenerateSettings { tick: 1.0 / 3.0, ..good }, "tick: 0.3333333333333333 is not a number"),
            (GenerateSettings { tick: f64::INFINITY, ..good }, "tick: inf is not a number from"),
            (GenerateSettings { start_price: f64::NAN, ..good }, "price: NaN is not 1000 to"),
            (GenerateSettings { start_price: 0.001, ..good }, "price: 0.001 is not 1000 to"),
            (GenerateSettings { volatility: 0.5, ..good }, "volatility: 0.5 is not in the range (0, 0.05]"),
            (GenerateSettings { days: 36_600, interval: fine, ..good }, "days: 632448000 candles of 5s"),
        ] {
            let error = generate(&bad).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
