//! `journal`: maintenance of journals.

use crate::arguments::parse_length;
use crate::command::inspect::to_csv;
use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::{show, show_as, write_folder};
use candlewick_app::recent::read_recent;
use candlewick_journal::{Compaction, Holder, LeaseTerms, Reader, Verified, back_up};
use candlewick_records::{RecordedRuns, TradeFilter, TradeLine, utc};
use candlewick_report::run::RecordedReport;
use candlewick_runtime::{
    JournalCheck, Projected, Projection, RuntimeError, TablesCheck, check_journal, compact_journal,
    project_journal,
};
use candlewick_sdk::Millis;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  candlewick journal verify\n  candlewick journal backup 2026-01-05.db --journal run.db\n  candlewick journal compact small.db --keep 90d\n  candlewick journal export january --journal run.db\n  candlewick journal project --rebuild"
)]
pub(crate) enum JournalCommand {
    /// Check that every entry is as it was written
    Verify(VerifyArguments),
    /// Copy a journal, also while a bot writes it
    Backup(BackupArguments),
    /// Copy a journal without its old candles and polls
    Compact(CompactArguments),
    /// Write trades, intents and figures as files for other programs
    Export(ExportArguments),
    /// Bring the tables of trades, intents and figures up to the last entry
    Project(ProjectArguments),
}

pub(super) fn run(command: &JournalCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        JournalCommand::Verify(arguments) => run_verify(arguments, context),
        JournalCommand::Backup(arguments) => run_backup(arguments, context),
        JournalCommand::Compact(arguments) => run_compact(arguments, context),
        JournalCommand::Export(arguments) => run_export(arguments, context),
        JournalCommand::Project(arguments) => run_project(arguments, context),
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Computes the chain of hashes again, from the first entry to the last, each snapshot from the entries \
                  before it, and the tables from the entries that they hold. Exit code 5 when one is not as it was written. The hash of the last entry stands for all before it: noted elsewhere, it shows later \
                  that nobody made the journal anew.\n\nExamples:\n  candlewick journal verify\n  candlewick journal verify \
                  --journal run.db --json"
)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct Sound {
    journal: String,
    entries: u64,
    head_hash: String,
    raw_exchanges: u64,
    /// Requests and answers outside the chain, because an earlier program version wrote them.
    raw_exchanges_outside: u64,
    snapshots: u64,
    /// Snapshots that this program cannot check, by reason.
    snapshots_not_checked: BTreeMap<String, u64>,
    /// Last entry of the verified tables; `None` if there are none or they are being built.
    tables_up_to: Option<u64>,
    /// What was omitted when the journal was compacted; `None` for a complete one.
    compacted: Option<Compaction>,
}

fn run_verify(arguments: &VerifyArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let JournalCheck { verified, snapshots, tables, compaction } = block_on(async {
        let mut reader = Reader::open(&url).await.map_err(RuntimeError::from)?;
        check_journal(&mut reader).await
    })?;
    let sound = Sound {
        journal: url.to_string(),
        entries: verified.entries,
        head_hash: verified.head_hash.to_string(),
        raw_exchanges: verified.exchanges,
        raw_exchanges_outside: verified.exchanges_outside,
        snapshots: snapshots.sound,
        snapshots_not_checked: snapshots.not_checked,
        tables_up_to: match tables {
            TablesCheck::Sound { seq, .. } => Some(seq),
            TablesCheck::Absent => None,
        },
        compacted: compaction,
    };
    show(&sound, context.global)
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, entries, head_hash, raw_exchanges, raw_exchanges_outside, .. } = self;
        write!(
            f,
            "{journal}: {entries} entries and {raw_exchanges} raw exchanges, each as it was written; the last entry has the \
             hash {head_hash}"
        )?;
        if *raw_exchanges_outside > 0 {
            write!(
                f,
                "\n{raw_exchanges_outside} raw exchanges of an earlier program lie outside the chain: nothing is said of them"
            )?;
        }
        if self.snapshots > 0 {
            write!(f, "\n{} snapshots, each what the entries before it come to", self.snapshots)?;
        }
        if let Some(seq) = self.tables_up_to {
            write!(f, "\nthe tables are what the entries up to {seq} come to")?;
        }
        if let Some(compaction) = &self.compacted {
            write!(f, "\n{}; nothing here shows that they were as they should be", left_out(compaction))?;
        }
        for (why, count) in &self.snapshots_not_checked {
            write!(f, "\n{count} snapshots not checked: {why}")?;
        }
        Ok(())
    }
}

pub(super) fn left_out(compaction: &Compaction) -> String {
    let Compaction { of, since, candles, exchanges, .. } = compaction;
    format!(
        "compacted from {} entries, the last with the hash {}: {candles} candles and {exchanges} raw exchanges before {} were left out",
        of.seq,
        of.hash,
        utc(*since)
    )
}

#[derive(Debug, Args)]
#[command(
    after_help = "A journal is copied as it stands at one moment, also while a bot writes it: its file alone, copied by other \
                  means, lacks what stands in the -wal file beside it. The copy is verified before it gets its name, is \
                  its owner's alone, and is held by no process: name it with --journal to read it or to go on with it. A file \
                  that is there is never replaced. A journal in PostgreSQL is copied with pg_dump.\n\nExamples:\n  \
                  candlewick journal backup 2026-01-05.db\n  candlewick journal backup /mnt/safe/run.db --journal run.db --json"
)]
pub(crate) struct BackupArguments {
    /// The file to make
    file: PathBuf,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct Copied<'a> {
    file: &'a Path,
    entries: u64,
    head_hash: String,
    #[serde(rename = "compacted", skip_serializing_if = "Option::is_none")]
    missing: Option<Compaction>,
}

