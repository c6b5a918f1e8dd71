//! Running pauses and ladder levels, to explain why a bot does not trade or stakes more.

use super::Session;
use crate::BotId;
use crate::risk::{PauseScope, RefusalPause, RunningPause};
use candlewick_sdk::{Millis, Money, Payout, Symbol};

/// The current level of a bot's ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderStanding {
    /// Bot of the ladder.
    pub bot: BotId,
    /// Next stake after the trades that have ended.
    pub stake: Money,
    /// 1-based level of that stake.
    pub level: u32,
    /// Number of levels.
    pub levels: u32,
}

impl Session {
    /// Returns the pauses running at `now`, with the paused symbol or bot.
    ///
    /// `None` means all bots.
    pub fn running_pauses(&self, now: Millis) -> Vec<(RunningPause, Option<String>)> {
        let whose = |running: &RunningPause| match running.pause.scope {
            PauseScope::All => None,
            PauseScope::Symbol => self.symbols().get(running.of).map(ToString::to_string),
            PauseScope::Bot => self.bots().get(running.of).cloned(),
        };
        let running = self.state.running_pauses(now).into_iter();
        running.map(|running| (running, whose(&running))).collect()
    }

    /// Returns bot name and gate state of each bot that has a gate.
    pub fn gates(&self) -> impl Iterator<Item = (String, String)> {
        self.names.iter().zip(&self.bots).filter_map(|(name, bot)| Some((name.clone(), bot.gate()?.now)))
    }

    /// Returns the last known payout of a bot's symbol, however old.
    pub fn last_payout(&self, bot: BotId) -> Option<Payout> {
        let bot = self.bots.get(bot.index())?;
        self.state.payout(bot.symbol, Millis::ZERO, Millis::ZERO)
    }

    /// Returns the refusal pauses in force at `now` with their symbols, `None` for all.
    pub fn refusal_pauses(&self, now: Millis) -> Vec<(RefusalPause, Option<Symbol>)> {
        let symbol = |pause: &RefusalPause| self.symbols().get(pause.symbol?.index()).copied();
        let running = self.state.refusal_pauses(&self.limits, now).into_iter();
        running.map(|pause| (pause, symbol(&pause))).collect()
    }

    /// Returns whether the ladder is given up unless the next candle has a trade.
    ///
    /// Only for a ladder above its first level. The stake after it is smaller.
    pub fn gives_up_ladder(&self, bot: BotId) -> bool {
        self.bots.get(bot.index()).is_some_and(|bot| bot.stake.level() > 1 && bot.gives_up_from().is_some())
    }

    /// Returns the current level of each ladder that grows after losses, in bot order.
    pub fn ladders(&self, now: Millis) -> Vec<LadderStanding> {
        let standing = |(place, bot): (usize, &crate::bot::Bot)| {
            let (level, levels) = bot.stake.level_of()?;
            let restarts = bot.has_missed_level(now) || self.restarts_ladder(bot);
            let level = if restarts { 1 } else { level };
            let stake = self.stake(bot, crate::risk::Probe::NotNeeded, now);
            Some(LadderStanding { bot: BotId::new(place)?, stake, level, levels })
        };
        self.bots.iter().enumerate().filter_map(standing).collect()
    }
}
