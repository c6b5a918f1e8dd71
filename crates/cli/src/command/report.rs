//! `report`: the figures of a journal.

use super::Context;
use crate::chronicle::{
    Chronicle, Delays, Fold, JournalArguments, RecordedRun, block_on, read_refusal, recorded_candles,
};
use crate::failure::{Ending, Failure};
use crate::output::{print, print_json};
use crate::report::{Caveats, PageParts, Report, Run, write_page};
use candlewick_backtest::analysis::{Background, Prices};
use candlewick_engine::{Action, BotVerdict, Ledger, TradeBook};
use candlewick_journal::{LineKind, Reader, StoredLine};

use candlewick_sdk::{Millis, Money};
use clap::Args;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// Of which run.
#[derive(Debug, Args)]
#[command(
    after_help = "The same figures as a backtest's, over all runs or one: that one's own intents, wherever they settled. \
                  The hash is that of the journal's last entry, the time that of the venue.\n\nExamples:\n  \
                  candlewick report\n  candlewick report --journal run.db --run 2 --html report.html"
)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Only this run, counted from 1
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Write the report as one HTML file that loads nothing, with the candles and trades to look at
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// What stands where the curves would.
const WITHOUT_SENSITIVITY: &str = "What was traded live cannot be repeated: `candlewick backtest --sensitivity` with the \
                                   same bots and candles shows what latency, payout, price path and stress decide.";

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

pub(super) fn run(arguments: &ReportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let (chronicle, delays, candles) = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let chronicle = Chronicle::read(&mut reader).await?;
        let delays = Delays::read(&mut reader, arguments.run).await?;
        let candles = match arguments.html {
            Some(_) => recorded_candles(&mut reader, arguments.run).await?,
            None => Vec::new(),
        };
        Ok((chronicle, delays, candles))
    })?;
    let run = match arguments.run {
        None => chronicle.last_run(),
        Some(number) => chronicle.run(number).ok_or_else(|| missing(number, &chronicle))?,
    };
    let (settings, simulation, strategies) =
        (run.settings.clone(), run.simulation.clone(), run.strategies.clone());
    let caveats = Caveats::of_trading(run.trading, &run.simulation);
    let audit_findings = chronicle.audit_findings(arguments.run);
    let scale = settings.money_scale;
    // What backtests of these bots assume, beside what the venue paid.
    let background = Background {
        assumed_payout_percent: Some(run.simulation.payout_percent.to_fraction() * 100.0),
        seen_payout_percent: delays.payout_percent(),
        ..Background::default()
    };
    let part = match arguments.run {
        None => whole(chronicle)?,
        Some(_) => part_of(&chronicle, run)?,
    };
    let report = Report::of(Run {
        book: &part.book,
        bots: &settings.bots,
        scale,
        balance: part.balance,
        final_balance: part.ledger.equity(),
        unsettled_stakes: part.ledger.open_stakes(),
        candles: part.candles,
        elapsed: duration(&part.span),
        known: None,
        span: part.span.clone(),
        prices: Prices::Fair,
        data_hash: None,
        journal_hash: part.last.hash.to_string(),
        notices: Vec::new(),
        delays: delays.lines(),
        audit_findings,
        caveats,
        verdicts: part.verdicts,
        background,
        sensitivity: None,
        census: None,
    });
    if let Some(path) = &arguments.html {
        let parts = PageParts {
            kind: "Report",
            book: &part.book,
            session: &settings,
            simulation: &simulation,
            strategies: &strategies,
            balance: part.balance,
            span: &part.span,
            prices: Prices::Fair,
            candles,
            without_sensitivity: WITHOUT_SENSITIVITY,
        };
        write_page(path, &report, parts)?;
    }
    if context.global.json {
        print_json(&report)?;
    } else {
        print(&report.to_string())?;
    }
    Ok(Ending::Done)
}

fn missing(number: u64, chronicle: &Chronicle) -> Failure {
    let last = chronicle.last_run().number;
    Failure::configuration(format!("--run {number}: the journal has runs 1 to {last}"))
}

fn whole(chronicle: Chronicle) -> Result<Part, Failure> {
    let first = chronicle.runs.first();
    let balance =
        first.map(|run| run.silent_session().map(|session| session.ledger().equity())).transpose()?;
    let began = first.map_or(chronicle.last.line.received, |run| run.began);
    Ok(Part {
        balance: balance.unwrap_or_default(),
        ledger: chronicle.session.ledger().clone(),
        candles: chronicle.candles.values().sum(),
        span: began..chronicle.last.line.received,
        verdicts: chronicle.session.verdicts().cloned().collect(),
        last: chronicle.last,
        book: chronicle.book,
    })
}

/// Earlier runs are folded into the Session alone; later ones tell what became of this one's intents.
fn part_of(chronicle: &Chronicle, run: &RecordedRun) -> Result<Part, Failure> {
    let mut fold = Fold::new(run.silent_session()?);
    let mut book = TradeBook::default();
    let (mut balance, mut ledger, mut last, mut verdicts) = (None, None, None, Vec::new());
    for stored in &chronicle.lines {
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
                book.see_action(&Action::Refuse(refused));
            }
        }
    }
    let last = last.unwrap_or_else(|| chronicle.last.clone());
    Ok(Part {
        book,
        balance: balance.unwrap_or_default(),
        ledger: ledger.unwrap_or_else(|| chronicle.session.ledger().clone()),
        candles: chronicle.candles.get(&run.number).copied().unwrap_or_default(),
        span: run.began..last.line.received,
        verdicts,
        last,
    })
}

fn duration(span: &Range<Millis>) -> Duration {
    Duration::from_millis(u64::try_from((span.end - span.start).get()).unwrap_or_default())
}
