//! A CSV of trades restores the exact accounts of its Session, whatever the order of its rows.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

use candlewick_engine::{
    Action, Event, EventKind, IntentId, IntentState, OpenedTrade, Origin, Rejection, SeriesId, Session,
    SessionSettings, TradeBook, TradeSettlement, judge,
};
use candlewick_report::edge::{Sample, TradesFile, read_trades};
use candlewick_report::run::{Caveats, EdgeLine, RunFacts, write_trades_to};
use candlewick_sdk::{Candle, Interval, Millis, Money, Ohlcv, Outcome, Payout, Signal, Strategy};
use candlewick_search::evidence::EvidenceKind;
use candlewick_statistics::{EdgeTest, EdgeTestPlan};
use proptest::prelude::*;
use serde_json::json;
use std::fs;

struct AlwaysBuys;

impl Strategy for AlwaysBuys {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        Some(Signal::buy("always"))
    }
}

fn settings() -> SessionSettings {
    let bot = |name: &str, symbol: &str| {
        json!({ "name": name, "symbol": symbol, "interval": "1m", "strategy": "always", "close_type": "05:00",
            "expiration_type": "TIME_FIXED", "stake": { "kind": "fixed", "amount": 10 } })
    };
    let risk = json!({ "max_open_trades": 0, "max_open_trades_per_symbol": 0, "max_trades_per_day": 0,
        "daily_loss_limit": 0, "max_drawdown_percent": 0.0, "allow_duplicate": true });
    let bots = [bot("-a: b", "BTC:USD,T"), bot("'=c", "-EURUSD"), bot("silent", "GBPUSD")];
    let session = json!({ "money_scale": 2, "balance": 1_000_000, "risk": risk, "bots": bots });
    serde_json::from_value(session).unwrap()
}

/// Times of answer and settlement in tens of seconds, payout and outcome of an intent.
type Course = (i64, i64, u32, u8, Settles);

#[derive(Clone, Copy, Debug)]
enum Settles {
    Alike,
    Silent,
    Paying(u32),
}

fn settles() -> impl proptest::strategy::Strategy<Value = Settles> {
    let paying = proptest::strategy::Strategy::prop_map(60_u32..93, Settles::Paying);
    prop_oneof![Just(Settles::Alike), Just(Settles::Silent), paying]
}

fn event_at(at: i64, kind: EventKind) -> Event {
    let at = Millis::from_seconds(600_000 + at);
    Event { at, received: at, kind }
}

fn candle(series: usize, minute: i64) -> Event {
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    let opened = Millis::from_seconds(600_000 + minute * 60 - 60);
    let candle = Candle::new(opened, Interval::MINUTE, numbers).unwrap();
    let series = SeriesId::new(series).unwrap();
    event_at(minute * 60, EventKind::Candle { series, candle, origin: Origin::Live })
}

fn answer(intent: IntentId, (_, _, percent, ending, _): Course) -> EventKind {
    if ending == 4 {
        return EventKind::Rejected { intent, rejection: Rejection::NoPrice };
    }
    let payout = Payout::from_parts(percent * 10_000);
    let (venue_id, open_time, open_price, close_time, taken) = (None, None, None, None, None);
    EventKind::Opened(OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout, taken })
}

fn end(intent: IntentId, (_, _, percent, ending, settles): Course) -> Option<EventKind> {
    let outcome = match ending {
        0 => Outcome::Won,
        1 => Outcome::Lost,
        2 => Outcome::Draw,
        3 => Outcome::Cancelled,
        _ => return None,
    };
    let paid = match settles {
        Settles::Alike => Some(percent),
        Settles::Silent => None,
        Settles::Paying(other) => Some(other),
    };
    let payout = paid.and_then(|percent| Payout::from_parts(percent * 10_000));
    let settled = TradeSettlement { payout, ..TradeSettlement::from_operator(intent, outcome, Money::ZERO) };
    Some(EventKind::Settled(settled))
}

fn played(courses: &[Course]) -> (Session, TradeBook) {
    let settings = settings();
    let strategies = settings.bots.iter().map(|_| Box::new(AlwaysBuys) as Box<dyn Strategy>).collect();
    let mut session = Session::new(&settings, strategies).unwrap();
    let (mut book, mut actions, mut due) = (TradeBook::default(), Vec::new(), Vec::new());
    let mut hand = |event: Event, due: &mut Vec<(i64, Event)>| {
        session.handle(&event, &mut actions);
        book.record_event(&event);
        for action in actions.drain(..) {
            book.record_action(&action);
            if let Action::Open(approved) = &action {
                let intent = approved.intent();
                let course = courses[intent.number() as usize % courses.len()];
                let decided = approved.decision_time().get() / 1_000 - 600_000;
                let answered = decided + 10 * course.0;
                due.push((answered, event_at(answered, answer(intent, course))));
                let settled = answered + 10 * course.1;
                due.extend(end(intent, course).map(|kind| (settled, event_at(settled, kind))));
            }
        }
    };
    for minute in 1..=i64::try_from(courses.len()).unwrap() {
        due.sort_by_key(|(at, _)| *at);
        let now = minute * 60;
        while due.first().is_some_and(|(at, _)| *at <= now) {
            let (_, event) = due.remove(0);
            hand(event, &mut due);
        }
        hand(candle(0, minute), &mut due);
        hand(candle(1, minute), &mut due);
    }
    (session, book)
}

