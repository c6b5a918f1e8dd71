//! Parquet files with columns `time` (UTC milliseconds), `open`, `high`, `low`, `close`, `volume`.

use crate::HistoryError;
use crate::disk::{SystemDisk, replace};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series, SeriesError};
use parquet::basic::{Compression, Encoding, LogicalType, TimeUnit, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescriptor;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "import")]
mod texts;

#[cfg(feature = "import")]
pub(crate) use texts::read_texts;

const COLUMNS: [&str; 6] = ["time", "open", "high", "low", "close", "volume"];

pub(crate) struct Table {
    pub(crate) candles: Vec<Candle>,
    pub(crate) extra_columns: Vec<Vec<i64>>,
}

type RowSink<'a> = &'a mut dyn FnMut(Millis, Ohlcv) -> Result<(), String>;

pub fn read_parquet_file(path: &Path, series: Series) -> Result<CandleSeries, HistoryError> {
    read_parquet(File::open(path).map_err(HistoryError::io(path, "open"))?, path, series)
}

/// Reads candles from Parquet content, ignoring other columns. `path` is only used in error messages.
pub fn read_parquet(
    content: impl ChunkReader + 'static,
    path: &Path,
    series: Series,
) -> Result<CandleSeries, HistoryError> {
    let fix_file = |problem| HistoryError::InvalidFile { path: path.to_owned(), problem };
    let table = read_table(content, series.interval, &[]).map_err(fix_file)?;
    CandleSeries::new(series, table.candles).map_err(|error| match error {
        SeriesError::Empty => HistoryError::NoCandles {
            place: path.display().to_string(),
            problem: "the file has no candles; add at least one".to_owned(),
        },
        SeriesError::Unsorted { .. } | SeriesError::Misaligned { .. } => {
            fix_file(format!("{error} (the first is candle 0); sort the rows by time and remove duplicates"))
        }
    })
}

pub(crate) fn read_table(
    content: impl ChunkReader + 'static,
    interval: Interval,
    extra: &[&str],
) -> Result<Table, String> {
    catch_panics(|| {
        let file = open(content)?;
        let extra_places =
            extra.iter().map(|name| find_column(&file, &[name])).collect::<Result<Vec<_>, _>>()?;
        let mut table = Table { candles: Vec::new(), extra_columns: vec![Vec::new(); extra.len()] };
        let (candles, lists) = (&mut table.candles, &mut table.extra_columns);
        // A broken file may contain a huge row count, so a failed memory reservation is ignored.
        let rows = file.metadata().file_metadata().num_rows();
        let _ = candles.try_reserve_exact(usize::try_from(rows).unwrap_or(0));
        let mut keep = |time, numbers| {
            let made = Candle::new(time, interval, numbers);
            let in_row = |problem| format!("row {} (counted from 0): {problem}", candles.len());
            candles.push(made.map_err(in_row)?);
            Ok(())
        };
        read_groups(&file, &COLUMNS[..1], &mut keep, |group| {
            for (list, place) in lists.iter_mut().zip(&extra_places) {
                list.extend(read_integers(group, *place)?);
            }
            Ok(())
        })?;
        Ok(table)
    })
}

fn open<R: ChunkReader + 'static>(content: R) -> Result<SerializedFileReader<R>, String> {
    SerializedFileReader::new(content).map_err(|error| parquet_problem(&error))
}

/// Converts panics to errors, because the `parquet` crate may panic on a broken file.
fn catch_panics<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err("this is not a valid Parquet file".to_owned()))
}

#[cfg(feature = "import")]
pub(crate) fn read_rows(
    content: impl ChunkReader + 'static,
    times: &[&str],
    keep: RowSink<'_>,
) -> Result<(), String> {
    catch_panics(|| read_groups(&open(content)?, times, keep, |_| Ok(())))
}

fn read_groups<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    times: &[&str],
    keep: RowSink<'_>,
    mut read_extra: impl FnMut(&dyn RowGroupReader) -> Result<(), String>,
) -> Result<(), String> {
    let (places, per_ms) = candle_columns(file, times)?;
    let mut rows = 0;
    for index in 0..file.metadata().num_row_groups() {
        let group = file.get_row_group(index).map_err(|error| parquet_problem(&error))?;
        rows += read_group(&*group, places, per_ms, rows, keep)?;
        read_extra(&*group)?;
    }
    Ok(())
}

