//! A fold that evicts rows held by snapshots and tables, compared with one that keeps everything.

use crate::prelude::*;
use crate::snapshots::PART;
use candlewick_engine::EdgeRow;
use candlewick_journal::JournalFollower as _;
use chacha20::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use std::collections::BTreeSet;

const SEEDS: u64 = 20;

fn rows(fold: &JournalFold) -> usize {
    fold.recovered().book().rows().len()
}

/// Records runs that each trade for half an hour of a day and leave no order in doubt.
async fn settled_on(days: usize) -> Folder {
    let mut folder = Folder::new();
    folder.ends_in_doubt = false;
    for _ in 0..days {
        folder.run(false).await;
    }
    folder
}

#[tokio::test]
async fn evicting_fold_writes_the_same_snapshots() {
    let folder = Folder::new();
    for is_killed in [false, true, false, false] {
        folder.run(is_killed).await;
    }
    let lines = folder.lines().await;
    let own = || lines.iter().filter(|stored| !is_snapshot(&stored.line.body));
    let (mut pieces, mut lost, mut held) = (0, 0, (0, 0));
    for seed in 0..SEEDS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let new = || JournalFold::new(&settings(), u64::from(EVERY)).unwrap().with_part_size(PART);
        let (mut all, mut few) = (new(), new());
        for stored in own() {
            all.on_line_stored(stored);
            few.on_line_stored(stored);
            while random.random_bool(0.8) {
                let (piece, same) = (all.next_snapshot_piece(false), few.next_snapshot_piece(false));
                assert_eq!(piece, same, "seed {seed}, entry {}", stored.seq);
                if piece.is_none() {
                    break;
                }
                pieces += 1;
                if random.random_bool(0.3) {
                    few.on_rows_complete();
                }
                if random.random_bool(0.2) {
                    all.on_snapshot_piece_failed("chance");
                    few.on_snapshot_piece_failed("chance");
                    lost += 1;
                } else {
                    all.on_snapshot_piece_stored(stored.head());
                    few.on_snapshot_piece_stored(stored.head());
                }
            }
            if random.random_bool(0.3) {
                few.on_rows_complete();
            }
        }
        held = (held.0 + rows(&few), held.1 + rows(&all));
        let under_way = |fold: &JournalFold| {
            let book = fold.recovered().book();
            let rows = book.rows().iter().filter(|row| !row.is_finished());
            rows.map(|row| book.stored_row(row.approved.intent())).collect::<Vec<_>>()
        };
        assert_eq!(serde_json::json!(under_way(&few)), serde_json::json!(under_way(&all)), "seed {seed}");
        assert!(!under_way(&few).is_empty());
    }
    assert!(pieces > 200 && lost > 20, "{pieces} pieces, {lost} of them lost");
    assert!(held.0 * 2 < held.1, "{} rows of {}", held.0, held.1);
}

#[tokio::test]
async fn start_leaves_trades_older_than_a_day_in_the_journal() {
    let mut folder = settled_on(6).await;
    let all = folder.read().await.unwrap();
    folder.remember = Some(Millis::HOUR);
    let few = folder.read().await.unwrap();
    // All trades of the first five days closed at least a day ago; twenty of them are among the last fifty.
    assert_eq!((all.recovered().evicted_count(), few.recovered().evicted_count()), (0, 130));
    assert_eq!((rows(&all), rows(&few)), (180, 50));
    folder.remember = Some(Millis::DAY * 4);
    assert_eq!(rows(&folder.read().await.unwrap()), 120, "four of six days are retained");
    assert_eq!(state(&few).0, state(&all).0, "the session must be equal");
    let kept = |fold: &JournalFold, intent| serde_json::json!(fold.recovered().book().stored_row(intent));
    for row in few.recovered().book().rows() {
        let intent = row.approved.intent();
        assert_eq!(kept(&few, intent), kept(&all, intent));
        assert_eq!(few.recovered().decisions()[&intent], all.recovered().decisions()[&intent]);
    }
    assert_eq!(few.recovered().displayed_lines(), all.recovered().displayed_lines());
}

