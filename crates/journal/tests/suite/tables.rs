//! Tables are kept up to date with the entries, on any database.

use super::fixture::{Cut, Fixture, cut, line};
use candlewick_journal::{
    Head, IntentRecord, IntentRows, Line, ProjectionProgress, Projector, RunNames, Store, StoredLine, Tables,
    daily_figures,
};
use candlewick_sdk::Millis;

const MAX_QUESTIONS: u32 = 10_000;

struct Known(u64);

impl IntentRows for Known {
    fn last_intent(&self) -> u64 {
        self.0
    }

    fn run_of_intent(&self, _intent: u64) -> Option<u64> {
        Some(1)
    }

    fn parse_run_names(&self, _header: &StoredLine) -> Option<RunNames> {
        None
    }

    fn intent_record(&self, intent: u64, seq: u64, _names: &RunNames) -> Option<IntentRecord> {
        let odd = !intent.is_multiple_of(2);
        let text = |text: &str| odd.then(|| text.to_owned());
        let time = |minutes: i64| odd.then(|| Millis::MINUTE * minutes);
        Some(IntentRecord {
            intent,
            seq,
            run: 1,
            bot: format!("bot {}", intent % 3),
            symbol: "BTCUSDT".to_owned(),
            direction: "SELL".to_owned(),
            state: "settled".to_owned(),
            result: text("WON"),
            stake_minor: 1_000,
            profit_minor: odd.then_some(i64::MIN / 1_000),
            unit: 100,
            payout: odd.then_some(87.5),
            decision_time: Millis::HOUR * intent.cast_signed(),
            request_time: time(1),
            open_time: time(2),
            open_price: odd.then_some(0.1 + 0.2),
            close_time: time(3),
            close_price: odd.then_some(1.0 / 3.0),
            settled_time: odd.then(|| Millis::HOUR * (intent.cast_signed() + 20)),
            close_type: "01:00".to_owned(),
            expiration_type: "TIME_FIXED".to_owned(),
            reason: "'; DROP TABLE entries; -- \u{1f56f}".to_owned(),
            venue_id: text("trade"),
            ordered_symbol: text("ETHUSDT"),
            ordered_direction: text("BUY"),
            ordered_stake_minor: odd.then_some(-1),
            settled_by_person: odd,
        })
    }
}

fn about(intent: u64) -> Line {
    Line { intent: Some(intent), ..line("{}") }
}

async fn record(store: &mut Store, intents: impl Iterator<Item = u64>) {
    intents.for_each(|intent| store.record(about(intent)));
    store.commit().await.unwrap();
}

async fn complete(projector: &mut Projector, store: &mut Store, known: &Known) -> Head {
    loop {
        if let ProjectionProgress::Complete(head) = projector.write_batch(store, known).await.unwrap() {
            return head;
        }
    }
}

fn expected(head: Head, last: &[(u64, u64)], known: &Known) -> Tables {
    let row = |(intent, seq): &(u64, u64)| known.intent_record(*intent, *seq, &RunNames::default());
    let intents: Vec<IntentRecord> = last.iter().filter_map(row).collect();
    Tables { last_entry: head, figures: daily_figures(&intents), intents }
}

async fn tables(fixture: &Fixture) -> Option<Tables> {
    fixture.reader().await.tables().await.unwrap()
}

pub(crate) async fn rows_are_read_back_as_they_were_written(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    assert_eq!(tables(fixture).await, None);
    // Lines 1 to 600 are about one intent each. The next two lines are about intents 2 and 500 again.
    record(&mut store, (1..=600).chain([2, 500])).await;
    let known = Known(600);
    let head = complete(&mut Projector::from_head(store.head()), &mut store, &known).await;
    assert_eq!(head, store.head());
    let mut last: Vec<(u64, u64)> = (1..=600).map(|intent| (intent, intent)).collect();
    (last[1].1, last[499].1) = (601, 602);
    assert_eq!(tables(fixture).await, Some(expected(head, &last, &known)));
    assert_eq!(fixture.number("SELECT COUNT(*) FROM trades WHERE stake = 10 AND seq > 600").await, 2);
    // A later process adds new rows and keeps the existing ones.
    record(&mut store, [3].into_iter()).await;
    fixture.run("UPDATE intents SET reason = 'mine' WHERE intent = 7").await;
    let head = complete(&mut Projector::from_head(store.head()), &mut store, &known).await;
    let found = tables(fixture).await.unwrap();
    let seq_of = |intent: usize| (found.intents[intent - 1].seq, found.intents[intent - 1].reason.len() > 4);
    assert_eq!((found.last_entry, seq_of(3), seq_of(7)), (head, (603, true), (7, false)));
    complete(&mut Projector::for_rebuild(store.head()), &mut store, &known).await;
    last[2].1 = 603;
    assert_eq!(tables(fixture).await, Some(expected(head, &last, &known)));
}

pub(crate) async fn rows_that_are_cut_off_are_written_again(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    record(&mut store, 1..=3).await;
    let (known, mut was_cut, mut polls) = (Known(3), 0, 1);
    loop {
        assert!(polls < MAX_QUESTIONS, "a piece has an end");
        let mut projector = Projector::for_rebuild(store.head());
        let kind = if polls % 2 == 0 { Cut::Asked } else { Cut::Answered };
        let whole = cut(complete(&mut projector, &mut store, &known), kind(polls)).await;
        let expected = expected(store.head(), &[(1, 1), (2, 2), (3, 3)], &known);
        let found = tables(fixture).await;
        assert!(found.is_none() || found.as_ref() == Some(&expected), "{polls}: {found:?}");
        complete(&mut projector, &mut store, &known).await;
        assert_eq!(tables(fixture).await, Some(expected), "{polls}");
        if whole.is_some() {
            break;
        }
        was_cut += 1;
        polls += 1 + polls / 8;
    }
    assert!(was_cut > 3, "{was_cut}");
    assert_eq!(fixture.bodies().await.len(), 3);
}

pub(crate) async fn who_lost_the_lease_writes_no_row(fixture: &Fixture) {
    let mut store = fixture.open().await.unwrap();
    record(&mut store, 1..=3).await;
    fixture.run("UPDATE lease SET token = 'another'").await;
    let written = Projector::for_rebuild(store.head()).write_batch(&mut store, &Known(3)).await;
    assert!(written.is_err(), "{written:?}");
    assert_eq!(fixture.number("SELECT is_complete + seq FROM projection").await, 0);
}
