//! What was changed by hand is found, and the first entry that is not as it was is named.

use super::fixture::{Fixture, record_all};
use candlewick_journal::{ChainHash, JournalError};

async fn write_six(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    record_all(&mut store, &["1", "2", "3", "4", "5", "6"]);
    store.commit().await.unwrap();
    store.close().await.unwrap();
}

pub(crate) async fn an_untouched_chain_holds(fixture: &Fixture) {
    let store = fixture.open().await.unwrap();
    let empty = fixture.reader().await.verify().await.unwrap();
    assert_eq!((empty.entries, empty.head_hash), (0, ChainHash::GENESIS));
    store.close().await.unwrap();
    write_six(fixture).await;
    assert_eq!(fixture.reader().await.verify().await.unwrap().entries, 6);
}

pub(crate) async fn each_change_by_hand_is_named(fixture: &Fixture) {
    write_six(fixture).await;
    fixture.run("CREATE TABLE kept AS SELECT * FROM entries").await;
    fixture.run("CREATE TABLE kept_lease AS SELECT * FROM lease").await;
    for (change, expected) in [
        ("UPDATE entries SET body = '0' WHERE seq = 3", 3),
        ("UPDATE entries SET at = at + 1 WHERE seq = 1", 1),
        ("UPDATE entries SET received = 0 WHERE seq = 6", 6),
        ("UPDATE entries SET intent = 0 WHERE seq = 2", 2),
        ("UPDATE entries SET run = 2 WHERE seq = 5", 5),
        ("UPDATE entries SET kind = 'action' WHERE seq = 4", 4),
        ("UPDATE entries SET kind = 'rumour' WHERE seq = 4", 4),
        ("UPDATE entries SET hash = 'none' WHERE seq = 5", 5),
        ("UPDATE entries SET hash = (SELECT hash FROM kept WHERE seq = 1) WHERE seq = 2", 2),
        ("DELETE FROM entries WHERE seq = 1", 1),
        ("DELETE FROM entries WHERE seq = 4", 4),
        ("DELETE FROM entries WHERE seq >= 5", 5),
        ("DELETE FROM entries", 1),
        ("UPDATE entries SET seq = 9 WHERE seq = 6", 6),
        (
            "INSERT INTO entries SELECT 7, run, kind, intent, at, received, body, hash FROM kept WHERE seq = 6",
            7,
        ),
        (
            "UPDATE entries SET body = (SELECT body FROM kept k WHERE k.seq = 5 - entries.seq) \
             WHERE seq IN (2, 3)",
            2,
        ),
    ] {
        fixture.run(change).await;
        match fixture.reader().await.verify().await {
            Err(JournalError::BrokenChain { seq, .. }) => assert_eq!(seq, expected, "{change}"),
            other => panic!("{change}: {other:?}"),
        }
        fixture.run("DELETE FROM entries").await;
        fixture.run("INSERT INTO entries SELECT * FROM kept").await;
        fixture.reader().await.verify().await.unwrap();
    }
}

pub(crate) async fn a_shortened_journal_is_not_written_on(fixture: &Fixture) {
    write_six(fixture).await;
    fixture.run("DELETE FROM entries WHERE seq = 6").await;
    match fixture.open().await.map(drop) {
        Err(JournalError::BrokenChain { seq, .. }) => assert_eq!(seq, 6),
        other => panic!("{other:?}"),
    }
}
