//! Merges new candles into stored ones: the first-seen value of each time is kept.

use super::manifest::Revision;
use candlewick_sdk::{Candle, Millis};
use std::collections::HashMap;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Merged {
    pub(super) candles: Vec<Candle>,
    pub(super) new: u64,
    pub(super) same: u64,
    pub(super) revised: Vec<Revision>,
}

#[derive(Debug, Default)]
pub(super) struct KnownValues(HashMap<Millis, Vec<Candle>>);

impl KnownValues {
    pub(super) fn new(revisions: &[Revision]) -> Self {
        let mut known = Self::default();
        for revision in revisions {
            known.insert(&revision.candle);
        }
        known
    }

    fn insert(&mut self, candle: &Candle) {
        self.0.entry(candle.time()).or_default().push(*candle);
    }

    pub(super) fn contains(&self, candle: &Candle) -> bool {
        self.0.get(&candle.time()).is_some_and(|values| values.contains(candle))
    }
}

/// Merges `incoming` into `stored`. Values removed by a repair stay removed.
///
/// `incoming` is sorted by time, with equal times in order of arrival.
pub(super) fn merge(
    stored: Vec<Candle>,
    incoming: &[Candle],
    seen: Millis,
    (known, repaired): (&mut KnownValues, &KnownValues),
) -> Merged {
    let mut merged =
        Merged { candles: Vec::with_capacity(stored.len() + incoming.len()), ..Merged::default() };
    let mut stored = stored.into_iter().peekable();
    for candle in incoming {
        while let Some(earlier) = stored.next_if(|earlier| earlier.time() <= candle.time()) {
            merged.candles.push(earlier);
        }
        match merged.candles.last().filter(|last| last.time() == candle.time()) {
            _ if repaired.contains(candle) => merged.same += 1,
            None => {
                merged.candles.push(*candle);
                merged.new += 1;
            }
            Some(first_seen) if first_seen == candle || known.contains(candle) => merged.same += 1,
            Some(_) => {
                known.insert(candle);
                merged.revised.push(Revision { seen, candle: *candle });
            }
        }
    }
    merged.candles.extend(stored);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    fn candle((minute, price): (i64, f64)) -> Candle {
        let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    type Row = (i64, f64);

    fn check(stored: &[Row], incoming: &[Row], expected: &[Row], new: u64, same: u64, revised: &[Row]) {
        let candles = |rows: &[Row]| rows.iter().copied().map(candle).collect::<Vec<_>>();
        let merged = {
            let (mut known, repaired) = (KnownValues::default(), KnownValues::default());
            merge(candles(stored), &candles(incoming), Millis::ZERO, (&mut known, &repaired))
        };
        let revisions = |rows: &[Row]| {
            let revision = |candle| Revision { seen: Millis::ZERO, candle };
            candles(rows).into_iter().map(revision).collect::<Vec<_>>()
        };
        let expected = Merged { candles: candles(expected), new, same, revised: revisions(revised) };
        assert_eq!(merged, expected);
    }

    #[test]
    fn the_first_seen_value_stays_and_each_later_one_is_reported_once() {
        check(&[], &[(1, 1.0), (2, 2.0)], &[(1, 1.0), (2, 2.0)], 2, 0, &[]);
        check(
            &[(1, 1.0), (3, 3.0)],
            &[(2, 2.0), (4, 4.0)],
            &[(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)],
            2,
            0,
            &[],
        );
        check(&[(1, 1.0), (2, 2.0)], &[(1, 1.0), (2, 2.5)], &[(1, 1.0), (2, 2.0)], 0, 1, &[(2, 2.5)]);
        check(&[(2, 2.0)], &[(2, 2.5), (2, 2.0), (2, 2.5)], &[(2, 2.0)], 0, 2, &[(2, 2.5)]);
        check(&[], &[(2, 2.5), (2, 2.0)], &[(2, 2.5)], 1, 0, &[(2, 2.0)]);
        check(&[(1, 1.0)], &[], &[(1, 1.0)], 0, 0, &[]);
    }
}
