//! Download of the missing parts of a candle series, window by window.

use super::outcome::{FetchStats, handle_fetch_error};
use super::{Fetcher, Target};
use crate::error::{AppError, Result};
use candlewick_broker::{Download, DownloadSettings};
use candlewick_history::{Catalog, Manifest, MarketHours, Origin, gaps};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Default number of candles per batch that is written to the catalog. A crash loses at most one batch.
pub const DEFAULT_BATCH_CANDLES: usize = 5_000;
const DEFAULT_SPAN: Millis = Millis::from_seconds(30 * 86_400);

#[derive(Clone, Debug)]
pub struct CandleJob {
    pub target: Target,
    /// Start of the range. Default: the end of the stored series, or 30 days ago if no candles are stored.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    pub refetch: bool,
    pub limit: u64,
    pub spacing: Duration,
    pub batch: usize,
}

pub async fn fetch_candles(job: CandleJob, fetching: Fetcher) -> (FetchStats, Result<()>) {
    let mut fetched = FetchStats::new(&job.target);
    let outcome = fetch(&job, &fetching, &mut fetched).await;
    let looked = fetched.load_stored_state(&fetching).await;
    (fetched, outcome.and(looked))
}

async fn fetch(job: &CandleJob, fetching: &Fetcher, fetched: &mut FetchStats) -> Result<()> {
    let series = job.target.series;
    fetching.check_source(series).await?;
    let stored = fetching.with_catalog(move |catalog| read_series(catalog, series)).await?;
    let stretches = plan_fetch(job, stored.as_ref(), fetching)?;
    let settings = DownloadSettings {
        symbol: series.symbol,
        interval: series.interval,
        candles_per_request: job.limit,
        spacing: job.spacing,
    };
    let mut download = Download::new(Arc::clone(&fetching.market), settings, stretches.clone());
    let (mut batch, mut asked) = (Batch::default(), Vec::<Range<Millis>>::new());
    let outcome = loop {
        fetching.clock.catch_up();
        let next = tokio::select! {
            biased;
            () = fetching.stop.cancelled() => break Ok(()),
            next = download.next() => next,
        };
        match next {
            Ok(Some(got)) => {
                if fetched.requests == 0 {
                    let until = |one: &Range<Millis>| one.start..one.end.min(got.answered_at);
                    let stretches: Vec<_> = stretches.iter().map(until).collect();
                    fetching.add_to_total(count_slots(&stretches, series.interval));
                }
                fetching.advance(count_slots(std::slice::from_ref(&got.window), series.interval));
                fetched.record(got.requests, got.invalid_rows, got.answered_at);
                match asked.last_mut().filter(|last| last.end == got.window.start) {
                    Some(last) => last.end = got.window.end,
                    None => asked.push(got.window.clone()),
                }
                batch.add(got.candles, got.answered_at);
                if batch.candles.len() >= job.batch {
                    batch.store(fetching, fetched).await?;
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    batch.store(fetching, fetched).await?;
    record_closed_hours(&job.target, asked, fetching).await?;
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => handle_fetch_error(error, fetched, fetching).await,
    }
}

struct StoredSeries {
    manifest: Manifest,
    candles: CandleSeries,
    repaired: HashSet<Millis>,
}

fn read_series(catalog: &Catalog, series: Series) -> Result<Option<StoredSeries>> {
    let has_candles =
        |manifest: &Manifest| manifest.current_version().is_some_and(|version| version.candle_count() > 0);
    let Some(manifest) = catalog.manifest(series)?.filter(has_candles) else { return Ok(None) };
    let candles = catalog.read(series)?.into_candles();
    let repaired = catalog.repaired_candles(series)?.iter().map(|value| value.candle.time()).collect();
    Ok(Some(StoredSeries { manifest, candles, repaired }))
}

fn plan_fetch(
    job: &CandleJob,
    stored: Option<&StoredSeries>,
    fetching: &Fetcher,
) -> Result<Vec<Range<Millis>>> {
    let to = job.to.unwrap_or_else(|| fetching.clock.now());
    let usual = || stored.map_or(to - DEFAULT_SPAN, |stored| stored.candles.start());
    let range = job.from.unwrap_or_else(usual)..to;
    if range.is_empty() && (job.from.is_some() || job.to.is_some()) {
        let problem = format!("{}: --from must be before --to", job.target.series);
        return Err(AppError::invalid(problem).with_help("--to defaults to now"));
    }
    let extent = match (job.refetch, job.from) {
        (true, _) => DownloadExtent::All,
        (false, Some(_)) => DownloadExtent::Missing,
        (false, None) => DownloadExtent::After,
    };
    let is_known_empty = |one: &Range<Millis>| {
        stored.is_some_and(|stored| {
            stored.manifest.is_known_empty(&fetching.source, one) || stored.is_removed_by_repair(one)
        })
    };
    Ok(plan_downloads(stored.map(|stored| &stored.candles), &range, extent, is_known_empty))
}

impl StoredSeries {
    fn is_removed_by_repair(&self, stretch: &Range<Millis>) -> bool {
        let length = self.candles.interval().length();
        let times = std::iter::successors(Some(stretch.start), |time| Some(*time + length));
        !self.repaired.is_empty()
            && times.take_while(|time| *time < stretch.end).all(|time| self.repaired.contains(&time))
    }
}

/// Records hours in which the market is closed and has no candles. Later fetches skip these hours.
async fn record_closed_hours(target: &Target, asked: Vec<Range<Millis>>, fetching: &Fetcher) -> Result<()> {
    let (series, source) = (target.series, fetching.source.clone());
    let session = target.asset_type.parse().map_or(MarketHours::Always, MarketHours::from_asset_type);
    let note = move |catalog: &Catalog| {
        let Some(StoredSeries { candles, .. }) = read_series(catalog, series)? else { return Ok(()) };
        let was_asked = |gap: &Range<Millis>| asked.iter().any(|r| r.start <= gap.start && gap.end <= r.end);
        let empty = gaps(&candles).into_iter().map(|gap| gap.start..gap.end).filter(was_asked);
        let rests: Vec<_> =
            empty.filter(|gap| session.count_expected_candles(gap, series.interval) == 0).collect();
        if rests.is_empty() { Ok(()) } else { Ok(catalog.record_empty_hours(series, &source, &rests)?) }
    };
    fetching.with_catalog(note).await
}

#[derive(Default)]
pub(super) struct Batch {
    pub(super) candles: Vec<Candle>,
    seen_at: Millis,
}

impl Batch {
    pub(super) fn add(&mut self, candles: Vec<Candle>, seen_at: Millis) {
        self.candles.extend(candles);
        self.seen_at = self.seen_at.max(seen_at);
    }

    pub(super) async fn store(&mut self, fetching: &Fetcher, fetched: &mut FetchStats) -> Result<()> {
        if self.candles.is_empty() {
            return Ok(());
        }
        let (series, candles) = (fetched.target.series, std::mem::take(&mut self.candles));
        let source = fetching.source.clone();
        let origin = Origin { source, licence: None, fetched_at: self.seen_at, files: Vec::new() };
        let append = move |catalog: &Catalog| Ok(catalog.append(series, &candles, &origin)?);
        fetched.add_counts(fetching.with_catalog(append).await?);
        Ok(())
    }
}

/// Number of newest stored candles to request again, since a venue may revise recent candles.
const RECHECKED_CANDLES: i64 = 100;
/// Gap, in candles, below which two missing ranges are requested as one.
const MAX_MERGED_GAP_CANDLES: i64 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DownloadExtent {
    After,
    Missing,
    All,
}

pub(super) fn plan_downloads(
    stored: Option<&CandleSeries>,
    range: &Range<Millis>,
    extent: DownloadExtent,
    is_known_empty: impl Fn(&Range<Millis>) -> bool,
) -> Vec<Range<Millis>> {
    let Some(stored) = stored.filter(|_| extent != DownloadExtent::All) else { return vec![range.clone()] };
    let tail = (stored.end() - stored.interval().length() * RECHECKED_CANDLES).max(stored.start());
    let mut stretches = Vec::new();
    if extent == DownloadExtent::Missing {
        stretches.push(range.start..stored.start());
        let missing = gaps(stored).into_iter().map(|gap| gap.start..gap.end);
        stretches.extend(missing.filter(|one| !is_known_empty(one)));
    }
    stretches.push(tail..range.end);
    let clipped = stretches.into_iter().map(|one| one.start.max(range.start)..one.end.min(range.end));
    merge_ranges(clipped.filter(|one| one.start < one.end), stored.interval())
}

fn merge_ranges(stretches: impl Iterator<Item = Range<Millis>>, interval: Interval) -> Vec<Range<Millis>> {
    let near = interval.length() * MAX_MERGED_GAP_CANDLES;
    let mut merged: Vec<Range<Millis>> = Vec::new();
    for one in stretches {
        match merged.last_mut().filter(|last| one.start - last.end < near) {
            Some(last) => last.end = last.end.max(one.end),
            None => merged.push(one),
        }
    }
    merged
}

pub(super) fn count_slots(stretches: &[Range<Millis>], interval: Interval) -> u64 {
    let slots = |one: &Range<Millis>| (one.end - one.start).get() / interval.length().get();
    stretches.iter().map(|one| u64::try_from(slots(one)).unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::flat_candles;

    type Minutes = (i64, i64);

    fn stored(minutes: &[Minutes]) -> CandleSeries {
        flat_candles("BTCUSDT", "1m", minutes.iter().flat_map(|(start, end)| *start..*end))
    }

    #[test]
    fn plans_missing_stretches_and_the_last_stored_candles() {
        let (middle, halves) = ([(1_000, 4_000)], [(1_000, 2_000), (3_000, 6_000)]);
        let near = [(0, 1_000), (1_001, 1_400), (1_402, 5_000)];
        for (there, range, extent, expected) in [
            (&middle[..], (0, 5_000), DownloadExtent::All, &[(0, 5_000)][..]),
            (&middle, (0, 5_000), DownloadExtent::Missing, &[(0, 1_000), (3_900, 5_000)]),
            (&middle, (0, 5_000), DownloadExtent::After, &[(3_900, 5_000)]),
            (&middle, (2_000, 3_000), DownloadExtent::Missing, &[]),
            (&middle, (500, 800), DownloadExtent::Missing, &[(500, 800)]),
            (&middle, (4_500, 5_000), DownloadExtent::Missing, &[(4_500, 5_000)]),
            (&halves, (1_000, 7_000), DownloadExtent::Missing, &[(2_000, 3_000), (5_900, 7_000)]),
            (&[(10, 20)], (0, 30), DownloadExtent::Missing, &[(0, 30)]),
            (&[(10, 20)], (0, 30), DownloadExtent::After, &[(10, 30)]),
            (&[], (0, 5_000), DownloadExtent::Missing, &[(0, 5_000)]),
            (&[], (0, 5_000), DownloadExtent::After, &[(0, 5_000)]),
            // Missing ranges that are close together are merged.
            (&near, (0, 6_000), DownloadExtent::Missing, &[(1_000, 1_402), (4_900, 6_000)]),
        ] {
            let to_range = |(start, end): Minutes| Millis::MINUTE * start..Millis::MINUTE * end;
            let stored = (!there.is_empty()).then(|| stored(there));
            let planned = plan_downloads(stored.as_ref(), &to_range(range), extent, |_| false);
            assert_eq!(planned, expected.iter().copied().map(to_range).collect::<Vec<_>>(), "{there:?}");
            let count = expected.iter().map(|(start, end)| end - start).sum::<i64>();
            assert_eq!(count_slots(&planned, Interval::MINUTE), count as u64);
        }
    }
}
