//! Injected faults, the profiles that select them, and the switchboard that counts them.

mod disfigure;
mod profile;
mod switchboard;

pub(crate) use disfigure::{disfigure, garbage};
pub use profile::{FaultError, FaultProfile, FaultRate};
pub use switchboard::{FaultCounts, Switchboard};

use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    Latency,
    Errors,
    /// 500 or 503 on an open, but the trade exists.
    ErrorsAfter,
    DropBefore,
    /// The connection is reset after an open was accepted: the trade exists.
    DropAfter,
    /// The request is handled but never answered. The connection is reset later.
    Hang,
    Garbage,
    /// A new trade is missing from lists and lookups for the span, in venue time.
    ListLag,
    /// A settlement becomes visible late by the span, in venue time.
    LateSettlement,
    Shuffle,
    Duplicates,
    UnknownValues,
    /// The token is rejected for the span, in venue time.
    ExpiredToken,
    StreamDrop,
    /// The stream is open but silent for the span, in real time.
    StreamStall,
    StreamDuplicate,
    StreamReorder,
    StreamGarbage,
}

impl Fault {
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

    /// Default duration of a fault.
    ///
    /// In real time for latency, hang and the stream, in venue time for the others.
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

    pub(crate) fn has_span(self) -> bool {
        self.usual_span() > Millis::ZERO
    }

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
