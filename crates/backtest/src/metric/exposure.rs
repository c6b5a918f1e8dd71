//! Share of time with an open trade.

use candlewick_engine::IntentRow;
use candlewick_sdk::Millis;
use candlewick_statistics::{OpenTime, exposure};
use std::ops::Range;

/// Returns the share of `span` with at least one open trade, among settled ones; `None` for an
/// empty span.
pub fn exposure_of(settled: &[&IntentRow], span: &Range<Millis>) -> Option<f64> {
    let time = |from: Millis, until: Millis| OpenTime { from_ms: from.get(), until_ms: until.get() };
    let times: Vec<OpenTime> =
        settled.iter().filter_map(|row| Some(time(row.open_time?, row.close_time?))).collect();
    exposure(&times, time(span.start, span.end)).ok()
}
