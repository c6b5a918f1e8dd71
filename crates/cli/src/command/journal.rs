//! `journal`: maintenance of journals.

use super::report::read_report;
use crate::arguments::parse_long_duration;
use crate::command::inspect::to_csv;
use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::{show, show_as, write_folder};
use candlewick_app::recent::read_recent;
use candlewick_journal::{Compaction, Holder, JournalVerification, LeaseTerms, Reader, back_up};
use candlewick_records::{TradeFilter, TradeLine, count_text, format_number, format_utc};
use candlewick_runtime::{
    JournalCheck, Projection, ProjectionResult, RuntimeError, TablesCheck, check_journal, compact_journal,
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
    /// Verify that no entry was changed
    Verify(VerifyArguments),
    /// Copy a journal, even while a bot is running
    Backup(BackupArguments),
    /// Copy a journal without old candles and polled responses
    Compact(CompactArguments),
    /// Export trades, orders and performance figures as files for other programs
    Export(ExportArguments),
    /// Update the SQL tables of trades, orders and performance figures
    Project(ProjectionArguments),
}

pub(super) fn run(command: &JournalCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        JournalCommand::Verify(arguments) => run_verify(arguments, context),
        JournalCommand::Backup(arguments) => run_backup(arguments, context),
        JournalCommand::Compact(arguments) => run_compact(arguments, context),
        JournalCommand::Export(arguments) => run_export(arguments, context),
        JournalCommand::Project(arguments) => run_projection(arguments, context),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick journal verify\n  candlewick journal verify \
                  --journal run.db --json\n\nRecomputes the hash chain of all entries, the snapshots and the SQL tables. Exits with 5 on \
                  a mismatch. Store the hash of the last entry elsewhere to prove later that the journal was not rewritten.")]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct VerificationReport {
    journal: String,
    entries: u64,
    head_hash: String,
    raw_exchanges: u64,
    /// Number of requests and responses from earlier program versions, which the hash chain does not cover.
    raw_exchanges_outside: u64,
    snapshots: u64,
    /// Number of snapshots that this program version cannot check, by reason.
    snapshots_not_checked: BTreeMap<String, u64>,
    /// Last journal entry that the verified SQL tables cover. `None` if the tables are missing or incomplete.
    tables_up_to: Option<u64>,
    /// Data that a compaction has removed. `None` if the journal is complete.
    compacted: Option<Compaction>,
}

fn run_verify(arguments: &VerifyArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let JournalCheck { journal: verified, snapshots, tables, compaction } = block_on(async {
        let mut reader = Reader::open(&url).await.map_err(RuntimeError::from)?;
        check_journal(&mut reader).await
    })?;
    let verified = VerificationReport {
        journal: url.to_string(),
        entries: verified.entries,
        head_hash: verified.head_hash.to_string(),
        raw_exchanges: verified.exchanges,
        raw_exchanges_outside: verified.unsealed_exchanges,
        snapshots: snapshots.verified,
        snapshots_not_checked: snapshots.unverified,
        tables_up_to: match tables {
            TablesCheck::Sound { seq, .. } => Some(seq),
            TablesCheck::Absent => None,
        },
        compacted: compaction,
    };
    show(&verified, context.global)
}

impl fmt::Display for VerificationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, entries, head_hash, raw_exchanges, raw_exchanges_outside, .. } = self;
        write!(
            f,
            "{journal}: verified {} and {}; the last entry has the hash {head_hash}",
            count_text(*entries, "entry", "entries"),
            count_text(*raw_exchanges, "raw exchange", "raw exchanges")
        )?;
        if *raw_exchanges_outside > 0 {
            write!(
                f,
                "\n{raw_exchanges_outside} raw exchanges stored by an earlier version are not in the hash chain and were not verified"
            )?;
        }
        if self.snapshots > 0 {
            write!(f, "\n{} verified", count_text(self.snapshots, "snapshot", "snapshots"))?;
        }
        if let Some(seq) = self.tables_up_to {
            write!(f, "\nSQL tables verified up to entry {}", format_number(seq))?;
        }
        if let Some(compaction) = &self.compacted {
            write!(f, "\n{}; the omitted data cannot be verified", describe_compaction(compaction))?;
        }
        for (why, count) in &self.snapshots_not_checked {
            write!(f, "\n{count} snapshots not verified: {why}")?;
        }
        Ok(())
    }
}

