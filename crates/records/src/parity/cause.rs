//! Why the outcome of a trade differs from the simulated one.

use serde::Serialize;
use std::fmt;

/// A cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cause {
    /// Its order took another time to arrive than the settings say.
    Latency,
    /// The venue took its prices from elsewhere: within the recorded candles, but not on their path.
    PriceSource,
    /// The venue paid another percentage than the settings say.
    Payout,
    /// The venue refused it, it was never sent, or nobody knows whether it is a trade.
    Refusal,
    /// Candles around its open or its close are not in the record.
    Gap,
    /// The record ends before the one or the other is settled.
    EndOfRecording,
    /// None of these: the rules of trading do not give what was recorded.
    Unexplained,
}

impl Cause {
    /// All causes.
    pub(super) const ALL: [Self; 7] = [
        Self::Latency,
        Self::PriceSource,
        Self::Payout,
        Self::Refusal,
        Self::Gap,
        Self::EndOfRecording,
        Self::Unexplained,
    ];

    /// As machines read it.
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

    /// What it means, for people.
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
