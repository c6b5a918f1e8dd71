//! Summary of a run, compared with hand-computed figures.

use crate::stage::{Scripted, bot, minute, series, settings};
use Outcome::{Cancelled, Draw, Lost, Won};
use candlewick_backtest::Summary;
use candlewick_backtest::metric::Drawdown;
use candlewick_engine::{
    Event, EventKind, IfRefused, IntentId, LadderEntry, OpenedTrade, Origin, Rejection, SeriesId, Session,
    StakeSettings, TradeBook, TradeSettlement,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, Interval, Millis, Money, Ohlcv, Outcome, Payout};
use std::collections::BTreeMap;

/// Ending of an intent: none, without a trade, or a settlement some seconds after its open, with a
/// profit in cents and an optional payout in percent.
#[derive(Clone, Copy)]
enum Ending {
    StaysOpen,
    NoPrice,
    NotSent,
    Ends(Outcome, i64, Option<u32>),
    EndsLate(Outcome, i64, Option<u32>),
}
use Ending::{Ends, EndsLate, NoPrice, NotSent, StaysOpen};

const BALANCE: Money = Money::from_minor(1_000_000);

/// Builds the book of a bot that buys every minute with this stake.
fn book(stake: StakeSettings, endings: &[Ending]) -> TradeBook {
    let place = series("BTCUSDT", "1m");
    let mut settings = settings(vec![bot("a", place)]).session;
    settings.balance = Decimal::from(10_000);
    settings.bots[0].stake = stake;
    settings.risk.max_open_trades_per_symbol = 0;
    let minutes: Vec<i64> = (1..=endings.len() as i64).collect();
    let mut session = Session::new(&settings, vec![Box::new(Scripted::on(place, &minutes))]).unwrap();
    let mut events: Vec<Event> = Vec::new();
    for (number, ending) in (1..).zip(endings) {
        let open = minute(number);
        let mut add = |after: i64, kind| {
            let at = open + Millis::from_seconds(after);
            events.push(Event { at, received: at, kind });
        };
        add(0, candle(number));
        let intent = IntentId::new(number.cast_unsigned());
        let (venue_id, open_time, open_price, close_time) = (None, None, None, None);
        let opened =
            OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout: None, taken: None };
        match *ending {
            StaysOpen => add(2, EventKind::Opened(opened)),
            NoPrice => add(2, EventKind::Rejected { intent, rejection: Rejection::NoPrice }),
            NotSent => add(2, EventKind::NotSent { intent }),
            Ends(outcome, profit, percent) => add(30, settled(intent, outcome, profit, percent)),
            EndsLate(outcome, profit, percent) => {
                add(2, EventKind::Opened(opened));
                add(3_600, settled(intent, outcome, profit, percent));
            }
        }
    }
    events.sort_by_key(|event| event.at);
    let mut book = TradeBook::default();
    for event in &events {
        let mut actions = Vec::new();
        session.handle(event, &mut actions);
        book.record_event(event);
        for action in &actions {
            book.record_action(action);
        }
    }
    assert_eq!(book.rows().len(), endings.len());
    book
}

fn candle(close: i64) -> EventKind {
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    let candle = Candle::new(minute(close - 1), Interval::MINUTE, numbers).unwrap();
    EventKind::Candle { series: SeriesId::FIRST, candle, origin: Origin::Live }
}

fn settled(intent: IntentId, outcome: Outcome, profit: i64, percent: Option<u32>) -> EventKind {
    let payout = percent.and_then(|percent| Payout::from_parts(percent * 10_000));
    let settled = TradeSettlement::from_operator(intent, outcome, Money::from_minor(profit));
    EventKind::Settled(TradeSettlement { payout, ..settled })
}

fn fixed() -> StakeSettings {
    StakeSettings::Fixed { amount: Decimal::TEN }
}

fn ladder() -> StakeSettings {
    let (entry, if_refused) = (LadderEntry::NextSignal, IfRefused::Wait);
    StakeSettings::Martingale { amount: Decimal::TEN, factor: 2.0, levels: 3, entry, if_refused }
}

fn check_near(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{found:?} instead of {expected}");
}

