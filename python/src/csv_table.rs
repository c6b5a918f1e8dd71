//! Files of results as tables: each column is of whole numbers, of numbers, or of texts.

use crate::table::Table;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads a file that a command wrote, with a header line. An empty cell is a missing value.
#[pyfunction]
pub(crate) fn read_csv(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let read = py.detach(|| read(&path));
    read.map(Table)
}

fn read(path: &PathBuf) -> PyResult<RecordBatch> {
    let unreadable = |error: csv::Error| PyOSError::new_err(format!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(unreadable)?;
    let names: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        columns.iter_mut().zip(&record).for_each(|(column, cell)| column.push(cell.to_owned()));
    }
    let columns = names.into_iter().zip(columns.iter().map(|cells| (array_of(cells), true)));
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, (array, nullable))| (name, array, nullable)))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

fn array_of(cells: &[String]) -> ArrayRef {
    fn parsed<T: std::str::FromStr>(cells: &[String]) -> Option<Vec<Option<T>>> {
        let one = |cell: &String| if cell.is_empty() { Some(None) } else { cell.parse().ok().map(Some) };
        cells.iter().map(one).collect()
    }
    if let Some(whole) = parsed::<i64>(cells) {
        return Arc::new(Int64Array::from(whole));
    }
    if let Some(numbers) = parsed::<f64>(cells) {
        return Arc::new(Float64Array::from(numbers));
    }
    let texts = cells.iter().map(|cell| (!cell.is_empty()).then_some(cell.as_str()));
    Arc::new(texts.collect::<StringArray>())
}
