//! Resumable walk-forward runs: windows, result folder and shards.

use super::plan::{PlanDifferences, PlannedWalk, ProgramMismatchPolicy, SearchPlan};
use super::{PreparedSearch, ResultFolder, SearchOptions};
use crate::bots::convert_search_error;
use crate::error::{AppError, Result};
use candlewick_sdk::Millis;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, Replayer, Shard, SweepEnd, SweepProgress};
use candlewick_search::walk_forward::{
    WalkForward, WalkForwardData, Window, WindowOutcome, WindowResult, WindowScheme, WindowSettings,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroU64;
use std::ops::{ControlFlow, Range};
use std::path::Path;

pub struct WalkRun<'a> {
    walk: WalkForward<'a>,
    options: &'a SearchOptions,
    prepared: &'a PreparedSearch<'a>,
    layout_spec: &'a LayoutSpec,
    pub layout: Layout,
    windows: Vec<Window>,
    pub folder: ResultFolder,
    identity: Value,
    /// Trials from other machines for each window. Empty if all windows run on this machine.
    gathered_records: Vec<Vec<Record>>,
    resumed: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct WalkProgress {
    pub done: u64,
    pub total: u64,
    /// The current window, 1-based.
    pub window: usize,
    pub windows: usize,
}

pub enum WalkEnd {
    Done(WalkOutcome),
    Stopped,
}

pub struct WalkOutcome {
    pub windows: Vec<WindowResult>,
    pub resumed: usize,
}

pub type WalkWatcher<'a> = dyn FnMut(WalkProgress) -> ControlFlow<()> + Send + 'a;

impl<'a> WalkRun<'a> {
    /// Divides the candles into windows and opens the result folder.
    pub fn prepare(
        terms: &'a SearchOptions,
        layout_spec: &'a LayoutSpec,
        prepared: &'a PreparedSearch<'a>,
        folder: &Path,
    ) -> Result<Self> {
        let PreparedSearch { loaded, entry, settings, space, sweep, candles, .. } = prepared;
        let whole = Replayer { settings, entry, space, candles: &candles.series, markets: &candles.markets };
        let course = WalkForwardData { replay: whole, balance: loaded.initial_balance()? };
        let layout = layout_spec.build_layout(&course.span(), course.alignment(), course.purge_gap())?;
        let windows = layout.settings.windows(&layout.walk_range);
        let identity = build_identity(terms, prepared, &layout)?;
        Ok(Self {
            options: terms,
            layout_spec,
            gathered_records: Vec::new(),
            walk: WalkForward { data: course, sweep, threads: terms.threads() },
            prepared,
            windows: windows.map_err(|error| convert_search_error(error, loaded))?,
            layout,
            folder: ResultFolder::open(folder)?,
            identity,
            resumed: 0,
        })
    }

    pub fn run(&mut self, watcher: &mut WalkWatcher<'_>) -> Result<WalkEnd> {
        let windows = std::mem::take(&mut self.windows);
        let mut results = Vec::with_capacity(windows.len());
        for (place, window) in windows.iter().enumerate() {
            let Some(result) = self.run_window((place, windows.len()), window, watcher)? else {
                return Ok(WalkEnd::Stopped);
            };
            results.push(result);
        }
        Ok(WalkEnd::Done(WalkOutcome { windows: results, resumed: self.resumed }))
    }

    fn run_window(
        &mut self,
        (place, windows): (usize, usize),
        window: &Window,
        watcher: &mut WalkWatcher<'_>,
    ) -> Result<Option<WindowResult>> {
        let to_error = |error: SearchError| convert_search_error(error, &self.prepared.loaded);
        let name = format!("trials-{:03}.jsonl", place + 1);
        self.folder.download(&name)?;
        let identity = window_identity(&self.identity, window);
        let (mut journal, mut known) = self.folder.journal(&name, &identity).map_err(to_error)?;
        known.extend(self.gathered_records.get_mut(place).map(std::mem::take).unwrap_or_default());
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
        let end = self.walk.run_window(window, &mut journal, known, &mut watch).map_err(to_error)?;
        drop(journal);
        // Uploads the file even after an interruption, so that the same command can resume the run.
        if let Some(notice) = self.folder.upload(&name)? {
            tracing::warn!("{notice}");
        }
        let WindowOutcome::Done(result) = end else { return Ok(None) };
        // A stop request that arrives after the last trial is respected too.
        Ok(watcher(progress(trials, trials)).is_continue().then_some(*result))
    }
}

fn window_identity(identity: &Value, window: &Window) -> Value {
    let mut identity = identity.clone();
    identity["window"] = json!([window.training.start, window.training.end]);
    identity
}

fn build_identity(terms: &SearchOptions, prepared: &PreparedSearch<'_>, layout: &Layout) -> Result<Value> {
    let mut identity = terms.identity(prepared)?;
    let settings = layout.settings;
    identity["walk"] = json!({
        "scheme": settings.scheme.as_str(),
        "train": settings.train,
        "test": settings.test,
        "gap": settings.gap,
        "walked": [layout.walk_range.start, layout.walk_range.end],
    });
    Ok(identity)
}

const DEFAULT_WINDOWS: i64 = 5;
const DEFAULT_TESTS_PER_TRAINING: i64 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutSpec {
    pub anchored: bool,
    /// Length of a training period, or of the first one if `anchored`. Default: three times `test`.
    pub train: Option<Millis>,
    /// Length of a test. Default: a third of `train`, or an eighth of the candles if both are `None`.
    pub test: Option<Millis>,
    /// Gap between training and test, in addition to the longest trade duration.
    pub embargo: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub settings: WindowSettings,
    pub purge: Millis,
    pub walk_range: Range<Millis>,
}

impl LayoutSpec {
    /// Divides a span of candles into windows. `step` is the longest interval, `purge` the longest trade duration.
    pub fn build_layout(&self, span: &Range<Millis>, step: Millis, purge: Millis) -> Result<Layout> {
        for (flag, length) in
            [("--train", self.train), ("--test", self.test), ("--embargo", Some(self.embargo))]
        {
            if let Some(length) = length.filter(|length| !length.is_aligned_to(step)) {
                let problem = format!("{flag}: {length} ms is not a whole number of candles of {step} ms");
                return Err(AppError::invalid(problem));
            }
        }
        let gap = purge + self.embargo;
        let room = (span.end - span.start - gap).get();
        let part = |of: i64, parts: i64| Millis::new((of / parts).max(0)).floor_to(step);
        let (train, test) = match (self.train, self.test) {
            (Some(train), Some(test)) => (train, test),
            (Some(train), None) => (train, part(train.get(), DEFAULT_TESTS_PER_TRAINING).max(step)),
            (None, Some(test)) => (test * DEFAULT_TESTS_PER_TRAINING, test),
            (None, None) => {
                let test = part(room, DEFAULT_TESTS_PER_TRAINING + DEFAULT_WINDOWS).max(step);
                (test * DEFAULT_TESTS_PER_TRAINING, test)
            }
        };
        let scheme = if self.anchored { WindowScheme::Anchored } else { WindowScheme::Rolling };
        let settings = WindowSettings { scheme, train, test, gap };
        Ok(Layout { settings, purge, walk_range: span.clone() })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkShard {
    Done { trials: usize, resumed: usize, notice: Option<String> },
    Stopped,
}

impl WalkRun<'_> {
    /// Plans equally many shards for every window: one if the search is adaptive, else at least `shards` in total.
    pub fn plan(&self, shards: NonZeroU64) -> Result<SearchPlan> {
        let search = &self.prepared.sweep.search;
        let sets = search.max_sets(&self.prepared.space).map_err(|error| self.to_app_error(error))?;
        let windows = self.windows.len() as u64;
        let parts = if search.search.is_adaptive() { 1 } else { shards.get().div_ceil(windows.max(1)) };
        let walk = PlannedWalk { layout: self.layout_spec.clone(), windows };
        let cut = (sets, windows * parts, Some(walk));
        SearchPlan::new(cut, (self.options, self.prepared), self.identity.clone())
    }

    pub fn check(&self, plan: &SearchPlan, others: ProgramMismatchPolicy) -> Result<PlanDifferences> {
        plan.check((self.prepared, &self.identity), others)
    }

    pub fn run_shard(
        &self,
        plan: &SearchPlan,
        number: u64,
        watcher: &mut WalkWatcher<'_>,
    ) -> Result<WalkShard> {
        let (place, shard) = self.locate_shard(plan, number)?;
        let window = &self.windows[place];
        let identity = window_identity(&self.identity, window);
        plan.download_shard(&self.folder, number)?;
        let opened = plan.journal(&self.folder, number, &identity);
        let (mut journal, known) = opened.map_err(|error| self.to_app_error(error))?;
        let resumed = known.len();
        let windows = self.windows.len();
        let mut watch = |now: &SweepProgress<'_>| {
            watcher(WalkProgress { done: now.done, total: now.total, window: place + 1, windows })
        };
        let end = self.walk.run_training_shard((window, shard), (&mut journal, known), &mut watch);
        let rows = match end.map_err(|error| self.to_app_error(error))? {
            SweepEnd::Done(rows) => rows,
            SweepEnd::Stopped(_) => return Ok(WalkShard::Stopped),
        };
        let notice = plan.upload_shard(&self.folder, number)?;
        Ok(WalkShard::Done { trials: rows.len(), resumed, notice })
    }

    /// Loads the trials of all shards. [`run`](Self::run) then runs the remaining trials.
    pub fn gather(&mut self, plan: &SearchPlan, others: ProgramMismatchPolicy) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        let mut gathered = vec![Vec::new(); self.windows.len()];
        for number in 1..=plan.shards {
            let (place, shard) = self.locate_shard(plan, number)?;
            let window = &self.windows[place];
            let planned = window_identity(&plan.sweep, window);
            let trials = if self.walk.has_candles(window) { self.expected_trials(plan, shard) } else { 0..0 };
            let to_error = |error: SearchError| self.to_app_error(error);
            let found = plan.gather_shard((&self.folder, &planned), (number, trials), others, &to_error)?;
            gathered[place].extend(found.0);
            notices.extend(found.1);
        }
        self.gathered_records = gathered;
        Ok(notices)
    }

    /// Returns the trials that a shard must contain. An adaptive search may run out of new sets after the first.
    fn expected_trials(&self, plan: &SearchPlan, shard: Shard) -> Range<u64> {
        if self.prepared.sweep.search.search.is_adaptive() { 0..1 } else { shard.trials(plan.sets) }
    }

    /// Returns the 0-based window of a shard, and the shard's part of that window.
    fn locate_shard(&self, plan: &SearchPlan, number: u64) -> Result<(usize, Shard)> {
        let windows = self.windows.len() as u64;
        if windows == 0 || !plan.shards.is_multiple_of(windows) {
            let problem = format!("{} shards cannot be split evenly into {windows} windows", plan.shards);
            return Err(
                AppError::invalid(problem).with_help("recreate the plan: `candlewick walk-forward plan`")
            );
        }
        // The shard number must be valid for the plan as a whole, not only for a window.
        Shard::new(number, plan.shards).map_err(|error| self.to_app_error(error))?;
        let parts = plan.shards / windows;
        let shard = Shard::new((number - 1) % parts + 1, parts).map_err(|error| self.to_app_error(error))?;
        let window = usize::try_from((number - 1) / parts).expect("the window index is in range");
        Ok((window, shard))
    }

    fn to_app_error(&self, error: SearchError) -> AppError {
        convert_search_error(error, &self.prepared.loaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(train: Option<i64>, test: Option<i64>) -> LayoutSpec {
        LayoutSpec {
            anchored: false,
            train: train.map(|hours| Millis::HOUR * hours),
            test: test.map(|hours| Millis::HOUR * hours),
            embargo: Millis::HOUR,
        }
    }

    /// Uses 100 hourly candles with trades of at most 2 h. Expects training and test in hours, and number of windows.
    fn check(spec: &LayoutSpec, expected: (i64, i64, usize)) {
        let hours = |length: Millis| length.get() / Millis::HOUR.get();
        let span = Millis::HOUR * 10..Millis::HOUR * 110;
        let layout = spec.build_layout(&span, Millis::HOUR, Millis::HOUR * 2).unwrap();
        let WindowSettings { train, test, gap, .. } = layout.settings;
        assert_eq!((hours(gap), &layout.walk_range), (3, &span));
        let windows = layout.settings.windows(&layout.walk_range).unwrap().len();
        assert_eq!((hours(train), hours(test), windows), expected);
    }

    #[test]
    fn default_lengths_make_five_windows() {
        // 100 - 3 (gap) = 97: eight times twelve, remainder one.
        check(&spec(None, None), (36, 12, 5));
        check(&spec(Some(30), None), (30, 10, 6));
        check(&spec(None, Some(5)), (15, 5, 16));
        check(&spec(Some(20), Some(50)), (20, 50, 1));
    }

    #[test]
    fn layouts_of_older_plans_may_have_a_hold_out() {
        let written =
            json!({ "anchored": true, "train": null, "test": null, "embargo": 0, "hold_out": 20.0 });
        let read: LayoutSpec = serde_json::from_value(written).unwrap();
        assert_eq!(read, LayoutSpec { anchored: true, embargo: Millis::ZERO, ..spec(None, None) });
    }

    #[test]
    fn rejects_lengths_with_fractions_of_candles() {
        let spec = LayoutSpec { embargo: Millis::MINUTE * 90, ..spec(None, None) };
        let failure =
            spec.build_layout(&(Millis::ZERO..Millis::DAY), Millis::HOUR, Millis::HOUR).unwrap_err();
        assert!(failure.text().contains("--embargo: 5400000 ms is not a whole number of candles"));
    }
}
