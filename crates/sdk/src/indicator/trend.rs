//! Average true range, and indicators that follow a trend.

use super::averages::Smoothing;
use super::{Ema, IndicatorError, check_multiple, check_period, is_usable};
use crate::{Candle, Direction, Interval, Ohlcv};

/// Number of past candles assumed to affect indicators that reverse with the trend. In theory, all past candles do.
const TREND_MEMORY_CANDLES: usize = 500;

/// Average true range: a smoothed average of price movement per candle, in price units.
/// The true range of a candle includes the gap from the previous close. Matches TA-Lib `ATR` with Wilder's smoothing.
#[derive(Clone, Debug)]
pub struct Atr {
    previous_close: Option<f64>,
    ranges: Smoothing,
}

#[inline]
fn true_range(candle: &Candle, previous_close: f64) -> f64 {
    candle.high().max(previous_close) - candle.low().min(previous_close)
}

impl Atr {
    /// Creates an average over `period` true ranges. The period is at least 1, usually 14.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let ranges = Smoothing::with_wilder_weight(check_period("atr", period, 1)?);
        Ok(Self { previous_close: None, ranges })
    }

    /// Processes the next candle and returns the average, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<f64> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous_close = self.previous_close.replace(candle.close())?;
        self.ranges.update(true_range(candle, previous_close))
    }

    /// Returns the number of candles until the first result: `period` + 1, because the first has no previous close.
    pub fn candles_to_first_value(&self) -> usize {
        self.ranges.warmup() + 1
    }

    /// Returns the number of candles after which the start of the series no longer matters.
    /// The number is about 21.7 x `period` (295 for a period of 14).
    pub fn warmup(&self) -> usize {
        self.candles_to_first_value() + self.ranges.memory_length()
    }
}

/// Keltner channel: an average of closes, with lines above and below at a multiple of the average true range.
/// This modern form uses an exponential average and Wilder's range (TA-Lib `EMA` and `ATR`). The channel of the `ta`
/// crate is not used, because it has a single period, uses typical prices, and starts at the first candle.
#[derive(Clone, Debug)]
pub struct Keltner {
    multiple: f64,
    middle: Ema,
    range: Atr,
}

/// The three values of a [`Keltner`] channel at one candle, in price units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeltnerChannel {
    /// Average of closes plus `multiple` average true ranges.
    pub upper: f64,
    /// Average of closes.
    pub middle: f64,
    /// Average of closes minus `multiple` average true ranges.
    pub lower: f64,
}

impl Keltner {
    /// Creates a channel from the period of the closes, the period of the ranges and a multiple, usually 20, 10 and 2.
    /// Fails unless both periods are at least 1 and `multiple` is in (0, 1000].
    pub fn new(period: usize, range_period: usize, multiple: f64) -> Result<Self, IndicatorError> {
        for period in [period, range_period] {
            check_period("keltner", period, 1)?;
        }
        let multiple = check_multiple("keltner", multiple)?;
        Ok(Self { multiple, middle: Ema::new(period)?, range: Atr::new(range_period)? })
    }

    /// Processes the next candle and returns the channel, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<KeltnerChannel> {
        if !super::is_usable(candle.high()) {
            return None;
        }
        // Both indicators are updated before `?` can return.
        let (middle, range) = (self.middle.update(candle.close()), self.range.update(candle));
        let (middle, distance) = (middle?, self.multiple * range?);
        Some(KeltnerChannel { upper: middle + distance, middle, lower: middle - distance })
    }

    /// Returns the number of candles until the first result: max(`period`, `range_period` + 1).
    pub fn candles_to_first_value(&self) -> usize {
        self.middle.candles_to_first_value().max(self.range.candles_to_first_value())
    }

    /// Returns the number of candles after which the start of the series no longer matters: 228 for periods 20 and 10.
    pub fn warmup(&self) -> usize {
        self.middle.warmup().max(self.range.warmup())
    }
}

