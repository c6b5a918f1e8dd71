//! Baselines: the cost of the underlying libraries for the same data, without checks.

use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::path::Path;

pub(crate) fn csv(path: &Path) -> f64 {
    let mut reader = csv::Reader::from_path(path).expect("the file is there");
    let mut record = csv::ByteRecord::new();
    let mut rows: Vec<(i64, [f64; 5])> = Vec::new();
    while reader.read_byte_record(&mut record).expect("the lines are sound") {
        let text = |column: usize| std::str::from_utf8(&record[column]).expect("digits are text");
        let number = |column: usize| text(column).parse().expect("it is a number");
        let numbers = [number(1), number(2), number(3), number(4), number(5)];
        rows.push((text(0).parse().expect("it is a number"), numbers));
    }
    std::hint::black_box(&rows).last().map_or(0.0, |(_, numbers)| numbers[3])
}

pub(crate) fn parquet(path: &Path) -> f64 {
    let file =
        SerializedFileReader::new(File::open(path).expect("the file is there")).expect("it is Parquet");
    let mut times: Vec<i64> = Vec::new();
    let mut numbers: [Vec<f64>; 5] = Default::default();
    for index in 0..file.num_row_groups() {
        let group = file.get_row_group(index).expect("it is counted");
        let rows = group.metadata().num_rows() as usize;
        for column in 0..6 {
            match group.get_column_reader(column).expect("it has six columns") {
                ColumnReader::Int64ColumnReader(mut reader) => {
                    reader.read_records(rows, None, None, &mut times).expect("sound values");
                }
                ColumnReader::DoubleColumnReader(mut reader) => {
                    reader.read_records(rows, None, None, &mut numbers[column - 1]).expect("sound values");
                }
                _ => unreachable!("candles have times and doubles"),
            }
        }
    }
    std::hint::black_box((&times, &numbers));
    numbers[3].last().copied().unwrap_or_default()
}
