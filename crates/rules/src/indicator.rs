//! The indicators of the SDK, as one of them.

use candlewick_sdk::indicator::{
    Adx, Atr, Bollinger, Cci, Donchian, Ema, HeikinAshi, Hull, IndicatorError, Keltner, Macd, ParabolicSar,
    Pivots, Rsi, SessionRange, Sma, Stochastic, Supertrend, WilliamsR, Wma, ZScore,
};
use candlewick_sdk::{Candle, Direction, Interval, Millis};

/// For how many candles an indicator that follows a trend is taken to remember where it began: it has no bound.
const MEMORY_OF_TRENDS: usize = 500;

/// An indicator with its settings and its state.
#[derive(Clone, Debug)]
pub(crate) enum Indicator {
    Sma(Sma),
    Ema(Ema),
    Wma(Wma),
    Hull(Hull),
    Rsi(Rsi),
    ZScore(ZScore),
    Macd(Macd),
    Bollinger(Bollinger),
    Atr(Atr),
    Adx(Adx),
    Cci(Cci),
    Stochastic(Stochastic),
    Donchian(Donchian),
    Keltner(Keltner),
    WilliamsR(WilliamsR),
    Supertrend(Supertrend),
    ParabolicSar(ParabolicSar),
    HeikinAshi(HeikinAshi),
    SessionRange(SessionRange),
    Pivots(Pivots),
}

impl Indicator {
    /// The indicator of a name, with its settings in the order in which they are written: periods, multiples and times (ms).
    pub(crate) fn new(name: &str, settings: &[f64]) -> Result<Option<Self>, IndicatorError> {
        let number = |place: usize| settings.get(place).copied().unwrap_or_default();
        let period = |place: usize| number(place) as usize;
        let time = |place: usize| Millis::new(number(place) as i64);
        Ok(Some(match name {
            "sma" => Self::Sma(Sma::new(period(0))?),
            "ema" => Self::Ema(Ema::new(period(0))?),
            "wma" => Self::Wma(Wma::new(period(0))?),
            "hull" => Self::Hull(Hull::new(period(0))?),
            "rsi" => Self::Rsi(Rsi::new(period(0))?),
            "z_score" => Self::ZScore(ZScore::new(period(0))?),
            "macd" => Self::Macd(Macd::new(period(0), period(1), period(2))?),
            "bollinger" => Self::Bollinger(Bollinger::new(period(0), number(1))?),
            "atr" => Self::Atr(Atr::new(period(0))?),
            "adx" => Self::Adx(Adx::new(period(0))?),
            "cci" => Self::Cci(Cci::new(period(0))?),
            "stochastic" => Self::Stochastic(Stochastic::new(period(0), period(1), period(2))?),
            "donchian" => Self::Donchian(Donchian::new(period(0))?),
            "keltner" => Self::Keltner(Keltner::new(period(0), period(1), number(2))?),
            "williams_r" => Self::WilliamsR(WilliamsR::new(period(0))?),
            "supertrend" => Self::Supertrend(Supertrend::new(period(0), number(1))?),
            "parabolic_sar" => Self::ParabolicSar(ParabolicSar::new(number(0), number(1))?),
            "heikin_ashi" => Self::HeikinAshi(HeikinAshi::new()),
            "session_range" => {
                let (from, to) = (time(0), time(1));
                let length = if to > from { to - from } else { to + Millis::DAY - from };
                Self::SessionRange(SessionRange::new(from, length)?)
            }
            "pivots" => Self::Pivots(Pivots::new(time(0))?),
            _ => return Ok(None),
        }))
    }

    /// How many lines it has.
    pub(crate) const fn lines(&self) -> usize {
        match self {
            Self::Macd(_) | Self::Bollinger(_) | Self::Adx(_) | Self::Donchian(_) | Self::Keltner(_) => 3,
            Self::Stochastic(_) | Self::Supertrend(_) | Self::ParabolicSar(_) => 2,
            Self::HeikinAshi(_) | Self::SessionRange(_) => 4,
            Self::Pivots(_) => 7,
            _ => 1,
        }
    }

