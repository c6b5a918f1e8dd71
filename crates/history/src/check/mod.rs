//! Checks of candle data before a backtest.
//!
//! Invalid, unsorted and repeated rows are reported with their line numbers. Valid candles are checked for
//! gaps, implausible moves and later revisions. A repair ([`CheckedSeries::fix`]) never invents candles.

use crate::error::{ParseChoiceError, choice_values, parse_choice};
use crate::import::CandleTable;
use crate::{HistoryError, ImportSettings, Progress, Revision, series_mismatches};
use candlewick_sdk::{Candle, CandleSeries, Millis, Series};
use chrono::NaiveDate;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

mod gaps;
mod moves;
mod rows;
mod session;

pub use gaps::{count_candles_in_closed_hours, count_missing_candles};
pub use session::{MarketHours, ParseMarketHoursError, WeeklyHours};

#[derive(Clone, Debug, PartialEq)]
pub struct CheckSettings {
    /// Market hours, or `None` to derive the hours from the symbol.
    pub session: Option<MarketHours>,
    /// Dates on which no trading session begins, in the time zone of the session.
    pub holidays: Vec<NaiveDate>,
    /// Minimum size of a spike or jump, as a multiple of the usual candle range.
    pub min_spike_factor: f64,
    pub min_flat_candles: u64,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self { session: None, holidays: Vec::new(), min_spike_factor: 15.0, min_flat_candles: 15 }
    }
}

#[derive(Clone, Debug)]
pub struct CheckedSeries {
    pub series: Series,
    pub session: MarketHours,
    pub rows: u64,
    pub candles: Option<CandleSeries>,
    pub missing: u64,
    pub findings: Findings,
    pub unfinished_rows: u64,
    conflicts: Vec<Vec<Candle>>,
    revisions: Vec<Revision>,
    settings: CheckSettings,
}

impl CheckedSeries {
    /// Returns the number of existing candles as a fraction of the expected candles, from 0 to 1.
    pub fn coverage(&self) -> f64 {
        let there = self.candles.as_ref().map_or(0, |candles| candles.candles().len()) as f64;
        if there > 0.0 { there / (there + self.missing as f64) } else { 0.0 }
    }
}

