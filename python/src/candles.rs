//! Conversion between candles and Arrow tables.

use crate::command::value_error;
use crate::table::{Table, array_to_numbers, read_batches, to_millis};
use arrow_array::types::{
    ArrowPrimitiveType, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, Float64Array, PrimitiveArray, RecordBatch, TimestampMillisecondArray};
use arrow_schema::ArrowError;
use candlewick_app::candles::{DataName, read_for_exploration};
use candlewick_app::configuration::{BaseLayer, Flag, LoadedConfig};
use candlewick_history::{CandleFormat, ignore_progress};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Accepted names of the time column. pandas calls an unnamed index `__index_level_0__`.
const TIME_COLUMNS: [&str; 7] =
    ["time", "timestamp", "open_time", "datetime", "date", "ts", "__index_level_0__"];

/// Converts candles to a table with the columns time (ms, UTC), open, high, low, close and volume.
pub(crate) fn candles_to_batch(candles: &[Candle]) -> Result<RecordBatch, ArrowError> {
    let times: TimestampMillisecondArray = candles.iter().map(|candle| Some(candle.time().get())).collect();
    let numbers = |of: fn(&Candle) -> f64| Arc::new(Float64Array::from_iter_values(candles.iter().map(of)));
    RecordBatch::try_from_iter([
        ("time", Arc::new(times.with_timezone("UTC")) as _),
        ("open", numbers(Candle::open) as _),
        ("high", numbers(Candle::high) as _),
        ("low", numbers(Candle::low) as _),
        ("close", numbers(Candle::close) as _),
        ("volume", numbers(Candle::volume) as _),
    ])
}

/// Reads candles from a table with the columns time, open, high, low and close. The volume column is optional.
pub(crate) fn candles_from_table(table: &Bound<'_, PyAny>, interval: Interval) -> PyResult<Vec<Candle>> {
    let mut candles = Vec::new();
    for batch in read_batches(table)? {
        append_batch(&batch, interval, &mut candles)?;
    }
    if candles.is_empty() {
        return Err(PyValueError::new_err("the table has no rows"));
    }
    Ok(candles)
}

fn append_batch(batch: &RecordBatch, interval: Interval, candles: &mut Vec<Candle>) -> PyResult<()> {
    let column = |name: &str| {
        let place = batch.schema().fields().iter().position(|field| field.name().eq_ignore_ascii_case(name));
        place.map(|place| batch.column(place).clone())
    };
    let missing = |name: &str| {
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        let names = names.join(", ");
        PyValueError::new_err(format!(
            "the table has no column {name}: time, open, high, low and close are required, but the columns are {names}"
        ))
    };
    let times = TIME_COLUMNS.iter().find_map(|name| column(name)).ok_or_else(|| missing("time"))?;
    let times = read_times(&*times)?;
    let mut numbers = Vec::with_capacity(5);
    for name in ["open", "high", "low", "close"] {
        numbers.push(read_numbers(&*column(name).ok_or_else(|| missing(name))?, name)?);
    }
    numbers.push(match column("volume") {
        Some(array) => read_numbers(&*array, "volume")?,
        None => vec![0.0; times.len()],
    });
    for (row, time) in times.iter().enumerate() {
        let [open, high, low, close, volume] = [0, 1, 2, 3, 4].map(|place: usize| numbers[place][row]);
        let candle = Candle::new(Millis::new(*time), interval, Ohlcv { open, high, low, close, volume });
        let row = candles.len();
        candles
            .push(candle.map_err(|error| PyValueError::new_err(format!("row {row} of the table: {error}")))?);
    }
    Ok(())
}

fn downcast<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&PrimitiveArray<T>> {
    array.as_any().downcast_ref()
}

fn read_times(array: &dyn Array) -> PyResult<Vec<i64>> {
    let kind = array.data_type();
    let values = downcast::<Int64Type>(array)
        .map(PrimitiveArray::values)
        .or_else(|| downcast::<TimestampMillisecondType>(array).map(PrimitiveArray::values))
        .or_else(|| downcast::<TimestampNanosecondType>(array).map(PrimitiveArray::values))
        .or_else(|| downcast::<TimestampMicrosecondType>(array).map(PrimitiveArray::values))
        .or_else(|| downcast::<TimestampSecondType>(array).map(PrimitiveArray::values));
    let Some(values) = values.filter(|_| array.null_count() == 0) else {
        let problem = format!(
            "the time column has type {kind}: use timestamps or whole ms since 1970, without missing values"
        );
        return Err(PyValueError::new_err(problem));
    };
    let time = |value: &i64| {
        to_millis(kind, *value).ok_or_else(|| {
            PyValueError::new_err(format!("{value} ({kind}) is not a whole number of ms since 1970"))
        })
    };
    values.iter().map(time).collect()
}

fn read_numbers(array: &dyn Array, name: &str) -> PyResult<Vec<f64>> {
    let kind = array.data_type();
    if array.null_count() > 0 {
        return Err(PyValueError::new_err(format!(
            "the column {name} has missing values: remove the rows without a value"
        )));
    }
    array_to_numbers(array)
        .ok_or_else(|| PyValueError::new_err(format!("the column {name} has type {kind}: use numbers")))
}

/// Reads candles before the sealed day, from a file (`BTCUSDT_1m.csv`, `BTCUSDT@1m=PATH`) or from the catalog
/// (`BTCUSDT@1m`).
#[pyfunction]
pub(crate) fn read_candles(py: Python<'_>, name: &str, catalog: PathBuf) -> PyResult<Table> {
    let name: DataName = name.parse().map_err(value_error)?;
    let flag = Flag::new("catalog", "data", "catalog", Some(catalog));
    let loaded = LoadedConfig::read(&[], BaseLayer::Sandbox, flag.into_iter().collect());
    let loaded = loaded.map_err(|error| PyOSError::new_err(error.text()))?;
    let read = py.detach(|| read_for_exploration(&loaded, &name, &mut |at| ignore_progress(at)));
    let read = read.map_err(|error| PyOSError::new_err(error.text()))?;
    candles_to_batch(read.candles().candles()).map(Table).map_err(value_error)
}

/// Checks a table of candles and converts it to [`Table`].
#[pyfunction]
pub(crate) fn check_candles(table: &Bound<'_, PyAny>, series: &str) -> PyResult<Table> {
    candles_to_batch(table_to_series(table, series)?.candles()).map(Table).map_err(value_error)
}

/// Writes a table of candles to a `.csv` or `.parquet` file that every command can read.
#[pyfunction]
pub(crate) fn write_candles(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    series: &str,
    path: PathBuf,
) -> PyResult<()> {
    let candles = table_to_series(table, series)?;
    let format = CandleFormat::from_path(&path).ok_or_else(|| {
        PyValueError::new_err(format!("{}: use a file name that ends with .csv or .parquet", path.display()))
    })?;
    py.detach(|| format.write_file(&candles, &path)).map_err(|error| PyOSError::new_err(error.to_string()))
}

fn table_to_series(table: &Bound<'_, PyAny>, series: &str) -> PyResult<CandleSeries> {
    let problem = || {
        PyValueError::new_err(format!(
            "{series:?} is not a series: write SYMBOL@INTERVAL, such as BTCUSDT@1m"
        ))
    };
    let (symbol, interval) = series.rsplit_once('@').ok_or_else(problem)?;
    let symbol = symbol.parse().map_err(|_| problem())?;
    let interval: Interval = interval.parse().map_err(|_| problem())?;
    CandleSeries::new(Series { symbol, interval }, candles_from_table(table, interval)?).map_err(value_error)
}
