//! Model of a bot's journal, updated line by line. Folds the lines with the same code as the reports.

mod bot;
mod feed;
mod notes;
mod recent;
#[cfg(test)]
mod tests;
mod trades;

pub(crate) use bot::{BotFigures, MoneyCurve};
pub(crate) use feed::{BarLevel, CandleFeed};
pub(crate) use notes::{NewLines, Note, TailLine};
pub(crate) use recent::SnapshotFold;

use crate::view::Mark;
use candlewick_engine::{
    Action, ApprovedTrade, BotId, Control, EdgeRow, Event, EventKind, Halt, IntentId, IntentRow, IntentState,
    RecordedEntry, RefusedSignal, Session,
};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_records::{
    IntentOrigin, RecordedRun, RecordsError, SessionFold, VerdictLine, is_candle, parse, parse_refusal,
};
use candlewick_sdk::{Millis, Money, Outcome, Series};
use notes::{JournalTail, Notes};
use std::collections::VecDeque;
use trades::RetainedTrades;

const MAX_REFUSALS: usize = 500;

pub(crate) struct Model {
    pub(crate) run: RecordedRun,
    pub(crate) run_count: u64,
    is_reloaded: bool,
    fold: SessionFold,
    pub(crate) trades: RetainedTrades,
    earlier_run: Option<RecordedRun>,
    pub(crate) bots: Vec<BotFigures>,
    pub(crate) curve: MoneyCurve,
    pub(crate) feeds: Vec<CandleFeed>,
    pub(crate) refusals: VecDeque<(Series, Mark)>,
    pub(crate) notes: Notes,
    pub(crate) tail: JournalTail,
    pub(crate) is_halted: bool,
    pub(crate) wallet_read_at: Option<Millis>,
    pub(crate) last_line: Option<StoredLine>,
    /// Whether the model was built from a snapshot. If so, it lacks curves and older candles.
    pub(crate) is_partial: bool,
    /// Number of the first unreadable line, and the reason. The model rejects all later lines.
    broken: Option<(u64, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEffect {
    Applied,
    /// The line starts a run with different settings, so the journal must be read again.
    OtherRun,
}

impl Model {
    pub(crate) fn new(run: RecordedRun) -> Result<Self, RecordsError> {
        let session = run.session_without_strategies()?;
        Ok(Self {
            bots: session.bot_names().iter().map(|_| BotFigures::default()).collect(),
            feeds: run.series.iter().copied().map(CandleFeed::new).collect(),
            is_reloaded: false,
            fold: SessionFold::new(session),
            run,
            run_count: 0,
            trades: RetainedTrades::default(),
            earlier_run: None,
            curve: MoneyCurve::default(),
            refusals: VecDeque::new(),
            notes: Notes::default(),
            tail: JournalTail::default(),
            is_halted: false,
            wallet_read_at: None,
            last_line: None,
            is_partial: false,
            broken: None,
        })
    }

    pub(crate) const fn session(&self) -> &Session {
        &self.fold.session
    }

    pub(crate) fn seq(&self) -> u64 {
        self.last_line.as_ref().map_or(0, |last| last.seq)
    }

    pub(crate) fn apply_line(&mut self, stored: StoredLine) -> Result<LineEffect, RecordsError> {
        if let Some((seq, problem)) = self.broken.clone() {
            return Err(RecordsError::UnreadableEntry { seq, problem });
        }
        let seq = stored.seq;
        let took = self.try_apply_line(stored);
        if let Err(error) = &took {
            let problem = match error {
                RecordsError::UnreadableEntry { problem, .. } => problem.clone(),
                other => other.to_string(),
            };
            self.broken = Some((seq, problem));
        }
        took
    }

    fn try_apply_line(&mut self, stored: StoredLine) -> Result<LineEffect, RecordsError> {
        if stored.line.kind == LineKind::Run && self.begin_run(&stored)? == LineEffect::OtherRun {
            return Ok(LineEffect::OtherRun);
        }
        if is_candle(&stored) {
            self.apply_candle(&stored)?;
        } else {
            self.apply_entry(&stored)?;
            self.tail.push(TailLine::from_stored(&stored));
        }
        self.last_line = Some(stored);
        Ok(LineEffect::Applied)
    }

    fn begin_run(&mut self, stored: &StoredLine) -> Result<LineEffect, RecordsError> {
        let run = RecordedRun::from_stored(stored)?;
        let is_later = run.number > self.run.number;
        if is_later && (run.settings != self.run.settings || self.is_reloaded) {
            return Ok(LineEffect::OtherRun);
        }
        if is_later {
            (self.run, self.earlier_run) = (run, None);
        } else {
            self.earlier_run = Some(run);
        }
        self.run_count += 1;
        Ok(LineEffect::Applied)
    }

    fn run_being_read(&self) -> &RecordedRun {
        self.earlier_run.as_ref().unwrap_or(&self.run)
    }

    fn apply_candle(&mut self, stored: &StoredLine) -> Result<(), RecordsError> {
        let event: Event = parse(stored)?;
        let EventKind::Candle { series, candle, origin } = event.kind else { return Ok(()) };
        let Some(of) = self.run_being_read().series.get(series.index()).copied() else { return Ok(()) };
        // Runs with the same bots assign the same indices to series.
        let is_there = self.feeds.get(series.index()).is_some_and(|feed| feed.series == of);
        let elsewhere = || self.feeds.iter().position(|feed| feed.series == of);
        let place = if is_there { Some(series.index()) } else { elsewhere() };
        if let Some(feed) = place.and_then(|place| self.feeds.get_mut(place)) {
            feed.add_candle(&candle, origin, event.received);
        }
        Ok(())
    }

    fn apply_entry(&mut self, stored: &StoredLine) -> Result<(), RecordsError> {
        if stored.line.kind == LineKind::Note {
            let reload = self.notes.add(stored);
            // A reload affects the current limits only if it happened during the last run.
            if let Some(note) = reload.filter(|_| stored.line.run == self.run.number) {
                self.is_reloaded = true;
                let prepared = self.fold.session.prepare_reload(&note.risk);
                prepared.map_err(|error| RecordsError::unreadable_entry(stored, error))?;
            }
        }
        let Some(recorded) = self.fold.apply_line(stored)? else {
            if stored.line.kind == LineKind::Run {
                let verdicts = self.fold.session.verdicts();
                self.bots.iter_mut().zip(verdicts).for_each(|(bot, verdict)| bot.reset_if_replaced(verdict));
            }
            return Ok(());
        };
        if let RecordedEntry::Event(Event {
            at,
            kind: EventKind::Correction { intent, outcome, profit },
            ..
        }) = recorded
        {
            self.apply_correction(intent, (outcome, profit), at);
        }
        self.trades.book.recall(&recorded);
        match &recorded {
            RecordedEntry::Open(approved) => self.apply_open(stored, approved),
            RecordedEntry::Event(event) => self.apply_event(event),
            RecordedEntry::Refuse => {
                if let Some(refused) = parse_refusal(stored)? {
                    self.record_refusal(&refused);
                    self.trades.book.record_action(&Action::Refuse(refused));
                }
            }
            RecordedEntry::DayOpened { .. } | RecordedEntry::Verdict => {}
        }
        Ok(())
    }

    fn apply_open(&mut self, stored: &StoredLine, approved: &ApprovedTrade) {
        let origin = IntentOrigin::from_stored(stored, self.run_being_read()).ok();
        self.trades.add_trade(approved.intent(), origin);
        if let Some(bot) = self.bots.get_mut(approved.bot().index()) {
            bot.running_edge.on_decided(approved.intent());
        }
    }

    fn apply_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Control { control } => self.apply_control(*control),
            EventKind::Balance { .. } => self.wallet_read_at = Some(event.received),
            EventKind::Opened(opened) | EventKind::Adopted(opened) => {
                self.apply_trade_update(opened.intent, event.at);
            }
            EventKind::Settled(settled) => self.apply_trade_update(settled.intent, event.at),
            EventKind::Reinstated(terms) => self.trades.reopen(terms.intent()),
            EventKind::SettledByPerson { intent, .. }
            | EventKind::Rejected { intent, .. }
            | EventKind::NotSent { intent }
            | EventKind::NotOpened { intent, .. } => self.apply_trade_update(*intent, event.at),
            _ => {}
        }
        if self.curve.points.is_empty() {
            self.curve.push(event.at, self.fold.session.ledger().equity());
        }
    }

