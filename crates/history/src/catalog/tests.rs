//! The catalog stays correct with appends in any order, concurrent writers and crashes.

use super::{AppendCounts, Catalog, Manifest, Origin};
use crate::disk::{Disk, SystemDisk};
use crate::{HistoryError, data_hash};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

const LATER: i64 = 1_000_000;

fn empty() -> (tempfile::TempDir, Catalog) {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::new(folder.path());
    (folder, catalog)
}

fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.join("BTC%2FUSDT/1m")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn read(catalog: &Catalog) -> Vec<Row> {
    rows(catalog.read(series()).unwrap().candles().candles())
}

#[test]
fn remembers_empty_hours_once_per_source() {
    let (_folder, catalog) = empty();
    let minutes = |start, end| Millis::MINUTE * start..Millis::MINUTE * end;
    let empty_hours = || catalog.manifest(series()).unwrap().map(|manifest| manifest.empty_hours.len());
    catalog.record_empty_hours(series(), "a", &[minutes(2, 5)]).unwrap();
    assert_eq!(empty_hours(), None, "a series of which nothing is there has none");
    catalog.append(series(), &candles(&[(1, 1), (5, 1)]), &origin(1_000)).unwrap();
    catalog.record_empty_hours(series(), "a", &[minutes(2, 5), minutes(3, 4), minutes(2, 5)]).unwrap();
    assert_eq!(empty_hours(), Some(1));
    catalog.append(series(), &candles(&[(6, 1)]), &origin(1_000)).unwrap();
    let manifest = catalog.manifest(series()).unwrap().unwrap();
    let known = [("a", minutes(2, 5)), ("a", minutes(3, 5)), ("a", minutes(2, 6)), ("b", minutes(2, 5))]
        .map(|(source, stretch)| manifest.is_known_empty(source, &stretch));
    assert_eq!(known, [true, true, false, false]);
}

#[test]
fn append_counts_candles_and_keeps_first_seen_values() {
    let (_folder, catalog) = empty();
    let append = |rows: &[Row], at| catalog.append(series(), &candles(rows), &origin(at)).unwrap();
    let counts =
        |new, same, revised, forming| AppendCounts { new_candles: new, skipped: same, revised, forming };
    assert_eq!(append(&[(3, 30), (1, 10), (9, 90)], 9), counts(2, 0, 0, 1));
    assert_eq!(append(&[(1, 10), (2, 20), (3, 31)], 10), counts(1, 1, 1, 0));
    assert_eq!(append(&[(3, 31), (3, 30)], 11), counts(0, 2, 0, 0));
    assert_eq!(append(&[(10, 1)], 10), counts(0, 0, 0, 1));
    assert_eq!(append(&[], 10), counts(0, 0, 0, 0));
    assert_eq!(read(&catalog), [(1, 10), (2, 20), (3, 30)]);
    let revisions = catalog.revisions(series()).unwrap();
    assert_eq!(revisions.len(), 1);
    assert_eq!((revisions[0].seen_at, rows(&[revisions[0].candle])), (Millis::MINUTE * 10, vec![(3, 31)]));
    let manifest = catalog.manifest(series()).unwrap().unwrap();
    let source = &manifest.origins[0];
    assert_eq!((source.first_at, source.last_at), (Millis::MINUTE * 9, Millis::MINUTE * 11));
    assert_eq!((manifest.origins.len(), source.new, source.revised, manifest.revision_count()), (1, 3, 1, 1));
    let version = manifest.current_version().unwrap();
    assert_eq!(
        (version.candle_count(), version.start(), version.end()),
        (3, Millis::MINUTE, Millis::MINUTE * 4)
    );
}

#[test]
fn appends_to_newest_version_and_keeps_older_ones_readable() {
    let (_folder, catalog) = empty();
    catalog.append(series(), &candles(&[(1, 10), (2, 20)]), &origin(LATER)).unwrap();
    let repaired = CandleSeries::new(series(), candles(&[(1, 10), (2, 25)])).unwrap();
    assert_eq!(catalog.add_version(&repaired, "a spike is gone", &origin(LATER)).unwrap(), 2);
    catalog.append(series(), &candles(&[(3, 30)]), &origin(LATER)).unwrap();
    assert_eq!(read(&catalog), [(1, 10), (2, 25), (3, 30)]);
    let version = |number| catalog.read_version(series(), number).map(|read| rows(read.candles().candles()));
    assert_eq!(version(1).unwrap(), [(1, 10), (2, 20)]);
    assert_eq!(version(2).unwrap(), [(1, 10), (2, 25), (3, 30)]);
    assert!(version(3).unwrap_err().to_string().ends_with("holds no candles of BTC/USDT 1m in version 3"));
}

