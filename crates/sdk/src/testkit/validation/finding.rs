//! Findings of the checks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Checks of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// Later candles do not change earlier decisions.
    LookAhead,
    /// The strategy predicts no better than possible without knowing the future.
    /// Tested on an unseen random walk, at the bot's own expiry and 1 to 60 candles ahead. The strategy must
    /// also not recognize candles by their times, prices or shapes. Tests compare with chance, shifted signals and
    /// surrogate candles. The error probability is below one in a million.
    Foresight,
    /// The same candles give the same decisions.
    /// This includes the first instance of a process, and getter calls between candles.
    Determinism,
    /// Earlier and parallel instances have no effect.
    /// The strategy also leaves the floating-point mode unchanged.
    Isolation,
    /// After `warmup()` candles (including the current one), the start has no influence.
    /// Checked up to the last candle.
    Warmup,
    /// Decisions after a live restart are the same as without a restart.
    Restart,
    /// The declaration matches the signals, and `expiries()` lists all their expiries.
    Declaration,
    /// The memory for candles and settlements does not grow without limit.
    Memory,
    /// Every number of a signal is finite.
    Numbers,
    /// Extreme input causes no failure.
    /// This includes flat, tiny, huge and interrupted prices, gaps of days and large volumes.
    Extremes,
    /// Files named by the strategy's parameters contain nothing from the future.
    Files,
    /// Decisions do not depend on the system time and date.
    Clock,
    /// Decisions are the same in other processes.
    /// Varies environment, folder, time zone, arguments, bot name and memory layout. Also runs the strategy in
    /// parallel with bots that have other symbols and parameters.
    Processes,
    /// The strategy reads only the files named by its parameters, and writes none.
    Outside,
    /// The time per candle is within the limit.
    Speed,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// The rule is met.
    Passed,
    /// The rule is met, with something worth knowing.
    Noted,
    /// The rule is violated.
    Failed,
    /// The check was not possible.
    NotRun,
}

/// A check with its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The check.
    pub check: Check,
    /// Result of the check.
    pub finding: Finding,
    /// Observation as a sentence without a final period.
    pub words: String,
}

impl Check {
    /// Returns the name for output and JSON.
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

    /// Creates the result of this check.
    pub fn report(self, finding: Finding, words: impl Into<String>) -> CheckReport {
        CheckReport { check: self, finding, words: words.into() }
    }
}

impl Finding {
    /// Returns the name in JSON.
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
