//! Implausible trade reports: which fields are used, and which reports halt the run.

use super::*;
use crate::control::Resolution;
use crate::{Notice, SecondTradeRule};
use candlewick_broker::{ReportedValue, TradeProgress};
use candlewick_engine::IntentState;
use candlewick_sdk::{Direction, Outcome, Payout};

pub(super) const INTENT: IntentId = IntentId::new(1);
/// Arrival time of the answer to the open, in ms after the start of the run.
pub(super) const OPENED: i64 = 60_000;
pub(super) const CLOSE: Millis = Millis::new(START.get() + 120_999);

pub(super) type Change = fn(&mut TradeReport);

#[derive(Debug)]
pub(super) struct Seen {
    pub(super) state: IntentState,
    /// Booked profit in minor units, and the booking time in ms after the start.
    pub(super) booked: Option<(i64, i64)>,
    pub(super) asked: Vec<i64>,
    pub(super) halted: Option<String>,
    pub(super) warnings: Vec<String>,
    /// Maximum open stakes, and the free balance at the end, in minor units.
    pub(super) money: (i64, i64),
    pub(super) entries: Vec<JournalEntry>,
}

impl Seen {
    pub(super) fn profit(&self) -> Option<i64> {
        self.booked.map(|(profit, _)| profit)
    }

    pub(super) fn warnings_about(&self, text: &str) -> usize {
        self.warnings.iter().filter(|warning| warning.contains(text)).count()
    }
}

pub(super) fn running() -> TradeReport {
    TradeReport { close_time: Some(CLOSE), ..report_of_tests("01JT", START + Millis::new(OPENED)) }
}

pub(super) fn over() -> TradeReport {
    TradeReport { progress: TradeProgress::Over(Outcome::Won), profit: Some(Decimal::from(8)), ..running() }
}

/// Plays five minutes with one open that is answered with `opened`. `record` gives the later records of the trade.
pub(super) fn trade(opened: &TradeReport, record: impl Fn(i64) -> TradeReport) -> Seen {
    play(&mut Bench::start(|_| {}), OPENED, venue(opened.clone(), record, |_| None))
}

/// Answers like a venue that has one trade in its reply, record and list. `None` means an unknown trade.
pub(super) fn venue(
    opened: TradeReport,
    record: impl Fn(i64) -> TradeReport,
    listed: impl Fn(i64) -> Option<Vec<TradeReport>>,
) -> impl Fn(Asked, i64, Millis) -> Answer {
    move |ask, ms, now| match ask {
        Asked::Open => open_answer(opened.clone(), now),
        Asked::Trade => record_answer(record(ms), now),
        Asked::List => listed(ms)
            .map_or_else(|| Answer::Trades(TradeListing::default()), |trades| list_answer(trades, now)),
    }
}

pub(super) fn honest() -> impl Fn(Asked, i64, Millis) -> Answer {
    venue(running(), |_| over(), |_| None)
}

pub(super) fn in_time(ms: i64) -> TradeReport {
    if ms < 121_000 { running() } else { over() }
}

pub(super) fn with_symbol(symbol: &str, report: TradeReport) -> TradeReport {
    TradeReport { symbol: Some(symbol.to_owned()), ..report }
}

pub(super) fn with_amount(amount: i64, report: TradeReport) -> TradeReport {
    TradeReport { amount: Some(amount.into()), ..report }
}

pub(super) enum Asked {
    Open,
    Trade,
    List,
}

