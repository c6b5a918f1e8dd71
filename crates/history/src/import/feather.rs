//! Feather files (Arrow IPC) with columns `date` (or `time`), `open`, `high`, `low`, `close`, `volume`.

use super::labels::{LabelColumns, Labels, TextColumn, is_label};
use super::row::{Clock, FileRows, Problem, Row, RowUnit};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use candlewick_sdk::{Millis, Ohlcv};
use std::sync::Arc;

const OHLCV: [&str; 5] = ["open", "high", "low", "close", "volume"];
/// Maximum uncompressed size of a column, enough for 50 million rows.
const MAX_COLUMN_BYTES: i64 = 512 * 1024 * 1024;
const CONTINUATION_MARKER: [u8; 4] = [0xFF; 4];

pub(super) fn decode(content: Vec<u8>, only: &[String]) -> Result<FileRows, Problem> {
    // The library panics on inconsistent files, but the program must not crash.
    let read = std::panic::AssertUnwindSafe(|| read_rows(content, only));
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err(file_problem("the file seems to be damaged")))
}

fn read_rows(content: Vec<u8>, only: &[String]) -> Result<FileRows, Problem> {
    let content = Buffer::from_vec(content);
    let broken = || file_problem("the file is cut off");
    let (start, trailer) = content.split_last_chunk::<10>().ok_or_else(broken)?;
    let footer_length = read_footer_length(*trailer).map_err(|error| file_problem(&error.to_string()))?;
    let footer_start = start.len().checked_sub(footer_length).ok_or_else(broken)?;
    let footer = root_as_footer(&start[footer_start..]).map_err(|error| file_problem(&error.to_string()))?;
    let schema = footer.schema().ok_or_else(broken)?;
    let schema = Arc::new(try_fb_to_schema(schema).map_err(|error| arrow_problem(&error))?);
    let columns = Columns::find(&schema)?;
    let places = [&columns.places[..], &columns.labels].concat();
    let names: Vec<String> = columns.labels.iter().map(|label| schema.field(*label).name().clone()).collect();
    let mut decoder = FileDecoder::new(schema, footer.version()).with_projection(places);
    if columns.has_dictionary {
        for block in footer.dictionaries().into_iter().flatten() {
            let bytes = read_block(&content, block).ok_or_else(broken)?;
            if !has_plausible_sizes(&bytes, block) {
                return Err(file_problem("a dictionary has an invalid size"));
            }
            decoder.read_dictionary(block, &bytes).map_err(|error| arrow_problem(&error))?;
        }
    }
    let mut decoded = FileRows::new(columns.clock, RowUnit::Row);
    decoded.labels = Labels::new(LabelColumns::find(names.iter().map(String::as_str)), only);
    let mut rows = 0;
    for block in footer.recordBatches().ok_or_else(broken)? {
        let bytes = read_block(&content, block).ok_or_else(broken)?;
        if !has_plausible_sizes(&bytes, block) {
            return Err(file_problem("a column has an invalid size"));
        }
        let Some(batch) = decoder.read_record_batch(block, &bytes).map_err(|error| arrow_problem(&error))?
        else {
            continue;
        };
        Columns::append_rows(&batch, rows, &mut decoded)?;
        rows += batch.num_rows() as u64;
    }
    Ok(decoded)
}

fn arrow_problem(error: &ArrowError) -> Problem {
    file_problem(&error.to_string())
}

fn file_problem(problem: &str) -> Problem {
    Problem::File(format!("this is not a valid feather file: {problem}"))
}

fn read_block(content: &Buffer, block: &Block) -> Option<Buffer> {
    let start = usize::try_from(block.offset()).ok()?;
    let metadata = usize::try_from(block.metaDataLength()).ok()?;
    let length = metadata.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
    let end = start.checked_add(length).filter(|end| *end <= content.len())?;
    (metadata >= 8).then(|| content.slice_with_length(start, end - start))
}

/// Returns whether all columns are inside the block and not too large, which `arrow_ipc` does not check.
fn has_plausible_sizes(bytes: &[u8], block: &Block) -> bool {
    let check = || {
        let metadata_length = usize::try_from(block.metaDataLength()).ok()?;
        let (metadata, body) = bytes.split_at_checked(metadata_length)?;
        let skipped = if metadata.starts_with(&CONTINUATION_MARKER) { 8 } else { 4 };
        let message = root_as_message(&metadata[skipped..]).ok()?;
        let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
        let batch = message.header_as_record_batch().or(dictionary)?;
        let is_packed = batch.compression().is_some();
        let sound = batch.buffers()?.iter().all(|buffer| {
            let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let column = place.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
            match column {
                Some(column) if is_packed && !column.is_empty() => column
                    .first_chunk::<8>()
                    .is_some_and(|first| (-1..=MAX_COLUMN_BYTES).contains(&i64::from_le_bytes(*first))),
                column => column.is_some(),
            }
        });
        Some(sound)
    };
    check().unwrap_or(false)
}

