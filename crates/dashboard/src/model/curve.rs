//! Equity over time in a bounded number of points, each with the low and high of its settlements.

use candlewick_sdk::{Millis, Money};

const MOST: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) time: Millis,
    pub(crate) last: Money,
    pub(crate) low: Money,
    pub(crate) high: Money,
    pub(crate) fall: Money,
}

#[derive(Clone, Debug)]
pub(crate) struct Curve {
    points: Vec<Point>,
    stride: u64,
    filled: u64,
    peak: Money,
}

impl Curve {
    pub(crate) const fn new() -> Self {
        Self { points: Vec::new(), stride: 1, filled: 0, peak: Money::ZERO }
    }

    pub(crate) fn push(&mut self, time: Millis, equity: Money) {
        if self.points.is_empty() || equity > self.peak {
            self.peak = equity;
        }
        let point = Point { time, last: equity, low: equity, high: equity, fall: self.peak - equity };
        if let Some(last) = self.points.last_mut().filter(|_| self.filled < self.stride) {
            *last = join(*last, point);
        } else {
            self.filled = 0;
            self.points.push(point);
        }
        self.filled += 1;
        if self.points.len() > MOST {
            self.thin();
        }
    }

    pub(crate) fn raised(mut self, by: Money) -> Self {
        self.peak += by;
        for point in &mut self.points {
            (point.last, point.low, point.high) = (point.last + by, point.low + by, point.high + by);
        }
        self
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    fn thin(&mut self) {
        let count = self.points.len();
        let points = &mut self.points;
        for place in 0..count.div_ceil(2) {
            let one = points[2 * place];
            points[place] = points.get(2 * place + 1).map_or(one, |other| join(one, *other));
        }
        points.truncate(count.div_ceil(2));
        let whole = count.is_multiple_of(2);
        // A last point of its own has half of what it can cover.
        self.filled += if whole { self.stride } else { 0 };
        self.stride *= 2;
    }
}

impl Default for Curve {
    fn default() -> Self {
        Self::new()
    }
}

fn join(one: Point, other: Point) -> Point {
    Point {
        time: other.time,
        last: other.last,
        low: one.low.min(other.low),
        high: one.high.max(other.high),
        fall: one.fall.max(other.fall),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_end_its_extremes_and_its_deepest_fall() {
        let mut curve = Curve::new();
        let mut equity = 0;
        let (mut low, mut high, mut peak, mut fall) = (i64::MAX, i64::MIN, i64::MIN, 0);
        for step in 0..100_000_i64 {
            equity += (step * 7_919 % 101) - 50;
            curve.push(Millis::new(step), Money::from_minor(equity));
            (low, high, peak) = (low.min(equity), high.max(equity), peak.max(equity));
            fall = fall.max(peak - equity);
        }
        let points = curve.points();
        assert!(points.len() <= MOST && points.len() > MOST / 4, "{}", points.len());
        assert_eq!(points.last().map(|point| (point.time.get(), point.last.minor())), Some((99_999, equity)));
        assert_eq!(points.iter().map(|point| point.low.minor()).min(), Some(low));
        assert_eq!(points.iter().map(|point| point.high.minor()).max(), Some(high));
        assert_eq!(points.iter().map(|point| point.fall.minor()).max(), Some(fall));
        assert!(points.is_sorted_by_key(|point| point.time));
    }
}
