//! Enum of all indicators in `candlewick_sdk`.

use crate::columns::{Column, Columns};
use crate::program::{InlineSlots, Slot};
use candlewick_sdk::indicator::{
    Adx, Atr, Bollinger, Cci, Donchian, Ema, HeikinAshi, Hull, IndicatorError, Keltner, Macd, ParabolicSar,
    Pivots, Rsi, SessionRange, Sma, Stochastic, Supertrend, WilliamsR, Wma, ZScore,
};
use candlewick_sdk::{Candle, Direction, Interval, MAX_BATCH_CANDLES, Millis};

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

/// Matches an indicator: evaluates `$by_number` if its input is numbers, and `$by_candle` if its input is candles.
macro_rules! by_source {
    ($indicator:expr, $number:ident => $by_number:expr, $candle:ident => $by_candle:expr) => {
        match $indicator {
            Indicator::Sma($number) => $by_number,
            Indicator::Ema($number) => $by_number,
            Indicator::Wma($number) => $by_number,
            Indicator::Hull($number) => $by_number,
            Indicator::Rsi($number) => $by_number,
            Indicator::ZScore($number) => $by_number,
            Indicator::Macd($number) => $by_number,
            Indicator::Bollinger($number) => $by_number,
            Indicator::Atr($candle) => $by_candle,
            Indicator::Cci($candle) => $by_candle,
            Indicator::WilliamsR($candle) => $by_candle,
            Indicator::Adx($candle) => $by_candle,
            Indicator::Stochastic($candle) => $by_candle,
            Indicator::Donchian($candle) => $by_candle,
            Indicator::Keltner($candle) => $by_candle,
            Indicator::Supertrend($candle) => $by_candle,
            Indicator::ParabolicSar($candle) => $by_candle,
            Indicator::HeikinAshi($candle) => $by_candle,
            Indicator::SessionRange($candle) => $by_candle,
            Indicator::Pivots($candle) => $by_candle,
        }
    };
}

impl Indicator {
    /// Creates an indicator from constants: periods, multipliers and times in ms. `None` if the name is unknown.
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

    pub(crate) const fn line_count(&self) -> usize {
        match self {
            Self::Macd(_) | Self::Bollinger(_) | Self::Adx(_) | Self::Donchian(_) | Self::Keltner(_) => 3,
            Self::Stochastic(_) | Self::Supertrend(_) | Self::ParabolicSar(_) => 2,
            Self::HeikinAshi(_) | Self::SessionRange(_) => 4,
            Self::Pivots(_) => 7,
            _ => 1,
        }
    }

    /// Returns the number of candles after which the start of the series no longer matters.
    pub(crate) fn warmup(&self, interval: Interval) -> usize {
        match self {
            Self::Sma(sma) => sma.warmup(),
            Self::Ema(ema) => ema.warmup(),
            Self::Wma(wma) => wma.warmup(),
            Self::Hull(hull) => hull.warmup(),
            Self::Rsi(rsi) => rsi.warmup(),
            Self::ZScore(score) => score.warmup(),
            Self::Macd(macd) => macd.warmup(),
            Self::Bollinger(bollinger) => bollinger.warmup(),
            Self::Atr(atr) => atr.warmup(),
            Self::Adx(adx) => adx.warmup(),
            Self::Cci(cci) => cci.warmup(),
            Self::Stochastic(stochastic) => stochastic.warmup(),
            Self::Donchian(donchian) => donchian.warmup(),
            Self::Keltner(keltner) => keltner.warmup(),
            Self::WilliamsR(williams) => williams.warmup(),
            Self::Supertrend(supertrend) => supertrend.warmup(),
            Self::ParabolicSar(sar) => sar.warmup(),
            Self::HeikinAshi(smooth) => smooth.warmup(),
            Self::SessionRange(session) => session.warmup(interval),
            Self::Pivots(pivots) => pivots.warmup(interval),
        }
    }

    #[inline(never)]
    pub(crate) fn update_with_number(&mut self, of: f64, lines: &mut [f64]) {
        by_source!(self, one => write_lines(lines, one.update_lines(of)), _other => {});
    }

    /// Updates the lines. Not inlined, because the compiler would otherwise hoist the arithmetic into every step.
    #[inline(never)]
    pub(crate) fn update_with_candle(&mut self, candle: &Candle, lines: &mut [f64]) {
        by_source!(self, _other => {}, one => write_lines(lines, one.update_lines(candle)));
    }

    pub(crate) fn update_columns_by_number(
        &mut self,
        of: Slot,
        out: Slot,
        columns: &mut Columns,
        values: &mut InlineSlots,
    ) {
        by_source!(self, one => columns.update_with_number(one, of, out, values), _other => {});
    }

