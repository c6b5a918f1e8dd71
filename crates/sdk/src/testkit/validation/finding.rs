//! What a check found.

use std::fmt;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// What comes after a candle changes nothing that was decided by it.
    LookAhead,
    /// It does not hit what follows in these candles, and in no others.
    Foresight,
    /// The same candles give the same decisions.
    Determinism,
    /// Other instances, before it or beside it, change nothing.
    Isolation,
    /// After `warmup()` candles it no longer matters where it began.
    Warmup,
    /// Restored as a live restart does it, it decides as if it had gone on.
    Restart,
    /// What it remembers does not grow for ever.
    Memory,
    /// Every number of its signals is one.
    Numbers,
    /// Flat, tiny, huge and broken-off prices do not upset it.
    Extremes,
    /// The files that its parameters name hold nothing of the future.
    Files,
    /// The time of day and the date of the machine decide nothing.
    Clock,
    /// It takes no longer for a candle than it may.
    Speed,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
            Self::Memory => "memory",
            Self::Numbers => "numbers",
            Self::Extremes => "extremes",
            Self::Files => "files",
            Self::Clock => "clock",
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
