//! Where an intent stands.

use serde::{Deserialize, Serialize};

/// Where an intent stands, as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Its request left, its answer is awaited.
    InFlight,
    /// Its answer will not be known without looking.
    InDoubt,
    /// A trade that has not settled.
    Open,
    /// A trade that has.
    Settled,
    /// The venue refused it.
    Rejected,
    /// Its request never left.
    NotSent,
    /// Its answer was lost, and the venue has no trade of it.
    NotOpened,
}

impl IntentState {
    /// The name that people and machines read. Whoever only reads cannot know whether an answer is awaited or was lost: both are in
    /// doubt.
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