#[test]
fn repaired_values_stay_removed_but_corrections_are_appended() {
    let (_folder, catalog) = empty();
    let append = |rows: &[Row]| catalog.append(series(), &candles(rows), &origin(LATER)).unwrap();
    let counts = |new, same, revised| AppendCounts { new_candles: new, skipped: same, revised, forming: 0 };
    let repair = |rows: &[Row]| {
        let repaired = CandleSeries::new(series(), candles(rows)).unwrap();
        catalog.add_repair(&repaired, "repaired", &origin(LATER)).unwrap()
    };
    let as_it_came = [(1, 10), (2, 999), (3, 30), (4, 40), (5, 777)];
    append(&as_it_came);
    assert_eq!(repair(&[(1, 10), (3, 35), (4, 40)]), 2);
    assert_eq!(append(&as_it_came), counts(0, 5, 0));
    assert_eq!(read(&catalog), [(1, 10), (3, 35), (4, 40)]);
    assert_eq!(repair(&[(1, 10), (3, 35)]), 3);
    assert_eq!(append(&as_it_came), counts(0, 5, 0));
    let repaired: Vec<_> = catalog.repaired_candles(series()).unwrap().iter().map(|one| one.candle).collect();
    assert_eq!(rows(&repaired), [(2, 999), (3, 30), (4, 40), (5, 777)]);
    assert_eq!(append(&[(2, 20), (3, 31), (6, 60)]), counts(2, 0, 1));
    assert_eq!(read(&catalog), [(1, 10), (2, 20), (3, 35), (6, 60)]);
    assert_eq!(append(&as_it_came), counts(0, 5, 0), "not as a revision of the corrected value either");
    assert_eq!(rows(catalog.read_version(series(), 1).unwrap().candles().candles()), as_it_came);
}

#[test]
fn appending_a_day_writes_one_month() {
    let (folder, catalog) = empty();
    let month = 31 * 24 * 60;
    let year: Vec<Row> = (0..12).map(|number| (number * month, 1)).collect();
    catalog.append(series(), &candles(&year), &origin(LATER)).unwrap();
    let before = files(folder.path());
    catalog.append(series(), &candles(&[(11 * month + 1, 1)]), &origin(LATER)).unwrap();
    let after = files(folder.path());
    let new: Vec<_> = after.difference(&before).collect();
    assert!(new.len() == 1 && new[0].starts_with("1970-12-"), "{new:?}");
    assert_eq!(before.difference(&after).count(), 1, "the file that it replaces is gone");
}

#[test]
fn reports_missing_and_damaged_series() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::new(folder.path().join("absent"));
    assert!(catalog.series().unwrap().is_empty() && catalog.manifest(series()).unwrap().is_none());
    let error = catalog.read(series()).unwrap_err().to_string();
    assert!(error.ends_with("absent holds no candles of BTC/USDT 1m"), "{error}");
    catalog.append(series(), &candles(&[(1, 1), (2, 2)]), &origin(LATER)).unwrap();
    let five = Series { interval: "5m".parse().unwrap(), ..series() };
    let error = catalog.append(five, &candles(&[(5, 1), (6, 1)]), &origin(LATER)).unwrap_err().to_string();
    assert_eq!(error, "interval: the candle at 360000 is not aligned to the interval of BTC/USDT 5m");
    assert_eq!(catalog.series().unwrap(), [series()]);
}

#[test]
fn detects_replaced_file() {
    let (folder, catalog) = empty();
    catalog.append(series(), &candles(&[(1, 1)]), &origin(LATER)).unwrap();
    let manifest = catalog.manifest(series()).unwrap().unwrap();
    let path =
        folder.path().join("BTC%2FUSDT/1m").join(&manifest.current_version().unwrap().segments[0].file);
    catalog.read(series()).unwrap();
    std::fs::remove_file(
        path.with_file_name(format!("{}.candles", manifest.current_version().unwrap().data_hash)),
    )
    .unwrap();
    std::fs::write(&path, crate::parquet::to_parquet(&candles(&[(1, 2)]), &[])).unwrap();
    let error = catalog.read(series()).unwrap_err();
    let HistoryError::InvalidFile { problem, .. } = &error else { panic!("{error}") };
    assert!(problem.contains("do not match the manifest"), "{error}");
    std::fs::write(&path, b"PAR1 nonsense PAR1").unwrap();
    assert!(matches!(catalog.read(series()).unwrap_err(), HistoryError::InvalidFile { .. }));
    std::fs::write(folder.path().join("BTC%2FUSDT/1m/manifest.json"), "{}").unwrap();
    let error = catalog.manifest(series()).unwrap_err().to_string();
    assert!(error.contains("manifest.json: the manifest is invalid"), "{error}");
}

