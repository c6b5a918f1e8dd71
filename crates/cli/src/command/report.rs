//! `report` and `parity`: reports, comparisons and replays of recorded runs.

use crate::arguments::parse_journal;
use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::{show, write_file};
use candlewick_app::AppError;
use candlewick_app::configuration::{BaseLayer, LoadedConfig};
use candlewick_app::evidence::live_evidence;
use candlewick_journal::{JournalUrl, Reader};
use candlewick_records::{RecordedRuns, parity, read_recorded_candles};
use candlewick_report::comparison::Comparison;
use candlewick_report::page::{ParsedRun, write_comparison_page, write_run_page};
use candlewick_report::run::{PageParts, RecordedReport, RunReport, build_page};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick report\n  candlewick \
                  report --journal run.db --run 2 --html report.html\n  candlewick report --compare before.html after.html\n\n\
                  Shows the same figures as `backtest`, for all runs of a journal or for one run. The hash is the hash of the last journal \
                  entry. Times are venue times. --compare accepts journals and pages written with --html, of backtests and live runs.")]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Number of the run to report, starting at 1 [default: all runs]
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Self-contained HTML file for the report, with charts of candles and trades
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Two runs to compare: journals, or HTML reports written with --html
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["run", "journal"])]
    compare: Vec<String>,
}

pub(super) fn run_report(arguments: &ReportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if let [first, second] = &arguments.compare[..] {
        return compare([first, second], arguments, context);
    }
    let (loaded, url) = arguments.journal.load(context)?;
    let recorded = read_report((&loaded, &url), arguments.run, arguments.html.is_some())?;
    if let Some(path) = &arguments.html {
        write_page(path, &recorded.report, recorded.page_parts())?;
    }
    show(&recorded.report, context.global)
}

pub(super) fn write_page(path: &Path, report: &RunReport, parts: PageParts<'_>) -> Result<(), Failure> {
    let page = build_page(report, parts)?;
    write_file("--html", path, |file| write_run_page(&page, file))
}

pub(super) fn read_report(
    (loaded, url): (&LoadedConfig, &JournalUrl),
    run: Option<u64>,
    has_candles: bool,
) -> Result<RecordedReport, Failure> {
    block_on(async {
        let mut reader = Reader::open(url).await?;
        let part = RecordedRuns::read(&mut reader, run).await?;
        let candles = if has_candles { read_recorded_candles(&mut reader, run).await? } else { Vec::new() };
        let evidence = live_evidence(loaded, &mut reader).await?;
        Ok::<_, AppError>(RecordedReport::new(part, candles, evidence))
    })
}

fn read_run(name: &str, context: &Context<'_>) -> Result<ParsedRun, Failure> {
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html")) {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::configuration(format!("--compare {name}: {error}")))?;
        return ParsedRun::from_html(&text).ok_or_else(|| {
            let problem = anyhow::anyhow!("--compare {name}: the file is not a report page");
            let help = "write a report page with `backtest --html FILE` or `report --html FILE`";
            Failure::new(FailureKind::Data, problem).hint(help)
        });
    }
    let url: JournalUrl = parse_journal(name).map_err(Failure::configuration)?.parse()?;
    let loaded = LoadedConfig::read(&context.global.config, BaseLayer::Bare, Vec::new())?;
    let recorded = read_report((&loaded, &url), None, false)?;
    Ok(ParsedRun::from_run_page(&build_page(&recorded.report, recorded.page_parts())?))
}

fn compare(
    named: [&String; 2],
    arguments: &ReportArguments,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let [a, b] = named.map(String::as_str);
    let comparison = Comparison::new([(a, &read_run(a, context)?), (b, &read_run(b, context)?)]);
    if let Some(path) = &arguments.html {
        let page = comparison.page()?;
        write_file("--html", path, |file| write_comparison_page(&page, file))?;
    }
    show(&comparison, context.global)
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick parity\n  candlewick parity --journal run.db --json\n\n\
                  Replays every recorded event with the recorded settings and the same strategies, which must make the same decisions. Then simulates \
                  every recorded decision on the recorded candles and assigns a cause to each different outcome (latency, price_source, \
                  payout, refusal, gap, end_of_recording). Exits with 5 if an entry was changed, a decision differs, or a \
                  difference is unexplained. Reads the whole journal.")]
pub(crate) struct ParityArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_parity(arguments: &ParityArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let report = block_on(async { parity::check(&mut Reader::open(&url).await?, context.registry).await })?;
    show(&report, context.global)?;
    if report.ok {
        return Ok(Ending::Done);
    }
    Err(Failure::failed_check(report.problem()).hint(report.advice()))
}
