//! The names of the rules.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A rule that can refuse a signal. Which is asked first, [`Rule::ALL`] says.
///
/// The number of a rule is hashed with each of its refusals ([`Self::hashed`]), so it never changes: a new rule takes the next number,
/// wherever in the order it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// The kill switch is on.
    Halted = 0,
    /// The signal is too old, or its candle was fetched later.
    LateSignal = 1,
    /// The bot's last candle is too old.
    StaleData = 2,
    /// Our clock and the venue's disagree too much.
    ClockSkew = 3,
    /// An open on the symbol is not answered yet.
    InFlight = 4,
    /// An intent on the symbol is in doubt.
    InDoubt = 5,
    /// The moment lies outside the trading hours.
    OutsideHours = 6,
    /// A loss was too recent.
    Cooldown = 7,
    /// A trade in the other direction is open on the symbol.
    OppositeOpen = 8,
    /// A trade of the same direction and close time is open on the symbol.
    DuplicateOpen = 9,
    /// Too many trades are open in all. In journals of programs before [`Self::MaxOpenTradesPerSymbol`] also on the symbol.
    MaxOpenTrades = 10,
    /// Too many trades in the last 60 minutes.
    MaxTradesPerHour = 11,
    /// Too many trades in the day.
    MaxTradesPerDay = 12,
    /// The day's loss would go beyond its limit if everything open were lost.
    DailyLossLimit = 13,
    /// The day's profit target is reached.
    DailyProfitTarget = 14,
    /// The drawdown from the peak would go beyond its limit if everything open were lost.
    MaxDrawdown = 15,
    /// Too many losses in a row.
    LossStreak = 16,
    /// The payout is too low, or unknown while another trade finds it out.
    MinPayout = 17,
    /// The stake is below the minimum or above the maximum.
    StakeBounds = 18,
    /// The free balance does not cover the stake.
    InsufficientBalance = 19,
    /// The live verdict has ruled the edge out.
    EdgeRejected = 20,
    /// The moment lies in a dated span without opens.
    Blackout = 21,
    /// Too many trades of the bot are open.
    BotMaxOpenTrades = 22,
    /// Too many trades of the bot in the day.
    BotMaxTradesPerDay = 23,
    /// The bot's loss of the day would go beyond its limit if everything it has open were lost.
    BotDailyLossLimit = 24,
    /// The bot's profit target of the day is reached.
    BotDailyProfitTarget = 25,
    /// Too many losses of the bot in a row.
    BotLossStreak = 26,
    /// Enough wins, losses or trades for a while.
    Pause = 27,
    /// The session's loss would go beyond its limit if everything open were lost.
    SessionLossLimit = 28,
    /// The session's profit target is reached.
    SessionProfitTarget = 29,
    /// The signal is a virtual one: the gate of its strategy is closed.
    GateClosed = 30,
    /// The bot's loss of the session would go beyond its limit if everything it has open were lost.
    BotSessionLossLimit = 31,
    /// The bot's profit target of the session is reached.
    BotSessionProfitTarget = 32,
    /// Another symbol of `best_payout_of` pays more, or pays as much and was traded at this moment; or the payout is unknown while
    /// another trade finds it out.
    BestPayout = 33,
    /// Too many trades are open on the symbol.
    MaxOpenTradesPerSymbol = 34,
    /// The venue refused an order on the symbol, or of the account, a while ago.
    RefusedByVenue = 35,
}

impl Rule {
    /// The number that is hashed with a refusal. The limit of a symbol was once a part of [`Self::MaxOpenTrades`] and is hashed as that,
    /// so that runs from before have the hash that they had.
    #[inline]
    pub(crate) const fn hashed(self) -> u8 {
        match self {
            Self::MaxOpenTradesPerSymbol => Self::MaxOpenTrades as u8,
            rule => rule as u8,
        }
    }

