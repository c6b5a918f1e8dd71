//! Imports candles from third-party files.
//!
//! The import never guesses. If a file is ambiguous, the error names the option that resolves the ambiguity.

#[cfg(feature = "feather")]
mod feather;
mod format;
mod json;
mod labels;
mod name;
mod named;
mod row;
mod spacing;
mod table;
mod text;
mod unpack;
mod zone;

pub use format::ImportFormat;
pub use named::{ColumnRoles, DateOrder, DecimalMark, Delimiter, ParseTableOptionError, TableSettings};
pub use table::{BarTime, ImportSettings, ValueSource};
pub use zone::{ClockChange, ParseZoneError, Zone};

pub(crate) use labels::TextColumn;
pub(crate) use row::FileRows;
pub(crate) use table::CandleTable;

use crate::{HistoryError, Progress};
use candlewick_sdk::{Candle, CandleError, CandleSeries, Interval};
use row::{Problem, RowUnit};
use std::path::Path;

#[derive(Clone, Debug)]
pub struct ImportedSeries {
    pub candles: CandleSeries,
    pub format: ImportFormat,
    pub symbol_source: ValueSource,
    pub interval_source: ValueSource,
    pub zone: Option<Zone>,
    pub empty_rows: u64,
    /// Number of rows omitted by [`ClockChange::Skip`].
    pub skipped_rows: u64,
    pub unfinished_rows: u64,
    pub excluded_rows: u64,
    pub was_newest_first: bool,
    pub was_in_seconds: bool,
    pub table_layout: Option<String>,
    /// Number of price decimals, including trailing zeros. `None` if it is unknown, varies or is above 5.
    pub decimals: Option<usize>,
}

pub fn import_file(
    path: &Path,
    settings: &ImportSettings,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportedSeries, HistoryError> {
    import_table(CandleTable::read(path, settings, progress)?)
}

pub fn import_bytes(
    content: &[u8],
    path: &Path,
    settings: &ImportSettings,
) -> Result<ImportedSeries, HistoryError> {
    import_table(CandleTable::read_from(content, path, settings)?)
}

fn import_table(table: CandleTable) -> Result<ImportedSeries, HistoryError> {
    let path = table.path.clone();
    build_series(table).map_err(|problem| problem.in_file(&path))
}

fn build_series(table: CandleTable) -> Result<ImportedSeries, Problem> {
    let CandleTable { series, decoded, interval_source: interval_from, .. } = table;
    if let Some(broken) = decoded.broken_rows.first() {
        return Err(problem_at(decoded.unit, broken.row_number, &broken.problem));
    }
    check_order(&decoded)?;
    if matches!(interval_from, ValueSource::Name | ValueSource::Content) {
        spacing::check_stated_interval(&decoded.rows, series.interval, interval_from.describe())?;
    }
    let (empty_rows, decimals) = (decoded.empty_rows, decoded.decimals.tick_decimals());
    let (unfinished_rows, excluded_rows) = (decoded.labels.unfinished_rows, decoded.labels.excluded_rows);
    let candles = build_candles(decoded, series.interval)?;
    let empty = |error: candlewick_sdk::SeriesError| Problem::Empty(error.to_string());
    Ok(ImportedSeries {
        candles: CandleSeries::new(series, candles).map_err(empty)?,
        format: table.format,
        symbol_source: table.symbol_source,
        interval_source: interval_from,
        zone: table.zone,
        empty_rows,
        skipped_rows: table.skipped_rows,
        unfinished_rows,
        excluded_rows,
        was_newest_first: table.was_newest_first,
        was_in_seconds: table.was_in_seconds,
        table_layout: table.table_layout,
        decimals,
    })
}

fn check_order(decoded: &FileRows) -> Result<(), Problem> {
    let Some(before) = decoded.rows.windows(2).position(|pair| pair[1].time <= pair[0].time) else {
        return Ok(());
    };
    let (earlier, later) = (decoded.rows[before], decoded.rows[before + 1]);
    let (earlier_time, time) = (earlier.time, later.time);
    let problem = if earlier_time != time {
        format!(
            "time {time} comes after {earlier_time}; `candlewick data check FILE --fix` sorts rows and removes duplicates"
        )
    } else if earlier.numbers == later.numbers {
        format!("time {time} occurs twice; `candlewick data check FILE --fix` removes duplicates")
    } else {
        format!("time {time} occurs twice with different values; `candlewick data check FILE` shows both")
    };
    Err(problem_at(decoded.unit, decoded.row_numbers.row_number(before + 1), &problem))
}

fn build_candles(decoded: FileRows, interval: Interval) -> Result<Vec<Candle>, Problem> {
    // A row is as large as a candle, so the memory of the vector is reused.
    let mut wrong: Option<(usize, CandleError)> = None;
    let FileRows { rows, row_numbers: places, unit, .. } = decoded;
    let made = rows.into_iter().enumerate().map_while(|(index, row)| {
        let made = Candle::new(row.time, interval, row.numbers);
        made.map_err(|error| wrong = Some((index, error))).ok()
    });
    let candles: Vec<Candle> = made.collect();
    match wrong {
        None => Ok(candles),
        Some((index, error)) => Err(problem_at(unit, places.row_number(index), &describe_with_hint(&error))),
    }
}

fn describe_with_hint(error: &CandleError) -> String {
    match error {
        CandleError::Misaligned { .. } => format!("{error}; check --interval"),
        CandleError::NotFinite { .. }
        | CandleError::NotPositive { .. }
        | CandleError::NegativeVolume { .. }
        | CandleError::OutsideRange { .. } => {
            format!("{error}; `candlewick data check FILE --fix` removes such rows")
        }
    }
}

fn problem_at(unit: RowUnit, place: u64, problem: &str) -> Problem {
    match unit {
        RowUnit::Line => Problem::Line { line: place, problem: problem.to_owned() },
        RowUnit::Row => Problem::File(format!("row {place}: {problem}")),
    }
}
