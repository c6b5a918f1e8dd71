//! Candles out of the files that people have.
//!
//! A file is unpacked ([`unpack`]), its format told from its first bytes ([`format`]), its rows read ([`text`],
//! [`json`], [`feather`]) and given moments ([`zone`]), a symbol and an interval ([`name`], [`spacing`]): then it is a
//! [`sheet`]. An import holds a sheet to what candles are; a check looks at what is wrong with it. Nothing is guessed:
//! what is unclear is an error that names the option which settles it.

mod feather;
mod format;
mod json;
mod lines;
mod name;
mod problem;
mod row;
mod settings;
mod sheet;
mod spacing;
mod text;
mod unpack;
mod zone;

pub use format::{ImportFormat, ImportFormatError};
pub use settings::{ImportSettings, Stamped, StampedError};
pub use sheet::ToldBy;
pub use zone::{ClockChange, ClockChangeError, Zone, ZoneError};

pub(crate) use row::{Decoded, Row};
pub(crate) use sheet::Sheet;

use crate::{HistoryError, Progress};
use candlewick_sdk::{Candle, CandleError, CandleSeries, Interval, Millis};
use problem::Problem;
use row::Unit;
use std::path::Path;

/// A file's candles, and how they were told.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The candles.
    pub candles: CandleSeries,
    /// The format of the file.
    pub format: ImportFormat,
    /// What told the symbol.
    pub symbol_told_by: ToldBy,
    /// What told the interval.
    pub interval_told_by: ToldBy,
    /// In which zone the file's times were, where they needed one.
    pub zone: Option<Zone>,
    /// Rows that hold no prices, and are left out.
    pub empty_rows: u64,
    /// Rows that a change of the clock left without a moment ([`ClockChange::Skip`]).
    pub skipped_rows: u64,
    /// Whether the file began with the newest candle.
    pub turned_round: bool,
    /// Whether the file's moments were in seconds.
    pub in_seconds: bool,
}

/// Reads the candles of a file.
///
/// # Errors
/// [`HistoryError::ChooseOption`] for what is unclear, [`HistoryError::FixLine`] and [`HistoryError::FixFile`] for what
/// is wrong, [`HistoryError::AddCandles`] for a file without candles, [`HistoryError::CheckPath`] when it cannot be read.
pub fn import_file(
    path: &Path,
    settings: &ImportSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, HistoryError> {
    to_candles(Sheet::read(path, settings, progress)?)
}

/// Reads the candles of a file's content; `path` is the name that errors carry, and that may tell the series.
///
/// # Errors
/// Those of [`import_file`].
pub fn import_bytes(
    content: &[u8],
    path: &Path,
    settings: &ImportSettings,
) -> Result<Imported, HistoryError> {
    to_candles(Sheet::read_from(content, path, settings)?)
}

/// Holds a sheet to what candles are.
fn to_candles(sheet: Sheet) -> Result<Imported, HistoryError> {
    let path = sheet.path.clone();
    try_to_candles(sheet).map_err(|problem| problem.at(&path))
}

fn try_to_candles(sheet: Sheet) -> Result<Imported, Problem> {
    let Sheet { series, decoded, interval_told_by, .. } = sheet;
    if let Some(broken) = decoded.broken.first() {
        return Err(at_place(&decoded, broken.place, &broken.problem));
    }
    let told_by = match interval_told_by {
        ToldBy::Name => Some("the file name"),
        ToldBy::Content => Some("the content"),
        ToldBy::Option | ToldBy::Spacing => None,
    };
    check_order(&decoded)?;
    if let Some(told_by) = told_by {
        spacing::hold_to(&decoded.rows, series.interval, told_by)?;
    }
    let empty_rows = decoded.empty;
    let candles = candles_of(decoded, series.interval)?;
    let empty = |error: candlewick_sdk::SeriesError| Problem::Empty(error.to_string());
    Ok(Imported {
        candles: CandleSeries::new(series, candles).map_err(empty)?,
        format: sheet.format,
        symbol_told_by: sheet.symbol_told_by,
        interval_told_by,
        zone: sheet.zone,
        empty_rows,
        skipped_rows: sheet.skipped,
        turned_round: sheet.turned_round,
        in_seconds: sheet.in_seconds,
    })
}

fn check_order(decoded: &Decoded) -> Result<(), Problem> {
    let Some(before) = decoded.rows.windows(2).position(|pair| pair[1].time <= pair[0].time) else {
        return Ok(());
    };
    let (earlier, time) = (decoded.rows[before].time, decoded.rows[before + 1].time);
    let what = if earlier == time {
        format!("time {time} is there twice")
    } else {
        format!("time {time} comes after {earlier}")
    };
    let problem = format!("{what}; `candlewick data check FILE --fix` sorts rows and takes doubles out");
    Err(at_place(decoded, decoded.places.of(before + 1), &problem))
}

fn candles_of(decoded: Decoded, interval: Interval) -> Result<Vec<Candle>, Problem> {
    // Built where the rows lie: a row is as large as a candle.
    let mut wrong: Option<(usize, CandleError)> = None;
    let Decoded { rows, places, unit, .. } = decoded;
    let made = rows.into_iter().enumerate().map_while(|(index, row)| {
        let made = Candle::new(row.time, interval, row.numbers);
        made.map_err(|error| wrong = Some((index, error))).ok()
    });
    let candles: Vec<Candle> = made.collect();
    match wrong {
        None => Ok(candles),
        Some((index, error)) => Err(described(unit, places.of(index), &advised(&error))),
    }
}

fn advised(error: &CandleError) -> String {
    match error {
        CandleError::Misaligned { time, .. } => {
            let advice = if time.is_aligned_to(Millis::MINUTE) {
                "is --interval or --timezone another, or are the bars stamped at their close (--stamped close)?"
            } else {
                "is --interval another?"
            };
            format!("{error}; {advice}")
        }
        CandleError::NotFinite { .. }
        | CandleError::NotPositive { .. }
        | CandleError::NegativeVolume { .. }
        | CandleError::OutsideRange { .. } => {
            format!("{error}; `candlewick data check FILE --fix` takes such rows out")
        }
    }
}

fn at_place(decoded: &Decoded, place: u64, problem: &str) -> Problem {
    described(decoded.unit, place, problem)
}

fn described(unit: Unit, place: u64, problem: &str) -> Problem {
    match unit {
        Unit::Line => Problem::Line { line: place, problem: problem.to_owned() },
        Unit::Row => Problem::File(format!("row {place}: {problem}")),
    }
}