#[test]
fn writers_do_not_interleave_and_readers_see_complete_states() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<Row> = (0..240).map(|minute| (minute, 7)).collect();
    let catalog = Catalog::new(folder.path());
    catalog.append(series(), &candles(&all[..1]), &origin(LATER)).unwrap();
    std::thread::scope(|scope| {
        let writer = |first: usize| {
            let (catalog, all) = (&catalog, &all);
            scope.spawn(move || {
                for part in all.chunks(8).skip(first).step_by(3) {
                    catalog.append(series(), &candles(part), &origin(LATER)).unwrap();
                }
            })
        };
        let writers = [0, 1, 2, 0].map(writer);
        let mut most = 0;
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let seen = read(&catalog);
            assert!(seen.len() >= most && seen.iter().all(|(_, price)| *price == 7));
            most = seen.len();
        }
    });
    assert_eq!(read(&catalog), all);
}

fn few_minutes() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![0, 1, 2, 3, 44_639, 44_640, 50_000, 90_000])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn keeps_first_seen_values_in_any_order_and_overlap(
        batches in prop::collection::vec(
            prop::collection::vec((few_minutes(), 1_u32..4), 0..8),
            1..6,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::new(folder.path());
        let mut first_seen: BTreeMap<i64, u32> = BTreeMap::new();
        let mut revised: BTreeSet<Row> = BTreeSet::new();
        for batch in &batches {
            let appended = catalog.append(series(), &candles(batch), &origin(LATER)).unwrap();
            let mut expected = AppendCounts::default();
            let mut ordered = batch.clone();
            ordered.sort_by_key(|(minute, _)| *minute);
            for (minute, price) in ordered {
                match first_seen.get(&minute) {
                    None => {
                        first_seen.insert(minute, price);
                        expected.new_candles += 1;
                    }
                    Some(known) if *known != price && revised.insert((minute, price)) => expected.revised += 1,
                    Some(_) => expected.skipped += 1,
                }
            }
            prop_assert_eq!(appended, expected);
        }
        let expected: Vec<Row> = first_seen.into_iter().collect();
        let Ok(whole) = catalog.read(series()) else {
            prop_assert!(expected.is_empty());
            return Ok(());
        };
        prop_assert_eq!(rows(whole.candles().candles()), expected.clone());
        prop_assert_eq!(whole.hash(), data_hash(&[CandleSeries::new(series(), candles(&expected)).unwrap()]));
        let kept = catalog.revisions(series()).unwrap();
        prop_assert_eq!(kept.iter().map(|revision| rows(&[revision.candle])[0]).collect::<BTreeSet<_>>(), revised);
    }
}

#[test]
fn series_are_listed_by_symbol_and_interval() {
    let (folder, catalog) = empty();
    for (symbol, interval) in [("B", "1m"), ("A", "5m"), ("A", "1m")] {
        let series =
            Series { symbol: symbol.parse().unwrap(), interval: interval.parse::<Interval>().unwrap() };
        catalog.append(series, &candles(&[(5, 1)]), &origin(LATER)).unwrap();
    }
    std::fs::create_dir_all(folder.path().join("C/not-an-interval")).unwrap();
    let found: Vec<String> = catalog.series().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["A 1m", "A 5m", "B 1m"]);
}

fn on(folder: &Path, disk: &Arc<FailingDisk>) -> Catalog {
    Catalog { folder: folder.to_owned(), disk: disk.clone() }
}

type State = (Vec<Row>, Vec<Row>, Option<Manifest>);

fn state(folder: &Path) -> State {
    let catalog = Catalog::new(folder);
    let read = catalog.read(series()).map(|read| rows(read.candles().candles())).unwrap_or_default();
    let revisions = catalog.revisions(series()).unwrap();
    let revised = revisions.iter().map(|revision| rows(&[revision.candle])[0]).collect();
    let manifest = catalog.manifest(series()).unwrap();
    let manifest = manifest.map(|mut manifest| {
        manifest.origins.clear();
        manifest
    });
    (read, revised, manifest)
}

fn append(catalog: &Catalog, rows: &[Row]) -> bool {
    catalog.append(series(), &candles(rows), &origin(LATER)).is_ok()
}

