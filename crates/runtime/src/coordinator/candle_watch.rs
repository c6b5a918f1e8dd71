//! Schedules the requests for the candles of a series, and detects new and late candles.

use candlewick_engine::Origin;
use candlewick_sdk::{Candle, Interval, Millis};

/// Delays between repeated requests while a candle is missing. The last delay repeats.
const RETRY_DELAYS_MS: [i64; 6] = [250, 250, 500, 1_000, 2_000, 4_000];
/// Maximum age, in intervals, of a missing candle that is still requested. Limits the requests during weekends.
const MAX_BACKFILL_INTERVALS: i64 = 400;
/// Number of already known candles that each request fetches again, to detect revisions.
const REVISION_OVERLAP: i64 = 2;

#[derive(Debug)]
pub(crate) struct CandleWatch {
    interval: Interval,
    first_ask: Millis,
    quick_repeats: u32,
    next_open: Millis,
    due_close_time: Millis,
    repeats: u32,
    /// Close time of the earliest missing candle that is still requested.
    awaited_close: Millis,
    latest_delay: Option<Millis>,
    lateness: Lateness,
}

const MAX_LATE_INTERVALS: i64 = 2;

#[derive(Debug)]
struct Lateness {
    first_missing: Millis,
    excused_until: Millis,
    week: TradingWeek,
    /// Time of the newest price record, and the time when the record was read.
    price: Option<(Millis, Millis)>,
    is_quiet: bool,
    last_answer: Option<(Millis, bool)>,
}

impl Lateness {
    const fn new(due_close: Millis) -> Self {
        Self {
            first_missing: due_close,
            excused_until: Millis::new(i64::MIN),
            week: TradingWeek::Unknown,
            price: None,
            is_quiet: false,
            last_answer: None,
        }
    }

    fn on_candle(&mut self, close: Millis, length: Millis) {
        self.first_missing = self.first_missing.max(close + length);
        self.week.on_candle(close);
    }

    fn on_answer(&mut self, now: Millis, is_failure: bool, length: Millis) {
        self.last_answer = Some((now, is_failure));
        let still_at = self.stale_price_read_time(length).filter(|_| !is_failure);
        self.is_quiet = still_at.is_some();
        let closed_at = self.week.may_be_closed(now).then_some(now).filter(|_| !is_failure);
        self.excused_until =
            still_at.max(closed_at).map_or(self.excused_until, |at| at.max(self.excused_until));
    }

    /// Returns the time of the last price reading if the price has not changed since the missing candle opened.
    fn stale_price_read_time(&self, length: Millis) -> Option<Millis> {
        let (recorded, read) = self.price.filter(|_| self.week == TradingWeek::Unknown)?;
        (recorded < self.first_missing - length && read >= self.first_missing).then_some(read)
    }

