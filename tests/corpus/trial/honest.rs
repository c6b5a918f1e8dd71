//! Twenty strategies as people write them.

use super::{Event, entry};
use crate::declare::{Window, highest, list, lowest, mean, strategy, toward};
use candlewick_cli::App;
use candlewick_sdk::indicator::{Bollinger, Ema, Macd, Rsi, Stochastic};
use candlewick_sdk::{Candle, Expiry, Interval, Millis, Outcome, Signal};
use std::collections::HashMap;

const MINUTE: i64 = 60_000;

fn rise(candle: &Candle) -> f64 {
    candle.close() - candle.open()
}

fn minute(candle: &Candle) -> i64 {
    candle.time().get().rem_euclid(24 * 60 * MINUTE) / MINUTE
}

strategy!("t-sma-slope", SmaSlope { window: Window = Window::new(40) }, 40, |this, candle| {
    let before = this.window.with(candle.close())?;
    let (old, new) = (mean(before.range(..20)), mean(before.range(20..)));
    (minute(candle) % 5 == 0).then(|| toward(new - old, "slope")).flatten()
});

strategy!(
    "t-channel-breakout",
    ChannelBreakout { highs: Window = Window::new(55), lows: Window = Window::new(55) },
    55,
    |this, candle| {
        let (highs, lows) = (this.highs.before(candle.high()), this.lows.before(candle.low()));
        let (top, bottom) = (highest(&highs?), lowest(&lows?));
        let above = f64::from(u8::from(candle.close() > top));
        toward(above - f64::from(u8::from(candle.close() < bottom)), "breakout")
    }
);

strategy!("t-rsi-two", RsiTwo { rsi: Rsi = Rsi::new(2).unwrap() }, this_rsi(2), |this, candle| {
    let rsi = this.rsi.update(candle.close())?;
    (!(5.0..=95.0).contains(&rsi)).then(|| toward(50.0 - rsi, "stretched")).flatten()
});

fn this_rsi(period: usize) -> usize {
    Rsi::new(period).unwrap().stable_after()
}

strategy!(
    "t-bands-fade",
    BandsFade { bands: Bollinger = Bollinger::new(30, 2.5).unwrap() },
    this.bands.warmup(),
    |this, candle| {
        let bands = this.bands.update(candle.close())?;
        let beyond = candle.close() > bands.upper || candle.close() < bands.lower;
        beyond.then(|| toward(bands.middle - candle.close(), "fade")).flatten()
    }
);

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

strategy!("t-engulfing", Engulfing { last: Option<Candle> = None }, 1, |this, candle| {
    let last = this.last.replace(*candle)?;
    let engulfs = rise(candle).abs() > rise(&last).abs() && rise(candle) * rise(&last) < 0.0;
    engulfs.then(|| toward(rise(candle), "engulfing")).flatten()
});

strategy!("t-hammer", Hammer {}, 0, |this, candle| {
    let (body, below) = (rise(candle).abs(), candle.open().min(candle.close()) - candle.low());
    let above = candle.high() - candle.open().max(candle.close());
    (below > 2.0 * body && above < body).then(|| Signal::buy("hammer"))
});

