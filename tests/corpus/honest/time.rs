//! Strategies that go by the time of their candles.

use crate::declare::{list, strategy, toward};
use candlewick_sdk::{Candle, Direction, Millis, Signal};

list!(Hours, Days, OpeningRange, Listed, OfTheDay, QuarterPast);

fn hour(candle: &Candle) -> i64 {
    (candle.time() - candle.time().floor_to(Millis::DAY)).get() / Millis::HOUR.get()
}

fn minute(candle: &Candle) -> i64 {
    (candle.time() - candle.time().floor_to(Millis::HOUR)).get() / Millis::MINUTE.get()
}

strategy!("h-hours", Hours {}, 0, |this, candle| {
    ((8..11).contains(&hour(candle)) && minute(candle) % 10 == 0).then(|| Signal::buy("in the morning"))
});

strategy!("h-days", Days {}, 0, |this, candle| {
    let day = candle.time().get().div_euclid(Millis::DAY.get());
    (minute(candle) == 30)
        .then(|| if day % 2 == 0 { Signal::buy("an even day") } else { Signal::sell("an odd day") })
});

strategy!(
    /// The first quarter of each hour sets a range. An hour that was not seen from its beginning has none.
    "h-opening-range", OpeningRange { high: f64 = f64::NAN, low: f64 = f64::NAN, whole: bool = false }, 75, |this, candle| {
    let minute = minute(candle);
    if minute == 0 {
        (this.high, this.low, this.whole) = (candle.high(), candle.low(), true);
    } else if minute < 15 {
        (this.high, this.low) = (this.high.max(candle.high()), this.low.min(candle.low()));
    }
    let is_out = this.whole && minute >= 15;
    if is_out && candle.close() > this.high {
        Some(Signal::buy("above the hour's range"))
    } else {
        (is_out && candle.close() < this.low).then(|| Signal::sell("below the hour's range"))
    }
});

/// What somebody wrote down before: minutes of 2025-01-01, and what to do in them.
const LIST: [(i64, Direction); 5] = [
    (17, Direction::Buy),
    (60, Direction::Sell),
    (303, Direction::Sell),
    (500, Direction::Buy),
    (1_111, Direction::Buy),
];

strategy!("h-listed", Listed {}, 0, |this, candle| {
    let now = (candle.time() - Millis::new(1_735_689_600_000)).get() / Millis::MINUTE.get();
    let row = LIST.iter().find(|(minute, _)| *minute == now)?;
    Some(Signal::new(row.1, "listed"))
});

strategy!(
    "h-of-the-day", OfTheDay { open: Option<f64> = None }, 1_440, |this, candle| {
    if hour(candle) == 0 && minute(candle) == 0 {
        this.open = Some(candle.open());
    }
    let moved = candle.close() / this.open? - 1.0;
    (minute(candle) == 0).then(|| toward(-moved, "against the day")).flatten()
});

strategy!("h-quarter-past", QuarterPast { open: Option<f64> = None }, 60, |this, candle| {
    if minute(candle) == 0 {
        this.open = Some(candle.open());
    }
    (minute(candle) == 15).then(|| toward(candle.close() - this.open?, "the hour so far")).flatten()
});