    fn apply_control(&mut self, control: Control) {
        match control {
            Control::Halt => self.is_halted = true,
            Control::Resume => self.is_halted = false,
            Control::Suspend | Control::Continue | Control::Reload => {}
        }
    }

    pub(crate) fn last_halt(&self) -> Halt {
        self.notes.last_halt.clone().unwrap_or_default()
    }

    pub(crate) fn knows_bot(&self, name: &str) -> bool {
        self.run.settings.bots.iter().any(|bot| bot.name == name) || self.trades.bot_names.contains(name)
    }

    fn apply_trade_update(&mut self, intent: IntentId, at: Millis) {
        let Some(row) = self.trades.book.row(intent).copied() else { return };
        let bot = self.bots.get_mut(row.approved.bot().index());
        let mut bot = bot.filter(|bot| intent.number() >= bot.first_intent);
        if let Some(bot) = &mut bot {
            bot.running_edge.on_update(&row);
        }
        if !row.is_finished() || !self.trades.mark_finished(intent) {
            return;
        }
        if let (IntentState::Settled, Some(outcome)) = (row.state, row.outcome) {
            self.curve.push(at, self.fold.session.ledger().equity());
            if let Some(bot) = bot {
                bot.settled_by_operator += u64::from(self.trades.book.is_settled_by_operator(intent));
                bot.add_settlement(at, outcome, (row.profit, EdgeRow::from_row(&row).payout()));
                bot.record_edge_point();
            }
        }
        self.trades.evict_old_trades(at);
    }

