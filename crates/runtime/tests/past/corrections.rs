//! Corrected results in a journal: snapshot starts, full starts and tables agree on them.

use crate::prelude::*;

fn outcome(fold: &JournalFold, intent: u64) -> Option<Outcome> {
    fold.recovered().book().row(IntentId::new(intent)).and_then(|row| row.outcome)
}

async fn check_sound(folder: &Folder) {
    let checked = folder.check().await;
    assert!(checked.snapshots.verified > 0);
    assert!(matches!(checked.tables, TablesCheck::Sound { .. }), "{:?}", checked.tables);
}

#[tokio::test]
async fn start_from_a_snapshot_has_earlier_corrections() {
    let mut folder = Folder::new();
    folder.ends_in_doubt = false;
    folder.corrections = vec![(1, 20, 2), (1, 20, 18), (2, 15, 33)];
    for _ in 0..3 {
        folder.run(false).await;
    }
    let (whole, from_snapshot) = (folder.read_whole().await, folder.read().await.unwrap());
    assert_eq!(state(&from_snapshot), state(&whole));
    assert_eq!(from_snapshot.notice(), None);
    assert!(from_snapshot.lines_read() < whole.lines_read());
    for intent in [2, 18, 33] {
        assert_eq!(outcome(&from_snapshot, intent), Some(Outcome::Draw), "{intent}");
    }
    check_sound(&folder).await;
}

#[tokio::test]
async fn full_start_corrects_a_result_older_than_the_snapshot() {
    let mut folder = Folder::new();
    folder.run(false).await;
    let before = state(&folder.read().await.unwrap());
    folder.corrections = vec![(2, 0, 2)];
    folder.run(true).await;
    let fold = folder.read().await.unwrap();
    let notice = fold.notice().unwrap();
    assert!(notice.contains("a trade was settled before the snapshot and corrected after it"), "{notice}");
    assert_eq!(state(&fold), state(&folder.read_whole().await));
    assert_ne!(state(&fold).0, before.0);
    assert_eq!(outcome(&fold, 2), Some(Outcome::Draw));
    folder.run(false).await;
    let fold = JournalFold::read(&mut folder.reader().await, &settings(), 0).await.unwrap();
    assert_eq!((fold.notice(), outcome(&fold, 2)), (None, Some(Outcome::Draw)));
    check_sound(&folder).await;
}
