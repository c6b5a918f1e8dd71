//! Candles as tables, and tables as candles.

use crate::command::invalid;
use crate::table::{Table, batches_of, millis_of, numbers_of_array};
use arrow_array::types::{
    ArrowPrimitiveType, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, Float64Array, PrimitiveArray, RecordBatch, TimestampMillisecondArray};
use arrow_schema::ArrowError;
use candlewick_app::candles::{CandleStore, DataName};
use candlewick_history::{CandleFormat, Catalog, no_progress};
use candlewick_sdk::{Candle, CandleSeries, Interval, LongerRule, Millis, Ohlcv, Series};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// What a column of times may be called; pandas calls an index without a name by the last.
const TIMES: [&str; 7] = ["time", "timestamp", "open_time", "datetime", "date", "ts", "__index_level_0__"];

/// Candles as a table: time (ms, UTC), open, high, low, close, volume.
pub(crate) fn batch_of(candles: &[Candle]) -> Result<RecordBatch, ArrowError> {
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

/// The candles of a table that has time, open, high, low, close, and perhaps volume.
pub(crate) fn series_of_table(table: &Bound<'_, PyAny>, interval: Interval) -> PyResult<Vec<Candle>> {
    let mut candles = Vec::new();
    for batch in batches_of(table)? {
        append(&batch, interval, &mut candles)?;
    }
    if candles.is_empty() {
        return Err(PyValueError::new_err("the table has no rows"));
    }
    Ok(candles)
}

fn append(batch: &RecordBatch, interval: Interval, candles: &mut Vec<Candle>) -> PyResult<()> {
    let column = |name: &str| {
        let schema = batch.schema();
        let place = schema.fields().iter().position(|field| field.name().eq_ignore_ascii_case(name));
        place.map(|place| batch.column(place).clone())
    };
    let missing = |name: &str| {
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        let names = names.join(", ");
        PyValueError::new_err(format!(
            "the table of candles has no column {name}; it needs time, open, high, low and close, and has {names}"
        ))
    };
    let times = TIMES.iter().find_map(|name| column(name)).ok_or_else(|| missing("time"))?;
    let times = times_of(&*times)?;
    let mut numbers = Vec::with_capacity(5);
    for name in ["open", "high", "low", "close"] {
        let array = column(name).ok_or_else(|| missing(name))?;
        numbers.push(numbers_of(&*array, name)?);
    }
    numbers.push(match column("volume") {
        Some(array) => numbers_of(&*array, "volume")?,
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

fn whole<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<&PrimitiveArray<T>> {
    array.as_any().downcast_ref()
}

fn times_of(array: &dyn Array) -> PyResult<Vec<i64>> {
    let kind = array.data_type();
    let values = whole::<Int64Type>(array)
        .map(PrimitiveArray::values)
        .or_else(|| whole::<TimestampMillisecondType>(array).map(PrimitiveArray::values))
        .or_else(|| whole::<TimestampNanosecondType>(array).map(PrimitiveArray::values))
        .or_else(|| whole::<TimestampMicrosecondType>(array).map(PrimitiveArray::values))
        .or_else(|| whole::<TimestampSecondType>(array).map(PrimitiveArray::values));
    let Some(values) = values.filter(|_| array.null_count() == 0) else {
        let problem =
            format!("the column of times is of {kind}: give times, or whole ms since 1970, and none missing");
        return Err(PyValueError::new_err(problem));
    };
    let time = |value: &i64| {
        millis_of(kind, *value)
            .ok_or_else(|| PyValueError::new_err(format!("{value} ({kind}) is no whole ms since 1970")))
    };
    values.iter().map(time).collect()
}

fn numbers_of(array: &dyn Array, name: &str) -> PyResult<Vec<f64>> {
    let kind = array.data_type();
    if array.null_count() > 0 {
        return Err(PyValueError::new_err(format!(
            "values are missing in the column {name}: leave such rows out"
        )));
    }
    numbers_of_array(array)
        .ok_or_else(|| PyValueError::new_err(format!("the column {name} is of {kind}: give numbers")))
}

/// The candles of a file or of a series of the catalog: `BTCUSDT_1m.csv`, `BTCUSDT@1m=PATH`, `BTCUSDT@1m`.
#[pyfunction]
pub(crate) fn read_candles(py: Python<'_>, name: &str, catalog: PathBuf) -> PyResult<Table> {
    let name: DataName = name.parse().map_err(invalid)?;
    let objects = std::env::temp_dir().join("candlewick").join("objects");
    let longer_share_percent = LongerRule::USUAL_PERCENT;
    let store = CandleStore { catalog: Catalog::new(catalog), cache: None, objects, longer_share_percent };
    let read = py.detach(|| name.read(&store, &mut |at| no_progress(at)));
    let read = read.map_err(|error| PyOSError::new_err(error.text()))?;
    batch_of(read.candles().candles()).map(Table).map_err(invalid)
}

/// A table of candles, checked: a table of ours.
#[pyfunction]
pub(crate) fn candles_of(table: &Bound<'_, PyAny>, series: &str) -> PyResult<Table> {
    let checked = checked(table, series)?;
    batch_of(checked.candles()).map(Table).map_err(invalid)
}

/// Writes a table of candles to a file that every command reads, `.csv` or `.parquet` by its name.
#[pyfunction]
pub(crate) fn write_candles(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    series: &str,
    path: PathBuf,
) -> PyResult<()> {
    let candles = checked(table, series)?;
    let format = CandleFormat::of_path(&path).ok_or_else(|| {
        PyValueError::new_err(format!("{}: name the file with the ending .csv or .parquet", path.display()))
    })?;
    let written = py.detach(|| format.write_file(&candles, &path));
    written.map_err(|error| PyOSError::new_err(error.to_string()))
}

fn checked(table: &Bound<'_, PyAny>, series: &str) -> PyResult<CandleSeries> {
    let problem = || {
        PyValueError::new_err(format!(
            "{series:?} names no series: write SYMBOL@INTERVAL, such as BTCUSDT@1m"
        ))
    };
    let (symbol, interval) = series.rsplit_once('@').ok_or_else(problem)?;
    let symbol = symbol.parse().map_err(|_| problem())?;
    let interval: Interval = interval.parse().map_err(|_| problem())?;
    let candles = series_of_table(table, interval)?;
    CandleSeries::new(Series { symbol, interval }, candles).map_err(invalid)
}
