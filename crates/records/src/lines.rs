//! Paged reading of journal lines.

use crate::error::RecordsError;
use candlewick_journal::{JournalError, LineKind, Reader, StoredLine, is_snapshot};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;

const PAGE: u32 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Candles are most of a journal, and snapshots repeat what other lines say.
    WithoutCandles,
}

/// Part of the JSON of a candle that was fetched after its close.
const BACKFILL: &str = "\"origin\":\"backfill\"";

#[derive(Default)]
pub(crate) struct Lines {
    pub kept: Vec<StoredLine>,
    /// Number of candles per run, without warm-up.
    pub candles: BTreeMap<u64, u64>,
    pub last: Option<StoredLine>,
    began: Option<Millis>,
}

/// Reads a journal to its present end in one walk, verifies each line and passes it to `visit`.
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

/// Reads the same lines without verification, for a journal that is known to be damaged.
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

/// Verifies each line and passes it to `visit`, with at most one page in memory.
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

pub(crate) fn is_candle(stored: &StoredLine) -> bool {
    stored.line.kind == LineKind::Event && stored.line.body.contains("\"event\":\"candle\"")
}
