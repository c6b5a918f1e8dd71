//! `journal export`: trades, intents and figures as files for other programs.

use crate::command::trades::to_csv;
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::{show, write_folder};
use candlewick_app::recent::read_recent;
use candlewick_journal::Reader;
use candlewick_records::{RecordedRuns, TradeFilter, TradeLine};
use candlewick_report::run::RecordedReport;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt;
use std::fs;
use std::path::PathBuf;

/// Of which journal, and where to.
#[derive(Debug, Args)]
#[command(
    after_help = "Makes a folder with `trades` (what became a trade), `intents` (every request, whatever became of it), with the keys \
                  of `trades --json`, and `figures.json`, which is what `report --json` prints. The folder is there with all \
                  of its files, or not at all; one that is there is left alone. It may be read while a bot runs.\n\nExamples:\n  \
                  candlewick journal export january\n  candlewick journal export january --format ndjson --journal run.db"
)]
pub(crate) struct ExportArguments {
    /// The folder to make
    folder: PathBuf,
    /// How trades and intents are written
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A header, then a line each
    Csv,
    /// A JSON document a line
    Ndjson,
}

#[derive(Debug, Serialize)]
struct Exported {
    folder: PathBuf,
    trades: usize,
    intents: usize,
}

pub(super) fn run(arguments: &ExportArguments, context: &Context<'_>) -> Result<(), Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let folder = &arguments.folder;
    if fs::symlink_metadata(folder).is_ok() {
        return Err(Failure::configuration(format!("{} exists already", folder.display())));
    }
    let contents = block_on(async { read_recent(&mut Reader::open(&url).await?).await })?;
    let intents = TradeFilter::default().apply(&contents)?;
    let (is_trade, every) = (|line: &&TradeLine| ["open", "settled"].contains(&line.state), intents.lines());
    let trades: Vec<&TradeLine> = every.iter().filter(is_trade).collect();
    let runs = block_on(async { RecordedRuns::read(&mut Reader::open(&url).await?, None).await })?;
    let figures = serde_json::to_string_pretty(&RecordedReport::of(runs, Vec::new()).report);
    let figures = figures.map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
    let ending = if arguments.format == Format::Csv { "csv" } else { "ndjson" };
    let files = [
        (format!("trades.{ending}"), text_of(&trades, arguments.format)?),
        (format!("intents.{ending}"), text_of(&every.iter().collect::<Vec<_>>(), arguments.format)?),
        ("figures.json".to_owned(), figures + "\n"),
    ];
    write_folder(folder, &files)
        .map_err(|error| Failure::configuration(format!("cannot write {}: {error}", folder.display())))?;
    let exported = Exported { folder: folder.clone(), trades: trades.len(), intents: every.len() };
    show(&exported, context.global)
}

fn text_of(lines: &[&TradeLine], format: Format) -> Result<String, Failure> {
    if format == Format::Csv {
        return to_csv(lines);
    }
    let mut text = String::new();
    for line in lines {
        let line =
            serde_json::to_string(line).map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, trades, intents } = self;
        write!(f, "{}: {trades} trades of {intents} intents, and the figures", folder.display())
    }
}
