use super::reports::INTENT;
use super::*;
use candlewick_engine::{Rejection, SecondTrade, TradeSettlement, VenueId};
use candlewick_sdk::{Money, Outcome};

fn at(seconds: i64) -> Millis {
    START + Millis::from_seconds(seconds)
}

fn id(intent: u64) -> VenueId {
    VenueId::truncated(&format!("trade-{intent}"))
}

fn bench(remember_s: u32) -> Bench {
    aged_bench(60, remember_s, &[], &[])
}

/// Builds a run with one intent per minute from 60 s on. All trades not in `rejected` or `open` win after 30 s.
fn aged_bench(trades: i64, remember_s: u32, rejected: &[u64], open: &[u64]) -> Bench {
    let mut bench = Bench::start(|parts| {
        parts.settings.remember_s = remember_s;
        parts.settings.list_every_s = 86_400;
        parts.session = session(unlimited());
    });
    for minute in 1..=trades {
        let decided = at(minute * 60);
        let intent = bench.coordinator.session.session().next_intent();
        let (series, origin) = (SeriesId::FIRST, Origin::Live);
        bench.hand(decided, EventKind::Candle { series, candle: candle(decided), origin });
        bench.coordinator.session.journal.take_waiting_trades();
        bench.coordinator.doubts.note_sent(intent, decided);
        let number = intent.number();
        if rejected.contains(&number) {
            bench.hand(decided, EventKind::Rejected { intent, rejection: Rejection::NoPrice });
            continue;
        }
        bench.coordinator.doubts.claim(id(number).as_str());
        let opened = bench.coordinator.to_opened_trade(intent, &TradeReport::new(id(number).as_str()));
        bench.hand(decided, EventKind::Opened(opened));
        if !open.contains(&number) {
            let (outcome, profit) = (Outcome::Won, Money::from_minor(800));
            bench.hand(
                at(minute * 60 + 30),
                EventKind::Settled(TradeSettlement::from_operator(intent, outcome, profit)),
            );
        }
    }
    bench
}

impl Bench {
    fn hand(&mut self, at: Millis, kind: EventKind) {
        let mut commands = Vec::new();
        self.coordinator.handle(at, kind, &mut Step { now: at, commands: &mut commands });
    }

    fn known(&self) -> Vec<u64> {
        let rows = self.coordinator.session.book().rows().iter();
        rows.map(|row| row.approved.intent().number()).collect()
    }

    fn forgotten(&mut self, looked: Millis) -> Vec<u64> {
        self.coordinator.forget_old_intents(looked);
        let known = self.known();
        (1..=60).filter(|intent| !known.contains(intent)).collect()
    }

    fn list(&mut self, now: Millis, is_complete: bool, trades: Vec<TradeReport>) {
        self.now = now;
        self.coordinator.requests.begin(RequestId::Trades);
        self.on(Input::Answer(listing_answer(trades, now, is_complete)));
        self.on(Input::Answer(no_balances_after_trades()));
    }
}

#[test]
fn forgets_hour_old_intents_but_the_fifty_last_settled() {
    // The fifth trade settled at 330 s, the sixth at 390 s.
    let hour = [330, 331, 390, 391, 630, 631, 9_999].map(|looked| (3_600, looked + 3_600));
    // The retention is at least twelve minutes, and 0 means the whole run. The third trade settled at 210 s.
    let others = [(1, 931), (1, 930), (721, 931), (0, 1_000_000)];
    let expected = [4, 5, 5, 6, 9, 10, 10, 3, 2, 2, 0];
    for ((remember_s, looked), expected) in hour.into_iter().chain(others).zip(expected) {
        let mut bench = bench(remember_s);
        let forgotten = bench.forgotten(at(looked));
        assert_eq!(forgotten, (1..=expected).collect::<Vec<u64>>(), "{remember_s} s, looked at {looked} s");
        let counted = bench.coordinator.session.forgotten;
        assert_eq!((counted.total, counted.this_run), (expected, expected));
        let kept = 60 - expected as usize;
        assert_eq!((bench.coordinator.doubts.retained_counts(), bench.known().len()), ((kept, kept), kept));
    }
}

#[test]
fn retains_open_and_last_intents_and_those_with_second_trades() {
    let mut bench = aged_bench(60, 3_600, &[58, 60], &[2, 5]);
    let second = SecondTrade { intent: IntentId::new(4), venue_id: id(100), stake: Money::from_minor(1_000) };
    bench.hand(at(3_700), EventKind::SecondTrade(second));
    assert_eq!(bench.forgotten(at(100_000)), [1, 3, 6, 7, 8, 58]);
    assert!(bench.coordinator.doubts.is_claimed(id(3).as_str()));
    assert!(!bench.coordinator.doubts.is_claimed(id(101).as_str()));
}

#[test]
fn doubt_retains_intents_near_it_but_no_later_ones() {
    for is_not_opened in [false, true] {
        let mut bench = aged_bench(5_000, 1, &[], &[]);
        let terms = bench.coordinator.session.terms(IntentId::new(16)).unwrap();
        let (doubts, session) = (&mut bench.coordinator.doubts, &bench.coordinator.session);
        // The request was sent at 960 s and ended at 970 s.
        doubts.begin(session, &terms, at(970));
        if is_not_opened {
            doubts.resolver.give_up(terms.intent()).unwrap();
        }
        bench.coordinator.forget_old_intents(at(1_000_000));
        // The trade in doubt may have opened until 1,120.999 s: 30 s, the rest of that second, and a list lag of 120 s.
        // Intents within twelve minutes are kept: from the fourth, by its end, to the 30th, by its start.
        let expected: Vec<u64> = (4..=30).chain(4_951..=5_000).collect();
        assert_eq!(bench.known(), expected, "not opened: {is_not_opened}");
        assert_eq!(bench.coordinator.doubts.retained_counts(), (77, 77));
        assert!(bench.coordinator.doubts.is_claimed(id(31).as_str()));
    }
}

#[test]
fn forgets_only_after_a_complete_list() {
    let mut bench = bench(3_600);
    bench.list(at(100_000), false, Vec::new());
    assert_eq!(bench.known().len(), 60);
    bench.list(at(100_001), true, Vec::new());
    assert_eq!(bench.known().len(), 50);
}

#[test]
fn recognizes_a_late_second_trade() {
    let mut bench = bench(1);
    // The list shows the duplicate trade of the first intent ten minutes late. That intent ended at 90 s.
    let own = report_of_tests("trade-1", at(60));
    bench.list(at(662), true, vec![own.clone()]);
    assert_eq!(bench.halted(), None);
    let second = report_of_tests("01JZ", at(61));
    bench.list(at(663), true, vec![own, second]);
    let expected = format!("trade #{INTENT} was ordered once, but the venue has a second one, 01JZ");
    assert_eq!(bench.halted(), Some(expected.as_str()));
}

#[test]
fn trades_of_forgotten_intents_are_not_foreign() {
    let mut bench = bench(3_600);
    let trades: Vec<TradeReport> =
        (1..=60).map(|intent| report_of_tests(id(intent).as_str(), at(60 * intent as i64))).collect();
    bench.list(at(100_000), true, trades.clone());
    assert_eq!(bench.known().len(), 50);
    bench.commands.clear();
    bench.list(at(100_300), true, trades);
    assert_eq!(warnings(&bench.commands), [""; 0]);
    assert_eq!(bench.halted(), None);
}
