//! Model that is built from the last snapshot of a long journal. It is shown until all older lines have been read.

use super::trades::RetainedTrades;
use super::{BotFigures, LineEffect, Model, MoneyCurve, TailLine};
use candlewick_engine::{
    BotId, EdgeRow, Event, EventKind, IntentId, IntentRow, IntentState, RiskSettings, Session,
    SessionSettings, TradeBook,
};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_records::{IntentOrigin, RecordedRun, RecordsError, SessionFold, is_candle, parse_refusal};
use candlewick_runtime::{JournalFold, OldTrade, RuntimeError};
use candlewick_sdk::{Millis, Money, Outcome};

/// Number of lines to read at the end of the journal, for data that snapshots do not contain.
pub(super) const TAIL_LINES: u64 = 20_000;
const PAGE_LINES: u32 = 5_000;

pub(crate) struct SnapshotFold {
    fold: JournalFold,
    old: OldTradeFigures,
    runs: Vec<RecordedRun>,
    risk: Option<RiskSettings>,
}

impl SnapshotFold {
    /// Reads the last snapshot and all lines after it. Returns `None` if there is no usable snapshot.
    pub(crate) async fn read(
        reader: &mut Reader,
        run: RecordedRun,
    ) -> Result<Option<(Self, Model)>, RecordsError> {
        let fold =
            Box::pin(JournalFold::read_recent(reader, &run.settings)).await.map_err(to_records_error)?;
        let Some(mut fold) = fold else { return Ok(None) };
        let trades = fold.take_old_trades();
        let told = reader.lines_by_number(&fold.recovered().displayed_lines()).await?;
        let runs = RecordedRun::read_all(&told)?;
        let old = OldTradeFigures::new(&fold, trades);
        let mut recent = Self { fold, old, runs, risk: None };
        let model = Box::pin(recent.build_model(reader, run, told)).await?;
        Ok(Some((recent, model)))
    }

    async fn build_model(
        &mut self,
        reader: &mut Reader,
        run: RecordedRun,
        told: Vec<StoredLine>,
    ) -> Result<Model, RecordsError> {
        let last = self.fold.last_seq();
        let first = last.saturating_sub(TAIL_LINES).max(1);
        let mut model = Model::new(run)?;
        model.is_partial = true;
        model.run_count = self.runs.len() as u64;
        model.is_halted = self.fold.recovered().is_halted();
        let mut earlier = RecordedRun::read_all(&told)?.into_iter().peekable();
        let before = told.into_iter().filter(|stored| stored.seq < first);
        before.for_each(|stored| self.apply_note_or_event(&mut model, &stored));
        let mut seq = first;
        while seq <= last {
            let page = reader.lines(seq, PAGE_LINES).await?;
            let Some(end) = page.last().map(|stored| stored.seq) else { break };
            for stored in page.into_iter().filter(|stored| stored.seq <= last) {
                while let Some(run) = earlier.next_if(|run| run.number <= stored.line.run) {
                    model.earlier_run = (run.number < model.run.number).then_some(run);
                }
                self.apply_candle_or_entry(&mut model, &stored)?;
                model.last_line = Some(stored);
            }
            seq = end + 1;
        }
        model.earlier_run = None;
        self.update_model(&mut model)?;
        Ok(model)
    }

    pub(crate) fn fold(&mut self, model: &mut Model, stored: StoredLine) -> Result<LineEffect, RecordsError> {
        if stored.line.kind == LineKind::Run {
            if model.begin_run(&stored)? == LineEffect::OtherRun {
                return Ok(LineEffect::OtherRun);
            }
            self.runs.push(RecordedRun::from_stored(&stored)?);
        }
        self.fold.fold(stored.seq, &stored.line).map_err(to_records_error)?;
        self.apply_candle_or_entry(model, &stored)?;
        model.last_line = Some(stored);
        Ok(LineEffect::Applied)
    }

    fn apply_candle_or_entry(&mut self, model: &mut Model, stored: &StoredLine) -> Result<(), RecordsError> {
        if is_candle(stored) {
            return model.apply_candle(stored);
        }
        if let Some(refused) = parse_refusal(stored)? {
            model.record_refusal(&refused);
        }
        self.apply_note_or_event(model, stored);
        model.tail.push(TailLine::from_stored(stored));
        Ok(())
    }

