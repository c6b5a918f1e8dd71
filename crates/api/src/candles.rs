//! From the venue's rows to closed, checked candles in order.

use crate::model::CandleRows;
use candlewick_sdk::{Candle, Interval, Millis, Ohlcv};

/// What was fit for use, and how much was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosedCandles {
    /// Closed candles, ascending, one per open time.
    pub candles: Vec<Candle>,
    /// Rows that are no candles: unreadable, or unsound by [`Candle::new`]. Each is a gap to be counted.
    pub rejected: usize,
}

/// Sorts the rows, drops those that are still forming at `now` (`time + interval > now`), checks the rest, and
/// keeps the last received of several for one open time.
///
/// The venue promises no order, no uniqueness and no closedness (`observed: prices and candles`).
pub fn closed_candles(rows: &CandleRows, interval: Interval, now: Millis) -> ClosedCandles {
    let mut candles = Vec::with_capacity(rows.rows.len());
    let mut rejected = rows.unreadable;
    for row in rows.rows.iter().filter(|row| row.time + interval.length() <= now) {
        let numbers = Ohlcv {
            open: row.open_price,
            high: row.high_price,
            low: row.low_price,
            close: row.close_price,
            volume: row.volume,
        };
        match Candle::new(row.time, interval, numbers) {
            Ok(candle) => candles.push(candle),
            Err(error) => {
                tracing::warn!(time = row.time.get(), %error, "the venue sent a row that is no candle");
                rejected += 1;
            }
        }
    }
    candles.reverse();
    candles.sort_by_key(Candle::time); // stable: of equal times, the last received comes first
    candles.dedup_by_key(|candle| candle.time());
    ClosedCandles { candles, rejected }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CandleRow;

    fn row(minute: i64, close_price: f64) -> CandleRow {
        CandleRow {
            volume: 0.0,
            open_price: 1.0,
            close_price,
            high_price: 9.0,
            low_price: 0.5,
            time: Millis::MINUTE * minute,
        }
    }

    fn check(rows: Vec<CandleRow>, now: i64, expected: &[(i64, f64)], rejected: usize) {
        let closed = closed_candles(&CandleRows { rows, unreadable: 0 }, Interval::MINUTE, Millis::new(now));
        let candles: Vec<_> =
            closed.candles.iter().map(|candle| (candle.time().get() / 60_000, candle.close())).collect();
        assert_eq!((candles.as_slice(), closed.rejected), (expected, rejected));
    }

    #[test]
    fn rows_become_ordered_closed_candles() {
        check(vec![row(3, 3.0), row(1, 1.0), row(2, 2.0)], 600_000, &[(1, 1.0), (2, 2.0), (3, 3.0)], 0);
        // The candle of minute 3 closes at 240,000: that moment counts as closed, the one before does not.
        check(vec![row(2, 2.0), row(3, 3.0)], 240_000, &[(2, 2.0), (3, 3.0)], 0);
        check(vec![row(2, 2.0), row(3, 3.0)], 239_999, &[(2, 2.0)], 0);
    }

    #[test]
    fn of_equal_times_the_last_received_sound_row_stands() {
        check(vec![row(1, 1.0), row(1, 2.0)], 600_000, &[(1, 2.0)], 0);
        check(vec![row(1, 1.0), row(1, -2.0)], 600_000, &[(1, 1.0)], 1);
    }

    #[test]
    fn rows_that_are_no_candles_are_counted_and_a_forming_one_is_not() {
        let misaligned = CandleRow { time: Millis::new(60_001), ..row(0, 1.0) };
        let far = CandleRow { time: Millis::MAX, ..row(0, 1.0) };
        check(vec![row(1, 10.0), row(2, 2.0), misaligned, row(9, 10.0), far], 300_000, &[(2, 2.0)], 2);
        let unreadable = CandleRows { rows: vec![], unreadable: 3 };
        assert_eq!(closed_candles(&unreadable, Interval::MINUTE, Millis::ZERO).rejected, 3);
    }
}