/// Trend-following line at a multiple of Wilder's average true range from (high + low) / 2 (Seban 2008).
/// When a close crosses the line, the trend reverses. In a rising trend, the line is below the closes and never falls.
/// In a falling trend, the line is above the closes and never rises. The first trend is falling.
#[derive(Clone, Debug)]
pub struct Supertrend {
    multiple: f64,
    range: Atr,
    last: Option<SupertrendState>,
}

#[derive(Clone, Copy, Debug)]
struct SupertrendState {
    upper: f64,
    lower: f64,
    close: f64,
    trend: Direction,
}

/// Line and trend of a [`Supertrend`] at one candle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupertrendLine {
    /// Line in price units, below a rising trend and above a falling trend.
    pub line: f64,
    /// [`Direction::Buy`] for a rising trend, [`Direction::Sell`] for a falling trend.
    pub trend: Direction,
}

impl Supertrend {
    /// Creates a line from the period of the average true range and a multiple, usually 10 and 3.
    /// Fails unless `period` is at least 1 and `multiple` is in (0, 1000].
    pub fn new(period: usize, multiple: f64) -> Result<Self, IndicatorError> {
        let range = Atr::new(check_period("supertrend", period, 1)?)?;
        Ok(Self { multiple: check_multiple("supertrend", multiple)?, range, last: None })
    }

    /// Processes the next candle and returns the line, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<SupertrendLine> {
        if !is_usable(candle.high()) {
            return None;
        }
        let distance = self.multiple * self.range.update(candle)?;
        let (middle, close) = (f64::midpoint(candle.high(), candle.low()), candle.close());
        let (mut upper, mut lower, mut trend) = (middle + distance, middle - distance, Direction::Sell);
        if let Some(last) = self.last {
            if last.close <= last.upper {
                upper = upper.min(last.upper);
            }
            if last.close >= last.lower {
                lower = lower.max(last.lower);
            }
            trend = match last.trend {
                Direction::Sell if close > upper => Direction::Buy,
                Direction::Buy if close < lower => Direction::Sell,
                unchanged => unchanged,
            };
        }
        self.last = Some(SupertrendState { upper, lower, close, trend });
        let line = match trend {
            Direction::Buy => lower,
            Direction::Sell => upper,
        };
        Some(SupertrendLine { line, trend })
    }

    /// Returns the number of candles until the first result, which is `period` + 1.
    pub fn candles_to_first_value(&self) -> usize {
        self.range.candles_to_first_value()
    }

    /// Returns 500 candles more than until the first result. Two instances that start at different candles can differ
    /// until both have reversed, so use a larger number if trends last longer.
    pub fn warmup(&self) -> usize {
        self.candles_to_first_value() + TREND_MEMORY_CANDLES
    }
}

/// Minimum sum of +DI and -DI. Below this sum, a candle has no direction (as in TA-Lib).
const MIN_DIRECTION_SUM: f64 = 1e-14;

/// Average directional index: trend strength from 0 to 100, with upward and downward parts.
/// Matches TA-Lib `ADX`, `PLUS_DI` and `MINUS_DI`. A candle without a direction leaves the index unchanged.
#[derive(Clone, Debug)]
pub struct Adx {
    previous: Option<Candle>,
    plus: WilderSum,
    minus: WilderSum,
    ranges: WilderSum,
    index: Smoothing,
    last: Option<f64>,
}

/// The three values of an [`Adx`] at one candle, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdxLines {
    /// Trend strength, regardless of direction.
    pub adx: f64,
    /// Upward movement as a percentage of the true range.
    pub plus_di: f64,
    /// Downward movement as a percentage of the true range.
    pub minus_di: f64,
}

/// Wilder's running sum: after `period - 1` values are added up, each later value replaces 1 / `period` of the sum.
#[derive(Clone, Debug)]
struct WilderSum {
    period: usize,
    missing: usize,
    sum: f64,
}

impl WilderSum {
    fn new(period: usize) -> Self {
        Self { period, missing: period - 1, sum: 0.0 }
    }

    #[inline]
    fn update(&mut self, value: f64) -> Option<f64> {
        if self.missing > 0 {
            self.missing -= 1;
            self.sum += value;
            return None;
        }
        self.sum += value - self.sum / self.period as f64;
        Some(self.sum)
    }
}

