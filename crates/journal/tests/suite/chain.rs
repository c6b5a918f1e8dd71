//! Manual changes are detected, and the error names the first changed entry.

use super::fixture::{Fixture, commit_exchange, exchange, record_all};
use candlewick_journal::JournalError;

async fn write_six(fixture: &Fixture) {
    fixture.written(&["1", "2", "3", "4", "5", "6"]).await.close().await.unwrap();
}

pub(crate) async fn detects_each_manual_change(fixture: &Fixture) {
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

pub(crate) async fn rejects_shortened_journal(fixture: &Fixture) {
    write_six(fixture).await;
    fixture.run("DELETE FROM entries WHERE seq = 6").await;
    assert_fails!(fixture.open().await, JournalError::BrokenChain { seq: 6, .. });
}

pub(crate) async fn detects_each_change_of_an_exchange(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    for number in 1..=3 {
        record_all(&mut store, &[number.to_string()]);
        store.record_exchange(exchange(number, "a"));
        commit_exchange(&mut store, exchange(number, "b")).await;
    }
    store.close().await.unwrap();
    let verified = fixture.reader().await.verify().await.unwrap();
    assert_eq!((verified.entries, verified.exchanges, verified.unsealed_exchanges), (6, 6, 0));
    fixture.run("CREATE TABLE kept AS SELECT * FROM wires").await;
    // The second of the six lines seals exchanges 1 and 2, the fourth 3 and 4, and the sixth 5 and 6.
    for (change, expected) in [
        ("UPDATE wires SET response = '{ }' WHERE id = 3", 4),
        ("UPDATE wires SET response = NULL WHERE id = 1", 2),
        ("UPDATE wires SET request = 'c' WHERE id = 4", 4),
        ("UPDATE wires SET what = 'GET /' WHERE id = 2", 2),
        ("UPDATE wires SET status = 500 WHERE id = 6", 6),
        ("UPDATE wires SET sent = 6 WHERE id = 5", 6),
        ("UPDATE wires SET received = 10 WHERE id = 5", 6),
        ("UPDATE wires SET intent = 9 WHERE id = 3", 4),
        ("DELETE FROM wires WHERE id = 1", 2),
        ("DELETE FROM wires WHERE id = 4", 4),
        ("DELETE FROM wires WHERE id = 6", 6),
        ("DELETE FROM wires", 2),
        ("UPDATE wires SET id = 9 WHERE id = 6", 6),
        (
            "INSERT INTO wires SELECT 7, intent, sent, received, what, request, response, status FROM kept WHERE id = 6",
            6,
        ),
    ] {
        fixture.run(change).await;
        match fixture.reader().await.verify().await {
            Err(JournalError::BrokenChain { seq, reason, .. }) => {
                assert_eq!(seq, expected, "{change}");
                assert!(reason.starts_with("raw exchange "), "{change}: {reason}");
            }
            other => panic!("{change}: {other:?}"),
        }
        fixture.run("DELETE FROM wires; INSERT INTO wires SELECT * FROM kept").await;
        fixture.reader().await.verify().await.unwrap();
    }
    // After a walk, no changed exchange is returned.
    fixture.run("UPDATE wires SET response = '{ }' WHERE id = 3").await;
    let mut reader = fixture.reader().await;
    let mut walk = reader.walk(4).await.unwrap();
    while !walk.next().await.unwrap().is_empty() {}
    assert_eq!(reader.exchanges_of_intent(1).await.unwrap().len(), 2);
    assert_fails!(reader.exchanges_of_intent(2).await, JournalError::BrokenChain { seq: 4, .. });
}

pub(crate) async fn omits_exchanges_after_the_walk(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    commit_exchange(&mut store, exchange(7, "a")).await;
    let mut reader = fixture.reader().await;
    let mut walk = reader.walk(4).await.unwrap();
    while !walk.next().await.unwrap().is_empty() {}
    commit_exchange(&mut store, exchange(7, "b")).await;
    assert_eq!(reader.exchanges_of_intent(7).await.unwrap(), [exchange(7, "a")]);
    store.close().await.unwrap();
    reader.verify().await.unwrap();
    assert_eq!(reader.exchanges_of_intent(7).await.unwrap(), [exchange(7, "a"), exchange(7, "b")]);
}

pub(crate) async fn counts_exchanges_without_seals(fixture: &Fixture) {
    fixture.open().await.unwrap().close().await.unwrap();
    fixture
        .run("INSERT INTO wires VALUES (1, 7, 5, 9, 'GET /', '', '{}', 200), (2, 7, 6, 9, 'GET /', '', '{}', 200)")
        .await;
    let verified = fixture.reader().await.verify().await.unwrap();
    assert_eq!((verified.entries, verified.exchanges, verified.unsealed_exchanges), (0, 0, 2));
    let mut store = fixture.open().await.unwrap();
    store.record_exchange(exchange(7, "c"));
    store.close().await.unwrap();
    let verified = fixture.reader().await.verify().await.unwrap();
    assert_eq!((verified.entries, verified.exchanges, verified.unsealed_exchanges), (1, 1, 2));
    let mut reader = fixture.reader().await;
    assert_eq!(reader.exchanges_of_intent(7).await.unwrap().len(), 3);
    reader.verify().await.unwrap();
    assert_eq!(reader.count_unsealed_exchanges(7).await.unwrap(), 2);
}

pub(crate) async fn walk_returns_no_changed_line(fixture: &Fixture) {
    write_six(fixture).await;
    for (change, handed_out) in
        [("UPDATE entries SET body = '0' WHERE seq = 5", 4), ("DELETE FROM entries WHERE seq = 6", 6)]
    {
        fixture.run(change).await;
        let mut reader = fixture.reader().await;
        let mut walk = reader.walk(2).await.unwrap();
        let mut count = 0;
        let error = loop {
            match walk.next().await {
                Ok(page) => count += page.len(),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, JournalError::BrokenChain { .. }), "{error:?}");
        assert!(count <= handed_out && walk.head().seq < 6, "{change}: {count}");
        if change.starts_with("UPDATE") {
            fixture.run("UPDATE entries SET body = '5' WHERE seq = 5").await;
        }
    }
}