#[tokio::test]
async fn reads_evicted_rows_and_trades_from_the_journal() {
    let folder = settled_on(6).await;
    let whole = folder.read().await.unwrap();
    let few = JournalFold::read_rows(&mut folder.reader().await, &settings()).await.unwrap();
    let (all, few) = (whole.recovered(), few.recovered());
    assert_eq!((few.book().rows().len(), few.evicted_count()), (50, 130));
    let read: Vec<_> = few.old_rows().chain(few.book().rows()).collect();
    assert_eq!(serde_json::json!(read), serde_json::json!(all.book().rows()));
    let few = JournalFold::read_trades(&mut folder.reader().await, &settings()).await.unwrap();
    assert_eq!(
        (rows(&few), few.recovered().evicted_count(), few.recovered().old_rows().count()),
        (50, 130, 0)
    );
    let runs: BTreeSet<_> = few.recovered().evicted_bots().iter().map(|(run, _)| *run).collect();
    assert_eq!(runs, (1..=5).collect());
    let (_, mut few, _) = few.into_parts();
    let (book, old) = (all.book(), few.take_old_trades());
    assert_eq!(old.len(), 130);
    for (old, row) in old.iter().zip(book.rows()) {
        let id = book.venue_id(row).unwrap();
        assert!(old.has_venue_id(id.as_str()) && !old.has_venue_id("another") && !old.is_settled_by_operator);
        assert_eq!((old.intent, old.bot), (row.approved.intent(), row.approved.bot()));
        assert_eq!(old.settled, row.settled_at.zip(row.outcome).map(|(at, end)| (at, end, row.profit)));
        assert_eq!(old.edge, EdgeRow::from_row(row));
    }
}

#[tokio::test]
async fn run_with_evicted_intents_continues_normally() {
    let mut folder = settled_on(5).await;
    folder.remember = Some(Millis::HOUR);
    for is_killed in [true, false, true, false] {
        assert!(rows(&folder.read().await.unwrap()) < 90);
        folder.run(is_killed).await;
    }
    folder.remember = None;
    let (whole, from_snapshot) = (folder.read_whole().await, folder.read().await.unwrap());
    assert_eq!((rows(&whole), state(&from_snapshot)), (270, state(&whole)));
    let checked = folder.check().await;
    let TablesCheck::Sound { intents, .. } = checked.tables else { panic!("{:?}", checked.tables) };
    assert_eq!(intents, 270);
}

#[tokio::test]
async fn start_without_tables_reads_every_intent() {
    let mut folder = settled_on(4).await;
    folder.remember = Some(Millis::HOUR);
    let left = async |folder: &Folder| folder.read().await.unwrap().recovered().evicted_count();
    assert_eq!(left(&folder).await, 70);
    folder.change("UPDATE projection SET is_complete = 0").await;
    assert_eq!(left(&folder).await, 0);
    folder.change("UPDATE projection SET is_complete = 1").await;
    assert_eq!(left(&folder).await, 70);
    folder.change("UPDATE projection SET hash = (SELECT hash FROM entries WHERE seq = 1)").await;
    assert_eq!(left(&folder).await, 0, "tables of another journal");
}

/// The trade of a request of the first day was not found within a day: nothing waits for it any more.
#[tokio::test]
async fn unopened_request_does_not_block_eviction_of_later_intents() {
    let mut folder = Folder::new();
    folder.run(false).await;
    folder.ends_in_doubt = false;
    for _ in 0..5 {
        folder.run(false).await;
    }
    folder.remember = Some(Millis::HOUR);
    let few = folder.read().await.unwrap();
    assert_eq!((few.recovered().evicted_count(), rows(&few)), (129, 51));
    folder.run(true).await;
    folder.remember = None;
    let (whole, few) = (folder.read_whole().await, folder.read().await.unwrap());
    assert_eq!((rows(&whole), state(&few)), (210, state(&whole)));
}