    /// Whether it ends a live run: only a person can lift it, time cannot.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::MaxDrawdown | Self::LossStreak)
    }

    /// Returns whether only an operator lifts it, not time and not a trade that ends.
    pub const fn is_lifted_by_operator(self) -> bool {
        matches!(self, Self::Halted | Self::MaxDrawdown | Self::LossStreak | Self::BotLossStreak)
    }

    /// Returns whether it usually lasts no longer than an open trade, an answer or a candle.
    pub const fn is_brief(self) -> bool {
        matches!(
            self,
            Self::GateClosed
                | Self::LateSignal
                | Self::StaleData
                | Self::InFlight
                | Self::Cooldown
                | Self::OppositeOpen
                | Self::DuplicateOpen
                | Self::MaxOpenTrades
                | Self::MaxOpenTradesPerSymbol
                | Self::BotMaxOpenTrades
                | Self::BestPayout
        )
    }

    /// Returns whether time does not lift it: an event or an operator does.
    pub(crate) const fn waits_for_event(self) -> bool {
        let is_state = matches!(
            self,
            Self::ClockSkew
                | Self::InDoubt
                | Self::StakeBounds
                | Self::InsufficientBalance
                | Self::EdgeRejected
        );
        is_state || self.is_lifted_by_operator() || (self.is_brief() && !matches!(self, Self::Cooldown))
    }

    /// What people call it, with its name: `late signal (LateSignal)`.
    pub fn words(self) -> String {
        format!("{} ({self})", self.label())
    }

    /// What people call it: `late signal`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Halted => "trading is halted",
            Self::LateSignal => "late signal",
            Self::StaleData => "stale candles",
            Self::ClockSkew => "clock skew",
            Self::InFlight => "order in flight",
            Self::InDoubt => "order in doubt",
            Self::OutsideHours => "outside trading hours",
            Self::Cooldown => "cooldown after a loss",
            Self::OppositeOpen => "opposite trade open",
            Self::DuplicateOpen => "same trade open",
            Self::MaxOpenTrades => "open-trade limit of all",
            Self::MaxOpenTradesPerSymbol => "open-trade limit of the symbol",
            Self::MaxTradesPerHour => "hourly trade limit",
            Self::MaxTradesPerDay => "daily trade limit",
            Self::DailyLossLimit => "daily loss limit",
            Self::DailyProfitTarget => "daily profit target",
            Self::MaxDrawdown => "drawdown limit",
            Self::LossStreak => "losing-streak limit",
            Self::MinPayout => "payout limit",
            Self::StakeBounds => "stake limits",
            Self::InsufficientBalance => "insufficient balance",
            Self::EdgeRejected => "no edge",
            Self::Blackout => "blackout",
            Self::BotMaxOpenTrades => "the bot's open-trade limit",
            Self::BotMaxTradesPerDay => "the bot's daily trade limit",
            Self::BotDailyLossLimit => "the bot's daily loss limit",
            Self::BotDailyProfitTarget => "the bot's daily profit target",
            Self::BotLossStreak => "the bot's losing-streak limit",
            Self::Pause => "pause after wins, losses or trades",
            Self::SessionLossLimit => "the session's loss limit",
            Self::SessionProfitTarget => "the session's profit target",
            Self::GateClosed => "gate closed",
            Self::BotSessionLossLimit => "the bot's loss limit of the session",
            Self::BotSessionProfitTarget => "the bot's profit target of the session",
            Self::BestPayout => "another symbol pays more",
            Self::RefusedByVenue => "pause after a refusal by the venue",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn drawdown_and_losing_streak_alone_are_lifted_by_a_person_only() {
        let finals: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| rule.is_final()).collect();
        assert_eq!(finals, [Rule::MaxDrawdown, Rule::LossStreak]);
    }

    #[test]
    fn every_rule_has_words_of_its_own_and_its_name_beside_them() {
        assert_eq!(Rule::MaxOpenTrades.words(), "open-trade limit of all (MaxOpenTrades)");
        assert_eq!(format!("{:>9}", Rule::Halted), "   Halted");
        let split = |rule: Rule| rule.words().split_once(" (").map(|(words, _)| words.to_owned());
        let words: BTreeSet<String> = Rule::ALL.into_iter().filter_map(split).collect();
        assert_eq!(words.len(), Rule::ALL.len());
    }
}
