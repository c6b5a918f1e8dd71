//! What can go wrong on purpose: the faults, the profiles that choose among them, the switchboard that counts.

mod disfigure;
mod profile;
mod switchboard;

pub(crate) use disfigure::{disfigure, garbage};
pub use profile::{FaultError, FaultProfile, FaultRate};
pub use switchboard::{FaultCounts, Switchboard};

use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The answer starts late, in real time.
    Latency,
    /// 500 or 503, and nothing was done.
    Errors,
    /// 500 or 503 on an open, and the trade exists.
    ErrorsAfter,
    /// The connection is reset before anything was done.
    DropBefore,
    /// The connection is reset after an open was accepted: the trade exists.
    DropAfter,
    /// The request is handled, and no answer ever comes (the connection is reset after the span).
    Hang,
    /// The request is handled, and the answer's body is not what it says it is.
    Garbage,
    /// A new trade is missing from lists and by id for the span, in venue time.
    ListLag,
    /// A settlement becomes known the span later than it should, in venue time.
    LateSettlement,
    /// Lists come in no order, and rows repeat across pages.
    Shuffle,
    /// A list holds a row twice.
    Duplicates,
    /// Answers hold enum values and fields that nobody has documented.
    UnknownValues,
    /// The token is not accepted for the span, in venue time.
    ExpiredToken,
    /// The stream's connection is reset.
    StreamDrop,
    /// The stream is open and brings nothing for the span, in real time.
    StreamStall,
    /// A streamed price comes twice.
    StreamDuplicate,
    /// A streamed price comes after the next one.
    StreamReorder,
    /// A streamed message is not what it should be.
    StreamGarbage,
}

impl Fault {
    /// Every fault, in the order in which a request meets them.
    pub const ALL: [Self; 18] = [
        Self::Latency,
        Self::DropBefore,
        Self::Errors,
        Self::ExpiredToken,
        Self::ListLag,
        Self::LateSettlement,
        Self::Shuffle,
        Self::Duplicates,
        Self::DropAfter,
        Self::ErrorsAfter,
        Self::Hang,
        Self::Garbage,
        Self::UnknownValues,
        Self::StreamDrop,
        Self::StreamStall,
        Self::StreamDuplicate,
        Self::StreamReorder,
        Self::StreamGarbage,
    ];

    /// As written in a profile.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Errors => "errors",
            Self::ErrorsAfter => "errors-after",
            Self::DropBefore => "drop-before",
            Self::DropAfter => "drop-after",
            Self::Hang => "hang",
            Self::Garbage => "garbage",
            Self::ListLag => "list-lag",
            Self::LateSettlement => "late-settlement",
            Self::Shuffle => "shuffle",
            Self::Duplicates => "duplicates",
            Self::UnknownValues => "unknown-values",
            Self::ExpiredToken => "expired-token",
            Self::StreamDrop => "stream-drop",
            Self::StreamStall => "stream-stall",
            Self::StreamDuplicate => "stream-duplicate",
            Self::StreamReorder => "stream-reorder",
            Self::StreamGarbage => "stream-garbage",
        }
    }

    /// How often it strikes when a profile names it alone.
    pub(crate) const fn usual_probability(self) -> f64 {
        match self {
            Self::Latency | Self::ListLag | Self::LateSettlement | Self::Shuffle => 1.0,
            Self::DropAfter | Self::ErrorsAfter | Self::Duplicates => 0.5,
            Self::UnknownValues => 0.3,
            Self::Errors
            | Self::DropBefore
            | Self::Garbage
            | Self::StreamDuplicate
            | Self::StreamReorder
            | Self::StreamGarbage => 0.2,
            Self::Hang => 0.1,
            Self::ExpiredToken | Self::StreamDrop | Self::StreamStall => 0.02,
        }
    }

    /// How long it lasts when a profile does not say: real time for latency, hang and the stream, venue time for the rest.
    pub(crate) const fn usual_span(self) -> Millis {
        match self {
            Self::Latency => Millis::new(300),
            Self::Hang | Self::LateSettlement => Millis::new(30_000),
            Self::ListLag | Self::StreamStall => Millis::new(10_000),
            Self::ExpiredToken => Millis::new(5_000),
            Self::Errors
            | Self::ErrorsAfter
            | Self::DropBefore
            | Self::DropAfter
            | Self::Garbage
            | Self::Shuffle
            | Self::Duplicates
            | Self::UnknownValues
            | Self::StreamDrop
            | Self::StreamDuplicate
            | Self::StreamReorder
            | Self::StreamGarbage => Millis::ZERO,
        }
    }

    /// Whether it lasts; the others strike and are over.
    pub(crate) fn has_span(self) -> bool {
        self.usual_span() > Millis::ZERO
    }

    /// How often it strikes within `mixed`: enough to be met in a short session, rare enough to trade on.
    pub(crate) const fn mixed_probability(self) -> f64 {
        match self {
            Self::Latency | Self::ListLag | Self::LateSettlement | Self::Shuffle => 0.2,
            Self::Errors | Self::DropAfter | Self::ErrorsAfter | Self::Duplicates | Self::UnknownValues => {
                0.05
            }
            Self::DropBefore
            | Self::Garbage
            | Self::StreamDuplicate
            | Self::StreamReorder
            | Self::StreamGarbage => 0.03,
            Self::Hang | Self::ExpiredToken | Self::StreamDrop | Self::StreamStall => 0.002,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
