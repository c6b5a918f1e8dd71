//! One process holds a journal. Only dead holders, or silent remote ones, are replaced.

use super::fixture::{Fixture, commit, holder, holder_elsewhere, line, terms};
use candlewick_journal::{Holder, JournalError, Store};
use candlewick_sdk::Millis;

async fn open_as(fixture: &Fixture, holder: &Holder) -> Result<Store, JournalError> {
    Store::open_with_terms(&fixture.url, holder, &terms()).await
}

async fn open(fixture: &Fixture, program: &str, pid: u32) -> Result<Store, JournalError> {
    open_as(fixture, &holder(program, pid)).await
}

async fn second(fixture: &Fixture) -> Result<Store, JournalError> {
    open(fixture, "second", 2).await
}

async fn assert_lost(store: &mut Store, to: &str) {
    for error in [store.commit().await.unwrap_err(), store.heartbeat().await.unwrap_err()] {
        assert!(!error.is_temporary());
        let JournalError::LostLease { who, .. } = error else { panic!("{error:?}") };
        assert_eq!(who, format!("{to} (process 2 on here)"));
    }
}

pub(crate) async fn rejects_second_holder_and_names_the_first(fixture: &Fixture) {
    let mut first = open(fixture, "first", 1).await.unwrap();
    first.heartbeat().await.unwrap();
    fixture.age_lease(Millis::new(5_000)).await;
    let lease = fixture.reader().await.current_lease().await.unwrap().unwrap();
    assert_eq!(lease.holder, holder("first", 1));
    match second(fixture).await.map(drop).unwrap_err() {
        JournalError::HeldBy { who, since, held_for, heartbeat_age: silence, url } => {
            assert_eq!(who, "first (process 1 on here)");
            assert_eq!(since, lease.since);
            let bounds = Millis::new(5_000)..Millis::MINUTE;
            assert!(bounds.contains(&silence) && silence <= held_for, "{silence} {held_for}");
            assert_eq!(url, fixture.url.to_string());
        }
        other => panic!("{other:?}"),
    }
    commit(&mut first, &["1"]).await;
}

pub(crate) async fn closed_journal_is_free(fixture: &Fixture) {
    let mut first = open(fixture, "first", 1).await.unwrap();
    first.record(line("1"));
    first.close().await.unwrap();
    assert_eq!(fixture.reader().await.current_lease().await.unwrap(), None);
    assert_eq!(second(fixture).await.unwrap().head().seq, 1, "closing commits the buffer");
}

pub(crate) async fn living_local_holder_keeps_the_lease(fixture: &Fixture) {
    let mut first = open(fixture, "first", 1).await.unwrap();
    fixture.age_lease(Millis::DAY).await;
    assert_fails!(second(fixture).await, JournalError::HeldBy { .. });
    commit(&mut first, &["1"]).await;
    first.heartbeat().await.unwrap();
    let lease = fixture.reader().await.current_lease().await.unwrap().unwrap();
    assert!(lease.heartbeat_age < Millis::MINUTE, "{lease:?}");
}

pub(crate) async fn takes_over_from_a_holder_that_disappeared(fixture: &Fixture) {
    let mut first = open_as(fixture, &holder_elsewhere("first")).await.unwrap();
    fixture.age_lease(Millis::from_seconds(29)).await;
    assert_fails!(second(fixture).await, JournalError::HeldBy { .. });
    first.heartbeat().await.unwrap();
    fixture.age_lease(Millis::from_seconds(29)).await;
    assert_fails!(second(fixture).await, JournalError::HeldBy { .. });
    fixture.lose_sight_of_holder().await;
    second(fixture).await.unwrap();
}

pub(crate) async fn writes_nothing_after_losing_the_lease(fixture: &Fixture) {
    let mut first = open_as(fixture, &holder_elsewhere("first")).await.unwrap();
    commit(&mut first, &["1"]).await;
    fixture.lose_sight_of_holder().await;
    let mut second = self::second(fixture).await.unwrap();
    first.record(line("stray"));
    first.record_exchange(super::fixture::exchange(1, "stray"));
    for _ in 0..3 {
        assert_lost(&mut first, "second").await;
    }
    assert_eq!(first.pending_count(), 3);
    commit(&mut second, &["2"]).await;
    assert_lost(&mut first, "second").await;
    assert!(matches!(first.close().await, Err(JournalError::LostLease { .. })));
    assert_eq!(fixture.bodies().await, ["1", "2"]);
    assert_eq!(fixture.reader().await.exchanges_of_intent(1).await.unwrap(), []);
    second.heartbeat().await.unwrap();
}

pub(crate) async fn takeover_during_commits_leaves_one_writer(fixture: &Fixture) {
    let mut first = open_as(fixture, &holder_elsewhere("first")).await.unwrap();
    let (begun, mut has_begun) = tokio::sync::mpsc::channel(1);
    let writing = tokio::spawn(async move {
        let mut expected = Vec::new();
        loop {
            let body = format!("first {}", expected.len());
            first.record(line(&body));
            match first.commit().await {
                Ok(()) => expected.push(body),
                Err(JournalError::LostLease { .. }) => return expected,
                Err(error) => panic!("{error:?}"),
            }
            if expected.len() == 20 {
                begun.send(()).await.unwrap();
            }
        }
    });
    has_begun.recv().await.unwrap();
    fixture.lose_sight_of_holder().await;
    let mut second = second_amid_commits(fixture).await;
    for body in ["second 0", "second 1"] {
        commit(&mut second, &[body]).await;
    }
    let mut expected = writing.await.unwrap();
    expected.extend(["second 0".to_owned(), "second 1".to_owned()]);
    assert_eq!(fixture.bodies().await, expected);
}

/// Opens the journal again, with retries, because a busy writer can hold the lock at each attempt.
async fn second_amid_commits(fixture: &Fixture) -> Store {
    for _ in 0..20 {
        match second(fixture).await {
            Err(error) if error.is_temporary() => {}
            opened => return opened.unwrap(),
        }
    }
    panic!("the journal stayed busy");
}
