//! Constructors of events. Minutes and seconds are counted from 2026-01-05 00:00 UTC.

use candlewick_engine::{
    BotId, Control, Event, EventKind, IntentId, OpenedTrade, Origin, OutsideSignal, RefusalReason, Rejection,
    SecondTrade, SeriesId, SymbolId, TradeSettlement, VenueId,
};
use candlewick_sdk::serde_json::{from_value, json};
use candlewick_sdk::{Candle, Direction, Interval, Millis, Money, Ohlcv, Outcome, Payout, Price, Text};

pub(crate) const START: i64 = 1_767_571_200_000;

pub(crate) fn minute(minute: i64) -> Millis {
    Millis::new(START) + Millis::MINUTE * minute
}

pub(crate) fn second(second: i64) -> Millis {
    Millis::new(START) + Millis::SECOND * second
}

pub(crate) fn series_id(position: u16) -> SeriesId {
    from_value(json!(position)).unwrap()
}

pub(crate) fn symbol_id(position: u16) -> SymbolId {
    from_value(json!(position)).unwrap()
}

/// An event without any effect except that time passes: the clock is correct.
pub(crate) const NO_SKEW: EventKind = EventKind::Skew { offset: Millis::ZERO };

/// Creates an event at a second, with the same arrival time.
pub(crate) fn at(moment: i64, kind: EventKind) -> Event {
    Event { at: second(moment), received: second(moment), kind }
}

/// Creates the one-minute candle of a series that closes at a minute.
pub(crate) fn candle(series: u16, close: i64) -> Event {
    at(close * 60, candle_kind(series, Interval::MINUTE, close, Origin::Live))
}

/// Like [`candle`], but backfilled.
pub(crate) fn backfilled(series: u16, close: i64) -> Event {
    at(close * 60, candle_kind(series, Interval::MINUTE, close, Origin::Backfill))
}

/// Creates the candle of a minute, its trade of the same number at a payout of 80 %, and the end of the trade.
pub(crate) fn trade(minute: i64, end: EventKind) -> [Event; 3] {
    let opened = opened_paying(minute.unsigned_abs(), 80);
    [candle(0, minute), at(minute * 60 + 1, opened), at(minute * 60 + 50, end)]
}

pub(crate) fn candle_kind(series: u16, interval: Interval, close: i64, origin: Origin) -> EventKind {
    let candle = flat_candle(minute(close) - interval.length(), interval);
    EventKind::Candle { series: series_id(series), candle, origin }
}

pub(crate) fn flat_candle(open: Millis, interval: Interval) -> Candle {
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
    Candle::new(open, interval, numbers).unwrap()
}

pub(crate) fn price(symbol: u16, moment: i64) -> Event {
    let price = Price { time: second(moment), value: 1.0 };
    at(moment, EventKind::Price { symbol: symbol_id(symbol), price })
}

/// Creates an acceptance without details.
pub(crate) fn bare(intent: u64) -> OpenedTrade {
    OpenedTrade {
        intent: IntentId::new(intent),
        venue_id: None,
        open_time: None,
        open_price: None,
        close_time: None,
        payout: None,
        taken: None,
    }
}

pub(crate) fn opened(intent: u64) -> EventKind {
    EventKind::Opened(bare(intent))
}

pub(crate) fn opened_paying(intent: u64, percent: u32) -> EventKind {
    EventKind::Opened(OpenedTrade { payout: payout(percent), ..bare(intent) })
}

pub(crate) fn payout(percent: u32) -> Option<Payout> {
    Payout::from_parts(percent * 10_000)
}

pub(crate) fn rejected(intent: u64) -> EventKind {
    EventKind::Rejected { intent: IntentId::new(intent), rejection: Rejection::NoPrice }
}

pub(crate) fn refused(intent: u64, reason: RefusalReason) -> EventKind {
    let rejection = Rejection::Refused { reason, text: Text::truncated("no") };
    EventKind::Rejected { intent: IntentId::new(intent), rejection }
}

pub(crate) fn not_sent(intent: u64) -> EventKind {
    EventKind::NotSent { intent: IntentId::new(intent) }
}

pub(crate) fn in_doubt(intent: u64) -> EventKind {
    EventKind::InDoubt { intent: IntentId::new(intent) }
}

pub(crate) fn adopted(intent: u64) -> EventKind {
    EventKind::Adopted(bare(intent))
}

/// Marks an intent as not opened. The stake stays reserved until the given second.
pub(crate) fn not_opened(intent: u64, until: i64) -> EventKind {
    EventKind::NotOpened { intent: IntentId::new(intent), reserved_until: second(until) }
}

pub(crate) fn second_trade(intent: u64, id: &str, minor: i64) -> EventKind {
    let (intent, venue_id) = (IntentId::new(intent), VenueId::truncated(id));
    EventKind::SecondTrade(SecondTrade { intent, venue_id, stake: Money::from_minor(minor) })
}

pub(crate) fn second_trade_settled(intent: u64, id: &str, minor: i64) -> EventKind {
    let (intent, venue_id) = (IntentId::new(intent), VenueId::truncated(id));
    EventKind::SecondTradeSettled { intent, venue_id, profit: Money::from_minor(minor) }
}

pub(crate) fn deposit(amount: i64) -> EventKind {
    EventKind::Deposit { amount: Money::from_minor(amount) }
}

pub(crate) fn difference(amount: i64) -> EventKind {
    EventKind::WalletDifference { amount: Money::from_minor(amount) }
}

pub(crate) fn settled(intent: u64, outcome: Outcome, profit: i64) -> TradeSettlement {
    TradeSettlement::from_operator(IntentId::new(intent), outcome, Money::from_minor(profit))
}

pub(crate) fn by_person(intent: u64, outcome: Outcome, profit: i64) -> EventKind {
    let (intent, profit) = (IntentId::new(intent), Money::from_minor(profit));
    EventKind::SettledByPerson { intent, outcome, profit }
}

pub(crate) fn corrected(intent: u64, outcome: Outcome, profit: i64) -> EventKind {
    let (intent, profit) = (IntentId::new(intent), Money::from_minor(profit));
    EventKind::Correction { intent, outcome, profit }
}

pub(crate) fn won(intent: u64, profit: i64) -> EventKind {
    EventKind::Settled(settled(intent, Outcome::Won, profit))
}

pub(crate) fn lost(intent: u64, stake: i64) -> EventKind {
    EventKind::Settled(settled(intent, Outcome::Lost, -stake))
}

pub(crate) fn drew(intent: u64) -> EventKind {
    EventKind::Settled(settled(intent, Outcome::Draw, 0))
}

pub(crate) fn cancelled(intent: u64) -> EventKind {
    EventKind::Settled(settled(intent, Outcome::Cancelled, 0))
}

pub(crate) fn control(control: Control) -> EventKind {
    EventKind::Control { control }
}

/// Creates an external signal with this id for the first bot.
pub(crate) fn outside_signal(id: &str) -> OutsideSignal {
    OutsideSignal {
        bot: BotId::FIRST,
        direction: Direction::Buy,
        source: Text::truncated("webhook"),
        id: Text::truncated(id),
        expires: None,
        expiry: None,
        reason: Text::truncated(""),
    }
}
