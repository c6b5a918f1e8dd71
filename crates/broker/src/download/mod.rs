//! Candles of long ranges, whatever a venue leaves out of its answers.
//!
//! A venue may cut an answer without saying so, at either end or anywhere, and may send rows that were not asked for.
//! So nothing about an answer is believed but its candles, and a stretch counts as asked for when its candles came or
//! when a question for exactly this stretch brought none of them:
//!
//! - A window is asked for as one question.
//! - What is then missing at the ends of the window is asked for as a window of its own.
//! - Where the answer has holes and is as large as answers are known to get, it may have been cut anywhere: both halves
//!   of the window are asked for.
//!
//! Each further question is for a shorter window, so this ends, whatever the venue does.

mod asking;
#[cfg(test)]
mod properties;
mod window;

use crate::{BrokerError, MarketData};
use asking::{Asking, Page};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use window::{Coverage, Windows};

/// What to download, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadSettings {
    /// The trading pair.
    pub symbol: Symbol,
    /// Length of the candles.
    pub interval: Interval,
    /// Candles to ask for at once. A venue may send fewer.
    pub limit: u64,
    /// The least time from one request to the next.
    pub spacing: Duration,
}

/// A download under way: windows one after the other, by time.
///
/// Trouble that may pass is waited for, a few minutes at most, once the venue has answered.
pub struct Download {
    asking: Asking,
    windows: Windows,
    /// Rows of the largest answer: one with fewer was not cut.
    largest: usize,
    now: Option<Millis>,
}

/// What one window brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Downloaded {
    /// From the open time of its first candle to the close time of its last.
    pub window: Range<Millis>,
    /// The closed candles, by time; of one time those that differ, in the order in which they came.
    pub candles: Vec<Candle>,
    /// Rows that are no candles.
    pub rejected: usize,
    /// How many requests it took, repeats after trouble not counted.
    pub requests: u64,
    /// The venue's time, at the earliest that it can have been: all the candles had closed by then.
    pub seen_at: Millis,
}

impl Download {
    /// Of these ranges of open times, ascending. Nothing is asked for yet.
    pub fn new(market: Arc<dyn MarketData>, settings: DownloadSettings, ranges: Vec<Range<Millis>>) -> Self {
        let windows = Windows::new(settings.interval, ranges, settings.limit);
        Self { asking: Asking::new(market, settings), windows, largest: 0, now: None }
    }

    /// The candles of the next window that lie inside of it; none when all has been asked for, up to the venue's
    /// present.
    ///
    /// # Errors
    /// Those of [`MarketData::candles`], and [`BrokerError::Malformed`] when the venue sends the same page whatever it is
    /// asked for. The download is then over.
    pub async fn next(&mut self) -> Result<Option<Downloaded>, BrokerError> {
        let Some(window) = self.windows.next(self.now) else { return Ok(None) };
        let mut got = Downloaded { window: window.clone(), ..Downloaded::default() };
        let mut open = vec![window];
        while let Some(window) = open.pop() {
            open.extend(self.read(&window, &mut got).await?);
        }
        if got.candles.len() > self.largest {
            // No answer holds so many: longer windows would only be cut.
            self.windows.shorten(self.largest);
        }
        // Stable: of two values of one moment, the one that came first stays first.
        got.candles.sort_by_key(Candle::time);
        got.candles.dedup();
        self.windows.note(got.candles.len());
        Ok(Some(got))
    }

    /// Asks for a window. Answers the parts of it that have to be asked for by themselves.
    async fn read(
        &mut self,
        window: &Range<Millis>,
        got: &mut Downloaded,
    ) -> Result<Vec<Range<Millis>>, BrokerError> {
        let page = self.asking.page(window).await?;
        let now = page.now;
        self.now = self.now.max(Some(now));
        let may_be_cut = page.rows >= self.largest;
        self.largest = self.largest.max(page.rows);
        let coverage = Coverage::new(self.asking.settings().interval, window.clone(), &page.times);
        let (is_empty, has_forming) = (coverage.is_empty(), page.is_forming);
        if is_empty {
            self.asking.examine(&page, window).await?;
        }
        got.keep(page);
        let (missing, at_ends) = (coverage.missing(now), coverage.missing_at_ends(now));
        Ok(if is_empty {
            // The candle that forms may have been all that a limit left.
            at_ends.into_iter().filter(|part| has_forming && part != window).collect()
        } else if may_be_cut && missing != at_ends {
            coverage.halves()
        } else {
            at_ends
        })
    }
}

impl Downloaded {
    fn keep(&mut self, page: Page) {
        self.candles.extend(page.candles);
        self.rejected += page.unusable;
        self.requests += 1;
        self.seen_at = self.seen_at.max(page.now);
    }
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").field("windows", &self.windows).finish_non_exhaustive()
    }
}