pub fn check_file(
    path: &Path,
    reading: &ImportSettings,
    settings: &CheckSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<CheckedSeries, HistoryError> {
    Ok(check_table(CandleTable::read(path, reading, progress)?, settings))
}

pub fn check_bytes(
    content: &[u8],
    path: &Path,
    reading: &ImportSettings,
    settings: &CheckSettings,
) -> Result<CheckedSeries, HistoryError> {
    Ok(check_table(CandleTable::read_from(content, path, reading)?, settings))
}

fn check_table(table: CandleTable, settings: &CheckSettings) -> CheckedSeries {
    let CandleTable { series, decoded, .. } = table;
    let mut findings = Findings::default();
    let rows = (decoded.rows.len() + decoded.broken_rows.len()) as u64;
    let unfinished = decoded.labels.unfinished_rows;
    let sound = rows::collect_valid_rows(decoded, series.interval, &mut findings);
    let (candles, conflicts) = (CandleSeries::new(series, sound.candles).ok(), sound.conflicts);
    let read = CheckedSeries {
        rows,
        candles,
        findings,
        unfinished_rows: unfinished,
        conflicts,
        ..CheckedSeries::new(series, settings)
    };
    read.check_candles()
}

pub fn check_series(candles: &CandleSeries, revised: &[Revision], settings: &CheckSettings) -> CheckedSeries {
    let mut revisions = revised.to_vec();
    revisions.sort_by_key(|revision| (revision.candle.time(), revision.seen_at));
    let (rows, all) = (candles.candles().len() as u64, Some(candles.clone()));
    let checked =
        CheckedSeries { rows, candles: all, revisions, ..CheckedSeries::new(candles.series(), settings) };
    checked.check_candles()
}

pub fn check_series_agreement(all: &mut [&mut CheckedSeries]) {
    let candles: Vec<CandleSeries> = all.iter().filter_map(|checked| checked.candles.clone()).collect();
    for mismatch in series_mismatches(&candles.iter().collect::<Vec<_>>()) {
        let fine = Series { symbol: mismatch.symbol, interval: mismatch.fine_interval };
        if let Some(checked) = all.iter_mut().find(|checked| checked.series == fine) {
            let detail = mismatch.to_string();
            checked.findings.add(Finding::in_period(FindingKind::OutOfStep, mismatch.span, 1, detail));
            checked.findings.sort();
        }
    }
}

impl CheckedSeries {
    fn new(series: Series, settings: &CheckSettings) -> Self {
        Self {
            series,
            session: settings.session.clone().unwrap_or_else(|| MarketHours::from_symbol(series.symbol)),
            rows: 0,
            candles: None,
            missing: 0,
            findings: Findings::default(),
            unfinished_rows: 0,
            conflicts: Vec::new(),
            revisions: Vec::new(),
            settings: settings.clone(),
        }
    }

    fn check_candles(mut self) -> Self {
        let mut findings = std::mem::take(&mut self.findings);
        self.missing = self.report_findings(&mut |finding| findings.add(finding));
        findings.sort();
        Self { findings, ..self }
    }

    fn report_findings(&self, note: &mut dyn FnMut(Finding)) -> u64 {
        let Some(candles) = &self.candles else { return 0 };
        let CheckSettings {
            holidays, min_spike_factor: spike_ranges, min_flat_candles: flat_candles, ..
        } = &self.settings;
        let missing = gaps::report_gaps(candles, &self.session, holidays, note);
        gaps::report_closed_hours(candles, &self.session, holidays, note);
        moves::report_spikes_and_jumps(candles, *spike_ranges, note);
        moves::report_flat_stretches(candles, *flat_candles, note);
        self.report_revisions(candles, note);
        missing
    }

    fn report_revisions(&self, candles: &CandleSeries, note: &mut dyn FnMut(Finding)) {
        let latest: BTreeMap<_, _> =
            self.revisions.iter().map(|revision| (revision.candle.time(), revision)).collect();
        for (time, revision) in latest {
            let all = candles.candles();
            let Ok(place) = all.binary_search_by_key(&time, Candle::time) else { continue };
            let differences = rows::describe_differences(&all[place], &revision.candle);
            if differences.is_empty() {
                continue;
            }
            let slot = time..all[place].close_time(self.series.interval);
            note(Finding::in_period(FindingKind::Revised, slot, 1, format!("a revision has {differences}")));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    Unreadable,
    NotFinite,
    Price,
    Volume,
    Range,
    Misaligned,
    Unsorted,
    /// Repeated row of a candle, with the same values or an earlier, unfinished state.
    Duplicate,
    Conflict,
    Gap,
    Closed,
    Spike,
    Jump,
    Flat,
    Revised,
    OutOfStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Every repair removes invalid and duplicate rows and sorts unsorted rows.
    Always,
    /// A repair removes the affected candles only on request, because the candles may be correct.
    RemoveOnRequest,
    Choose,
    TakeLatest,
    Nothing,
}

impl FindingKind {
    pub const ALL: [Self; KINDS.len()] = choice_values(&KINDS);

    pub const fn as_str(self) -> &'static str {
        KINDS[self as usize].1.0
    }

    pub const fn remedy(self) -> Remedy {
        KINDS[self as usize].1.1
    }
}

/// Name and remedy of each finding kind. The index is the discriminant of the kind.
const KINDS: [(FindingKind, (&str, Remedy)); 16] = [
    (FindingKind::Unreadable, ("unreadable", Remedy::Always)),
    (FindingKind::NotFinite, ("not-finite", Remedy::Always)),
    (FindingKind::Price, ("price", Remedy::Always)),
    (FindingKind::Volume, ("volume", Remedy::Always)),
    (FindingKind::Range, ("range", Remedy::Always)),
    (FindingKind::Misaligned, ("misaligned", Remedy::Always)),
    (FindingKind::Unsorted, ("unsorted", Remedy::Always)),
    (FindingKind::Duplicate, ("duplicate", Remedy::Always)),
    (FindingKind::Conflict, ("conflict", Remedy::Choose)),
    (FindingKind::Gap, ("gap", Remedy::Nothing)),
    (FindingKind::Closed, ("closed", Remedy::RemoveOnRequest)),
    (FindingKind::Spike, ("spike", Remedy::RemoveOnRequest)),
    (FindingKind::Jump, ("jump", Remedy::Nothing)),
    (FindingKind::Flat, ("flat", Remedy::RemoveOnRequest)),
    (FindingKind::Revised, ("revised", Remedy::TakeLatest)),
    (FindingKind::OutOfStep, ("out-of-step", Remedy::Nothing)),
];

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for FindingKind {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &Self::ALL.map(|kind| (kind.as_str(), kind)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// Line number in the file, or 1-based row number in formats without lines.
    pub row: Option<u64>,
    pub start: Option<Millis>,
    pub end: Option<Millis>,
    pub count: u64,
    pub detail: String,
}

impl Finding {
    fn in_period(kind: FindingKind, stretch: Range<Millis>, count: u64, detail: String) -> Self {
        Self { kind, row: None, start: Some(stretch.start), end: Some(stretch.end), count, detail }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    counts: BTreeMap<FindingKind, u64>,
}

const MAX_LISTED_PER_KIND: u64 = 10_000;

impl Findings {
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    pub const fn counts(&self) -> &BTreeMap<FindingKind, u64> {
        &self.counts
    }

    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    #[must_use]
    pub fn without(mut self, kinds: &[FindingKind]) -> Self {
        self.list.retain(|finding| !kinds.contains(&finding.kind));
        self.counts.retain(|kind, _| !kinds.contains(kind));
        self
    }

    fn add(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.kind).or_insert(0);
        *count += 1;
        if *count <= MAX_LISTED_PER_KIND {
            self.list.push(finding);
        }
    }

    fn sort(&mut self) {
        self.list.sort_by_key(|finding| finding.kind);
    }
}

#[derive(Clone, Debug)]
pub struct RepairedSeries {
    pub candles: Option<CandleSeries>,
    pub removed: u64,
    pub replaced: u64,
    pub was_unsorted: bool,
}

impl RepairedSeries {
    pub const fn has_changes(&self) -> bool {
        self.removed > 0 || self.replaced > 0 || self.was_unsorted
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictChoice {
    First,
    Last,
    /// The candle with the largest volume. Ties are broken by the largest range, then by the first row.
    Larger,
}

impl FromStr for ConflictChoice {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &[("first", Self::First), ("last", Self::Last), ("larger", Self::Larger)])
    }
}

impl ConflictChoice {
    fn choose(self, candles: &[Candle]) -> Option<Candle> {
        let size = |candle: &Candle| (candle.volume(), candle.high() - candle.low());
        let larger = |largest: Candle, candle: &Candle| {
            if size(candle) > size(&largest) { *candle } else { largest }
        };
        let first = candles.first().copied();
        match self {
            Self::First => first,
            Self::Last => candles.last().copied(),
            Self::Larger => first.map(|first| candles.iter().fold(first, larger)),
        }
    }
}

impl CheckedSeries {
    pub const fn conflict_count(&self) -> usize {
        self.conflicts.len()
    }

    #[must_use]
    pub fn resolve_conflicts(&self, choice: ConflictChoice) -> Self {
        let mut resolved = self.clone();
        let chosen =
            std::mem::take(&mut resolved.conflicts).into_iter().filter_map(|all| choice.choose(&all));
        let mut candles = self.candles.as_ref().map(|series| series.candles().to_vec()).unwrap_or_default();
        for candle in chosen {
            if let Ok(place) = candles.binary_search_by_key(&candle.time(), Candle::time) {
                candles[place] = candle;
            }
        }
        resolved.candles = CandleSeries::new(self.series, candles).ok();
        resolved
    }

    /// Removes definite errors. Doubtful candles are removed only if `also` contains the kind of their finding.
    /// If `also` contains [`FindingKind::Revised`], revised candles get their latest values.
    pub fn fix(&self, also: &[FindingKind]) -> RepairedSeries {
        let unsound = self.rows - self.candles.as_ref().map_or(0, |candles| candles.candles().len() as u64);
        let sorted = self.findings.counts().contains_key(&FindingKind::Unsorted);
        let Some(candles) = &self.candles else {
            return RepairedSeries { candles: None, removed: unsound, replaced: 0, was_unsorted: sorted };
        };
        let mut doubtful: Vec<Range<Millis>> = Vec::new();
        self.report_findings(&mut |finding| {
            if finding.kind.remedy() == Remedy::RemoveOnRequest && also.contains(&finding.kind) {
                doubtful.extend(finding.start.zip(finding.end).map(|(start, end)| start..end));
            }
        });
        doubtful.sort_by_key(|stretch| stretch.start);
        let mut kept: Vec<Candle> = Vec::with_capacity(candles.candles().len());
        let mut rest = doubtful.as_slice();
        for candle in candles.candles() {
            while rest.first().is_some_and(|stretch| stretch.end <= candle.time()) {
                rest = &rest[1..];
            }
            if rest.first().is_none_or(|stretch| candle.time() < stretch.start) {
                kept.push(*candle);
            }
        }
        let doubtful = (candles.candles().len() - kept.len()) as u64;
        let replaced = if also.contains(&FindingKind::Revised) { self.apply_revisions(&mut kept) } else { 0 };
        let candles = CandleSeries::new(self.series, kept).ok();
        RepairedSeries { candles, removed: unsound + doubtful, replaced, was_unsorted: sorted }
    }

    fn apply_revisions(&self, candles: &mut [Candle]) -> u64 {
        let mut replaced: Vec<usize> = Vec::new();
        for revision in &self.revisions {
            if let Ok(place) = candles.binary_search_by_key(&revision.candle.time(), Candle::time)
                && candles[place] != revision.candle
            {
                candles[place] = revision.candle;
                replaced.push(place);
            }
        }
        replaced.sort_unstable();
        replaced.dedup();
        replaced.len() as u64
    }

    pub fn check_again(&self, fixed: &RepairedSeries, also: &[FindingKind]) -> Option<CheckedSeries> {
        let revisions = if also.contains(&FindingKind::Revised) { &[] } else { self.revisions.as_slice() };
        let mut again = check_series(fixed.candles.as_ref()?, revisions, &self.settings);
        // The repair of one series cannot align it with another series.
        let out_of_step = self.findings.list().iter().filter(|one| one.kind == FindingKind::OutOfStep);
        out_of_step.for_each(|finding| again.findings.add(finding.clone()));
        Some(again)
    }
}
