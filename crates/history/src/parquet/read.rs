//! Columns in, checked candles out; every complaint names its row and column.

use super::COLUMNS;
use crate::HistoryError;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series, SeriesError};
use parquet::basic::{LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;

/// Candles of a file, checked one by one but not yet held against each other, and further columns.
pub(crate) struct Table {
    pub(crate) candles: Vec<Candle>,
    /// One list for each further column that was asked for.
    pub(crate) extra: Vec<Vec<i64>>,
}

/// Reads the Parquet file at `path`.
///
/// # Errors
/// [`HistoryError::CheckPath`] when it cannot be opened, and those of [`read_parquet`].
pub fn read_parquet_file(path: &Path, series: Series) -> Result<CandleSeries, HistoryError> {
    let check_path = |source| HistoryError::CheckPath { path: path.to_owned(), action: "open", source };
    read_parquet(File::open(path).map_err(check_path)?, path, series)
}

/// Reads candles from a Parquet file's content; `path` is the name that its errors carry.
///
/// `time` holds whole milliseconds, or timestamps of any unit that are whole milliseconds; the five numbers are
/// doubles or floats. Nothing is missing, times ascend, and other columns do not matter.
///
/// # Errors
/// [`HistoryError::FixFile`] says what is wrong, [`HistoryError::AddCandles`] that there are no candles.
pub fn read_parquet(
    content: impl ChunkReader + 'static,
    path: &Path,
    series: Series,
) -> Result<CandleSeries, HistoryError> {
    let fix_file = |problem| HistoryError::FixFile { path: path.to_owned(), problem };
    let table = read_table(content, series.interval, &[]).map_err(fix_file)?;
    CandleSeries::new(series, table.candles).map_err(|error| match error {
        SeriesError::Empty => HistoryError::AddCandles {
            place: path.display().to_string(),
            problem: "there are no candles; add at least one".to_owned(),
        },
        SeriesError::Unsorted { .. } | SeriesError::Misaligned { .. } => {
            fix_file(format!("{error} (counted from 0); sort the rows by time and remove doubles"))
        }
    })
}

/// Reads candles, and the whole numbers of further columns.
pub(crate) fn read_table(
    content: impl ChunkReader + 'static,
    interval: Interval,
    extra: &[&str],
) -> Result<Table, String> {
    // The library was made for files of friends: whatever it does to others must not end the program.
    let read = std::panic::AssertUnwindSafe(|| {
        let file = SerializedFileReader::new(content).map_err(|error| unreadable(&error))?;
        read_groups(&file, interval, extra)
    });
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err("this is not a sound Parquet file".to_owned()))
}

fn read_groups<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    interval: Interval,
    extra: &[&str],
) -> Result<Table, String> {
    let metadata = file.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let columns = schema.columns();
    let find = |name: &str| {
        let place = columns.iter().position(|column| column.path().string().eq_ignore_ascii_case(name));
        place.ok_or_else(|| {
            let there: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
            format!("there is no column {name}; the columns are {}", there.join(", "))
        })
    };
    let places = COLUMNS.map(find);
    let mut candle_places = [0; COLUMNS.len()];
    for (place, found) in candle_places.iter_mut().zip(places) {
        *place = found?;
    }
    let extra_places = extra.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    let per_ms = unit_of(&columns[candle_places[0]])?;
    let mut table = Table { candles: Vec::new(), extra: vec![Vec::new(); extra.len()] };
    for index in 0..metadata.num_row_groups() {
        let group = file.get_row_group(index).map_err(|error| unreadable(&error))?;
        read_group(&*group, candle_places, per_ms, interval, &mut table.candles)?;
        for (list, place) in table.extra.iter_mut().zip(&extra_places) {
            list.extend(integers(&*group, *place)?);
        }
    }
    Ok(table)
}