fn check(first: &[Row], second: &[Row]) {
    let whole = tempfile::tempdir().unwrap();
    let endless = Arc::new(FailingDisk::after(u32::MAX));
    let mut states = vec![state(whole.path())];
    for rows in [first, second] {
        assert!(append(&on(whole.path(), &endless), rows));
        states.push(state(whole.path()));
    }
    for steps in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let endless = Arc::new(FailingDisk::after(u32::MAX));
        append(&on(folder.path(), &endless), first);
        let disk = Arc::new(FailingDisk::after(steps));
        let done = append(&on(folder.path(), &disk), second);
        let left = state(folder.path());
        assert!(left == states[1] || left == states[2], "after {steps} steps: {left:?}");
        assert!(!done || left == states[2], "a completed append is stored");
        assert!(append(&on(folder.path(), &endless), second));
        assert_eq!(state(folder.path()), states[2], "repeated after a crash at step {steps}");
        let is_partial = |name: &String| name.ends_with(".partial");
        assert!(!files(folder.path()).iter().any(is_partial), "leftovers are swept away");
        if !disk.has_crashed() {
            assert!(steps > 5, "{steps} steps are fewer than the manifest alone takes");
            break;
        }
    }
}

struct FullDisk(AtomicU32);

impl Disk for FullDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let room = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        room.map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        SystemDisk.write(file, bytes)
    }
}

#[test]
fn failed_append_leaves_no_files_on_a_full_disk() {
    let (january, both) = ([(1, 10)], [(1, 10), (31 * 24 * 60, 40)]);
    let segments = |folder: &Path| -> BTreeSet<String> {
        files(folder).into_iter().filter(|name| name.ends_with(".parquet")).collect()
    };
    for writes in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(FullDisk(AtomicU32::new(writes)));
        let full = Catalog { folder: folder.path().to_owned(), disk };
        assert!(!append(&full, &both), "{writes} writes");
        assert!(segments(folder.path()).is_empty(), "{writes} writes");
        assert!(append(&Catalog::new(folder.path()), &january));
        let before = segments(folder.path());
        let disk = Arc::new(FullDisk(AtomicU32::new(writes.min(1))));
        assert!(!append(&Catalog { folder: folder.path().to_owned(), disk }, &both));
        assert_eq!((segments(folder.path()), before.len()), (before, 1), "{writes} writes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn crash_during_append_leaves_state_before_or_after(
        first in prop::collection::vec((few_minutes(), 1_u32..4), 1..4),
        second in prop::collection::vec((few_minutes(), 1_u32..4), 4..8),
    ) {
        check(&first, &[&second[..], &[(60_000, 1)]].concat());
    }
}

/// Open time in minutes and price.
type Row = (i64, u32);

fn series() -> Series {
    Series { symbol: "BTC/USDT".parse().unwrap(), interval: Interval::MINUTE }
}

fn candle((minute, price): Row) -> Candle {
    let price = f64::from(price);
    let numbers = Ohlcv { open: price, high: price + 1.0, low: price, close: price, volume: 1.0 };
    Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
}

fn candles(rows: &[Row]) -> Vec<Candle> {
    rows.iter().copied().map(candle).collect()
}

fn rows(candles: &[Candle]) -> Vec<Row> {
    candles.iter().map(|candle| (candle.time().get() / 60_000, candle.open() as u32)).collect()
}

fn origin(minute: i64) -> Origin {
    let fetched_at = Millis::MINUTE * minute;
    Origin { source: "test".to_owned(), licence: None, fetched_at, files: Vec::new() }
}

/// A disk that crashes in the middle of a given step.
/// Asserts that files are durable before they are renamed, and that the manifest is written last.
struct FailingDisk {
    state: Mutex<DiskState>,
}

struct DiskState {
    steps: u32,
    open: PathBuf,
    volatile: HashSet<PathBuf>,
}

impl FailingDisk {
    fn after(steps: u32) -> Self {
        Self { state: Mutex::new(DiskState { steps, open: PathBuf::new(), volatile: HashSet::new() }) }
    }

    fn has_crashed(&self) -> bool {
        self.state.lock().unwrap().steps == 0
    }

    fn step(&self, act: impl FnOnce(&mut DiskState) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.steps = state.steps.saturating_sub(1);
        if state.steps == 0 {
            return Err(io::Error::other("the machine has crashed"));
        }
        act(&mut state)
    }
}

impl Disk for FailingDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.step(|state| {
            state.open = path.to_owned();
            state.volatile.insert(path.to_owned());
            Ok(())
        })?;
        SystemDisk.create(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.step(|_| Ok(())) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        SystemDisk.write(file, bytes)
    }

    fn sync(&self, _file: &File) -> io::Result<()> {
        self.step(|state| {
            let open = state.open.clone();
            state.volatile.remove(&open);
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|state| {
            assert!(!state.volatile.contains(from), "{} is renamed before it is durable", from.display());
            let is_manifest = to.ends_with("manifest.json");
            assert!(!is_manifest || state.volatile.is_empty(), "{:?} may be lost", state.volatile);
            state.volatile.insert(to.to_owned());
            SystemDisk.rename(from, to)
        })
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step(|state| {
            state.volatile.retain(|path| path.parent() != Some(folder));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|_| SystemDisk.remove(path))
    }
}