impl Adx {
    /// Creates an index over `period` candles. The period is at least 2, usually 14.
    pub fn new(period: usize) -> Result<Self, IndicatorError> {
        let index = Smoothing::with_wilder_weight(check_period("adx", period, 2)?);
        let sum = WilderSum::new(period);
        Ok(Self { previous: None, plus: sum.clone(), minus: sum.clone(), ranges: sum, index, last: None })
    }

    /// Processes the next candle and returns the three lines, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<AdxLines> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous = self.previous.replace(*candle)?;
        let (up, down) = (candle.high() - previous.high(), previous.low() - candle.low());
        let plus = self.plus.update(if up > down && up > 0.0 { up } else { 0.0 });
        let minus = self.minus.update(if down > up && down > 0.0 { down } else { 0.0 });
        let range = self.ranges.update(true_range(candle, previous.close()));
        let (plus, minus, range) = (plus?, minus?, range?);
        let share = |sum: f64| if range > 0.0 { 100.0 * (sum / range) } else { 0.0 };
        let (plus_di, minus_di) = (share(plus), share(minus));
        let both = plus_di + minus_di;
        if both >= MIN_DIRECTION_SUM {
            self.last = self.index.update(100.0 * ((plus_di - minus_di).abs() / both));
        } else if self.last.is_none() {
            // During warm-up, a candle without direction counts as an index of 0.
            self.last = self.index.update(0.0);
        }
        self.last.map(|adx| AdxLines { adx, plus_di, minus_di })
    }

    /// Returns the number of candles until the first result, which is 2 x `period`.
    pub fn candles_to_first_value(&self) -> usize {
        2 * self.index.warmup()
    }

    /// Returns the number of candles after which the start of the series no longer matters.
    /// The number is about 43.4 x `period` (588 for a period of 14).
    pub fn warmup(&self) -> usize {
        self.candles_to_first_value() + 2 * self.index.memory_length()
    }
}

/// Parabolic SAR: a trailing stop that accelerates with the trend, and reverses when the price reaches the stop.
///
/// Source: Wilder 1978, TA-Lib `SAR`. At each candle, the stop moves by a fraction of its distance from the extreme
/// price of the trend. The fraction grows by `step` with each new extreme, up to `limit`. The stop never enters the
/// range of the last two candles. If, from the first to the second candle, the low falls further than the high
/// rises, the first trend is falling. Otherwise it is rising.
#[derive(Clone, Debug)]
pub struct ParabolicSar {
    step: f64,
    limit: f64,
    previous: Option<Candle>,
    run: Option<SarState>,
}

#[derive(Clone, Copy, Debug)]
struct SarState {
    trend: Direction,
    extreme: f64,
    share: f64,
    stop: f64,
}

/// Stop and trend of a [`ParabolicSar`] at one candle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SarLine {
    /// Stop in price units, below a rising trend and above a falling trend.
    /// If the candle reaches the stop, the trend reverses, and this field already contains the stop of the new trend.
    pub stop: f64,
    /// [`Direction::Buy`] for a rising trend, [`Direction::Sell`] for a falling trend.
    pub trend: Direction,
}

impl ParabolicSar {
    /// Creates a stop from the acceleration step and its limit, usually 0.02 and 0.2.
    /// Fails unless 0 < `step` <= `limit` <= 1.
    pub fn new(step: f64, limit: f64) -> Result<Self, IndicatorError> {
        if step > 0.0 && step <= limit && limit <= 1.0 {
            Ok(Self { step, limit, previous: None, run: None })
        } else {
            Err(IndicatorError::InvalidAcceleration { step, limit })
        }
    }

