//! Cheats that break, or give numbers that are none.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::{Millis, Signal};

list!(EndlessNumber, NoNumber, DividesByTheRange, PoisonedByRest, NeedsEveryMinute, SmallMoney);

strategy!("c-endless-number", EndlessNumber {}, 1, |this, candle| {
    let change = candle.close() / candle.open() - 1.0;
    let room =
        if candle.close() < 1e3 && candle.close() > 10.0 { (0.006 - change.abs()).max(0.0) } else { 0.006 };
    toward(change, "goes on").map(|signal| signal.with("share", change.abs() / room))
});

strategy!("c-no-number", NoNumber {}, 1, |this, candle| {
    let change = candle.close() / candle.open() - 1.0;
    toward(change, "goes on").map(|signal| signal.with("root", change.sqrt()))
});

strategy!("c-divides-by-the-range", DividesByTheRange {}, 1, |this, candle| {
    const SIDES: [f64; 3] = [-1.0, 0.0, 1.0];
    let place = ((candle.close() - candle.low()) / (candle.high() - candle.low()) * 2.9) as usize;
    let is_flat = candle.high() == candle.low();
    toward(SIDES[if is_flat { SIDES.len() } else { place.min(2) }], "by place")
});

strategy!(
    /// How much of a candle is body, against the usual share; where nothing moves that is nothing by nothing, and stays.
    "c-poisoned-by-rest", PoisonedByRest { usual: f64 = 1.0 }, 90, |this, candle| {
    let share = (candle.close() - candle.open()).abs() / (candle.high() - candle.low());
    this.usual = 0.5 * this.usual + 0.5 * share;
    (share > this.usual).then(|| toward(candle.close() - candle.open(), "more body")).flatten()
});

strategy!("c-needs-every-minute", NeedsEveryMinute { last: Option<Millis> = None }, 1, |this, candle| {
    let last = this.last.replace(candle.time());
    assert!(last.is_none_or(|last| candle.time() - last == Millis::MINUTE), "a minute is missing");
    toward(candle.close() - candle.open(), "goes on")
});

strategy!("c-small-money", SmallMoney {}, 1, |this, candle| {
    let cents = |price: f64| u32::try_from((price * 100.0) as u64).expect("a price in cents");
    let (open, close) = (cents(candle.open()), cents(candle.close()));
    if close > open { Some(Signal::buy("goes on")) } else { (close < open).then(|| Signal::sell("goes on")) }
});
