//! A journal can be read while it is written.

use super::fixture::{Fixture, commit, line};
use candlewick_journal::{Line, StoredLine};
use candlewick_sdk::Millis;

pub(crate) async fn reader_follows_a_writer(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    let mut reader = fixture.reader().await;
    for count in 1..=20_u64 {
        store.record(line(&count.to_string()));
        assert_eq!(reader.head().await.unwrap().seq, count - 1, "uncommitted lines are invisible");
        store.commit().await.unwrap();
        assert_eq!(reader.head().await.unwrap(), store.head());
        assert_eq!(reader.verify().await.unwrap().entries, count);
    }
    let page = reader.lines(7, 3).await.unwrap();
    assert_eq!(page.iter().map(|stored| stored.seq).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!(reader.lines(21, 3).await.unwrap(), []);

    // A verifying reader and the writer do not block each other.
    let writing = tokio::spawn(async move {
        for _ in 0..50 {
            commit(&mut store, &["more"]).await;
        }
    });
    while !writing.is_finished() {
        reader.verify().await.unwrap();
    }
    writing.await.unwrap();
    assert_eq!(reader.verify().await.unwrap().entries, 70);
}

pub(crate) async fn finds_lines_by_intent_and_time(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    for (intent, at) in [(None, 10), (Some(1), 20), (Some(2), 20), (Some(1), 15), (None, 30)] {
        store.record(Line { intent, at: Millis::new(at), ..line("x") });
    }
    store.commit().await.unwrap();
    let numbers = |lines: Vec<StoredLine>| lines.into_iter().map(|line| line.seq).collect::<Vec<_>>();
    let mut reader = fixture.reader().await;
    for (intent, expected) in [(1, vec![2, 4]), (2, vec![3]), (3, vec![])] {
        assert_eq!(numbers(reader.lines_of_intent(intent).await.unwrap()), expected);
    }
    for (from, to, limit, expected) in
        [(10, 20, 9, vec![1, 4]), (15, 31, 9, vec![2, 3, 4, 5]), (15, 31, 2, vec![2, 3]), (31, 99, 9, vec![])]
    {
        let found = reader.lines_between(Millis::new(from), Millis::new(to), limit).await.unwrap();
        assert_eq!(numbers(found), expected);
    }
}
