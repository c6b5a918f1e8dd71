//! Strategies that go with a trend.

use crate::declare::{Window, highest, list, lowest, mean, strategy, toward};
use candlewick_sdk::indicator::{Adx, Ema, Macd, Sma};
use candlewick_sdk::{Direction, Signal};

list! {
    CrossOfTwo, SideOfMean, Histogram, StrongTrend, Channel, Slope, Efficiency, Momentum, ThreeMeans, Pullback
}

strategy!("h-cross-of-two", CrossOfTwo { fast: Ema = Ema::new(5).unwrap(), slow: Ema = Ema::new(20).unwrap(), was: Option<bool> = None },
this.slow.stable_after() + 1,
|this, candle| {
    let (fast, slow) = (this.fast.update(candle.close()), this.slow.update(candle.close()));
    let is_above = fast? > slow?;
    let crossed = this.was.replace(is_above)? != is_above;
    crossed.then(|| Signal::new(if is_above { Direction::Buy } else { Direction::Sell }, "crossed"))
});

strategy!("h-side-of-mean", SideOfMean { mean: Sma = Sma::new(20).unwrap(), was: Option<f64> = None }, 21, |this, candle| {
    let side = (candle.close() - this.mean.update(candle.close())?).signum();
    if this.was.replace(side)? == side { None } else { toward(side, "other side of the mean") }
});

strategy!("h-histogram", Histogram { macd: Macd = Macd::new(12, 26, 9).unwrap(), was: Option<f64> = None },
this.macd.stable_after() + 1,
|this, candle| {
    let sign = this.macd.update(candle.close())?.histogram.signum();
    if this.was.replace(sign)? == sign { None } else { toward(sign, "the histogram turned") }
});

strategy!("h-strong-trend", StrongTrend { adx: Adx = Adx::new(14).unwrap(), before: Option<f64> = None },
this.adx.stable_after().max(2),
|this, candle| {
    let lines = this.adx.update(candle);
    let before = this.before.replace(candle.close());
    (lines?.adx > 25.0).then(|| toward(candle.close() - before?, "with a strong trend"))?
});

strategy!(
    "h-channel",
    Channel { highs: Window = Window::new(20), lows: Window = Window::new(20) },
    21,
    |this, candle| {
        let (highs, lows) = (this.highs.before(candle.high()), this.lows.before(candle.low()));
        if candle.close() > highest(&highs?) {
            Some(Signal::buy("left the channel upwards"))
        } else {
            (candle.close() < lowest(&lows?)).then(|| Signal::sell("left the channel downwards"))
        }
    }
);

strategy!("h-slope", Slope { closes: Window = Window::new(15) }, 15, |this, candle| {
    let closes = this.closes.with(candle.close())?;
    let middle = mean(closes.iter());
    let slope: f64 = closes.iter().zip(-7..).map(|(close, x)| (close / middle - 1.0) * f64::from(x)).sum();
    (slope.abs() > 0.05).then(|| toward(slope, "the line of the closes")).flatten()
});

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

strategy!("h-pullback", Pullback { mean: Ema = Ema::new(30).unwrap(), before: Option<f64> = None }, this.mean.stable_after() + 1, |this, candle| {
    let (mean, before) = (this.mean.update(candle.close()), this.before.replace(candle.close()));
    let (mean, before) = (mean?, before?);
    (candle.close() > mean && candle.close() < before).then(|| Signal::buy("a step back in a rise"))
});
