//! Market regimes and their syntax: `mixed`, `random-walk`, `trend:0.1`, `edge:0.58:5m`.

use candlewick_sdk::{Interval, Millis};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
        /// Fraction of the distance reverted per minute, in `(0, 1]`.
        pull: f64,
    },
    /// A random walk with a planted edge.
    ///
    /// Each span closes in the direction of the previous span with a known probability. No span
    /// closes at its open while the price is within a factor of eight of the first price.
    Edge {
        chance: f64,
        /// Span length: whole minutes that divide an hour.
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

const USUAL_LEAN: f64 = 0.1;
const USUAL_PULL: f64 = 0.05;
const USUAL_SPAN: Millis = Millis::new(5 * Millis::MINUTE.get());

impl Regime {
    pub(super) fn problem(self, start: Millis) -> Option<String> {
        let within = |name: &str, number: f64| {
            (!(number > 0.0 && number <= 1.0))
                .then(|| format!("{name} {number} is not above 0 and at most 1"))
        };
        match self {
            Self::Mixed | Self::RandomWalk => None,
            Self::Trend { lean } => within("a lean of", lean),
            Self::MeanReversion { pull } => within("a pull of", pull),
            Self::Edge { chance, .. } if !(0.0..=1.0).contains(&chance) => {
                Some(format!("a chance of {chance} is not within 0 to 1"))
            }
            Self::Edge { span, .. } => {
                let divides = |length| {
                    span.length().is_aligned_to(Millis::MINUTE) && Millis::HOUR.is_aligned_to(length)
                };
                if !divides(span.length()) {
                    Some(format!("a span of {span} is no number of whole minutes that divides an hour"))
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
            ["trend"] => Some(Self::Trend { lean: USUAL_LEAN }),
            ["trend", lean] => number(lean).map(|lean| Self::Trend { lean }),
            ["mean-reversion"] => Some(Self::MeanReversion { pull: USUAL_PULL }),
            ["mean-reversion", pull] => number(pull).map(|pull| Self::MeanReversion { pull }),
            ["edge", chance] => {
                let span = Interval::from_seconds(USUAL_SPAN.get() / 1_000).ok();
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
    fn regimes_read_back_and_what_is_none_says_what_is() {
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
    fn what_makes_no_sense_is_named() {
        for (text, start, problem) in [
            ("trend:0", 0, Some("a lean of 0 is not above 0 and at most 1")),
            ("mean-reversion:NaN", 0, Some("a pull of NaN is not above 0 and at most 1")),
            ("edge:1.1", 0, Some("a chance of 1.1 is not within 0 to 1")),
            ("edge:0.6:7m", 0, Some("a span of 7m is no number of whole minutes that divides an hour")),
            ("edge:0.6:30s", 0, Some("a span of 30s is no number of whole minutes that divides an hour")),
            ("edge:0.6:2h", 0, Some("a span of 2h is no number of whole minutes that divides an hour")),
            ("edge:0.6:5m", 60_000, Some("the start, 60000, is not aligned to a span of 5m")),
            ("edge:0:1h", 3_600_000, None),
            ("edge:1:1m", 60_000, None),
        ] {
            assert_eq!(
                text.parse::<Regime>().unwrap().problem(Millis::new(start)).as_deref(),
                problem,
                "{text}"
            );
        }
    }
}
