//! One question for candles: at its pace, again when trouble may pass, and never believed when every answer is the same.

use super::DownloadSettings;
use crate::model::{CandleQuery, CandleRows};
use crate::{ApiError, Reply, Venue};
use backon::{ExponentialBuilder, Retryable};
use candlewick_sdk::Millis;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Pauses after trouble, once the venue has answered: from a second to half a minute, about two minutes together.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const PAUSES: usize = 7;
/// A venue that asks for a longer pause is given up.
const PATIENCE: Duration = Duration::from_mins(5);
/// How far from a suspicious window the question lies that decides, in windows.
const FAR: i64 = 1_000;

/// Whoever is asked, and how the asking went.
pub(super) struct Asking {
    venue: Arc<dyn Venue>,
    settings: DownloadSettings,
    /// When the next request may leave.
    due: Option<Instant>,
    has_answered: bool,
    trust: Trust,
}

/// Whether the venue listens to what it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Nothing has spoken against it.
    Given,
    /// It was put to the test, and it does.
    Earned,
}

/// One answer.
pub(super) struct Page {
    pub(super) rows: CandleRows,
    /// Their open times, ascending, each once.
    pub(super) times: Vec<Millis>,
    /// The venue's time, at the earliest that it can have been: what had not closed by then is forming.
    pub(super) now: Millis,
}

impl Asking {
    pub(super) fn new(venue: Arc<dyn Venue>, settings: DownloadSettings) -> Self {
        Self { venue, settings, due: None, has_answered: false, trust: Trust::Given }
    }

    pub(super) const fn settings(&self) -> &DownloadSettings {
        &self.settings
    }

    /// Asks for the candles of a window, some skipped.
    pub(super) async fn page(&mut self, window: &Range<Millis>, skip: usize) -> Result<Page, ApiError> {
        let query = CandleQuery {
            symbol: self.settings.symbol,
            asset_type: self.settings.asset_type.clone(),
            interval: self.settings.interval,
            skip: skip as u64,
            limit: self.settings.limit,
            // Whether the venue includes the ends or leaves them out, these give the same candles.
            start_time: window.start - Millis::new(1),
            end_time: window.end - Millis::new(1),
        };
        let reply = self.patiently(&query).await?;
        self.has_answered = true;
        let now = reply.date.map_or(reply.received, |date| date.min(reply.received));
        let rows = reply.value;
        if rows.rows.is_empty() && rows.unreadable > 0 {
            let problem = format!("none of its {} rows can be read as a candle", rows.unreadable);
            return Err(self.malformed(problem, window));
        }
        let mut times: Vec<Millis> = rows.rows.iter().map(|row| row.time).collect();
        times.sort_unstable();
        times.dedup();
        Ok(Page { rows, times, now })
    }

    /// A page has rows and tells nothing new about its window: a question for another time, far away, decides whether
    /// the venue listens to what it is asked for.
    ///
    /// # Errors
    /// [`ApiError::Malformed`] when the same page comes for that one, too.
    pub(super) async fn examine(&mut self, page: &Page, window: &Range<Millis>) -> Result<(), ApiError> {
        if page.times.is_empty() || self.trust == Trust::Earned {
            return Ok(());
        }
        let distance = (window.end - window.start) * FAR;
        let back = window.start - distance;
        let start = if back > Millis::ZERO { back } else { window.start + distance };
        let far = start..start + self.settings.interval.length();
        // A venue that refuses such a window has read it.
        if self.page(&far, 0).await.is_ok_and(|answer| answer.times == page.times) {
            let count = page.times.len();
            let problem = format!("the same {count} candles come whatever is asked for");
            return Err(self.malformed(problem, window));
        }
        self.trust = Trust::Earned;
        Ok(())
    }

    /// Asks until there is an answer, or no hope of one.
    async fn patiently(&mut self, query: &CandleQuery) -> Result<Reply<CandleRows>, ApiError> {
        // A venue that has never answered may not exist: its own repeats are enough.
        let most = if self.has_answered { PAUSES } else { 1 };
        let pauses = ExponentialBuilder::default()
            .with_min_delay(SHORTEST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_max_times(most)
            .with_jitter();
        let (venue, has_answered) = (&self.venue, self.has_answered);
        let wait = |error: &ApiError, pause: Option<Duration>| match error {
            ApiError::RateLimited { retry_after: Some(wish), .. } => {
                pause.map(|pause| pause.max(*wish)).filter(|pause| *pause <= PATIENCE)
            }
            _ => pause.filter(|_| has_answered),
        };
        if let Some(due) = self.due {
            sleep_until(due).await;
        }
        self.due = Some(Instant::now() + self.settings.spacing);
        (|| venue.candles(query))
            .retry(pauses)
            .when(ApiError::is_temporary)
            .adjust(wait)
            .notify(|error, pause| {
                tracing::warn!(symbol = %query.symbol, %error, ?pause, "waiting for the venue");
            })
            .await
    }

    fn malformed(&self, problem: String, window: &Range<Millis>) -> ApiError {
        let DownloadSettings { symbol, interval, .. } = &self.settings;
        let head = format!("{symbol} {interval} from {} to {}", window.start, window.end);
        ApiError::Malformed { problem, head }
    }
}
