//! How a gate before a strategy's signals stands, as people are told.

use serde::Serialize;

/// A gate in words: while it is closed signals are [virtual](crate::Signal::as_virtual).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateView {
    /// What opens and closes it.
    #[serde(skip)]
    pub rule: String,
    /// How it stood when the strategy last answered a candle: what decided whether that signal was virtual.
    pub before: String,
    /// How it stands now: `closed: 1 of 2 virtual losses in a row`.
    pub now: String,
}
