//! Tests of the in-memory venue with hand-computed trades.

use super::*;
use crate::settings::{DrawRule, OpenRounding};
use ExpirationType::{CandleClose, NextCandle, TimeFixed};
use candlewick_sdk::{Candle, CandleSeries, Direction, ExpirationType, Expiry, Interval, Ohlcv, Series};

const START: i64 = 1_641_038_400_000;

fn millis(offset: i64) -> Millis {
    Millis::new(START + offset)
}

fn symbol() -> Symbol {
    Symbol::new("BTCUSDT").unwrap()
}

/// Candles for minutes 0 to 3, a gap at 4, then 5 and 6. Each opens at 100 x (minute + 1) and rises by 6, except that
/// minute 2 falls by 6 and minute 3 stays at minute 2's close. The data ends at 420,000.
fn market() -> Market {
    market_of(symbol())
}

fn market_of(symbol: Symbol) -> Market {
    let rows = [
        (0, 100.0, 106.0),
        (1, 200.0, 206.0),
        (2, 300.0, 294.0),
        (3, 294.0, 294.0),
        (5, 600.0, 606.0),
        (6, 700.0, 706.0),
    ];
    let candle = |(minute, open, close): (i64, f64, f64)| {
        let (high, low) = (f64::max(open, close) + 1.0, f64::min(open, close) - 1.0);
        let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
        Candle::new(millis(minute * 60_000), Interval::MINUTE, numbers).unwrap()
    };
    let series = Series { symbol, interval: Interval::MINUTE };
    Market { prices: CandleSeries::new(series, rows.map(candle).to_vec()).unwrap(), detail: Vec::new() }
}

fn exact(latency: i64) -> SimulationSettings {
    SimulationSettings {
        latency_ms: Millis::new(latency),
        open_rounding: OpenRounding::None,
        ..SimulationSettings::default()
    }
}

fn venue(settings: SimulationSettings, balance: i64) -> Simulator {
    Simulator::new(settings, Money::from_minor(balance), vec![market()]).unwrap()
}

fn order(number: u64, kind: ExpirationType, close_type: &str, offset: i64) -> Order {
    Order {
        number,
        symbol: symbol(),
        direction: Direction::Buy,
        stake: Money::from_minor(1_000),
        expiry: Expiry { close_type: close_type.parse().unwrap(), expiration_type: kind },
        time: millis(offset),
    }
}

fn drain(venue: &mut Simulator) -> Vec<VenueEvent> {
    std::iter::from_fn(|| venue.pop_due(Millis::MAX)).collect()
}

/// Values of a settlement. Times are relative to the start.
type TradeFigures = (Outcome, i64, Option<f64>, Option<f64>, i64, i64, i64);

fn figures(trade: &SettledTrade) -> TradeFigures {
    let offset = |time: Millis| time.get() - START;
    let times = [trade.open_time, trade.close_time, trade.known_at].map(offset);
    (trade.outcome, trade.profit.minor(), trade.open_price, trade.close_price, times[0], times[1], times[2])
}

