//! A resumable walk-forward: its windows, its hold-out and its result folder.

use super::hold_out_range::HoldOutRange;
use super::variants::{TriedCount, WalkLook, count_walk};
use super::{KnownLooks, Layout, OpeningRecord, OpeningRequest, PreparedSearch, Reopening};
use super::{LayoutTerms, ResultFolder, SearchTerms};
use crate::bots::error_of_search;
use crate::error::AppError;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_sdk::{Millis, Registry};
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, Replay, SweepProgress, SweepSettings};
use candlewick_search::variants::{CandleSample, Look, LookEnd, LookKind};
use candlewick_search::walk_forward::{Course, WalkForward, Window, WindowEnd, WindowResult};
use serde_json::{Value, json};
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldOutUse {
    Locked,
    Opened(Reopening),
}

pub struct WalkRun<'a> {
    pub(super) walk: WalkForward<'a>,
    pub(super) terms: &'a SearchTerms,
    pub(super) prepared: &'a PreparedSearch<'a>,
    pub(super) asked: &'a LayoutTerms,
    layout: Layout,
    pub(super) windows: Vec<Window>,
    pub(super) folder: ResultFolder,
    pub(super) identity: Value,
    /// Trials that other machines ran, per window; empty for a local walk.
    pub(super) gathered: Vec<Vec<Record>>,
    hold_out: Option<HoldOutRange>,
    hold_out_use: HoldOutUse,
    resumed: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct WalkProgress {
    pub done: u64,
    pub total: u64,
    /// The current window, 1-based.
    pub window: usize,
    /// Number of windows, including that of the hold-out.
    pub windows: usize,
}

pub enum WalkEnd {
    Done(Box<WalkOutcome>),
    Stopped,
}

pub struct WalkOutcome {
    pub windows: Vec<WindowResult>,
    pub hold_out: Option<HoldOutOutcome>,
    pub resumed: usize,
}

pub enum HoldOutOutcome {
    Locked { range: Range<Millis>, openings: usize },
    Opened { opening: OpeningRecord, result: Box<WindowResult> },
}

pub type WalkWatcher<'a> = dyn FnMut(WalkProgress) -> ControlFlow<()> + Send + 'a;

impl<'a> WalkRun<'a> {
    /// Divides the candles and opens the folder.
    ///
    /// Refuses a forbidden opening of the hold-out here, before anything is searched.
    pub fn prepare(
        terms: &'a SearchTerms,
        asked: &'a LayoutTerms,
        prepared: &'a PreparedSearch<'a>,
        (folder, hold_out_use): (&Path, HoldOutUse),
    ) -> Result<Self, AppError> {
        let PreparedSearch { loaded, entry, settings, space, sweep, candles, .. } = prepared;
        let whole = Replay { settings, entry, space, candles: &candles.series, markets: &candles.markets };
        let course = Course { whole, balance: loaded.initial_balance()? };
        let layout = asked.divide(&course.span(), course.step(), course.purge())?;
        let windows = layout.settings.windows(&layout.walked);
        let identity = identity(terms, prepared, &layout)?;
        let hold_out = HoldOutRange::of(terms, prepared, &layout);
        if let Some((hold_out, request)) = opening(hold_out_use, hold_out.as_ref(), &identity)? {
            hold_out.lock.check(&request)?;
        }
        Ok(Self {
            terms,
            asked,
            gathered: Vec::new(),
            walk: WalkForward { course, sweep, threads: terms.threads() },
            prepared,
            windows: windows.map_err(|error| error_of_search(error, loaded))?,
            hold_out,
            layout,
            folder: ResultFolder::open(folder)?,
            identity,
            hold_out_use,
            resumed: 0,
        })
    }

    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    pub const fn folder(&self) -> &ResultFolder {
        &self.folder
    }

    pub fn count(&self, outcome: &WalkOutcome, registry: &Registry) -> Option<io::Result<TriedCount>> {
        let mut identity = walk_alone(&self.identity);
        let run = hash_of(&identity);
        for other in ["program", "data_hash"] {
            identity.as_object_mut().map(|identity| identity.remove(other));
        }
        let opened = match &outcome.hold_out {
            Some(HoldOutOutcome::Opened { result, .. }) => Some(&**result),
            Some(HoldOutOutcome::Locked { .. }) | None => None,
        };
        let (identity, walked, windows) = (&identity, &self.layout.walked, &outcome.windows[..]);
        let look = WalkLook { identity, run, walked, windows, opened };
        count_walk((self.terms, self.prepared), &look, registry)
    }

    pub fn run(&mut self, watcher: &mut WalkWatcher<'_>) -> Result<WalkEnd, AppError> {
        self.begin()?;
        let windows = std::mem::take(&mut self.windows);
        let opens = usize::from(matches!(self.hold_out_use, HoldOutUse::Opened(_)));
        let count = windows.len() + opens;
        let mut results = Vec::with_capacity(windows.len());
        for (place, window) in windows.iter().enumerate() {
            let Some(result) = self.step((place, count), window, watcher)? else {
                return Ok(WalkEnd::Stopped);
            };
            results.push(result);
        }
        let opened = match opening(self.hold_out_use, self.hold_out.as_ref(), &self.identity)? {
            Some((hold_out, request)) => Some((hold_out.lock.open(&request)?, hold_out.range.clone())),
            None => None,
        };
        let hold_out = match (opened, &self.hold_out) {
            (Some((opening, range)), _) => {
                let window = self.layout.settings.with_test(&self.layout.walked, range);
                let Some(result) = self.step((windows.len(), count), &window, watcher)? else {
                    return Ok(WalkEnd::Stopped);
                };
                Some(HoldOutOutcome::Opened { opening, result: Box::new(result) })
            }
            (None, Some(HoldOutRange { lock, hypothesis, range, candles, .. })) => {
                Some(HoldOutOutcome::Locked {
                    range: range.clone(),
                    openings: lock.openings(hypothesis, candles, range)?,
                })
            }
            (None, None) => None,
        };
        Ok(WalkEnd::Done(Box::new(WalkOutcome { windows: results, hold_out, resumed: self.resumed })))
    }