    fn apply_note_or_event(&mut self, model: &mut Model, stored: &StoredLine) {
        match stored.line.kind {
            LineKind::Note => {
                if let Some(note) = model.notes.add(stored).filter(|_| stored.line.run == model.run.number) {
                    (self.risk, model.is_reloaded) = (Some(note.risk), true);
                }
            }
            LineKind::Event => match serde_json::from_str::<Event>(&stored.line.body).map(|event| event.kind)
            {
                Ok(EventKind::Balance { .. }) => model.wallet_read_at = Some(stored.line.received),
                Ok(EventKind::Control { control }) => model.apply_control(control),
                Ok(_) | Err(_) => {}
            },
            LineKind::Run | LineKind::Action => {}
        }
    }

    pub(crate) fn update_model(&self, model: &mut Model) -> Result<(), RecordsError> {
        let risk = self.risk.clone().unwrap_or_else(|| model.run.settings.risk.clone());
        let mut session =
            Session::without_strategies(&SessionSettings { risk, ..model.run.settings.clone() })?;
        let past = self.fold.restore_into(&mut session).map_err(to_records_error)?;
        model.fold = SessionFold::new(session);
        let names = past.evicted_bots().iter().filter_map(|(run, bot)| self.bot_name(*run, *bot));
        model.trades = RetainedTrades::new(past.book().clone(), |row| self.intent_origin(row));
        model.trades.trade_count += self.old.count;
        model.trades.first_intent = self.old.end;
        model.trades.bot_names.extend(names);
        self.old.add_old_and_recent_trades(model);
        let now = model.last_line.as_ref().map_or(Millis::ZERO, |last| last.line.received);
        model.trades.evict_old_trades(now);
        Ok(())
    }

    fn bot_name(&self, run: u64, place: usize) -> Option<String> {
        Some(self.runs.iter().find(|known| known.number == run)?.settings.bots.get(place)?.name.clone())
    }

    fn intent_origin(&self, row: &IntentRow) -> Option<IntentOrigin> {
        let decided = self.fold.recovered().decisions().get(&row.approved.intent())?;
        let run = self.runs.iter().find(|run| run.number == decided.run)?;
        IntentOrigin::new(run, decided.bot, decided.seq, decided.at)
    }
}

fn to_records_error(error: RuntimeError) -> RecordsError {
    match error {
        RuntimeError::Journal(error) => error.into(),
        RuntimeError::UnreadableEntry { seq, problem } => RecordsError::UnreadableEntry { seq, problem },
        other => RecordsError::UnreadableEntry { seq: 0, problem: other.to_string() },
    }
}

#[derive(Clone, Copy)]
struct TradeFigures {
    intent: IntentId,
    bot: BotId,
    edge: EdgeRow,
    settled: Option<(Millis, Outcome, Money)>,
    by_person: bool,
    is_in_curves: bool,
}

struct OldTradeFigures {
    bots: Vec<BotFigures>,
    curve: MoneyCurve,
    profit: Money,
    counted: u32,
    rest: Vec<TradeFigures>,
    count: usize,
    /// Upper bound (exclusive) of the intent numbers of the old trades, 0 if there are none.
    end: u64,
}

impl TradeFigures {
    fn from_old_trade(old: OldTrade) -> Self {
        let OldTrade { intent, bot, settled, edge, is_settled_by_operator: by_person, .. } = old;
        Self { intent, bot, edge, settled, by_person, is_in_curves: false }
    }

    fn from_row(row: &IntentRow, book: &TradeBook) -> Self {
        let (intent, bot) = (row.approved.intent(), row.approved.bot());
        let ended = row.settled_at.zip(row.outcome).filter(|_| row.state == IntentState::Settled);
        let settled = ended.map(|(at, outcome)| (at, outcome, row.profit));
        let (edge, by_person) = (EdgeRow::from_row(row), book.is_settled_by_operator(intent));
        Self { intent, bot, edge, settled, by_person, is_in_curves: false }
    }

    fn settlement_key(&self) -> Option<(Millis, IntentId)> {
        self.settled.map(|(at, ..)| (at, self.intent))
    }
}