    /// Corrects the result of a settled trade. Call this before the trade book applies the correction.
    fn apply_correction(&mut self, intent: IntentId, after: (Outcome, Money), at: Millis) {
        let Some(row) = self.trades.book.row(intent) else { return };
        let Some(before) = row.outcome.map(|outcome| (outcome, row.profit)) else { return };
        let bot = self.bots.get_mut(row.approved.bot().index());
        if let Some(bot) = bot.filter(|bot| intent.number() >= bot.first_intent) {
            bot.correct_settlement((intent, at), before, after);
        }
        self.curve.push(at, self.fold.session.ledger().equity());
    }

    fn record_refusal(&mut self, refused: &RefusedSignal) {
        let bot = self.run_being_read().settings.bots.get(refused.bot.index());
        let mark = bot.map(|bot| (bot.series(), Mark::new(refused, bot.name.clone())));
        self.refusals.extend(mark);
        if self.refusals.len() > MAX_REFUSALS {
            self.refusals.pop_front();
        }
    }

    pub(crate) fn count_trades_after(&self, bot: BotId, since: Millis) -> usize {
        let first = self.bots.get(bot.index()).map_or(0, |figures| figures.first_intent);
        let is_of_bot = |row: &&IntentRow| {
            let never =
                matches!(row.state, IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened);
            row.approved.bot() == bot && row.approved.intent().number() >= first && !never
        };
        let rows = self.trades.book.rows().iter().rev();
        rows.take_while(|row| row.approved.decision_time() > since).filter(is_of_bot).count()
    }

    /// Returns the verdict on each bot. While the journal is loading (`is_reading`), returns the cached verdicts.
    pub(crate) fn verdict_lines(&mut self, is_reading: bool) -> Vec<Option<VerdictLine>> {
        if is_reading {
            let latest = |bot: &BotFigures| bot.cached_verdict.as_ref().map(|(_, line)| line.clone());
            return self.bots.iter().map(latest).collect();
        }
        let Self { fold, bots, .. } = self;
        let (names, verdicts) = (fold.session.bot_names(), fold.session.verdicts());
        let all = bots.iter_mut().zip(names).zip(verdicts);
        all.map(|((bot, name), verdict)| Some(bot.verdict_line(name, verdict))).collect()
    }
}
