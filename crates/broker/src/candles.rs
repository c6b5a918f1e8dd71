//! Converts a venue's rows into closed, validated and sorted candles.

use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Symbol};
use std::collections::BTreeSet;

/// Candle intervals that most venues offer. A venue may offer other intervals.
pub const COMMON_INTERVALS: [&str; 10] = ["5s", "30s", "1m", "2m", "5m", "15m", "30m", "1h", "12h", "1d"];

/// Request for the candles that open at or after `start` and close by `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandleQuery {
    /// Trading pair.
    pub symbol: Symbol,
    /// Interval of the candles.
    pub interval: Interval,
    /// Earliest open time of a candle.
    pub start: Millis,
    /// Latest close time of a candle. Candles that have not closed yet are omitted.
    pub end: Millis,
}

/// An unvalidated candle as a venue sends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandleRow {
    /// Open time of the candle.
    pub time: Millis,
    /// Prices and volume of the candle.
    pub prices: Ohlcv,
}

/// Validated candles from a venue's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candles {
    /// Closed candles of the requested window, ascending, one per open time.
    pub candles: Vec<Candle>,
    /// Number of rows that are unreadable or that [`Candle::new`] rejects. Each such row leaves a gap.
    pub unusable_rows: usize,
    /// Open times of the unusable rows, where known.
    pub unusable_times: Vec<Millis>,
    /// Number of omitted candles that had not closed yet.
    pub forming_rows: usize,
    /// Closed candles outside the window, sorted by time. Many such candles show that the venue ignores the window.
    pub out_of_window_candles: Vec<Candle>,
}

/// Minimum number of rows needed to detect an interval at least four times as long as the requested one.
const MIN_ROWS_FOR_4X_INTERVAL: usize = 5;
/// Minimum number of rows needed to detect an interval two or three times as long as the requested one.
/// With fewer rows, a quiet market may lack every second candle by chance.
const MIN_ROWS_FOR_2X_INTERVAL: usize = 10;

/// Returns the interval of the rows if it clearly differs from `wanted`, otherwise `None`. Ignores gaps between rows.
pub fn detect_interval(rows: &[CandleRow], wanted: Interval) -> Option<Millis> {
    let length = wanted.length();
    let times: BTreeSet<Millis> = rows.iter().map(|row| row.time).collect();
    let spacings = || times.iter().zip(times.iter().skip(1)).map(|(one, next)| *next - *one);
    let shortest = spacings().min()?;
    let misaligned = times.iter().filter(|time| !time.is_aligned_to(length)).count();
    // Shorter candles open at times between the requested open times.
    if misaligned >= 2 && misaligned * 3 >= times.len() {
        return Some(shortest);
    }
    let min_rows = if shortest < length * 4 { MIN_ROWS_FOR_2X_INTERVAL } else { MIN_ROWS_FOR_4X_INTERVAL };
    let is_longer = times.len() >= min_rows
        && shortest >= length * 2
        && times.iter().all(|time| time.is_aligned_to(shortest));
    // A quiet market omits candles, but not at regular intervals.
    let usual = spacings().filter(|spacing| *spacing == shortest).count();
    (is_longer && usual * 5 >= (times.len() - 1) * 4).then_some(shortest)
}

impl Candles {
    /// Validates, sorts and deduplicates rows that were received at `now` (venue time).
    ///
    /// If several valid rows have the same time, the last one wins. Candles that have not closed yet are only counted.
    pub fn from_rows(rows: &[CandleRow], query: &CandleQuery, now: Millis) -> Self {
        let length = query.interval.length();
        let mut found = Self::default();
        let mut closed = Vec::with_capacity(rows.len());
        let mut forming = BTreeSet::new();
        for row in rows {
            if row.time + length > now {
                forming.insert(row.time);
                continue;
            }
            match Candle::new(row.time, query.interval, row.prices) {
                Ok(candle) => closed.push(candle),
                Err(error) => {
                    tracing::warn!(time = row.time.get(), %error, "the venue sent an invalid candle");
                    found.unusable_rows += 1;
                    found.unusable_times.push(row.time);
                }
            }
        }
        found.forming_rows = forming.len();
        closed.reverse();
        closed.sort_by_key(Candle::time); // stable: of equal times, the last received comes first
        closed.dedup_by_key(|candle| candle.time());
        let is_wanted = |candle: &Candle| candle.time() >= query.start && candle.time() + length <= query.end;
        (found.candles, found.out_of_window_candles) = closed.into_iter().partition(is_wanted);
        found
    }

