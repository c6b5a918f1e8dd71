//! Numbers of longer candles that a series can be resampled to.

use candlewick_history::count_longer;
use candlewick_sdk::{CandleSeries, Interval, ResampleCounts};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct LongerCounts {
    share_percent: f64,
    counts: Vec<(Interval, ResampleCounts)>,
}

impl LongerCounts {
    pub fn from_series(series: &CandleSeries, share_percent: f64) -> Self {
        Self { share_percent, counts: count_longer(series, share_percent) }
    }

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
