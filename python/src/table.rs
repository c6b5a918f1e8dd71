//! Arrow tables, which are shared without a copy through the `PyCapsule` interface.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMillisecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, Float64Array, Int64Array, PrimitiveArray, RecordBatch,
    RecordBatchIterator, RecordBatchReader, StringArray, StructArray,
};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyBufferError, PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{CStr, c_int, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Arrow table that pandas, Polars, `DuckDB` and pyarrow can read without a copy.
#[pyclass(module = "candlewick", frozen)]
pub(crate) struct Table(pub(crate) RecordBatch);

/// Column of a table. `NumPy` can use numbers and times without a copy; data frame libraries can use all types.
#[pyclass(module = "candlewick", frozen)]
pub(crate) struct Column(ArrayRef);

fn arrow_error(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn to_capsules<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(|error| arrow_error(&error))?;
    let schema: Bound<'py, PyCapsule> = PyCapsule::new_with_value::<FFI_ArrowSchema>(py, schema, SCHEMA)?;
    let array: Bound<'py, PyCapsule> = PyCapsule::new_with_value::<FFI_ArrowArray>(py, array, ARRAY)?;
    PyTuple::new(py, [schema, array])
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // optional by the specification
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        to_capsules(py, &StructArray::from(self.0.clone()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(|error| arrow_error(&error))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __getitem__(&self, name: &str) -> PyResult<Column> {
        let column = self.0.column_by_name(name).cloned();
        column.map(Column).ok_or_else(|| {
            let names = self.column_names().join(", ");
            PyKeyError::new_err(format!("unknown column {name:?}; known columns: {names}"))
        })
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.0.num_rows(), self.column_names().join(", "))
    }
}

struct NumberBuffer {
    data: *const c_void,
    len: usize,
    format: &'static CStr,
}

fn primitive_buffer<T: ArrowPrimitiveType>(array: &dyn Array, format: &'static CStr) -> Option<NumberBuffer> {
    let values = array.as_any().downcast_ref::<PrimitiveArray<T>>()?.values();
    Some(NumberBuffer { data: values.as_ptr().cast(), len: values.len(), format })
}

impl Column {
    fn number_buffer(&self) -> PyResult<NumberBuffer> {
        let array = &*self.0;
        if array.null_count() > 0 {
            let problem = "the column has missing values, which a buffer cannot represent: use pandas, Polars or pyarrow";
            return Err(PyBufferError::new_err(problem));
        }
        primitive_buffer::<Float64Type>(array, c"d")
            .or_else(|| primitive_buffer::<Int64Type>(array, c"q"))
            .or_else(|| primitive_buffer::<TimestampMillisecondType>(array, c"q"))
            .ok_or_else(|| {
                let kind = array.data_type();
                PyBufferError::new_err(format!("buffers cannot hold {kind}: use pandas, Polars or pyarrow"))
            })
    }
}

#[pymethods]
impl Column {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        to_capsules(py, &*self.0)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("Column({} x {})", self.0.len(), self.0.data_type())
    }

    #[allow(unsafe_code, reason = "the buffer protocol uses pointers")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let NumberBuffer { data, len, format } = slf.get().number_buffer()?;
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("a column is read-only"));
        }
        let bytes =
            isize::try_from(len * size_of::<f64>()).map_err(|_| PyBufferError::new_err("too long"))?;
        // SAFETY: the caller provides `view`. The column is frozen and owns its memory, and the view owns the column.
        unsafe {
            if ffi::PyBuffer_FillInfo(view, slf.as_ptr(), data.cast_mut(), bytes, 1, flags) != 0 {
                return Err(PyErr::fetch(slf.py()));
            }
            (*view).itemsize = 8;
            if flags & ffi::PyBUF_FORMAT == ffi::PyBUF_FORMAT {
                (*view).format = format.as_ptr().cast_mut();
            }
            if flags & ffi::PyBUF_ND == ffi::PyBUF_ND {
                let shape = Box::new([bytes / 8, 8_isize]);
                let shape = Box::into_raw(shape).cast::<isize>();
                (*view).internal = shape.cast();
                (*view).shape = shape;
                (*view).strides = if flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES {
                    shape.add(1)
                } else {
                    ptr::null_mut()
                };
            }
        }
        Ok(())
    }

    #[allow(unsafe_code, clippy::unused_self, reason = "the buffer protocol uses pointers")]
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `__getbuffer__` has set `internal`, exactly once.
        unsafe {
            let shape = (*view).internal.cast::<[isize; 2]>();
            if !shape.is_null() {
                drop(Box::from_raw(shape));
            }
        }
    }
}

/// Reads the record batches of an Arrow stream, such as a data frame or a [`Table`].
pub(crate) fn read_batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    if let Ok(table) = table.cast::<Table>() {
        return Ok(vec![table.get().0.clone()]);
    }
    open_stream(table)?.collect::<Result<_, _>>().map_err(|error| arrow_error(&error))
}