    pub(super) fn begin(&self) -> Result<(), AppError> {
        let Some(ledger) = self.prepared.ledger() else { return Ok(()) };
        let SweepSettings { search, .. } = &self.prepared.sweep;
        let sets = search.most_sets(&self.prepared.space);
        let sets = sets.map_err(|error| error_of_search(error, &self.prepared.loaded))?;
        // The windows of a search that learns try sets of their own.
        let windows = if search.search.learns() { self.windows.len() as u64 } else { 1 };
        let run = hash_of(&walk_alone(&self.identity));
        let look = Look {
            kind: LookKind::WalkForward,
            run: Some(run),
            candles: CandleSample::of(&self.prepared.candles.series),
            is_cut: self.terms.candles.to.is_some(),
            span: self.layout.walked.clone(),
            end: LookEnd::Stopped,
        };
        let _ = ledger.begin(&self.prepared.entry.name, sets * windows + 1, &look);
        Ok(())
    }

    pub fn earlier_looks(&self) -> Result<KnownLooks, AppError> {
        let run = hash_of(&walk_alone(&self.identity));
        self.hold_out
            .as_ref()
            .map_or_else(|| Ok(KnownLooks::default()), |hold_out| hold_out.earlier_looks(&run))
    }

    fn step(
        &mut self,
        (place, windows): (usize, usize),
        window: &Window,
        watcher: &mut WalkWatcher<'_>,
    ) -> Result<Option<WindowResult>, AppError> {
        let to_error = |error: SearchError| error_of_search(error, &self.prepared.loaded);
        let name = format!("trials-{:03}.jsonl", place + 1);
        self.identity = of_window(&self.identity, window);
        self.folder.bring(&name)?;
        let (mut journal, mut known) = self.folder.journal(&name, &self.identity).map_err(to_error)?;
        known.extend(self.gathered.get_mut(place).map(std::mem::take).unwrap_or_default());
        self.resumed += known.len();
        let progress = |done: u64, total: u64| WalkProgress {
            done: place as u64 * total + done,
            total: windows as u64 * total,
            window: place + 1,
            windows,
        };
        let mut trials = 0;
        let mut watch = |now: &SweepProgress<'_>| {
            trials = now.total;
            watcher(progress(now.done, now.total))
        };
        let end = self.walk.step(window, &mut journal, known, &mut watch).map_err(to_error)?;
        drop(journal);
        // Of an opening or a window that somebody stopped, too: the same command goes on from there.
        if let Some(notice) = self.folder.keep(&name)? {
            tracing::warn!("{notice}");
        }
        let WindowEnd::Done(result) = end else { return Ok(None) };
        // Whoever stops it after its last trial stops it, too.
        Ok(watcher(progress(trials, trials)).is_continue().then_some(*result))
    }
}

fn opening<'a>(
    hold_out_use: HoldOutUse,
    hold_out: Option<&'a HoldOutRange>,
    identity: &Value,
) -> Result<Option<(&'a HoldOutRange, OpeningRequest<'a>)>, AppError> {
    let HoldOutUse::Opened(reopening) = hold_out_use else { return Ok(None) };
    let Some(hold_out) = hold_out else {
        let problem = "--open-hold-out: nothing is held out; give --hold-out a percentage";
        return Err(AppError::invalid(problem));
    };
    let run = hash_of(&walk_alone(identity));
    let request = OpeningRequest {
        hypothesis: &hold_out.hypothesis,
        looks: hold_out.earlier_looks(&run)?,
        candles: &hold_out.candles,
        run,
        range: &hold_out.range,
        now: SystemClock::new().now(),
        reopening,
    };
    Ok(Some((hold_out, request)))
}

pub(super) fn of_window(identity: &Value, window: &Window) -> Value {
    let mut identity = identity.clone();
    identity["window"] = json!([window.training.start, window.training.end]);
    identity
}

fn walk_alone(identity: &Value) -> Value {
    let mut identity = identity.clone();
    identity.as_object_mut().map(|identity| identity.remove("window"));
    identity
}

fn hash_of(identity: &Value) -> String {
    blake3::hash(identity.to_string().as_bytes()).to_hex().to_string()
}

fn identity(terms: &SearchTerms, prepared: &PreparedSearch<'_>, layout: &Layout) -> Result<Value, AppError> {
    let mut identity = terms.identity(prepared)?.to_json();
    let settings = layout.settings;
    identity["walk"] = json!({
        "scheme": settings.scheme.as_str(),
        "train": settings.train,
        "test": settings.test,
        "gap": settings.gap,
        "walked": [layout.walked.start, layout.walked.end],
        "hold_out": layout.hold_out.as_ref().map(|range| [range.start, range.end]),
    });
    Ok(identity)
}