fn run_backup(arguments: &BackupArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let verified = block_on(back_up(&url, &arguments.file))?;
    show_copy(&arguments.file, &verified, None, context)
}

fn show_copy(
    file: &Path,
    verified: &Verified,
    missing: Option<Compaction>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let (entries, head_hash) = (verified.entries, verified.head_hash.to_string());
    let rest = missing.as_ref().map(|missing| format!("\n{}", left_out(missing))).unwrap_or_default();
    let name = file.display();
    let text = format!("{name}: {entries} entries, verified; the last has the hash {head_hash}{rest}");
    show_as(&Copied { file, entries, head_hash, missing }, || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Candles go, and raw exchanges about no trade such as lists and wallets, where they are older than --keep at the \
                  journal's last entry. Trades, decisions, refusals, settlements, notes and the exchanges about trades stay, \
                  word for word. The first entry of the copy names the last one of the journal by its hash and says what was left out; \
                  the rest has a chain of its own, which `journal verify` checks. The copy gets its name once a start from it would go \
                  on from the same money, intents, limits and verdicts. The journal stays as it is: keep it where you may \
                  want to prove what is missing in the copy. What needs old candles (`parity`, `why`, the indicators of `explain`) says \
                  that they were left out.\n\nA journal that a bot writes is not compacted: stop the bot, or compact a \
                  backup to read it. A journal in PostgreSQL is none of this command's.\n\nExamples:\n  candlewick journal compact small.db --keep 90d\n  \
                  candlewick journal compact small.db --keep 30d --journal run.db --json"
)]
pub(crate) struct CompactArguments {
    /// The file to make
    file: PathBuf,
    /// How old candles and polls may be that are kept
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, default_value = "90d")]
    keep: Millis,
    #[command(flatten)]
    journal: JournalArguments,
}

fn run_compact(arguments: &CompactArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    if url.file().is_none() {
        let problem = anyhow::anyhow!("{url} lies on a server: only a journal in a file is compacted");
        return Err(Failure::new(FailureKind::Configuration, problem));
    }
    let holder = block_on(async {
        let held = Reader::open(&url).await?.holder().await?;
        Ok::<_, candlewick_journal::JournalError>(held)
    })?;
    let us = Holder::of_this_process("candlewick journal compact");
    if let Some(lease) = holder.filter(|lease| !LeaseTerms::default().is_over(lease, &us)) {
        let problem = anyhow::anyhow!(
            "{} writes {url}: stop it, or compact a copy that `candlewick journal backup` makes",
            lease.holder
        );
        return Err(Failure::new(FailureKind::JournalHeld, problem));
    }
    let (compaction, verified) = block_on(async {
        compact_journal(&url, &arguments.file, arguments.keep).await.map_err(without_wrapping)
    })?;
    show_copy(&arguments.file, &verified, Some(compaction), context)
}

/// A journal that cannot be read is no journal that cannot be written.
fn without_wrapping(error: RuntimeError) -> Failure {
    match error {
        RuntimeError::Journal(error) => error.into(),
        other => other.into(),
    }
}

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
struct Exported<'a> {
    folder: &'a Path,
    trades: usize,
    intents: usize,
}

fn run_export(arguments: &ExportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
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
    let figures = figures.map_err(Failure::unexpected)?;
    let ending = if arguments.format == Format::Csv { "csv" } else { "ndjson" };
    let files = [
        (format!("trades.{ending}"), text_of(&trades, arguments.format)?),
        (format!("intents.{ending}"), text_of(&every.iter().collect::<Vec<_>>(), arguments.format)?),
        ("figures.json".to_owned(), figures + "\n"),
    ];
    write_folder(folder, &files)
        .map_err(|error| Failure::configuration(format!("cannot write {}: {error}", folder.display())))?;
    let (trades, intents) = (trades.len(), every.len());
    let text = || format!("{}: {trades} trades of {intents} intents, and the figures", folder.display());
    show_as(&Exported { folder, trades, intents }, text, context.global)
}

fn text_of(lines: &[&TradeLine], format: Format) -> Result<String, Failure> {
    if format == Format::Csv {
        return to_csv(lines);
    }
    let mut text = String::new();
    for line in lines {
        let line = serde_json::to_string(line).map_err(Failure::unexpected)?;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

#[derive(Debug, Args)]
#[command(
    after_help = "The tables intents and figures and the view trades stand in the journal's own database, to be read with sqlite3 or psql; \
                  a bot keeps them within seconds of its entries, and catches up after a start. This command does the same where no \
                  bot runs: for a journal of an earlier program, or after a crash. Nothing that trades reads the tables; `journal verify` holds them to \
                  the entries.\n\nExamples:\n  candlewick journal project\n  candlewick journal project --rebuild --journal run.db --json"
)]
pub(crate) struct ProjectArguments {
    /// Empty the tables and make them again from the entries
    #[arg(long)]
    rebuild: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct UpToDate {
    journal: String,
    entries: u64,
    intents: u64,
}

fn run_project(arguments: &ProjectArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let projection = if arguments.rebuild { Projection::Anew } else { Projection::CatchUp };
    let holder = Holder::of_this_process("candlewick journal project");
    let Projected { up_to, intents } =
        block_on(async { project_journal(&url, &holder, projection).await.map_err(without_wrapping) })?;
    let (journal, entries) = (url.to_string(), up_to.seq);
    let text = format!("{journal}: the tables hold {intents} intents, up to entry {entries}");
    show_as(&UpToDate { journal, entries, intents }, || text, context.global)
}
