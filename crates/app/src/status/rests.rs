//! What keeps bots from opening for a while, and where their ladders stand.

use candlewick_engine::Session;
use candlewick_records::utc;
use candlewick_sdk::{Millis, visible};
use serde::Serialize;

/// A pause that is under way.
#[derive(Debug, PartialEq, Serialize)]
pub struct PauseLine {
    /// The symbol or the bot that rests; null where all do.
    pub whose: Option<String>,
    /// What it came after: `2 losses in a row`.
    pub after: String,
    /// When opens may begin again, in venue time.
    pub until: Millis,
}

/// Where the ladder of a bot stands.
#[derive(Debug, PartialEq, Serialize)]
pub struct LadderLine {
    /// Whose it is.
    pub bot: String,
    /// Its next stake, by the trades that have ended.
    pub next_stake: f64,
    /// The level of that stake; the first is 1.
    pub level: u32,
    /// How many levels it has.
    pub levels: u32,
}

impl PauseLine {
    /// Those of a Session at a moment, the last to end first.
    pub(super) fn of_session(session: &Session, now: Millis) -> Vec<Self> {
        let running = session.running_pauses(now).into_iter();
        let line = |(running, whose): (candlewick_engine::RunningPause, _)| Self {
            whose,
            after: running.pause.cause_words(),
            until: running.until,
        };
        let refused = session.refusal_pauses(now).into_iter().map(|(pause, symbol)| Self {
            whose: symbol.map(|symbol| symbol.to_string()),
            after: pause.cause(),
            until: pause.until,
        });
        let mut lines: Vec<Self> = running.map(line).chain(refused).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.until));
        lines
    }

    /// As a person reads it.
    pub(super) fn words(&self) -> String {
        let whose = self.whose.as_deref().map(|whose| format!("{} ", visible(whose))).unwrap_or_default();
        format!("{whose}rests until {} (pause: {})", utc(self.until), self.after)
    }
}

impl LadderLine {
    /// Those of a Session at a moment, in the bots' order.
    pub(super) fn of_session(session: &Session, now: Millis) -> Vec<Self> {
        let scale = session.money_scale();
        let line = |ladder: candlewick_engine::LadderStanding| {
            let bot = session.bots().get(ladder.bot.index())?.clone();
            let (level, levels) = (ladder.level, ladder.levels);
            Some(Self { bot, next_stake: scale.to_f64(ladder.stake), level, levels })
        };
        session.ladders(now).into_iter().filter_map(line).collect()
    }

    /// As a person reads it, money with so many decimals.
    pub(super) fn words(&self, decimals: usize) -> String {
        let Self { bot, next_stake, level, levels } = self;
        format!("{}: next stake {next_stake:.decimals$} (level {level} of {levels})", visible(bot))
    }
}
