//! What is wrong with candles, before a backtest believes them.
//!
//! A file is read as it stands, however bad ([`CandleTable`](crate::import::CandleTable)): rows that are no candles, out of order or
//! there twice are reported with their line ([`rows`]). What remains are sound candles, as a series of the catalog has them
//! alone; of these, gaps while the market was open ([`gaps`], [`session`]), prices that move as prices do not ([`moves`]),
//! and values that came later are reported with their time. A repair ([`fix`]) never invents a candle.

mod finding;
mod fix;
mod gaps;
mod moves;
mod rows;
mod session;

pub use finding::{Finding, FindingKind, Findings, ParseFindingKindError, Remedy};
pub use fix::{ConflictChoice, Fixed, ParseConflictChoiceError};
pub use gaps::{closed_candles, missing_candles};
pub use session::{MarketHours, ParseMarketHoursError, WeeklyHours};

use crate::import::CandleTable;
use crate::{HistoryError, ImportSettings, Progress, Revision, series_mismatches};
use candlewick_sdk::{Candle, CandleSeries, Series};
use chrono::NaiveDate;
use std::collections::BTreeMap;
use std::path::Path;

/// What to hold candles to.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSettings {
    /// When the market is open; follows from the symbol when left out.
    pub session: Option<MarketHours>,
    /// Days on which no session begins, by the session's own calendar.
    pub holidays: Vec<NaiveDate>,
    /// A price further off than so many usual ranges of a candle is a spike or a jump.
    pub spike_ranges: f64,
    /// So many candles without any movement, one after the other, are a flat stretch.
    pub flat_candles: u64,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self { session: None, holidays: Vec::new(), spike_ranges: 15.0, flat_candles: 15 }
    }
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What the candles are of.
    pub series: Series,
    /// When its market is taken to be open.
    pub session: MarketHours,
    /// How many rows there are, those without prices left out.
    pub rows: u64,
    /// The sound candles, by time, one of each moment; `None` if there is none.
    pub candles: Option<CandleSeries>,
    /// How many candles are missing between the first and the last while the market was open.
    pub missing: u64,
    /// What is wrong.
    pub findings: Findings,
    /// Number of rows omitted because their candle is unfinished.
    pub unfinished: u64,
    conflicts: Vec<Vec<Candle>>,
    revisions: Vec<Revision>,
    settings: CheckSettings,
}

impl Checked {
    /// Which part of the candles that could be there is there, from 0 to 1.
    pub fn coverage(&self) -> f64 {
        let there = self.candles.as_ref().map_or(0, |candles| candles.candles().len()) as f64;
        if there > 0.0 { there / (there + self.missing as f64) } else { 0.0 }
    }
}

/// Checks a file of any format that can be imported; it is read as it stands, however bad its rows are.
///
/// # Errors
/// As [`import_file`](crate::import_file), but not for rows that are no candles, out of order or there twice.
pub fn check_file(
    path: &Path,
    reading: &ImportSettings,
    settings: &CheckSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Checked, HistoryError> {
    Ok(check_table(CandleTable::read(path, reading, progress)?, settings))
}

/// Checks a file's content; `path` is the name that errors carry, and that may name the series.
///
/// # Errors
/// Those of [`check_file`].
pub fn check_bytes(
    content: &[u8],
    path: &Path,
    reading: &ImportSettings,
    settings: &CheckSettings,
) -> Result<Checked, HistoryError> {
    Ok(check_table(CandleTable::read_from(content, path, reading)?, settings))
}

fn check_table(table: CandleTable, settings: &CheckSettings) -> Checked {
    let CandleTable { series, decoded, .. } = table;
    let mut findings = Findings::default();
    let rows = (decoded.rows.len() + decoded.broken.len()) as u64;
    let unfinished = decoded.labels.unfinished_rows;
    let sound = rows::sound_candles(decoded, series.interval, &mut findings);
    let candles = CandleSeries::new(series, sound.candles).ok();
    let mut checked = Checked {
        series,
        session: session_of(series, settings),
        rows,
        candles,
        missing: 0,
        findings,
        unfinished,
        conflicts: sound.conflicts,
        revisions: Vec::new(),
        settings: settings.clone(),
    };
    checked.check_candles();
    checked
}

/// Checks sound candles, and the values that came later for some of them.
pub fn check_series(candles: &CandleSeries, revisions: &[Revision], settings: &CheckSettings) -> Checked {
    let series = candles.series();
    let mut checked = Checked {
        series,
        session: session_of(series, settings),
        rows: candles.candles().len() as u64,
        candles: Some(candles.clone()),
        missing: 0,
        findings: Findings::default(),
        unfinished: 0,
        conflicts: Vec::new(),
        revisions: revisions.to_vec(),
        settings: settings.clone(),
    };
    // Of one moment, the value that came last stands last.
    checked.revisions.sort_by_key(|revision| (revision.candle.time(), revision.seen));
    checked.check_candles();
    checked
}

fn session_of(series: Series, settings: &CheckSettings) -> MarketHours {
    settings.session.clone().unwrap_or_else(|| MarketHours::of_symbol(series.symbol))
}

/// Compares the series of each symbol and records contradictions with the finer one.
pub fn check_in_step(all: &mut [&mut Checked]) {
    let candles: Vec<CandleSeries> = all.iter().filter_map(|checked| checked.candles.clone()).collect();
    for mismatch in series_mismatches(&candles.iter().collect::<Vec<_>>()) {
        let fine = Series { symbol: mismatch.symbol, interval: mismatch.fine };
        if let Some(checked) = all.iter_mut().find(|checked| checked.series == fine) {
            checked.findings.note(Finding {
                kind: FindingKind::OutOfStep,
                row: None,
                start: Some(mismatch.span.start),
                end: Some(mismatch.span.end),
                count: 1,
                detail: mismatch.to_string(),
            });
            checked.findings.sort();
        }
    }
}

impl Checked {
    fn check_candles(&mut self) {
        let mut findings = std::mem::take(&mut self.findings);
        self.missing = self.look(&mut |finding| findings.note(finding));
        findings.sort();
        self.findings = findings;
    }

    /// Looks at the sound candles and notes what is wrong; answers how many are missing.
    fn look(&self, note: &mut dyn FnMut(Finding)) -> u64 {
        let Some(candles) = &self.candles else { return 0 };
        let CheckSettings { holidays, spike_ranges, flat_candles, .. } = &self.settings;
        let missing = gaps::missing(candles, &self.session, holidays, note);
        gaps::in_closed_hours(candles, &self.session, holidays, note);
        moves::spikes_and_jumps(candles, *spike_ranges, note);
        moves::flat_stretches(candles, *flat_candles, note);
        self.revised(candles, note);
        missing
    }

    fn revised(&self, candles: &CandleSeries, note: &mut dyn FnMut(Finding)) {
        let latest: BTreeMap<_, _> =
            self.revisions.iter().map(|revision| (revision.candle.time(), revision)).collect();
        for (time, revision) in latest {
            let all = candles.candles();
            let Ok(place) = all.binary_search_by_key(&time, candlewick_sdk::Candle::time) else { continue };
            let differences = rows::differences(&all[place], &revision.candle);
            if differences.is_empty() {
                continue;
            }
            note(Finding {
                kind: FindingKind::Revised,
                row: None,
                start: Some(time),
                end: Some(all[place].close_time(self.series.interval)),
                count: 1,
                detail: format!("came later with {differences}"),
            });
        }
    }
}
