//! A single candle request: throttled, retried, and tested if every answer is the same.

use super::DownloadSettings;
use crate::{BrokerError, CandleQuery, Candles, MarketData, Reply};
use backon::{ExponentialBuilder, Retryable};
use candlewick_sdk::{Candle, Millis};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Backoff after failures once the venue has answered: 1 s to 30 s, about two minutes in total.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const PAUSES: usize = 7;
/// Maximum `retry_after`. A download is aborted if the venue demands a longer pause.
const PATIENCE: Duration = Duration::from_mins(5);
/// Distance of the test request from a suspicious window, in windows.
const FAR: i64 = 1_000;

pub(super) struct Asking {
    market: Arc<dyn MarketData>,
    pub(super) settings: DownloadSettings,
    /// Earliest time of the next request.
    due: Option<Instant>,
    has_answered: bool,
    trust: Trust,
}

/// Whether the venue respects the requested window: assumed (given) or confirmed by a test (earned).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Given,
    Earned,
}

pub(super) struct Page {
    /// Candles of the window that had closed by `now`, by time.
    pub(super) candles: Vec<Candle>,
    /// Distinct open times, ascending, of all rows closed by `now`: also invalid ones and outside ones.
    pub(super) times: Vec<Millis>,
    pub(super) unusable: usize,
    /// Number of distinct rows.
    pub(super) rows: usize,
    pub(super) is_forming: bool,
    /// Earliest possible venue time of the answer.
    pub(super) now: Millis,
}

impl Asking {
    pub(super) fn new(market: Arc<dyn MarketData>, settings: DownloadSettings) -> Self {
        Self { market, settings, due: None, has_answered: false, trust: Trust::Given }
    }

    pub(super) async fn page(&mut self, window: &Range<Millis>) -> Result<Page, BrokerError> {
        let DownloadSettings { symbol, interval, .. } = self.settings;
        let query = CandleQuery { symbol, interval, start: window.start, end: window.end };
        let reply = self.patiently(&query).await?;
        self.has_answered = true;
        let now = reply.date.map_or(reply.received, |date| date.min(reply.received));
        let Candles { candles, unusable, unsound, forming, outside } = reply.value;
        let unreadable = unusable - unsound.len();
        if candles.is_empty() && outside.is_empty() && unsound.is_empty() && forming == 0 && unreadable > 0 {
            let problem = format!("none of its {unreadable} rows can be read as a candle");
            return Err(self.malformed(problem, window));
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
        Ok(Page { candles, times, unusable, rows, is_forming, now })
    }

    /// Tests whether a venue whose page has nothing of the window sends the same page for a distant time.
    pub(super) async fn examine(&mut self, page: &Page, window: &Range<Millis>) -> Result<(), BrokerError> {
        if page.times.is_empty() || self.trust == Trust::Earned {
            return Ok(());
        }
        let distance = (window.end - window.start) * FAR;
        let back = window.start - distance;
        let start = if back > Millis::ZERO { back } else { window.start + distance };
        let far = start..start + self.settings.interval.length();
        // A venue that rejects such a window has read it.
        if self.page(&far).await.is_ok_and(|answer| answer.times == page.times) {
            let count = page.times.len();
            let problem = format!("the same {count} candles come whatever is asked for");
            return Err(self.malformed(problem, window));
        }
        self.trust = Trust::Earned;
        Ok(())
    }

    async fn patiently(&mut self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        // A venue that has never answered may not exist: its own repeats are enough.
        let most = if self.has_answered { PAUSES } else { 1 };
        let pauses = ExponentialBuilder::default()
            .with_min_delay(SHORTEST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_max_times(most)
            .with_jitter();
        let (market, has_answered) = (&self.market, self.has_answered);
        let wait = |error: &BrokerError, pause: Option<Duration>| match error {
            BrokerError::RateLimited { retry_after: Some(wish), .. } => {
                pause.map(|pause| pause.max(*wish)).filter(|pause| *pause <= PATIENCE)
            }
            _ => pause.filter(|_| has_answered),
        };
        if let Some(due) = self.due {
            sleep_until(due).await;
        }
        self.due = Some(Instant::now() + self.settings.spacing);
        (|| market.candles(query))
            .retry(pauses)
            .when(BrokerError::is_temporary)
            .adjust(wait)
            .notify(|error, pause| {
                tracing::warn!(symbol = %query.symbol, %error, ?pause, "waiting for the venue");
            })
            .await
    }

    fn malformed(&self, problem: String, window: &Range<Millis>) -> BrokerError {
        let DownloadSettings { symbol, interval, .. } = &self.settings;
        let head = format!("{symbol} {interval} from {} to {}", window.start, window.end);
        BrokerError::Malformed { problem, head }
    }
}
