//! Honest strategies that no check may accuse.

use crate::declare::{Window, follow, highest, list, lowest, mean, picks, push, rise, strategy, toward};
use candlewick_sdk::indicator::{Atr, Bollinger, Cci, Ema, Rsi, Sma};
use candlewick_sdk::{Candle, Direction, Expiry, Interval, Millis, Outcome, Price, Settlement, Signal};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::LazyLock;

list! {
    Efficiency, Momentum, ThreeMeans, SmaSlope, LongMemory, Middle, Hundred, Squeeze, PercentRange, Indecision, LongWick,
    Jump, Engulfing, Hammer, Hours, Days, Listed, LondonOpen, Yesterday, Streak, OnceAnHour, PauseAfterLosses, TurnsAround,
    GrowsCareful, NewAfterHole, TwoLengths, BusyAgain, TouchOfHigh, ByMinute, Silent, FixedWeights, VolumeSpike,
    EveryCandle, RoundNumber, OwnExpiry, GridStep, SmoothedCandles, PriceOfTheDay, OddReturn, Fractal, Median
}

fn range(candle: &Candle) -> f64 {
    candle.high() - candle.low()
}

fn wicks(candle: &Candle) -> (f64, f64) {
    let (open, close) = (candle.open(), candle.close());
    (candle.high() - open.max(close), open.min(close) - candle.low())
}

fn day(candle: &Candle) -> i64 {
    candle.time().get().div_euclid(Millis::DAY.get())
}

/// Minute of the day.
fn minute(candle: &Candle) -> i64 {
    candle.time().get().rem_euclid(Millis::DAY.get()) / Millis::MINUTE.get()
}

fn is_new_hour(candle: &Candle) -> bool {
    candle.time().is_aligned_to(Millis::HOUR)
}

strategy!("h-efficiency", Efficiency { closes: Window = Window::new(11) }, 11, |this, candle| {
    let closes = this.closes.with(candle.close())?;
    let way: f64 = closes.iter().zip(closes.iter().skip(1)).map(|(one, two)| (two - one).abs()).sum();
    let net = candle.close() - closes[0];
    (net.abs() > 0.6 * way).then(|| toward(net, "hardly any detour")).flatten()
});

strategy!("h-momentum", Momentum { closes: Window = Window::new(10) }, 11, |this, candle| {
    let closes = this.closes.before(candle.close())?;
    let change = candle.close() / closes[0] - 1.0;
    (change.abs() > 0.004)
        .then(|| toward(change, "moved").map(|signal| signal.with("change", change)))
        .flatten()
});

strategy!(
    "h-three-means",
    ThreeMeans {
        short: Sma = Sma::new(5).unwrap(),
        middle: Sma = Sma::new(13).unwrap(),
        long: Sma = Sma::new(34).unwrap()
    },
    34,
    |this, candle| {
        let close = candle.close();
        let (short, middle, long) =
            (this.short.update(close), this.middle.update(close), this.long.update(close)?);
        let (short, middle) = (short?, middle?);
        if short > middle && middle > long {
            Some(Signal::buy("in rising order"))
        } else {
            (short < middle && middle < long).then(|| Signal::sell("in falling order"))
        }
    }
);

strategy!("t-sma-slope", SmaSlope { window: Window = Window::new(40) }, 40, |this, candle| {
    let before = this.window.with(candle.close())?;
    let (old, new) = (mean(before.range(..20)), mean(before.range(20..)));
    (minute(candle) % 5 == 0).then(|| toward(new - old, "slope")).flatten()
});

strategy!(
    "t-long-memory",
    LongMemory { slow: Ema = Ema::new(300).unwrap(), fast: Ema = Ema::new(20).unwrap() },
    this.slow.warmup(),
    |this, candle| {
        let (slow, fast) = (this.slow.update(candle.close()), this.fast.update(candle.close()));
        (minute(candle) % 7 == 0).then(|| toward(fast? - slow?, "trend")).flatten()
    }
);

strategy!("h-middle", Middle { rsi: Rsi = Rsi::new(9).unwrap(), was: Option<f64> = None }, this.rsi.warmup() + 1, |this, candle| {
    let side = (this.rsi.update(candle.close())? - 50.0).signum();
    if this.was.replace(side)? == side { None } else { toward(side, "through the middle") }
});

