//! A commit that failed, or whose outcome nobody knows, is repeated: each line is written once.

use super::fixture::{Cut, FIRST_DEAD, Fixture, cut, exchange, holder, line, listing, steps_of, terms};
use candlewick_journal::{JournalError, Reader, Store};

/// More questions than a call asks.
const MAX_QUESTIONS: u32 = 400;

pub(crate) async fn a_failed_commit_is_repeated_whole(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    store.record(line("1"));
    store.commit().await.unwrap();
    fixture.run("ALTER TABLE entries RENAME TO gone").await;
    for body in ["2", "3"] {
        store.record(line(body));
        store.record_exchange(exchange(1, body));
        store.commit().await.unwrap_err();
    }
    // Two lines, two exchanges, and the seal of the first, which was to be written with it.
    assert_eq!((store.pending(), store.head().seq), (5, 1));
    fixture.run("ALTER TABLE gone RENAME TO entries").await;
    store.record(line("4"));
    store.commit().await.unwrap();
    assert_eq!((store.pending(), store.head().seq), (0, 6));
    assert_eq!(fixture.bodies().await, ["1", "2", "3", "4"]);
    assert_eq!(fixture.reader().await.exchanges_of(1).await.unwrap(), [exchange(1, "2"), exchange(1, "3")]);
}

/// Cuts commits off at each of their questions in turn, asked or answered, until the cut has often enough fallen
/// between the writing of a commit and its answer.
pub(crate) async fn a_commit_of_unknown_outcome_writes_each_line_once(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    let mut expected = Vec::new();
    let mut record = |store: &mut Store| {
        expected.push(expected.len().to_string());
        store.record(line(expected.last().unwrap()));
        store.record_exchange(listing(1, expected.len()));
    };
    let (mut landed, mut sweeps) = (0, 0);
    while landed < 4 {
        sweeps += 1;
        assert!(sweeps < 100, "{landed} of so many cuts fell where the outcome is unknown");
        let kind = if sweeps % 2 == 0 { Cut::Asked } else { Cut::Answered };
        for polls in 1.. {
            assert!(polls < MAX_QUESTIONS, "a commit has an end");
            (0..3).for_each(|_| record(&mut store));
            let done = cut(store.commit(), kind(polls)).await;
            record(&mut store);
            // Waits for what is left of the commit.
            fixture.run("UPDATE lease SET id = 1").await;
            let last = fixture.number("SELECT COALESCE(MAX(seq), 0) FROM entries").await;
            landed += u32::from(last > store.head().seq.cast_signed());
            store.commit().await.unwrap();
            if let Some(done) = done {
                done.unwrap();
                break;
            }
        }
    }
    assert_eq!(fixture.bodies().await, expected);
    let exchanges = fixture.reader().await.exchanges_of(1).await.unwrap();
    assert_eq!(exchanges, (1..=expected.len()).map(|rows| listing(1, rows)).collect::<Vec<_>>());
}

pub(crate) async fn a_heartbeat_between_leaves_an_unknown_commit_unknown(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    let mut expected = Vec::new();
    for polls in 1..MAX_QUESTIONS {
        expected.push(polls.to_string());
        store.record(line(&polls.to_string()));
        let done = cut(store.commit(), Cut::Answered(polls)).await;
        cut(store.heartbeat(), Cut::Answered(polls % 5)).await;
        store.heartbeat().await.unwrap();
        store.commit().await.unwrap();
        if done.is_some() {
            break;
        }
    }
    assert_eq!(fixture.bodies().await, expected);
}

pub(crate) async fn an_opening_cut_anywhere_leaves_a_journal_or_nothing(fixture: &Fixture) {
    let (holder, terms) = (holder("cut", FIRST_DEAD), terms());
    let open = || Store::open_on_terms(&fixture.url, &holder, &terms);
    // Connecting takes hundreds of steps where a password is hashed; it changes nothing, so the last steps count.
    let steps = steps_of(Reader::open(&fixture.url)).await;
    for polls in steps.saturating_sub(20).max(1).. {
        assert!(polls < steps + MAX_QUESTIONS, "an opening has an end");
        let opened = cut(open(), Cut::Answered(polls)).await;
        match Reader::open(&fixture.url).await {
            Ok(mut reader) => assert_eq!(reader.verify().await.unwrap().entries, 0),
            Err(JournalError::NotFound { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
        if let Some(opened) = opened {
            opened.unwrap().close().await.unwrap();
            return;
        }
    }
}
