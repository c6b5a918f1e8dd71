//! Lines are stored unchanged and in order.

use super::fixture::{Fixture, commit, commit_exchange, exchange, head_of, line, listing, record_all};
use candlewick_journal::{Line, LineKind, LoggedExchange, MAX_EXCHANGE_BYTES};
use candlewick_sdk::Millis;

pub(crate) async fn lines_keep_their_order_and_fields(fixture: &Fixture) {
    let lines: Vec<Line> = [LineKind::Run, LineKind::Event, LineKind::Action, LineKind::Note]
        .into_iter()
        .zip([None, Some(0), Some(7), Some(u64::MAX)])
        .enumerate()
        .map(|(place, (kind, intent))| Line {
            run: [1, 2, u64::MAX, 0][place],
            kind,
            intent,
            at: Millis::new([0, -5, i64::MIN, i64::MAX][place]),
            received: Millis::new(place as i64),
            body: format!("{{\"n\":{place}}}"),
        })
        .collect();
    let mut store = fixture.open().await.unwrap();
    assert_eq!((store.head().seq, store.pending_count()), (0, 0));
    lines.iter().cloned().for_each(|line| store.record(line));
    assert_eq!(store.pending_count(), 4);
    store.commit().await.unwrap();
    assert_eq!((store.head().seq, store.pending_count()), (4, 0));

    let mut reader = fixture.reader().await;
    let stored = reader.lines(1, 10).await.unwrap();
    assert_eq!(stored.iter().map(|stored| stored.line.clone()).collect::<Vec<_>>(), lines);
    assert_eq!(head_of(&stored[3]), store.head());
    assert_eq!(reader.head().await.unwrap(), store.head());
    assert_eq!(reader.verify().await.unwrap().head_hash, store.head().hash);
}

pub(crate) async fn uncommitted_lines_do_not_exist(fixture: &Fixture) {
    let mut store = fixture.written(&["1"]).await;
    store.commit().await.unwrap();
    store.record(line("2"));
    drop(store);
    assert_eq!(fixture.bodies().await, ["1"]);
}

pub(crate) async fn large_commits_are_atomic(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    // Enough lines to use every statement size, and to need a second page for verification.
    let expected: Vec<String> = (0..1_500 + 64 + 8 + 7).map(|number| number.to_string()).collect();
    record_all(&mut store, &expected);
    assert!(!store.is_full());
    store.commit().await.unwrap();
    assert_eq!(fixture.bodies().await, expected);
}

pub(crate) async fn stores_any_text(fixture: &Fixture) {
    let bodies = ["", "ünïcödé 𝄞", "'; DROP TABLE entries; --", "$1 ? %s \\", "a\u{0}b"];
    commit(&mut fixture.open().await.unwrap(), &bodies).await;
    let kept = fixture.bodies().await;
    assert_eq!(kept[..4], bodies[..4]);
    assert_eq!(kept[4], "a\u{fffd}b", "PostgreSQL keeps no NUL");
}

pub(crate) async fn stores_exchanges_with_the_lines(fixture: &Fixture) {
    let pending = LoggedExchange { received: None, response: None, status: None, ..exchange(2, "c") };
    let long = exchange(3, &"x".repeat(MAX_EXCHANGE_BYTES + 1));
    let mut store = fixture.open().await.unwrap();
    commit_exchange(&mut store, exchange(2, "a")).await;
    store.record(line("1"));
    store.record_exchange(exchange(1, "b"));
    store.record_exchange(pending.clone());
    commit_exchange(&mut store, long).await;
    store.close().await.unwrap();
    commit_exchange(&mut fixture.open().await.unwrap(), exchange(2, "d")).await;

    let mut reader = fixture.reader().await;
    assert_eq!(reader.exchanges_of_intent(2).await.unwrap(), [exchange(2, "a"), pending, exchange(2, "d")]);
    assert_eq!(reader.exchanges_of_intent(1).await.unwrap(), [exchange(1, "b")]);
    assert!(reader.exchanges_of_intent(3).await.unwrap()[0].request.ends_with("x [cut]"));
    assert_eq!(reader.exchanges_of_intent(9).await.unwrap(), []);
    assert_eq!(fixture.bodies().await, ["1"]);
}

pub(crate) async fn finds_exchanges_without_intent_by_time(fixture: &Fixture) {
    let at = |ms, body: &str| LoggedExchange { intent: None, sent: Millis::new(ms), ..exchange(0, body) };
    let mut store = fixture.open().await.unwrap();
    for one in [at(1, "a"), at(5, "b"), exchange(2, "of an intent"), at(7, "c"), at(9, "d"), at(10, "e")] {
        store.record_exchange(one);
    }
    store.commit().await.unwrap();
    let mut reader = fixture.reader().await;
    let between = |from: i64, to: i64| (Millis::new(from), Millis::new(to));
    for ((from, to), limit, expected) in [
        (between(5, 9), 9, vec![at(5, "b"), at(7, "c"), at(9, "d")]),
        (between(5, 9), 2, vec![at(7, "c"), at(9, "d")]),
        (between(2, 4), 9, vec![]),
    ] {
        assert_eq!(reader.exchanges_between(from, to, limit).await.unwrap(), expected, "{from} to {to}");
    }
}

pub(crate) async fn stores_only_the_changes_of_a_repeated_list(fixture: &Fixture) {
    let lists: Vec<LoggedExchange> = (0..60).map(|more| listing(7, 40 + more / 3)).collect();
    for part in lists.chunks(20) {
        let mut store = fixture.open().await.unwrap();
        for list in part {
            commit_exchange(&mut store, list.clone()).await;
        }
        store.close().await.unwrap();
    }
    let bytes = |list: &LoggedExchange| list.response.as_ref().unwrap().len();
    let whole: usize = lists.iter().map(bytes).sum();
    let kept = fixture.number("SELECT CAST(SUM(LENGTH(response)) AS BIGINT) FROM wires").await;
    assert!(kept * 7 < i64::try_from(whole).unwrap(), "{kept} of {whole} bytes");
    let mut reader = fixture.reader().await;
    assert_eq!(reader.verify().await.unwrap().exchanges, 60);
    assert_eq!(reader.exchanges_of_intent(7).await.unwrap(), lists);
    // The first list written by each holder is stored completely. Later lists depend on it.
    for change in [
        "UPDATE wires SET response = replace(response, 'WON', 'LOST') WHERE id = 21",
        "UPDATE wires SET response = replace(response, '[1,', '[2,') WHERE id = 22",
    ] {
        fixture.run(&format!("CREATE TABLE kept AS SELECT * FROM wires; {change}")).await;
        let error = fixture.reader().await.verify().await.unwrap_err().to_string();
        assert!(error.contains("raw exchange 2"), "{change}: {error}");
        fixture.run("DELETE FROM wires; INSERT INTO wires SELECT * FROM kept; DROP TABLE kept").await;
    }
    assert_eq!(fixture.reader().await.exchanges_of_intent(7).await.unwrap(), lists);
}
