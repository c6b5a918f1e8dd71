//! Steps of a program. Each step computes one value from other values and from its own state.

use crate::columns::Columns;
use crate::graph::{BinaryOp, Field, Op, TimePart};
use crate::indicator::{Indicator, NumberIndicator, write_lines};
use crate::instruction::crossing_flag;
use crate::program::{InlineSlots, Slot, Slots};
use candlewick_engine::{LocalClock, TradingWindow};
use candlewick_sdk::indicator::{Bollinger, Ema, Macd, Rsi, Sma};
use candlewick_sdk::{Candle, Interval, MAX_BATCH_CANDLES, Millis};

/// Tolerance within which numbers count as equal, relative to the second number or the close, whichever is larger.
/// Without it, averages of constant prices would differ because of rounding errors.
const ROUNDING_TOLERANCE: f64 = 1e-12;

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) out: Slot,
}

/// Operations of steps. Frequent operations have a separate variant, which avoids a second dispatch.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Field(Field),
    Clock(TimePart),
    LocalClock(TimePart, LocalClock),
    Between(i64, i64),
    InHours(Box<TradingWindow>),
    Negate(Slot),
    Abs(Slot),
    Not(Slot),
    Less(Slot, Slot),
    Add(Slot, Slot),
    Subtract(Slot, Slot),
    Multiply(Slot, Slot),
    Divide(Slot, Slot),
    Binary(BinaryOp, Slot, Slot),
    Last { of: Slot, last: f64 },
    Back { of: Slot, last: Box<[f64]>, next: usize },
    Compared(Slot, Slot),
    TrackedComparison(TrackedComparison),
    Crosses { to: f64, order: Slot },
    Since { of: Slot, within: usize, age: Option<usize> },
    Count { of: Slot, last: Box<[f64]>, next: usize, held: usize, unknown: usize },
    Sma(Box<Sma>, Slot),
    Ema(Box<Ema>, Slot),
    Rsi(Box<Rsi>, Slot),
    Macd(Box<Macd>, Slot),
    Bollinger(Box<Bollinger>, Slot),
    OfNumber(Box<Indicator>, Slot),
    OfCandle(Box<Indicator>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackedComparison {
    one: Slot,
    other: Slot,
}

impl Step {
    pub(crate) fn from_op(op: &Op, operands: &[Slot], out: Slot) -> Option<Self> {
        let missing = |count: usize| vec![f64::NAN; count].into_boxed_slice();
        let action = match (op, operands) {
            (Op::Field(field), _) => Action::Field(*field),
            (Op::Clock(clock), _) => Action::Clock(*clock),
            (Op::LocalClock(clock, zone), _) => Action::LocalClock(*clock, *zone),
            (Op::Between(from, to), _) => Action::Between(*from, *to),
            (Op::InHours(window), _) => Action::InHours(window.clone()),
            (Op::Negate(_), [of]) => Action::Negate(*of),
            (Op::Abs(_), [of]) => Action::Abs(*of),
            (Op::Not(_), [of]) => Action::Not(*of),
            (Op::Binary(binary, ..), [one, other]) => binary_action(*binary, *one, *other),
            (Op::Back(_, 1), [of]) => Action::Last { of: *of, last: f64::NAN },
            (Op::Back(_, by), [of]) => Action::Back { of: *of, last: missing(*by), next: 0 },
            (Op::Compared(..), [one, other]) => Action::Compared(*one, *other),
            (Op::TrackedComparison(..), [one, other]) => {
                Action::TrackedComparison(TrackedComparison { one: *one, other: *other })
            }
            (Op::Crosses { is_above, .. }, [order]) => {
                Action::Crosses { to: if *is_above { 1.0 } else { -1.0 }, order: *order }
            }
            (Op::Since { within, .. }, [of]) => Action::Since { of: *of, within: *within, age: None },
            (Op::Count { among, .. }, [of]) => {
                Action::Count { of: *of, last: missing(*among), next: 0, held: 0, unknown: *among }
            }
            (Op::Indicator { indicator, .. }, []) => Action::OfCandle(indicator.clone()),
            (Op::Indicator { indicator, .. }, [of]) => match &**indicator {
                Indicator::Sma(sma) => Action::Sma(Box::new(sma.clone()), *of),
                Indicator::Ema(ema) => Action::Ema(Box::new(ema.clone()), *of),
                Indicator::Rsi(rsi) => Action::Rsi(Box::new(rsi.clone()), *of),
                Indicator::Macd(macd) => Action::Macd(Box::new(macd.clone()), *of),
                Indicator::Bollinger(bands) => Action::Bollinger(Box::new(bands.clone()), *of),
                other => Action::OfNumber(Box::new(other.clone()), *of),
            },
            _ => return None,
        };
        Some(Self { action, out })
    }

    #[inline]
    pub(crate) fn run<S: Slots + ?Sized>(&mut self, candle: &Candle, interval: Interval, values: &mut S) {
        let out = self.out;
        let value = match &mut self.action {
            Action::Rsi(rsi, of) => return put_lines(&mut **rsi, *of, out, values),
            Action::Ema(ema, of) => return put_lines(&mut **ema, *of, out, values),
            Action::Sma(sma, of) => return put_lines(&mut **sma, *of, out, values),
            Action::Macd(macd, of) => return put_lines(&mut **macd, *of, out, values),
            Action::Bollinger(bands, of) => return put_lines(&mut **bands, *of, out, values),
            Action::OfNumber(indicator, of) => {
                let of = values.at(*of);
                return indicator.update_with_number(of, values.lines_at(out));
            }
            Action::OfCandle(indicator) => return indicator.update_with_candle(candle, values.lines_at(out)),
            Action::Field(field) => field.read(candle),
            Action::Less(one, other) => BinaryOp::Less.apply(values.at(*one), values.at(*other)),
            Action::Add(one, other) => BinaryOp::Add.apply(values.at(*one), values.at(*other)),
            Action::Subtract(one, other) => BinaryOp::Subtract.apply(values.at(*one), values.at(*other)),
            Action::Multiply(one, other) => BinaryOp::Multiply.apply(values.at(*one), values.at(*other)),
            Action::Divide(one, other) => BinaryOp::Divide.apply(values.at(*one), values.at(*other)),
            Action::Binary(binary, one, other) => binary.apply(values.at(*one), values.at(*other)),
            Action::Not(of) => 1.0 - values.at(*of),
            Action::Negate(of) => -values.at(*of),
            Action::Abs(of) => values.at(*of).abs(),
            Action::Clock(clock) => clock.read(candle.close_time(interval)),
            Action::LocalClock(clock, zone) => clock.read(zone.local_time(candle.close_time(interval))),
            Action::Between(from, to) => between_flag(candle, interval, *from, *to),
            Action::InHours(window) => in_hours_flag(candle, interval, window),
            Action::Last { of, last } => std::mem::replace(last, values.at(*of)),
            Action::Back { of, last, next } => replace_oldest(last, next, values.at(*of)),
            Action::Compared(one, other) => compare(values.at(*one), values.at(*other), candle.close()),
            Action::TrackedComparison(order) => return order.write(candle, out, values),
            Action::Crosses { to, order } => crossing_flag(values.at(*order), values.at(*order + 1), *to),
            Action::Since { of, within, age } => {
                *age = if values.at(*of) == 1.0 {
                    Some(0)
                } else {
                    age.map(|age| age + 1).filter(|age| age <= within)
                };
                age.map_or(f64::NAN, |age| age as f64)
            }
            Action::Count { of, last, next, held, unknown } => {
                let new = values.at(*of);
                tally(new, replace_oldest(last, next, new), held, unknown)
            }
        };
        values.put(out, value);
    }
}

#[inline]
fn put_lines<I: NumberIndicator, S: Slots + ?Sized>(indicator: &mut I, of: Slot, out: Slot, values: &mut S) {
    let lines = indicator.update_lines(values.at(of));
    write_lines(values.lines_at(out), lines);
}

const fn binary_action(binary: BinaryOp, one: Slot, other: Slot) -> Action {
    match binary {
        BinaryOp::Less => Action::Less(one, other),
        BinaryOp::Add => Action::Add(one, other),
        BinaryOp::Subtract => Action::Subtract(one, other),
        BinaryOp::Multiply => Action::Multiply(one, other),
        BinaryOp::Divide => Action::Divide(one, other),
        binary => Action::Binary(binary, one, other),
    }
}

/// Returns 1 if the candle closes between the two times of day (in ms since midnight UTC), else 0.
#[inline(never)]
fn between_flag(candle: &Candle, interval: Interval, from: i64, to: i64) -> f64 {
    let time = candle.close_time(interval).get().rem_euclid(Millis::DAY.get());
    let holds = if from < to { (from..to).contains(&time) } else { time >= from || time < to };
    f64::from(u8::from(holds))
}

#[inline(never)]
fn in_hours_flag(candle: &Candle, interval: Interval, window: &TradingWindow) -> f64 {
    f64::from(u8::from(window.contains(candle.close_time(interval))))
}

#[inline]
fn replace_oldest(last: &mut [f64], next: &mut usize, new: f64) -> f64 {
    let oldest = std::mem::replace(&mut last[*next], new);
    *next = if *next + 1 < last.len() { *next + 1 } else { 0 };
    oldest
}

/// Updates a rolling count of true conditions. Returns NaN while any of the counted conditions is unknown.
#[inline]
pub(crate) fn tally(new: f64, old: f64, held: &mut usize, unknown: &mut usize) -> f64 {
    *held = *held + usize::from(new == 1.0) - usize::from(old == 1.0);
    *unknown = *unknown + usize::from(new.is_nan()) - usize::from(old.is_nan());
    if *unknown == 0 { *held as f64 } else { f64::NAN }
}

impl TrackedComparison {
    pub(crate) const fn operands(self) -> (Slot, Slot) {
        (self.one, self.other)
    }

    /// Writes the current comparison result to `out` and the previous result to `out + 1`.
    #[inline]
    pub(crate) fn write<S: Slots + ?Sized>(self, candle: &Candle, out: Slot, values: &mut S) {
        let now = compare(values.at(self.one), values.at(self.other), candle.close());
        let before = values.at(out);
        values.put(out + 1, before);
        values.put(out, now);
    }
}

/// Returns 1 if `one` is larger, -1 if smaller, and 0 if equal within rounding. NaN if a number is missing.
#[inline]
pub(crate) fn compare(one: f64, other: f64, close: f64) -> f64 {
    let difference = one - other;
    if difference.abs() <= ROUNDING_TOLERANCE * other.abs().max(close) || one == other {
        0.0
    } else if one > other {
        1.0
    } else if one < other {
        -1.0
    } else {
        f64::NAN
    }
}

impl Field {
    #[inline(never)]
    pub(crate) fn read(self, candle: &Candle) -> f64 {
        match self {
            Self::Close => candle.close(),
            Self::Open => candle.open(),
            Self::High => candle.high(),
            Self::Low => candle.low(),
            Self::Volume => candle.volume(),
            Self::Median => f64::midpoint(candle.high(), candle.low()),
            Self::Typical => {
                let sum = candle.high() + candle.low() + candle.close();
                if sum.is_finite() { sum / 3.0 } else { f64::NAN }
            }
            Self::Body => (candle.close() - candle.open()).abs(),
            Self::Range => candle.high() - candle.low(),
            Self::UpperWick => candle.high() - candle.open().max(candle.close()),
            Self::LowerWick => candle.open().min(candle.close()) - candle.low(),
        }
    }
}

impl TimePart {
    #[inline(never)]
    pub(crate) fn read(self, shown: Millis) -> f64 {
        let time = shown.get();
        let part = match self {
            Self::Hour => time.rem_euclid(Millis::DAY.get()) / Millis::HOUR.get(),
            Self::Minute => time.rem_euclid(Millis::HOUR.get()) / Millis::MINUTE.get(),
            // 1970 began on a Thursday.
            Self::Weekday => (time.div_euclid(Millis::DAY.get()) + 3).rem_euclid(7) + 1,
        };
        part as f64
    }
}

impl Step {
    pub(crate) fn run_batch(
        &mut self,
        candles: &[Candle],
        interval: Interval,
        columns: &mut Columns,
        values: &mut InlineSlots,
    ) {
        let out = self.out;
        let mut binary = |op, one: &Slot, other: &Slot| columns.apply_binary(op, (*one, *other), out, values);
        match &mut self.action {
            Action::Less(one, other) => binary(BinaryOp::Less, one, other),
            Action::Add(one, other) => binary(BinaryOp::Add, one, other),
            Action::Subtract(one, other) => binary(BinaryOp::Subtract, one, other),
            Action::Multiply(one, other) => binary(BinaryOp::Multiply, one, other),
            Action::Divide(one, other) => binary(BinaryOp::Divide, one, other),
            Action::Binary(which, one, other) => binary(*which, one, other),
            Action::Not(of) => columns.map(*of, out, values, |of| 1.0 - of),
            Action::Negate(of) => columns.map(*of, out, values, |of| -of),
            Action::Abs(of) => columns.map(*of, out, values, f64::abs),
            Action::Rsi(rsi, of) => columns.update_with_number(&mut **rsi, *of, out, values),
            Action::Ema(ema, of) => columns.update_with_number(&mut **ema, *of, out, values),
            Action::Sma(sma, of) => columns.update_with_number(&mut **sma, *of, out, values),
            Action::Macd(macd, of) => columns.update_with_number(&mut **macd, *of, out, values),
            Action::Bollinger(bands, of) => columns.update_with_number(&mut **bands, *of, out, values),
            Action::OfNumber(indicator, of) => indicator.update_columns_by_number(*of, out, columns, values),
            Action::OfCandle(indicator) => indicator.update_columns_by_candle(candles, out, columns, values),
            Action::Field(field) => columns.map_candles(candles, out, values, |candle| field.read(candle)),
            Action::Clock(clock) => {
                let mut day = CachedDay::default();
                columns.map_candles(candles, out, values, |candle| day.read_clock(*clock, candle, interval));
            }
            Action::LocalClock(clock, zone) => columns.map_candles(candles, out, values, |candle| {
                clock.read(zone.local_time(candle.close_time(interval)))
            }),
            Action::Between(from, to) => {
                let (from, to, mut day) = (*from, *to, CachedDay::default());
                columns.map_candles(candles, out, values, |candle| {
                    let time = day.time_of_day(candle, interval);
                    let holds = if from < to { from <= time && time < to } else { time >= from || time < to };
                    f64::from(u8::from(holds))
                });
            }
            Action::InHours(window) => {
                columns.map_candles(candles, out, values, |candle| in_hours_flag(candle, interval, window));
            }
            Action::Last { of, last } => *last = columns.shift(*of, *last, out, values),
            Action::Back { of, last, next } => {
                columns.scan(*of, out, values, |of| replace_oldest(last, next, of));
            }
            Action::Compared(one, other) => columns.compare((*one, *other), out, values),
            Action::TrackedComparison(order) => columns.compare_and_track(order.operands(), out, values),
            Action::Crosses { to, order } => {
                columns.zip_with((*order, *order + 1), out, values, |now, before| {
                    crossing_flag(now, before, *to)
                });
            }
            Action::Since { of, within, age } => columns.scan(*of, out, values, |of| {
                *age = if of == 1.0 { Some(0) } else { age.map(|age| age + 1).filter(|age| age <= within) };
                age.map_or(f64::NAN, |age| age as f64)
            }),
            Action::Count { of, last, next, held, unknown } if last.len() <= MAX_BATCH_CANDLES => {
                // Rotates the list so that the oldest value comes first.
                last.rotate_left(*next);
                *next = 0;
                columns.count(*of, last, out, values);
                *held = last.iter().filter(|condition| **condition == 1.0).count();
                *unknown = last.iter().filter(|condition| condition.is_nan()).count();
            }
            Action::Count { of, last, next, held, unknown } => columns
                .scan(*of, out, values, |new| tally(new, replace_oldest(last, next, new), held, unknown)),
        }
    }
}

/// Cached start of the last candle's day. Consecutive candles usually belong to the same day.
#[derive(Default)]
struct CachedDay {
    start: i64,
}

impl CachedDay {
    #[inline]
    fn time_of_day(&mut self, candle: &Candle, interval: Interval) -> i64 {
        let time = candle.close_time(interval).get();
        if !(self.start..self.start.saturating_add(Millis::DAY.get())).contains(&time) {
            self.start = time - time.rem_euclid(Millis::DAY.get());
        }
        time - self.start
    }

    #[inline]
    fn read_clock(&mut self, clock: TimePart, candle: &Candle, interval: Interval) -> f64 {
        let time = self.time_of_day(candle, interval);
        let part = match clock {
            TimePart::Hour => time / Millis::HOUR.get(),
            TimePart::Minute => time % Millis::HOUR.get() / Millis::MINUTE.get(),
            // 1970 began on a Thursday.
            TimePart::Weekday => (self.start.div_euclid(Millis::DAY.get()) + 3).rem_euclid(7) + 1,
        };
        part as f64
    }
}
