//! Strategies that wait for an extreme, or for its end.

use crate::declare::{Window, highest, list, lowest, mean, strategy, toward};
use candlewick_sdk::Signal;
use candlewick_sdk::indicator::{Bollinger, Cci, Rsi, Stochastic};

list!(Extremes, Middle, LinesCross, Hundred, BandTouch, Squeeze, PercentRange, Score, Sure);

strategy!(
    "h-extremes",
    Extremes { rsi: Rsi = Rsi::new(14).unwrap() },
    this.rsi.stable_after(),
    |this, candle| {
        let rsi = this.rsi.update(candle.close())?;
        ((rsi - 50.0).abs() > 20.0)
            .then(|| toward(50.0 - rsi, "extreme").map(|signal| signal.with("rsi", rsi)))
            .flatten()
    }
);

strategy!("h-middle", Middle { rsi: Rsi = Rsi::new(9).unwrap(), was: Option<f64> = None }, this.rsi.stable_after() + 1, |this, candle| {
    let side = (this.rsi.update(candle.close())? - 50.0).signum();
    if this.was.replace(side)? == side { None } else { toward(side, "through the middle") }
});

strategy!("h-lines-cross", LinesCross { lines: Stochastic = Stochastic::new(14, 3, 3).unwrap(), was: Option<f64> = None },
this.lines.warmup() + 1,
|this, candle| {
    let lines = this.lines.update(candle)?;
    let side = (lines.k - lines.d).signum();
    if this.was.replace(side)? == side { None } else { toward(side, "the lines cross") }
});

strategy!("h-hundred", Hundred { cci: Cci = Cci::new(20).unwrap() }, this.cci.warmup(), |this, candle| {
    let cci = this.cci.update(candle)?;
    (cci.abs() > 100.0).then(|| toward(cci, "beyond a hundred")).flatten()
});

strategy!(
    "h-band-touch",
    BandTouch { bands: Bollinger = Bollinger::new(20, 2.0).unwrap() },
    20,
    |this, candle| {
        let bands = this.bands.update(candle.close())?;
        if candle.close() < bands.lower {
            Some(Signal::buy("below the band"))
        } else {
            (candle.close() > bands.upper).then(|| Signal::sell("above the band"))
        }
    }
);

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

strategy!("h-score", Score { closes: Window = Window::new(30) }, 30, |this, candle| {
    let closes = this.closes.with(candle.close())?;
    let middle = mean(closes.iter());
    let spread = (closes.iter().map(|close| (close - middle).powi(2)).sum::<f64>() / 30.0).sqrt();
    let score = (candle.close() - middle) / spread;
    (spread > 1e-9 * middle && score.abs() > 1.5)
        .then(|| toward(-score, "far from the mean").map(|signal| signal.with("score", score)))
        .flatten()
});

strategy!("h-sure", Sure { rsi: Rsi = Rsi::new(7).unwrap() }, this.rsi.stable_after(), |this, candle| {
    let distance = this.rsi.update(candle.close())? - 50.0;
    (distance.abs() > 10.0)
        .then(|| toward(-distance, "away").map(|signal| signal.with("share", distance.abs() / 50.0)))
        .flatten()
});
