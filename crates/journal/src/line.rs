//! Lines of a stored journal.

use candlewick_sdk::Millis;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Run,
    Event,
    Action,
    /// Everything else: audits, operator decisions, the end of a run.
    Note,
}

impl LineKind {
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub run: u64,
    pub kind: LineKind,
    pub intent: Option<u64>,
    /// Venue time of the fact.
    pub at: Millis,
    /// Venue time at which the fact was received.
    pub received: Millis,
    pub body: String,
}