fn check(settings: SimulationSettings, kind: ExpirationType, offset: i64, expected: TradeFigures) {
    let latency = settings.latency_ms;
    let mut venue = venue(settings, 5_000);
    let answer = venue.submit(&order(7, kind, "01:00", offset));
    assert_eq!(answer.at, millis(offset) + latency);
    let events = drain(&mut venue);
    let [VenueEvent::Answered(answered), VenueEvent::Settled(trade)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((*answered, figures(trade)), (answer, expected));
    assert_eq!((venue.balance().minor(), venue.open_stakes().minor()), (5_000 + expected.1, 0));
}

#[test]
fn order_without_latency_enters_at_the_open_and_exits_at_the_close() {
    let won = (Outcome::Won, 800, Some(100.0), Some(106.0), 0, 60_000, 64_000);
    check(exact(0), TimeFixed, 0, won);
    check(exact(0), CandleClose, 0, won);
    let next = (Outcome::Won, 800, Some(200.0), Some(206.0), 60_000, 120_000, 124_000);
    check(exact(0), NextCandle, 0, next);
    let lost = (Outcome::Lost, -1_000, Some(300.0), Some(294.0), 120_000, 180_000, 184_000);
    check(exact(0), TimeFixed, 120_000, lost);
}

#[test]
fn equal_prices_draw_or_lose_by_setting() {
    let draw = (Outcome::Draw, 0, Some(294.0), Some(294.0), 180_000, 240_000, 244_000);
    check(exact(0), TimeFixed, 180_000, draw);
    let settings = SimulationSettings { draw: DrawRule::Loss, ..exact(0) };
    let lost = (Outcome::Lost, -1_000, Some(294.0), Some(294.0), 180_000, 240_000, 244_000);
    check(settings, TimeFixed, 180_000, lost);
}

#[test]
fn missing_price_cancels_and_refunds_the_stake() {
    let no_exit = (Outcome::Cancelled, 0, Some(294.0), None, 181_500, 241_500, 245_500);
    check(exact(1_500), TimeFixed, 180_000, no_exit);
    // The candle that would end at 300,000 is missing. The candle that opens there does not replace it.
    let no_end = (Outcome::Cancelled, 0, None, None, 240_000, 300_000, 304_000);
    check(exact(0), NextCandle, 180_000, no_end);
    let stand_in = SimulationSettings { max_gap_intervals: 1, ..exact(0) };
    let draw = (Outcome::Draw, 0, Some(294.0), Some(294.0), 240_000, 300_000, 304_000);
    check(stand_in, NextCandle, 180_000, draw);
}

/// Returns the settlement of an order at an initial balance of 5,000.
fn ended(settings: SimulationSettings, order: &Order) -> TradeFigures {
    let mut venue = venue(settings, 5_000);
    venue.submit(order);
    let events = drain(&mut venue);
    let [_, VenueEvent::Settled(trade)] = &events[..] else { panic!("{events:?}") };
    figures(trade)
}

#[test]
fn stress_moves_both_prices_against_the_trade() {
    // The range of each candle is 8. The shift is 0.5 x 8 x sqrt(15 / 60) = 2 on either side.
    let settings = SimulationSettings { stress: 0.5, ..exact(15_000) };
    let bought = (Outcome::Won, 800, Some(103.5), Some(199.5), 15_000, 75_000, 79_000);
    check(settings.clone(), TimeFixed, 0, bought);
    let sell = Order { direction: Direction::Sell, ..order(1, CandleClose, "01:00", 105_000) };
    let sold = (Outcome::Won, 800, Some(298.0), Some(296.0), 120_000, 180_000, 184_000);
    assert_eq!(ended(settings, &sell), sold);
}

#[test]
fn declines_orders_for_one_of_three_reasons() {
    let refused = |order: Order, balance: i64, expected: Refusal| {
        let mut venue = venue(exact(500), balance);
        let answer = venue.submit(&order);
        assert_eq!(answer.kind, AnswerKind::Refused(expected));
        assert_eq!(drain(&mut venue), [VenueEvent::Answered(answer)]);
        assert_eq!((venue.balance().minor(), venue.unsettled().len()), (balance, 0));
    };
    refused(order(1, TimeFixed, "01:00", 240_000), 5_000, Refusal::NoPrice);
    refused(order(1, CandleClose, "01:00", 299_000), 5_000, Refusal::NoPrice);
    refused(order(1, TimeFixed, "01:00", 0), 999, Refusal::InsufficientBalance);
    let stranger = Symbol::new("ETHUSDT").unwrap();
    refused(Order { symbol: stranger, ..order(1, TimeFixed, "01:00", 0) }, 5_000, Refusal::UnknownSymbol);
    let nothing = Order { stake: Money::ZERO, ..order(1, TimeFixed, "01:00", 0) };
    refused(nothing, 5_000, Refusal::InsufficientBalance);
}

#[test]
fn trade_that_closes_with_the_data_settles_but_a_later_one_never_does() {
    let settled = (Outcome::Won, 800, Some(700.0), Some(706.0), 360_000, 420_000, 424_000);
    check(exact(0), TimeFixed, 360_000, settled);
    let stays = |latency, kind, close_type, offset, open_price| {
        let mut venue = venue(exact(latency), 5_000);
        let answer = venue.submit(&order(7, kind, close_type, offset));
        let AnswerKind::Opened(opening) = answer.kind else { panic!("{answer:?}") };
        assert_eq!(opening.open_price, open_price, "{kind:?} at {offset}");
        assert_eq!(drain(&mut venue), [VenueEvent::Answered(answer)]);
        let stake = Money::from_minor(1_000);
        assert_eq!(venue.unsettled(), [UnsettledTrade { number: 7, stake }]);
        assert_eq!((venue.balance().minor(), venue.open_stakes().minor()), (4_000, 1_000));
    };
    stays(6_000, TimeFixed, "01:00", 360_000, Some(700.6));
    stays(0, CandleClose, "01:00", 390_000, Some(703.0));
    stays(0, TimeFixed, "01:00", 420_000, None);
    stays(1_500, CandleClose, "01:00", 419_000, None);
    stays(0, NextCandle, "01:00", 360_000, None);
    stays(0, NextCandle, "01:00", 420_000, None);
    // The trade opens in the gap at 240,000. A trade that exits after the end of the data is never cancelled.
    stays(0, NextCandle, "04:00", 230_000, None);
}

#[test]
fn stakes_leave_at_the_answer_and_return_when_the_settlement_is_known() {
    let mut venue = venue(exact(1_500), 5_000);
    venue.submit(&order(1, TimeFixed, "01:00", 0));
    for (now, balance, next) in [
        (0, 5_000, Some(1_500)),
        (1_499, 5_000, Some(1_500)),
        (1_500, 4_000, Some(65_500)),
        (65_499, 4_000, Some(65_500)),
        (65_500, 5_800, None),
    ] {
        while venue.pop_due(millis(now)).is_some() {}
        assert_eq!((venue.balance().minor(), venue.next_due()), (balance, next.map(millis)), "at {now}");
    }
}

#[test]
fn balance_is_checked_at_the_arrival() {
    // The first order takes the whole balance. The stake and 800 return at 64,000 and cover an order that arrives then.
    for (latency, offset, opened) in [(0, 63_999, false), (0, 64_000, true), (4_000, 60_000, true)] {
        let mut venue = venue(exact(latency), 1_000);
        venue.submit(&order(1, TimeFixed, "01:00", -latency));
        while venue.pop_due(millis(offset)).is_some() {}
        let answer = venue.submit(&order(2, TimeFixed, "01:00", offset));
        assert_eq!(matches!(answer.kind, AnswerKind::Opened(_)), opened, "{latency} from {offset}");
    }
    // Two orders in flight cannot use the same money twice.
    let mut venue = venue(exact(2_000), 1_999);
    assert!(matches!(venue.submit(&order(1, TimeFixed, "01:00", 0)).kind, AnswerKind::Opened(_)));
    let second = venue.submit(&order(2, TimeFixed, "01:00", 1_000));
    assert_eq!(second.kind, AnswerKind::Refused(Refusal::InsufficientBalance));
}

#[test]
fn settlements_precede_replies_at_the_same_time_and_both_are_sorted_by_number() {
    let mut venue = venue(exact(0), 9_000);
    venue.submit(&order(5, TimeFixed, "01:00", 4_000));
    venue.submit(&order(4, CandleClose, "02:00", 4_000));
    while venue.pop_due(millis(4_000)).is_some() {}
    // At 68,000, the settlement of order 5 and the answers to these two orders are due.
    venue.submit(&order(9, TimeFixed, "01:00", 68_000));
    venue.submit(&order(8, TimeFixed, "01:00", 68_000));
    let order_of = |venue: &mut Simulator| {
        let figures = |event: VenueEvent| (event.time().get() - START, event.number());
        drain(venue).into_iter().map(figures).collect::<Vec<_>>()
    };
    let expected = [(68_000, 5), (68_000, 8), (68_000, 9), (124_000, 4), (132_000, 8), (132_000, 9)];
    assert_eq!(order_of(&mut venue), expected);
}

#[test]
fn finds_every_market_regardless_of_their_order() {
    let symbols = ["ZECUSDT", "ADAUSDT", "BTCUSDT"].map(|name| Symbol::new(name).unwrap());
    let venue = Simulator::new(exact(0), Money::ZERO, symbols.map(market_of).to_vec()).unwrap();
    for symbol in symbols {
        assert_eq!(venue.price_at(symbol, millis(60_000)), PathPrice::Price(106.0), "{symbol}");
    }
    assert_eq!(venue.price_at(Symbol::new("X").unwrap(), millis(60_000)), PathPrice::Gap);
}

#[test]
fn rejects_invalid_settings_and_markets() {
    let made = |settings, balance, markets| Simulator::new(settings, Money::from_minor(balance), markets);
    let error = |made: Result<Simulator, SimulatorError>| made.unwrap_err().to_string();
    assert_eq!(error(made(exact(-1), 0, vec![])), "[simulation] latency_ms = -1: use 0 to 86400000");
    let words = "the initial balance of -1 minor units is negative; use 0 or more";
    assert_eq!(error(made(exact(0), -1, vec![])), words);
    let twice = vec![market(), market_of(Symbol::new("ZECUSDT").unwrap()), market()];
    let words = "BTCUSDT has two markets; use one per symbol, with its finer candles as detail";
    assert_eq!(error(made(exact(0), 0, twice)), words);
}

#[test]
fn stake_is_reserved_then_taken_then_settled() {
    let money = Money::from_minor;
    let mut wallet = Wallet { balance: money(1_000), staked: Money::ZERO, reserved: Money::ZERO };
    let mut check = |step: &dyn Fn(&mut Wallet), expected: [i64; 3]| {
        step(&mut wallet);
        assert_eq!([wallet.balance, wallet.free_balance(), wallet.staked], expected.map(money));
    };
    check(&|wallet| wallet.reserve_stake(money(300)), [1_000, 700, 0]);
    check(&|wallet| wallet.reserve_stake(money(200)), [1_000, 500, 0]);
    check(&|wallet| wallet.take_stake(money(300)), [700, 500, 300]);
    check(&|wallet| wallet.settle(money(300), money(240)), [1_240, 1_040, 0]);
    check(&|wallet| wallet.take_stake(money(200)), [1_040, 1_040, 200]);
    check(&|wallet| wallet.settle(money(200), money(-200)), [1_040, 1_040, 0]);
    check(&|wallet| wallet.book_profit(money(-40)), [1_000, 1_000, 0]);
}
