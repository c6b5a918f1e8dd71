//! Twelve strategies in Rust and as rules, for a test and a bench. Five of the strategies are defined here.

use candlewick_sdk::indicator::{Adx, Atr, Ema, SessionRange, ZScore};
use candlewick_sdk::{
    BotContext, BuildError, Candle, CloseType, Expiry, Interval, Millis, Signal, Strategy, StrategyEntry,
    StrategyFactory, parameters,
};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// Returns each strategy in Rust with the parameters of its rule.
pub(crate) fn pairs() -> [(StrategyEntry, Value); 12] {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../strategies/rules");
    let file = |name: &str| json!({ "file": format!("{folder}/{name}.toml") });
    let crossing = json!({
        "buy": "crosses_above(ema(fast), ema(slow))",
        "sell": "crosses_below(ema(fast), ema(slow))",
        "parameters": { "fast": { "default": 9 }, "slow": { "default": 21 } },
    });
    let stretched = json!({
        "buy": "z_score(period) < -distance and not (hour() >= 22)",
        "sell": "z_score(period) > distance and not (hour() >= 22)",
        "parameters": { "period": { "default": 20 }, "distance": { "default": 2.0 } },
    });
    [
        (StrategyEntry::from_factory::<rsi_reversal::RsiReversal>(), file("rsi-reversal")),
        (StrategyEntry::from_factory::<bollinger_reversal::BollingerReversal>(), file("bollinger-reversal")),
        (StrategyEntry::from_factory::<donchian_breakout::DonchianBreakout>(), file("donchian-breakout")),
        (StrategyEntry::from_factory::<macd_cross::MacdCross>(), file("macd-cross")),
        (StrategyEntry::from_factory::<ema_cross::EmaCross>(), crossing),
        (StrategyEntry::from_factory::<stochastic_adx::StochasticAdx>(), file("stochastic-adx")),
        (StrategyEntry::from_factory::<trend_filter::TrendFilter>(), file("higher-trend")),
        (StrategyEntry::from_factory::<EmaCrossAdx>(), file("ema-cross-adx")),
        (StrategyEntry::from_factory::<InsideBar>(), file("inside-bar-breakout")),
        (StrategyEntry::from_factory::<InARow>(), file("three-in-a-row")),
        (StrategyEntry::from_factory::<SessionOpen>(), file("session-open")),
        (StrategyEntry::from_factory::<Stretched>(), stretched),
    ]
}

fn compare(one: f64, other: f64, close: f64) -> Ordering {
    let is_rounding = (one - other).abs() <= 1e-12 * other.abs().max(close);
    if is_rounding { Ordering::Equal } else { one.total_cmp(&other) }
}

macro_rules! strategy {
    ($strategy:ident, $name:literal, $params:ident, $built:expr) => {
        impl StrategyFactory for $strategy {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.0.0";
            const ABOUT: &'static str = "The same as a rule.";
            type Params = $params;

            fn build(params: $params, bot: &BotContext) -> Result<Self, BuildError> {
                let built: fn($params, &BotContext) -> Self = $built;
                Ok(built(params, bot))
            }
        }
    };
}

parameters! {
    pub struct CrossParams {
        fast: usize = 9, 2..=20;
        slow: usize = 21, 21..=60;
        trend: f64 = 25.0, 10.0..=50.0;
    }
}

struct EmaCrossAdx {
    fast: Ema,
    slow: Ema,
    adx: Adx,
    trend: f64,
    before: Option<Ordering>,
}

strategy!(EmaCrossAdx, "ema-cross-adx", CrossParams, |params, _| Self {
    fast: Ema::new(params.fast).unwrap(),
    slow: Ema::new(params.slow).unwrap(),
    adx: Adx::new(14).unwrap(),
    trend: params.trend,
    before: None,
});

impl Strategy for EmaCrossAdx {
    fn warmup(&self) -> usize {
        (self.slow.warmup() + 1).max(self.adx.warmup())
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let close = candle.close();
        let (fast, slow, adx) = (self.fast.update(close), self.slow.update(close), self.adx.update(candle));
        let now = fast.zip(slow).map(|(fast, slow)| compare(fast, slow, close));
        let before = std::mem::replace(&mut self.before, now);
        let (now, before) = now.zip(before)?;
        if now == before || adx?.adx <= self.trend {
            return None;
        }
        match now {
            Ordering::Greater => Some(Signal::buy("crossed above")),
            Ordering::Less => Some(Signal::sell("crossed below")),
            Ordering::Equal => None,
        }
    }
}

