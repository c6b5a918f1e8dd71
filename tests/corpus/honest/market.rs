//! Strategies that look at more than closes: longer candles, volatility, volume, prices between candles.

use crate::declare::{Window, list, mean, strategy, toward};
use candlewick_sdk::indicator::{Atr, Sma};
use candlewick_sdk::{Candle, Interval, Price, Signal};
use std::collections::BTreeMap;
use std::sync::LazyLock;

list!(FiveMinutes, TwoLengths, LongerOnly, QuietOnly, BusyAgain, Volume, TouchOfHigh, ByMinute, Silent);

static FIVE: LazyLock<[Interval; 1]> = LazyLock::new(|| ["5m".parse().unwrap()]);
static BOTH: LazyLock<[Interval; 2]> = LazyLock::new(|| ["5m".parse().unwrap(), "15m".parse().unwrap()]);

strategy!("h-five-minutes", FiveMinutes { mean: Sma = Sma::new(6).unwrap(), trend: f64 = 0.0 }, 7 * 5, |this, candle| {
    let move_ = candle.close() - candle.open();
    (move_ * this.trend > 0.0).then(|| toward(move_, "with five minutes")).flatten()
}, also {
    fn longer_intervals(&self) -> &[Interval] {
        &*FIVE
    }
    fn on_longer_candle(&mut self, _: Interval, candle: &Candle) {
        self.trend = self.mean.update(candle.close()).map_or(0.0, |mean| candle.close() - mean);
    }
});

strategy!("h-two-lengths", TwoLengths { short: f64 = 0.0, long: f64 = 0.0 }, 30, |this, candle| {
    let is_against = this.short * this.long < 0.0;
    is_against.then(|| toward(this.long, "back to the longer move")).flatten()
}, also {
    fn longer_intervals(&self) -> &[Interval] {
        &*BOTH
    }
    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        let move_ = candle.close() - candle.open();
        if interval == BOTH[0] { self.short = move_ } else { self.long = move_ }
    }
});

strategy!("h-longer-only", LongerOnly { due: f64 = 0.0 }, 10, |this, candle| {
    toward(std::mem::take(&mut this.due), "five minutes closed")
}, also {
    fn longer_intervals(&self) -> &[Interval] {
        &*FIVE
    }
    fn on_longer_candle(&mut self, _: Interval, candle: &Candle) {
        self.due = candle.open() - candle.close();
    }
});

strategy!(
    "h-quiet-only",
    QuietOnly { atr: Atr = Atr::new(10).unwrap() },
    this.atr.stable_after(),
    |this, candle| {
        let usual = this.atr.update(candle)?;
        (usual < 0.0012 * candle.close())
            .then(|| toward(candle.open() - candle.close(), "while it is quiet"))
            .flatten()
    }
);

strategy!(
    "h-busy-again",
    BusyAgain { short: Window = Window::new(5), long: Window = Window::new(40) },
    40,
    |this, candle| {
        let range = (candle.high() - candle.low()) / candle.close();
        let short = this.short.with(range).map(|values| mean(values.iter()));
        let long = mean(this.long.with(range)?.iter());
        (short? > 1.3 * long).then(|| toward(candle.close() - candle.open(), "busier than usual")).flatten()
    }
);

strategy!("h-volume", Volume { usual: Sma = Sma::new(25).unwrap() }, 25, |this, candle| {
    let usual = this.usual.update(candle.volume())?;
    (candle.volume() > 1.7 * usual).then(|| toward(candle.close() - candle.open(), "much volume")).flatten()
});

strategy!("h-touch-of-high", TouchOfHigh { high: f64 = f64::MAX, is_done: bool = false }, 1, |this, candle| {
    (this.high, this.is_done) = (candle.high(), false);
    None
}, also {
    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let is_touched = !self.is_done && price.value > self.high;
        self.is_done |= is_touched;
        is_touched.then(|| Signal::buy("above the high of the last candle"))
    }
}, prices = true);

strategy!(
    "h-by-minute", ByMinute { closes: BTreeMap<i64, f64> = BTreeMap::new() }, 51, |this, candle| {
    this.closes.insert(candle.time().get(), candle.close());
    if this.closes.len() > 50 {
        this.closes.pop_first();
    }
    let first = this.closes.first_key_value()?;
    (this.closes.len() == 50).then(|| toward(first.1 - candle.close(), "back to fifty candles ago")).flatten()
});

strategy!("h-silent", Silent {}, 0, |this, candle| None);
