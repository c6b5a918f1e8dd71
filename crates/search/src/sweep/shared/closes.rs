//! Close times of a series, computed without touching the candles if none is missing.

use candlewick_sdk::{Candle, Millis, closing_before};

pub(crate) struct Closes<'a> {
    candles: &'a [Candle],
    interval: Millis,
    /// Close of the first candle, `None` if a later one is missing.
    unbroken_from: Option<Millis>,
    /// Last duration and its number of candles; trades of one expiry share them.
    last: (i64, usize),
}

impl<'a> Closes<'a> {
    pub(crate) fn of(candles: &'a [Candle], interval: Millis) -> Self {
        let unbroken_from = match (candles.first(), candles.last()) {
            (Some(first), Some(last))
                if last.time() - first.time() == interval * (candles.len() as i64 - 1) =>
            {
                Some(first.time() + interval)
            }
            _ => None,
        };
        Self { candles, interval, unbroken_from, last: (0, 0) }
    }

    pub(crate) const fn candles(&self) -> &'a [Candle] {
        self.candles
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> Millis {
        match self.unbroken_from {
            Some(first) => first + self.interval * index as i64,
            None => self.candles[index].time() + self.interval,
        }
    }

    #[inline]
    pub(crate) fn first_from(&mut self, index: usize, until: Millis) -> usize {
        if let Some(first) = self.unbroken_from
            && index < self.candles.len()
        {
            let left = (until - (first + self.interval * index as i64)).get();
            if left != self.last.0 {
                self.last = (left, candles_in(left, self.interval));
            }
            return index.saturating_add(self.last.1).min(self.candles.len());
        }
        self.first_among(index, until)
    }

    #[inline(never)]
    fn first_among(&self, index: usize, until: Millis) -> usize {
        let rest = self.candles.get(index..).unwrap_or_default();
        index + closing_before(rest, self.interval, until)
    }
}

#[cold]
fn candles_in(left: i64, interval: Millis) -> usize {
    let count = if left <= 0 { 0 } else { (left - 1) / interval.get() + 1 };
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    fn minutes(of: impl Iterator<Item = i64>) -> Vec<Candle> {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        of.map(|minute| Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()).collect()
    }

    #[test]
    fn what_is_reckoned_is_what_the_candles_say() {
        let (whole, broken) = (minutes(3..40), minutes((3..40).filter(|minute| minute % 9 != 5)));
        for candles in [&whole[..], &broken[..], &whole[..1], &[]] {
            let mut closes = Closes::of(candles, Millis::MINUTE);
            for (index, candle) in candles.iter().enumerate() {
                assert_eq!(closes.at(index), candle.time() + Millis::MINUTE);
            }
            let moments = (0..45_i64).flat_map(|minute| [-1, 0, 1].map(|beside| minute * 60_000 + beside));
            for until in moments.chain([i64::MIN, i64::MAX]).map(Millis::new) {
                for index in 0..=candles.len() {
                    let counted =
                        candles[index..].iter().take_while(|c| c.time() + Millis::MINUTE < until).count();
                    assert_eq!(closes.first_from(index, until), index + counted, "{index} until {until}");
                }
            }
        }
    }
}