/// Plays five minutes from `from` on, with one candle at [`OPENED`].
pub(super) fn play(bench: &mut Bench, from: i64, answer: impl Fn(Asked, i64, Millis) -> Answer) -> Seen {
    let (mut booked, mut asked, mut warnings) = (None, Vec::new(), Vec::new());
    let (mut at_stake, mut entries) = (0, Vec::new());
    bench.drive(from..300_000, |command, ms, now| {
        let commands = [command];
        entries.extend(recorded_entries(&commands));
        warnings.extend(self::warnings(&commands));
        let [command] = commands;
        match command {
            Command::Send(_) => return Some(answer(Asked::Open, ms, now)),
            Command::Ask(ReadRequest::Trade(..)) => {
                asked.push(ms);
                return Some(answer(Asked::Trade, ms, now));
            }
            Command::Ask(ReadRequest::Trades) => return Some(answer(Asked::List, ms, now)),
            Command::Ask(ReadRequest::BalancesAfterTrades) => return Some(no_balances_after_trades()),
            Command::Ask(ReadRequest::Candles(..)) => return Some(candles_at(&[OPENED], ms, now)),
            Command::Record(JournalEntry::Event(Event { kind: EventKind::Settled(settled), .. })) => {
                assert_eq!(booked.replace((settled.profit.minor(), ms)), None, "booked once");
            }
            Command::Notify(Notice::Handled { funds, .. }) => {
                at_stake = at_stake.max(funds.open_stakes.minor());
            }
            _ => {}
        }
        None
    });
    let session = &bench.coordinator.session;
    let state = session.row(INTENT).expect("the intent is known").state;
    let (halted, money) =
        (session.halt_reason().cloned(), (at_stake, session.ledger().free_balance().minor()));
    Seen { state, booked, asked, halted, warnings, money, entries }
}

#[test]
fn trade_as_ordered_is_booked_without_a_halt() {
    for direction in [over().direction, Some(ReportedValue::Unrecognised("CALL".to_owned()))] {
        let ended = TradeReport { direction, ..over() };
        let seen = trade(&running(), |_| ended.clone());
        assert_eq!((seen.state, seen.booked), (IntentState::Settled, Some((800, 125_000))), "{ended:?}");
        assert_eq!(seen.halted, None);
    }
}

#[test]
fn answer_with_another_intents_trade_is_in_doubt() {
    let mut bench = Bench::start(|_| {});
    bench.coordinator.doubts.claim("01JT");
    let seen = play(&mut bench, OPENED, honest());
    assert_eq!((seen.state, seen.booked, seen.asked.len()), (IntentState::InDoubt, None, 0), "{seen:?}");
    assert_eq!(seen.warnings_about("trade 01JT, which belongs to another order"), 1, "{:?}", seen.warnings);
}

#[test]
fn trade_with_other_terms_halts_and_still_settles() {
    let changes: [(Change, &str); 4] = [
        (|report| report.amount = Some(Decimal::from(50)), "amount is 50, but 10 was ordered"),
        (|report| report.symbol = Some("ETHUSDT".to_owned()), "symbol is ETHUSDT, but BTCUSDT was ordered"),
        (|report| report.direction = Some(ReportedValue::Known(Direction::Sell)), "direction is SELL"),
        (|report| report.account = Some(Account::Real), "REAL MONEY: 10.00 was staked on the real account"),
    ];
    for (change, expected) in changes {
        let (mut opened, mut ended) = (running(), over());
        change(&mut opened);
        change(&mut ended);
        let seen = trade(&opened, |_| ended.clone());
        assert!(seen.halted.as_deref().is_some_and(|why| why.contains(expected)), "{seen:?}");
        assert_eq!((seen.state, seen.booked), (IntentState::Settled, Some((800, 125_000))), "{expected}");
        assert_eq!(seen.warnings_about("halted: "), 1, "said once: {:?}", seen.warnings);
    }
}

fn lost(amount: i64) -> TradeReport {
    with_amount(amount, TradeReport { progress: TradeProgress::Over(Outcome::Lost), ..running() })
}