fn read(text: &str, facts: Option<&RunFacts>) -> TradesFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trades.csv");
    fs::write(&path, text).unwrap();
    if let Some(facts) = facts {
        let path = folder.path().join("trades.csv.run.json");
        fs::write(path, serde_json::to_vec(facts).unwrap()).unwrap();
    }
    read_trades(&path, None).unwrap()
}

fn written(book: &TradeBook, caveats: &Caveats) -> (String, RunFacts) {
    let settings = settings();
    let mut text = Vec::new();
    write_trades_to(&mut text, book, &settings.bots, settings.money_scale).unwrap();
    let facts = RunFacts::new(book, &settings.bots, (settings.money_scale, caveats));
    (String::from_utf8(text).unwrap(), facts)
}

fn bits(test: &EdgeTest) -> [u64; 5] {
    let (overlap, accounts) = (test.overlap(), [test.edge_account(), test.mirror_account(), test.goal()]);
    let [edge, mirror, goal] = accounts.map(f64::to_bits);
    let (inflation, clusters) = (overlap.variance_inflation(), overlap.clusters() as f64);
    [edge, mirror, goal, inflation.to_bits(), clusters.to_bits()]
}

fn bits_of(sample: &Sample) -> [u64; 5] {
    let numbers =
        [sample.account_for, sample.account_against, sample.threshold_for, sample.variance_inflation];
    let [edge, mirror, goal, inflation] = numbers.map(|number| number.unwrap().to_bits());
    [edge, mirror, goal, inflation, (sample.clusters.unwrap() as f64).to_bits()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn csv_yields_the_accounts_of_the_session_in_any_row_order(
        courses in prop::collection::vec((0_i64..5, 1_i64..60, 60_u32..93, 0_u8..6, settles()), 2..60),
        order in any::<u64>(),
    ) {
        let (session, book) = played(&courses);
        let withholding_reasons = vec!["a reason; of two".to_owned()];
        let caveats = Caveats { withholding_reasons, labels: vec!["hypothesis"], ..Caveats::default() };
        let (text, facts) = written(&book, &caveats);
        let (header, lines) = text.split_once('\n').unwrap();
        let mut lines: Vec<&str> = lines.lines().collect();
        prop_assume!(!lines.is_empty());
        for place in 0..lines.len() {
            let other = (order as usize).wrapping_mul(place + 7) % lines.len();
            lines.swap(place, other);
        }
        let shuffled = format!("{header}\n{}\n", lines.join("\n"));
        let plan = EdgeTestPlan::default();
        let all = judge(book.rows(), EdgeTest::new(plan).with_weight(session.joint_verdict_weight()));
        for text in [&text, &shuffled] {
            let file = read(text, Some(&facts));
            prop_assert_eq!((file.bots, &file.caveats), (3, &caveats));
            let samples = Sample::build_all(&file.trades, plan, (file.bots, &file.caveats)).unwrap();
            prop_assert_eq!(bits_of(&samples[0]), bits(&all));
            let mut compared = 0;
            for (name, verdict) in session.bot_names().iter().zip(session.verdicts()) {
                let Some(sample) = samples.iter().find(|sample| sample.bot.as_ref() == Some(name)) else { continue };
                prop_assert_eq!(bits_of(sample), bits(verdict.edge_test()), "{}", name);
                compared += 1;
            }
            prop_assert_eq!(compared, 2);
        }
    }
}

#[test]
fn rows_of_one_time_are_judged_alike_in_any_order() {
    let line = |bot: &str, decided: u32, closed: u32, payout: u32, result: &str| {
        format!("{bot},X,{decided},{closed},{payout},{result}\n")
    };
    let header = "bot,symbol,decision_time,close_time,payout,result\n";
    let mut lines: Vec<String> = (0..40)
        .flat_map(|k| {
            let won = |wins: bool| if wins { "WON" } else { "LOST" };
            [
                line("a", k, k + 4, 70 + k % 9, won(k % 3 > 0)),
                line("b", k, k + 4, 80, won(k % 2 > 0)),
                line("a", k, k + 5, 91 - k % 7, won(k % 5 > 0)),
            ]
        })
        .collect();
    let figures = |lines: &[String]| {
        let file = read(&format!("{header}{}", lines.concat()), None);
        let samples = Sample::build_all(&file.trades, EdgeTestPlan::default(), (0, &file.caveats)).unwrap();
        samples.iter().map(bits_of).collect::<Vec<_>>()
    };
    let first = figures(&lines);
    assert_eq!(f64::from_bits(first[0][2]), 60.0, "two bots and all together share alpha");
    lines.reverse();
    assert_eq!(figures(&lines), first);
    lines.rotate_left(17);
    lines.swap(3, 30);
    assert_eq!(figures(&lines), first);
}

#[test]
fn withholds_edge_of_file_without_its_run() {
    let courses =
        [(1, 5, 90, 0, Settles::Alike), (1, 6, 90, 0, Settles::Alike), (2, 5, 90, 1, Settles::Alike)];
    let (_, book) = played(&courses.repeat(200));
    let (text, facts) = written(&book, &Caveats { labels: vec!["hypothesis"], ..Caveats::default() });
    let withheld = |text: &str, facts: Option<&RunFacts>| {
        let file = read(text, facts);
        let samples =
            Sample::build_all(&file.trades, EdgeTestPlan::default(), (file.bots, &file.caveats)).unwrap();
        (samples[1].account_for > samples[1].threshold_for, samples[1].withheld.join("; "))
    };
    assert_eq!(withheld(&text, Some(&facts)), (true, String::new()));
    let (_, alone) = withheld(&text, None);
    assert!(alone.contains("is missing"), "{alone}");
    let (count, lines) = (text.lines().count(), || text.lines());
    for lines in [lines().take(count - 1).collect::<Vec<_>>(), lines().chain(lines().skip(1)).collect()] {
        let (_, other) = withheld(&(lines.join("\n") + "\n"), Some(&facts));
        assert!(other.contains("other trades"), "{other}");
    }
}

#[test]
fn only_a_live_run_shows_an_edge_at_its_threshold() {
    let courses =
        [(1, 5, 90, 0, Settles::Alike), (1, 6, 90, 0, Settles::Alike), (2, 5, 90, 1, Settles::Alike)];
    let (_, book) = played(&courses.repeat(200));
    let test = judge(book.rows(), EdgeTest::new(EdgeTestPlan::default()));
    for (evidence, expected) in [
        (EvidenceKind::default(), "exploratory"),
        (EvidenceKind::Practice, "practice"),
        (EvidenceKind::Live { weight: 0.0 }, "not_enough_trades"),
        (EvidenceKind::Live { weight: 1.0 }, "edge_shown"),
    ] {
        let caveats = Caveats { evidence, ..Caveats::default() };
        let line = EdgeLine::new(&test, book.rows(), &caveats);
        assert_eq!(line.verdict, expected);
        assert_eq!(line.describe().contains("edge shown"), expected == "edge_shown", "{}", line.describe());
    }
}

#[test]
fn unopened_trade_that_settled_counts_alike_in_run_and_csv() {
    let ended = (1, 5, 90, 0, Settles::Alike);
    let (_, mut book) =
        played(&[ended, (1, 5, 90, 1, Settles::Alike), (1, 5, 90, 4, Settles::Alike)].repeat(9));
    let intent = book.rows().iter().find(|row| row.state == IntentState::InFlight).unwrap().approved.intent();
    let (reserved_until, settled) = (Millis::from_seconds(700_000), end(intent, ended).unwrap());
    let events = [EventKind::InDoubt { intent }, EventKind::NotOpened { intent, reserved_until }, settled];
    for (second, kind) in (9_000..).zip(events) {
        book.record_event(&event_at(second, kind));
    }
    let test = judge(book.rows(), EdgeTest::new(EdgeTestPlan::default()));
    let caveats = Caveats::default();
    let line = EdgeLine::new(&test, book.rows(), &caveats);
    let (text, facts) = written(&book, &caveats);
    let samples =
        Sample::build_all(&read(&text, Some(&facts)).trades, EdgeTestPlan::default(), (3, &caveats)).unwrap();
    assert!(line.intervals.edge_sequence_95.is_some());
    assert_eq!(line.intervals, samples[0].intervals);
}

#[test]
fn names_unreadable_run_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trades.csv");
    fs::write(&path, "result,payout\nWON,85\n").unwrap();
    fs::write(folder.path().join("trades.csv.run.json"), "{").unwrap();
    let error = read_trades(&path, None).unwrap_err().to_string();
    assert!(error.contains("trades.csv.run.json") && error.contains("the run's caveats"), "{error}");
}
