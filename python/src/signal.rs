//! What a strategy in Python answers.

use candlewick_sdk::{CloseType, Direction, Reason};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A signal: made by `buy()` and `sell()`.
#[pyclass(name = "Signal", module = "candlewick", frozen)]
pub(crate) struct PySignal {
    pub(crate) direction: Direction,
    pub(crate) reason: String,
    pub(crate) names: Vec<String>,
    pub(crate) numbers: Vec<f64>,
    pub(crate) close_type: Option<CloseType>,
}

#[pymethods]
impl PySignal {
    #[new]
    #[pyo3(signature = (is_buy, reason, close_type = None, numbers = None))]
    fn new(
        is_buy: bool,
        reason: String,
        close_type: Option<&str>,
        numbers: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let direction = if is_buy { Direction::Buy } else { Direction::Sell };
        let close_type = close_type.map(str::parse).transpose();
        let close_type =
            close_type.map_err(|error| PyValueError::new_err(format!("close_type of a signal: {error}")))?;
        let mut signal = Self { direction, reason, names: Vec::new(), numbers: Vec::new(), close_type };
        for (name, number) in numbers.into_iter().flatten() {
            let (name, number): (String, f64) = (name.extract()?, number.extract()?);
            if number.is_nan() {
                let problem = format!("{name} is NaN: a number of a signal's reason must be one");
                return Err(PyValueError::new_err(problem));
            }
            signal.names.push(name);
            signal.numbers.push(number);
        }
        if signal.names.len() > Reason::MAX_NUMBERS {
            let problem = format!("a signal's reason has at most {} numbers", Reason::MAX_NUMBERS);
            return Err(PyValueError::new_err(problem));
        }
        Ok(signal)
    }

    /// `BUY` or `SELL`.
    #[getter]
    fn direction(&self) -> String {
        self.direction.to_string()
    }

    #[getter]
    fn reason(&self) -> &str {
        &self.reason
    }

    #[getter]
    fn close_type(&self) -> Option<String> {
        self.close_type.map(|close_type| close_type.to_string())
    }

    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let numbers = PyDict::new(py);
        for (name, number) in self.names.iter().zip(&self.numbers) {
            numbers.set_item(name, number)?;
        }
        Ok(numbers)
    }

    fn __repr__(&self) -> String {
        let numbers = self.names.iter().zip(&self.numbers).map(|(name, number)| format!(", {name}={number}"));
        let call = match self.direction {
            Direction::Buy => "buy",
            Direction::Sell => "sell",
        };
        format!("{call}({:?}{})", self.reason, numbers.collect::<String>())
    }
}