struct Columns {
    places: [usize; 1 + OHLCV.len()],
    labels: Vec<usize>,
    has_dictionary: bool,
    clock: Clock,
}

impl Columns {
    fn find(schema: &Schema) -> Result<Self, Problem> {
        let names = || schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
        let find = |wanted: &[&str]| {
            let is_wanted = |name: &str| wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted));
            let place = schema.fields().iter().position(|field| is_wanted(field.name()));
            place.ok_or_else(|| {
                let there = names().join(", ");
                Problem::File(format!("column {} is missing; the columns are {there}", wanted.join(" or ")))
            })
        };
        let time = find(&["date", "time"])?;
        let clock = match schema.field(time).data_type() {
            DataType::Timestamp(_, None) => Clock::Wall,
            DataType::Timestamp(_, Some(_)) | DataType::Int64 => Clock::Utc,
            other => {
                let problem =
                    format!("column {} holds {other}; it must hold timestamps", schema.field(time).name());
                return Err(Problem::File(problem));
            }
        };
        let mut places = [time; 1 + OHLCV.len()];
        for (place, name) in places[1..].iter_mut().zip(OHLCV) {
            *place = find(&[name])?;
        }
        let labels = (0..schema.fields().len())
            .filter(|place| !places.contains(place) && is_label(schema.field(*place).name()));
        let labels: Vec<usize> = labels.collect();
        let is_dictionary = |at: &usize| matches!(schema.field(*at).data_type(), DataType::Dictionary(..));
        let has_dictionary = labels.iter().any(is_dictionary);
        Ok(Self { places, labels, has_dictionary, clock })
    }

    fn append_rows(batch: &RecordBatch, earlier: u64, decoded: &mut FileRows) -> Result<(), Problem> {
        let times = read_times(batch.column(0))?;
        let mut numbers: [Vec<Option<f64>>; OHLCV.len()] = Default::default();
        for ((list, name), column) in numbers.iter_mut().zip(OHLCV).zip(&batch.columns()[1..=OHLCV.len()]) {
            *list = read_numbers(name, column)?;
        }
        let labels: Vec<TextColumn> = batch.columns()[1 + OHLCV.len()..].iter().map(read_texts).collect();
        for (row, time) in times.iter().enumerate() {
            let place = earlier + row as u64 + 1;
            if !decoded.labels.accept(place, |column| labels[column].text(row)) {
                continue;
            }
            let cells: [Option<f64>; OHLCV.len()] = std::array::from_fn(|column| numbers[column][row]);
            let content = || format!("{time:?} {cells:?}");
            decoded.push(place, build_row(*time, cells).map(Some), content).map_err(Problem::File)?;
        }
        Ok(())
    }
}

fn build_row(time: Option<Result<Millis, i64>>, cells: [Option<f64>; OHLCV.len()]) -> Result<Row, String> {
    let time = match time {
        Some(Ok(time)) => time,
        Some(Err(time)) => return Err(format!("time {time} is not a whole number of milliseconds")),
        None => return Err("the time is missing".to_owned()),
    };
    let [Some(open), Some(high), Some(low), Some(close), Some(volume)] = cells else {
        return Err("a number is missing".to_owned());
    };
    Ok(Row { time, numbers: Ohlcv { open, high, low, close, volume } })
}

/// Parses the time column. The inner `Err` is a raw time that is not a whole number of milliseconds.
fn read_times(column: &dyn Array) -> Result<Vec<Option<Result<Millis, i64>>>, Problem> {
    let finer = |per_ms: i64| {
        move |time: i64| if time % per_ms == 0 { Ok(Millis::new(time / per_ms)) } else { Err(time) }
    };
    let times: Vec<Option<Result<Millis, i64>>> = match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().iter().map(|time| time.map(finer(1))).collect(),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => {
                let seconds = column.as_primitive::<TimestampSecondType>().iter();
                seconds.map(|time| time.map(|time| Ok(Millis::new(time.saturating_mul(1_000))))).collect()
            }
            TimeUnit::Millisecond => {
                let times = column.as_primitive::<TimestampMillisecondType>().iter();
                times.map(|time| time.map(finer(1))).collect()
            }
            TimeUnit::Microsecond => {
                let times = column.as_primitive::<TimestampMicrosecondType>().iter();
                times.map(|time| time.map(finer(1_000))).collect()
            }
            TimeUnit::Nanosecond => {
                let times = column.as_primitive::<TimestampNanosecondType>().iter();
                times.map(|time| time.map(finer(1_000_000))).collect()
            }
        },
        other => return Err(Problem::File(format!("the time column holds {other}, not timestamps"))),
    };
    Ok(times)
}

