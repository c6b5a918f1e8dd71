//! Python classes for candles, prices, settlements and signals.

use candlewick_sdk::{Candle, CloseType, Direction, Interval, Millis, Ohlcv, Price, Reason, Settlement};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A closed candle.
#[pyclass(name = "Candle", module = "candlewick", frozen)]
pub(crate) struct PyCandle(pub(crate) Candle);

#[pymethods]
impl PyCandle {
    #[new]
    #[pyo3(signature = (time, open, high, low, close, volume = 0.0))]
    fn new(time: i64, open: f64, high: f64, low: f64, close: f64, volume: f64) -> PyResult<Self> {
        let numbers = Ohlcv { open, high, low, close, volume };
        let candle = Candle::new(Millis::new(time), Interval::SECOND, numbers);
        candle.map(Self).map_err(|error| PyValueError::new_err(format!("invalid candle: {error}")))
    }

    /// Open time in milliseconds since 1970-01-01 UTC.
    #[getter]
    fn time(&self) -> i64 {
        self.0.time().get()
    }

    #[getter]
    fn open(&self) -> f64 {
        self.0.open()
    }

    #[getter]
    fn high(&self) -> f64 {
        self.0.high()
    }

    #[getter]
    fn low(&self) -> f64 {
        self.0.low()
    }

    #[getter]
    fn close(&self) -> f64 {
        self.0.close()
    }

    #[getter]
    fn volume(&self) -> f64 {
        self.0.volume()
    }

    fn __repr__(&self) -> String {
        let candle = &self.0;
        let (open, high, low) = (candle.open(), candle.high(), candle.low());
        let (close, volume) = (candle.close(), candle.volume());
        let time = candle.time();
        format!("Candle(time={time}, open={open}, high={high}, low={low}, close={close}, volume={volume})")
    }
}

/// A price that arrives between candle closes.
#[pyclass(name = "Price", module = "candlewick", frozen)]
pub(crate) struct PyPrice(pub(crate) Price);

#[pymethods]
impl PyPrice {
    /// Venue time in milliseconds since 1970-01-01 UTC.
    #[getter]
    fn time(&self) -> i64 {
        self.0.time.get()
    }

    #[getter]
    fn value(&self) -> f64 {
        self.0.value
    }
}

/// Settlement of one of the bot's own trades.
#[pyclass(name = "Settlement", module = "candlewick", frozen)]
pub(crate) struct PySettlement(pub(crate) Settlement);

#[pymethods]
impl PySettlement {
    /// Direction of the trade: `BUY` or `SELL`.
    #[getter]
    fn direction(&self) -> String {
        self.0.direction.to_string()
    }

    /// Time of the signal in milliseconds since 1970-01-01 UTC.
    #[getter]
    fn decision_time(&self) -> i64 {
        self.0.decision_time.get()
    }

    /// Outcome of the trade: `WON`, `LOST`, `DRAW` or `CANCELLED`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.as_str()
    }

    /// Net profit in minor units of the wallet's currency, such as cents. A loss is negative.
    #[getter]
    fn profit_minor(&self) -> i64 {
        self.0.profit.minor()
    }
}

/// A request for a trade, created by `buy()` and `sell()`.
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
            close_type.map_err(|error| PyValueError::new_err(format!("invalid close_type: {error}")))?;
        let mut signal = Self { direction, reason, names: Vec::new(), numbers: Vec::new(), close_type };
        for (name, number) in numbers.into_iter().flatten() {
            let (name, number): (String, f64) = (name.extract()?, number.extract()?);
            if number.is_nan() {
                let problem = format!("{name} is NaN: numbers in a reason must not be NaN");
                return Err(PyValueError::new_err(problem));
            }
            signal.names.push(name);
            signal.numbers.push(number);
        }
        if signal.names.len() > Reason::MAX_NUMBERS {
            let problem = format!("too many numbers in a reason: use at most {}", Reason::MAX_NUMBERS);
            return Err(PyValueError::new_err(problem));
        }
        Ok(signal)
    }

    /// Direction of the trade: `BUY` or `SELL`.
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
