//! Candles of long ranges, whatever pages the venue makes of them.
//!
//! The contract has `limit` and `skip`, and does not say which end a limit cuts, whether a limit is lowered in
//! silence, in which order rows come, whether the ends of a window belong to it, or whether the forming candle comes
//! along. So nothing about a page is believed but its rows, and a stretch counts as asked for when its candles came or
//! when a question for exactly this stretch brought none of them:
//!
//! - Windows are asked for so that both readings of their ends give the same candles.
//! - Pages follow each other by `skip` until one is empty, or shorter than pages are known to get, or has nothing new.
//! - What is then missing at the ends of the window is asked for as a window of its own; when it took several pages,
//!   or when `skip` does nothing, so is every stretch that is missing.
//!
//! Each question brings something new or closes its stretch, so this ends, whatever the venue does.

mod asking;
#[cfg(test)]
mod model;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod sockets;
mod window;

use crate::{ApiError, ClosedCandles, Venue, closed_candles};
use asking::{Asking, Page};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use window::{Seen, Windows};

/// What to download, and how fast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadSettings {
    /// The trading pair.
    pub symbol: Symbol,
    /// Its kind, as the venue names it, for example crypto.
    pub asset_type: String,
    /// Length of the candles.
    pub interval: Interval,
    /// Rows to ask for at once. A venue may send fewer.
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
    /// Candles in the largest page: one with fewer rows was not cut.
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
    pub fn new(venue: Arc<dyn Venue>, settings: DownloadSettings, ranges: Vec<Range<Millis>>) -> Self {
        let windows = Windows::new(settings.interval, ranges, settings.limit);
        Self { asking: Asking::new(venue, settings), windows, largest: 0, now: None }
    }

    /// The candles of the next window that lie inside of it; none when all has been asked for, up to the venue's
    /// present.
    ///
    /// # Errors
    /// Those of [`Venue::candles`], and [`ApiError::Malformed`] when the venue sends the same page whatever it is
    /// asked for. The download is then over.
    pub async fn next(&mut self) -> Result<Option<Downloaded>, ApiError> {
        let Some(window) = self.windows.next(self.now) else { return Ok(None) };
        let mut got = Downloaded { window: window.clone(), ..Downloaded::default() };
        let mut open = vec![window];
        while let Some(window) = open.pop() {
            open.extend(self.read(&window, &mut got).await?);
        }
        // Stable: of two values of one moment, the one that came first stays first.
        got.candles.sort_by_key(Candle::time);
        got.candles.dedup();
        self.windows.hear(got.candles.len());
        Ok(Some(got))
    }

    /// Asks for a window, page by page. Answers the stretches of it that have to be asked for by themselves.
    async fn read(
        &mut self,
        window: &Range<Millis>,
        got: &mut Downloaded,
    ) -> Result<Vec<Range<Millis>>, ApiError> {
        let interval = self.asking.settings().interval;
        let mut seen = Seen::nothing(interval, window.clone());
        let (mut pages, mut found, mut longest, mut unreadable) = (0, 0, 0, 0);
        let mut now;
        let skips = loop {
            let page = self.asking.page(window, seen.count() + unreadable).await?;
            now = page.now;
            self.now = self.now.max(Some(now));
            let rows = page.rows.rows.len() + page.rows.unreadable;
            let is_short = rows < self.largest.min(self.asking.settings().limit as usize);
            self.largest = self.largest.max(page.times.len());
            unreadable += page.rows.unreadable;
            got.keep(&page, window, interval);
            let (known, new) = (seen.count(), seen.add(&page.times));
            if new == 0 {
                self.asking.examine(&page, window).await?;
            }
            if seen.count() == known || seen.has_strangers() {
                break rows == 0;
            }
            pages += 1;
            found += new;
            longest = longest.max(page.times.len());
            if is_short || seen.missing(now).is_empty() {
                break true;
            }
        };
        if pages > 1 {
            self.windows.shorten(longest);
        }
        Ok(match pages {
            _ if found == 0 => Vec::new(),
            1 if skips => seen.missing_at_ends(now),
            _ => seen.missing(now),
        })
    }
}

impl Downloaded {
    /// Adds the closed candles of a page that lie inside the window.
    fn keep(&mut self, page: &Page, window: &Range<Millis>, interval: Interval) {
        let ClosedCandles { candles, rejected } = closed_candles(&page.rows, interval, page.now);
        self.candles.extend(candles.into_iter().filter(|candle| window.contains(&candle.time())));
        self.rejected += rejected;
        self.requests += 1;
        self.seen_at = self.seen_at.max(page.now);
    }
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").field("windows", &self.windows).finish_non_exhaustive()
    }
}
