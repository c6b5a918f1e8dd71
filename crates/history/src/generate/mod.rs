//! Synthetic candles: the same seed gives the same candles on every machine.
//!
//! A price walks in whole ticks every five seconds ([`walk`]). Moves ([`price_model`]) follow
//! changing regimes ([`regime_state`]), one [`regime`] or a planted edge ([`planted_edge`]), hours
//! a [`calendar`]. All intervals aggregate the same steps, so they agree exactly. Only integers and
//! exactly rounded `f64` operations are used; logarithm and sine differ between machines.

#[cfg(feature = "import")]
mod bad_rows;
mod calendar;
mod dice;
mod planted_edge;
mod price_model;
mod regime;
mod regime_state;
mod settings;
mod step;
mod tick;
mod walk;

#[cfg(feature = "import")]
pub use bad_rows::{BadRows, with_gaps};
pub use regime::{ParseRegimeError, Regime};
pub use settings::GenerateSettings;

use crate::{AssetType, HistoryError};
use candlewick_sdk::{Candle, CandleSeries, LongerRule, Millis, Resampler, Series, TradingWeek};
use settings::Checked;
use walk::Walk;

pub fn generate(settings: &GenerateSettings) -> Result<CandleSeries, HistoryError> {
    let Checked { step, tick, kept_from, end } = settings.check()?;
    let week = match settings.asset_type {
        AssetType::Forex => TradingWeek::Currencies,
        AssetType::Crypto | AssetType::Otc => TradingWeek::Always,
    };
    let rule = LongerRule::Share { week, percent: LongerRule::USUAL_PERCENT };
    let mut resampler = Resampler::new(step, settings.interval)?.with_rule(rule);
    let mut walk = Walk::new(settings, tick);
    let mut candles: Vec<Candle> = Vec::new();
    let mut minute = settings.start;
    while minute < end {
        if calendar::is_open(settings.asset_type, minute) {
            for (index, numbers) in walk.minute(minute).into_iter().enumerate() {
                let time = minute + step.length() * index as i64;
                let fine = Candle::new(time, step, numbers)
                    .expect("steps enclose their prices, which are whole ticks above zero");
                candles.extend(resampler.end_before(time));
                candles.extend(resampler.push(&fine));
            }
        } else {
            walk.close_market();
        }
        minute += Millis::MINUTE;
    }
    candles.extend(resampler.finish());
    candles.retain(|candle| candle.time() >= kept_from);
    let series = Series { symbol: settings.symbol, interval: settings.interval };
    CandleSeries::new(series, candles).map_err(|_| HistoryError::InvalidSetting {
        setting: "days",
        problem: format!("no candle of {series} is complete in that time; take more days"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data_hash, gaps, known_market, resample};
    use candlewick_sdk::{Interval, Symbol};

    /// 2026-01-05 00:00 UTC, a Monday.
    const MONDAY: Millis = Millis::new(1_767_571_200_000);

    fn settings(symbol: &str, days: u32) -> GenerateSettings {
        let symbol = Symbol::new(symbol).unwrap();
        GenerateSettings::of_market(symbol, known_market(symbol).unwrap(), MONDAY, days)
    }

    fn interval(text: &str) -> Interval {
        text.parse().unwrap()
    }

    #[test]
    fn a_seed_gives_the_same_candles_again_and_another_seed_others() {
        let one = settings("BTCUSDT", 1);
        let hash = |settings| data_hash(&[generate(settings).unwrap()]);
        assert_eq!(hash(&one), hash(&one));
        assert_ne!(hash(&one), hash(&GenerateSettings { seed: 2, ..one }));
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
    fn the_last_days_are_the_end_of_all_days() {
        let all = settings("BTCUSDT", 3);
        let last = generate(&GenerateSettings { last_days: Some(1), ..all }).unwrap();
        assert_eq!(last.start(), MONDAY + Millis::DAY * 2);
        assert_eq!(last.candles(), &generate(&all).unwrap().candles()[2 * 1_440..]);
    }

    #[test]
    fn currencies_close_for_the_weekend_and_the_rest_never_does() {
        let friday_evening = MONDAY + Millis::DAY * 4 + Millis::HOUR * 22;
        let weekend = gaps(&generate(&settings("EURUSD", 7)).unwrap());
        assert_eq!(weekend.len(), 1);
        assert_eq!((weekend[0].start, weekend[0].missing), (friday_evening, 48 * 60));
        for symbol in ["BTCUSDT", "EURUSD.OTC"] {
            let series = generate(&settings(symbol, 7)).unwrap();
            assert_eq!((gaps(&series), series.candles().len()), (vec![], 7 * 1_440));
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let good = settings("EURUSD", 1);
        for (bad, expected) in [
            (GenerateSettings { days: 0, ..good }, "days: 0 is not within 1 to 36600"),
            (GenerateSettings { last_days: Some(2), ..good }, "last-days: 2 is not within 1 to 1"),
            (GenerateSettings { interval: interval("7s"), ..good }, "interval: 7s is not a multiple of 5s"),
            (
                GenerateSettings { start: MONDAY + Millis::HOUR, interval: interval("12h"), ..good },
                "start: 1767574800000 is not aligned to 12h",
            ),
            (
                GenerateSettings { start: MONDAY + Millis::SECOND * 5, interval: interval("5s"), ..good },
                "start: 1767571205000 is not aligned to 1m",
            ),
            (
                GenerateSettings { start: MONDAY + Millis::DAY * 5, ..good },
                "days: no candle of EURUSD 1m is complete in that time; take more days",
            ),
            (
                GenerateSettings { tick: 0.0, ..good },
                "tick: 0 is not a decimal step from 0.00000001 to 1000000",
            ),
            (
                GenerateSettings { tick: 1.0 / 3.0, ..good },
                "tick: 0.3333333333333333 is not a decimal step from 0.00000001 to 1000000",
            ),
            (
                GenerateSettings { start_price: f64::NAN, ..good },
                "price: NaN is not within 1000 to 100000000000 ticks of 0.00001",
            ),
            (
                GenerateSettings { start_price: 0.001, ..good },
                "price: 0.001 is not within 1000 to 100000000000 ticks of 0.00001",
            ),
            (GenerateSettings { volatility: 0.5, ..good }, "volatility: 0.5 is not above 0 and at most 0.05"),
            (
                GenerateSettings { days: 36_600, interval: interval("5s"), ..good },
                "days: 632448000 candles of 5s are more than 50000000; take fewer days or a longer interval",
            ),
        ] {
            assert_eq!(generate(&bad).unwrap_err().to_string(), expected);
        }
    }
}
