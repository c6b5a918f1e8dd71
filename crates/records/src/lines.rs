//! The lines of a journal, page by page.

use crate::error::RecordsError;
use candlewick_journal::{JournalError, LineKind, Reader, StoredLine, is_snapshot};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;

/// Lines read at once.
const PAGE: u32 = 5_000;

/// Which lines are kept while a journal is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All.
    All,
    /// All but candles, which are most of a journal, and snapshots, which say nothing new.
    WithoutCandles,
}

/// Part of the event of a candle that was fetched after its close.
const BACKFILL: &str = "\"origin\":\"backfill\"";

/// What was read.
#[derive(Default)]
pub(crate) struct Lines {
    /// The lines, in their order.
    pub kept: Vec<StoredLine>,
    /// Candles of each run, without those of its warm-up.
    pub candles: BTreeMap<u64, u64>,
    /// The last line, whatever it is.
    pub last: Option<StoredLine>,
    /// Arrival of the first event of the run that was read last.
    began: Option<Millis>,
}

/// Reads a journal to its present end, verifies each line, and shows it on the way, in one walk.
///
/// # Errors
/// It cannot be read, a line is not as it was written, or what `visit` says.
pub(crate) async fn read_lines(
    reader: &mut Reader,
    which: Which,
    mut visit: impl FnMut(&StoredLine) -> Result<(), RecordsError>,
) -> Result<Lines, RecordsError> {
    let mut read = Lines::default();
    let mut walk = reader.walk(PAGE).await?;
    loop {
        let page = walk.next().await?;
        if page.is_empty() {
            return Ok(read);
        }
        page.iter().try_for_each(&mut visit)?;
        read.take(page, which);
    }
}

/// The same lines as they stand there, for who knows that one of them is not as it was written.
///
/// # Errors
/// It cannot be read.
pub(crate) async fn read_unverified(reader: &mut Reader, which: Which) -> Result<Lines, JournalError> {
    let mut read = Lines::default();
    loop {
        let from = read.last.as_ref().map_or(1, |last| last.seq + 1);
        let page = reader.lines(from, PAGE).await?;
        if page.is_empty() {
            return Ok(read);
        }
        read.take(page, which);
    }
}

impl Lines {
    fn take(&mut self, page: Vec<StoredLine>, which: Which) {
        if let Some(last) = page.last() {
            self.last = Some(last.clone());
        }
        for stored in page {
            match stored.line.kind {
                LineKind::Run => self.began = None,
                LineKind::Event => self.began = self.began.or(Some(stored.line.received)),
                LineKind::Action | LineKind::Note => {}
            }
            if is_candle(&stored) {
                let is_earlier = self.began.is_none_or(|began| stored.line.at <= began);
                let is_warm_up = is_earlier && stored.line.body.contains(BACKFILL);
                *self.candles.entry(stored.line.run).or_default() += u64::from(!is_warm_up);
                if which == Which::WithoutCandles {
                    continue;
                }
            }
            if which == Which::WithoutCandles && is_snapshot(&stored.line.body) {
                continue;
            }
            self.kept.push(stored);
        }
    }
}

/// Shows all lines, each verified, without holding more than a page of them.
///
/// # Errors
/// They cannot be read, one is not as it was written, or what `visit` says.
pub(crate) async fn visit_all(
    reader: &mut Reader,
    mut visit: impl FnMut(&StoredLine) -> Result<(), RecordsError>,
) -> Result<(), RecordsError> {
    let mut walk = reader.walk(PAGE).await?;
    loop {
        let page = walk.next().await?;
        if page.is_empty() {
            return Ok(());
        }
        page.iter().try_for_each(&mut visit)?;
    }
}

/// Whether a line holds a candle.
pub(crate) fn is_candle(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Event && stored.line.body.contains("\"event\":\"candle\"")
}
