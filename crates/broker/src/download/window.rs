//! Splits a download into windows, and finds the candles that an answer lacks.

use candlewick_sdk::{Interval, Millis};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// Maximum length of a window in a range without candles (see `observed: prices and candles`).
const MAX_EMPTY_WINDOW: Millis = Millis::from_seconds(7 * 86_400);

/// Length in candles below which windows are not shortened further, because this would not save requests.
const MIN_WINDOW_CANDLES: i64 = 100;

#[derive(Debug)]
pub(super) struct WindowQueue {
    interval: Interval,
    ranges: VecDeque<Range<Millis>>,
    /// Window length in candles. `next_len` is longer after a window without candles.
    usual_len: i64,
    next_len: i64,
}

impl WindowQueue {
    /// Creates the windows for `ranges`, excluding partial candles at both ends of a range.
    pub(super) fn new(interval: Interval, ranges: Vec<Range<Millis>>, usual_len: u64) -> Self {
        let length = interval.length();
        let on_grid = |range: Range<Millis>| {
            let start = range.start.floor_to(length);
            let start = if start < range.start { start + length } else { start };
            start..range.end.floor_to(length)
        };
        let ranges = ranges.into_iter().map(on_grid).filter(|range| range.start < range.end).collect();
        let usual_len = i64::try_from(usual_len).unwrap_or(i64::MAX).max(1);
        Self { interval, ranges, usual_len, next_len: usual_len }
    }

    /// Returns the next window; `None` if no remaining candle had closed by `now`.
    pub(super) fn next(&mut self, now: Option<Millis>) -> Option<Range<Millis>> {
        let range = self.ranges.pop_front()?;
        if now.is_some_and(|now| range.start + self.interval.length() > now) {
            self.ranges.clear();
            return None;
        }
        let end = range.end.min(range.start + self.interval.length() * self.next_len);
        if end < range.end {
            self.ranges.push_front(end..range.end);
        }
        Some(range.start..end)
    }

    /// Records how many candles a window had. After an empty window, the next window is twice as long.
    pub(super) fn record_result(&mut self, candles: usize) {
        let max = (MAX_EMPTY_WINDOW.get() / self.interval.length().get()).max(self.usual_len);
        self.next_len = if candles == 0 { self.next_len.saturating_mul(2).min(max) } else { self.usual_len };
    }

    /// Limits windows to the venue's maximum number of rows, beyond which answers are truncated.
    pub(super) fn limit_rows(&mut self, rows: usize) {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX).max(MIN_WINDOW_CANDLES);
        self.usual_len = self.usual_len.min(rows);
        self.next_len = self.usual_len;
    }
}

#[derive(Debug)]
pub(super) struct Coverage {
    interval: Interval,
    window: Range<Millis>,
    times: BTreeSet<Millis>,
}

impl Coverage {
    pub(super) fn new(interval: Interval, window: Range<Millis>, times: &[Millis]) -> Self {
        let is_slot = |time: &Millis| window.contains(time) && time.is_aligned_to(interval.length());
        let times = times.iter().copied().filter(is_slot).collect();
        Self { interval, window, times }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub(super) fn missing_ranges(&self, now: Millis) -> Vec<Range<Millis>> {
        let length = self.interval.length();
        let end = self.window.end.min(now.floor_to(length));
        let mut missing = Vec::new();
        let mut next = self.window.start;
        for time in self.times.iter().copied().chain([end]) {
            if next < time.min(end) {
                missing.push(next..time.min(end));
            }
            next = next.max(time + length);
        }
        missing
    }

    pub(super) fn missing_ranges_at_ends(&self, now: Millis) -> Vec<Range<Millis>> {
        let end = self.window.end.min(now.floor_to(self.interval.length()));
        let touches = |range: &Range<Millis>| range.start == self.window.start || range.end == end;
        self.missing_ranges(now).into_iter().filter(touches).collect()
    }

    /// Splits the window into two halves. Returns an empty list for a window of one candle.
    pub(super) fn split_in_half(&self) -> Vec<Range<Millis>> {
        let length = self.interval.length();
        let slots = (self.window.end - self.window.start).get() / length.get();
        let middle = self.window.start + length * (slots / 2);
        let halves = [self.window.start..middle, middle..self.window.end];
        if slots < 2 { Vec::new() } else { halves.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(ranges: &[(i64, i64)]) -> Vec<Range<Millis>> {
        let minute = |count| Millis::MINUTE * count;
        ranges.iter().map(|(start, end)| minute(*start)..minute(*end)).collect()
    }

    #[test]
    fn unaligned_range_is_reduced_to_whole_candles() {
        let ranges = vec![Millis::new(60_001)..Millis::new(239_999), Millis::new(1)..Millis::new(119_999)];
        let mut windows = WindowQueue::new(Interval::MINUTE, ranges, 9);
        assert_eq!(windows.next(None), Some(Millis::MINUTE * 2..Millis::MINUTE * 3));
        assert_eq!(windows.next(None), None);
    }

    #[test]
    fn empty_windows_grow_to_a_week_and_reset() {
        let mut windows = WindowQueue::new(Interval::MINUTE, minutes(&[(0, 1_000_000)]), 3_000);
        let mut lengths = |candles: usize| {
            let window = windows.next(None).unwrap();
            windows.record_result(candles);
            (window.end - window.start).get() / 60_000
        };
        assert_eq!([0, 0, 0, 7, 7].map(&mut lengths), [3_000, 6_000, 10_080, 10_080, 3_000]);
        windows.limit_rows(500);
        for (rows, minutes) in [(500, 500), (700, 500), (3, 100)] {
            windows.limit_rows(rows);
            let window = windows.next(None).unwrap();
            assert_eq!((window.end - window.start).get(), minutes * 60_000);
        }
    }
}
