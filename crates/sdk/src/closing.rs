//! Search for the candles that close before a given time.

use crate::{Candle, Millis};

/// Number of candles checked one by one first.
///
/// Most searches end there, and a division is slower.
const NEAR: usize = 8;

/// Returns the number of candles that close before `until`.
///
/// The candles are in order, each `length` long. Without gaps the result takes constant time,
/// otherwise a binary search. Candles that are too far ahead to qualify are not accessed, as they
/// are not cached yet.
#[inline]
pub fn closing_before(candles: &[Candle], length: Millis, until: Millis) -> usize {
    let opens_before = until - length;
    let closes_before = |candle: &Candle| candle.time() < opens_before;
    let near = &candles[..candles.len().min(NEAR)];
    if let Some(near) = near.iter().position(|candle| !closes_before(candle)) {
        return near;
    }
    let Some(first) = candles.first() else { return 0 };
    // The first closes before it. With candles missing it is fewer.
    let left = (opens_before - first.time()).get();
    let unbroken = usize::try_from((left - 1) / length.get().max(1) + 1).unwrap_or(usize::MAX);
    let most = unbroken.min(candles.len());
    if closes_before(&candles[most - 1]) { most } else { candles[..most].partition_point(closes_before) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interval, Ohlcv};
    use proptest::prelude::*;

    fn minutes(of: &[i64]) -> Vec<Candle> {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        of.iter()
            .map(|minute| Candle::new(Millis::MINUTE * *minute, Interval::MINUTE, numbers).unwrap())
            .collect()
    }

    #[test]
    fn a_candle_that_closes_at_the_moment_itself_is_not_before_it() {
        for (of, until, expected) in [
            (&[][..], 0, 0),
            (&[0], 59_999, 0),
            (&[0], 60_000, 0),
            (&[0], 60_001, 1),
            (&[0, 1, 2, 3], 180_000, 2),
            (&[0, 1, 2, 3], 180_001, 3),
            (&[0, 1, 2, 3], i64::MAX, 4),
            (&[0, 1, 2, 3], i64::MIN, 0),
            // Minutes 1 to 8 are missing.
            (&[0, 9, 10], 240_000, 1),
            (&[0, 9, 10], 600_000, 1),
            (&[0, 9, 10], 600_001, 2),
        ] {
            let found = closing_before(&minutes(of), Millis::MINUTE, Millis::new(until));
            assert_eq!(found, expected, "{of:?} until {until}");
        }
    }

    proptest! {
        #[test]
        fn it_is_what_counting_finds(
            of in prop::collection::btree_set(0_i64..50, 0..40),
            until in -60_000_i64..4_000_000,
        ) {
            let candles = minutes(&of.into_iter().collect::<Vec<_>>());
            let counted = candles.iter().filter(|candle| candle.time().get() + 60_000 < until).count();
            prop_assert_eq!(closing_before(&candles, Millis::MINUTE, Millis::new(until)), counted);
        }
    }
}
