//! A fold that forgets what parts of snapshots and tables hold, against one that forgets nothing: both have the same snapshots kept.

use crate::snapshots::{EVERY, Folder, PART, settings};
use candlewick_journal::{Follower as _, is_snapshot};
use candlewick_runtime::JournalFold;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const SEEDS: u64 = 20;

fn rows(fold: &JournalFold) -> usize {
    fold.past().book().rows().len()
}

#[tokio::test]
async fn a_fold_that_forgets_keeps_the_snapshots_of_one_that_remembers() {
    let folder = Folder::new();
    for is_killed in [false, true, false, false] {
        folder.run(is_killed).await;
    }
    let lines = folder.reader().await.lines(1, 1_000_000).await.unwrap();
    let own = || lines.iter().filter(|stored| !is_snapshot(&stored.line.body));
    let (mut pieces, mut lost, mut held) = (0, 0, (0, 0));
    for seed in 0..SEEDS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let new = || JournalFold::new(&settings(), u64::from(EVERY)).unwrap().with_parts_of(PART);
        let (mut all, mut few) = (new(), new());
        for stored in own() {
            all.take(stored);
            few.take(stored);
            while random.random_bool(0.8) {
                let (piece, same) = (all.next_piece(false), few.next_piece(false));
                assert_eq!(piece, same, "seed {seed}, entry {}", stored.seq);
                if piece.is_none() {
                    break;
                }
                pieces += 1;
                // The tables may be complete at any moment, also while a piece is on its way.
                if random.random_bool(0.3) {
                    few.rows_complete();
                }
                if random.random_bool(0.2) {
                    all.not_recorded("chance");
                    few.not_recorded("chance");
                    lost += 1;
                } else {
                    all.recorded(stored.head());
                    few.recorded(stored.head());
                }
            }
            if random.random_bool(0.3) {
                few.rows_complete();
            }
        }
        held = (held.0 + rows(&few), held.1 + rows(&all));
        let under_way = |fold: &JournalFold| {
            let book = fold.past().book();
            let rows = book.rows().iter().filter(|row| !row.is_over());
            rows.map(|row| book.kept_row(row.approved.intent())).collect::<Vec<_>>()
        };
        assert_eq!(serde_json::json!(under_way(&few)), serde_json::json!(under_way(&all)), "seed {seed}");
        assert!(!under_way(&few).is_empty());
    }
    assert!(pieces > 200 && lost > 20, "{pieces} pieces, {lost} of them lost");
    assert!(held.0 * 2 < held.1, "{} rows of {}", held.0, held.1);
}
