//! Candles and the present: the moment among stored candles at which a venue starts, or the whole days by which they
//! are moved so that they lie around now.

use crate::failure::Failure;
use candlewick_sandbox::StartTime;
use candlewick_sdk::{Candle, CandleError, CandleSeries, Millis, Ohlcv};

/// Moves all candles by the same number of whole days, so that `now` lies among them: after their first day, or
/// after their first quarter where they are shorter than four days.
///
/// # Errors
/// Candles that are too short to lie around now, or whose interval does not divide a day.
pub(crate) fn shift_to(now: Millis, all: &[CandleSeries]) -> Result<Vec<CandleSeries>, Failure> {
    let start = all.iter().map(CandleSeries::start).min().unwrap_or(now);
    let end = all.iter().map(CandleSeries::end).max().unwrap_or(now);
    let way_out = "give --start or a --speed above 1: the candles then stay where they are in time";
    let Some(days) = shift_of(now, start, end) else {
        let problem = "the candles are too short to be moved around the present by whole days";
        return Err(Failure::data(problem).help(way_out));
    };
    let moved = |one: &CandleSeries| {
        shift(one, days).map_err(|error| {
            let problem = format!("{} cannot be moved by whole days: {error}", one.series());
            Failure::data(problem).help(way_out)
        })
    };
    all.iter().map(moved).collect()
}

/// The moment at which a venue over these candles starts: the one that was asked for, or after their first day (or
/// first quarter), so that there is history to warm up on.
///
/// # Errors
/// A start outside the candles.
pub(crate) fn start_among(all: &[CandleSeries], asked: Option<Millis>) -> Result<Millis, Failure> {
    let start = all.iter().map(CandleSeries::start).min().unwrap_or_default();
    let end = all.iter().map(CandleSeries::end).max().unwrap_or_default();
    let at = asked.unwrap_or(start + history(start, end));
    if (start..end).contains(&at) {
        return Ok(at);
    }
    let print = |moment: Millis| String::from(StartTime(moment));
    let problem =
        format!("the start {} is outside the candles, {} to {}", print(at), print(start), print(end));
    Err(Failure::configuration(problem).help("give a --start within them, or leave it out"))
}

/// What lies before the start.
fn history(start: Millis, end: Millis) -> Millis {
    Millis::DAY.min(Millis::new((end - start).get() / 4)).floor_to(Millis::MINUTE)
}

/// By how much candles from `start` to `end` are moved.
fn shift_of(now: Millis, start: Millis, end: Millis) -> Option<Millis> {
    let shift = (now - start - history(start, end)).floor_to(Millis::DAY);
    (now < end + shift).then_some(shift)
}

fn shift(series: &CandleSeries, by: Millis) -> Result<CandleSeries, CandleError> {
    let interval = series.interval();
    let moved = |candle: &Candle| {
        let (open, high, low) = (candle.open(), candle.high(), candle.low());
        let numbers = Ohlcv { open, high, low, close: candle.close(), volume: candle.volume() };
        Candle::new(candle.time() + by, interval, numbers)
    };
    let candles = series.candles().iter().map(moved).collect::<Result<Vec<_>, _>>()?;
    Ok(CandleSeries::new(series.series(), candles).expect("candles moved alike stay in order and aligned"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Series};
    use proptest::prelude::*;

    fn hours(hours: i64) -> Millis {
        Millis::HOUR * hours
    }

    #[test]
    fn now_lies_behind_a_day_of_history() {
        for (now, start, end, expected) in [
            // Two weeks from hour 0: now becomes the second day.
            (hours(100 * 24 + 5), hours(0), hours(14 * 24), Some(hours(99 * 24))),
            // Two days: a quarter is twelve hours, so at 05:00 the second day, at 13:00 the first.
            (hours(100 * 24 + 5), hours(0), hours(48), Some(hours(99 * 24))),
            (hours(100 * 24 + 13), hours(0), hours(48), Some(hours(100 * 24))),
            // The present before the candles: they are moved back.
            (hours(30), hours(240), hours(240 + 14 * 24), Some(hours(-240))),
            // Six hours of the night never lie around noon.
            (hours(100 * 24 + 12), hours(0), hours(6), None),
        ] {
            assert_eq!(shift_of(now, start, end), expected, "{now}");
        }
    }

    #[test]
    fn candles_off_the_grid_of_days_are_refused() {
        let interval: Interval = "7m".parse().unwrap();
        let series = Series { symbol: "A".parse().unwrap(), interval };
        let numbers = Ohlcv { open: 1.0, high: 2.0, low: 1.0, close: 2.0, volume: 0.0 };
        let candles: Vec<Candle> =
            (0..1_000).map(|i| Candle::new(interval.length() * i, interval, numbers).unwrap()).collect();
        let failure = shift_to(hours(24 * 100), &[CandleSeries::new(series, candles).unwrap()]).unwrap_err();
        assert!(
            failure.render().starts_with("error: A 7m cannot be moved by whole days"),
            "{}",
            failure.render()
        );
    }

    proptest! {
        #[test]
        fn a_shift_is_of_whole_days_and_puts_now_among_the_candles(now in 0..4_000_000_000_000_i64, span in 1..1_000_i64) {
            let (now, end) = (Millis::new(now), hours(span));
            if let Some(shift) = shift_of(now, Millis::ZERO, end) {
                prop_assert!(shift.is_aligned_to(Millis::DAY) && now >= shift && now < end + shift);
            } else {
                prop_assert!(span < 33, "{span} hours are enough for any time of day");
            }
        }
    }
}
