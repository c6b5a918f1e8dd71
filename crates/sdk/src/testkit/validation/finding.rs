//! Names and results of the checks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Checks of a strategy. The description of a check is the rule that the strategy must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// Later candles do not change earlier decisions.
    LookAhead,
    /// The strategy does not know the future.
    /// On an unseen random walk, it must not beat chance at the bot's own expiry or 1 to 60 candles ahead. It must not
    /// recognize candles by times, prices or shapes either, which shifted signals and surrogate candles reveal.
    /// Each test rejects an honest strategy with a probability below one in a million.
    Foresight,
    /// The same candles give the same decisions.
    /// The first strategy instance of a process must not differ, and getter calls between candles have no effect.
    Determinism,
    /// Earlier and parallel strategy instances have no effect on decisions.
    /// The strategy also leaves the floating-point mode unchanged.
    Isolation,
    /// After `warmup()` candles (including the current one), decisions do not depend on where the run started.
    Warmup,
    /// Decisions after a live restart are the same as without a restart.
    Restart,
    /// `declaration()` and `on_candle` give the same signals, and `expiries()` lists all expiries of the signals.
    Declaration,
    /// The strategy's memory does not grow without limit as the strategy receives candles and settlements.
    Memory,
    /// Every number in a signal's reason is finite.
    Numbers,
    /// Flat, tiny and huge prices, gaps of one candle to several days, and large volumes cause no failure.
    Extremes,
    /// Files named by the strategy's parameters contain nothing from the future.
    Files,
    /// Decisions do not depend on the system time and date.
    Clock,
    /// Decisions are the same in other processes.
    /// The processes differ in environment, folder, time zone, arguments, bot name and memory layout. Some run the
    /// strategy in parallel with bots that have other symbols and parameters.
    Processes,
    /// The strategy reads only the files named by its parameters, and writes no files.
    Outside,
    /// The strategy's computing time per candle is within the limit.
    Speed,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finding {
    /// The rule is met.
    Passed,
    /// The rule is met, but the report contains a remark.
    Noted,
    /// The rule is violated.
    Failed,
    /// The check could not be run.
    NotRun,
}

/// Result of one check, with an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The check that was run.
    pub check: Check,
    /// Result of the check.
    pub finding: Finding,
    /// Explanation of the result, without a final period.
    pub words: String,
}

impl Check {
    /// Returns the name of the check for output and JSON.
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

    /// Creates a report of this check.
    pub fn report(self, finding: Finding, words: impl Into<String>) -> CheckReport {
        CheckReport { check: self, finding, words: words.into() }
    }
}

impl Finding {
    /// Returns the name of the result in JSON.
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
