//! Equity over time, in a bounded number of points: each covers some settlements, with their lowest and highest.

use candlewick_sdk::{Millis, Money};

/// Points at most; when there are more, neighbours are joined.
const MOST: usize = 2_000;

/// Equity after some settlements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// When the last of them became known.
    pub(crate) time: Millis,
    /// Equity then.
    pub(crate) last: Money,
    pub(crate) low: Money,
    pub(crate) high: Money,
    /// The max. drawdown until then, in money.
    pub(crate) fall: Money,
}

/// A curve that grows without end, in bounded room.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    points: Vec<Point>,
    /// Settlements that a point covers.
    stride: u64,
    /// Those that the last point covers so far.
    filled: u64,
    peak: Money,
}

impl Curve {
    /// Without a point.
    pub(crate) const fn new() -> Self {
        Self { points: Vec::new(), stride: 1, filled: 0, peak: Money::ZERO }
    }

    /// Takes equity as it is after one more settlement.
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

    /// The same, all of it so much higher.
    pub(crate) fn raised(mut self, by: Money) -> Self {
        self.peak += by;
        for point in &mut self.points {
            (point.last, point.low, point.high) = (point.last + by, point.low + by, point.high + by);
        }
        self
    }

    /// Oldest first.
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