#[test]
fn books_the_stake_that_the_venue_took() {
    let seen = trade(&with_amount(50, running()), |_| lost(50));
    assert_eq!((seen.money, seen.booked), ((5_000, 95_000), Some((-5_000, 125_000))), "{seen:?}");
    let opened = TradeReport { amount: None, close_time: None, ..running() };
    for before in [with_amount(50, running()), TradeReport { amount: None, ..running() }] {
        let record = |ms: i64| if ms < 121_000 { before.clone() } else { lost(50) };
        let seen = trade(&opened, record);
        assert_eq!((seen.money, seen.profit()), ((5_000, 95_000), Some(-5_000)), "{seen:?}");
        assert!(seen.halted.as_deref().is_some_and(|why| why.contains("amount is 50")), "{seen:?}");
    }
    // Float noise is not a difference. If the amount is impossible, the ordered stake is used.
    let noisy = TradeReport { amount: Some(Decimal::new(10_000_000_000_000_002, 15)), ..running() };
    let seen = trade(&noisy, |_| lost(10));
    assert_eq!((seen.money, seen.halted), ((1_000, 99_000), None));
    let seen = trade(&with_amount(-5, running()), |_| lost(10));
    assert_eq!((seen.money, seen.halted.is_some()), ((1_000, 99_000), true));
}

#[test]
fn impossible_payout_halts_and_is_ignored() {
    for (percent, is_believed) in [(200, true), (201, false)] {
        let payout = Payout::from_percent(percent.into()).ok();
        let opened = TradeReport { payout, ..running() };
        // The profit is 200 % of 10.00. If no payout is known, a win may have any profit.
        let seen = trade(&opened, |_| TradeReport { profit: Some(Decimal::from(20)), ..over() });
        assert_eq!(seen.halted.is_none(), is_believed, "{seen:?}");
        let row_payout = events_in(&seen.entries).find_map(|event| match event.kind {
            EventKind::Opened(opened) => Some(opened.payout),
            _ => None,
        });
        assert_eq!(row_payout, Some(payout.filter(|_| is_believed)));
    }
}

#[test]
fn trade_on_another_symbol_settles_after_a_restart() {
    for symbol in ["ETHUSDT", "A-PAIR-WITH-A-NAME-OF-MORE-THAN-31-LETTERS", "ETH\u{202e}USDT"] {
        let other = |report: TradeReport| with_symbol(symbol, report);
        let first = trade(&other(running()), |_| other(running()));
        assert_eq!(first.state, IntentState::Open);
        let mut bench = Bench::new(parts_after(first.entries));
        let seen = play(&mut bench, 0, venue(running(), |ms| other(in_time(ms)), |_| None));
        assert_eq!((seen.state, seen.profit()), (IntentState::Settled, Some(800)), "{seen:?}");
    }
}

#[test]
fn record_of_another_trade_is_ignored_and_requested_again() {
    let changes: [(Change, &str, bool); 3] = [
        (|report| report.id = "01JU".to_owned(), "its id is 01JU", false),
        (|report| report.symbol = Some("ETHUSDT".to_owned()), "its symbol is ETHUSDT", true),
        (
            |report| report.direction = Some(ReportedValue::Known(Direction::Sell)),
            "its direction is SELL",
            true,
        ),
    ];
    for (change, expected, is_halted) in changes {
        let record = |ms: i64| {
            let mut record = TradeReport { profit: Some(Decimal::from(5_000)), ..over() };
            change(&mut record);
            if ms < 130_000 { record } else { over() }
        };
        let seen = trade(&running(), record);
        assert_eq!((seen.state, seen.asked.len()), (IntentState::Settled, 4), "{expected}: {seen:?}");
        assert_eq!(seen.profit(), Some(800), "{expected}");
        assert_eq!(seen.warnings_about(expected), 1, "said once: {:?}", seen.warnings);
        assert_eq!(seen.halted.is_some(), is_halted, "terms that were not ordered halt");
    }
}

fn unanswered(listed: &TradeReport) -> Seen {
    play(&mut Bench::start(|_| {}), OPENED, |ask, ms, now| match ask {
        Asked::Open => lost_open(INTENT),
        Asked::Trade => record_answer(over(), now),
        Asked::List => list_answer(if ms < OPENED { Vec::new() } else { vec![listed.clone()] }, now),
    })
}

