//! Candles of one level as columns.

use crate::model::Feed;
use candlewick_sdk::Millis;
use serde::Serialize;
use utoipa::ToSchema;

/// Bars of one length, oldest first.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Bars {
    /// How long each is, in milliseconds.
    #[schema(value_type = i64)]
    pub(crate) length: Millis,
    /// When each begins, in milliseconds of venue time.
    #[schema(value_type = Vec<i64>)]
    pub(crate) time: Vec<Millis>,
    pub(crate) open: Vec<f64>,
    pub(crate) high: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) close: Vec<f64>,
}

pub(crate) fn bars_of(feed: &Feed, level: usize, from: Millis) -> Option<Bars> {
    let level = feed.levels.all().get(level)?;
    let mut bars = Bars { length: level.length, ..Bars::default() };
    for bar in level.bars.iter().filter(|bar| bar.time >= from) {
        bars.time.push(bar.time);
        bars.open.push(bar.open);
        bars.high.push(bar.high);
        bars.low.push(bar.low);
        bars.close.push(bar.close);
    }
    Some(bars)
}
