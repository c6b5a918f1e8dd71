//! The hand-written loop, which makes the same trades as a backtest and nothing else.

use super::work::{BALANCE, OVERBOUGHT, OVERSOLD, PERIODS, STAKE, Signals, WARMUP};
use candlewick_sdk::{Candle, compare_prices};
use std::cmp::Ordering;
use ta::Next;
use ta::indicators::RelativeStrengthIndex;

const STAKE_CENTS: i64 = STAKE * 100;
/// Profit of a win at a payout of 80 %.
const PROFIT_CENTS: i64 = STAKE_CENTS * 80 / 100;
/// Candles from the signal to the entry.
///
/// A trade enters 3 s into the next candle, after the usual latency and the end of its second. It
/// ends 3 s into the fifth candle after that. Both prices are interpolated between open and close.
const ENTRY_CANDLES: usize = 1;
const EXIT_CANDLES: usize = 6;
const INTO_CANDLE: f64 = 3_000.0;

/// Results in which a backtest and the loop must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) trades: u64,
    /// Profit in cents.
    pub(super) pnl: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Oversold,
    Between,
    Overbought,
}

struct Trade {
    is_buy: bool,
    entry_index: usize,
    exit_index: usize,
    open_price: f64,
}

/// Trades one symbol with a number of bots. The candle at `price_candle(index)` has the prices of
/// trades at `index`.
#[inline]
pub(super) fn run<'a, const BOTS: usize>(
    candles: &'a [Candle],
    signals: Signals,
    interval_ms: f64,
    price_candle: impl Fn(usize) -> &'a Candle,
) -> Outcome {
    let price_at = |index| {
        let candle = price_candle(index);
        candle.open() + (candle.close() - candle.open()) * INTO_CANDLE / interval_ms
    };
    let mut bots: [(RelativeStrengthIndex, Zone); BOTS] =
        std::array::from_fn(|bot| (wilder_rsi(PERIODS[bot]), Zone::Between));
    let mut outcome = Outcome::default();
    let mut open: Option<Trade> = None;
    for (index, candle) in candles.iter().enumerate() {
        if let Some(trade) = &mut open {
            if index == trade.entry_index {
                trade.open_price = price_at(index);
            }
            if index == trade.exit_index {
                outcome.pnl += trade.profit(price_at(index));
                outcome.trades += 1;
                open = None;
            }
        }
        for (rsi, last) in &mut bots {
            let zone = Zone::of(rsi.next(candle.close()));
            let is_signal = signals == Signals::AtExtremes || zone != *last;
            *last = zone;
            let has_money = outcome.pnl >= STAKE_CENTS - BALANCE * 100;
            if zone != Zone::Between && is_signal && open.is_none() && index + 1 >= WARMUP && has_money {
                open = Some(Trade::new(index, zone));
            }
        }
    }
    outcome
}

/// Returns an index over `2 * period - 1`, which smooths as Wilder's does over `period`.
fn wilder_rsi(period: usize) -> RelativeStrengthIndex {
    RelativeStrengthIndex::new(2 * period - 1).expect("the period is not zero")
}

impl Zone {
    #[inline]
    fn of(rsi: f64) -> Self {
        if rsi < OVERSOLD {
            Self::Oversold
        } else if rsi > OVERBOUGHT {
            Self::Overbought
        } else {
            Self::Between
        }
    }
}

impl Trade {
    fn new(index: usize, zone: Zone) -> Self {
        Self {
            is_buy: zone == Zone::Oversold,
            entry_index: index + ENTRY_CANDLES,
            exit_index: index + EXIT_CANDLES,
            open_price: 0.0,
        }
    }

    fn profit(&self, close_price: f64) -> i64 {
        let won = if self.is_buy { Ordering::Greater } else { Ordering::Less };
        match compare_prices(close_price, self.open_price) {
            Ordering::Equal => 0,
            order if order == won => PROFIT_CENTS,
            _ => -STAKE_CENTS,
        }
    }
}
