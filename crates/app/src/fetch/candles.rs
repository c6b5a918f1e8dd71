//! Download of a candle series: the missing parts of a range, window by window.

use super::outcome::Fetched;
use super::plan::{Extent, plan, slots};
use super::trouble::give_up;
use super::{Fetching, Target};
use crate::error::AppError;
use candlewick_broker::{Download, DownloadSettings, Downloaded};
use candlewick_history::{Catalog, Manifest, MarketHours, gaps};
use candlewick_sdk::{Candle, CandleSeries, Millis, Series};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Default number of candles per write, the maximum lost on interruption.
pub const BATCH: usize = 5_000;
const USUAL_SPAN: Millis = Millis::from_seconds(30 * 86_400);

#[derive(Clone, Debug)]
pub struct CandleJob {
    pub target: Target,
    /// Open time of the first candle.
    ///
    /// By default the end of the stored series, or 30 days ago.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    pub again: bool,
    pub limit: u64,
    pub spacing: Duration,
    pub batch: usize,
}

/// Fetches until complete, stopped or failed.
///
/// Everything received is stored in any case.
pub async fn fetch_candles(job: CandleJob, fetching: Fetching) -> (Fetched, Result<(), AppError>) {
    let mut fetched = Fetched::new(&job.target);
    let outcome = fetch(&job, &fetching, &mut fetched).await;
    let looked = fetched.look_back(&fetching).await;
    (fetched, outcome.and(looked))
}

async fn fetch(job: &CandleJob, fetching: &Fetching, fetched: &mut Fetched) -> Result<(), AppError> {
    let series = job.target.series;
    fetching.check_source(series).await?;
    let stored = fetching.on_disk(move |catalog| stored(catalog, series)).await?;
    let stretches = stretches(job, stored.as_ref(), fetching)?;
    let settings = DownloadSettings {
        symbol: series.symbol,
        interval: series.interval,
        limit: job.limit,
        spacing: job.spacing,
    };
    let mut download = Download::new(Arc::clone(&fetching.market), settings, stretches.clone());
    let (mut batch, mut asked) = (Batch::default(), Vec::new());
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
                    // Now the venue's present is known, beyond which nothing is asked for.
                    let until = |one: &Range<Millis>| one.start..one.end.min(got.seen_at);
                    let stretches: Vec<_> = stretches.iter().map(until).collect();
                    fetching.expect(slots(&stretches, series.interval));
                }
                fetching.advance(slots(std::slice::from_ref(&got.window), series.interval));
                fetched.record_window(&got);
                note_asked(&mut asked, &got.window);
                batch.add(got);
                if batch.candles.len() >= job.batch {
                    batch.keep(fetching, fetched).await?;
                }
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    batch.keep(fetching, fetched).await?;
    remember_rests(&job.target, asked, fetching).await?;
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => give_up(error, fetched, fetching).await,
    }
}

struct Stored {
    manifest: Manifest,
    candles: CandleSeries,
    repaired: HashSet<Millis>,
}

fn stored(catalog: &Catalog, series: Series) -> Result<Option<Stored>, AppError> {
    let manifest = catalog.manifest(series)?;
    let has_candles = |manifest: &Manifest| manifest.current().is_some_and(|version| version.candles() > 0);
    Ok(match manifest.filter(has_candles) {
        Some(manifest) => {
            let candles = catalog.read(series)?.into_candles();
            let repaired = catalog.repaired(series)?.iter().map(|value| value.candle.time()).collect();
            Some(Stored { manifest, candles, repaired })
        }
        None => None,
    })
}

fn stretches(
    job: &CandleJob,
    stored: Option<&Stored>,
    fetching: &Fetching,
) -> Result<Vec<Range<Millis>>, AppError> {
    let to = job.to.unwrap_or_else(|| fetching.clock.now());
    let usual = || stored.map_or(to - USUAL_SPAN, |stored| stored.candles.start());
    let range = job.from.unwrap_or_else(usual)..to;
    if range.is_empty() && (job.from.is_some() || job.to.is_some()) {
        let problem = format!("{}: --from does not lie before --to", job.target.series);
        return Err(AppError::invalid(problem).help("without --to, it is the present"));
    }
    let extent = match (job.again, job.from) {
        (true, _) => Extent::All,
        (false, Some(_)) => Extent::Missing,
        (false, None) => Extent::After,
    };
    let is_known_empty = |one: &Range<Millis>| {
        stored.is_some_and(|stored| {
            stored.manifest.is_known_empty(&fetching.source, one) || stored.left_out(one)
        })
    };
    Ok(plan(stored.map(|stored| &stored.candles), &range, extent, is_known_empty))
}

impl Stored {
    fn left_out(&self, stretch: &Range<Millis>) -> bool {
        let length = self.candles.interval().length();
        let times = std::iter::successors(Some(stretch.start), |time| Some(*time + length));
        !self.repaired.is_empty()
            && times.take_while(|time| *time < stretch.end).all(|time| self.repaired.contains(&time))
    }
}

fn note_asked(asked: &mut Vec<Range<Millis>>, window: &Range<Millis>) {
    match asked.last_mut().filter(|last| last.end == window.start) {
        Some(last) => last.end = window.end,
        None => asked.push(window.clone()),
    }
}

/// Records closed hours that brought nothing, so that later runs skip them.
///
/// Gaps in open hours are requested again, as a venue may still fill them.
async fn remember_rests(
    target: &Target,
    asked: Vec<Range<Millis>>,
    fetching: &Fetching,
) -> Result<(), AppError> {
    let (series, source) = (target.series, fetching.source.clone());
    let session = target.asset_type.parse().map_or(MarketHours::Always, MarketHours::of_kind);
    let note = move |catalog: &Catalog| {
        let Some(Stored { candles, .. }) = stored(catalog, series)? else { return Ok(()) };
        let was_asked =
            |gap: &Range<Millis>| asked.iter().any(|one| one.start <= gap.start && gap.end <= one.end);
        let empty = gaps(&candles).into_iter().map(|gap| gap.start..gap.end).filter(was_asked);
        let rests: Vec<_> = empty.filter(|gap| session.expected(gap, series.interval) == 0).collect();
        if rests.is_empty() { Ok(()) } else { Ok(catalog.note_empty_hours(series, &source, &rests)?) }
    };
    fetching.on_disk(note).await
}

#[derive(Default)]
struct Batch {
    candles: Vec<Candle>,
    seen_at: Millis,
}

impl Batch {
    fn add(&mut self, got: Downloaded) {
        self.candles.extend(got.candles);
        self.seen_at = self.seen_at.max(got.seen_at);
    }

    async fn keep(&mut self, fetching: &Fetching, fetched: &mut Fetched) -> Result<(), AppError> {
        if self.candles.is_empty() {
            return Ok(());
        }
        let candles = std::mem::take(&mut self.candles);
        let appended = fetching.append(fetched.target.series, candles, self.seen_at).await?;
        fetched.count(appended);
        Ok(())
    }
}