    fn late_since(&self, length: Millis) -> Option<(Millis, bool)> {
        let (answered, is_failure) = self.last_answer?;
        let waited = answered - self.first_missing.max(self.excused_until);
        (waited > length * MAX_LATE_INTERVALS).then_some((self.first_missing, is_failure))
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct PollResult {
    pub(crate) new_candles: Vec<(Millis, Candle, Origin)>,
    pub(crate) next_request_at: Millis,
    pub(crate) is_polling_done: bool,
}

impl CandleWatch {
    pub(crate) fn new(interval: Interval, known: Millis, now: Millis, first: Millis, repeats: u32) -> Self {
        let length = interval.length();
        let due_close = now.floor_to(length) + length;
        Self {
            interval,
            first_ask: first,
            quick_repeats: repeats,
            next_open: known,
            due_close_time: due_close,
            repeats: 0,
            awaited_close: due_close,
            latest_delay: None,
            lateness: Lateness::new(due_close),
        }
    }

    pub(crate) fn late_since(&self) -> Option<(Millis, bool)> {
        self.lateness.late_since(self.interval.length())
    }

    pub(crate) fn on_price(&mut self, recorded: Millis, now: Millis) {
        self.lateness.price = Some((recorded, now));
    }

    /// Returns the close time of an overdue candle that is not reported as late because the price is unchanged.
    pub(crate) fn quiet_since(&self) -> Option<Millis> {
        let Lateness { is_quiet, first_missing, last_answer, .. } = self.lateness;
        let waited = last_answer?.0 - first_missing;
        let is_due = waited > self.interval.length() * MAX_LATE_INTERVALS;
        (is_quiet && is_due && self.late_since().is_none()).then_some(first_missing)
    }

    pub(crate) fn next_request_at(&self) -> Millis {
        self.due_close_time + self.first_ask
    }

    pub(crate) const fn due_close_time(&self) -> Millis {
        self.due_close_time
    }

    /// Returns the delay of the last candle, or of a missing one if longer. The flag is true if the candle has arrived.
    pub(crate) fn delay(&self, now: Millis) -> Option<(Millis, bool)> {
        let awaited = Some(now - self.awaited_close).filter(|waited| *waited > Millis::ZERO);
        match (awaited, self.latest_delay) {
            (Some(waited), latest) if latest.is_none_or(|latest| waited >= latest) => Some((waited, false)),
            (_, latest) => latest.map(|latest| (latest, true)),
        }
    }

    /// Returns the open time of the first candle to request. Known candles are included to detect revisions.
    pub(crate) fn request_start(&self) -> Millis {
        self.next_open - self.interval.length() * REVISION_OVERLAP
    }

    pub(crate) fn on_candles(&mut self, candles: &[Candle], now: Millis) -> PollResult {
        let length = self.interval.length();
        let mut new_candles = Vec::new();
        for candle in candles.iter().filter(|candle| candle.time() >= self.next_open) {
            let close = candle.close_time(self.interval);
            // Only the latest candle can open a trade.
            let origin = if now < close + length { Origin::Live } else { Origin::Backfill };
            if origin == Origin::Live {
                self.latest_delay = Some(now - close);
            }
            new_candles.push((close, *candle, origin));
        }
        if let Some((close, _, _)) = new_candles.last() {
            self.next_open = *close;
            self.lateness.on_candle(*close, length);
        }
        self.lateness.on_answer(now, false, length);
        let has_come = self.next_open >= self.due_close_time;
        if has_come {
            let next_request_at = self.schedule_next(now);
            self.awaited_close = self.due_close_time;
            return PollResult { new_candles, next_request_at, is_polling_done: true };
        }
        self.next_open = self.next_open.max(now.floor_to(length) - length * MAX_BACKFILL_INTERVALS);
        let (next_request_at, is_settled) = self.schedule_retry(now);
        if is_settled {
            self.awaited_close = self.due_close_time;
        }
        PollResult { new_candles, next_request_at, is_polling_done: is_settled }
    }

    pub(crate) fn on_failure(&mut self, now: Millis) -> (Millis, bool) {
        self.lateness.on_answer(now, true, self.interval.length());
        self.schedule_retry(now)
    }

    pub(crate) fn schedule_retry(&mut self, now: Millis) -> (Millis, bool) {
        let pause = RETRY_DELAYS_MS[(self.repeats as usize).min(RETRY_DELAYS_MS.len() - 1)];
        let again = now + Millis::new(pause);
        self.repeats += 1;
        let is_over =
            self.repeats > self.quick_repeats || again >= self.due_close_time + self.interval.length();
        if is_over { (self.schedule_next(now), true) } else { (again, false) }
    }

    fn schedule_next(&mut self, now: Millis) -> Millis {
        let length = self.interval.length();
        self.repeats = 0;
        // If another candle has closed during the request, that candle is requested immediately.
        self.due_close_time = (self.due_close_time.max(self.next_open) + length).max(now.floor_to(length));
        self.next_request_at()
    }
}

/// Start of the week that contains the Unix epoch: Monday 1969-12-29, 00:00 UTC.
const EPOCH_MONDAY: Millis = Millis::new(-3 * 86_400_000);
const WEEK: Millis = Millis::new(7 * 86_400_000);
/// Start of the period in which forex may be closed. The period lasts from Friday 21:00 to Sunday 23:00 UTC.
const FOREX_EARLIEST_CLOSE: Millis = Millis::new((4 * 24 + 21) * 3_600_000);
const FOREX_LATEST_OPEN: Millis = Millis::new((6 * 24 + 23) * 3_600_000);
/// Start of the period in which forex is always closed. The period lasts from Friday 22:05 to Sunday 20:55 UTC.
const FOREX_LATEST_CLOSE: Millis = Millis::new((4 * 24 + 22) * 3_600_000 + 300_000);
const FOREX_EARLIEST_OPEN: Millis = Millis::new((6 * 24 + 20) * 3_600_000 + 55 * 60_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TradingWeek {
    Unknown,
    RoundTheClock,
}

impl TradingWeek {
    pub(crate) fn on_candle(&mut self, close: Millis) {
        if is_in_week_span(close, FOREX_LATEST_CLOSE, FOREX_EARLIEST_OPEN) {
            *self = Self::RoundTheClock;
        }
    }

    fn may_be_closed(self, at: Millis) -> bool {
        self == Self::Unknown && is_in_week_span(at, FOREX_EARLIEST_CLOSE, FOREX_LATEST_OPEN)
    }
}

/// Returns whether `at` is in `[from, to)` of its week, where both limits are times since Monday 00:00 UTC.
fn is_in_week_span(at: Millis, from: Millis, to: Millis) -> bool {
    let in_week = (at - EPOCH_MONDAY).get().rem_euclid(WEEK.get());
    (from.get()..to.get()).contains(&in_week)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

    fn candle(minute: i64) -> Candle {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    fn minute(count: i64) -> Millis {
        Millis::MINUTE * count
    }

    /// Creates a watch that has all candles before minute 10 and starts 30 s into minute 10.
    fn watch() -> CandleWatch {
        CandleWatch::new(Interval::MINUTE, minute(10), minute(10) + Millis::from_seconds(30), Millis::ZERO, 3)
    }

    #[test]
    fn bounds_the_request_window_after_silence_but_not_after_an_outage() {
        let (mut silent, mut broken) = (watch(), watch());
        let later = minute(10 + 1_000);
        silent.on_candles(&[], later);
        broken.schedule_retry(later);
        assert_eq!((silent.request_start(), broken.request_start()), (minute(8 + 600), minute(8)));
    }

    #[test]
    fn delay_is_the_larger_of_arrival_delay_and_current_wait() {
        let ms = Millis::new;
        let mut watch = watch();
        assert_eq!(watch.delay(minute(11)), None, "none was due");
        assert_eq!(watch.delay(minute(11) + ms(1)), Some((ms(1), false)));
        watch.on_candles(&[], minute(11) + ms(100));
        watch.on_candles(&[candle(10)], minute(11) + ms(350));
        assert_eq!(watch.delay(minute(12) - ms(1)), Some((ms(350), true)));
        assert_eq!(watch.delay(minute(12) + ms(349)), Some((ms(350), true)), "the next is not later yet");
        assert_eq!(watch.delay(minute(12) + ms(350)), Some((ms(350), false)));
        for seconds in (0..180).step_by(5) {
            watch.schedule_retry(minute(12) + Millis::from_seconds(seconds));
        }
        assert_eq!(watch.delay(minute(15)), Some((minute(3), false)));
        while !watch.on_candles(&[], minute(15)).is_polling_done {}
        assert_eq!(watch.delay(minute(15)), Some((ms(350), true)));
    }

    #[test]
    fn series_is_late_after_two_intervals() {
        let (mut failing, mut empty) = (watch(), watch());
        // The candle that closes at minute 11 is due. It is late after two more intervals, at minute 13.
        for now in [minute(11), minute(12), minute(13)] {
            failing.on_failure(now);
            empty.on_candles(&[], now);
            assert_eq!((failing.late_since(), empty.late_since()), (None, None), "{now}");
        }
        let late = minute(13) + Millis::new(1);
        failing.on_failure(late);
        empty.on_candles(&[candle(9)], late);
        let since = |is_failing| Some((minute(11), is_failing));
        assert_eq!((failing.late_since(), empty.late_since()), (since(true), since(false)));
        failing.on_candles(&[candle(10)], late);
        assert_eq!(failing.late_since(), None);
        empty.on_candles(&[candle(10), candle(12)], late);
        assert_eq!(empty.late_since(), None);
        failing.on_failure(minute(14));
        assert_eq!(failing.late_since(), None);
        failing.on_failure(minute(14) + Millis::new(1));
        assert_eq!(failing.late_since(), Some((minute(12), true)));
    }

    #[test]
    fn pause_without_requests_makes_no_series_late() {
        let mut watch = watch();
        let later = minute(60) + Millis::new(300);
        assert_eq!(watch.late_since(), None);
        watch.on_candles(&[candle(59)], later);
        assert_eq!(watch.late_since(), None);
    }

    #[test]
    fn weekend_makes_no_series_late_unless_requests_fail() {
        // Saturday 1970-01-03 12:00 UTC.
        let noon = Millis::HOUR * 60;
        let mut watch = CandleWatch::new(Interval::MINUTE, noon, noon, Millis::ZERO, 3);
        for now in (1..=60).map(|count| noon + minute(count)) {
            watch.on_candles(&[], now);
            assert_eq!(watch.late_since(), None);
        }
        watch.on_failure(noon + minute(62));
        assert_eq!(watch.late_since(), None);
        watch.on_failure(noon + minute(63));
        assert_eq!(watch.late_since(), Some((noon + minute(1), true)));
    }

    #[test]
    fn series_with_frozen_prices_is_quiet_and_not_late() {
        // Thursday 1970-01-01; the candle of minute 10 is due at minute 11.
        let mut watch = watch();
        for count in 11..=20 {
            watch.on_price(minute(10) - Millis::new(1), minute(count));
            watch.on_candles(&[], minute(count));
            assert_eq!(watch.late_since(), None, "{count}");
            assert_eq!(watch.quiet_since(), (count > 13).then_some(minute(11)), "{count}");
        }
        // A price from minute 10 means that a candle is due. It is late two intervals after the last stale price.
        watch.on_price(minute(10), minute(21));
        for (count, expected) in [(21, None), (22, None), (23, Some((minute(11), false)))] {
            watch.on_candles(&[], minute(count));
            assert_eq!((watch.late_since(), watch.quiet_since()), (expected, None), "{count}");
        }
    }

    #[test]
    fn unread_prices_and_failed_requests_excuse_nothing() {
        let (mut failing, mut unread) = (watch(), watch());
        unread.on_price(minute(9), minute(11));
        for count in 11..=14 {
            failing.on_price(minute(9), minute(count));
            failing.on_failure(minute(count));
            unread.on_candles(&[], minute(count));
        }
        assert_eq!(failing.late_since(), Some((minute(11), true)));
        assert_eq!(unread.late_since(), Some((minute(11), false)), "the record was read at minute 11");
        // The time is Saturday 1970-01-03 12:00 UTC. A market with a candle at this time never closes.
        let noon = Millis::HOUR * 60;
        let mut open = CandleWatch::new(Interval::MINUTE, noon, noon, Millis::ZERO, 3);
        open.on_candles(&[candle(noon.get() / 60_000)], noon + minute(1));
        for count in 2..=5 {
            open.on_price(noon, noon + minute(count));
            open.on_candles(&[], noon + minute(count));
        }
        assert_eq!(open.late_since(), Some((noon + minute(2), false)));
    }

    #[test]
    fn retry_never_overlaps_the_next_close() {
        let mut watch = CandleWatch::new("1s".parse().unwrap(), Millis::ZERO, Millis::ZERO, Millis::ZERO, 99);
        let late = Millis::new(1_900);
        assert_eq!(watch.schedule_retry(late), (Millis::new(2_000), true));
    }

    /// The time is Monday 2026-01-05, 00:00 UTC.
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
        // A market that had a candle during a weekend never counts as closed.
        for (close, expected) in [
            // Forex closes at 22:00 UTC in winter, and opens at 21:00 UTC in summer.
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
