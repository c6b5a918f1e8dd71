//! Downloads candles over long ranges, even if the venue's answers are incomplete.
//!
//! A venue may silently truncate an answer anywhere, or send rows that were not requested. A range is complete only when
//! its candles have arrived, or when a request for exactly this range returned none. Each further request for a range
//! covers a shorter window, so a download always terminates.

mod requester;
#[cfg(test)]
mod tests;
mod window;

use crate::{BrokerError, MarketData};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use requester::{CandlePage, CandleRequester};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use window::{Coverage, WindowQueue};

/// Series, request size and pace of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadSettings {
    /// Trading pair.
    pub symbol: Symbol,
    /// Interval of the candles.
    pub interval: Interval,
    /// Number of candles per request. A venue may send fewer.
    pub candles_per_request: u64,
    /// Minimum time between two requests.
    pub spacing: Duration,
}

/// Candle download, one window at a time in chronological order. Retries temporary failures.
pub struct Download {
    requester: CandleRequester,
    windows: WindowQueue,
    /// Number of rows in the largest answer so far. Answers with fewer rows count as not truncated.
    max_rows: usize,
    now: Option<Millis>,
}

/// Candles that were downloaded for one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DownloadedWindow {
    /// Requested window, from the first open time to the last close time.
    pub window: Range<Millis>,
    /// Closed candles, sorted by time. Different candles with the same time are kept in order of arrival.
    pub candles: Vec<Candle>,
    /// Number of rows that are not valid candles.
    pub invalid_rows: usize,
    /// Number of requests, excluding retries after failures.
    pub requests: u64,
    /// Lower bound on the venue time of the last answer. All candles had closed by this time.
    pub answered_at: Millis,
}

impl Download {
    /// Creates a download for ascending ranges of open times. Sends no request yet.
    pub fn new(market: Arc<dyn MarketData>, settings: DownloadSettings, ranges: Vec<Range<Millis>>) -> Self {
        let windows = WindowQueue::new(settings.interval, ranges, settings.candles_per_request);
        Self { requester: CandleRequester::new(market, settings), windows, max_rows: 0, now: None }
    }

    /// Downloads the next window. Returns `None` after the last window, or once the current venue time is reached.
    ///
    /// # Errors
    ///
    /// Errors of [`MarketData::candles`], or [`BrokerError::Malformed`] if every answer is the same page.
    pub async fn next(&mut self) -> Result<Option<DownloadedWindow>, BrokerError> {
        let Some(window) = self.windows.next(self.now) else { return Ok(None) };
        let mut got = DownloadedWindow { window: window.clone(), ..DownloadedWindow::default() };
        let mut open = vec![window];
        while let Some(window) = open.pop() {
            open.extend(self.read_window(&window, &mut got).await?);
        }
        if got.candles.len() > self.max_rows {
            // No single answer contained this many rows, so longer windows would be truncated.
            self.windows.limit_rows(self.max_rows);
        }
        // The sort is stable: candles with the same time stay in order of arrival.
        got.candles.sort_by_key(Candle::time);
        got.candles.dedup();
        self.windows.record_result(got.candles.len());
        Ok(Some(got))
    }

    async fn read_window(
        &mut self,
        window: &Range<Millis>,
        got: &mut DownloadedWindow,
    ) -> Result<Vec<Range<Millis>>, BrokerError> {
        let page = self.requester.request_page(window).await?;
        let now = page.answered_at;
        self.now = self.now.max(Some(now));
        let may_be_truncated = page.row_count >= self.max_rows;
        self.max_rows = self.max_rows.max(page.row_count);
        let coverage = Coverage::new(self.requester.settings.interval, window.clone(), &page.times);
        let (is_empty, has_forming) = (coverage.is_empty(), page.has_forming_candle);
        if is_empty {
            self.requester.check_window_is_respected(&page, window).await?;
        }
        got.add_page(page);
        let (missing, at_ends) = (coverage.missing_ranges(now), coverage.missing_ranges_at_ends(now));
        Ok(if is_empty {
            // The forming candle may have been the only row within the limit.
            at_ends.into_iter().filter(|part| has_forming && part != window).collect()
        } else if may_be_truncated && missing != at_ends {
            coverage.split_in_half()
        } else {
            at_ends
        })
    }
}

impl DownloadedWindow {
    fn add_page(&mut self, page: CandlePage) {
        self.candles.extend(page.candles);
        self.invalid_rows += page.unusable_rows;
        self.requests += 1;
        self.answered_at = self.answered_at.max(page.answered_at);
    }
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").field("windows", &self.windows).finish_non_exhaustive()
    }
}
