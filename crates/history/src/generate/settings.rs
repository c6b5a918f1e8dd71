//! Settings of the generator, their valid ranges, and the syntax of market regimes.

use super::walk::{Tick, step_interval};
use crate::{AssetType, HistoryError, KnownMarket};
use candlewick_sdk::{Interval, Millis, Symbol};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerateSettings {
    /// Symbol of the candles. It is mixed into the seed, so that the prices of different symbols are independent.
    pub symbol: Symbol,
    pub asset_type: AssetType,
    /// Candle interval, a multiple of 5 s. Candles of all intervals have the same underlying prices.
    pub interval: Interval,
    /// Open time of the first candle, aligned to whole minutes and to the interval.
    pub start: Millis,
    pub days: u32,
    /// Number of days to return, counted from the end. `None` returns all days.
    pub last_days: Option<u32>,
    pub seed: u64,
    /// Tick size, such as 0.01, with at most eight decimals.
    pub tick: f64,
    pub start_price: f64,
    /// Standard deviation of one-minute moves, as a fraction of the price.
    pub volatility: f64,
    pub regime: Regime,
}

pub(super) struct ValidSettings {
    pub(super) step: Interval,
    pub(super) tick: Tick,
    pub(super) output_start: Millis,
    pub(super) end: Millis,
}

const MAX_DAYS: u32 = 36_600;
const MAX_CANDLES: i64 = 50_000_000;
const MAX_VOLATILITY: f64 = 0.05;
/// Range of valid start prices in ticks. Lower prices could hardly move, and higher prices would be inexact.
const START_PRICE_TICKS: std::ops::RangeInclusive<f64> = 1e3..=1e11;

impl GenerateSettings {
    pub fn for_market(symbol: Symbol, market: KnownMarket, start: Millis, days: u32) -> Self {
        Self {
            symbol,
            asset_type: market.asset_type,
            interval: Interval::MINUTE,
            start,
            days,
            last_days: None,
            seed: 1,
            tick: market.tick,
            start_price: market.usual_price,
            volatility: market.volatility,
            regime: Regime::Mixed,
        }
    }

    pub(super) fn check(&self) -> Result<ValidSettings, HistoryError> {
        let fail = |setting, problem| Err(HistoryError::InvalidSetting { setting, problem });
        let Self { days, start, interval, volatility, start_price, .. } = *self;
        if !(1..=MAX_DAYS).contains(&days) {
            return fail("days", format!("{days} is not between 1 and {MAX_DAYS}"));
        }
        let last_days = self.last_days.unwrap_or(days);
        if !(1..=days).contains(&last_days) {
            return fail("last-days", format!("{last_days} is not between 1 and `days` ({days})"));
        }
        let step = step_interval();
        if !interval.length().is_aligned_to(step.length()) {
            return fail("interval", format!("{interval} is not a multiple of {step}"));
        }
        for grid in [Interval::MINUTE, interval] {
            if !start.is_aligned_to(grid.length()) {
                return fail("start", format!("{start} is not aligned to {grid}"));
            }
        }
        let count = i64::from(last_days) * Millis::DAY.get() / interval.length().get();
        if count > MAX_CANDLES {
            let advice = "use fewer days or a longer interval";
            let problem = format!("{count} candles of {interval} exceed the limit ({MAX_CANDLES}); {advice}");
            return fail("days", problem);
        }
        let Some(tick) = Tick::from_step(self.tick) else {
            let range = "a number from 0.00000001 to 1000000 with at most eight decimals";
            return fail("tick", format!("{} is not {range}", self.tick));
        };
        let ticks = start_price / self.tick;
        if !START_PRICE_TICKS.contains(&ticks) {
            let (least, most, tick) = (START_PRICE_TICKS.start(), START_PRICE_TICKS.end(), self.tick);
            return fail("price", format!("{start_price} is not {least} to {most} times the tick {tick}"));
        }
        if !(volatility > 0.0 && volatility <= MAX_VOLATILITY) {
            return fail("volatility", format!("{volatility} is not in the range (0, {MAX_VOLATILITY}]"));
        }
        if let Some(problem) = self.regime.find_problem(start) {
            return fail("regime", problem);
        }
        let end = start + Millis::DAY * i64::from(days);
        let kept_from = end - Millis::DAY * i64::from(last_days);
        Ok(ValidSettings { step, tick, output_start: kept_from, end })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    #[default]
    Mixed,
    RandomWalk,
    /// Trends of one to four hours in random directions.
    Trend {
        /// Drift per minute in standard deviations, in `(0, 1]`.
        lean: f64,
    },
    MeanReversion {
        /// Mean reversion per minute, as a fraction of the distance to the first price, in `(0, 1]`.
        pull: f64,
    },
    /// Random walk, divided into spans. Each span repeats the direction of the previous span with probability `chance`.
    Edge {
        chance: f64,
        /// Span length, a whole number of minutes that divides an hour.
        span: Interval,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a regime: use mixed, random-walk, trend, trend:LEAN, mean-reversion, mean-reversion:PULL, edge:CHANCE or edge:CHANCE:SPAN, such as edge:0.58:5m"
)]
pub struct ParseRegimeError {
    text: String,
}

const DEFAULT_LEAN: f64 = 0.1;
const DEFAULT_PULL: f64 = 0.05;
const DEFAULT_SPAN: Millis = Millis::new(5 * Millis::MINUTE.get());

impl Regime {
    fn find_problem(self, start: Millis) -> Option<String> {
        let within = |name: &str, number: f64| {
            (!(number > 0.0 && number <= 1.0)).then(|| format!("{name} {number} is not in the range (0, 1]"))
        };
        match self {
            Self::Mixed | Self::RandomWalk => None,
            Self::Trend { lean } => within("a lean of", lean),
            Self::MeanReversion { pull } => within("a pull of", pull),
            Self::Edge { chance, .. } if !(0.0..=1.0).contains(&chance) => {
                Some(format!("a chance of {chance} is not between 0 and 1"))
            }
            Self::Edge { span, .. } => {
                let divides = |length| {
                    span.length().is_aligned_to(Millis::MINUTE) && Millis::HOUR.is_aligned_to(length)
                };
                if !divides(span.length()) {
                    Some(format!("a span of {span} is not a whole number of minutes that divides an hour"))
                } else if start.is_aligned_to(span.length()) {
                    None
                } else {
                    Some(format!("the start, {start}, is not aligned to a span of {span}"))
                }
            }
        }
    }
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mixed => f.pad("mixed"),
            Self::RandomWalk => f.pad("random-walk"),
            Self::Trend { lean } => write!(f, "trend:{lean}"),
            Self::MeanReversion { pull } => write!(f, "mean-reversion:{pull}"),
            Self::Edge { chance, span } => write!(f, "edge:{chance}:{span}"),
        }
    }
}

