//! Recording of one-second prices of a symbol until stopped, as a detail series.

use super::outcome::{Fetched, give_up};
use super::{Fetching, Target};
use crate::error::Result;
use candlewick_broker::{BrokerError, PriceRecorder, Recorded};
use candlewick_sdk::{Candle, Millis};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

const EVERY: Duration = Duration::from_secs(1);
/// Interval of writes, the maximum lost on interruption.
const KEEP_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub struct PriceJob {
    pub target: Target,
}

pub async fn record_prices(job: PriceJob, fetching: Fetching) -> (Fetched, Result<()>) {
    let mut fetched = Fetched::new(&job.target);
    let outcome = record(&job, &fetching, &mut fetched).await;
    let looked = fetched.look_back(&fetching).await;
    (fetched, outcome.and(looked))
}

async fn record(job: &PriceJob, fetching: &Fetching, fetched: &mut Fetched) -> Result<()> {
    let series = job.target.series;
    fetching.check_source(series).await?;
    let mut recorder = PriceRecorder::new(Arc::clone(&fetching.market), series.symbol);
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut waiting: Vec<Candle> = Vec::new();
    let (mut kept, mut seen_at) = (Instant::now(), Millis::ZERO);
    let outcome = loop {
        let poll = async {
            ticks.tick().await;
            fetching.clock.catch_up();
            recorder.poll().await
        };
        let polled = tokio::select! {
            biased;
            () = fetching.stop.cancelled() => break Ok(()),
            polled = poll => polled,
        };
        match polled {
            Ok(recorded) => {
                fetched.record_prices(&recorded);
                fetching.pulse(recorded.candles.len() as u64);
                let Recorded { candles, seen_at: seen, .. } = recorded;
                waiting.extend(candles);
                seen_at = seen_at.max(seen);
            }
            Err(error) if may_pass(&error, fetched) => {
                tracing::warn!(symbol = %series.symbol, %error, "no price record; asking on");
            }
            Err(error) => break Err(error),
        }
        if kept.elapsed() >= KEEP_EVERY && !waiting.is_empty() {
            fetched.count(fetching.append(series, std::mem::take(&mut waiting), seen_at).await?);
            kept = Instant::now();
        }
    };
    if !waiting.is_empty() {
        fetched.count(fetching.append(series, waiting, seen_at).await?);
    }
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => give_up(error, fetched, fetching).await,
    }
}

/// Returns whether polling can continue: the venue answered before and may recover.
fn may_pass(error: &BrokerError, fetched: &Fetched) -> bool {
    fetched.requests > 0 && (error.is_temporary() || matches!(error, BrokerError::NotFound { .. }))
}
