//! Parts of a status: the running bot, the holder, pauses, ladders, and figures over old trades.

use crate::configuration::{Loaded, control_paths};
use crate::error::Result;
use candlewick_engine::{
    BotVerdict, EdgeRow, Event, EventKind, IntentId, IntentRow, IntentState, RunningEdge, Session, VenueId,
};
use candlewick_journal::{Holder, Lease, LeaseTerms, LineKind, Reader, StoredLine};
use candlewick_records::{EdgeIntervals, JournalContents, StrangeTrade, VerdictLine, read_refusal, utc};
use candlewick_runtime::OldTrade;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, SignalTally, send_order};
use candlewick_sdk::{Millis, visible};
use serde::Serialize;
use std::fmt;

pub(super) async fn ask_bot(loaded: &Loaded) -> Result<Option<RunState>> {
    let paths = control_paths(loaded)?;
    Ok(match send_order(&paths.socket, &ControlOrder::Status, None).await {
        Ok(ControlAnswer::Done { state }) => Some(*state),
        Ok(ControlAnswer::Signal { .. }) => None,
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => {
            tracing::warn!("the bot does not answer with its status: {problem}");
            None
        }
        Err(error) => {
            tracing::debug!("no bot answers: {error}");
            None
        }
    })
}

/// Counts signals and decisions from a line on, `None` without signals. No entry has malformed input.
pub(super) async fn signals_since(reader: &mut Reader, begun: u64) -> Result<Option<SignalTally>> {
    let lines = reader.outside_signals_from(begun).await?;
    let mut tally = SignalTally::default();
    let mut rest = &lines[..];
    while let [first, behind @ ..] = rest {
        rest = behind;
        let Some(door) = door_of(first) else { continue };
        let numbered = (first.seq + 1..).zip(behind);
        let answers =
            numbered.take_while(|(seq, next)| next.seq == *seq && next.line.kind == LineKind::Action);
        let mut decided = None;
        for (_, answer) in answers {
            decided = match read_refusal(answer)? {
                Some(refused) => Some(Err(refused.rule)),
                None if answer.line.intent.is_some() => Some(Ok(())),
                None => decided,
            };
        }
        tally.count(&door, decided);
    }
    Ok((!tally.is_empty()).then_some(tally))
}

fn door_of(stored: &StoredLine) -> Option<String> {
    let event: Event =
        serde_json::from_str(&stored.line.body).ok().filter(|_| stored.line.kind == LineKind::Event)?;
    match event.kind {
        EventKind::OutsideSignal(signal) => Some(signal.source.to_string()),
        _ => None,
    }
}

pub(super) fn settled(contents: &JournalContents, old: &[OldTrade]) -> usize {
    let is_settled = |row: &&IntentRow| row.state == IntentState::Settled;
    let old = old.iter().filter(|old| old.settled.is_some()).count();
    old + contents.book.rows().iter().filter(is_settled).count()
}

pub(super) fn by_person(contents: &JournalContents, old: &[OldTrade]) -> Vec<u64> {
    let old = old.iter().filter(|old| old.by_person).map(|old| old.intent);
    let intents = contents.book.rows().iter().map(|row| row.approved.intent());
    let young = intents.filter(|intent| contents.book.is_settled_by_person(*intent));
    old.chain(young).map(IntentId::number).collect()
}

pub(super) fn strangers(contents: &JournalContents, old: &[OldTrade]) -> Vec<StrangeTrade> {
    let mut strangers = contents.strangers();
    strangers.retain(|stranger| {
        let id = VenueId::truncated(&stranger.venue_id);
        !old.iter().any(|old| old.is_trade(id.as_str()))
    });
    strangers
}

#[derive(Default)]
struct Own {
    rows: Vec<EdgeRow>,
    said: u64,
}

pub(super) fn verdicts_of(
    JournalContents { session, book, .. }: &JournalContents,
    old: &[OldTrade],
) -> Vec<VerdictLine> {
    let verdicts: Vec<&BotVerdict> = session.verdicts().collect();
    let mut bots: Vec<Own> = verdicts.iter().map(|_| Own::default()).collect();
    let young = book.rows().iter().map(|row| {
        let (intent, bot) = (row.approved.intent(), row.approved.bot());
        (intent, bot, EdgeRow::of(row), book.is_settled_by_person(intent))
    });
    let old = old.iter().map(|old| (old.intent, old.bot, old.edge, old.by_person));
    for (intent, bot, edge, is_said) in old.chain(young) {
        let is_of = |verdict: &&BotVerdict| intent >= verdict.first_intent();
        let is_own = verdicts.get(bot.index()).is_some_and(is_of);
        let Some(own) = bots.get_mut(bot.index()).filter(|_| is_own) else { continue };
        own.rows.push(edge);
        own.said += u64::from(is_said);
    }
    let lines = session.bots().iter().zip(verdicts).zip(bots);
    let line = |((bot, verdict), own): ((&String, &BotVerdict), Own)| {
        let intervals = EdgeIntervals::of(RunningEdge::after(&own.rows).sequence());
        VerdictLine::with(bot, verdict, (own.said, intervals))
    };
    lines.map(line).collect()
}

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