strategy!("h-hundred", Hundred { cci: Cci = Cci::new(20).unwrap() }, this.cci.warmup(), |this, candle| {
    let cci = this.cci.update(candle)?;
    (cci.abs() > 100.0).then(|| toward(cci, "beyond a hundred")).flatten()
});

strategy!(
    "h-squeeze",
    Squeeze { bands: Bollinger = Bollinger::new(20, 2.0).unwrap(), widths: Window = Window::new(30) },
    50,
    |this, candle| {
        let bands = this.bands.update(candle.close())?;
        let width = (bands.upper - bands.lower) / bands.middle;
        let widths = this.widths.before(width)?;
        (width < 0.7 * mean(widths.iter()))
            .then(|| toward(candle.close() - bands.middle, "out of a squeeze"))
            .flatten()
    }
);

strategy!(
    "h-percent-range",
    PercentRange { highs: Window = Window::new(14), lows: Window = Window::new(14) },
    14,
    |this, candle| {
        let (high, low) =
            (this.highs.with(candle.high()).map(highest), this.lows.with(candle.low()).map(lowest));
        let (high, low) = (high?, low?);
        if high <= low {
            return None;
        }
        let place = (candle.close() - low) / (high - low);
        if place < 0.1 {
            Some(Signal::buy("at the low"))
        } else {
            (place > 0.9).then(|| Signal::sell("at the high"))
        }
    }
);

strategy!("h-indecision", Indecision { before: Option<Candle> = None }, 2, |this, candle| {
    let before = this.before.replace(*candle)?;
    (rise(candle).abs() < 0.2 * range(candle)).then(|| toward(-rise(&before), "undecided")).flatten()
});

strategy!("h-long-wick", LongWick { atr: Atr = Atr::new(14).unwrap() }, this.atr.warmup(), |this, candle| {
    let usual = this.atr.update(candle)?;
    let (up, down) = wicks(candle);
    ((up - down).abs() > 0.05 * usual).then(|| toward(down - up, "a long wick")).flatten()
});

strategy!("h-jump", Jump { close: Option<f64> = None }, 2, |this, candle| {
    let before = this.close.replace(candle.close())?;
    let jump = candle.open() / before - 1.0;
    (jump.abs() > 5e-5).then(|| toward(-jump, "jumped")).flatten()
});

strategy!("t-engulfing", Engulfing { last: Option<Candle> = None }, 1, |this, candle| {
    let last = this.last.replace(*candle)?;
    let engulfs = rise(candle).abs() > rise(&last).abs() && rise(candle) * rise(&last) < 0.0;
    engulfs.then(|| toward(rise(candle), "engulfing")).flatten()
});

strategy!("t-hammer", Hammer {}, 0, |this, candle| {
    let (above, below) = wicks(candle);
    let body = rise(candle).abs();
    (below > 2.0 * body && above < body).then(|| Signal::buy("hammer"))
});

strategy!("h-hours", Hours {}, 0, |this, candle| {
    ((480..660).contains(&minute(candle)) && minute(candle) % 10 == 0).then(|| Signal::buy("in the morning"))
});

strategy!("h-days", Days {}, 0, |this, candle| {
    (minute(candle) % 60 == 30)
        .then(|| if day(candle) % 2 == 0 { Signal::buy("an even day") } else { Signal::sell("an odd day") })
});

/// Minutes of 2025-01-01 with the action to take in each.
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

strategy!("t-london-open", LondonOpen { high: f64 = 0.0, low: f64 = f64::MAX }, 24 * 60, |this, candle| {
    match minute(candle) {
        0 => (this.high, this.low) = (candle.high(), candle.low()),
        1..480 => (this.high, this.low) = (this.high.max(candle.high()), this.low.min(candle.low())),
        480..600 if candle.close() > this.high => return Some(Signal::buy("above the night")),
        480..600 if candle.close() < this.low => return Some(Signal::sell("below the night")),
        _ => {}
    }
    None
});

strategy!("t-same-minute-yesterday", Yesterday { known: HashMap<i64, f64> = HashMap::new() }, 24 * 60,
|this, candle| {
    let before = this.known.insert(minute(candle), rise(candle))?;
    (minute(candle) % 3 == 0).then(|| toward(before, "as yesterday")).flatten()
});

