//! Pauses of opens, and the current levels of stake ladders.

use candlewick_engine::Session;
use candlewick_records::utc;
use candlewick_sdk::{Millis, visible};
use serde::Serialize;

#[derive(Debug, PartialEq, Serialize)]
pub struct PauseLine {
    /// Paused symbol or bot; `None` if all are paused.
    pub whose: Option<String>,
    pub after: String,
    pub until: Millis,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct LadderLine {
    pub bot: String,
    pub next_stake: f64,
    /// Level of that stake, 1-based.
    pub level: u32,
    pub levels: u32,
}

impl PauseLine {
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

    pub(super) fn words(&self) -> String {
        let whose = self.whose.as_deref().map(|whose| format!("{} ", visible(whose))).unwrap_or_default();
        format!("{whose}rests until {} (pause: {})", utc(self.until), self.after)
    }
}

impl LadderLine {
    pub(super) fn of_session(session: &Session, now: Millis) -> Vec<Self> {
        let scale = session.money_scale();
        let line = |ladder: candlewick_engine::LadderStanding| {
            let bot = session.bots().get(ladder.bot.index())?.clone();
            let (level, levels) = (ladder.level, ladder.levels);
            Some(Self { bot, next_stake: scale.to_f64(ladder.stake), level, levels })
        };
        session.ladders(now).into_iter().filter_map(line).collect()
    }

    pub(super) fn words(&self, decimals: usize) -> String {
        let Self { bot, next_stake, level, levels } = self;
        format!("{}: next stake {next_stake:.decimals$} (level {level} of {levels})", visible(bot))
    }
}
