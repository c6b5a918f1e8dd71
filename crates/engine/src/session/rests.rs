//! What a person asks of a bot that trades nothing, or stakes more than before: pauses that are under way, and where ladders stand.

use super::Session;
use crate::BotId;
use crate::risk::{PauseScope, RefusalPause, RunningPause};
use candlewick_sdk::{Millis, Money, Payout, Symbol};

/// Where the ladder of a bot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderStanding {
    /// Whose it is.
    pub bot: BotId,
    /// The next stake, by the trades that have ended.
    pub stake: Money,
    /// The level of that stake; the first is 1.
    pub level: u32,
    /// How many levels it has.
    pub levels: u32,
}

impl Session {
    /// The pauses that are under way at this moment, each with whom it rests: a symbol, a bot, or none where all rest.
    pub fn running_pauses(&self, now: Millis) -> Vec<(RunningPause, Option<String>)> {
        let whose = |running: &RunningPause| match running.pause.scope {
            PauseScope::All => None,
            PauseScope::Symbol => self.symbols().get(running.of).map(ToString::to_string),
            PauseScope::Bot => self.bots().get(running.of).cloned(),
        };
        let running = self.state.running_pauses(now).into_iter();
        running.map(|running| (running, whose(&running))).collect()
    }

    /// How the gate of each bot that has one stands, in words, behind its name.
    pub fn gates(&self) -> impl Iterator<Item = (String, String)> {
        self.names.iter().zip(&self.bots).filter_map(|(name, bot)| Some((name.clone(), bot.gate()?.now)))
    }

    /// What a bot's symbol last paid, however long ago.
    pub fn last_payout(&self, bot: BotId) -> Option<Payout> {
        let bot = self.bots.get(bot.index())?;
        self.state.payout(bot.symbol, Millis::ZERO, Millis::ZERO)
    }

    /// Returns the pauses after refusals by the venue in force at `now`, each with its symbol; `None` for all symbols.
    pub fn refusal_pauses(&self, now: Millis) -> Vec<(RefusalPause, Option<Symbol>)> {
        let symbol = |pause: &RefusalPause| self.symbols().get(pause.symbol?.index()).copied();
        let running = self.state.refusal_pauses(&self.limits, now).into_iter();
        running.map(|pause| (pause, symbol(&pause))).collect()
    }

    /// Whether a ladder of the bot stands above its first level and is given up unless a trade is approved at its next candle: what is
    /// staked after it is less.
    pub fn gives_up_ladder(&self, bot: BotId) -> bool {
        self.bots.get(bot.index()).is_some_and(|bot| bot.stake.level() > 1 && bot.gives_up_from().is_some())
    }

    /// The ladders that grow after losses, as they stand at this moment, in the bots' order.
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
