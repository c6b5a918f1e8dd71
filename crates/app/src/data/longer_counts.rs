//! Numbers of longer candles that shorter ones make up.

use candlewick_history::count_longer;
use candlewick_sdk::{CandleSeries, Interval, ResampleCounts};
use serde_json::{Value, json};

/// Numbers of longer candles built from a series, by interval.
#[derive(Clone, Debug)]
pub struct LongerCounts {
    share_percent: f64,
    counts: Vec<(Interval, ResampleCounts)>,
}

impl LongerCounts {
    /// Counts candles of the usual intervals, which need this share of their open-market time in percent.
    pub fn from_series(series: &CandleSeries, share_percent: f64) -> Self {
        Self { share_percent, counts: count_longer(series, share_percent) }
    }

    /// Creates the counts of one interval.
    pub(super) fn from_counts(interval: Interval, counts: ResampleCounts, share_percent: f64) -> Self {
        Self { share_percent, counts: vec![(interval, counts)] }
    }

    pub(super) fn document(&self) -> Value {
        let document = |(interval, counts): &(Interval, ResampleCounts)| {
            let ResampleCounts { built, in_parts, not_built } = counts;
            json!({ "interval": interval, "built": built, "in_parts": in_parts, "not_built": not_built })
        };
        self.counts.iter().map(document).collect()
    }

    /// Describes the intervals with incomplete candles; `None` if all are complete.
    pub(super) fn text(&self) -> Option<String> {
        let incomplete = self.counts.iter().filter(|(_, counts)| counts.in_parts + counts.not_built > 0);
        let texts: Vec<String> = incomplete
            .map(|(interval, ResampleCounts { built, in_parts, not_built })| {
                format!("{interval} {built} built, {in_parts} of them with gaps, {not_built} not built")
            })
            .collect();
        let share = self.share_percent;
        (!texts.is_empty()).then(|| {
            format!(
                "longer candles, of {share} % of their open minutes (data.longer_share_percent): {}",
                texts.join("; ")
            )
        })
    }
}