strategy!("h-streak", Streak { run: i32 = 0 }, 4, |this, candle| {
    let colour = if candle.close() > candle.open() { 1 } else { -1 };
    this.run = if this.run.signum() == colour { (this.run + colour).clamp(-4, 4) } else { colour };
    (this.run.abs() == 4).then(|| toward(f64::from(-this.run), "a run")).flatten()
});

strategy!("h-once-an-hour", OnceAnHour { is_done: bool = false }, 60, |this, candle| {
    if is_new_hour(candle) {
        this.is_done = false;
    }
    let move_ = candle.close() / candle.open() - 1.0;
    let is_due = !this.is_done && move_.abs() > 0.001;
    this.is_done |= is_due;
    is_due.then(|| toward(move_, "the hour's first move")).flatten()
});

strategy!("h-pause-after-losses", PauseAfterLosses { losses: u32 = 0, pause: u32 = 0 }, 1, |this, candle| {
    if this.pause > 0 {
        this.pause -= 1;
        return None;
    }
    follow(candle)
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        self.losses = if settlement.outcome == Outcome::Lost { self.losses + 1 } else { 0 };
        if self.losses == 3 {
            (self.losses, self.pause) = (0, 10);
        }
    }
});

strategy!("h-turns-around", TurnsAround { with: f64 = 1.0 }, 1, |this, candle| {
    toward(this.with * rise(candle), "as it went well last")
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        if settlement.outcome == Outcome::Lost {
            self.with = -self.with;
        }
    }
});

strategy!("h-grows-careful", GrowsCareful { least: f64 = 0.0005 }, 1, |this, candle| {
    let change = candle.close() / candle.open() - 1.0;
    (change.abs() > this.least).then(|| toward(-change, "moved enough")).flatten()
}, also {
    fn on_settled(&mut self, settlement: &Settlement) {
        let factor = if settlement.outcome == Outcome::Won { 0.95 } else { 1.05 };
        self.least = (self.least * factor).clamp(0.0001, 0.002);
    }
});

strategy!("t-new-after-a-hole", NewAfterHole { last: Option<Candle> = None, run: usize = 0 }, 10, |this, candle| {
    let last = this.last.replace(*candle);
    let is_next = last.is_some_and(|last| candle.time() - last.time() == Millis::MINUTE);
    let up = last.is_some_and(|last| candle.close() > last.close());
    this.run = if is_next && up { this.run + 1 } else { 0 };
    (3..=9).contains(&this.run).then(|| Signal::sell("too long"))
});

static BOTH: LazyLock<[Interval; 2]> = LazyLock::new(|| ["5m".parse().unwrap(), "15m".parse().unwrap()]);

strategy!("h-two-lengths", TwoLengths { short: f64 = 0.0, long: f64 = 0.0 }, 30, |this, candle| {
    let is_against = this.short * this.long < 0.0;
    is_against.then(|| toward(this.long, "back to the longer move")).flatten()
}, also {
    fn longer_intervals(&self) -> &[Interval] {
        &*BOTH
    }
    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        if interval == BOTH[0] { self.short = rise(candle) } else { self.long = rise(candle) }
    }
});

strategy!(
    "h-busy-again",
    BusyAgain { short: Window = Window::new(5), long: Window = Window::new(40) },
    40,
    |this, candle| {
        let range = range(candle) / candle.close();
        let short = this.short.with(range).map(|values| mean(values.iter()));
        let long = mean(this.long.with(range)?.iter());
        (short? > 1.3 * long).then(|| follow(candle)).flatten()
    }
);

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

strategy!("h-by-minute", ByMinute { closes: BTreeMap<i64, f64> = BTreeMap::new() }, 51, |this, candle| {
    this.closes.insert(candle.time().get(), candle.close());
    if this.closes.len() > 50 {
        this.closes.pop_first();
    }
    let first = this.closes.first_key_value()?;
    (this.closes.len() == 50).then(|| toward(first.1 - candle.close(), "back to fifty candles ago")).flatten()
});

strategy!("h-silent", Silent {}, 0, |this, candle| None);

strategy!("t-fixed-weights", FixedWeights { last: Window = Window::new(6) }, 6, |this, candle| {
    // A logistic regression fitted offline.
    const WEIGHTS: [f64; 5] = [0.21, -0.13, 0.05, -0.44, 0.37];
    let closes = this.last.with(candle.close())?;
    let returns = closes.iter().zip(closes.range(1..)).map(|(before, after)| after / before - 1.0);
    let score: f64 = returns.zip(WEIGHTS).map(|(one, weight)| weight * one * 1e3).sum();
    let chance = 1.0 / (1.0 + (-score).exp());
    ((chance - 0.5).abs() > 0.05).then(|| toward(chance - 0.5, "model")).flatten()
});

