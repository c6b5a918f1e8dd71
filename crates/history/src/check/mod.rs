//! Checks candles before a backtest relies on them.
//!
//! Files are read leniently ([`CandleTable`](crate::import::CandleTable)): invalid, unsorted and
//! repeated rows are reported with their line ([`rows`]). Sound candles are checked for gaps in
//! open hours ([`gaps`], [`session`]), implausible moves ([`moves`]) and later revisions. A repair
//! ([`fix`]) never invents a candle.

mod finding;
mod fix;
mod gaps;
mod moves;
mod rows;
mod session;

pub use finding::{Finding, FindingKind, Findings, Remedy};
pub use fix::{ConflictChoice, Fixed};
pub use gaps::{closed_candles, missing_candles};
pub use session::{MarketHours, ParseMarketHoursError, WeeklyHours};

use crate::import::CandleTable;
use crate::{HistoryError, ImportSettings, Progress, Revision, series_mismatches};
use candlewick_sdk::{Candle, CandleSeries, Series};
use chrono::NaiveDate;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Debug, PartialEq)]
pub struct CheckSettings {
    /// Market hours, `None` to derive them from the symbol.
    pub session: Option<MarketHours>,
    /// Days on which no session begins, in the session's own calendar.
    pub holidays: Vec<NaiveDate>,
    /// Minimum size of a spike or jump, in multiples of the usual candle range.
    pub spike_ranges: f64,
    pub flat_candles: u64,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self { session: None, holidays: Vec::new(), spike_ranges: 15.0, flat_candles: 15 }
    }
}

#[derive(Clone, Debug)]
pub struct Checked {
    pub series: Series,
    pub session: MarketHours,
    pub rows: u64,
    pub candles: Option<CandleSeries>,
    pub missing: u64,
    pub findings: Findings,
    pub unfinished: u64,
    conflicts: Vec<Vec<Candle>>,
    revisions: Vec<Revision>,
    settings: CheckSettings,
}

impl Checked {
    /// Returns the fraction of the expected candles that exist, from 0 to 1.
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
) -> Result<Checked, HistoryError> {
    Ok(check_table(CandleTable::read(path, reading, progress)?, settings))
}

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
