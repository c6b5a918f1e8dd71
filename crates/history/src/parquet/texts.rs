//! Reads Parquet columns that contain short texts, such as symbols, intervals and flags.

use super::{catch_panics, check_offsets, open, parquet_problem};
use crate::import::TextColumn;
use parquet::column::reader::{ColumnReader as Reader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader};

const BATCH_ROWS: usize = 65_536;

pub(crate) fn read_texts(
    content: impl ChunkReader + 'static,
    is_wanted: fn(&str) -> bool,
) -> Result<Vec<TextColumn>, String> {
    catch_panics(|| {
        let file = open(content)?;
        let columns = file.metadata().file_metadata().schema_descr().columns();
        let names = columns.iter().map(|column| column.path().string());
        let wanted: Vec<(usize, String)> = names.enumerate().filter(|(_, name)| is_wanted(name)).collect();
        let mut texts: Vec<_> = wanted.iter().map(|(_, name)| TextColumn::new(name.clone())).collect();
        for index in 0..file.metadata().num_row_groups() {
            let group = file.get_row_group(index).map_err(|error| parquet_problem(&error))?;
            check_offsets(&*group)?;
            for ((place, _), column) in wanted.iter().zip(&mut texts) {
                read_group(&*group, *place, column)?;
            }
        }
        Ok(texts)
    })
}

fn read_group(group: &dyn RowGroupReader, place: usize, texts: &mut TextColumn) -> Result<(), String> {
    match group.get_column_reader(place).map_err(|error| parquet_problem(&error))? {
        Reader::ByteArrayColumnReader(reader) => {
            let text = |value: &ByteArray| String::from_utf8_lossy(value.data()).into_owned();
            read_values(reader, group, place, text, texts)
        }
        Reader::BoolColumnReader(reader) => read_values(reader, group, place, ToString::to_string, texts),
        Reader::Int32ColumnReader(reader) => read_values(reader, group, place, ToString::to_string, texts),
        Reader::Int64ColumnReader(reader) => read_values(reader, group, place, ToString::to_string, texts),
        Reader::DoubleColumnReader(reader) => read_values(reader, group, place, ToString::to_string, texts),
        _ => Ok(()),
    }
}

fn read_values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    group: &dyn RowGroupReader,
    place: usize,
    text_of: impl Fn(&T::T) -> String,
    texts: &mut TextColumn,
) -> Result<(), String> {
    let column = group.metadata().schema_descr().column(place);
    if column.max_rep_level() > 0 {
        return Ok(());
    }
    let present = column.max_def_level();
    loop {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let wanted_levels = (present > 0).then_some(&mut levels);
        let (rows, _, _) = reader
            .read_records(BATCH_ROWS, wanted_levels, None, &mut values)
            .map_err(|error| parquet_problem(&error))?;
        if rows == 0 {
            return Ok(());
        }
        let mut values = values.iter();
        for row in 0..rows {
            let is_there = present == 0 || levels.get(row) == Some(&present);
            let value = if is_there { values.next() } else { None };
            texts.push(&value.map(&text_of).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::import::{ImportSettings, import_bytes};
    use crate::parquet::tests::{Column, NUMBERS, file as file_of};
    use parquet::data_type::ByteArray;
    use std::path::Path;

    /// 2026-01-05 09:00 UTC.
    const NINE: i64 = 1_767_603_600_000;

    fn file(symbols: &[Option<&str>], finished: &[bool]) -> Vec<u8> {
        let columns = "optional binary symbol (STRING); required boolean complete;";
        let schema = format!("required int64 time; {NUMBERS} required double volume; {columns}");
        let times: Vec<i64> = (0..).map(|minute| NINE + minute * 60_000).take(symbols.len()).collect();
        let numbers = vec![1.5; symbols.len()];
        let texts: Vec<ByteArray> = symbols.iter().flatten().map(|symbol| ByteArray::from(*symbol)).collect();
        let levels: Vec<i16> = symbols.iter().map(|symbol| i16::from(symbol.is_some())).collect();
        let mut columns = vec![Column::Int64(&times)];
        columns.extend((0..5).map(|_| Column::Double(&numbers)));
        columns.extend([Column::MaybeText(&texts, &levels), Column::Bool(finished)]);
        file_of(&schema, &columns)
    }

    fn import(bytes: &[u8]) -> Result<(usize, u64), String> {
        let imported = import_bytes(bytes, Path::new("EURUSD_1m.parquet"), &ImportSettings::default());
        let imported = imported.map_err(|error| error.to_string())?;
        Ok((imported.candles.candles().len(), imported.unfinished_rows))
    }

    #[test]
    fn symbols_and_flags_of_a_file_are_read() {
        let euro = [Some("EURUSD"), None, Some("EUR/USD")];
        assert_eq!(import(&file(&euro, &[true, true, false])), Ok((2, 1)));
        let two = file(&[Some("EURUSD"), Some("GBPUSD"), Some("EURUSD")], &[true; 3]);
        let error = import(&two).unwrap_err();
        assert!(error.contains("EURUSD (2 rows, the first in row 1), GBPUSD (1 rows,"), "{error}");
    }
}