fn candle_columns<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    times: &[&str],
) -> Result<([usize; COLUMNS.len()], i64), String> {
    let mut places = [find_column(file, times)?; COLUMNS.len()];
    for (place, name) in places.iter_mut().zip(COLUMNS).skip(1) {
        *place = find_column(file, &[name])?;
    }
    let schema = file.metadata().file_metadata().schema_descr();
    Ok((places, units_per_ms(&schema.column(places[0]))?))
}

fn find_column<R: ChunkReader + 'static>(
    file: &SerializedFileReader<R>,
    names: &[&str],
) -> Result<usize, String> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let is_one = |name: &str| names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted));
    columns.iter().position(|column| is_one(&column.path().string())).ok_or_else(|| {
        let there: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
        format!("column {} is missing; the columns are {}", names.join(" or "), there.join(", "))
    })
}

fn read_group(
    group: &dyn RowGroupReader,
    places: [usize; COLUMNS.len()],
    per_ms: i64,
    earlier: usize,
    keep: RowSink<'_>,
) -> Result<usize, String> {
    check_offsets(group)?;
    let times = read_integers(group, places[0])?;
    let mut numbers: [Vec<f64>; 5] = Default::default();
    for (list, place) in numbers.iter_mut().zip(&places[1..]) {
        *list = read_floats(group, *place)?;
        if list.len() != times.len() {
            return Err("the columns differ in length".to_owned());
        }
    }
    let [opens, highs, lows, closes, volumes] = &numbers;
    for (row, time) in times.iter().enumerate() {
        if time % per_ms != 0 {
            let problem = format!("time {time} is not a whole number of milliseconds");
            return Err(format!("row {} (counted from 0): {problem}", earlier + row));
        }
        let (open, high, low) = (opens[row], highs[row], lows[row]);
        let numbers = Ohlcv { open, high, low, close: closes[row], volume: volumes[row] };
        keep(Millis::new(time / per_ms), numbers)?;
    }
    Ok(times.len())
}

/// Checks the column offsets, because the `parquet` crate panics on invalid offsets.
fn check_offsets(group: &dyn RowGroupReader) -> Result<(), String> {
    let is_sound = |column: &ColumnChunkMetaData| {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        start >= 0 && column.compressed_size() >= 0
    };
    if group.metadata().columns().iter().all(is_sound) {
        Ok(())
    } else {
        Err("this is not a valid Parquet file: a column has an invalid offset".to_owned())
    }
}

fn units_per_ms(column: &ColumnDescriptor) -> Result<i64, String> {
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

fn read_integers(group: &dyn RowGroupReader, place: usize) -> Result<Vec<i64>, String> {
    match group.get_column_reader(place).map_err(|error| parquet_problem(&error))? {
        ColumnReader::Int64ColumnReader(reader) => read_values(reader, group, place),
        _ => Err(type_problem(group, place, "64-bit whole numbers")),
    }
}

fn read_floats(group: &dyn RowGroupReader, place: usize) -> Result<Vec<f64>, String> {
    match group.get_column_reader(place).map_err(|error| parquet_problem(&error))? {
        ColumnReader::DoubleColumnReader(reader) => read_values(reader, group, place),
        ColumnReader::FloatColumnReader(reader) => {
            Ok(read_values(reader, group, place)?.into_iter().map(f64::from).collect())
        }
        _ => Err(type_problem(group, place, "doubles")),
    }
}

fn read_values<T: DataType>(
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
        return Err(format!("column {name} holds lists; it must hold one number per row"));
    }
    let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| "invalid row count".to_owned())?;
    let (mut list, mut levels) = (Vec::new(), Vec::new());
    let _ = list.try_reserve_exact(rows);
    while list.len() < rows {
        let levels = (column.max_def_level() > 0).then_some(&mut levels);
        let (read, present, _) = reader
            .read_records(rows - list.len(), levels, None, &mut list)
            .map_err(|error| parquet_problem(&error))?;
        if present != read {
            return Err(format!("column {name} has rows without a value; fill or remove them"));
        }
        if read == 0 {
            return Err(format!("column {name} has fewer rows than the file states"));
        }
    }
    Ok(list)
}

