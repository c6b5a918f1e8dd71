//! Priority and intent number of a task's requests, and answers with timestamps.

use candlewick_sdk::Millis;

tokio::task_local! {
    static PRIORITY: Priority;
    static INTENT: u64;
}

/// Priority of a request, highest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Open trades and orders of unknown status, where money is at stake. The default.
    #[default]
    Trades,
    /// Closed candles, which trigger signals.
    Candles,
    /// Prices used by a strategy.
    Prices,
    /// Data for display or audits, which can wait.
    Display,
}

/// Runs a future and assigns a priority to all of its requests.
pub async fn with_priority<F: Future>(priority: Priority, future: F) -> F::Output {
    PRIORITY.scope(priority, future).await
}

/// Returns the request priority of the current task, for adapters that limit their request rate.
pub fn current_priority() -> Priority {
    PRIORITY.try_with(|priority| *priority).unwrap_or_default()
}

/// Runs a future and assigns all of its requests to an intent (a numbered trade decision).
pub async fn with_intent<F: Future>(number: u64, future: F) -> F::Output {
    INTENT.scope(number, future).await
}

/// Returns the intent number of the current task, for adapters that record requests and answers.
pub fn current_intent() -> Option<u64> {
    INTENT.try_with(|number| *number).ok()
}

/// An answer with the times at which the request was sent and the answer arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<T> {
    /// The answer.
    pub value: T,
    /// Venue time from the HTTP `Date` header, rounded down to whole seconds.
    pub date: Option<Millis>,
    /// Time at which the request was sent, on our clock.
    pub sent: Millis,
    /// Time at which the answer was complete, on our clock.
    pub received: Millis,
}

/// Bounds on the venue's time minus our time. Negative values mean that the venue's clock is behind our clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSkew {
    /// Lower bound of venue time minus our time.
    pub low: Millis,
    /// Upper bound of venue time minus our time.
    pub high: Millis,
}

impl<T> Reply<T> {
    /// Creates an answer with zero latency and no venue time, for adapters without a network.
    pub const fn without_latency(value: T, now: Millis) -> Self {
        Self { value, date: None, sent: now, received: now }
    }

    /// Replaces the value and keeps the timestamps.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reply<U> {
        Reply { value: change(self.value), date: self.date, sent: self.sent, received: self.received }
    }

    /// Returns the bounds of the clock skew, one round trip plus one second apart; `None` if `date` is missing.
    pub fn skew(&self) -> Option<ClockSkew> {
        let date = self.date?;
        Some(ClockSkew { low: date - self.received, high: date + Millis::new(999) - self.sent })
    }
}

impl ClockSkew {
    /// Returns the skew within the bounds that is closest to zero, which is 0 if the bounds include 0.
    pub fn min_abs_skew(self) -> Millis {
        if self.low > Millis::ZERO {
            self.low
        } else if self.high < Millis::ZERO {
            self.high
        } else {
            Millis::ZERO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn priority_and_intent_end_with_their_future() {
        let current = async { (current_priority(), current_intent()) };
        let seen = with_intent(7, with_priority(Priority::Display, current)).await;
        assert_eq!(seen, (Priority::Display, Some(7)));
        assert_eq!((current_priority(), current_intent()), (Priority::Trades, None));
    }

    fn check(date: i64, sent: i64, received: i64, expected: (i64, i64, i64)) {
        let (date, sent, received) = (Some(Millis::new(date)), Millis::new(sent), Millis::new(received));
        let skew = Reply { value: (), date, sent, received }.skew().unwrap();
        assert_eq!((skew.low.get(), skew.high.get(), skew.min_abs_skew().get()), expected);
    }

    #[test]
    fn round_trip_and_whole_second_bound_the_skew() {
        check(10_000, 10_100, 10_300, (-300, 899, 0));
        check(15_000, 10_100, 10_300, (4_700, 5_899, 4_700));
        check(5_000, 10_100, 10_300, (-5_300, -4_101, -4_101));
        assert_eq!(Reply::without_latency((), Millis::ZERO).skew(), None);
    }
}