    /// Processes the next candle and returns the stop, or `None` before the first value.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<SarLine> {
        if !is_usable(candle.high()) {
            return None;
        }
        let previous = self.previous.replace(*candle)?;
        let (highest, lowest) = (candle.high().max(previous.high()), candle.low().min(previous.low()));
        let (mut run, highest, lowest) = match self.run {
            Some(run) => (run, highest, lowest),
            // The first stop may be inside the second candle, so only the range of the second candle counts.
            None => (self.initial_state(&previous, candle), candle.high(), candle.low()),
        };
        let outside = |trend: Direction, stop: f64| match trend {
            Direction::Buy => stop.min(lowest),
            Direction::Sell => stop.max(highest),
        };
        let (is_reached, is_further, extreme) = match run.trend {
            Direction::Buy => (candle.low() <= run.stop, candle.high() > run.extreme, candle.high()),
            Direction::Sell => (candle.high() >= run.stop, candle.low() < run.extreme, candle.low()),
        };
        if is_reached {
            let (trend, extreme) = match run.trend {
                Direction::Buy => (Direction::Sell, candle.low()),
                Direction::Sell => (Direction::Buy, candle.high()),
            };
            run = SarState { trend, extreme, share: self.step, stop: outside(trend, run.extreme) };
        } else if is_further {
            (run.extreme, run.share) = (extreme, (run.share + self.step).min(self.limit));
        }
        let answer = SarLine { stop: run.stop, trend: run.trend };
        // The result is rounded once, as in the TA-Lib port. In a flat market, the last bit decides about a reversal.
        run.stop = outside(run.trend, run.share.mul_add(run.extreme - run.stop, run.stop));
        self.run = Some(run);
        Some(answer)
    }

    fn initial_state(&self, first: &Candle, second: &Candle) -> SarState {
        let (up, down) = (second.high() - first.high(), first.low() - second.low());
        if down > 0.0 && down > up {
            SarState { trend: Direction::Sell, extreme: second.low(), share: self.step, stop: first.high() }
        } else {
            SarState { trend: Direction::Buy, extreme: second.high(), share: self.step, stop: first.low() }
        }
    }

    /// Returns the number of candles until the first result, which is 2.
    pub const fn candles_to_first_value(&self) -> usize {
        2
    }

    /// Returns 500 candles more than until the first result. Two instances that start at different candles can differ
    /// until both reverse at the same candle, so use a larger number if trends last longer.
    pub const fn warmup(&self) -> usize {
        self.candles_to_first_value() + TREND_MEMORY_CANDLES
    }
}

/// Heikin-Ashi candles, which smooth prices to show the trend. Their prices were never traded.
///
/// The close is the mean of the candle's open, high, low and close. The open is the midpoint between open and close of
/// the previous Heikin-Ashi candle, or of the first candle. The range from low to high is extended to contain the new
/// open and close (Valcu, *Using the Heikin-Ashi Technique*, 2004).
#[derive(Clone, Debug, Default)]
pub struct HeikinAshi {
    previous: Option<Candle>,
}

impl HeikinAshi {
    /// Creates the indicator, which has no settings.
    pub const fn new() -> Self {
        Self { previous: None }
    }

    /// Processes the next candle and returns the Heikin-Ashi candle. Returns `None` if the high exceeds 1e100.
    #[inline]
    pub fn update(&mut self, candle: &Candle) -> Option<Candle> {
        if !is_usable(candle.high()) {
            return None;
        }
        let before = self.previous.as_ref().unwrap_or(candle);
        let open = f64::midpoint(before.open(), before.close());
        let close = (candle.open() + candle.high() + candle.low() + candle.close()) / 4.0;
        let (high, low) = (candle.high().max(open).max(close), candle.low().min(open).min(close));
        let numbers = Ohlcv { open, high, low, close, volume: candle.volume() };
        let smooth = Candle::new(candle.time(), Interval::SECOND, numbers).ok()?;
        self.previous = Some(smooth);
        Some(smooth)
    }

