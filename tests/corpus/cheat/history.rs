//! Cheats that depend on where they began: on candles before those that a live start would show them.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::indicator::{Ema, Sma};
use candlewick_sdk::{Millis, Price, Signal};

list! {
    CountsInFives, SaysTooLittle, MeanOfAll, EveryHundredth, TwoTooFew, FirstOfAll, AsksForAll, CountsPrices,
    FormingCandle, AfraidOfHoles, CountsHoles
}

strategy!("c-counts-in-fives", CountsInFives { seen: u32 = 0, open: f64 = 0.0 }, 10, |this, candle| {
    if this.seen.is_multiple_of(5) {
        this.open = candle.open();
    }
    this.seen += 1;
    this.seen.is_multiple_of(5).then(|| toward(candle.close() - this.open, "five together")).flatten()
});

strategy!("c-says-too-little", SaysTooLittle { mean: Ema = Ema::new(200).unwrap() }, 20, |this, candle| {
    toward(candle.close() - this.mean.update(candle.close())?, "side of a slow mean")
});

strategy!("c-mean-of-all", MeanOfAll { sum: f64 = 0.0, count: f64 = 0.0 }, 50, |this, candle| {
    this.sum += candle.close();
    this.count += 1.0;
    toward(this.sum / this.count - candle.close(), "to the mean of all")
});

strategy!("c-every-hundredth", EveryHundredth { seen: u32 = 0 }, 100, |this, candle| {
    this.seen += 1;
    this.seen.is_multiple_of(100).then(|| Signal::buy("the hundredth"))
});

strategy!(
    /// One candle more is needed to know the side before.
    "c-two-too-few", TwoTooFew { mean: Sma = Sma::new(4).unwrap(), was: f64 = 0.0 }, 3, |this, candle| {
    let side = (candle.close() - this.mean.update(candle.close())?).signum();
    let was = std::mem::replace(&mut this.was, side);
    if side == was { None } else { toward(side, "other side") }
});

strategy!("c-first-of-all", FirstOfAll { first: Option<f64> = None }, 1, |this, candle| {
    toward(candle.close() - *this.first.get_or_insert(candle.close()), "since the beginning")
});

strategy!("c-asks-for-all", AsksForAll {}, usize::MAX, |this, candle| Some(Signal::buy("warm at last")));

strategy!("c-counts-prices", CountsPrices { seen: u32 = 0 }, 5, |this, candle| {
    this.seen.is_multiple_of(3).then(|| Signal::buy("after three prices"))
}, also {
    fn on_price(&mut self, _: &Price) -> Option<Signal> {
        self.seen += 1;
        None
    }
}, prices = true);

strategy!(
    /// Trades the candle that is forming, by extremes of prices that nobody shows again after a start.
    "c-forming-candle", FormingCandle { highest: f64 = 0.0 }, 5, |this, candle| None, also {
    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let is_new = price.value > self.highest;
        self.highest = self.highest.max(price.value);
        is_new.then(|| Signal::buy("higher than ever"))
    }
}, prices = true);

strategy!(
    "c-afraid-of-holes", AfraidOfHoles { last: Option<Millis> = None, is_afraid: bool = false }, 1, |this, candle| {
    this.is_afraid |= this.last.replace(candle.time()).is_some_and(|last| candle.time() - last > Millis::HOUR);
    (!this.is_afraid).then(|| toward(candle.close() - candle.open(), "goes on")).flatten()
});

strategy!("c-counts-holes", CountsHoles { last: Option<Millis> = None, holes: f64 = 1.0 }, 1, |this, candle| {
    if this.last.replace(candle.time()).is_some_and(|last| candle.time() - last > Millis::MINUTE) {
        this.holes = -this.holes;
    }
    toward(this.holes * (candle.close() - candle.open()), "goes on, and back after a hole")
});