#[test]
fn real_money_trade_of_a_lost_demo_order_halts() {
    let real = TradeReport { account: Some(Account::Real), ..running() };
    let seen = unanswered(&real);
    let part = "REAL MONEY: 10.00 was staked on the real account: trade 01JT may be trade #1";
    assert!(seen.halted.as_ref().is_some_and(|halted| halted.starts_with(part)), "{:?}", seen.halted);
    assert_eq!(seen.warnings_about(part), 1, "{:?}", seen.warnings);
    // The same applies if the trade appears after the doubt has ended.
    let mut bench = Bench::in_doubt();
    let (resolution, reason) = (Resolution::NotOpened, "no list has it".to_owned());
    bench.at(70_000).order(ControlOrder::Resolve { intent: INTENT, resolution, reason });
    let row = bench.coordinator.session.row(INTENT).map(|row| row.state);
    assert_eq!((row, bench.halted()), (Some(IntentState::NotOpened), None));
    let late = TradeListing { is_complete: true, trades: vec![real.clone()], ..TradeListing::default() };
    bench.look_with(Answer::Trades(late), no_balances_after_trades());
    assert!(bench.halted().is_some_and(|halted| halted.starts_with(part)), "{:?}", bench.halted());
    // A manual trade, a much earlier one, or one of another symbol belongs to the operator.
    for change in [
        |report: &mut TradeReport| report.is_opened_with_token = Some(false),
        |report: &mut TradeReport| report.request_time = Some(START - Millis::HOUR),
        |report: &mut TradeReport| report.symbol = Some("ETHUSDT".to_owned()),
    ] as [Change; 3]
    {
        let mut other = real.clone();
        change(&mut other);
        assert_eq!(unanswered(&other).halted, None, "{other:?}");
    }
}

#[test]
fn implausible_request_time_leaves_the_other_times() {
    for request_time in [Millis::new(-5), Millis::MAX, START + Millis::DAY * 3_650] {
        let seen = unanswered(&TradeReport { request_time: Some(request_time), ..running() });
        assert_eq!(seen.state, IntentState::Settled, "{request_time}: {:?}", seen.warnings);
        assert_eq!(seen.warnings_about("listed trade 01JT has"), 1, "{:?}", seen.warnings);
    }
}

#[test]
fn reports_oddities_once_while_halted() {
    let payout = Payout::from_percent(Decimal::from(900)).ok();
    let absurd = TradeReport { profit: Some(Decimal::from(100_000)), ..over() };
    let records: [(&dyn Fn(i64) -> TradeReport, &str); 2] = [
        (&|_| absurd.clone(), "trade #1 was WON with +100,000.00 on a stake of 10.00"),
        (
            &|ms| TradeReport { payout, ..if ms < 150_000 { running() } else { over() } },
            "trade #1 (01JT) has a payout of 900 %",
        ),
    ];
    for (record, said) in records {
        let seen = trade(&with_amount(50, running()), record);
        assert!(seen.halted.as_ref().is_some_and(|why| why.contains("amount is 50")), "{:?}", seen.warnings);
        assert_eq!(seen.warnings_about(said), 1, "{:?}", seen.warnings);
    }
}

fn with_another(rule: SecondTradeRule, other: &TradeReport) -> (Bench, Seen) {
    let mut bench = Bench::with(|parts| {
        (parts.settings.list_every_s, parts.settings.second_trade) = (30, rule);
    });
    let listed = |ms: i64| {
        let progress = if ms < 121_000 { TradeProgress::Running } else { TradeProgress::Over(Outcome::Lost) };
        let other = TradeReport { progress, ..other.clone() };
        Some(if ms < OPENED { Vec::new() } else { vec![other] })
    };
    let seen = play(&mut bench, 0, venue(running(), |_| over(), listed));
    (bench, seen)
}

fn adopt(bench: &mut Bench, id: &str) -> Result<(), String> {
    let (now, terms) = (bench.now, bench.coordinator.session.terms(INTENT).unwrap());
    bench.coordinator.begin_doubt(&terms, now);
    bench.coordinator.doubts.assign(INTENT, id)
}

fn is_taken(decided: Result<(), String>) -> bool {
    decided.is_err_and(|problem| problem.contains("belongs to another order"))
}

