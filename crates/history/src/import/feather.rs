//! Feather, which is Arrow's file format: columns `date` (or `time`), `open`, `high`, `low`, `close`, `volume`.

use super::problem::Problem;
use super::row::{Clock, Decoded, Row, Unit};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use candlewick_sdk::{Millis, Ohlcv};
use std::sync::Arc;

const NUMBERS: [&str; 5] = ["open", "high", "low", "close", "volume"];
/// What one packed column may become: more than any honest one of 50 million rows.
const MAX_COLUMN_BYTES: i64 = 512 * 1024 * 1024;
const CONTINUES: [u8; 4] = [0xFF; 4];

/// Reads every row.
///
/// # Errors
/// What is not a sound file, or lacks a column.
pub(super) fn decode(content: Vec<u8>) -> Result<Decoded, Problem> {
    // The library asserts where a file contradicts itself: that must not end the program.
    let read = std::panic::AssertUnwindSafe(|| read(content));
    let broken = |problem: &str| Problem::File(format!("this is not a sound feather file: {problem}"));
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err(broken("its parts contradict each other")))
}

fn read(content: Vec<u8>) -> Result<Decoded, Problem> {
    let content = Buffer::from_vec(content);
    let broken = || unsound("it is cut off");
    let (start, trailer) = content.split_last_chunk::<10>().ok_or_else(broken)?;
    let footer_length = read_footer_length(*trailer).map_err(|error| unsound(&error.to_string()))?;
    let footer_start = start.len().checked_sub(footer_length).ok_or_else(broken)?;
    let footer = root_as_footer(&start[footer_start..]).map_err(|error| unsound(&error.to_string()))?;
    let schema = footer.schema().ok_or_else(broken)?;
    let schema = Arc::new(try_fb_to_schema(schema).map_err(|error| unreadable(&error))?);
    let columns = Columns::find(&schema)?;
    let decoder = FileDecoder::new(schema, footer.version()).with_projection(columns.places.to_vec());
    let mut decoded = Decoded::new(columns.clock, Unit::Row);
    for block in footer.recordBatches().ok_or_else(broken)? {
        let bytes = block_of(&content, block).ok_or_else(broken)?;
        if !is_plausible(&bytes, block) {
            return Err(unsound("a column is larger than it can be"));
        }
        let Some(batch) = decoder.read_record_batch(block, &bytes).map_err(|error| unreadable(&error))?
        else {
            continue;
        };
        Columns::take(&batch, &mut decoded)?;
    }
    Ok(decoded)
}

fn unreadable(error: &ArrowError) -> Problem {
    unsound(&error.to_string())
}

fn unsound(problem: &str) -> Problem {
    Problem::File(format!("this is not a sound feather file: {problem}"))
}

/// The bytes of a block, where the file has them.
fn block_of(content: &Buffer, block: &Block) -> Option<Buffer> {
    let start = usize::try_from(block.offset()).ok()?;
    let metadata = usize::try_from(block.metaDataLength()).ok()?;
    let length = metadata.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
    let end = start.checked_add(length).filter(|end| *end <= content.len())?;
    (metadata >= 8).then(|| content.slice_with_length(start, end - start))
}

/// Whether every column lies within the block, and no packed one says that it unpacks to more than memory should be
/// asked for: the library asserts the one and believes the other.
fn is_plausible(bytes: &[u8], block: &Block) -> bool {
    let check = || {
        let metadata_length = usize::try_from(block.metaDataLength()).ok()?;
        let (metadata, body) = bytes.split_at_checked(metadata_length)?;
        let skipped = if metadata.starts_with(&CONTINUES) { 8 } else { 4 };
        let batch = root_as_message(&metadata[skipped..]).ok()?.header_as_record_batch()?;
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

/// Where the candles' columns are.
struct Columns {
    /// Time first.
    places: [usize; 1 + NUMBERS.len()],
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
                Problem::File(format!("there is no column {}; the columns are {there}", wanted.join(" or ")))
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
        let mut places = [time; 1 + NUMBERS.len()];
        for (place, name) in places[1..].iter_mut().zip(NUMBERS) {
            *place = find(&[name])?;
        }
        Ok(Self { places, clock })
    }

    /// Keeps the rows of a batch, whose columns are in the order of the places.
    fn take(batch: &RecordBatch, decoded: &mut Decoded) -> Result<(), Problem> {
        let times = times_of(batch.column(0))?;
        let mut numbers: [Vec<Option<f64>>; NUMBERS.len()] = Default::default();
        for ((list, name), column) in numbers.iter_mut().zip(NUMBERS).zip(&batch.columns()[1..]) {
            *list = numbers_of(name, column)?;
        }
        for (row, time) in times.iter().enumerate() {
            let place = (decoded.rows.len() + decoded.broken.len() + 1) as u64;
            let cells: [Option<f64>; NUMBERS.len()] = std::array::from_fn(|column| numbers[column][row]);
            let content = || format!("{time:?} {cells:?}");
            decoded.keep(place, row_of(*time, cells).map(Some), content).map_err(Problem::File)?;
        }
        Ok(())
    }
}

fn row_of(time: Option<Result<Millis, i64>>, cells: [Option<f64>; NUMBERS.len()]) -> Result<Row, String> {
    let time = match time {
        Some(Ok(time)) => time,
        Some(Err(time)) => return Err(format!("time {time} is not a whole number of milliseconds")),
        None => return Err("it has no time".to_owned()),
    };
    let [Some(open), Some(high), Some(low), Some(close), Some(volume)] = cells else {
        return Err("a number is missing".to_owned());
    };
    Ok(Row { time, numbers: Ohlcv { open, high, low, close, volume } })
}

/// Each time; as it stands where it is not whole milliseconds.
fn times_of(column: &dyn Array) -> Result<Vec<Option<Result<Millis, i64>>>, Problem> {
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
        other => return Err(Problem::File(format!("the times are {other}; they must be timestamps"))),
    };
    Ok(times)
}

fn numbers_of(name: &str, column: &dyn Array) -> Result<Vec<Option<f64>>, Problem> {
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
