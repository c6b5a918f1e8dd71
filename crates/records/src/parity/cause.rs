//! Causes of a difference between a recorded and a simulated outcome.

use serde::Serialize;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    Latency,
    /// The venue's prices are within the recorded candles, but not on their path.
    PriceSource,
    Payout,
    Refusal,
    Gap,
    EndOfRecording,
    /// No other cause applies: the trading rules do not produce the recorded outcome.
    Unexplained,
}

impl Cause {
    pub(super) const ALL: [Self; 7] = [
        Self::Latency,
        Self::PriceSource,
        Self::Payout,
        Self::Refusal,
        Self::Gap,
        Self::EndOfRecording,
        Self::Unexplained,
    ];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::PriceSource => "price_source",
            Self::Payout => "payout",
            Self::Refusal => "refusal",
            Self::Gap => "gap",
            Self::EndOfRecording => "end_of_recording",
            Self::Unexplained => "unexplained",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Latency => {
                "the order took another time to reach the venue than the settings assume: `backtest --latency-from` takes the recorded times"
            }
            Self::PriceSource => {
                "the venue's prices lie within the recorded candles and not on the path that is assumed inside of them: it knew finer prices than the \
                 journal holds, as the embedded venue does of its last days"
            }
            Self::Payout => "the venue paid another percentage than the settings say",
            Self::Refusal => "the venue refused it, it was never sent, or nobody knows whether it is a trade",
            Self::Gap => "candles around its open or its close are not in the journal",
            Self::EndOfRecording => "the journal ends before it is settled",
            Self::Unexplained => {
                "none of the other causes: the rules of a trade do not give what was recorded"
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
