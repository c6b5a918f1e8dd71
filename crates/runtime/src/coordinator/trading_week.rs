//! Weekend closing times. Most symbols have no candles at weekends.

use candlewick_sdk::Millis;

/// Start of the week that contains the epoch, a Thursday: Monday 1969-12-29, 00:00 UTC.
const FIRST_MONDAY: Millis = Millis::new(-3 * 86_400_000);
const WEEK: Millis = Millis::new(7 * 86_400_000);
/// Friday 21:00 and Sunday 23:00 UTC: the longest forex weekend, with or without daylight saving
/// time.
const MAY_CLOSE: Millis = Millis::new((4 * 24 + 21) * 3_600_000);
const MAY_OPEN: Millis = Millis::new((6 * 24 + 23) * 3_600_000);
/// Friday 22:05 and Sunday 20:55 UTC: forex is certainly closed in between.
const IS_CLOSED: Millis = Millis::new((4 * 24 + 22) * 3_600_000 + 300_000);
const IS_OPEN: Millis = Millis::new((6 * 24 + 20) * 3_600_000 + 55 * 60_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TradingWeek {
    Unknown,
    RoundTheClock,
}

impl TradingWeek {
    pub(crate) fn on_candle(&mut self, close: Millis) {
        if is_between(close, IS_CLOSED, IS_OPEN) {
            *self = Self::RoundTheClock;
        }
    }

    pub(crate) fn may_be_closed(self, at: Millis) -> bool {
        self == Self::Unknown && is_between(at, MAY_CLOSE, MAY_OPEN)
    }
}

/// Returns whether a time of the week is in `[from, to)`.
fn is_between(at: Millis, from: Millis, to: Millis) -> bool {
    let in_week = (at - FIRST_MONDAY).get().rem_euclid(WEEK.get());
    (from.get()..to.get()).contains(&in_week)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday 2026-01-05, 00:00 UTC.
    const MONDAY: i64 = 1_767_571_200_000;

    fn at(day: i64, hour: i64, minute: i64) -> Millis {
        Millis::new(MONDAY + ((day * 24 + hour) * 60 + minute) * 60_000)
    }

    #[test]
    fn only_a_weekend_explains_missing_candles() {
        for (moment, expected) in [
            (at(0, 0, 0), false),
            (at(2, 12, 0), false),
            (at(4, 20, 59), false),
            (at(4, 21, 0), true),
            (at(5, 12, 0), true),
            (at(6, 22, 59), true),
            (at(6, 23, 0), false),
        ] {
            assert_eq!(TradingWeek::Unknown.may_be_closed(moment), expected, "{moment}");
        }
    }

    #[test]
    fn a_candle_of_a_weekend_shows_a_market_that_never_closes() {
        for (close, expected) in [
            // In winter forex closes at 22:00, and in summer it opens at 21:00.
            (at(4, 22, 0), TradingWeek::Unknown),
            (at(6, 21, 1), TradingWeek::Unknown),
            (at(5, 3, 0), TradingWeek::RoundTheClock),
        ] {
            let mut week = TradingWeek::Unknown;
            week.on_candle(close);
            assert_eq!(week, expected, "{close}");
            assert_eq!(week.may_be_closed(at(5, 12, 0)), expected == TradingWeek::Unknown);
        }
    }
}
