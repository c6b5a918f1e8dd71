//! Strategy that calls a Python object at each candle.

use crate::candle::{PyCandle, PyPrice, PySettlement, PySignal};
use crate::definition::{read_warmup, short_repr};
use crate::host::PyHost;
use candlewick_records::format_utc;
use candlewick_sdk::{
    BotContext, Candle, CloseType, Expiry, Interval, Millis, Price, ReasonTemplate, Settlement, Signal,
    Strategy,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// Maximum number of different reasons per strategy. A run keeps all reasons in memory.
const MAX_REASONS: usize = 200;

pub(crate) struct PyStrategy {
    bot: BotContext,
    host: Arc<PyHost>,
    warmup: usize,
    longer: Vec<Interval>,
    close_types: Vec<CloseType>,
    on_candle: Py<PyAny>,
    on_longer_candle: Option<Py<PyAny>>,
    on_price: Option<Py<PyAny>>,
    on_settled: Option<Py<PyAny>>,
    indicators: Option<Py<PyAny>>,
    indicator_names: OnceLock<Vec<String>>,
    templates: Vec<(String, Vec<String>, ReasonTemplate)>,
    /// Whether the object raised an exception or returned an invalid value. Such an object is not called again.
    has_failed: bool,
}

impl PyStrategy {
    pub(crate) fn new(object: &Bound<'_, PyAny>, bot: &BotContext, host: Arc<PyHost>) -> PyResult<Self> {
        let own = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let is_own: bool = object.call_method1("_overrides", (name,))?.extract()?;
            is_own.then(|| object.getattr(name).map(Bound::unbind)).transpose()
        };
        Ok(Self {
            bot: bot.clone(),
            host,
            warmup: read_warmup(object)?,
            longer: parse_list(object, "longer_intervals")?,
            close_types: parse_list(object, "close_types")?,
            on_candle: object.getattr("on_candle")?.unbind(),
            on_longer_candle: own("on_longer_candle")?,
            on_price: own("on_price")?,
            on_settled: own("on_settled")?,
            indicators: own("indicators")?,
            indicator_names: OnceLock::new(),
            templates: Vec::new(),
            has_failed: false,
        })
    }

    fn request_signal(
        &mut self,
        (method, time): (&str, Millis),
        call: impl for<'py> FnOnce(&Self, Python<'py>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Option<Signal> {
        if self.has_failed {
            return None;
        }
        let answered = Python::attach(|py| {
            let answer = call(self, py)?;
            self.convert_answer(&answer, method)
        });
        match answered {
            Ok(signal) => signal,
            Err(error) => {
                self.has_failed = true;
                let note = format!("in {method} of the bot {}, at {}", self.bot.bot, format_utc(time));
                self.host.fail(with_note(error, &note));
                None
            }
        }
    }

    fn convert_answer(&mut self, answer: &Bound<'_, PyAny>, method: &str) -> PyResult<Option<Signal>> {
        if answer.is_none() {
            return Ok(None);
        }
        let Ok(signal) = answer.cast::<PySignal>() else {
            let (kind, answer) = (answer.get_type().name()?.to_string(), short_repr(answer));
            let problem = format!(
                "{method} returned {answer} of type {kind}: return None, candlewick.buy(...) or candlewick.sell(...)"
            );
            return Err(PyTypeError::new_err(problem));
        };
        self.convert_signal(signal.get()).map(Some)
    }

    fn convert_signal(&mut self, signal: &PySignal) -> PyResult<Signal> {
        let PySignal { direction, reason, names, numbers, close_type } = signal;
        let known = self.templates.iter().find(|(text, of, _)| text == reason && of == names);
        let template = match known {
            Some((_, _, template)) => template.clone(),
            None if self.templates.len() == MAX_REASONS => {
                let problem = format!(
                    "more than {MAX_REASONS} different reasons: pass changing values as named numbers, as in \
                     candlewick.buy(\"rose\", change=change)"
                );
                return Err(PyValueError::new_err(problem));
            }
            None => {
                let template = ReasonTemplate::new(reason.as_str(), names.iter().map(String::as_str));
                self.templates.push((reason.clone(), names.clone(), template.clone()));
                template
            }
        };
        let expiry = close_type.map(|close_type| Expiry { close_type, ..self.bot.expiry });
        Ok(Signal { expiry, ..Signal::with_reason(*direction, template.with_numbers(numbers)) })
    }

    fn notify(&mut self, method: &str, call: impl FnOnce(&Self, Python<'_>) -> PyResult<()>) {
        if self.has_failed {
            return;
        }
        if let Err(error) = Python::attach(|py| call(self, py)) {
            self.has_failed = true;
            self.host.fail(with_note(error, &format!("in {method} of the bot {}", self.bot.bot)));
        }
    }
}

fn parse_list<T: FromStr<Err: Display>>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let texts: Vec<String> = object.getattr(name)?.extract()?;
    let invalid = |error: T::Err| PyValueError::new_err(format!("{name}: {error}"));
    texts.iter().map(|text| text.parse().map_err(invalid)).collect()
}

pub(crate) fn with_note(error: PyErr, note: &str) -> PyErr {
    Python::attach(|py| drop(error.value(py).call_method1("add_note", (note,))));
    error
}

impl Strategy for PyStrategy {
    fn warmup(&self) -> usize {
        self.warmup
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.request_signal(("on_candle", candle.time()), |own, py| {
            own.on_candle.bind(py).call1((Bound::new(py, PyCandle(*candle))?,))
        })
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        self.notify("on_longer_candle", |own, py| {
            let Some(method) = &own.on_longer_candle else { return Ok(()) };
            method.bind(py).call1((interval.to_string(), Bound::new(py, PyCandle(*candle))?)).map(drop)
        });
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.request_signal(("on_price", price.time), |own, py| match &own.on_price {
            Some(method) => method.bind(py).call1((Bound::new(py, PyPrice(*price))?,)),
            None => Ok(py.None().into_bound(py)),
        })
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        self.notify("on_settled", |own, py| {
            let Some(method) = &own.on_settled else { return Ok(()) };
            method.bind(py).call1((Bound::new(py, PySettlement(*settlement))?,)).map(drop)
        });
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        let own =
            self.close_types.iter().map(|close_type| Expiry { close_type: *close_type, ..self.bot.expiry });
        std::iter::once(None).chain(own.map(Some)).collect()
    }

    fn wants_settlements(&self) -> bool {
        self.on_settled.is_some()
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        let Some(method) = self.indicators.as_ref().filter(|_| !self.has_failed) else { return Vec::new() };
        let values = Python::attach(|py| method.bind(py).call0()?.extract::<BTreeMap<String, f64>>());
        let Ok(values) = values else {
            // These values are only displayed, so errors are ignored.
            return Vec::new();
        };
        let names = self.indicator_names.get_or_init(|| values.keys().cloned().collect());
        names.iter().filter_map(|name| Some((name.as_str(), *values.get(name)?))).collect()
    }
}