    /// Returns 31, the number of candles after which the start no longer matters: its weight halves with each candle.
    pub const fn warmup(&self) -> usize {
        31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Millis;
    use crate::indicator::tests::{COUNT, END, check, series};
    use crate::testkit::{from_closes, random_walk};
    use proptest::prelude::*;
    use ta_lib::Core;

    proptest! {
        #[test]
        fn channel_agrees_with_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize, more in 1..60_usize,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let (high, low, close) = (lane(Candle::high), lane(Candle::low), lane(Candle::close));
            let (mut ema, mut atr, core) = ([0.0; COUNT], [0.0; COUNT], Core::new());
            core.ema(0, END, &close, period as i32, &mut ema).unwrap();
            core.atr(0, END, &high, &low, &close, more as i32, &mut atr).unwrap();
            let mut keltner = Keltner::new(period, more, 2.5).unwrap();
            let warmup = period.max(more + 1);
            let line = |side: f64| -> Vec<f64> {
                (warmup..=COUNT).map(|seen| ema[seen - period] + side * atr[seen - more - 1]).collect()
            };
            let (upper, middle, lower) = (line(2.5), line(0.0), line(-2.5));
            check(&candles, (warmup, close[0]), [&upper, &middle, &lower], |candle| {
                keltner.update(candle).map(|channel| [channel.upper, channel.middle, channel.lower])
            });
            prop_assert_eq!(keltner.candles_to_first_value(), warmup);
        }
    }

    fn plain(candles: &[Candle], ranges: &[f64], multiple: f64) -> Vec<(f64, bool)> {
        let middle = |i: usize| f64::midpoint(candles[i].high(), candles[i].low());
        let close = |i: usize| candles[i].close();
        let first = candles.len() - ranges.len();
        let (mut uppers, mut lowers, mut rises) = (Vec::new(), Vec::new(), vec![false]);
        for (index, range) in ranges.iter().enumerate() {
            let i = first + index;
            let (upper, lower) = (middle(i) + multiple * range, middle(i) - multiple * range);
            if index == 0 {
                (uppers, lowers) = (vec![upper], vec![lower]);
                continue;
            }
            let (before_upper, before_lower) = (uppers[index - 1], lowers[index - 1]);
            let keeps_upper = upper >= before_upper && close(i - 1) <= before_upper;
            let keeps_lower = lower <= before_lower && close(i - 1) >= before_lower;
            uppers.push(if keeps_upper { before_upper } else { upper });
            lowers.push(if keeps_lower { before_lower } else { lower });
            rises.push(if rises[index - 1] { close(i) >= lowers[index] } else { close(i) > uppers[index] });
        }
        (0..ranges.len()).map(|i| (if rises[i] { lowers[i] } else { uppers[i] }, rises[i])).collect()
    }