parameters! {
    pub struct InsideParams {
        size: f64 = 1.0, 0.0..=3.0;
    }
}

struct InsideBar {
    atr: Atr,
    size: f64,
    last: [Option<Candle>; 2],
}

strategy!(InsideBar, "inside-bar", InsideParams, |params, _| Self {
    atr: Atr::new(14).unwrap(),
    size: params.size,
    last: [None; 2],
});

impl Strategy for InsideBar {
    fn warmup(&self) -> usize {
        self.atr.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let atr = self.atr.update(candle);
        let [inner, outer] = self.last;
        self.last = [Some(*candle), inner];
        let (inner, outer, atr) = (inner?, outer?, atr?);
        let is_inside = inner.high() < outer.high() && inner.low() > outer.low();
        if !is_inside || outer.high() - outer.low() <= self.size * atr {
            return None;
        }
        if candle.close() > outer.high() {
            return Some(Signal::buy("left above"));
        }
        (candle.close() < outer.low()).then(|| Signal::sell("left below"))
    }
}

parameters! {
    pub struct RowParams {
        candles: usize = 3, 2..=8;
    }
}

struct InARow {
    candles: usize,
    fell: usize,
    rose: usize,
}

strategy!(InARow, "in-a-row", RowParams, |params, _| Self { candles: params.candles, fell: 0, rose: 0 });

impl Strategy for InARow {
    fn warmup(&self) -> usize {
        self.candles
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let change = candle.close() - candle.open();
        self.fell = if change < 0.0 { self.fell + 1 } else { 0 };
        self.rose = if change > 0.0 { self.rose + 1 } else { 0 };
        if change.abs() <= 0.5 * (candle.high() - candle.low()) {
            return None;
        }
        if self.fell >= self.candles {
            return Some(Signal::buy("fell long enough"));
        }
        (self.rose >= self.candles).then(|| Signal::sell("rose long enough"))
    }
}

parameters! {
    pub struct NoParams {}
}

struct SessionOpen {
    range: SessionRange,
    interval: Interval,
    expiry: Expiry,
    above: Option<Ordering>,
    below: Option<Ordering>,
}

strategy!(SessionOpen, "session-open", NoParams, |_, bot| Self {
    range: SessionRange::new(Millis::HOUR * 8, Millis::MINUTE * 30).unwrap(),
    interval: bot.interval,
    expiry: Expiry { close_type: CloseType::new(Millis::MINUTE * 5).unwrap(), ..bot.expiry },
    above: None,
    below: None,
});

impl Strategy for SessionOpen {
    fn warmup(&self) -> usize {
        self.range.warmup(self.interval) + 1
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let range = self.range.update(candle);
        let at = |line: f64| compare(candle.close(), line, candle.close());
        let above = std::mem::replace(&mut self.above, range.map(|range| at(range.high)));
        let below = std::mem::replace(&mut self.below, range.map(|range| at(range.low)));
        let closes = candle.close_time(self.interval).get();
        let (minute, day) = (closes.rem_euclid(86_400_000) / 60_000, closes.div_euclid(86_400_000));
        // 1970-01-01 was a Thursday, the fourth day of the week.
        let weekday = (day + 3).rem_euclid(7) + 1;
        if !(511..720).contains(&minute) || weekday > 5 {
            return None;
        }
        let crossed = |now: Option<Ordering>, before: Option<Ordering>, to: Ordering| {
            now == Some(to) && before.is_some_and(|before| before != to)
        };
        if crossed(self.above, above, Ordering::Greater) {
            return Some(Signal::buy("left above").with_expiry(self.expiry));
        }
        crossed(self.below, below, Ordering::Less)
            .then(|| Signal::sell("left below").with_expiry(self.expiry))
    }
}

parameters! {
    pub struct StretchedParams {
        period: usize = 20, 2..=500;
        distance: f64 = 2.0, 0.1..=5.0;
    }
}

struct Stretched {
    score: ZScore,
    distance: f64,
    interval: Interval,
}

strategy!(Stretched, "stretched", StretchedParams, |params, bot| Self {
    score: ZScore::new(params.period).unwrap(),
    distance: params.distance,
    interval: bot.interval,
});

impl Strategy for Stretched {
    fn warmup(&self) -> usize {
        self.score.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let score = self.score.update(candle.close())?;
        let hour = candle.close_time(self.interval).get().rem_euclid(86_400_000) / 3_600_000;
        if hour >= 22 {
            return None;
        }
        if score < -self.distance {
            return Some(Signal::buy("far below"));
        }
        (score > self.distance).then(|| Signal::sell("far above"))
    }
}
