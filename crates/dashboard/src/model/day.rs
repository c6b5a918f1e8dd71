//! How many trades were decided today, and within the last hour.

use candlewick_sdk::Millis;
use std::collections::VecDeque;

/// Decision times that are kept at most: more trades in an hour are counted as so many.
const MOST: usize = 10_000;

/// The trades of the day, and the decision times of the last hour.
#[derive(Debug, Default)]
pub(crate) struct DayCount {
    pub(crate) start: Option<Millis>,
    pub(crate) trades: u64,
    recent: VecDeque<Millis>,
}

impl DayCount {
    /// A day begins.
    pub(crate) fn begin(&mut self, start: Millis) {
        if self.start != Some(start) {
            (self.start, self.trades) = (Some(start), 0);
        }
    }

    /// A trade was decided.
    pub(crate) fn count(&mut self, at: Millis) {
        self.trades += 1;
        self.recent.push_back(at);
        while self.recent.len() > MOST || self.recent.front().is_some_and(|first| at - *first >= Millis::HOUR)
        {
            self.recent.pop_front();
        }
    }

    /// Trades decided within the hour before this moment.
    pub(crate) fn within_hour(&self, now: Millis) -> usize {
        self.recent.iter().filter(|at| now - **at < Millis::HOUR).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_day_counts_from_nothing_and_an_hour_from_its_first_minute() {
        let mut day = DayCount::default();
        day.begin(Millis::ZERO);
        for minute in 0..90 {
            day.count(Millis::MINUTE * minute);
        }
        assert_eq!((day.trades, day.within_hour(Millis::MINUTE * 89)), (90, 60));
        assert_eq!(day.within_hour(Millis::MINUTE * 119), 30);
        day.begin(Millis::ZERO);
        assert_eq!(day.trades, 90);
        day.begin(Millis::DAY);
        assert_eq!((day.trades, day.within_hour(Millis::MINUTE * 119)), (0, 30));
    }
}
