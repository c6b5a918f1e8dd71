//! The runs of a journal that a report covers: all or one.

use crate::contents::JournalContents;
use crate::delays::{DelayReading, Delays};
use crate::error::RecordsError;
use crate::fold::SessionFold;
use crate::refusal::read_refusal;
use crate::run::RecordedRun;
use crate::trading::TradingMode;
use candlewick_engine::{Action, BotVerdict, Ledger, SessionSettings, TradeBook};
use candlewick_journal::{LineKind, Reader};
use candlewick_sdk::{Millis, Money};
use candlewick_simulator::SimulationSettings;
use std::collections::BTreeMap;
use std::ops::Range;

pub struct RecordedRuns {
    /// Settings of the selected or last run, with the limits in force at its end.
    pub session: SessionSettings,
    pub simulation: SimulationSettings,
    pub strategies: Vec<(String, String)>,
    pub trading: Option<TradingMode>,
    pub book: TradeBook,
    pub balance: Money,
    pub ledger: Ledger,
    /// Number of candles that the bots saw, without warm-up.
    pub candles: u64,
    pub head_hash: String,
    pub span: Range<Millis>,
    pub verdicts: Vec<BotVerdict>,
    /// Share of alpha for all trades of several bots together; 0 if they are not judged together.
    pub weight_of_all_bots: f64,
    pub delays: Delays,
    pub audit_findings: BTreeMap<String, u64>,
}

impl RecordedRuns {
    pub async fn read(reader: &mut Reader, number: Option<u64>) -> Result<Self, RecordsError> {
        let mut delays = DelayReading::of(number);
        let contents = JournalContents::read_and(reader, |stored| delays.take(stored)).await?;
        let delays = delays.end();
        let Some(number) = number else { return Self::whole(contents, delays) };
        let last = contents.last_run().number;
        let run = contents.run(number).ok_or(RecordsError::UnknownRun { number, last })?;
        Self::of_run(&contents, run, delays)
    }

    fn whole(contents: JournalContents, delays: Delays) -> Result<Self, RecordsError> {
        let last = contents.last_run();
        let first = contents.runs.first();
        let balance =
            first.map(|run| run.silent_session().map(|session| session.ledger().equity())).transpose()?;
        let end = contents.last.line.received;
        Ok(Self {
            session: contents.settings_at_end(last)?,
            simulation: last.simulation.clone(),
            strategies: last.strategies.clone(),
            trading: last.trading,
            balance: balance.unwrap_or_default(),
            ledger: contents.session.ledger().clone(),
            candles: contents.candles.values().sum(),
            head_hash: contents.last.hash.to_string(),
            span: first.map_or(end, |run| run.began)..end,
            verdicts: contents.session.verdicts().cloned().collect(),
            weight_of_all_bots: contents.session.weight_of_all_bots(),
            delays,
            audit_findings: contents.audit_findings(None),
            book: contents.book,
        })
    }

    /// Earlier runs only affect the Session. Later runs tell the outcome of this run's intents.
    fn of_run(contents: &JournalContents, run: &RecordedRun, delays: Delays) -> Result<Self, RecordsError> {
        let mut fold = SessionFold::new(run.silent_session()?);
        let mut book = TradeBook::default();
        let mut balance = None;
        let (mut ledger, mut verdicts) = (contents.session.ledger().clone(), Vec::new());
        let mut weight_of_all_bots = 0.0;
        let end = contents.lines.iter().rposition(|stored| stored.line.run == run.number);
        for (place, stored) in contents.lines.iter().enumerate() {
            let is_own = stored.line.run == run.number;
            let is_header = stored.line.kind == LineKind::Run;
            if is_own && is_header {
                balance = Some(fold.session.ledger().equity());
            }
            let recorded = fold.take(stored)?;
            if end == Some(place) {
                ledger = fold.session.ledger().clone();
                verdicts = fold.session.verdicts().cloned().collect();
                weight_of_all_bots = fold.session.weight_of_all_bots();
            }
            let is_later_event = balance.is_some() && stored.line.kind == LineKind::Event;
            if let (true, Some(recorded)) = (is_own || is_later_event, &recorded) {
                book.recall(recorded);
                if let Some(refused) = read_refusal(stored)? {
                    book.record_action(&Action::Refuse(refused));
                }
            }
        }
        let last = end.and_then(|end| contents.lines.get(end)).unwrap_or(&contents.last);
        Ok(Self {
            session: contents.settings_at_end(run)?,
            simulation: run.simulation.clone(),
            strategies: run.strategies.clone(),
            trading: run.trading,
            book,
            balance: balance.unwrap_or_default(),
            ledger,
            candles: contents.candles.get(&run.number).copied().unwrap_or_default(),
            head_hash: last.hash.to_string(),
            span: run.began..last.line.received,
            verdicts,
            weight_of_all_bots,
            delays,
            audit_findings: contents.audit_findings(Some(run.number)),
        })
    }
}