#[test]
fn mixed_stakes_and_payouts_each_use_their_own_break_even() {
    // Stakes 10, 20, 10, 10, 20, 40, 10, 10.
    let endings = [
        Ends(Lost, -1_000, Some(80)),
        Ends(Won, 1_800, Some(90)),
        Ends(Draw, 0, Some(70)),
        Ends(Lost, -1_000, Some(80)),
        Ends(Lost, -2_000, Some(85)),
        Ends(Won, 3_400, Some(85)),
        Ends(Cancelled, 0, None),
        StaysOpen,
    ];
    let found = Summary::new(&book(ladder(), &endings), BALANCE);
    let counts = [found.trades, found.won, found.lost, found.draw, found.cancelled, found.unsettled];
    assert_eq!(counts, [7, 2, 3, 1, 1, 1]);
    assert_eq!((found.pnl, found.longest_losing_streak), (Money::from_minor(1_200), 2));
    check_near(found.win_rate, 0.4);
    // Stakes: 10 + 20 + 10 + 20 + 40 = 100. Returns if all had won: 18 + 38 + 18 + 37 + 74 = 185.
    check_near(found.break_even_by_money, 100.0 / 185.0);
    // Two trades at 80 %, one at 90 %, two at 85 %, each counted once.
    check_near(found.break_even, (2.0 / 1.8 + 1.0 / 1.9 + 2.0 / 1.85) / 5.0);
    // P(2 wins or more) over all 32 outcomes of wins at 1/1.8, 1/1.9, 1/1.8, 1/1.85 and 1/1.85.
    check_near(found.p_value, 0.862_443_761_922_187_7);
    // Balances: 9,990 / 10,008 / 9,998 / 9,978 / 10,012.
    let Drawdown { amount, percent, .. } = found.max_drawdown;
    assert_eq!(amount, Money::from_minor(3_000));
    check_near(Some(percent), 30.0 / 10_008.0 * 100.0);
    assert_eq!(found.refused, BTreeMap::new());
}

#[test]
fn single_payout_gives_its_break_even_and_exact_binomial() {
    let endings = [Won, Won, Lost, Won]
        .map(|outcome| Ends(outcome, if outcome == Won { 800 } else { -1_000 }, Some(80)));
    let summary = Summary::new(&book(fixed(), &endings), BALANCE);
    check_near(summary.win_rate, 0.75);
    check_near(summary.break_even, 5.0 / 9.0);
    // 4 (5/9)^3 (4/9) + (5/9)^4 = 2,625 / 6,561.
    check_near(summary.p_value, 2_625.0 / 6_561.0);
    assert_eq!(summary.pnl, Money::from_minor(1_400));
}

#[test]
fn unknown_payouts_have_no_p_value() {
    let found = Summary::new(&book(fixed(), &[Ends(Won, 800, Some(80)), Ends(Lost, -1_000, None)]), BALANCE);
    check_near(found.break_even, 5.0 / 9.0);
    assert_eq!(found.p_value, None);
}

#[test]
fn no_rates_without_a_decided_trade() {
    for endings in
        [&[][..], &[Ends(Draw, 0, Some(80)), Ends(Cancelled, 0, Some(80))], &[StaysOpen, StaysOpen]]
    {
        let summary = Summary::new(&book(fixed(), endings), BALANCE);
        assert_eq!((summary.win_rate, summary.break_even, summary.p_value), (None, None, None));
        assert_eq!((summary.pnl, summary.max_drawdown), (Money::ZERO, Drawdown::default()));
    }
}

#[test]
fn unopened_intents_count_as_refusals_not_trades() {
    let found = Summary::new(&book(fixed(), &[NoPrice, Ends(Won, 800, Some(80)), NotSent, NoPrice]), BALANCE);
    assert_eq!((found.trades, found.unsettled), (1, 0));
    assert_eq!(found.refused, BTreeMap::from([("NoPrice", 2), ("NotSent", 1)]));
}

#[test]
fn streaks_and_drawdowns_follow_the_order_of_settlements() {
    let (lost, late) = (Ends(Lost, -1_000, Some(80)), EndsLate(Won, 800, Some(80)));
    let summary = Summary::new(&book(fixed(), &[late, lost, Ends(Won, 800, Some(80)), lost]), BALANCE);
    // Balances from 10,000: 9,990 / 9,998 / 9,988 / 9,996. In the order of decisions, the peak would be 10,008.
    assert_eq!(summary.max_drawdown.amount, Money::from_minor(1_200));
    check_near(Some(summary.max_drawdown.percent), 0.12);
    assert_eq!((summary.longest_winning_streak, summary.max_drawdown_by_percent), (1, summary.max_drawdown));
    assert_eq!(Summary::new(&book(fixed(), &[late, lost, late, lost]), BALANCE).longest_losing_streak, 2);
}