#[allow(unsafe_code, reason = "the interface uses pointers")]
fn open_stream(table: &Bound<'_, PyAny>) -> PyResult<impl RecordBatchReader + use<>> {
    let Ok(method) = table.getattr("__arrow_c_stream__") else {
        let problem = format!(
            "{} is not a table of candles: use a pandas or Polars DataFrame, a DuckDB or pyarrow table, or a file name",
            table.get_type().name()?
        );
        return Err(PyTypeError::new_err(problem));
    };
    // SAFETY: a capsule of this name contains such a stream, and the stream is taken only once.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream_pointer(&method.call0()?)?) };
    reader.map_err(|error| arrow_error(&error))
}

fn stream_pointer(capsule: &Bound<'_, PyAny>) -> PyResult<*mut FFI_ArrowArrayStream> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?.cast().as_ptr())
}

/// Reads an Arrow array or a stream of Arrow arrays. `None` for any other object.
#[allow(unsafe_code, reason = "the interface uses pointers")]
pub(crate) fn read_arrays(column: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    if let Ok(method) = column.getattr("__arrow_c_array__") {
        let pair = method.call0()?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = pair.extract()?;
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names contain these types, and the array is taken only once.
        let data = unsafe {
            let array = FFI_ArrowArray::from_raw(array.as_ptr());
            arrow_array::ffi::from_ffi(array, schema.as_ref())
        };
        return Ok(Some(vec![arrow_array::make_array(data.map_err(|error| arrow_error(&error))?)]));
    }
    let Ok(method) = column.getattr("__arrow_c_stream__") else { return Ok(None) };
    let capsule = method.call0()?;
    // SAFETY: a capsule of this name contains such a stream, and the stream is taken only once.
    let reader = unsafe { arrow_array::ffi_stream::ArrayStreamReader::from_raw(stream_pointer(&capsule)?) };
    reader.and_then(Iterator::collect::<Result<Vec<_>, _>>).map(Some).map_err(|error| arrow_error(&error))
}

/// Converts an Arrow time to milliseconds. `None` if the result is not a whole number.
pub(crate) fn to_millis(kind: &DataType, value: i64) -> Option<i64> {
    use arrow_schema::TimeUnit;
    match kind {
        DataType::Timestamp(TimeUnit::Second, _) => value.checked_mul(1_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) if value % 1_000 == 0 => Some(value / 1_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) if value % 1_000_000 == 0 => Some(value / 1_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) | DataType::Int64 => Some(value),
        _ => None,
    }
}

/// Reads a CSV file that a command has written. An empty cell counts as a missing value.
#[pyfunction]
pub(crate) fn read_csv(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| read_csv_file(&path)).map(Table)
}

fn read_csv_file(path: &PathBuf) -> PyResult<RecordBatch> {
    let unreadable = |error: csv::Error| PyOSError::new_err(format!("{}: {error}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(unreadable)?;
    let names: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        columns.iter_mut().zip(&record).for_each(|(column, cell)| column.push(cell.to_owned()));
    }
    let columns = names.into_iter().zip(&columns).map(|(name, cells)| (name, parse_column(cells), true));
    RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| arrow_error(&error))
}

fn parse_column(cells: &[String]) -> ArrayRef {
    fn parse_cells<T: std::str::FromStr>(cells: &[String]) -> Option<Vec<Option<T>>> {
        let one = |cell: &String| if cell.is_empty() { Some(None) } else { cell.parse().ok().map(Some) };
        cells.iter().map(one).collect()
    }
    if let Some(whole) = parse_cells::<i64>(cells) {
        return Arc::new(Int64Array::from(whole));
    }
    if let Some(numbers) = parse_cells::<f64>(cells) {
        return Arc::new(Float64Array::from(numbers));
    }
    Arc::new(cells.iter().map(|cell| (!cell.is_empty()).then_some(cell.as_str())).collect::<StringArray>())
}

/// Returns the numbers of an array, with NaN for missing values. `None` if the element type is not supported.
pub(crate) fn array_to_numbers(array: &dyn Array) -> Option<Vec<f64>> {
    fn read_column<T: ArrowPrimitiveType>(
        array: &dyn Array,
        to: impl Fn(T::Native) -> f64,
    ) -> Option<Vec<f64>> {
        let array = array.as_any().downcast_ref::<PrimitiveArray<T>>()?;
        Some(array.iter().map(|number| number.map_or(f64::NAN, &to)).collect())
    }
    read_column::<Float64Type>(array, |number| number)
        .or_else(|| read_column::<Int64Type>(array, |number| number as f64))
        .or_else(|| read_column::<Int32Type>(array, f64::from))
        .or_else(|| read_column::<Int16Type>(array, f64::from))
        .or_else(|| read_column::<Int8Type>(array, f64::from))
        .or_else(|| read_column::<Float32Type>(array, f64::from))
}
