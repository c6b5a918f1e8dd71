//! The report of a journal, over all runs or one.

use super::{Caveats, PageParts, Report, Run};
use crate::failure::Failure;
use crate::journal::block_on;
use candlewick_backtest::analysis::{Background, Prices};
use candlewick_engine::{Action, BotVerdict, Ledger, SessionSettings, TradeBook};
use candlewick_journal::{JournalUrl, LineKind, Reader, StoredLine};
use candlewick_records::{
    Delays, Fold, JournalContents, RecordedRun, RecordsError, read_refusal, recorded_candles,
};
use candlewick_sdk::{CandleSeries, Millis, Money};
use candlewick_simulator::SimulationSettings;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// What stands where the curves would.
const WITHOUT_SENSITIVITY: &str = "What was traded live cannot be repeated: `candlewick backtest --sensitivity` with the \
                                   same bots and candles shows what latency, payout, price path and stress decide.";

/// The report of a journal, with what a page of it shows.
pub(crate) struct RecordedReport {
    /// The figures.
    pub(crate) report: Report,
    part: Part,
    session: SessionSettings,
    simulation: SimulationSettings,
    strategies: Vec<(String, String)>,
    candles: Vec<CandleSeries>,
}

/// Whether a page will show the candles, which are most of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// It will.
    Candles,
    /// Figures and trades are enough.
    FiguresOnly,
}

/// The part of a journal that is reported.
struct Part {
    book: TradeBook,
    /// Equity before it.
    balance: Money,
    /// The money after it.
    ledger: Ledger,
    candles: u64,
    last: StoredLine,
    span: Range<Millis>,
    /// The verdicts after it.
    verdicts: Vec<BotVerdict>,
}

impl RecordedReport {
    /// Of all runs, or of the one with this number.
    ///
    /// # Errors
    /// A journal that cannot be read, or has no such run.
    pub(crate) fn read(url: &JournalUrl, number: Option<u64>, shown: Shown) -> Result<Self, Failure> {
        let (contents, delays, candles) = block_on(async {
            let mut reader = Reader::open(url).await?;
            let contents = JournalContents::read(&mut reader).await?;
            let delays = Delays::read(&mut reader, number).await?;
            let candles = match shown {
                Shown::Candles => recorded_candles(&mut reader, number).await?,
                Shown::FiguresOnly => Vec::new(),
            };
            Ok::<_, RecordsError>((contents, delays, candles))
        })?;
        let run = match number {
            None => contents.last_run(),
            Some(number) => contents.run(number).ok_or_else(|| missing(number, &contents))?,
        };
        let (session, simulation, strategies) =
            (run.settings.clone(), run.simulation.clone(), run.strategies.clone());
        let caveats = Caveats::of_trading(run.trading, &run.simulation);
        let audit_findings = contents.audit_findings(number);
        let part = match number {
            None => whole(contents)?,
            Some(_) => part_of(&contents, run)?,
        };
        let report = report_of(&part, (&session, &simulation), (&delays, caveats), audit_findings);
        Ok(Self { report, part, session, simulation, strategies, candles })
    }

    /// What its page shows.
    pub(crate) fn page(&self) -> PageParts<'_> {
        PageParts {
            kind: "Report",
            book: &self.part.book,
            session: &self.session,
            simulation: &self.simulation,
            strategies: &self.strategies,
            balance: self.part.balance,
            span: &self.part.span,
            prices: Prices::Fair,
            candles: self.candles.clone(),
            without_sensitivity: WITHOUT_SENSITIVITY,
        }
    }
}

fn report_of(
    part: &Part,
    (session, simulation): (&SessionSettings, &SimulationSettings),
    (delays, caveats): (&Delays, Caveats),
    audit_findings: BTreeMap<String, u64>,
) -> Report {
    // What backtests of these bots assume, beside what the venue paid.
    let background = Background {
        assumed_payout_percent: Some(simulation.payout_percent.to_fraction() * 100.0),
        seen_payout_percent: delays.payout_percent(),
        ..Background::default()
    };
    Report::of(Run {
        book: &part.book,
        bots: &session.bots,
        scale: session.money_scale,
        balance: part.balance,
        final_balance: part.ledger.equity(),
        unsettled_stakes: part.ledger.open_stakes(),
        candles: part.candles,
        elapsed: duration(&part.span),
        span: part.span.clone(),
        prices: Prices::Fair,
        data_hash: None,
        journal_hash: part.last.hash.to_string(),
        notices: Vec::new(),
        delays: delays.lines(),
        audit_findings,
        caveats,
        verdicts: part.verdicts.clone(),
        background,
        sensitivity: None,
        census: None,
    })
}

fn missing(number: u64, contents: &JournalContents) -> Failure {
    let last = contents.last_run().number;
    Failure::configuration(format!("--run {number}: the journal has runs 1 to {last}"))
}

fn whole(contents: JournalContents) -> Result<Part, Failure> {
    let first = contents.runs.first();
    let balance =
        first.map(|run| run.silent_session().map(|session| session.ledger().equity())).transpose()?;
    let began = first.map_or(contents.last.line.received, |run| run.began);
    Ok(Part {
        balance: balance.unwrap_or_default(),
        ledger: contents.session.ledger().clone(),
        candles: contents.candles.values().sum(),
        span: began..contents.last.line.received,
        verdicts: contents.session.verdicts().cloned().collect(),
        last: contents.last,
        book: contents.book,
    })
}

/// Earlier runs are folded into the Session alone; later ones tell what became of this one's intents.
fn part_of(contents: &JournalContents, run: &RecordedRun) -> Result<Part, Failure> {
    let mut fold = Fold::new(run.silent_session()?);
    let mut book = TradeBook::default();
    let (mut balance, mut ledger, mut last, mut verdicts) = (None, None, None, Vec::new());
    for stored in &contents.lines {
        let is_own = stored.line.run == run.number;
        let is_header = stored.line.kind == LineKind::Run;
        if is_own && is_header {
            balance = Some(fold.session.ledger().equity());
        }
        let recorded = fold.take(stored)?;
        if is_own {
            last = Some(stored.clone());
            ledger = Some(fold.session.ledger().clone());
            verdicts = fold.session.verdicts().cloned().collect();
        }
        if let (true, Some(recorded)) =
            (is_own || (balance.is_some() && stored.line.kind == LineKind::Event), &recorded)
        {
            book.recall(recorded);
            if let Some(refused) = read_refusal(stored)? {
                book.record_action(&Action::Refuse(refused));
            }
        }
    }
    let last = last.unwrap_or_else(|| contents.last.clone());
    Ok(Part {
        book,
        balance: balance.unwrap_or_default(),
        ledger: ledger.unwrap_or_else(|| contents.session.ledger().clone()),
        candles: contents.candles.get(&run.number).copied().unwrap_or_default(),
        span: run.began..last.line.received,
        verdicts,
        last,
    })
}

fn duration(span: &Range<Millis>) -> Duration {
    Duration::from_millis(u64::try_from((span.end - span.start).get()).unwrap_or_default())
}