impl FromStr for Regime {
    type Err = ParseRegimeError;

    fn from_str(text: &str) -> Result<Self, ParseRegimeError> {
        let parts: Vec<&str> = text.split(':').collect();
        let number = |text: &str| text.parse::<f64>().ok();
        let found = match parts[..] {
            ["mixed"] => Some(Self::Mixed),
            ["random-walk"] => Some(Self::RandomWalk),
            ["trend"] => Some(Self::Trend { lean: DEFAULT_LEAN }),
            ["trend", lean] => number(lean).map(|lean| Self::Trend { lean }),
            ["mean-reversion"] => Some(Self::MeanReversion { pull: DEFAULT_PULL }),
            ["mean-reversion", pull] => number(pull).map(|pull| Self::MeanReversion { pull }),
            ["edge", chance] => {
                let span = Interval::from_seconds(DEFAULT_SPAN.get() / 1_000).ok();
                number(chance).zip(span).map(|(chance, span)| Self::Edge { chance, span })
            }
            ["edge", chance, span] => {
                number(chance).zip(span.parse().ok()).map(|(chance, span)| Self::Edge { chance, span })
            }
            _ => None,
        };
        found.ok_or_else(|| ParseRegimeError { text: text.chars().take(64).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_round_trip_and_errors_show_an_example() {
        for (text, printed) in [
            ("mixed", "mixed"),
            ("random-walk", "random-walk"),
            ("trend", "trend:0.1"),
            ("trend:0.25", "trend:0.25"),
            ("mean-reversion", "mean-reversion:0.05"),
            ("edge:0.58", "edge:0.58:5m"),
            ("edge:0.45:60s", "edge:0.45:1m"),
        ] {
            let regime: Regime = text.parse().unwrap();
            assert_eq!(regime.to_string(), printed);
            assert_eq!(printed.parse(), Ok(regime));
        }
        for text in ["", "edge", "edge:x", "edge:0.5:", "trend:0.1:2", "Mixed"] {
            assert!(text.parse::<Regime>().unwrap_err().to_string().contains("edge:0.58:5m"), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_regime_parameters() {
        for (text, start, problem) in [
            ("trend:0", 0, Some("a lean of 0 is not in the range (0, 1]")),
            ("mean-reversion:NaN", 0, Some("a pull of NaN is not in the range (0, 1]")),
            ("edge:1.1", 0, Some("a chance of 1.1 is not between 0 and 1")),
            ("edge:0.6:7m", 0, Some("a span of 7m is not a whole number of minutes that divides an hour")),
            ("edge:0.6:30s", 0, Some("a span of 30s is not a whole number of minutes that divides an hour")),
            ("edge:0.6:2h", 0, Some("a span of 2h is not a whole number of minutes that divides an hour")),
            ("edge:0.6:5m", 60_000, Some("the start, 60000, is not aligned to a span of 5m")),
            ("edge:0:1h", 3_600_000, None),
            ("edge:1:1m", 60_000, None),
        ] {
            let found = text.parse::<Regime>().unwrap().find_problem(Millis::new(start));
            assert_eq!(found.as_deref(), problem, "{text}");
        }
    }
}