impl OldTradeFigures {
    fn new(fold: &JournalFold, old: Vec<OldTrade>) -> Self {
        let (count, end) = (old.len(), old.last().map_or(0, |old| old.intent.number() + 1));
        let mut old: Vec<TradeFigures> = old.into_iter().map(TradeFigures::from_old_trade).collect();
        let book = fold.recovered().book();
        let young = || book.rows().iter().map(|row| TradeFigures::from_row(row, book));
        let counted = young().map(|young| young.edge.decision_number()).min();
        let counted = counted.or(old.iter().map(|old| old.edge.last_update() + 1).max()).unwrap_or(0);
        let first_settled = young().filter_map(|young| young.settlement_key()).min();
        for figure in &mut old {
            let is_before = |settled| first_settled.is_none_or(|first| settled < first);
            figure.is_in_curves = figure.settlement_key().is_some_and(is_before);
        }
        let mut bots: Vec<BotFigures> =
            fold.first_intents().map(|first| BotFigures::from_first_intent(first.number())).collect();
        update_running_edges(&mut bots, &old, (0, counted));
        let (mut curve, mut profit) = (MoneyCurve::default(), Money::ZERO);
        let settled = old.iter().filter(|old| old.is_in_curves).copied().collect();
        add_settlements(&mut bots, &mut curve, &mut profit, settled);
        old.retain(|old| old.edge.last_update() >= counted || (old.settled.is_some() && !old.is_in_curves));
        Self { bots, curve, profit, counted, rest: old, count, end }
    }

    /// Adds old and recent trades to the figures. Shifts the equity curve so that it ends at the current equity.
    fn add_old_and_recent_trades(&self, model: &mut Model) {
        let Model { fold, bots, trades, curve, .. } = model;
        for (place, (bot, verdict)) in bots.iter_mut().zip(fold.session.verdicts()).enumerate() {
            let first = verdict.first_intent().number();
            let old = self.bots.get(place).filter(|old| old.first_intent == first).cloned();
            let before = std::mem::replace(bot, old.unwrap_or_else(|| BotFigures::from_first_intent(first)));
            if before.first_intent == first {
                bot.restore_edge_history(before);
            }
        }
        let rows = trades.book.rows().iter().map(|row| TradeFigures::from_row(row, &trades.book));
        let mut settled: Vec<TradeFigures> = self.rest.iter().copied().chain(rows).collect();
        update_running_edges(bots, &settled, (self.counted, u32::MAX));
        settled.retain(|figure| !figure.is_in_curves);
        let profit = settled.iter().filter_map(|figure| figure.settled).map(|(.., profit)| profit);
        let begun = fold.session.ledger().equity() - profit.fold(self.profit, |sum, profit| sum + profit);
        *curve = self.curve.clone().shift_by(begun);
        add_settlements(bots, curve, &mut (begun + self.profit), settled);
        bots.iter_mut().filter(|bot| bot.settled > 0).for_each(BotFigures::record_edge_point);
    }
}

fn update_running_edges(bots: &mut [BotFigures], figures: &[TradeFigures], range: (u32, u32)) {
    let mut own: Vec<Vec<EdgeRow>> = bots.iter().map(|_| Vec::new()).collect();
    for figure in figures {
        let place = figure.bot.index();
        if bots.get(place).is_some_and(|bot| figure.intent.number() >= bot.first_intent) {
            own[place].push(figure.edge);
        }
    }
    for (bot, own) in bots.iter_mut().zip(&own) {
        bot.running_edge.add_updates(own, range);
    }
}

fn add_settlements(
    bots: &mut [BotFigures],
    curve: &mut MoneyCurve,
    equity: &mut Money,
    mut settled: Vec<TradeFigures>,
) {
    settled.sort_by_key(TradeFigures::settlement_key);
    for figure in settled {
        let Some((at, outcome, profit)) = figure.settled else { continue };
        *equity += profit;
        curve.push(at, *equity);
        let bot = bots.get_mut(figure.bot.index());
        if let Some(bot) = bot.filter(|bot| figure.intent.number() >= bot.first_intent) {
            bot.settled_by_operator += u64::from(figure.by_person);
            bot.add_settlement(at, outcome, (profit, figure.edge.payout()));
        }
    }
}

#[cfg(test)]
mod tests;
