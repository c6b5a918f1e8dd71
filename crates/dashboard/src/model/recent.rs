//! Model of a long journal from its last snapshot on, shown until the older lines are read.

mod figures;

use super::trades::KeptTrades;
use super::{Basis, Model, TailLine, Took, is_candle};
use candlewick_engine::{Event, EventKind, IntentRow, RiskSettings, Session, SessionSettings};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_records::{IntentOrigin, RecordedRun, RecordsError, SessionFold, read_refusal};
use candlewick_runtime::{JournalFold, RuntimeError};
use candlewick_sdk::Millis;
use figures::OldFigures;

/// Number of final lines read for what snapshots do not hold: candles, marks and the newest
/// entries.
pub(super) const END: u64 = 20_000;
const PAGE: u32 = 5_000;

pub(crate) struct Recent {
    fold: JournalFold,
    old: OldFigures,
    runs: Vec<RecordedRun>,
    risk: Option<RiskSettings>,
}

impl Recent {
    /// Reads the journal from its last snapshot on, `None` without a usable snapshot.
    pub(crate) async fn read(
        reader: &mut Reader,
        run: RecordedRun,
    ) -> Result<Option<(Self, Model)>, RecordsError> {
        let fold = Box::pin(JournalFold::read_recent(reader, &run.settings)).await.map_err(of_runtime)?;
        let Some(mut fold) = fold else { return Ok(None) };
        let trades = fold.take_old_trades();
        let told = reader.lines_numbered(&fold.past().told()).await?;
        let runs = RecordedRun::all_of(&told)?;
        let old = OldFigures::of(&fold, trades);
        let mut recent = Self { fold, old, runs, risk: None };
        let model = Box::pin(recent.model(reader, run, told)).await?;
        Ok(Some((recent, model)))
    }

    async fn model(
        &mut self,
        reader: &mut Reader,
        run: RecordedRun,
        told: Vec<StoredLine>,
    ) -> Result<Model, RecordsError> {
        let last = self.fold.last();
        let first = last.saturating_sub(END).max(1);
        let mut model = Model::new(run)?;
        model.basis = Basis::Snapshot;
        model.runs = self.runs.len() as u64;
        model.is_halted = self.fold.past().is_halted();
        let mut earlier = RecordedRun::all_of(&told)?.into_iter().peekable();
        let before = told.into_iter().filter(|stored| stored.seq < first);
        before.for_each(|stored| self.show(&mut model, &stored, IsEnd::No));
        let mut seq = first;
        while seq <= last {
            let page = reader.lines(seq, PAGE).await?;
            let Some(end) = page.last().map(|stored| stored.seq) else { break };
            for stored in page.into_iter().filter(|stored| stored.seq <= last) {
                while let Some(run) = earlier.next_if(|run| run.number <= stored.line.run) {
                    model.present = (run.number < model.run.number).then_some(run);
                }
                self.take_candle_or_show(&mut model, &stored)?;
                model.last = Some(stored);
            }
            seq = end + 1;
        }
        model.present = None;
        self.bring_up(&mut model)?;
        Ok(model)
    }

    pub(crate) fn take(&mut self, model: &mut Model, stored: StoredLine) -> Result<Took, RecordsError> {
        if stored.line.kind == LineKind::Run {
            if model.begin_run(&stored)? == Took::OtherRun {
                return Ok(Took::OtherRun);
            }
            self.runs.extend(RecordedRun::all_of(std::slice::from_ref(&stored))?);
        }
        self.fold.fold(stored.seq, &stored.line).map_err(of_runtime)?;
        self.take_candle_or_show(model, &stored)?;
        model.last = Some(stored);
        Ok(Took::Line)
    }

    fn take_candle_or_show(&mut self, model: &mut Model, stored: &StoredLine) -> Result<(), RecordsError> {
        if is_candle(stored) {
            return model.take_candle(stored);
        }
        if let Some(refused) = read_refusal(stored)? {
            model.mark_refusal(&refused);
        }
        self.show(model, stored, IsEnd::Yes);
        Ok(())
    }

    fn show(&mut self, model: &mut Model, stored: &StoredLine, is_end: IsEnd) {
        match stored.line.kind {
            LineKind::Note => {
                if let Some(note) = model.notes.take(stored).filter(|_| stored.line.run == model.run.number) {
                    (self.risk, model.is_reloaded) = (Some(note.risk), true);
                }
            }
            LineKind::Event => match serde_json::from_str::<Event>(&stored.line.body).map(|event| event.kind)
            {
                Ok(EventKind::Balance { .. }) => model.wallet_read = Some(stored.line.received),
                Ok(EventKind::Control { control }) => model.take_control(control),
                Ok(_) | Err(_) => {}
            },
            LineKind::Run | LineKind::Action => {}
        }
        if is_end == IsEnd::Yes {
            model.tail.push(TailLine::of(stored));
        }
    }

    pub(crate) fn bring_up(&self, model: &mut Model) -> Result<(), RecordsError> {
        let risk = self.risk.clone().unwrap_or_else(|| model.run.settings.risk.clone());
        let mut session = Session::silent(&SessionSettings { risk, ..model.run.settings.clone() })?;
        let past = self.fold.hand_over(&mut session).map_err(of_runtime)?;
        model.fold = SessionFold::new(session);
        let names = past.old_bots().iter().filter_map(|(run, bot)| self.bot_name(*run, *bot));
        model.trades = KeptTrades::all_of(past.book().clone(), |row| self.origin(row));
        model.trades.add_earlier(self.old.count(), self.old.end(), names);
        self.old.count_with_young(model);
        // The fold has them still; the page reads them from the journal.
        let now = model.last.as_ref().map_or(Millis::ZERO, |last| last.line.received);
        model.trades.forget_old(now);
        Ok(())
    }

    fn bot_name(&self, run: u64, place: usize) -> Option<String> {
        let run = self.runs.iter().find(|known| known.number == run)?;
        Some(run.settings.bots.get(place)?.name.clone())
    }

    fn origin(&self, row: &IntentRow) -> Option<IntentOrigin> {
        let decided = self.fold.past().decided().get(&row.approved.intent())?;
        let run = self.runs.iter().find(|run| run.number == decided.run)?;
        let bot = run.settings.bots.get(decided.bot)?;
        Some(IntentOrigin {
            run: decided.run,
            seq: decided.seq,
            bot: bot.name.clone(),
            symbol: bot.symbol,
            request_time: decided.at,
            scale: run.settings.money_scale,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IsEnd {
    Yes,
    No,
}

fn of_runtime(error: RuntimeError) -> RecordsError {
    match error {
        RuntimeError::Journal(error) => error.into(),
        RuntimeError::UnreadableEntry { seq, problem } => RecordsError::UnreadableEntry { seq, problem },
        other => RecordsError::UnreadableEntry { seq: 0, problem: other.to_string() },
    }
}

#[cfg(test)]
mod tests;
