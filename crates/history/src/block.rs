//! Calendar blocks in which candles are stored and hashed.

use candlewick_sdk::{Candle, Interval, Millis};
use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime};
use std::ops::Range;

const YEARS: Range<i32> = -9_999..10_000;

/// A day, month or year in UTC with about ten thousand candles: a day of candles below one minute,
/// a month of candles below one hour, a year of longer ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Range of the open times of its candles.
    pub(crate) range: Range<Millis>,
    /// `2026-01-05`, `2026-01` or `2026`.
    pub(crate) name: String,
}

impl Block {
    pub(crate) fn at(interval: Interval, time: Millis) -> Self {
        let date = DateTime::from_timestamp_millis(time.get()).map(|time| time.date_naive());
        let of_date = date.and_then(|date| Self::of(interval, date));
        of_date.unwrap_or_else(|| Self::outside_the_calendar(time))
    }

    fn of(interval: Interval, date: NaiveDate) -> Option<Self> {
        if !YEARS.contains(&date.year()) {
            return None;
        }
        let (start, next, name) = if interval < Interval::MINUTE {
            (date, date.succ_opt()?, date.format("%Y-%m-%d"))
        } else if interval.length() < Millis::HOUR {
            let start = date.with_day(1)?;
            (start, start.checked_add_months(Months::new(1))?, date.format("%Y-%m"))
        } else {
            (new_year(date.year())?, new_year(date.year() + 1)?, date.format("%Y"))
        };
        Some(Self { range: midnight(start)..midnight(next), name: name.to_string() })
    }

    /// Returns one of two blocks for times outside the calendar years: one before them and one
    /// after.
    fn outside_the_calendar(time: Millis) -> Self {
        let edge = |year| new_year(year).map_or(Millis::ZERO, midnight);
        if time < Millis::ZERO {
            Self { range: Millis::new(i64::MIN)..edge(YEARS.start), name: "before".to_owned() }
        } else {
            Self { range: edge(YEARS.end)..Millis::MAX, name: "after".to_owned() }
        }
    }
}

fn new_year(year: i32) -> Option<NaiveDate> {
    NaiveDate::from_yo_opt(year, 1)
}

fn midnight(date: NaiveDate) -> Millis {
    Millis::new(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis())
}

pub(crate) fn blocks(interval: Interval, candles: &[Candle]) -> impl Iterator<Item = (Block, &[Candle])> {
    let mut rest = candles;
    std::iter::from_fn(move || {
        let block = Block::at(interval, rest.first()?.time());
        let count = rest.partition_point(|candle| block.range.contains(&candle.time())).max(1);
        let (inside, after) = rest.split_at(count);
        rest = after;
        Some((block, inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2026-02-28 23:59 UTC.
    const LATE: i64 = 1_772_323_140_000;

    fn check(interval: &str, time: i64, name: &str, start: i64, end: i64) {
        let block = Block::at(interval.parse().unwrap(), Millis::new(time));
        assert_eq!((block.name.as_str(), block.range), (name, Millis::new(start)..Millis::new(end)));
    }

    #[test]
    fn shorter_candles_lie_in_shorter_blocks() {
        check("1s", LATE, "2026-02-28", 1_772_236_800_000, 1_772_323_200_000);
        check("59s", LATE, "2026-02-28", 1_772_236_800_000, 1_772_323_200_000);
        check("1m", LATE, "2026-02", 1_769_904_000_000, 1_772_323_200_000);
        check("59m", LATE, "2026-02", 1_769_904_000_000, 1_772_323_200_000);
        check("1h", LATE, "2026", 1_767_225_600_000, 1_798_761_600_000);
        check("1m", LATE + 60_000, "2026-03", 1_772_323_200_000, 1_775_001_600_000);
        check("1m", -1, "1969-12", -2_678_400_000, 0);
    }

    #[test]
    fn no_time_is_without_a_block() {
        for interval in ["1s", "1m", "1h"] {
            for time in [i64::MIN, i64::MAX - 1, -400_000_000_000_000, 400_000_000_000_000] {
                let block = Block::at(interval.parse().unwrap(), Millis::new(time));
                assert!(block.range.contains(&Millis::new(time)), "{interval} {time} {block:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_time_lies_in_its_block_and_its_neighbours_in_others(
            time in any::<i64>(), interval in prop::sample::select(vec!["1s", "1m", "1h"]),
        ) {
            prop_assume!(time != i64::MAX);
            let interval = interval.parse().unwrap();
            let block = Block::at(interval, Millis::new(time));
            prop_assert!(block.range.contains(&Millis::new(time)));
            prop_assert_eq!(&Block::at(interval, block.range.start), &block);
            prop_assert_eq!(&Block::at(interval, block.range.end - Millis::new(1)), &block);
        }
    }
}
