//! Lines of a status: the holder of the journal, pauses of opens, and stake ladders.

use candlewick_engine::Session;
use candlewick_journal::{Holder, Lease, LeaseTerms};
use candlewick_records::utc;
use candlewick_sdk::{Millis, visible};
use serde::Serialize;
use std::fmt;

#[derive(Debug, Serialize)]
pub struct HolderLine {
    pub program: String,
    pub pid: u32,
    pub host: String,
    /// Derived from the process and its heartbeat.
    pub alive: bool,
    pub since: Millis,
    pub heartbeat: Millis,
    /// Time of the journal's clock when this was read.
    #[serde(skip)]
    pub(super) read: Millis,
}

impl HolderLine {
    pub(super) fn of(lease: Lease) -> Self {
        let judge = Holder::of_this_process("candlewick");
        let alive = !LeaseTerms::default().is_over(&lease, &judge);
        let Lease { holder, since, heartbeat, silence, .. } = lease;
        let read = heartbeat + silence;
        Self { program: holder.program, pid: holder.pid, host: holder.host, alive, since, heartbeat, read }
    }
}

impl fmt::Display for HolderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, pid, host, alive, heartbeat, .. } = self;
        let life = if *alive { "alive" } else { "no longer alive" };
        write!(f, "{program} (process {pid} on {host}), {life}, last sign of life {}", utc(*heartbeat))
    }
}

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
