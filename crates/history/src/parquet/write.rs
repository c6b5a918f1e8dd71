//! Writes candles as Parquet.

use crate::HistoryError;
use crate::disk::{SystemDisk, replace};
use candlewick_sdk::{Candle, CandleSeries};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

const SCHEMA: &str = "message candles { required int64 time (TIMESTAMP(MILLIS,true)); required double open; \
    required double high; required double low; required double close; required double volume;";
const GROUP_CANDLES: usize = 64 * 1024;

pub fn write_parquet(candles: &[Candle], writer: impl Write + Send) -> std::io::Result<()> {
    put(candles, &[], writer).map_err(std::io::Error::other)
}

pub fn write_parquet_file(series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
    let bytes = to_parquet(series.candles(), &[]);
    let check_path = |source| HistoryError::Io { path: path.to_owned(), action: "write", source };
    replace(&SystemDisk, path, &[&bytes]).map_err(check_path)
}

pub(crate) fn to_parquet(candles: &[Candle], extra: &[(&str, &[i64])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(candles, extra, &mut bytes).expect("numbers fit their columns, and memory takes every byte");
    bytes
}

fn put(candles: &[Candle], extra: &[(&str, &[i64])], writer: impl Write + Send) -> Result<(), ParquetError> {
    let mut schema = String::from(SCHEMA);
    for (name, _) in extra {
        let _ = write!(schema, " required int64 {name};");
    }
    let schema = Arc::new(parse_message_type(&(schema + " }"))?);
    // Bytes of one place lie together, so that signs and exponents, which hardly change, pack well.
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::BYTE_STREAM_SPLIT)
        .set_column_encoding("time".into(), Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let mut file = SerializedFileWriter::new(writer, schema, Arc::new(properties))?;
    let numbers: [fn(&Candle) -> f64; 5] =
        [Candle::open, Candle::high, Candle::low, Candle::close, Candle::volume];
    for (number, chunk) in candles.chunks(GROUP_CANDLES).enumerate() {
        let mut group = file.next_row_group()?;
        let times: Vec<i64> = chunk.iter().map(|candle| candle.time().get()).collect();
        put_integers(&mut group, &times)?;
        for number in numbers {
            put_floats(&mut group, &chunk.iter().map(number).collect::<Vec<f64>>())?;
        }
        for (_, column) in extra {
            let start = number * GROUP_CANDLES;
            put_integers(&mut group, &column[start..start + chunk.len()])?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn put_integers<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[i64],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<Int64Type>().write_batch(values, None, None)?;
    column.close()
}

fn put_floats<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[f64],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<DoubleType>().write_batch(values, None, None)?;
    column.close()
}
