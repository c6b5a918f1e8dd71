//! What an answer proves about the venue's clock.

use candlewick_broker::{PriceAnswer, Reply, Skew, TradeReport};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};

/// By what the venue says its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockSource {
    /// The `Date` header of an answer: a whole second, written while the request was under way.
    Date,
    /// The moment at which the venue says that it took or created a trade, written while the open was under way.
    Open,
    /// The moment of a price record, which cannot lie in the venue's future.
    PriceRecord,
}

/// What one of them proves: bounds of how far the venue's clock is ahead of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockSample {
    pub(crate) source: ClockSource,
    pub(crate) bounds: Skew,
}

impl ClockSample {
    /// That of an answer's header.
    pub(crate) fn of_date<T>(reply: &Reply<T>) -> Option<Self> {
        reply.skew().map(|bounds| Self { source: ClockSource::Date, bounds })
    }

    /// That of an open's reply: its trade was taken between the sending and the answer.
    pub(crate) fn of_open(reply: &Reply<Box<TradeReport>>) -> Option<Self> {
        let taken = reply.value.request_time?;
        let bounds = Skew { low: taken - reply.received, high: taken - reply.sent };
        Some(Self { source: ClockSource::Open, bounds })
    }

    /// That of a price: the venue's time is its record's or later, by how much is not known.
    pub(crate) fn of_price(reply: &Reply<PriceAnswer>) -> Option<Self> {
        let record = reply.value.record()?;
        let recorded = record.recorded_time.unwrap_or(record.time).max(record.time);
        let bounds = Skew { low: recorded - reply.received, high: Millis::MAX };
        Some(Self { source: ClockSource::PriceRecord, bounds })
    }
}
