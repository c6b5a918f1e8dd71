//! Checks this machine: candles, disk space, the journal and its lease.

use super::finding::{CHECK_TIMEOUT, Check, Finding, READ_TIMEOUT, run_blocking, with_timeout};
use super::prices::format_span;
use crate::candles::{self, CandleStore, DataName};
use crate::configuration::LoadedConfig;
use crate::journal::exposed_files_warning;
use candlewick_history::{Gap, gaps};
use candlewick_journal::{Holder, JournalError, JournalUrl, Lease, LeaseTerms, Reader};
use candlewick_records::{count_text, format_number, format_time};
use candlewick_sdk::{CandleSeries, Millis, Series};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Time from the Unix epoch, which was a Thursday, to noon of the first Saturday.
const FIRST_SATURDAY_NOON: Millis = Millis::from_seconds((2 * 24 + 12) * 3_600);
const WEEK: Millis = Millis::from_seconds(7 * 86_400);

pub(super) async fn check_data(loaded: &LoadedConfig, report: &mut dyn FnMut(Finding)) {
    let config = &loaded.config;
    let store = candles::candle_store(loaded);
    // Invalid names are reported as configuration problems.
    let mut names: Vec<DataName> = config.sandbox.data.iter().filter_map(|text| text.parse().ok()).collect();
    if config.sandbox.data.is_empty() {
        match candles::stored_series_for(&store.catalog, &config.bots) {
            Ok(stored) => names = stored,
            Err(error) => {
                report(Check::Data.fail(error.text(), "repair the catalog, or delete its damaged files"));
                return;
            }
        }
        if names.is_empty() {
            let text = "neither sandbox.data nor the catalog has candles for the bots; `live` requests candles from \
                        the venue, and `live --sandbox` generates candles, but `backtest` needs candle files";
            report(Check::Data.ok(text));
            return;
        }
    }
    let covered: Vec<Series> = names.iter().map(DataName::series).collect();
    for name in names {
        let late = format!("{name} could not be read within {} s", READ_TIMEOUT.as_secs());
        let late = Check::Data.warn(late, "check the disk");
        let store = store.clone();
        report(run_blocking(READ_TIMEOUT, late, move || read_candles(&name, &store)).await);
    }
    for bot in config.bots.iter().filter(|bot| !covered.contains(&bot.series())) {
        let series = bot.series();
        let Series { symbol, interval } = series;
        let remedy = format!("to backtest the bot, add {symbol}_{interval}.csv to sandbox.data");
        report(Check::Data.warn(format!("no file contains {series} for bot \"{}\"", bot.name), remedy));
    }
}

fn read_candles(name: &DataName, store: &CandleStore) -> Finding {
    match name.read(store, &mut |_| {}) {
        Ok(series) => judge_candles(series.candles()),
        Err(error) => Check::Data.fail(error.to_string(), "repair the file, or remove it from sandbox.data"),
    }
}

fn judge_candles(series: &CandleSeries) -> Finding {
    let day = |moment: Millis| format_time(moment, "%Y-%m-%d %H:%M");
    let all = gaps(series);
    let holes: Vec<&Gap> = all.iter().filter(|gap| !contains_weekend(gap)).collect();
    let closed = all.len() - holes.len();
    let text = format!(
        "{}: {}, {} to {}, weekend gaps: {closed}",
        series.series(),
        count_text(series.candles().len(), "candle", "candles"),
        day(series.start()),
        day(series.end())
    );
    match holes.iter().max_by_key(|gap| gap.missing) {
        None => Check::Data.ok(text),
        Some(longest) => Check::Data.warn(
            format!(
                "{text}, other gaps: {} (longest: {} candles from {})",
                holes.len(),
                longest.missing,
                day(longest.start)
            ),
            "fill the gaps; a trade is rejected (NoPrice) if it opens in a gap, and CANCELLED if it closes in a gap",
        ),
    }
}

/// Returns whether a gap contains Saturday noon UTC, when only crypto markets are open.
fn contains_weekend(gap: &Gap) -> bool {
    let week = (gap.start - FIRST_SATURDAY_NOON).floor_to(WEEK) + FIRST_SATURDAY_NOON;
    let next = if week < gap.start { week + WEEK } else { week };
    next < gap.end
}

const MIB: u64 = 1 << 20;
/// Minimum free space to start a live run. A full disk halts the run.
const MIN_FREE_BYTES: u64 = 64 * MIB;
const LOW_FREE_BYTES: u64 = 1_024 * MIB;

