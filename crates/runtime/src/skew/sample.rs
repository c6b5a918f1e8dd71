//! Bounds of the clock skew that follow from venue answers.

use candlewick_broker::{PriceAnswer, Reply, Skew, TradeReport};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};

const MAX_AHEAD: Millis = Millis::HOUR;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// `Date` header of an answer: a whole second, written during the request.
    Date,
    /// Request or creation time of a trade, written during the open request.
    Open,
    /// Time of a price record, which cannot be in the venue's future.
    PriceRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockSample {
    pub(crate) source: ClockSource,
    pub(crate) bounds: Skew,
}

impl ClockSample {
    pub(crate) fn of_date<T>(reply: &Reply<T>) -> Option<Self> {
        reply.skew().map(|bounds| Self { source: ClockSource::Date, bounds })
    }

    pub(crate) fn of_open(reply: &Reply<Box<TradeReport>>) -> Option<Self> {
        let taken = reply.value.request_time?;
        let bounds = Skew { low: taken - reply.received, high: taken - reply.sent };
        Some(Self { source: ClockSource::Open, bounds })
    }

    /// Returns the sample of a price answer: the venue's time is the record's or later.
    ///
    /// `None` for a record later than requested, or with an implausible future time: these prove
    /// nothing.
    pub(crate) fn of_price(reply: &Reply<PriceAnswer>, asked: Millis) -> Option<Self> {
        let record = reply.value.record().filter(|record| record.time <= asked)?;
        let recorded = record.recorded_time.filter(|at| *at <= reply.received + MAX_AHEAD);
        let recorded = recorded.unwrap_or(record.time).max(record.time);
        let bounds = Skew { low: recorded - reply.received, high: Millis::MAX };
        Some(Self { source: ClockSource::PriceRecord, bounds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::PriceRecord;
    use candlewick_sdk::Ohlcv;

    /// How far ahead the venue's clock is at least, in ms, by the record of a price that was asked for and received at noon.
    fn check(time: Millis, recorded_time: Option<Millis>, expected: Option<Millis>) {
        let noon = Millis::HOUR * 12;
        let prices = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let (time, recorded_time) = (noon + time, recorded_time.map(|at| noon + at));
        let reply = Reply::at(PriceAnswer::Record(PriceRecord { time, prices, recorded_time }), noon);
        let sample = ClockSample::of_price(&reply, noon);
        let bounds = expected.map(|low| Skew { low, high: Millis::MAX });
        assert_eq!(sample.map(|sample| sample.bounds), bounds, "{time} {recorded_time:?}");
    }

    #[test]
    fn a_price_record_of_a_moment_that_was_not_asked_for_proves_nothing_of_the_clock() {
        let second = Millis::SECOND;
        check(Millis::ZERO, None, Some(Millis::ZERO));
        check(Millis::new(-1_000), None, Some(Millis::new(-1_000)));
        check(Millis::new(-1_000), Some(second * 3), Some(second * 3));
        check(second, None, None);
        check(Millis::HOUR, Some(second), None);
        check(Millis::new(-1_000), Some(Millis::HOUR * 2), Some(Millis::new(-1_000)));
    }
}
