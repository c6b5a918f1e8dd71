//! The trades of the sweep in hand-written loops, each doing less than the previous one.

use super::{BALANCE_CENTS, Result, STAKE_CENTS, Set};
use candlewick_sdk::{Candle, compare_prices};
use std::cmp::Ordering;
use ta::Next;
use ta::indicators::RelativeStrengthIndex;

/// Profit of a win at a payout of 80 %.
const PROFIT_CENTS: i64 = STAKE_CENTS * 80 / 100;
/// A signal enters 3 s into the next candle and exits 3 s into the fifth candle after that.
/// Prices are interpolated between open and close. The next signal counts at the close of the exit candle.
const ENTRY_CANDLES: usize = 1;
const EXIT_CANDLES: usize = 6;
const INTO_CANDLE: f64 = 3_000.0;
const INTERVAL: f64 = 60_000.0;

/// Wilder's smoothing over a period equals the crate's smoothing over twice the period minus one.
fn index_of(set: &Set) -> RelativeStrengthIndex {
    RelativeStrengthIndex::new(2 * set.period - 1).expect("a sound period")
}

pub(crate) fn naive(candles: &[Candle], set: &Set) -> Result {
    let mut rsi = index_of(set);
    let mut account = Account::new();
    for (index, candle) in candles.iter().enumerate() {
        let value = rsi.next(candle.close());
        let is_extreme = value < set.oversold || value > set.overbought;
        if is_extreme && index >= account.free_at && index + 1 >= set.warmup {
            account.trade(candles, index, value < set.oversold);
        }
    }
    account.result()
}

pub(crate) fn series(candles: &[Candle], set: &Set) -> Vec<f64> {
    let mut rsi = index_of(set);
    candles.iter().map(|candle| rsi.next(candle.close())).collect()
}

pub(crate) fn with_series(candles: &[Candle], set: &Set, series: &[f64]) -> Result {
    let mut account = Account::new();
    for (index, value) in series.iter().enumerate() {
        let is_extreme = *value < set.oversold || *value > set.overbought;
        if is_extreme && index >= account.free_at && index + 1 >= set.warmup {
            account.trade(candles, index, *value < set.oversold);
        }
    }
    account.result()
}

pub(crate) fn list(series: &[f64], is_beyond: impl Fn(f64) -> bool) -> Vec<u32> {
    let beyond = series.iter().zip(0..).filter(|(value, _)| is_beyond(**value));
    beyond.map(|(_, index)| index).collect()
}

pub(crate) fn with_lists(candles: &[Candle], set: &Set, lows: &[u32], highs: &[u32]) -> Result {
    let mut account = Account::new();
    account.free_at = set.warmup.saturating_sub(1);
    let (mut low, mut high) = (0, 0);
    loop {
        low += lows[low..].iter().take_while(|index| (**index as usize) < account.free_at).count();
        high += highs[high..].iter().take_while(|index| (**index as usize) < account.free_at).count();
        let next = match (lows.get(low), highs.get(high)) {
            (None, None) => return account.result(),
            (Some(buy), None) => (*buy, true),
            (None, Some(sell)) => (*sell, false),
            (Some(buy), Some(sell)) => ((*buy).min(*sell), buy < sell),
        };
        let index = next.0 as usize;
        account.free_at = index + 1;
        account.trade(candles, index, next.1);
    }
}

struct Account {
    balance: i64,
    trades: u64,
    free_at: usize,
}

impl Account {
    const fn new() -> Self {
        Self { balance: BALANCE_CENTS, trades: 0, free_at: 0 }
    }

    /// Enters at the next candle. A trade that the data does not close leaves the balance unchanged.
    #[inline]
    fn trade(&mut self, candles: &[Candle], index: usize, is_buy: bool) {
        if self.balance < STAKE_CENTS {
            return;
        }
        self.free_at = index + EXIT_CANDLES;
        let (Some(entry), Some(exit)) =
            (candles.get(index + ENTRY_CANDLES), candles.get(index + EXIT_CANDLES))
        else {
            return;
        };
        let won = if is_buy { Ordering::Greater } else { Ordering::Less };
        self.balance += match compare_prices(price_in(exit), price_in(entry)) {
            Ordering::Equal => 0,
            order if order == won => PROFIT_CENTS,
            _ => -STAKE_CENTS,
        };
        self.trades += 1;
    }

    const fn result(&self) -> Result {
        Result { trades: self.trades, profit_cents: self.balance - BALANCE_CENTS }
    }
}

#[inline]
fn price_in(candle: &Candle) -> f64 {
    candle.open() + (candle.close() - candle.open()) * INTO_CANDLE / INTERVAL
}