strategy!("t-volume-spike", VolumeSpike { volumes: Window = Window::new(30) }, 30, |this, candle| {
    let volumes = this.volumes.before(candle.volume())?;
    (candle.volume() > 2.0 * mean(volumes.iter())).then(|| toward(-rise(candle), "spike")).flatten()
});

strategy!("t-every-candle", EveryCandle {}, 0, |this, candle| follow(candle));

strategy!("t-round-number", RoundNumber {}, 0, |this, candle| {
    let crossed = (candle.open() * 2.0).floor() != (candle.close() * 2.0).floor();
    crossed.then(|| toward(rise(candle), "crossed")).flatten()
});

fn ten_minutes() -> Expiry {
    Expiry::minutes(10).unwrap()
}

strategy!("t-own-expiry", OwnExpiry {}, 0, |this, candle| {
    let signal = follow(candle)?;
    (minute(candle) % 4 == 0).then(|| signal.with_expiry(ten_minutes()))
}, also {
    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![Some(ten_minutes())]
    }
});

strategy!("v-grid-step", GridStep { last: Option<f64> = None }, 1, |this, candle| {
    let step = (candle.close().ln() / 0.001).floor();
    toward(step - this.last.replace(step)?, "a step")
});

strategy!(
    "v-smoothed-candles",
    SmoothedCandles { open: Option<f64> = None, close: f64 = 0.0, was: f64 = 0.0 },
    120,
    |this, candle| {
        let before = this.open.map_or(candle.open(), |open| f64::midpoint(open, this.close));
        this.close = (candle.open() + candle.high() + candle.low() + candle.close()) / 4.0;
        this.open = Some(before);
        let side = this.close - before;
        let old = std::mem::replace(&mut this.was, side);
        (side * old < 0.0).then(|| toward(side, "turned")).flatten()
    }
);

strategy!(
    "v-price-of-the-day",
    PriceOfTheDay { day: i64 = 0, paid: f64 = 0.0, volume: f64 = 0.0 },
    1_440,
    |this, candle| {
        let today = day(candle);
        if std::mem::replace(&mut this.day, today) != today {
            (this.paid, this.volume) = (0.0, 0.0);
        }
        this.paid += candle.volume() * (candle.high() + candle.low() + candle.close()) / 3.0;
        this.volume += candle.volume();
        let price = (this.volume > 0.0).then(|| this.paid / this.volume)?;
        picks(candle, 5).then(|| toward(price - candle.close(), "back to it")).flatten()
    }
);

strategy!("v-odd-return", OddReturn { last: Window = Window::new(51) }, 50, |this, candle| {
    let closes = this.last.with(candle.close())?;
    let moves: Vec<f64> = closes.iter().zip(closes.range(1..)).map(|(one, two)| (two / one).ln()).collect();
    let middle = mean(moves.iter());
    let squares: Vec<f64> = moves.iter().map(|one| (one - middle).powi(2)).collect();
    let score = (moves[49] - middle) / mean(squares.iter()).sqrt();
    (score.abs() > 2.0).then(|| toward(-score, "too far")).flatten()
});

strategy!("v-fractal", Fractal { last: VecDeque<Candle> = VecDeque::new() }, 4, |this, candle| {
    push(&mut this.last, candle, 5);
    let others = || [0, 1, 3, 4].into_iter().map(|place| this.last.get(place));
    let middle = this.last.get(2)?;
    let is_top = others().all(|one| one.is_some_and(|one| one.high() < middle.high()));
    let is_bottom = others().all(|one| one.is_some_and(|one| one.low() > middle.low()));
    toward(f64::from(u8::from(is_bottom)) - f64::from(u8::from(is_top)), "fractal")
});

strategy!("v-median", Median { last: Window = Window::new(31) }, 30, |this, candle| {
    let mut sorted: Vec<f64> = this.last.with(candle.close())?.iter().copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let far = sorted[15] / candle.close() - 1.0;
    (far.abs() > 0.001).then(|| toward(far, "to the middle")).flatten()
});