strategy!("t-fixed-weights", FixedWeights { last: Window = Window::new(6) }, 6, |this, candle| {
    // A logistic regression that was fitted elsewhere.
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

strategy!("t-rare-shock", RareShock { moves: Window = Window::new(200) }, 200, |this, candle| {
    let moves = this.moves.before(rise(candle).abs())?;
    (rise(candle).abs() > 1.2 * highest(&moves)).then(|| toward(-rise(candle), "shock")).flatten()
});

strategy!("t-every-candle", EveryCandle {}, 0, |this, candle| toward(rise(candle), "colour"));

strategy!(
    "t-long-memory",
    LongMemory { slow: Ema = Ema::new(300).unwrap(), fast: Ema = Ema::new(20).unwrap() },
    this.slow.stable_after(),
    |this, candle| {
        let (slow, fast) = (this.slow.update(candle.close()), this.fast.update(candle.close()));
        (minute(candle) % 7 == 0).then(|| toward(fast? - slow?, "trend")).flatten()
    }
);

strategy!("t-macd-turn", MacdTurn { macd: Macd = Macd::new(12, 26, 9).unwrap(), side: Option<f64> = None },
this.macd.stable_after() + 1, |this, candle| {
    let lines = this.macd.update(candle.close())?;
    let side = (lines.macd - lines.signal).signum();
    let before = this.side.replace(side)?;
    (side != before).then(|| toward(side, "turn")).flatten()
});

strategy!(
    "t-stochastic",
    Slow { index: Stochastic = Stochastic::new(14, 3, 3).unwrap() },
    this.index.warmup(),
    |this, candle| {
        let lines = this.index.update(candle)?;
        (lines.k < 15.0 && lines.k > lines.d).then(|| Signal::buy("oversold"))
    }
);

strategy!("t-round-number", RoundNumber {}, 0, |this, candle| {
    let crossed = (candle.open() * 2.0).floor() != (candle.close() * 2.0).floor();
    crossed.then(|| toward(rise(candle), "crossed")).flatten()
});

strategy!("t-same-minute-yesterday", Yesterday { known: HashMap<i64, f64> = HashMap::new() }, 24 * 60,
|this, candle| {
    let before = this.known.insert(minute(candle), rise(candle))?;
    (minute(candle) % 3 == 0).then(|| toward(before, "as yesterday")).flatten()
});

strategy!("t-new-after-a-hole", NewAfterHole { last: Option<Candle> = None, run: usize = 0 }, 10, |this, candle| {
    let last = this.last.replace(*candle);
    let is_next = last.is_some_and(|last| candle.time() - last.time() == Millis::MINUTE);
    let up = last.is_some_and(|last| candle.close() > last.close());
    this.run = if is_next && up { this.run + 1 } else { 0 };
    (3..=9).contains(&this.run).then(|| Signal::sell("too long"))
});

strategy!("t-own-expiry", OwnExpiry {}, 0, |this, candle| {
    let signal = toward(rise(candle), "long bet")?;
    (minute(candle) % 4 == 0).then(|| signal.expiring(ten_minutes()))
}, also {
    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![Some(ten_minutes())]
    }
});

fn ten_minutes() -> Expiry {
    Expiry::minutes(10).unwrap()
}

list! {
    SmaSlope, ChannelBreakout, RsiTwo, BandsFade, LondonOpen, Engulfing, Hammer, FixedWeights, VolumeSpike,
    RareShock, EveryCandle, LongMemory, MacdTurn, Slow, RoundNumber, Yesterday, NewAfterHole, OwnExpiry
}

pub(super) fn add_all(app: App, names: &mut Vec<&'static str>) -> App {
    names.extend(["t-pause-after-losses", "t-two-time-frames"]);
    add(app, names)
        .with_strategy_entry(entry("t-pause-after-losses", 1, &[], |_| {
            let (mut lost, mut pause) = (0, 0);
            move |event| {
                match event {
                    Event::Candle(candle) if pause == 0 => return toward(rise(candle), "colour"),
                    Event::Candle(_) => pause -= 1,
                    Event::Settled(settlement) if settlement.outcome == Outcome::Lost => lost += 1,
                    Event::Settled(_) => lost = 0,
                    Event::Longer(_) => {}
                }
                if lost == 3 {
                    (lost, pause) = (0, 20);
                }
                None
            }
        }))
        .with_strategy_entry(entry("t-two-time-frames", 40, &["15m".parse::<Interval>().unwrap()], |_| {
            let mut trend = 0.0;
            move |event| match event {
                Event::Candle(candle) if rise(candle) * trend < 0.0 => toward(trend, "dip"),
                Event::Longer(candle) => {
                    trend = rise(candle);
                    None
                }
                _ => None,
            }
        }))
}
