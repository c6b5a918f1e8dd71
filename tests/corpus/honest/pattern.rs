//! Strategies that look at the shape of a few candles.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::indicator::Atr;
use candlewick_sdk::{Candle, Signal};

list!(Engulfing, Hammer, Indecision, Inside, ThreeSoldiers, LongWick, Jump, Full);

fn body(candle: &Candle) -> f64 {
    candle.close() - candle.open()
}

fn range(candle: &Candle) -> f64 {
    candle.high() - candle.low()
}

strategy!("h-engulfing", Engulfing { before: Option<Candle> = None }, 2, |this, candle| {
    let before = this.before.replace(*candle)?;
    let is_engulfed = body(candle).abs() > body(&before).abs() && body(candle).signum() != body(&before).signum();
    is_engulfed.then(|| toward(body(candle), "engulfed")).flatten()
});

strategy!("h-hammer", Hammer {}, 1, |this, candle| {
    let tail = candle.open().min(candle.close()) - candle.low();
    (tail > 1.2 * body(candle).abs()).then(|| Signal::buy("a hammer"))
});

strategy!("h-indecision", Indecision { before: Option<Candle> = None }, 2, |this, candle| {
    let before = this.before.replace(*candle)?;
    (body(candle).abs() < 0.2 * range(candle)).then(|| toward(-body(&before), "undecided")).flatten()
});

strategy!("h-inside", Inside { before: Option<Candle> = None }, 2, |this, candle| {
    let before = this.before.replace(*candle)?;
    let is_inside = candle.high() < before.high() && candle.low() > before.low();
    is_inside.then(|| toward(body(&before), "inside the one before")).flatten()
});

strategy!("h-three-soldiers", ThreeSoldiers { last: [f64; 3] = [0.0; 3] }, 3, |this, candle| {
    this.last.rotate_left(1);
    this.last[2] = body(candle);
    let signs = this.last.map(f64::signum);
    (signs[0] == signs[1] && signs[1] == signs[2]).then(|| toward(this.last[2], "three of a kind")).flatten()
});

strategy!(
    "h-long-wick",
    LongWick { atr: Atr = Atr::new(14).unwrap() },
    this.atr.stable_after(),
    |this, candle| {
        let usual = this.atr.update(candle)?;
        let (up, down) = (
            candle.high() - candle.open().max(candle.close()),
            candle.open().min(candle.close()) - candle.low(),
        );
        ((up - down).abs() > 0.05 * usual).then(|| toward(down - up, "a long wick")).flatten()
    }
);

strategy!("h-jump", Jump { close: Option<f64> = None }, 2, |this, candle| {
    let before = this.close.replace(candle.close())?;
    let jump = candle.open() / before - 1.0;
    (jump.abs() > 5e-5).then(|| toward(-jump, "jumped")).flatten()
});

strategy!("h-full", Full {}, 1, |this, candle| {
    (body(candle).abs() > 0.8 * range(candle)).then(|| toward(body(candle), "all body")).flatten()
});