fn type_problem(group: &dyn RowGroupReader, place: usize, wanted: &str) -> String {
    let column = group.metadata().schema_descr().column(place);
    format!("column {} holds {}; it must hold {wanted}", column.path().string(), column.physical_type())
}

fn parquet_problem(error: &ParquetError) -> String {
    format!("this is not a valid Parquet file: {error}")
}

const SCHEMA: &str = "message candles { required int64 time (TIMESTAMP(MILLIS,true)); required double open; \
    required double high; required double low; required double close; required double volume;";
const CANDLES_PER_GROUP: usize = 64 * 1024;

pub fn write_parquet_file(series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
    let bytes = to_parquet(series.candles(), &[]);
    replace(&SystemDisk, path, &[&bytes]).map_err(HistoryError::io(path, "write"))
}

pub(crate) fn to_parquet(candles: &[Candle], extra: &[(&str, &[i64])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(candles, extra, &mut bytes).expect("writing to memory succeeds");
    bytes
}

fn write(candles: &[Candle], extra: &[(&str, &[i64])], out: impl Write + Send) -> Result<(), ParquetError> {
    let mut schema = String::from(SCHEMA);
    for (name, _) in extra {
        let _ = write!(schema, " required int64 {name};");
    }
    let schema = Arc::new(parse_message_type(&(schema + " }"))?);
    // Byte stream split groups signs and exponents, which hardly change and therefore compress well.
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::BYTE_STREAM_SPLIT)
        .set_column_encoding("time".into(), Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let numbers: [fn(&Candle) -> f64; 5] =
        [Candle::open, Candle::high, Candle::low, Candle::close, Candle::volume];
    for (number, chunk) in candles.chunks(CANDLES_PER_GROUP).enumerate() {
        let mut group = file.next_row_group()?;
        let times: Vec<i64> = chunk.iter().map(|candle| candle.time().get()).collect();
        write_column::<Int64Type, _>(&mut group, &times)?;
        for number in numbers {
            write_column::<DoubleType, _>(&mut group, &chunk.iter().map(number).collect::<Vec<f64>>())?;
        }
        for (_, column) in extra {
            let start = number * CANDLES_PER_GROUP;
            write_column::<Int64Type, _>(&mut group, &column[start..start + chunk.len()])?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, FloatType, Int32Type};

    pub(super) enum Column<'a> {
        Int64(&'a [i64]),
        Int32(&'a [i32]),
        Double(&'a [f64]),
        Float(&'a [f32]),
        MaybeDouble(&'a [f64], &'a [i16]),
        MaybeText(&'a [ByteArray], &'a [i16]),
        Bool(&'a [bool]),
    }

    pub(super) fn file(schema: &str, columns: &[Column<'_>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
        let mut writer =
            SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::default())).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for column in columns {
            let mut next = group.next_column().unwrap().unwrap();
            match column {
                Column::Int64(values) => next.typed::<Int64Type>().write_batch(values, None, None),
                Column::Int32(values) => next.typed::<Int32Type>().write_batch(values, None, None),
                Column::Double(values) => next.typed::<DoubleType>().write_batch(values, None, None),
                Column::Float(values) => next.typed::<FloatType>().write_batch(values, None, None),
                Column::MaybeDouble(values, levels) => {
                    next.typed::<DoubleType>().write_batch(values, Some(levels), None)
                }
                Column::MaybeText(values, levels) => {
                    next.typed::<ByteArrayType>().write_batch(values, Some(levels), None)
                }
                Column::Bool(values) => next.typed::<BoolType>().write_batch(values, None, None),
            }
            .unwrap();
            next.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<(i64, f64, f64)>, String> {
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let read = read_parquet(content(bytes), Path::new("x.parquet"), series);
        let rows = |series: CandleSeries| {
            let row = |candle: &Candle| (candle.time().get(), candle.close(), candle.volume());
            series.candles().iter().map(row).collect()
        };
        read.map(rows).map_err(|error| error.to_string())
    }

    fn content(bytes: &[u8]) -> File {
        use std::io::{Seek, Write};
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    pub(super) const NUMBERS: &str =
        "required double open; required double high; required double low; required double close;";
    const ONES: Column<'_> = Column::Double(&[1.0, 1.0]);

    fn check(time: &str, times: &[i64], expected: Result<&[i64], &str>) {
        let schema = format!("required int64 time {time}; {NUMBERS} required double volume;");
        let columns = [Column::Int64(times), ONES, ONES, ONES, ONES, ONES];
        let found = read(&file(&schema, &columns)).map(|all| all.iter().map(|row| row.0).collect::<Vec<_>>());
        let expected = expected.map(<[i64]>::to_vec).map_err(|error| format!("x.parquet: {error}"));
        assert_eq!(found, expected, "{time}");
    }

    #[test]
    fn times_of_every_unit_are_whole_milliseconds() {
        for (time, factor) in [
            ("", 1),
            ("(TIMESTAMP(MILLIS,true))", 1),
            ("(TIMESTAMP(MICROS,true))", 1_000),
            ("(TIMESTAMP(NANOS,false))", 1_000_000),
        ] {
            check(time, &[60_000 * factor, 120_000 * factor], Ok(&[60_000, 120_000]));
        }
        let half = Err("row 0 (counted from 0): time 60000001 is not a whole number of milliseconds");
        check("(TIMESTAMP(MICROS,true))", &[60_000_001, 120_000_000], half);
    }

    #[test]
    fn errors_name_invalid_and_unsorted_rows() {
        check("", &[60_001, 120_000], Err("row 0 (counted from 0): time 60001 is not aligned to 1m"));
        let unsorted = "candle 1 at 60000 does not come after 120000 (the first is candle 0); sort the rows by time and remove duplicates";
        check("", &[120_000, 60_000], Err(unsorted));
    }

    #[test]
    fn finds_columns_by_name_and_rejects_missing_values() {
        let schema = "required double Close; optional double volume; required double open; required float high; \
                      required float low; required int32 other; required int64 Time;";
        let columns = |levels: &'static [i16]| {
            let volumes: &[f64] = if levels == [1, 1] { &[7.0, 8.0] } else { &[7.0] };
            let (floats, times) = (Column::Float(&[1.0, 1.0]), Column::Int64(&[60_000, 120_000]));
            let other = Column::Int32(&[5, 5]);
            let high = Column::Float(&[1.0, 1.0]);
            file(schema, &[ONES, Column::MaybeDouble(volumes, levels), ONES, floats, high, other, times])
        };
        assert_eq!(read(&columns(&[1, 1])), Ok(vec![(60_000, 1.0, 7.0), (120_000, 1.0, 8.0)]));
        let missing = "x.parquet: column volume has rows without a value; fill or remove them";
        assert_eq!(read(&columns(&[1, 0])), Err(missing.to_owned()));
    }

    #[test]
    fn rejects_missing_columns_wrong_types_and_other_files() {
        let times = || Column::Int64(&[60_000, 120_000]);
        let absent = file(&format!("required int64 time; {NUMBERS}"), &[times(), ONES, ONES, ONES, ONES]);
        let message = "x.parquet: column volume is missing; the columns are time, open, high, low, close";
        assert_eq!(read(&absent), Err(message.to_owned()));
        let schema = format!("required int64 time; {NUMBERS} required int32 volume;");
        let whole = file(&schema, &[times(), ONES, ONES, ONES, ONES, Column::Int32(&[1, 2])]);
        let message = "x.parquet: column volume holds INT32; it must hold doubles";
        assert_eq!(read(&whole), Err(message.to_owned()));
        let none = read(&to_parquet(&[], &[])).unwrap_err();
        assert_eq!(none, "x.parquet: the file has no candles; add at least one");
        for nonsense in ["", "PAR1", "time,open,high,low,close,volume\n60000,1,1,1,1,0\n"] {
            let message = read(nonsense.as_bytes()).unwrap_err();
            assert!(message.starts_with("x.parquet: this is not a valid Parquet file"), "{message}");
        }
    }
}
