//! Commits that failed or have an unknown outcome are retried. Each line is written once.

use super::fixture::{
    Cut, FIRST_DEAD, Fixture, commit, cut, exchange, holder, line, listing, steps_of, terms,
};
use candlewick_journal::{
    Head, Journal as _, JournalError, JournalFollower, Reader, RunJournal, Store, StoredLine, is_snapshot,
};
use candlewick_sdk::Millis;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MAX_QUESTIONS: u32 = 400;

pub(crate) async fn failed_commit_is_retried_completely(fixture: &Fixture) {
    let mut store = fixture.written(&["1"]).await;
    fixture.run("ALTER TABLE entries RENAME TO gone").await;
    for body in ["2", "3"] {
        store.record(line(body));
        store.record_exchange(exchange(1, body));
        store.commit().await.unwrap_err();
    }
    assert_eq!((store.pending_count(), store.head().seq), (5, 1));
    fixture.run("ALTER TABLE gone RENAME TO entries").await;
    commit(&mut store, &["4"]).await;
    assert_eq!((store.pending_count(), store.head().seq), (0, 6));
    assert_eq!(fixture.bodies().await, ["1", "2", "3", "4"]);
    let exchanges = fixture.reader().await.exchanges_of_intent(1).await.unwrap();
    assert_eq!(exchanges, [exchange(1, "2"), exchange(1, "3")]);
}

/// Interrupts commits at each query in turn, before or after the response.
/// Stops after enough interruptions between a commit and its response.
pub(crate) async fn commit_of_unknown_outcome_writes_each_line_once(fixture: &Fixture) {
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
    let exchanges = fixture.reader().await.exchanges_of_intent(1).await.unwrap();
    assert_eq!(exchanges, (1..=expected.len()).map(|rows| listing(1, rows)).collect::<Vec<_>>());
}

pub(crate) async fn heartbeat_does_not_resolve_an_unknown_commit(fixture: &Fixture) {
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

pub(crate) async fn interrupted_open_leaves_a_journal_or_nothing(fixture: &Fixture) {
    let (holder, terms) = (holder("cut", FIRST_DEAD), terms());
    let open = || Store::open_with_terms(&fixture.url, &holder, &terms);
    // Password hashing makes connecting take hundreds of irrelevant steps, so only the last steps are tested.
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

#[derive(Clone, Default)]
struct Snapshots(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    asked: u32,
    recorded: Vec<Head>,
    not_recorded: u32,
}

impl JournalFollower for Snapshots {
    fn on_line_stored(&mut self, _stored: &StoredLine) {}

    fn is_snapshot_due(&self) -> bool {
        true
    }

    fn next_snapshot_piece(&mut self, is_end: bool) -> Option<String> {
        let mut told = self.0.lock().unwrap();
        told.asked += 1;
        (!is_end).then(|| format!("{{\"snapshot\":{}}}", told.asked))
    }

    fn on_snapshot_piece_stored(&mut self, head: Head) {
        self.0.lock().unwrap().recorded.push(head);
    }

    fn on_snapshot_piece_failed(&mut self, _why: &str) {
        self.0.lock().unwrap().not_recorded += 1;
    }
}

pub(crate) async fn interrupted_snapshot_loses_no_entry(fixture: &Fixture) {
    let snapshots = Snapshots::default();
    let journal = RunJournal::new(fixture.open().await.unwrap(), 1, Millis::ZERO, || Duration::ZERO);
    let mut journal = journal.with_follower(Box::new(snapshots.clone()));
    let mut expected = Vec::new();
    let mut note = |journal: &mut RunJournal| {
        expected.push(format!("{{\"number\":{}}}", expected.len()));
        journal.note(Millis::ZERO, expected.last().unwrap().clone());
    };
    for polls in 1.. {
        assert!(polls < MAX_QUESTIONS, "a snapshot has an end");
        note(&mut journal);
        journal.make_durable().await.unwrap();
        assert!(journal.is_snapshot_due());
        let kind = if polls % 2 == 0 { Cut::Asked } else { Cut::Answered };
        let done = cut(journal.write_background_chunk(), kind(polls)).await;
        note(&mut journal);
        journal.make_durable().await.unwrap();
        if done.is_some() {
            break;
        }
    }
    journal.close().await.unwrap();
    let bodies = fixture.bodies().await;
    let own: Vec<&String> = bodies.iter().filter(|body| body.starts_with("{\"number\":")).collect();
    assert_eq!(own, expected.iter().collect::<Vec<_>>());
    let told = snapshots.0.lock().unwrap();
    let failures = bodies.iter().filter(|body| body.contains("snapshots_not_kept")).count();
    assert_eq!((failures as u32, told.recorded.len()), (told.not_recorded, 1));
    assert!(failures > 0, "no snapshot was cut off");
    let kept: Vec<&String> = bodies.iter().filter(|body| is_snapshot(body)).collect();
    assert!(kept.len() <= failures + 1 && kept.is_sorted_by(|one, other| one != other), "{kept:?}");
}

pub(crate) async fn failed_snapshot_affects_nothing_else(fixture: &Fixture) {
    let snapshots = Snapshots::default();
    let journal = RunJournal::new(fixture.open().await.unwrap(), 1, Millis::ZERO, || Duration::ZERO);
    let mut journal = journal.with_follower(Box::new(snapshots.clone()));
    fixture.run("ALTER TABLE entries ADD COLUMN gone TEXT CHECK (body NOT LIKE '{\"snapshot\":%')").await;
    for number in 1..=3 {
        journal.note(Millis::ZERO, format!("{{\"number\":{number}}}"));
        journal.make_durable().await.unwrap();
        journal.write_background_chunk().await;
    }
    journal.close().await.unwrap();
    let bodies = fixture.bodies().await;
    let whole = |body: &&String| body.starts_with("{\"number\":") || body.contains("\"snapshots_not_kept\":");
    assert_eq!(bodies.iter().filter(whole).count(), bodies.len(), "{bodies:?}");
    assert_eq!((bodies.len(), snapshots.0.lock().unwrap().not_recorded), (6, 3), "{bodies:?}");
}