fn read_group(
    group: &dyn RowGroupReader,
    places: [usize; COLUMNS.len()],
    per_ms: i64,
    interval: Interval,
    candles: &mut Vec<Candle>,
) -> Result<(), String> {
    let times = integers(group, places[0])?;
    let mut numbers: [Vec<f64>; 5] = Default::default();
    for (list, place) in numbers.iter_mut().zip(&places[1..]) {
        *list = floats(group, *place)?;
        if list.len() != times.len() {
            return Err("its columns are not of one length".to_owned());
        }
    }
    let [opens, highs, lows, closes, volumes] = &numbers;
    candles.reserve(times.len());
    for (row, time) in times.iter().enumerate() {
        let told = |problem: String| format!("row {} (counted from 0): {problem}", candles.len());
        if time % per_ms != 0 {
            return Err(told(format!("time {time} is not a whole number of milliseconds")));
        }
        let (open, high, low) = (opens[row], highs[row], lows[row]);
        let numbers = Ohlcv { open, high, low, close: closes[row], volume: volumes[row] };
        let made = Candle::new(Millis::new(time / per_ms), interval, numbers);
        candles.push(made.map_err(|error| told(error.to_string()))?);
    }
    Ok(())
}

/// How many units of the column make a millisecond.
fn unit_of(column: &ColumnDescriptor) -> Result<i64, String> {
    match column.logical_type_ref() {
        None | Some(LogicalType::Integer(_)) => Ok(1),
        Some(LogicalType::Timestamp(timestamp)) => match timestamp.unit {
            TimeUnit::MILLIS => Ok(1),
            TimeUnit::MICROS => Ok(1_000),
            TimeUnit::NANOS => Ok(1_000_000),
        },
        Some(other) => {
            Err(format!("column time holds {other:?}; it must hold milliseconds since 1970, or timestamps"))
        }
    }
}

fn integers(group: &dyn RowGroupReader, place: usize) -> Result<Vec<i64>, String> {
    match group.get_column_reader(place).map_err(|error| unreadable(&error))? {
        ColumnReader::Int64ColumnReader(reader) => values(reader, group, place),
        _ => Err(wrong_kind(group, place, "64-bit whole numbers")),
    }
}

fn floats(group: &dyn RowGroupReader, place: usize) -> Result<Vec<f64>, String> {
    match group.get_column_reader(place).map_err(|error| unreadable(&error))? {
        ColumnReader::DoubleColumnReader(reader) => values(reader, group, place),
        ColumnReader::FloatColumnReader(reader) => {
            Ok(values(reader, group, place)?.into_iter().map(f64::from).collect())
        }
        _ => Err(wrong_kind(group, place, "doubles")),
    }
}

/// Every value of a column, of which none may be missing.
fn values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    group: &dyn RowGroupReader,
    place: usize,
) -> Result<Vec<T::T>, String>
where
    ColumnReaderImpl<T>: Sized,
{
    let column = group.metadata().schema_descr().column(place);
    let name = column.path().string();
    if column.max_rep_level() > 0 {
        return Err(format!("column {name} holds lists; it must hold one number a row"));
    }
    let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| "it has no rows".to_owned())?;
    let (mut list, mut levels) = (Vec::new(), Vec::new());
    while list.len() < rows {
        let levels = (column.max_def_level() > 0).then_some(&mut levels);
        let (read, present, _) = reader
            .read_records(rows - list.len(), levels, None, &mut list)
            .map_err(|error| unreadable(&error))?;
        if present != read {
            return Err(format!("column {name} has rows without a value; fill or remove them"));
        }
        if read == 0 {
            return Err(format!("column {name} ends before the file says that it does"));
        }
    }
    Ok(list)
}

fn wrong_kind(group: &dyn RowGroupReader, place: usize, wanted: &str) -> String {
    let column = group.metadata().schema_descr().column(place);
    format!("column {} holds {}; it must hold {wanted}", column.path().string(), column.physical_type())
}

fn unreadable(error: &ParquetError) -> String {
    format!("this is not a sound Parquet file: {error}")
}
