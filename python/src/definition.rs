//! Strategy classes defined in Python.

use crate::host::PyHost;
use crate::signal_column::SignalColumnStrategy;
use crate::strategy::PyStrategy;
use candlewick_sdk::{BotContext, BuildError, Parameter, Strategy, StrategyEntry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// A parameter of a strategy: name, default as JSON, minimum, maximum and description.
type PyParameter = (String, String, Option<f64>, Option<f64>, String);

/// A registered strategy class.
#[pyclass(module = "candlewick", frozen)]
pub(crate) struct Definition {
    name: String,
    version: String,
    about: String,
    parameters: Vec<Parameter>,
    /// Python callable that builds the strategy object from the parameters (JSON) and the bot.
    build: Py<PyAny>,
    wants_prices: bool,
    has_columns: bool,
}

#[pymethods]
impl Definition {
    #[new]
    fn new(
        names: (String, String, String),
        parameters: Vec<PyParameter>,
        build: Py<PyAny>,
        wants_prices: bool,
        has_columns: bool,
    ) -> PyResult<Self> {
        let (name, version, about) = names;
        let parameters = parameters.into_iter().map(build_parameter).collect::<PyResult<_>>()?;
        Ok(Self { name, version, about, parameters, build, wants_prices, has_columns })
    }
}

fn build_parameter((name, default, minimum, maximum, about): PyParameter) -> PyResult<Parameter> {
    let default: Value = serde_json::from_str(&default)
        .map_err(|error| PyValueError::new_err(format!("default of {name}: {error}")))?;
    let mut parameter = Parameter::new(name, default).with_about(about);
    (parameter.minimum, parameter.maximum) = (minimum, maximum);
    Ok(parameter)
}

impl Definition {
    pub(crate) fn build_entry(&self, py: Python<'_>, host: &Arc<PyHost>) -> StrategyEntry {
        let (name, build) = (self.name.clone(), self.build.clone_ref(py));
        let (host, has_columns) = (host.clone(), self.has_columns);
        let build_strategy = move |values: &Value, bot: &BotContext| {
            let built = Python::attach(|py| -> PyResult<Box<dyn Strategy>> {
                let object = build.call1(py, (values.to_string(), bot.bot.clone(), series_labels(bot)))?;
                let host = host.clone();
                Ok(if has_columns {
                    Box::new(SignalColumnStrategy::new(object.bind(py), bot, host)?)
                } else {
                    Box::new(PyStrategy::new(object.bind(py), bot, host)?)
                })
            });
            built.map_err(|error| BuildError::invalid_parameters(name.as_str(), error.to_string()))
        };
        let entry = StrategyEntry::new(self.name.clone(), self.version.clone(), build_strategy);
        let entry = entry.with_about(self.about.clone());
        let entry = if self.wants_prices { entry.with_prices() } else { entry };
        self.parameters.iter().cloned().fold(entry, StrategyEntry::with_parameter)
    }
}

fn series_labels(bot: &BotContext) -> (String, String, String) {
    (bot.symbol.to_string(), bot.interval.to_string(), bot.expiry.close_type.to_string())
}

pub(crate) fn read_warmup(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    let answer = object.call_method0("warmup")?;
    answer.extract::<usize>().map_err(|_| {
        let problem =
            format!("warmup() returned {}: return a whole number of candles, 0 or more", short_repr(&answer));
        PyValueError::new_err(problem)
    })
}

pub(crate) fn short_repr(object: &Bound<'_, PyAny>) -> String {
    const MAX_LENGTH: usize = 80;
    let text = object.repr().map_or_else(|_| "an object without repr".to_owned(), |text| text.to_string());
    if text.chars().count() <= MAX_LENGTH {
        return text;
    }
    text.chars().take(MAX_LENGTH).chain("...".chars()).collect()
}
