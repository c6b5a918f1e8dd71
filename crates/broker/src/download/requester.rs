//! Individual requests for candles: throttling, retries, and detection of venues that ignore the window.

use super::DownloadSettings;
use crate::{BrokerError, CandleQuery, Candles, MarketData, Reply};
use backon::{ExponentialBuilder, Retryable};
use candlewick_sdk::{Candle, Millis};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Delay before the first retry. The delays of all retries add up to about two minutes.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
const MAX_RETRIES: usize = 7;
/// Maximum pause that the venue may demand. A longer pause aborts the download.
const MAX_RETRY_AFTER: Duration = Duration::from_mins(5);
/// Distance, in window lengths, of the probe request that tests whether the venue respects windows.
const PROBE_DISTANCE_WINDOWS: i64 = 1_000;

pub(super) struct CandleRequester {
    market: Arc<dyn MarketData>,
    pub(super) settings: DownloadSettings,
    next_request_at: Option<Instant>,
    has_answered: bool,
    support: WindowSupport,
}

/// Whether the venue respects the requested window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowSupport {
    Assumed,
    Confirmed,
}

pub(super) struct CandlePage {
    /// Candles of the window that had closed before the answer, sorted by time.
    pub(super) candles: Vec<Candle>,
    /// Distinct open times of all rows that had closed before the answer, including invalid and unrequested rows.
    pub(super) times: Vec<Millis>,
    pub(super) unusable_rows: usize,
    pub(super) row_count: usize,
    pub(super) has_forming_candle: bool,
    /// Lower bound on the venue time of the answer.
    pub(super) answered_at: Millis,
}

impl CandleRequester {
    pub(super) fn new(market: Arc<dyn MarketData>, settings: DownloadSettings) -> Self {
        Self { market, settings, next_request_at: None, has_answered: false, support: WindowSupport::Assumed }
    }

    pub(super) async fn request_page(&mut self, window: &Range<Millis>) -> Result<CandlePage, BrokerError> {
        let DownloadSettings { symbol, interval, .. } = self.settings;
        let query = CandleQuery { symbol, interval, start: window.start, end: window.end };
        let reply = self.request_with_retries(&query).await?;
        self.has_answered = true;
        let now = reply.date.map_or(reply.received, |date| date.min(reply.received));
        let Candles {
            candles,
            unusable_rows: unusable,
            unusable_times: unsound,
            forming_rows: forming,
            out_of_window_candles: outside,
        } = reply.value;
        let unreadable = unusable - unsound.len();
        if candles.is_empty() && outside.is_empty() && unsound.is_empty() && forming == 0 && unreadable > 0 {
            let problem = format!("all {unreadable} rows are unreadable");
            return Err(self.malformed_error(problem, window));
        }
        let mut times: Vec<Millis> =
            candles.iter().chain(&outside).map(Candle::time).chain(unsound).collect();
        times.sort_unstable();
        times.dedup();
        let rows = times.len() + forming + unreadable;
        let has_closed = |time: &Millis| *time + interval.length() <= now;
        let is_forming = forming > 0 || !times.iter().all(has_closed);
        times.retain(has_closed);
        let candles = candles.into_iter().filter(|candle| has_closed(&candle.time())).collect();
        Ok(CandlePage {
            candles,
            times,
            unusable_rows: unusable,
            row_count: rows,
            has_forming_candle: is_forming,
            answered_at: now,
        })
    }

    /// Fails if the page is outside the window and the venue sends the same page for a distant window.
    pub(super) async fn check_window_is_respected(
        &mut self,
        page: &CandlePage,
        window: &Range<Millis>,
    ) -> Result<(), BrokerError> {
        if page.times.is_empty() || self.support == WindowSupport::Confirmed {
            return Ok(());
        }
        let distance = (window.end - window.start) * PROBE_DISTANCE_WINDOWS;
        let back = window.start - distance;
        let start = if back > Millis::ZERO { back } else { window.start + distance };
        let far = start..start + self.settings.interval.length();
        // A venue that rejects the distant window respects it.
        if self.request_page(&far).await.is_ok_and(|answer| answer.times == page.times) {
            let count = page.times.len();
            let problem = format!("the venue sends the same {count} candles for any window");
            return Err(self.malformed_error(problem, window));
        }
        self.support = WindowSupport::Confirmed;
        Ok(())
    }

    async fn request_with_retries(&mut self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        // A venue that has never answered may not exist, so the adapter's own retries are enough.
        let most = if self.has_answered { MAX_RETRIES } else { 1 };
        let pauses = ExponentialBuilder::default()
            .with_min_delay(MIN_BACKOFF)
            .with_max_delay(MAX_BACKOFF)
            .with_max_times(most)
            .with_jitter();
        let (market, has_answered) = (&self.market, self.has_answered);
        let wait = |error: &BrokerError, pause: Option<Duration>| match error {
            BrokerError::RateLimited { retry_after: Some(demanded), .. } => {
                pause.map(|pause| pause.max(*demanded)).filter(|pause| *pause <= MAX_RETRY_AFTER)
            }
            _ => pause.filter(|_| has_answered),
        };
        if let Some(at) = self.next_request_at {
            sleep_until(at).await;
        }
        self.next_request_at = Some(Instant::now() + self.settings.spacing);
        (|| market.candles(query))
            .retry(pauses)
            .when(BrokerError::is_temporary)
            .adjust(wait)
            .notify(|error, pause| {
                tracing::warn!(symbol = %query.symbol, %error, ?pause, "the candle request failed, retrying");
            })
            .await
    }

    fn malformed_error(&self, problem: String, window: &Range<Millis>) -> BrokerError {
        let DownloadSettings { symbol, interval, .. } = &self.settings;
        let head = format!("{symbol} {interval} from {} to {}", window.start, window.end);
        BrokerError::Malformed { problem, head }
    }
}
