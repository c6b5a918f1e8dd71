//! Hand-written loops that make the same trades and nothing else.

use super::{BALANCE, Outcome, STAKE, Signals, WARMUP, Zone};
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
const INTERVAL: f64 = 60_000.0;
const DETAIL_INTERVAL: f64 = 30_000.0;

#[derive(Clone, Copy)]
struct Trade {
    is_buy: bool,
    entry_index: usize,
    exit_index: usize,
    open_price: f64,
}

pub(super) fn single(candles: &[Candle]) -> Outcome {
    run(candles, Signals::AtCrossings, |index| price_in(&candles[index], INTERVAL))
}

pub(super) fn at_extremes(candles: &[Candle]) -> Outcome {
    run(candles, Signals::AtExtremes, |index| price_in(&candles[index], INTERVAL))
}

pub(super) fn detailed(candles: &[Candle], detail: &[Candle]) -> Outcome {
    run(candles, Signals::AtCrossings, |index| price_in(&detail[2 * index], DETAIL_INTERVAL))
}

#[inline]
fn run(candles: &[Candle], signals: Signals, price_at: impl Fn(usize) -> f64) -> Outcome {
    // Over 27 it smooths as Wilder does over 14.
    let mut rsi = RelativeStrengthIndex::new(27).expect("a sound period");
    let mut balance = BALANCE * 100;
    let mut trades = 0;
    let mut open: Option<Trade> = None;
    let mut last = Zone::Between;
    for (index, candle) in candles.iter().enumerate() {
        if let Some(trade) = &mut open {
            if index == trade.entry_index {
                trade.open_price = price_at(index);
            }
            if index == trade.exit_index {
                balance += returned(trade, price_at(index));
                trades += 1;
                open = None;
            }
        }
        let zone = Zone::of(rsi.next(candle.close()));
        let signals = signals == Signals::AtExtremes || zone != last;
        last = zone;
        if zone != Zone::Between && signals && open.is_none() && index + 1 >= WARMUP && balance >= STAKE_CENTS
        {
            balance -= STAKE_CENTS;
            open = Some(Trade::entered(index, zone));
        }
    }
    if open.is_some() {
        balance += STAKE_CENTS; // the data ends before it does
    }
    Outcome { trades, balance }
}

pub(super) fn crowd<'a>(symbols: impl Iterator<Item = &'a [Candle]>, periods: &[usize]) -> Outcome {
    let mut whole = Outcome { trades: 0, balance: BALANCE * 100 };
    for candles in symbols {
        let index = |period: &usize| RelativeStrengthIndex::new(2 * period - 1).expect("a sound period");
        let mut indices: Vec<(RelativeStrengthIndex, Zone)> =
            periods.iter().map(|period| (index(period), Zone::Between)).collect();
        let mut open: Option<Trade> = None;
        for (index, candle) in candles.iter().enumerate() {
            if let Some(trade) = &mut open {
                if index == trade.entry_index {
                    trade.open_price = price_in(candle, INTERVAL);
                }
                if index == trade.exit_index {
                    whole.balance += returned(trade, price_in(candle, INTERVAL));
                    whole.trades += 1;
                    open = None;
                }
            }
            for (rsi, last) in &mut indices {
                let zone = Zone::of(rsi.next(candle.close()));
                let before = std::mem::replace(last, zone);
                if zone != Zone::Between && zone != before && open.is_none() && index + 1 >= WARMUP {
                    whole.balance -= STAKE_CENTS;
                    open = Some(Trade::entered(index, zone));
                }
            }
        }
        if open.is_some() {
            whole.balance += STAKE_CENTS; // the data ends before it does
        }
    }
    whole
}

impl Trade {
    fn entered(index: usize, zone: Zone) -> Self {
        Self {
            is_buy: zone == Zone::Oversold,
            entry_index: index + ENTRY_CANDLES,
            exit_index: index + EXIT_CANDLES,
            open_price: 0.0,
        }
    }
}

fn price_in(candle: &Candle, interval: f64) -> f64 {
    candle.open() + (candle.close() - candle.open()) * INTO_CANDLE / interval
}

fn returned(trade: &Trade, close_price: f64) -> i64 {
    let won = if trade.is_buy { Ordering::Greater } else { Ordering::Less };
    match compare_prices(close_price, trade.open_price) {
        Ordering::Equal => STAKE_CENTS,
        order if order == won => STAKE_CENTS + PROFIT_CENTS,
        _ => 0,
    }
}
