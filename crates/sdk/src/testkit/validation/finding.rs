//! What a check found.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// What comes after a candle changes nothing that was decided by it.
    LookAhead,
    /// It hits what follows no more often than can be done without knowing it: on a random walk that nobody has seen, at the bot's
    /// own expiry and 1 to 60 candles ahead; and it knows no candles by their times, prices or shapes. A binomial test, and one by
    /// shifts and differences, of an error below one in a million.
    Foresight,
    /// The same candles give the same decisions, also in the first instance of a process and when getters are called between candles.
    Determinism,
    /// Other instances, before it or beside it, change nothing, and it leaves the floating-point mode as it was.
    Isolation,
    /// After `warmup()` candles, the present one counted, it no longer matters where it began, up to the last candle.
    Warmup,
    /// Restored as a live restart does it, it decides as if it had gone on.
    Restart,
    /// What it declares of its signals is what it answers, and `expiries()` names all of their expiries.
    Declaration,
    /// What it remembers, of candles and of settlements, does not grow for ever.
    Memory,
    /// Every number of its signals is one.
    Numbers,
    /// Flat, tiny, huge and broken-off prices, holes of days and large volumes do not upset it.
    Extremes,
    /// The files that its parameters name hold nothing of the future.
    Files,
    /// The time of day and the date of the machine decide nothing.
    Clock,
    /// In other processes it decides alike: in another environment, folder and time zone, with other arguments, under another
    /// bot's name, at other addresses, and beside bots of another symbol and other parameters.
    Processes,
    /// It reads no files but those that its parameters name, and writes none.
    Outside,
    /// It takes no longer for a candle than it may.
    Speed,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// As it should be.
    Passed,
    /// As it may be, and worth knowing.
    Noted,
    /// As it must not be.
    Failed,
    /// There was nothing to check it by.
    NotRun,
}

/// A check with what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Which check.
    pub check: Check,
    /// How it ended.
    pub finding: Finding,
    /// What was seen, in a sentence without a full stop.
    pub words: String,
}

impl Check {
    /// Its name for people and machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LookAhead => "look-ahead",
            Self::Foresight => "foresight",
            Self::Determinism => "determinism",
            Self::Isolation => "isolation",
            Self::Warmup => "warm-up",
            Self::Restart => "restart",
            Self::Declaration => "declaration",
            Self::Memory => "memory",
            Self::Numbers => "numbers",
            Self::Extremes => "extremes",
            Self::Files => "files",
            Self::Clock => "clock",
            Self::Processes => "processes",
            Self::Outside => "outside",
            Self::Speed => "speed",
        }
    }

    /// The check with what it found.
    pub fn found(self, finding: Finding, words: impl Into<String>) -> Checked {
        Checked { check: self, finding, words: words.into() }
    }
}

impl Finding {
    /// Its name for machines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Noted => "noted",
            Self::Failed => "failed",
            Self::NotRun => "not_run",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
