//! Crash tests of appends: the series is in its old or its new state, and a retry succeeds.

use super::testing::{FailingDisk, Row, candles, origin, rows, series};
use super::{Catalog, Manifest};
use crate::disk::{Disk, SystemDisk};
use proptest::prelude::*;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const LATER: i64 = 1_000_000;

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
        assert!(!done || left == states[2], "what was answered is there");
        assert!(append(&on(folder.path(), &endless), second));
        assert_eq!(state(folder.path()), states[2], "repeated after a crash at step {steps}");
        let partial = std::fs::read_dir(folder.path().join("BTC%2FUSDT/1m")).unwrap();
        let partial =
            partial.filter(|entry| entry.as_ref().unwrap().path().extension() == Some("partial".as_ref()));
        assert_eq!(partial.count(), 0, "leftovers are swept away");
        if !disk.has_crashed() {
            assert!(steps > 5, "{steps} steps are fewer than the manifest alone takes");
            break;
        }
    }
}

#[test]
fn a_crash_at_any_step_leaves_one_of_two_states() {
    // Two months are touched, one of them anew, and one value is revised.
    let february = 31 * 24 * 60;
    check(&[(1, 10), (2, 20)], &[(2, 21), (3, 30), (february, 40)]);
}

struct FullDisk {
    writes: AtomicU32,
}

impl Disk for FullDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        SystemDisk.create(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let room = self.writes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        room.map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        SystemDisk.write(file, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        SystemDisk.sync(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        SystemDisk.rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        SystemDisk.sync_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        SystemDisk.remove(path)
    }
}

#[test]
fn a_failed_append_leaves_no_files_on_a_full_disk() {
    // Two months, each a file.
    let (january, both) = ([(1, 10)], [(1, 10), (31 * 24 * 60, 40)]);
    let files = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder.join("BTC%2FUSDT/1m")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".parquet")).collect();
        names.sort();
        names
    };
    for writes in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(FullDisk { writes: AtomicU32::new(writes) });
        let full = Catalog { folder: folder.path().to_owned(), disk };
        assert!(!append(&full, &both), "{writes} writes");
        assert_eq!(files(folder.path()), Vec::<String>::new(), "{writes} writes");
        // What is in force stays.
        assert!(append(&Catalog::new(folder.path()), &january));
        let before = files(folder.path());
        let disk = Arc::new(FullDisk { writes: AtomicU32::new(writes.min(1)) });
        assert!(!append(&Catalog { folder: folder.path().to_owned(), disk }, &both));
        assert_eq!(files(folder.path()), before, "{writes} writes");
        assert_eq!(before.len(), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_crash_at_any_step_of_any_append_leaves_one_of_two_states(
        first in prop::collection::vec((0_i64..100_000, 1_u32..4), 1..4),
        second in prop::collection::vec((0_i64..100_000, 1_u32..4), 4..8),
    ) {
        check(&first, &second);
    }
}