    pub(crate) fn update_columns_by_candle(
        &mut self,
        candles: &[Candle],
        out: Slot,
        columns: &mut Columns,
        values: &mut InlineSlots,
    ) {
        by_source!(self, _other => {}, one => columns.update_with_candle(one, candles, out, values));
    }
}

pub(crate) trait NumberIndicator {
    type Lines: AsRef<[f64]>;
    const LINE_COUNT: usize;

    /// Updates the indicator and returns its lines. The lines are NaN during warm-up.
    fn update_lines(&mut self, of: f64) -> Self::Lines;

    #[inline]
    fn update_columns(&mut self, of: &[f64], columns: &mut [Column]) {
        write_columns(columns, of.iter().map(|of| self.update_lines(*of)));
    }
}

pub(crate) trait CandleIndicator {
    type Lines: AsRef<[f64]>;
    const LINE_COUNT: usize;

    /// Updates the indicator and returns its lines. The lines are NaN during warm-up.
    fn update_lines(&mut self, candle: &Candle) -> Self::Lines;
}

macro_rules! lines {
    ($by:ident, $of:ty: $($indicator:ident => |$at:ident| [$($line:expr),+];)+) => {
        $(
            impl $by for $indicator {
                type Lines = [f64; Self::LINE_COUNT];
                const LINE_COUNT: usize = [$(stringify!($line)),+].len();

                #[inline]
                fn update_lines(&mut self, of: $of) -> Self::Lines {
                    self.update(of).map_or([f64::NAN; _], |$at| [$($line),+])
                }
            }
        )+
    };
}

lines! { NumberIndicator, f64:
    Sma => |at| [at];
    Wma => |at| [at];
    Hull => |at| [at];
    Rsi => |at| [at];
    ZScore => |at| [at];
    Bollinger => |at| [at.upper, at.middle, at.lower];
}

lines! { CandleIndicator, &Candle:
    Atr => |at| [at];
    Cci => |at| [at];
    WilliamsR => |at| [at];
    Adx => |at| [at.adx, at.plus_di, at.minus_di];
    Stochastic => |at| [at.k, at.d];
    Donchian => |at| [at.upper, at.middle, at.lower];
    Keltner => |at| [at.upper, at.middle, at.lower];
    Supertrend => |at| [at.line, sign(at.trend)];
    ParabolicSar => |at| [at.stop, sign(at.trend)];
    HeikinAshi => |at| [at.open(), at.high(), at.low(), at.close()];
    SessionRange => |at| [at.high, at.low, at.close, f64::from(u8::from(at.is_over))];
    Pivots => |at| [
        at.pivot,
        at.resistances[0],
        at.resistances[1],
        at.resistances[2],
        at.supports[0],
        at.supports[1],
        at.supports[2]
    ];
}

impl NumberIndicator for Ema {
    type Lines = [f64; Self::LINE_COUNT];
    const LINE_COUNT: usize = 1;

    #[inline]
    fn update_lines(&mut self, of: f64) -> Self::Lines {
        [self.update(of).unwrap_or(f64::NAN)]
    }

    #[inline]
    fn update_columns(&mut self, of: &[f64], columns: &mut [Column]) {
        if let [column] = columns {
            Self::update_batch([self], of, [&mut column[..of.len()]]);
        }
    }
}

impl NumberIndicator for Macd {
    type Lines = [f64; Self::LINE_COUNT];
    const LINE_COUNT: usize = 3;

    #[inline]
    fn update_lines(&mut self, of: f64) -> Self::Lines {
        self.update(of).map_or([f64::NAN; _], |at| [at.macd, at.signal, at.histogram])
    }

    #[inline]
    fn update_columns(&mut self, of: &[f64], columns: &mut [Column]) {
        if let [macd, signal, histogram] = columns {
            self.update_batch(of, [macd, signal, histogram].map(|column| &mut column[..of.len()]));
        }
    }
}

#[inline]
pub(crate) fn write_columns<L: AsRef<[f64]>>(columns: &mut [Column], values: impl Iterator<Item = L>) {
    if let [column] = columns {
        for (value, line) in column.iter_mut().zip(values) {
            *value = line.as_ref()[0];
        }
    } else {
        for (place, values) in values.enumerate().take(MAX_BATCH_CANDLES) {
            columns.iter_mut().zip(values.as_ref()).for_each(|(column, line)| column[place] = *line);
        }
    }
}

#[inline]
pub(crate) fn write_lines(lines: &mut [f64], values: impl AsRef<[f64]>) {
    lines.iter_mut().zip(values.as_ref()).for_each(|(line, value)| *line = *value);
}

const fn sign(trend: Direction) -> f64 {
    match trend {
        Direction::Buy => 1.0,
        Direction::Sell => -1.0,
    }
}