    proptest! {
        #[test]
        fn supertrend_agrees_with_plain_rules(
            seed: u64, exponent in -6..6_i32, period in 2..60_usize, multiple in 0.5..4.0_f64,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), 339);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let mut ranges = [0.0; COUNT];
            let (high, low, close) = (lane(Candle::high), lane(Candle::low), lane(Candle::close));
            Core::new().atr(0, END, &high, &low, &close, period as i32, &mut ranges).unwrap();
            let expected = plain(&candles, &ranges[..COUNT - period], multiple);
            let mut supertrend = Supertrend::new(period, multiple).unwrap();
            let answers: Vec<_> = candles.iter().map(|candle| supertrend.update(candle)).collect();
            prop_assert!(answers[..supertrend.candles_to_first_value() - 1].iter().all(Option::is_none));
            let answers: Vec<_> = answers.into_iter().flatten().collect();
            prop_assert_eq!(answers.len(), expected.len());
            for (index, (answer, (line, rises))) in answers.iter().zip(expected).enumerate() {
                prop_assert_eq!(answer.trend == Direction::Buy, rises, "candle {}", index);
                prop_assert!((answer.line - line).abs() <= 1e-9 * line, "candle {index}: {answer:?} {line}");
            }
        }
    }

    #[test]
    fn later_start_agrees_after_both_reversed() {
        let candles = random_walk(5, 3_000);
        let (mut early, mut late) = (Supertrend::new(10, 3.0).unwrap(), Supertrend::new(10, 3.0).unwrap());
        let [mut early_stop, mut late_stop] = [0.02; 2].map(|step| ParabolicSar::new(step, 0.2).unwrap());
        for (index, candle) in candles.iter().enumerate() {
            let (early, early_stop) = (early.update(candle), early_stop.update(candle));
            if index < 500 {
                continue;
            }
            let (late, late_stop) = (late.update(candle), late_stop.update(candle));
            assert!(index < 1_000 || early_stop == late_stop, "{index}: {early_stop:?} {late_stop:?}");
            let (Some(early), Some(late)) = (early, late) else { continue };
            if index >= 1_500 {
                let is_near = (early.line - late.line).abs() < 1e-7;
                assert!(early.trend == late.trend && is_near, "{index}: {early:?} {late:?}");
            }
        }
    }

    #[test]
    fn candles_without_direction_keep_the_index() {
        let closes = (1..=10).chain((0..200).map(|i| 11 - i % 2)).map(f64::from).collect::<Vec<_>>();
        let mut adx = Adx::new(2).unwrap();
        let last = from_closes(&closes).iter().filter_map(|candle| adx.update(candle)).last().unwrap();
        assert!((last.adx - 100.0).abs() < 1e-9 && last.plus_di < MIN_DIRECTION_SUM, "{last:?}");
    }

    proptest! {
        #[test]
        fn stop_agrees_with_port(
            seed: u64, exponent in -6..6_i32, flat in 0..300_usize, step in 0.005..0.1_f64, more in 1.0..20.0_f64,
        ) {
            let candles = series(seed, 10_f64.powi(exponent), flat);
            let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
            let (high, low, limit) = (lane(Candle::high), lane(Candle::low), (step * more).min(1.0));
            let mut expected = [0.0; COUNT];
            Core::new().sar(0, END, &high, &low, step, limit, &mut expected).unwrap();
            let mut sar = ParabolicSar::new(step, limit).unwrap();
            check(&candles, (sar.candles_to_first_value(), high[0]), [&expected], |candle| Some([sar.update(candle)?.stop]));
        }
    }

    #[test]
    fn stop_accelerates_and_reverses() {
        // The stop starts at the first low, 9, and moves by 0.1 x (12 - 9) to 9.3. The next moves are limited to the
        // lows 9.5 and 11. The last candle reaches the stop, so the new stop is the extreme, 15.
        let ranges = [(9.0, 10.0), (9.5, 12.0), (11.0, 14.0), (13.0, 15.0), (10.5, 14.0)];
        let mut sar = ParabolicSar::new(0.1, 0.5).unwrap();
        let answers = ranges.map(|(low, high)| {
            let numbers = Ohlcv { open: low, high, low, close: high, volume: 0.0 };
            sar.update(&Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap())
        });
        let line = |stop, trend| Some(SarLine { stop, trend });
        let (rises, falls) = (Direction::Buy, Direction::Sell);
        assert_eq!(answers[..2], [None, line(9.0, rises)]);
        assert!((answers[2].unwrap().stop - 9.3).abs() < 1e-12);
        assert_eq!(answers[3..], [line(9.5, rises), line(15.0, falls)]);
    }

    #[test]
    fn candles_agree_with_closed_form() {
        let candles = random_walk(3, 60);
        let means: Vec<f64> =
            candles.iter().map(|c| (c.open() + c.high() + c.low() + c.close()) / 4.0).collect();
        let mut heikin_ashi = HeikinAshi::new();
        for (index, candle) in candles.iter().enumerate() {
            let smooth = heikin_ashi.update(candle).unwrap();
            let weight = |steps: usize| 0.5_f64.powi(steps as i32);
            let first = f64::midpoint(candles[0].open(), candles[0].close()) * weight(index);
            let open =
                first + (0..index).map(|earlier| means[earlier] * weight(index - earlier)).sum::<f64>();
            let is_near = (smooth.open() - open).abs() < 1e-10;
            assert!(is_near && smooth.close() == means[index], "{index}: {smooth:?}");
            assert_eq!(smooth.high(), candle.high().max(smooth.open()).max(smooth.close()));
            assert_eq!(smooth.low(), candle.low().min(smooth.open()).min(smooth.close()));
            assert_eq!((smooth.time(), smooth.volume()), (candle.time(), candle.volume()));
        }
    }
}
