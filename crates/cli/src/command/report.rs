//! `report`: the figures of a journal, or of two runs side by side.

use super::Context;
use crate::comparison::Comparison;
use crate::failure::{Ending, Failure};
use crate::journal::JournalArguments;
use crate::output::{print, print_json};
use crate::report::{RecordedReport, Shown, write_page};
use clap::Args;
use std::path::PathBuf;

/// Of which run.
#[derive(Debug, Args)]
#[command(
    after_help = "The same figures as a backtest's, over all runs or one: that one's own intents, wherever they settled. \
                  The hash is that of the journal's last entry, the time that of the venue. --compare takes journals and \
                  pages that --html wrote, of backtests as of live runs.\n\nExamples:\n  candlewick report\n  candlewick \
                  report --journal run.db --run 2 --html report.html\n  candlewick report --compare before.html after.html"
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
    /// Two runs side by side: each a journal, or a page that --html wrote
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["run", "journal"])]
    compare: Vec<String>,
}

pub(super) fn run(arguments: &ReportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if let [first, second] = &arguments.compare[..] {
        return compare([first, second], arguments, context);
    }
    let (_, url) = arguments.journal.load(context)?;
    let shown = if arguments.html.is_some() { Shown::Candles } else { Shown::FiguresOnly };
    let recorded = RecordedReport::read(&url, arguments.run, shown)?;
    if let Some(path) = &arguments.html {
        write_page(path, &recorded.report, recorded.page())?;
    }
    if context.global.json {
        print_json(&recorded.report)?;
    } else {
        print(&recorded.report.to_string())?;
    }
    Ok(Ending::Done)
}

fn compare(
    named: [&String; 2],
    arguments: &ReportArguments,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let comparison = Comparison::read(named.map(String::as_str))?;
    if let Some(path) = &arguments.html {
        comparison.write_page(path)?;
    }
    if context.global.json {
        print_json(&comparison)?;
    } else {
        print(&comparison.to_string())?;
    }
    Ok(Ending::Done)
}
