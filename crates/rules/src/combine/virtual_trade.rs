//! A virtual trade: a signal traded at the candle's price, without latency or money.

use candlewick_sdk::{Candle, Direction, ExpirationType, Expiry, Millis, compare_prices};
use candlewick_statistics::TradeOutcome;
use std::cmp::Ordering;

/// Within this distance of a candle's end, a `CANDLE_CLOSE` of 60 s or more belongs to the next
/// candle (`domain 3`).
const CUTOFF: Millis = Millis::from_seconds(30);

pub(super) struct VirtualTrade {
    direction: Direction,
    entry_at: Millis,
    exit_at: Millis,
    entry: Option<f64>,
}

pub(super) enum Ending {
    NotYet,
    NoPrice,
    Ended(TradeOutcome),
}

impl VirtualTrade {
    pub(super) fn new(direction: Direction, expiry: Expiry, at: Millis) -> Self {
        let (entry_at, exit_at) = times(expiry, at);
        Self { direction, entry_at, exit_at, entry: None }
    }

    pub(super) fn on_candle(&mut self, candle: &Candle, interval: Millis) -> Ending {
        let (begin, end) = (candle.time(), candle.time() + interval);
        if self.entry.is_none() {
            if begin > self.entry_at {
                return Ending::NoPrice;
            }
            if end <= self.entry_at {
                return Ending::NotYet;
            }
            self.entry = Some(price(candle, self.entry_at, interval));
        }
        let Some(entry) = self.entry.filter(|_| end >= self.exit_at) else { return Ending::NotYet };
        if begin >= self.exit_at {
            return Ending::NoPrice;
        }
        let exit = price(candle, self.exit_at, interval);
        Ending::Ended(match (compare_prices(exit, entry), self.direction) {
            (Ordering::Equal, _) => TradeOutcome::Draw,
            (Ordering::Greater, Direction::Buy) | (Ordering::Less, Direction::Sell) => TradeOutcome::Won,
            (Ordering::Greater, Direction::Sell) | (Ordering::Less, Direction::Buy) => TradeOutcome::Lost,
        })
    }
}

/// Returns the price at a moment of a candle, inclusive of both ends (`domain 3`, the path
/// `linear`).
fn price(candle: &Candle, at: Millis, interval: Millis) -> f64 {
    let inside = at - candle.time();
    if inside == Millis::ZERO {
        candle.open()
    } else if inside == interval {
        candle.close()
    } else {
        candle.open() + (candle.close() - candle.open()) * inside.get() as f64 / interval.get() as f64
    }
}

/// Returns open and close time of a trade decided at `at`, without latency (`domain 3`).
fn times(expiry: Expiry, at: Millis) -> (Millis, Millis) {
    let duration = expiry.close_type.duration();
    let next = at.floor_to(duration) + duration;
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => (at, at + duration),
        ExpirationType::CandleClose => {
            let cutoff = if duration >= Millis::MINUTE { CUTOFF } else { Millis::ZERO };
            (at, if next - at <= cutoff { next + duration } else { next })
        }
        ExpirationType::NextCandle => (next, next + duration),
    }
}