    /// How many candles of this length until its values no longer depend on where the series began.
    pub(crate) fn stable_after(&self, interval: Interval) -> usize {
        match self {
            Self::Sma(sma) => sma.warmup(),
            Self::Ema(ema) => ema.stable_after(),
            Self::Wma(wma) => wma.warmup(),
            Self::Hull(hull) => hull.warmup(),
            Self::Rsi(rsi) => rsi.stable_after(),
            Self::ZScore(score) => score.warmup(),
            Self::Macd(macd) => macd.stable_after(),
            Self::Bollinger(bollinger) => bollinger.warmup(),
            Self::Atr(atr) => atr.stable_after(),
            Self::Adx(adx) => adx.stable_after(),
            Self::Cci(cci) => cci.warmup(),
            Self::Stochastic(stochastic) => stochastic.warmup(),
            Self::Donchian(donchian) => donchian.warmup(),
            Self::Keltner(keltner) => keltner.stable_after(),
            Self::WilliamsR(williams) => williams.warmup(),
            Self::Supertrend(supertrend) => supertrend.warmup() + MEMORY_OF_TRENDS,
            Self::ParabolicSar(sar) => sar.warmup() + MEMORY_OF_TRENDS,
            Self::HeikinAshi(smooth) => smooth.stable_after(),
            Self::SessionRange(session) => session.warmup(interval),
            Self::Pivots(pivots) => pivots.warmup(interval),
        }
    }

    /// Takes the next number, where it is an indicator of one. Writes its lines, NaN where there are none.
    #[inline(never)]
    pub(crate) fn update_by_number(&mut self, of: f64, lines: &mut [f64]) {
        match self {
            Self::Sma(sma) => write(lines, sma.update(of)),
            Self::Ema(ema) => write(lines, ema.update(of)),
            Self::Wma(wma) => write(lines, wma.update(of)),
            Self::Hull(hull) => write(lines, hull.update(of)),
            Self::Rsi(rsi) => write(lines, rsi.update(of)),
            Self::ZScore(score) => write(lines, score.update(of)),
            Self::Macd(macd) => {
                write_all(lines, macd.update(of).map(|at| [at.macd, at.signal, at.histogram]));
            }
            Self::Bollinger(bollinger) => {
                write_all(lines, bollinger.update(of).map(|at| [at.upper, at.middle, at.lower]));
            }
            _ => {}
        }
    }

    /// Takes the next candle, where it is an indicator of whole ones. Writes its lines, NaN where there are none. Apart: within the
    /// loop over steps, what is made of the candle alone is computed at every candle, whichever of them there is.
    #[inline(never)]
    pub(crate) fn update_by_candle(&mut self, candle: &Candle, lines: &mut [f64]) {
        match self {
            Self::Atr(atr) => write(lines, atr.update(candle)),
            Self::Cci(cci) => write(lines, cci.update(candle)),
            Self::WilliamsR(williams) => write(lines, williams.update(candle)),
            Self::Adx(adx) => {
                write_all(lines, adx.update(candle).map(|at| [at.adx, at.plus_di, at.minus_di]));
            }
            Self::Stochastic(stochastic) => {
                write_all(lines, stochastic.update(candle).map(|at| [at.k, at.d]));
            }
            Self::Donchian(donchian) => {
                write_all(lines, donchian.update(candle).map(|at| [at.upper, at.middle, at.lower]));
            }
            Self::Keltner(keltner) => {
                write_all(lines, keltner.update(candle).map(|at| [at.upper, at.middle, at.lower]));
            }
            Self::Supertrend(supertrend) => {
                write_all(lines, supertrend.update(candle).map(|at| [at.line, sign(at.trend)]));
            }
            Self::ParabolicSar(sar) => {
                write_all(lines, sar.update(candle).map(|at| [at.stop, sign(at.trend)]));
            }
            Self::HeikinAshi(smooth) => {
                let at = smooth.update(candle);
                write_all(lines, at.map(|at| [at.open(), at.high(), at.low(), at.close()]));
            }
            Self::SessionRange(session) => {
                let at = session.update(candle);
                write_all(lines, at.map(|at| [at.high, at.low, at.close, f64::from(u8::from(at.is_over))]));
            }
            Self::Pivots(pivots) => {
                let at = pivots.update(candle).map(|at| {
                    let ([r1, r2, r3], [s1, s2, s3]) = (at.resistances, at.supports);
                    [at.pivot, r1, r2, r3, s1, s2, s3]
                });
                write_all(lines, at);
            }
            Self::Sma(_)
            | Self::Ema(_)
            | Self::Wma(_)
            | Self::Hull(_)
            | Self::Rsi(_)
            | Self::ZScore(_)
            | Self::Macd(_)
            | Self::Bollinger(_) => {}
        }
    }
}

#[inline]
fn write(lines: &mut [f64], value: Option<f64>) {
    if let Some(line) = lines.first_mut() {
        *line = value.unwrap_or(f64::NAN);
    }
}

/// Writes lines, NaN where there are none.
#[inline]
pub(crate) fn write_all<const N: usize>(lines: &mut [f64], values: Option<[f64; N]>) {
    let values = values.unwrap_or([f64::NAN; N]);
    lines.iter_mut().zip(values).for_each(|(line, value)| *line = value);
}

const fn sign(trend: Direction) -> f64 {
    match trend {
        Direction::Buy => 1.0,
        Direction::Sell => -1.0,
    }
}