pub(super) fn describe_compaction(compaction: &Compaction) -> String {
    let Compaction { of, since, candles, exchanges, .. } = compaction;
    format!(
        "compacted from {} entries (hash of the last entry: {}); omitted {candles} candles and {exchanges} raw exchanges before {}",
        of.seq,
        of.hash,
        format_utc(*since)
    )
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick journal backup 2026-01-05.db\n  candlewick journal backup /mnt/safe/run.db --journal run.db --json\n\n\
                  The copy is consistent, even while a bot is running. Other means of copying miss the entries in the \
                  -wal file. The copy is verified and readable only by its owner. To read or continue the copy, pass \
                  its name to --journal. Existing files are never replaced. Use pg_dump for a journal in PostgreSQL."
)]
pub(crate) struct BackupArguments {
    /// File to create
    file: PathBuf,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct CopiedJournal<'a> {
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
    verified: &JournalVerification,
    missing: Option<Compaction>,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    let (entries, head_hash) = (verified.entries, verified.head_hash.to_string());
    let rest =
        missing.as_ref().map(|missing| format!("\n{}", describe_compaction(missing))).unwrap_or_default();
    let name = file.display();
    let all = count_text(entries, "entry", "entries");
    let text = format!("{name}: {all}, verified; the last entry has the hash {head_hash}{rest}");
    show_as(&CopiedJournal { file, entries, head_hash, missing }, || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick journal compact small.db --keep 90d\n  candlewick journal compact small.db --keep 30d --journal run.db --json\n\n\
                  Omits old candles, and old raw exchanges that do not concern a trade, such as lists and wallets. Old \
                  means recorded more than --keep before the last entry. Trades, decisions, rejections, settlements, notes and exchanges \
                  about trades are retained unchanged. The first entry of the \
                  copy contains the hash of the original and lists the omitted data; the other entries have a new hash \
                  chain for `journal verify`. The copy is tested: a start from the copy continues with the same money, \
                  trades, limits and verdicts. The original is not changed; keep it if you need proof of the omitted \
                  data. Commands that need old \
                  candles (`parity`, `why`, the indicators of `explain`) report that they were omitted.\n\nStop the bot first, or compact a \
                  backup. Journals in PostgreSQL cannot be compacted."
)]
pub(crate) struct CompactArguments {
    /// File to create
    file: PathBuf,
    /// Maximum age of candles and polled responses to retain, such as 12h, 90d or 12w
    #[arg(long, value_name = "LENGTH", value_parser = parse_long_duration, default_value = "90d")]
    keep: Millis,
    #[command(flatten)]
    journal: JournalArguments,
}

fn run_compact(arguments: &CompactArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    if url.file().is_none() {
        let problem = anyhow::anyhow!("{url} is not a file: only journals in files can be compacted");
        return Err(Failure::new(FailureKind::Configuration, problem));
    }
    let holder = block_on(async {
        let held = Reader::open(&url).await?.current_lease().await?;
        Ok::<_, candlewick_journal::JournalError>(held)
    })?;
    let us = Holder::current_process("candlewick journal compact");
    if let Some(lease) = holder.filter(|lease| !LeaseTerms::default().may_take_over(lease, &us)) {
        let problem = anyhow::anyhow!(
            "{} is writing {url}: stop it, or compact a copy made by `candlewick journal backup`",
            lease.holder
        );
        return Err(Failure::new(FailureKind::JournalInUse, problem));
    }
    let (compaction, verified) = block_on(async {
        compact_journal(&url, &arguments.file, arguments.keep).await.map_err(unwrap_journal_error)
    })?;
    show_copy(&arguments.file, &verified, Some(compaction), context)
}