fn read_texts(column: &ArrayRef) -> TextColumn {
    fn collect_texts<T: ToString>(values: impl Iterator<Item = Option<T>>) -> TextColumn {
        let mut column = TextColumn::new(String::new());
        for value in values {
            column.push(&value.map(|value| value.to_string()).unwrap_or_default());
        }
        column
    }
    match column.data_type() {
        DataType::Utf8 => collect_texts(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => collect_texts(column.as_string::<i64>().iter()),
        DataType::Utf8View => collect_texts(column.as_string_view().iter()),
        DataType::Boolean => collect_texts(column.as_boolean().iter()),
        DataType::Int64 => collect_texts(column.as_primitive::<Int64Type>().iter()),
        DataType::Int32 => collect_texts(column.as_primitive::<Int32Type>().iter()),
        DataType::Int8 => collect_texts(column.as_primitive::<Int8Type>().iter()),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let values = read_texts(dictionary.values());
            // Keys of an empty dictionary cannot be read.
            let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            let text = |(row, key)| (!column.is_null(row)).then(|| values.text(key));
            collect_texts(keys.into_iter().enumerate().map(text))
        }
        _ => TextColumn::new(String::new()),
    }
}

fn read_numbers(name: &str, column: &dyn Array) -> Result<Vec<Option<f64>>, Problem> {
    match column.data_type() {
        DataType::Float64 => Ok(column.as_primitive::<Float64Type>().iter().collect()),
        DataType::Float32 => {
            Ok(column.as_primitive::<Float32Type>().iter().map(|number| number.map(f64::from)).collect())
        }
        DataType::Int64 => Ok(column
            .as_primitive::<Int64Type>()
            .iter()
            .map(|number| number.map(|whole| whole as f64))
            .collect()),
        other => Err(Problem::File(format!("column {name} holds {other}; it must hold doubles"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ImportSettings, import_bytes};
    use arrow_array::{BooleanArray, DictionaryArray, Float64Array, Int64Array, StringArray};
    use arrow_ipc::writer::FileWriter;
    use arrow_schema::Field;
    use std::path::Path;

    /// 2026-01-05 09:00 UTC.
    const NINE: i64 = 1_767_603_600_000;

    fn import(symbols: ArrayRef) -> Result<(usize, u64), String> {
        let count = symbols.len();
        let times: Vec<i64> = (0..).map(|minute| NINE + minute * 60_000).take(count).collect();
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![("symbol", symbols), ("date", Arc::new(Int64Array::from(times)))];
        let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.5; count]));
        columns.extend(OHLCV.map(|name| (name, numbers.clone())));
        let finished: Vec<bool> = (0..count).map(|row| row + 1 < count).collect();
        columns.push(("complete", Arc::new(BooleanArray::from(finished))));
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|pair| pair.1).collect());
        let mut bytes = Vec::new();
        let mut writer = FileWriter::try_new(&mut bytes, &schema).unwrap();
        writer.write(&batch.unwrap()).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let imported = import_bytes(&bytes, Path::new("EURUSD_1m.feather"), &ImportSettings::default());
        let imported = imported.map_err(|error| error.to_string())?;
        Ok((imported.candles.candles().len(), imported.unfinished_rows))
    }

    #[test]
    fn symbols_and_flags_of_a_file_are_read() {
        let texts = |symbols: &[&str]| Arc::new(StringArray::from(symbols.to_vec())) as ArrayRef;
        let categories = |symbols: &[&str]| {
            let dictionary: DictionaryArray<Int8Type> = symbols.iter().copied().collect();
            Arc::new(dictionary) as ArrayRef
        };
        for column in [&texts as &dyn Fn(&[&str]) -> ArrayRef, &categories] {
            assert_eq!(import(column(&["EURUSD", "EURUSD", "EURUSD"])), Ok((2, 1)));
            let two = import(column(&["EURUSD", "GBPUSD", "EURUSD"])).unwrap_err();
            assert!(two.contains("holds 2 symbols: EURUSD (2 rows, the first in row 1)"), "{two}");
        }
    }
}