/// Checks the folder of the journal file, or the working directory if the journal is not a file.
pub(super) async fn check_disk(url: &JournalUrl) -> Finding {
    let file = url.file().map(Path::to_owned);
    let folder = match file.as_deref().and_then(Path::parent) {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let late = format!("{} does not answer", folder.display());
    let late = Check::Disk.fail(late, "check the disk, or set another journal.url");
    run_blocking(CHECK_TIMEOUT, late, move || inspect_folder(&folder, file.as_deref())).await
}

fn inspect_folder(folder: &Path, file: Option<&Path>) -> Finding {
    // Shows the absolute path if possible, because `.` says little.
    let shown = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = shown.display();
    if !folder.is_dir() {
        return Check::Disk.fail(format!("{shown} does not exist"), format!("run: mkdir -p {shown}"));
    }
    if let Err(error) = write_test_file(folder) {
        let text = format!("cannot write to {shown}: {error}");
        return Check::Disk.fail(text, "make the folder writable for this user, or set another journal.url");
    }
    if let Some(file) = file.filter(|file| file.exists())
        && let Err(error) = OpenOptions::new().append(true).open(file)
    {
        let text = format!("cannot write {}: {error}", file.display());
        return Check::Disk.fail(text, "make the file writable for this user, or set another journal.url");
    }
    match free_bytes(folder) {
        Ok(Some(free)) => judge_free_space(&format!("{shown} is writable"), free),
        Ok(None) => Check::Disk.ok(format!("{shown} is writable; its free space is unknown")),
        Err(error) => Check::Disk
            .warn(format!("{shown} is writable; its free space is unknown: {error}"), "check the disk"),
    }
}

fn judge_free_space(text: &str, free: u64) -> Finding {
    let text = format!("{text}; {} MiB free", format_number(free / MIB));
    let remedy = "free some disk space; on a full disk, a bot can neither write its journal nor open trades";
    if free < MIN_FREE_BYTES {
        Check::Disk.fail(text, remedy)
    } else if free < LOW_FREE_BYTES {
        Check::Disk.warn(text, remedy)
    } else {
        Check::Disk.ok(text)
    }
}

fn write_test_file(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".candlewick-doctor.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let written = file.write_all(b"doctor\n").and_then(|()| file.sync_all());
    fs::remove_file(&path).and(written)
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> io::Result<Option<u64>> {
    let room = rustix::fs::statvfs(folder)?;
    Ok(Some(room.f_bavail.saturating_mul(room.f_frsize)))
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Opens the journal as a reader, which needs no lease, and verifies its hash chain.
pub(super) async fn check_journal(url: &JournalUrl) -> Finding {
    let late = format!("{url} could not be read completely within {} s", READ_TIMEOUT.as_secs());
    let late = Check::Journal.warn(late, "the hash chain is not verified; retry when the disk is idle");
    with_timeout(READ_TIMEOUT, late, verify_hash_chain(url)).await
}

async fn verify_hash_chain(url: &JournalUrl) -> Finding {
    let Ok(opened) = tokio::time::timeout(CHECK_TIMEOUT, Reader::open(url)).await else {
        let text = format!("no answer from {url} within {} s", CHECK_TIMEOUT.as_secs());
        return Check::Journal.fail(text, "check journal.url, and that the database is running");
    };
    let verified = match opened {
        Ok(mut reader) => reader.verify().await,
        Err(JournalError::NotFound { .. }) => {
            return Check::Journal.ok(format!("no journal yet: the first run creates {url}"));
        }
        Err(error) => Err(error),
    };
    match verified {
        Ok(verified) => {
            if let Some((problem, remedy)) = exposed_files_warning(url) {
                return Check::Journal.warn(problem, remedy);
            }
            let outside = match verified.unsealed_exchanges {
                0 => String::new(),
                count => format!("; {count} HTTP exchanges of an earlier version are not part of the chain"),
            };
            Check::Journal.ok(format!("{url}: {} entries, hash chain intact{outside}", verified.entries))
        }
        Err(error) => Check::Journal.fail(error.to_string(), journal_hint(&error)),
    }
}

fn journal_hint(error: &JournalError) -> &'static str {
    match error {
        JournalError::BrokenChain { .. } => {
            "do not trust figures from this entry on; restore a backup, or start a new journal once no trade is open"
        }
        JournalError::Damaged { .. } => "restore a backup, or start a new journal once no trade is open",
        JournalError::NewerSchema { .. } => "use the newer program",
        JournalError::NotAJournal { .. } | JournalError::InvalidUrl { .. } => "correct journal.url",
        JournalError::NotWritable { .. } | JournalError::PermissionDenied { .. } => {
            "make the journal readable and writable for this user"
        }
        JournalError::DiskFull { .. } => "free disk space",
        JournalError::Unavailable { .. } => "check journal.url, and that the database is running",
        JournalError::FileGone { .. } => "restore the journal file",
        JournalError::WithoutPostgres { .. } => {
            "build with --features postgres, or set journal.url to a file"
        }
        JournalError::OlderSchema { .. } => "start a bot of this version to upgrade the journal",
        JournalError::HeldBy { .. } | JournalError::LostLease { .. } => "stop the other process",
        _ => "check the file and journal.url",
    }
}

pub(super) async fn check_lease(url: &JournalUrl) -> Finding {
    let late = Check::Lease.warn("unknown: the journal does not answer", "fix the journal first");
    let judged = async {
        let holder = match Reader::open(url).await {
            Ok(mut reader) => reader.current_lease().await,
            Err(JournalError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        match holder {
            Ok(None) => Check::Lease.ok("the journal is free"),
            Ok(Some(lease)) => {
                let judge_here = Holder::current_process("candlewick doctor");
                judge_lease(&lease, LeaseTerms::default().may_take_over(&lease, &judge_here))
            }
            Err(_) => Check::Lease.warn("unknown: the journal cannot be read", "fix the journal first"),
        }
    };
    with_timeout(CHECK_TIMEOUT, late, judged).await
}

fn judge_lease(lease: &Lease, is_over: bool) -> Finding {
    let Lease { holder, heartbeat_age: silence, duration, .. } = lease;
    let text = format!("{holder} holds the journal; its last heartbeat was {} ago", format_span(*silence));
    if is_over {
        let remedy = "the process ended or its lease expired; the next run takes over the journal";
        Check::Lease.warn(text, remedy)
    } else if silence > duration {
        Check::Lease.warn(text, "the process is alive, but hangs; wait until it recovers, or stop it")
    } else {
        Check::Lease.ok(format!("{text}, so a second run cannot start"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::FindingStatus;
    use super::*;
    use crate::tests::flat_candles;

    fn check_gaps(hours: &[i64], mark: FindingStatus, part: &str) {
        let finding = judge_candles(&flat_candles("EURUSD", "1h", hours.iter().copied()));
        assert!(finding.mark == mark && finding.text.contains(part), "{finding}");
    }

    #[test]
    fn reports_gaps_except_weekends() {
        // Hour 0 is Thursday 1970-01-01 00:00; Saturday noon is hour 60.
        check_gaps(
            &[0, 1, 2],
            FindingStatus::Ok,
            "EURUSD 1h: 3 candles, 1970-01-01 00:00 to 1970-01-01 03:00",
        );
        check_gaps(&[46, 47, 94, 95], FindingStatus::Ok, "weekend gaps: 1");
        check_gaps(&[59, 61], FindingStatus::Ok, "weekend gaps: 1");
        check_gaps(
            &[58, 60],
            FindingStatus::Warn,
            "gaps: 0, other gaps: 1 (longest: 1 candles from 1970-01-03",
        );
        check_gaps(&[0, 2, 8, 9], FindingStatus::Warn, "gaps: 2 (longest: 5 candles from 1970-01-01 03:00");
        check_gaps(&[47, 94, 96, 47 + 168, 94 + 168], FindingStatus::Warn, "weekend gaps: 2");
    }

    #[test]
    fn leaves_a_writable_folder_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let finding = inspect_folder(folder.path(), Some(&folder.path().join("none.db")));
        assert!(finding.mark != FindingStatus::Fail || finding.text.contains("MiB free"), "{finding}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = inspect_folder(&folder.path().join("no"), None);
        assert!(missing.mark == FindingStatus::Fail && missing.to_string().contains("mkdir -p"), "{missing}");
        let blocked = inspect_folder(folder.path(), Some(folder.path()));
        assert!(blocked.mark == FindingStatus::Fail && blocked.text.contains("cannot write"), "{blocked}");
    }

    #[test]
    fn warns_about_little_space_and_fails_without() {
        for (mib, mark) in [
            (63, FindingStatus::Fail),
            (64, FindingStatus::Warn),
            (1_023, FindingStatus::Warn),
            (1_024, FindingStatus::Ok),
        ] {
            assert_eq!(judge_free_space("x", mib * MIB).mark, mark, "{mib} MiB");
        }
    }

    #[test]
    fn warns_about_dead_or_silent_holders() {
        for (silence, is_over, mark, part) in [
            (3_000, false, FindingStatus::Ok, "candlewick 1 (process 7 on h) holds the journal"),
            (30_000, false, FindingStatus::Ok, "30.0 s ago, so a second run cannot start"),
            (30_001, false, FindingStatus::Warn, "alive, but hangs"),
            (3_000, true, FindingStatus::Warn, "takes over the journal"),
        ] {
            let program = "candlewick 1".into();
            let holder =
                Holder { program, pid: 7, start_ticks: None, host: "h".into(), pid_scope: String::new() };
            let (since, heartbeat) = (Millis::ZERO, Millis::MINUTE);
            let (silence, duration) = (Millis::new(silence), Millis::from_seconds(30));
            let finding =
                judge_lease(&Lease { holder, since, heartbeat, heartbeat_age: silence, duration }, is_over);
            assert!(finding.mark == mark && finding.to_string().contains(part), "{finding}");
        }
    }
}
