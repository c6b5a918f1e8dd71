//! An answer with the moments around it, from which clock skew is measured.

use candlewick_sdk::Millis;

/// What was asked for, when it was asked, and when it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<T> {
    /// What was asked for.
    pub value: T,
    /// The venue's time as the answer says it (the `Date` header of HTTP): whole seconds, rounded down.
    pub date: Option<Millis>,
    /// When the request left, by our clock.
    pub sent: Millis,
    /// When the answer was complete, by our clock.
    pub received: Millis,
}

/// How far the venue's clock is ahead of ours, in ms, as far as one answer shows. Negative: behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// At least this much.
    pub low: Millis,
    /// At most this much.
    pub high: Millis,
}

impl<T> Reply<T> {
    /// An answer that took no time and does not say the venue's, for callers that have no network.
    pub const fn at(value: T, now: Millis) -> Self {
        Self { value, date: None, sent: now, received: now }
    }

    /// The same moments with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reply<U> {
        Reply { value: change(self.value), date: self.date, sent: self.sent, received: self.received }
    }

    /// How far the clocks differ: the venue wrote `date` (a second's beginning) somewhere between `sent` and
    /// `received`.
    pub fn skew(&self) -> Option<Skew> {
        let date = self.date?;
        Some(Skew { low: date - self.received, high: date + Millis::new(999) - self.sent })
    }
}

impl Skew {
    /// The part of the difference that is certain: 0 while the clocks may agree.
    pub fn certain(self) -> Millis {
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

    fn check(date: i64, sent: i64, received: i64, expected: (i64, i64, i64)) {
        let (date, sent, received) = (Some(Millis::new(date)), Millis::new(sent), Millis::new(received));
        let skew = Reply { value: (), date, sent, received }.skew().unwrap();
        assert_eq!((skew.low.get(), skew.high.get(), skew.certain().get()), expected);
    }

    #[test]
    fn skew_is_bounded_by_the_round_trip_and_the_headers_second() {
        check(10_000, 10_100, 10_300, (-300, 899, 0));
        check(15_000, 10_100, 10_300, (4_700, 5_899, 4_700));
        check(5_000, 10_100, 10_300, (-5_300, -4_101, -4_101));
        assert_eq!(Reply::at((), Millis::ZERO).skew(), None);
    }
}
