//! Search axis: the possible values of one parameter.

use serde_json::{Value, json};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value that a search assigns to a parameter. Real numbers are compared by bit pattern.
#[derive(Clone, Debug)]
pub enum Setting {
    Flag(bool),
    Whole(i64),
    Real(f64),
    /// Text, duration code (such as `01:00`) or expiration type.
    Text(Arc<str>),
}

impl Setting {
    pub fn to_json(&self) -> Value {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Whole(number) => json!(number),
            Self::Real(number) => json!(number),
            Self::Text(text) => json!(&**text),
        }
    }

    pub fn to_number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Flag(one), Self::Flag(two)) => one == two,
            (Self::Whole(one), Self::Whole(two)) => one == two,
            (Self::Real(one), Self::Real(two)) => one.to_bits() == two.to_bits(),
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Flag(_) | Self::Whole(_) | Self::Real(_) | Self::Text(_), _) => false,
        }
    }
}

impl Eq for Setting {}

impl Hash for Setting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Flag(flag) => flag.hash(state),
            Self::Whole(number) => number.hash(state),
            Self::Real(number) => number.to_bits().hash(state),
            Self::Text(text) => text.hash(state),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    name: String,
    target: AxisTarget,
    values: AxisValues,
    scale: AxisScale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisTarget {
    Parameter,
    CloseType,
    ExpirationType,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AxisValues {
    Listed(Vec<Setting>),
    Between(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisScale {
    Linear,
    Log,
}

/// Distance from a value to its neighbours in a continuous range, as a fraction of the range.
const NEIGHBOUR_DISTANCE: f64 = 0.05;
const DIGITS_AFTER_LEADING_DIGIT: f64 = 3.0;

impl Axis {
    pub(crate) const fn new(name: String, target: AxisTarget, values: AxisValues, scale: AxisScale) -> Self {
        Self { name, target, values, scale }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn target(&self) -> AxisTarget {
        self.target
    }

    /// Returns the number of values; `None` for a continuous range.
    pub fn count(&self) -> Option<u64> {
        self.listed_values().map(|list| list.len() as u64)
    }

    pub fn listed_values(&self) -> Option<&[Setting]> {
        match &self.values {
            AxisValues::Listed(list) => Some(list),
            AxisValues::Between(..) => None,
        }
    }

    pub fn is_numeric(&self) -> bool {
        self.listed_values().is_none_or(|list| list.iter().all(|setting| setting.to_number().is_some()))
    }

    /// Returns the value at the relative position `fraction` in `[0, 1)`, on the linear or log scale of the axis.
    pub(crate) fn value_at(&self, fraction: f64) -> Setting {
        match (&self.values, self.scale) {
            (AxisValues::Listed(list), AxisScale::Linear) => {
                let index = (fraction * list.len() as f64) as usize;
                list[index.min(list.len() - 1)].clone()
            }
            (AxisValues::Listed(list), AxisScale::Log) => nearest_on_log_scale(list, fraction),
            (AxisValues::Between(low, high), AxisScale::Linear) => {
                let number = low + fraction * (high - low);
                // Rounding must not leave the range.
                Setting::Real(round_to_precision(number, high - low).clamp(*low, *high))
            }
            (AxisValues::Between(low, high), AxisScale::Log) => {
                let number = low * (high / low).powf(fraction);
                Setting::Real(round_to_precision(number, number).clamp(*low, *high))
            }
        }
    }

    /// Returns the neighbours of a value: adjacent in a list, 5 % away in a range. Empty for unordered lists.
    pub(crate) fn neighbours(&self, setting: &Setting) -> Vec<Setting> {
        let AxisValues::Listed(list) = &self.values else {
            let fraction = self.to_fraction(setting);
            let ends = [fraction - NEIGHBOUR_DISTANCE, fraction + NEIGHBOUR_DISTANCE]
                .map(|near| self.value_at(near.clamp(0.0, 1.0)));
            return ends.into_iter().filter(|near| near != setting).collect();
        };
        let is_ordered = self.is_numeric() || self.target == AxisTarget::CloseType;
        let place = list.iter().position(|one| one == setting).filter(|_| is_ordered);
        let Some(place) = place else { return Vec::new() };
        let near = [place.checked_sub(1), place.checked_add(1)].into_iter().flatten();
        near.filter_map(|near| list.get(near).cloned()).collect()
    }

    pub(crate) fn to_fraction(&self, setting: &Setting) -> f64 {
        let number = setting.to_number().unwrap_or_default();
        match (&self.values, self.scale) {
            (AxisValues::Listed(list), AxisScale::Linear) => {
                let index = list.iter().position(|one| one == setting).unwrap_or_default();
                (index as f64 + 0.5) / list.len() as f64
            }
            (AxisValues::Listed(list), AxisScale::Log) => {
                let (low, high) = extended_log_range(list);
                ((number / low).ln() / (high / low).ln()).clamp(0.0, 1.0 - f64::EPSILON)
            }
            (AxisValues::Between(low, high), AxisScale::Linear) => ratio(number - low, high - low),
            (AxisValues::Between(low, high), AxisScale::Log) => ratio((number / low).ln(), (high / low).ln()),
        }
    }
}

/// Rounds to the fourth significant digit of `size`, for example to 0.01 if `size` is 10 to 99.
fn round_to_precision(number: f64, size: f64) -> f64 {
    let digits = DIGITS_AFTER_LEADING_DIGIT - size.abs().log10().floor();
    let factor = 10_f64.powf(digits.abs());
    let rounded =
        if digits < 0.0 { (number / factor).round() * factor } else { (number * factor).round() / factor };
    // The factor is not finite for extreme numbers.
    if rounded.is_finite() { rounded } else { number }
}

fn ratio(part: f64, whole: f64) -> f64 {
    (part / whole).clamp(0.0, 1.0 - f64::EPSILON)
}

/// Returns the range of the listed values, extended by half a step at each end to avoid a bias against the end values.
fn extended_log_range(list: &[Setting]) -> (f64, f64) {
    let number = |setting: Option<&Setting>| setting.and_then(Setting::to_number).unwrap_or(1.0);
    let (first, last) = (number(list.first()), number(list.last()));
    let second = number(list.get(1).or(list.first()));
    let before = number(list.len().checked_sub(2).and_then(|index| list.get(index)).or(list.last()));
    let low = if second > first { first - (second - first) / 2.0 } else { first };
    let high = if last > before { last + (last - before) / 2.0 } else { last * 2.0 };
    // The extended range must not reach 0, because 0 has no logarithm.
    (low.max(first / 2.0), high)
}

fn nearest_on_log_scale(list: &[Setting], fraction: f64) -> Setting {
    let (low, high) = extended_log_range(list);
    let wanted = low * (high / low).powf(fraction);
    let distance = |setting: &Setting| (setting.to_number().unwrap_or_default() - wanted).abs();
    let after = list.partition_point(|setting| setting.to_number().unwrap_or_default() < wanted);
    let near = &list[after.saturating_sub(1)..(after + 1).min(list.len())];
    let best = near.iter().min_by(|one, two| distance(one).total_cmp(&distance(two)));
    best.unwrap_or(&list[list.len() - 1]).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn whole(numbers: impl IntoIterator<Item = i64>, scale: AxisScale) -> Axis {
        let list = numbers.into_iter().map(Setting::Whole).collect();
        Axis::new("period".to_owned(), AxisTarget::Parameter, AxisValues::Listed(list), scale)
    }

    fn between(low: f64, high: f64, scale: AxisScale) -> Axis {
        Axis::new("level".to_owned(), AxisTarget::Parameter, AxisValues::Between(low, high), scale)
    }

    fn counts(axis: &Axis, fractions: u32) -> BTreeMap<String, u32> {
        let mut counts = BTreeMap::new();
        for index in 0..fractions {
            let value = axis.value_at((f64::from(index) + 0.5) / f64::from(fractions));
            *counts.entry(value.to_string()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn even_fractions_give_listed_values_equally_often() {
        let counts = counts(&whole([5, 10, 15, 20], AxisScale::Linear), 400);
        assert!(counts.len() == 4 && counts.values().all(|count| *count == 100), "{counts:?}");
    }

    #[test]
    fn log_scale_gives_doublings_equally_often() {
        let axis = whole(1..=512, AxisScale::Log);
        let halves = |low: i64, high: i64| {
            let inside = |n: &u32| match axis.value_at((f64::from(*n) + 0.5) / 10_000.0) {
                Setting::Whole(value) => (low..high).contains(&value),
                _ => false,
            };
            (0..10_000).filter(inside).count()
        };
        // 512.5 / 0.5 is about ten doublings, so each doubling gets about 1,000 of the 10,000 numbers.
        for (low, high) in [(8, 16), (16, 32), (32, 64), (64, 128), (128, 256), (256, 512)] {
            let count = halves(low, high);
            assert!((950..1_050).contains(&count), "{low} to {high}: {count}");
        }
    }

    #[test]
    fn reaches_both_ends_of_an_axis_but_never_exceeds_them() {
        let last = 1.0 - f64::EPSILON / 2.0;
        for axis in [whole(2..=9, AxisScale::Linear), whole(2..=9, AxisScale::Log)] {
            assert_eq!((axis.value_at(0.0), axis.value_at(last)), (Setting::Whole(2), Setting::Whole(9)));
        }
        for axis in [between(0.1, 9.7, AxisScale::Linear), between(0.1, 9.7, AxisScale::Log)] {
            let inside = |at| axis.value_at(at).to_number().is_some_and(|n| (0.1..=9.7).contains(&n));
            assert!(inside(0.0) && inside(last) && inside(0.5));
        }
        assert_eq!(whole([7], AxisScale::Log).value_at(0.3), Setting::Whole(7));
    }

    #[test]
    fn rounds_numbers_to_significant_digits() {
        // A thousandth of 35 is 0.035, so two decimals remain. A log range keeps four digits.
        for (low, high, scale, fraction, expected) in [
            (10.0, 45.0, AxisScale::Linear, 0.783_010_125, "37.41"),
            (10.0, 45.0, AxisScale::Linear, 0.0, "10"),
            (0.0, 1.0, AxisScale::Linear, 1.0 / 3.0, "0.333"),
            (-0.02, 0.02, AxisScale::Linear, 0.123_456, "-0.01506"),
            (1_000.0, 90_000.0, AxisScale::Linear, 0.345_678, "31770"),
            (0.001, 1_000.0, AxisScale::Log, 0.5, "1"),
            (0.001, 1_000.0, AxisScale::Log, 0.123_4, "0.0055"),
            (0.001, 1_000.0, AxisScale::Log, 0.876_5, "181.6"),
            // The ends of the range are not rounded.
            (0.123_456, 40.0, AxisScale::Linear, 0.0, "0.123456"),
        ] {
            assert_eq!(between(low, high, scale).value_at(fraction).to_string(), expected, "{low} to {high}");
        }
        for (low, high) in [(1e-320, 1e-310), (1e300, 1e308), (-f64::MAX, f64::MAX)] {
            let number = between(low, high, AxisScale::Linear).value_at(0.4).to_number().unwrap();
            assert!((low..=high).contains(&number) && number != 0.0, "{low} to {high}: {number}");
        }
        let axis = between(10.0, 45.0, AxisScale::Linear);
        assert!((0..1_000).all(|step| axis.value_at(f64::from(step) / 1_000.0).to_string().len() <= 5));
    }

    fn check_beside(axis: &Axis, setting: &Setting, expected: &[&str]) {
        let name = |near: &Setting| match near.to_number() {
            Some(number) => format!("{}", (number * 1e9).round() / 1e9),
            None => near.to_string(),
        };
        let neighbours: Vec<String> = axis.neighbours(setting).iter().map(name).collect();
        assert_eq!(neighbours, expected);
    }

    #[test]
    fn neighbours_are_one_step_away_and_names_have_none() {
        let periods = whole([2, 5, 9], AxisScale::Linear);
        check_beside(&periods, &Setting::Whole(5), &["2", "9"]);
        check_beside(&periods, &Setting::Whole(2), &["5"]);
        check_beside(&periods, &Setting::Whole(3), &[]);
        let level = between(10.0, 30.0, AxisScale::Linear);
        check_beside(&level, &Setting::Real(20.0), &["19", "21"]);
        check_beside(&level, &Setting::Real(30.0), &["29"]);
        check_beside(&level, &Setting::Real(10.5), &["10", "11.5"]);
        let text = |target| {
            let list = ["01:00", "02:00"].map(|text| Setting::Text(text.into())).to_vec();
            Axis::new("text".to_owned(), target, AxisValues::Listed(list), AxisScale::Linear)
        };
        check_beside(&text(AxisTarget::CloseType), &Setting::Text("01:00".into()), &["02:00"]);
        check_beside(&text(AxisTarget::Parameter), &Setting::Text("01:00".into()), &[]);
        let flags =
            super::super::tests::listed("flag", AxisTarget::Parameter, [false, true].map(Setting::Flag));
        check_beside(&flags, &Setting::Flag(false), &[]);
    }

    #[test]
    fn value_and_fraction_round_trip() {
        let axes = [
            whole(2..=40, AxisScale::Linear),
            whole(2..=40, AxisScale::Log),
            whole([3], AxisScale::Log),
            between(0.5, 8.0, AxisScale::Linear),
            between(0.5, 8.0, AxisScale::Log),
        ];
        for axis in axes {
            for step in 0..97 {
                let value = axis.value_at(f64::from(step) / 97.0);
                let again = axis.value_at(axis.to_fraction(&value));
                let near = (value.to_number().unwrap() - again.to_number().unwrap()).abs() < 1e-9;
                assert!(near, "{value} became {again} on {axis:?}");
            }
        }
    }
}
