//! Clock difference on which most samples agree.

use candlewick_broker::Skew;
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};

/// Lead of the venue's clock over ours, in ms; negative if it is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockEstimate {
    #[serde(rename = "low_ms")]
    pub low: Millis,
    #[serde(rename = "high_ms")]
    pub high: Option<Millis>,
    pub agreeing: usize,
    pub outvoted: u64,
}

impl ClockEstimate {
    pub(crate) fn allows(&self, bounds: Skew) -> bool {
        bounds.low <= self.high.unwrap_or(Millis::MAX) && self.low <= bounds.high
    }

    pub(crate) fn middle(&self) -> Millis {
        self.high.map_or(self.low, |high| Millis::new(i64::midpoint(self.low.get(), high.get())))
    }
}

/// Returns the bounds on which most samples agree.
///
/// If several are equally good, returns their hull. Marzullo's algorithm ("Maintaining the Time in
/// a Distributed System", 1984), as in NTP.
pub(super) fn agree(bounds: impl ExactSizeIterator<Item = Skew> + Clone) -> Option<ClockEstimate> {
    let count = bounds.len();
    if count == 0 {
        return None;
    }
    // Where all agree, which they do while no clock is wrong, there is nothing to be sorted.
    let common = bounds
        .clone()
        .reduce(|one, other| Skew { low: one.low.max(other.low), high: one.high.min(other.high) });
    if let Some(Skew { low, high }) = common.filter(|common| common.low <= common.high) {
        let high = (high != Millis::MAX).then_some(high);
        return Some(ClockEstimate { low, high, agreeing: count, outvoted: 0 });
    }
    let mut edges: Vec<(Millis, Edge)> =
        bounds.flat_map(|skew| [(skew.low, Edge::Begins), (skew.high, Edge::Ends)]).collect();
    // At one point beginnings come first: bounds that touch agree.
    edges.sort_unstable();
    let (mut depth, mut best) = (0, 0);
    let mut found: Option<(Millis, Millis)> = None;
    for (place, (at, edge)) in edges.iter().enumerate() {
        match edge {
            Edge::Ends => depth -= 1,
            Edge::Begins => {
                depth += 1;
                let end = edges.get(place + 1).map_or(*at, |(next, _)| *next);
                if depth > best {
                    best = depth;
                    found = Some((*at, end));
                } else if depth == best {
                    found = found.map(|(low, _)| (low, end));
                }
            }
        }
    }
    let (low, high) = found?;
    let high = (high != Millis::MAX).then_some(high);
    Some(ClockEstimate { low, high, agreeing: best, outvoted: 0 })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Begins,
    Ends,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bounds: &[(i64, i64)], expected: Option<(i64, Option<i64>, usize)>) {
        let skews: Vec<Skew> = bounds
            .iter()
            .map(|(low, high)| Skew { low: Millis::new(*low), high: Millis::new(*high) })
            .collect();
        let found = agree(skews.iter().copied())
            .map(|found| (found.low.get(), found.high.map(Millis::get), found.agreeing));
        assert_eq!(found, expected, "{bounds:?}");
    }

    #[test]
    fn the_bounds_are_those_of_the_majority() {
        check(&[], None);
        check(&[(1, 5)], Some((1, Some(5), 1)));
        // The example of the algorithm's usual description: 8 to 12, 11 to 13 and 14 to 15 agree on 11 to 12.
        check(&[(8, 12), (11, 13), (14, 15)], Some((11, Some(12), 2)));
        check(&[(8, 9), (8, 12), (10, 12)], Some((8, Some(12), 2)));
        check(&[(1, 3), (3, 5)], Some((3, Some(3), 2)));
        // One against one: all between is possible.
        check(&[(0, 1), (5, 6)], Some((0, Some(6), 1)));
        check(&[(0, i64::MAX), (5, i64::MAX)], Some((5, None, 2)));
        check(&[(0, 10), (2, 8), (4, 6), (20, 30)], Some((4, Some(6), 3)));
    }
}