/// Unwraps a journal error, because [`RuntimeError`] reports every journal error as a failed write.
fn unwrap_journal_error(error: RuntimeError) -> Failure {
    match error {
        RuntimeError::Journal(error) => error.into(),
        other => other.into(),
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick journal export january\n  candlewick journal export january --format ndjson --journal run.db\n\n\
                  Creates a folder with the files `trades` (opened trades), `intents` (all orders) and `figures.json` (the output of \
                  `report --json`). The first two have the keys of `trades --json`. The folder appears only when complete; an existing \
                  folder is never changed. A running bot is not affected."
)]
pub(crate) struct ExportArguments {
    /// Folder to create
    folder: PathBuf,
    /// Format of the files `trades` and `intents`
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Comma-separated values with a header
    Csv,
    /// One JSON document per line
    Ndjson,
}

#[derive(Debug, Serialize)]
struct ExportSummary<'a> {
    folder: &'a Path,
    trades: usize,
    intents: usize,
}

fn run_export(arguments: &ExportArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load(context)?;
    let folder = &arguments.folder;
    if fs::symlink_metadata(folder).is_ok() {
        return Err(Failure::configuration(format!(
            "{} already exists: choose another folder",
            folder.display()
        )));
    }
    let contents = block_on(async { read_recent(&mut Reader::open(&url).await?).await })?;
    let intents = TradeFilter::default().apply(&contents)?;
    let (is_trade, every) = (|line: &&TradeLine| ["open", "settled"].contains(&line.state), intents.lines());
    let trades: Vec<&TradeLine> = every.iter().filter(is_trade).collect();
    let recorded = read_report((&loaded, &url), None, false)?;
    let figures = serde_json::to_string_pretty(&recorded.report);
    let figures = figures.map_err(Failure::unexpected)?;
    let ending = if arguments.format == ExportFormat::Csv { "csv" } else { "ndjson" };
    let files = [
        (format!("trades.{ending}"), serialize_lines(&trades, arguments.format)?),
        (format!("intents.{ending}"), serialize_lines(&every.iter().collect::<Vec<_>>(), arguments.format)?),
        ("figures.json".to_owned(), figures + "\n"),
    ];
    write_folder(folder, &files)
        .map_err(|error| Failure::configuration(format!("cannot write {}: {error}", folder.display())))?;
    let (trades, intents) = (trades.len(), every.len());
    let text =
        || format!("Exported {trades} trades, {intents} orders and the figures to {}", folder.display());
    show_as(&ExportSummary { folder, trades, intents }, text, context.global)
}

fn serialize_lines(lines: &[&TradeLine], format: ExportFormat) -> Result<String, Failure> {
    if format == ExportFormat::Csv {
        return to_csv(lines);
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line).map_err(Failure::unexpected)?);
        text.push('\n');
    }
    Ok(text)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick journal project\n  candlewick journal project --rebuild --journal run.db --json\n\n\
                  The tables `intents` and `figures` and the view `trades` are in the journal's database, for sqlite3 or psql. A \
                  running bot keeps them up to date within seconds. Use this command while no bot is running, for example \
                  after a crash or for a journal of an earlier version. Trading never reads the tables; `journal verify` checks them against the entries."
)]
pub(crate) struct ProjectionArguments {
    /// Rebuild the tables from all entries
    #[arg(long)]
    rebuild: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

#[derive(Debug, Serialize)]
struct ProjectedTables {
    journal: String,
    entries: u64,
    intents: u64,
}

fn run_projection(arguments: &ProjectionArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let projection = if arguments.rebuild { Projection::Rebuild } else { Projection::CatchUp };
    let holder = Holder::current_process("candlewick journal project");
    let ProjectionResult { last_entry, intents } =
        block_on(async { project_journal(&url, &holder, projection).await.map_err(unwrap_journal_error) })?;
    let (journal, entries) = (url.to_string(), last_entry.seq);
    let [orders, all] = [intents, entries].map(format_number);
    let text = format!("{journal}: the tables are up to date ({orders} orders, {all} entries)");
    show_as(&ProjectedTables { journal, entries, intents }, || text, context.global)
}