#[test]
fn second_trade_is_never_adopted() {
    let second = TradeReport { id: "01JU".to_owned(), ..running() };
    let (mut bench, seen) = with_another(SecondTradeRule::Alarm, &second);
    assert!(is_taken(adopt(&mut bench, "01JU")) && adopt(&mut bench, "01JV").is_ok());
    let mut parts = parts_after(seen.entries.clone());
    events_in(&seen.entries).for_each(|event| parts.recovered.apply_event(event));
    let mut next = Bench::new(parts);
    next.on(Input::Start);
    assert!(is_taken(adopt(&mut next, "01JU")) && adopt(&mut next, "01JV").is_ok());
}

#[test]
fn finished_second_trade_is_never_adopted() {
    let mut bench = Bench::start(|_| {});
    play(&mut bench, OPENED, honest());
    let free = bench.free();
    let commands = look_at(&mut bench, vec![TradeReport { id: "01JU".to_owned(), ..over() }], free);
    assert!(alarms(&commands).iter().any(|text| text.contains("has a second one, 01JU")), "{commands:?}");
    assert_eq!(bench.free(), free, "its money is not booked again");
    assert!(is_taken(adopt(&mut bench, "01JU")));
}

/// Reads the list, and then the wallet, whose free balance is `free` in minor units.
fn look_at(bench: &mut Bench, trades: Vec<TradeReport>, free: i64) -> Vec<Command> {
    let balances = Reply::without_latency(demo_balances(Decimal::new(free, 2)), bench.now);
    bench.look_with(list_answer(trades, bench.now), Answer::BalancesAfterTrades(Ok(balances)))
}

#[test]
fn second_trade_is_at_stake_and_halts_or_alarms() {
    let second = TradeReport { id: "01JU".to_owned(), ..running() };
    for (rule, is_halted) in [(SecondTradeRule::Halt, true), (SecondTradeRule::Alarm, false)] {
        let (_, seen) = with_another(rule, &second);
        let said = "trade #1 was ordered once, but the venue has a second one, 01JU";
        assert_eq!(seen.halted.as_deref(), is_halted.then_some(said));
        assert!(seen.warnings_about(said) > 0, "{:?}", seen.warnings);
        // Each trade stakes 10.00. One wins 8.00, the other loses.
        assert_eq!((seen.booked, seen.money), (Some((800, 125_000)), (2_000, 99_800)));
    }
}

#[test]
fn many_second_trades_are_all_at_stake_and_some_are_named() {
    let mut bench = Bench::start(|parts| parts.settings.second_trade = SecondTradeRule::Alarm);
    play(&mut bench, OPENED, honest());
    let free = bench.free();
    let mut look = |progress: &TradeProgress| {
        let second = |n: u32| TradeReport { id: format!("01K{n}"), progress: progress.clone(), ..running() };
        let commands = look_at(&mut bench, (0..30).map(second).collect(), 100);
        (commands, bench.free())
    };
    let (commands, at_stake) = look(&TradeProgress::Running);
    assert_eq!(free - at_stake, 30_000);
    // The finding is reported twice: to the operator and to the journal.
    assert_eq!(mentions(&commands, "has a second one, 01K"), 2 * 20);
    assert_eq!(mentions(&commands, "10 more unknown trades are in the venue's list"), 2);
    let (_, lost) = look(&TradeProgress::Over(Outcome::Lost));
    assert_eq!(free - lost, 30_000);
    assert_eq!(bench.coordinator.session.session().second_trades().len(), 0, "all are over");
}

#[test]
fn foreign_trade_is_only_reported() {
    let strangers: [Change; 3] = [
        |report| report.symbol = Some("ETHUSDT".to_owned()),
        |report| report.amount = Some(Decimal::from(11)),
        |report| report.request_time = Some(START + Millis::new(OPENED + 40_000)),
    ];
    for change in strangers {
        let mut other = TradeReport { id: "01JU".to_owned(), ..running() };
        change(&mut other);
        let (_, seen) = with_another(SecondTradeRule::Halt, &other);
        assert_eq!((seen.halted.as_deref(), seen.money), (None, (1_000, 100_800)), "{other:?}");
        assert_eq!(seen.warnings_about("trade 01JU on "), 1, "{:?}", seen.warnings);
    }
}
