//! The names of the rules.

use serde::Serialize;
use std::fmt;

/// A rule that can refuse a signal, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Rule {
    /// The kill switch is on.
    Halted,
    /// The signal is too old, or its candle was fetched later.
    LateSignal,
    /// The bot's last candle is too old.
    StaleData,
    /// Our clock and the venue's disagree too much.
    ClockSkew,
    /// An open on the symbol is not answered yet.
    InFlight,
    /// An intent on the symbol is in doubt.
    InDoubt,
    /// The moment lies outside the trading hours.
    OutsideHours,
    /// A loss was too recent.
    Cooldown,
    /// A trade in the other direction is open on the symbol.
    OppositeOpen,
    /// A trade of the same direction and close time is open on the symbol.
    DuplicateOpen,
    /// Too many trades are open, in all or on the symbol.
    MaxOpenTrades,
    /// Too many trades in the last 60 minutes.
    MaxTradesPerHour,
    /// Too many trades in the day.
    MaxTradesPerDay,
    /// The day's loss would go beyond its limit if everything open were lost.
    DailyLossLimit,
    /// The day's profit target is reached.
    DailyProfitTarget,
    /// The drawdown from the peak would go beyond its limit if everything open were lost.
    MaxDrawdown,
    /// Too many losses in a row.
    LossStreak,
    /// The payout is too low, or unknown while another trade finds it out.
    MinPayout,
    /// The stake is below the minimum or above the maximum.
    StakeBounds,
    /// The free balance does not cover the stake.
    InsufficientBalance,
    /// The live verdict has ruled the edge out.
    EdgeRejected,
}

impl Rule {
    /// All rules, in the order in which they are asked.
    pub const ALL: [Self; 21] = [
        Self::Halted,
        Self::LateSignal,
        Self::StaleData,
        Self::ClockSkew,
        Self::InFlight,
        Self::InDoubt,
        Self::OutsideHours,
        Self::Cooldown,
        Self::OppositeOpen,
        Self::DuplicateOpen,
        Self::MaxOpenTrades,
        Self::MaxTradesPerHour,
        Self::MaxTradesPerDay,
        Self::DailyLossLimit,
        Self::DailyProfitTarget,
        Self::MaxDrawdown,
        Self::LossStreak,
        Self::MinPayout,
        Self::StakeBounds,
        Self::InsufficientBalance,
        Self::EdgeRejected,
    ];

    /// The name, as counted in `refused`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Halted => "Halted",
            Self::LateSignal => "LateSignal",
            Self::StaleData => "StaleData",
            Self::ClockSkew => "ClockSkew",
            Self::InFlight => "InFlight",
            Self::InDoubt => "InDoubt",
            Self::OutsideHours => "OutsideHours",
            Self::Cooldown => "Cooldown",
            Self::OppositeOpen => "OppositeOpen",
            Self::DuplicateOpen => "DuplicateOpen",
            Self::MaxOpenTrades => "MaxOpenTrades",
            Self::MaxTradesPerHour => "MaxTradesPerHour",
            Self::MaxTradesPerDay => "MaxTradesPerDay",
            Self::DailyLossLimit => "DailyLossLimit",
            Self::DailyProfitTarget => "DailyProfitTarget",
            Self::MaxDrawdown => "MaxDrawdown",
            Self::LossStreak => "LossStreak",
            Self::MinPayout => "MinPayout",
            Self::StakeBounds => "StakeBounds",
            Self::InsufficientBalance => "InsufficientBalance",
            Self::EdgeRejected => "EdgeRejected",
        }
    }

    /// Whether it ends a live run: only a person can lift it, time cannot.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::MaxDrawdown | Self::LossStreak)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
