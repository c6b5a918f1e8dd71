//! One step of a program: a value made of others, and what it remembers of earlier candles.

use crate::graph::{Binary, Clock, Field, Op};
use crate::indicator::Indicator;
use crate::program::Place;
use candlewick_sdk::{Candle, Interval, Millis};
use std::cmp::Ordering;

/// Numbers closer to each other than this share of the larger of the second and the close are equal to a crossing: where prices
/// stand still averages differ by rounding alone, and rounding is not a crossing.
const ROUNDING: f64 = 1e-12;

/// What writes a value.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    action: Action,
    out: Place,
}

#[derive(Clone, Debug)]
enum Action {
    Field(Field),
    Clock(Clock),
    Between(i64, i64),
    Negate(Place),
    Abs(Place),
    Not(Place),
    Less(Place, Place),
    Binary(Binary, Place, Place),
    Back { of: Place, last: Box<[f64]>, next: usize },
    Crosses { to: Ordering, one: Place, other: Place, before: Option<Ordering> },
    Since { of: Place, within: usize, age: Option<usize> },
    Count { of: Place, last: Box<[f64]>, next: usize, held: usize, unknown: usize },
    Indicator { indicator: Box<Indicator>, of: Option<Place> },
}

impl Step {
    /// Of an operation on the values at these places; none for what is no step.
    pub(crate) fn of(op: &Op, operands: &[Place], out: Place) -> Option<Self> {
        let none_yet = |count: usize| vec![f64::NAN; count].into_boxed_slice();
        let action = match (op, operands) {
            (Op::Field(field), _) => Action::Field(*field),
            (Op::Clock(clock), _) => Action::Clock(*clock),
            (Op::Between(from, to), _) => Action::Between(*from, *to),
            (Op::Negate(_), [of]) => Action::Negate(*of),
            (Op::Abs(_), [of]) => Action::Abs(*of),
            (Op::Not(_), [of]) => Action::Not(*of),
            (Op::Binary(Binary::Less, ..), [one, other]) => Action::Less(*one, *other),
            (Op::Binary(binary, ..), [one, other]) => Action::Binary(*binary, *one, *other),
            (Op::Back(_, by), [of]) => Action::Back { of: *of, last: none_yet(*by), next: 0 },
            (Op::Crosses { is_above, .. }, [one, other]) => {
                let to = if *is_above { Ordering::Greater } else { Ordering::Less };
                Action::Crosses { to, one: *one, other: *other, before: None }
            }
            (Op::Since { within, .. }, [of]) => Action::Since { of: *of, within: *within, age: None },
            (Op::Count { among, .. }, [of]) => {
                Action::Count { of: *of, last: none_yet(*among), next: 0, held: 0, unknown: *among }
            }
            (Op::Indicator { indicator, .. }, of) => {
                Action::Indicator { indicator: indicator.clone(), of: of.first().copied() }
            }
            _ => return None,
        };
        Some(Self { action, out })
    }

    /// Takes the next candle.
    #[inline]
    pub(crate) fn take(&mut self, candle: &Candle, interval: Interval, values: &mut [f64]) {
        let value = match &mut self.action {
            Action::Indicator { indicator, of } => {
                let number = of.map_or(f64::NAN, |of| values[of]);
                return indicator.update(candle, number, &mut values[self.out..]);
            }
            Action::Field(field) => field.of(candle),
            // Of all that rules do, they compare most.
            Action::Less(one, other) => Binary::Less.of(values[*one], values[*other]),
            Action::Binary(binary, one, other) => binary.of(values[*one], values[*other]),
            Action::Not(of) => 1.0 - values[*of],
            Action::Negate(of) => -values[*of],
            Action::Abs(of) => values[*of].abs(),
            Action::Clock(clock) => clock.of(candle, interval),
            Action::Between(from, to) => is_between(candle, interval, *from, *to),
            Action::Back { of, last, next } => {
                let before = std::mem::replace(&mut last[*next], values[*of]);
                *next = if *next + 1 < last.len() { *next + 1 } else { 0 };
                before
            }
            Action::Crosses { to, one, other, before } => {
                let now = compare(values[*one], values[*other], candle.close());
                let before = std::mem::replace(before, now);
                now.zip(before)
                    .map_or(f64::NAN, |(now, before)| f64::from(u8::from(now == *to && before != *to)))
            }
            Action::Since { of, within, age } => {
                *age = if values[*of] == 1.0 {
                    Some(0)
                } else {
                    age.map(|age| age + 1).filter(|age| age <= within)
                };
                age.map_or(f64::NAN, |age| age as f64)
            }
            Action::Count { of, last, next, held, unknown } => {
                let (new, old) = (values[*of], std::mem::replace(&mut last[*next], values[*of]));
                *next = if *next + 1 < last.len() { *next + 1 } else { 0 };
                *held = *held + usize::from(new == 1.0) - usize::from(old == 1.0);
                *unknown = *unknown + usize::from(new.is_nan()) - usize::from(old.is_nan());
                if *unknown == 0 { *held as f64 } else { f64::NAN }
            }
        };
        values[self.out] = value;
    }
}

/// Apart, as the other parts of a candle that few rules look at: within the loop over steps all of them are computed at every candle.
#[inline(never)]
fn is_between(candle: &Candle, interval: Interval, from: i64, to: i64) -> f64 {
    let time = candle.close_time(interval).get().rem_euclid(Millis::DAY.get());
    let holds = if from < to { (from..to).contains(&time) } else { time >= from || time < to };
    f64::from(u8::from(holds))
}

/// How two numbers stand to each other; not known where one is missing.
#[inline]
fn compare(one: f64, other: f64, close: f64) -> Option<Ordering> {
    let order = one.partial_cmp(&other)?;
    let is_rounding = (one - other).abs() <= ROUNDING * other.abs().max(close);
    Some(if is_rounding { Ordering::Equal } else { order })
}

impl Field {
    /// Prices are no step: a frame of values begins with them.
    #[inline(never)]
    fn of(self, candle: &Candle) -> f64 {
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

impl Clock {
    #[inline(never)]
    fn of(self, candle: &Candle, interval: Interval) -> f64 {
        let time = candle.close_time(interval).get();
        let part = match self {
            Self::Hour => time.rem_euclid(Millis::DAY.get()) / Millis::HOUR.get(),
            Self::Minute => time.rem_euclid(Millis::HOUR.get()) / Millis::MINUTE.get(),
            // 1970 began on a Thursday.
            Self::Weekday => (time.div_euclid(Millis::DAY.get()) + 3).rem_euclid(7) + 1,
        };
        part as f64
    }
}
