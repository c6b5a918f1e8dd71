//! The part of a journal that a report is of: all its runs, or one.

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

/// All runs of a journal, or one of them, with what they were set to and what they came to.
pub struct RecordedRuns {
    /// What the Session of the run, or of the last one, was made from, with the limits that were in force at its end.
    pub session: SessionSettings,
    /// How a simulated venue was set.
    pub simulation: SimulationSettings,
    /// Name and version of each bot's strategy.
    pub strategies: Vec<(String, String)>,
    /// What the trades are worth; none in a journal that does not say.
    pub trading: Option<TradingMode>,
    /// The intents and refusals.
    pub book: TradeBook,
    /// Equity before the first run of it.
    pub balance: Money,
    /// The money after it.
    pub ledger: Ledger,
    /// Candles that its bots saw, without those of the warm-up.
    pub candles: u64,
    /// The hash of its last entry.
    pub head_hash: String,
    /// From its first moment to its last, in venue time.
    pub span: Range<Millis>,
    /// The verdicts after it, in the bots' order.
    pub verdicts: Vec<BotVerdict>,
    /// What all trades of several bots together may spend of alpha; 0 where they are not judged.
    pub weight_of_all_bots: f64,
    /// How long things took.
    pub delays: Delays,
    /// What audits found, by their names.
    pub audit_findings: BTreeMap<String, u64>,
}

impl RecordedRuns {
    /// Reads all runs, or the one with this number.
    ///
    /// # Errors
    /// A journal that cannot be read, or has no such run.
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

    /// Earlier runs are folded into the Session alone; later ones say what became of this one's intents.
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
