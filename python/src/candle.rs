//! What a strategy in Python is shown: a candle, a price, the settlement of a trade of its own.

use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Price, Settlement};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
        candle.map(Self).map_err(|error| PyValueError::new_err(format!("this is no candle: {error}")))
    }

    /// When it opened, ms since 1970.
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

/// A price between candles.
#[pyclass(name = "Price", module = "candlewick", frozen)]
pub(crate) struct PyPrice(pub(crate) Price);

#[pymethods]
impl PyPrice {
    /// Venue time, ms since 1970.
    #[getter]
    fn time(&self) -> i64 {
        self.0.time.get()
    }

    #[getter]
    fn value(&self) -> f64 {
        self.0.value
    }
}

/// How one of the bot's own trades ended.
#[pyclass(name = "Settlement", module = "candlewick", frozen)]
pub(crate) struct PySettlement(pub(crate) Settlement);

#[pymethods]
impl PySettlement {
    /// `BUY` or `SELL`.
    #[getter]
    fn direction(&self) -> String {
        self.0.direction.to_string()
    }

    /// When it was decided, ms since 1970.
    #[getter]
    fn decision_time(&self) -> i64 {
        self.0.decision_time.get()
    }

    /// `WON`, `LOST`, `DRAW` or `CANCELLED`.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.as_str()
    }

    /// Net profit in the smallest unit of the wallet's currency.
    #[getter]
    fn profit_minor(&self) -> i64 {
        self.0.profit.minor()
    }
}
