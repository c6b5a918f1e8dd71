//! One line of a stored journal.

use candlewick_sdk::Millis;

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The beginning of a run: its header.
    Run,
    /// What the Session was handed.
    Event,
    /// What the Session answered.
    Action,
    /// What neither is: audits, a person's decision, a run's end.
    Note,
}

impl LineKind {
    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Event => "event",
            Self::Action => "action",
            Self::Note => "note",
        }
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        [Self::Run, Self::Event, Self::Action, Self::Note].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A line to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Which run of the program it belongs to.
    pub run: u64,
    /// What it holds.
    pub kind: LineKind,
    /// The intent that it is about.
    pub intent: Option<u64>,
    /// Venue time of the fact.
    pub at: Millis,
    /// Venue time of its arrival.
    pub received: Millis,
    /// The entry, as one JSON document.
    pub body: String,
}