    /// Adds the candles of another part of the window and sorts all candles by time.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.candles.extend(other.candles);
        self.candles.sort_by_key(Candle::time);
        self.unusable_rows += other.unusable_rows;
        self.unusable_times.extend(other.unusable_times);
        self.forming_rows += other.forming_rows;
        self.out_of_window_candles.extend(other.out_of_window_candles);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(minute: i64, close: f64) -> CandleRow {
        let prices = Ohlcv { open: 1.0, high: 9.0, low: 0.5, close, volume: 0.0 };
        CandleRow { time: Millis::MINUTE * minute, prices }
    }

    fn check(rows: &[CandleRow], now: i64, expected: &[(i64, f64)], (unusable, forming): (usize, usize)) {
        let symbol = Symbol::new("BTCUSDT").unwrap();
        let (start, end) = (Millis::ZERO, Millis::new(600_000));
        let query = CandleQuery { symbol, interval: Interval::MINUTE, start, end };
        let found = Candles::from_rows(rows, &query, Millis::new(now));
        let candles: Vec<_> =
            found.candles.iter().map(|candle| (candle.time().get() / 60_000, candle.close())).collect();
        assert_eq!(
            (candles.as_slice(), found.unusable_rows, found.forming_rows),
            (expected, unusable, forming)
        );
    }

    #[test]
    fn sorts_closed_candles() {
        check(&[row(3, 3.0), row(1, 1.0), row(2, 2.0)], 600_000, &[(1, 1.0), (2, 2.0), (3, 3.0)], (0, 0));
        // The candle of minute 3 closes at 240,000: it is closed at that time, but not 1 ms earlier.
        check(&[row(2, 2.0), row(3, 3.0)], 240_000, &[(2, 2.0), (3, 3.0)], (0, 0));
        check(&[row(2, 2.0), row(3, 3.0)], 239_999, &[(2, 2.0)], (0, 1));
    }

    #[test]
    fn last_valid_row_of_a_time_wins() {
        check(&[row(1, 1.0), row(1, 2.0)], 600_000, &[(1, 2.0)], (0, 0));
        check(&[row(1, 1.0), row(1, -2.0)], 600_000, &[(1, 1.0)], (1, 0));
    }

    #[test]
    fn counts_invalid_and_forming_rows() {
        let misaligned = CandleRow { time: Millis::new(60_001), ..row(0, 1.0) };
        let far = CandleRow { time: Millis::MAX, ..row(0, 1.0) };
        let rows = [row(1, 10.0), row(2, 2.0), misaligned, row(9, 10.0), far];
        check(&rows, 300_000, &[(2, 2.0)], (2, 2));
    }

    #[test]
    fn distinguishes_other_intervals_from_gaps() {
        let rows = |seconds: &[i64]| -> Vec<CandleRow> {
            let row = |second: &i64| CandleRow { time: Millis::from_seconds(*second), ..row(0, 1.0) };
            seconds.iter().map(row).collect()
        };
        for (seconds, expected) in [
            (&[0, 60, 120, 180][..], None),
            // Three minutes in candles of 5 s, of 30 s, and of a minute that begins at another second.
            (&[0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60], Some(5)),
            (&[0, 30, 60, 90, 120, 150, 180], Some(30)),
            (&[15, 75, 135], Some(60)),
            (&[0, 60, 61, 120], None),
            (&[0, 300, 600, 900, 1_200, 1_500, 2_100], Some(300)),
            (&[0, 300, 600, 900], None),
            (&[0, 120, 180, 420, 480, 900], None),
            (&[0, 120, 360, 420, 1_200, 1_260, 2_400], None),
            (&[60, 180, 300, 420, 540], None),
            (&[0, 120, 240, 360, 480, 600, 720, 840, 960], None),
            (&[0, 120, 240, 360, 480, 600, 720, 840, 960, 1_080], Some(120)),
            (&[0], None),
            (&[], None),
        ] {
            let found = detect_interval(&rows(seconds), Interval::MINUTE);
            assert_eq!(found, expected.map(Millis::from_seconds), "{seconds:?}");
        }
    }
}
