//! A crash at any step of an append leaves the series as it was or as it becomes, and the append can be repeated.

use super::testing::{FailingDisk, Row, candles, origin, rows, series};
use super::{Catalog, Manifest};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Long after every candle of these tests.
const LATER: i64 = 1_000_000;

fn on(folder: &Path, disk: &Arc<FailingDisk>) -> Catalog {
    Catalog { folder: folder.to_owned(), disk: disk.clone() }
}

/// Candles, revisions, and the manifest without its counts of origins.
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
