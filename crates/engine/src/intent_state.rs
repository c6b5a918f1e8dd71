//! States of an intent.

use serde::{Deserialize, Serialize};

/// State of an intent, as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Its request is sent and its reply pending.
    InFlight,
    /// Its reply was lost, and only a lookup at the venue can tell the result.
    InDoubt,
    /// A trade that has not settled.
    Open,
    /// A settled trade.
    Settled,
    /// Rejected by the venue.
    Rejected,
    /// Its request was never sent.
    NotSent,
    /// Its reply was lost, and the venue has no trade for it.
    NotOpened,
}

impl IntentState {
    /// Returns the name for output.
    ///
    /// `InFlight` and `InDoubt` share a name: a reader of the journal cannot tell whether a reply
    /// is pending or lost.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight | Self::InDoubt => "in_doubt",
            Self::Open => "open",
            Self::Settled => "settled",
            Self::Rejected => "rejected",
            Self::NotSent => "not_sent",
            Self::NotOpened => "not_opened",
        }
    }
}
