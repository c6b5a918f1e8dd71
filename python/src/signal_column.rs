//! Signal columns, which have one signal per candle, and the strategy that trades a signal column.

use crate::candles::{candles_from_table, candles_to_batch};
use crate::definition::{read_warmup, short_repr};
use crate::host::PyHost;
use crate::strategy::with_note;
use crate::table::{Table, array_to_numbers, read_arrays};
use arrow_array::{Array, BooleanArray};
use candlewick_records::format_utc;
use candlewick_sdk::{BotContext, Candle, CandleSeries, Direction, Interval, Series, Signal, Strategy};
use pyo3::PyTypeInfo;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// Number of checks for look-ahead. Each check computes the column again from fewer candles.
const TRUNCATION_CHECKS: usize = 12;

/// Signal at a candle: 1 to buy, -1 to sell, 0 for no signal.
pub(crate) type Sign = i8;

const fn to_direction(sign: Sign) -> Option<Direction> {
    match sign {
        1 => Some(Direction::Buy),
        -1 => Some(Direction::Sell),
        _ => None,
    }
}

fn compute_column(signals: &Bound<'_, PyAny>, candles: &[Candle]) -> PyResult<Vec<Sign>> {
    let table = candles_to_batch(candles).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let answer = signals.call1((Bound::new(signals.py(), Table(table))?,))?;
    let numbers = read_numbers(&answer)?;
    if numbers.len() != candles.len() {
        let (signals, candles) = (numbers.len(), candles.len());
        let problem =
            format!("signals() returned {signals} numbers for {candles} candles: return one per candle");
        return Err(PyValueError::new_err(problem));
    }
    let sign = |(number, candle): (&f64, &Candle)| match *number {
        1.0 => Ok(1),
        -1.0 => Ok(-1),
        // pandas and NumPy use NaN for a missing value.
        number if number == 0.0 || number.is_nan() => Ok(0),
        number => {
            let time = format_utc(candle.time());
            let problem =
                format!("signals() returned {number} at {time}: use 1 to buy, -1 to sell, 0 for no signal");
            Err(PyValueError::new_err(problem))
        }
    };
    numbers.iter().zip(candles).map(sign).collect()
}

/// Reads numbers from a `NumPy` array, a data frame column or a list. Missing values become NaN.
fn read_numbers(answer: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let py = answer.py();
    macro_rules! numbers_from {
        ($($kind:ty),+) => {$(
            if let Ok(buffer) = PyBuffer::<$kind>::get(answer) {
                #[allow(clippy::cast_lossless, reason = "whole numbers are small, or rejected later")]
                return Ok(buffer.to_vec(py)?.into_iter().map(|number| number as f64).collect());
            }
        )+};
    }
    numbers_from!(f64, i64, i8, f32, i32, i16);
    if let Some(arrays) = read_arrays(answer)? {
        let mut numbers = Vec::with_capacity(arrays.iter().map(Array::len).sum());
        for array in &arrays {
            numbers.extend(array_to_numbers(&**array).ok_or_else(|| {
                let hint = if array.as_any().is::<BooleanArray>() {
                    ": use 1 to buy, -1 to sell, 0 for no signal"
                } else {
                    ""
                };
                PyTypeError::new_err(format!(
                    "signals() returned a column of type {}{hint}",
                    array.data_type()
                ))
            })?);
        }
        return Ok(numbers);
    }
    answer.extract::<Vec<f64>>().map_err(|_| {
        let problem = format!(
            "signals() returned {}: return an array, a column or a list of numbers, one per candle",
            short_repr(answer)
        );
        PyTypeError::new_err(problem)
    })
}

/// Checks that no signal depends on later candles, by computing the column again from fewer candles.
fn check_truncations(
    signals: &Bound<'_, PyAny>,
    candles: &[Candle],
    column: &[Sign],
    count: usize,
) -> PyResult<()> {
    for place in 1..=count {
        // The distances are uneven, so that a periodic function cannot hide its look-ahead.
        let end = candles.len() * place / (count + 1) + place % 7;
        let end = end.clamp(1, candles.len());
        compare_columns(&compute_column(signals, &candles[..end])?, column, &candles[..end])?;
    }
    Ok(())
}

/// Returns an error if a signal in `shorter` differs in `longer`, which was computed from additional later candles.
fn compare_columns(shorter: &[Sign], longer: &[Sign], candles: &[Candle]) -> PyResult<()> {
    let differs = |(place, (before, after)): (usize, (&Sign, &Sign))| (before != after).then_some(place);
    let Some(place) = shorter.iter().zip(longer).enumerate().find_map(differs) else { return Ok(()) };
    let label = |sign: Sign| to_direction(sign).map_or_else(|| "no signal".to_owned(), |one| one.to_string());
    let (time, last) = (format_utc(candles[place].time()), format_utc(candles[shorter.len() - 1].time()));
    let (before, after) = (label(shorter[place]), label(longer[place]));
    Err(LookaheadError::new_err(format!(
        "signals() looks ahead: for the candle of {time}, it returns {before} if {last} is the last candle, but \
         {after} if later candles follow. Use only this and earlier candles, for example with shift()"
    )))
}

pyo3::import_exception!(candlewick._errors, LookaheadError);

/// Computes the signals of a table of candles, and checks that no signal changes when later candles are added.
/// Raises `LookaheadError` at the first candle whose signal changes.
#[pyfunction]
#[pyo3(signature = (signals, candles, interval, truncations = TRUNCATION_CHECKS))]
pub(crate) fn check_lookahead(
    signals: &Bound<'_, PyAny>,
    candles: &Bound<'_, PyAny>,
    interval: &str,
    truncations: usize,
) -> PyResult<Vec<Sign>> {
    let interval: Interval = interval.parse().map_err(crate::command::value_error)?;
    let candles = candles_from_table(candles, interval)?;
    let column = compute_column(signals, &candles)?;
    check_truncations(signals, &candles, &column, truncations)?;
    Ok(column)
}

/// Checks at compile time that `LookaheadError` is a Python type.
const _: fn(Python<'_>) = |py| drop(LookaheadError::type_object(py));

/// Minimum number of candles collected beyond the warm-up before old candles are dropped.
const SPARE_CANDLES: usize = 64;

pub(crate) struct SignalColumnStrategy {
    bot: BotContext,
    host: Arc<PyHost>,
    warmup: usize,
    signals: Py<PyAny>,
    checks: bool,
    state: State,
}

enum State {
    New,
    /// All candles are known in advance. `next` is the index of the next candle.
    Whole {
        candles: CandleSeries,
        column: Vec<Sign>,
        next: usize,
    },
    /// Only the latest candles are known. `column` has their signals, as computed after the previous candle.
    Latest {
        candles: Vec<Candle>,
        column: Vec<Sign>,
    },
    Failed,
}

impl SignalColumnStrategy {
    pub(crate) fn new(object: &Bound<'_, PyAny>, bot: &BotContext, host: Arc<PyHost>) -> PyResult<Self> {
        Ok(Self {
            bot: bot.clone(),
            host,
            warmup: read_warmup(object)?,
            signals: object.getattr("signals")?.unbind(),
            checks: object.getattr("checks_lookahead")?.extract()?,
            state: State::New,
        })
    }

    fn initial_state(&self, candle: &Candle) -> PyResult<State> {
        let series = Series { symbol: self.bot.symbol, interval: self.bot.interval };
        let Some(known) = self.host.find_candles(series, candle) else {
            return Ok(State::Latest { candles: Vec::new(), column: Vec::new() });
        };
        let column = Python::attach(|py| {
            let signals = self.signals.bind(py);
            let column = compute_column(signals, known.candles())?;
            if self.checks {
                check_truncations(signals, known.candles(), &column, TRUNCATION_CHECKS)?;
            }
            PyResult::Ok(column)
        })?;
        let next = known.candles().partition_point(|one| one.time() < candle.time());
        Ok(State::Whole { candles: known, column, next })
    }

    fn sign_at(&mut self, candle: &Candle) -> PyResult<Sign> {
        if matches!(self.state, State::New) {
            self.state = self.initial_state(candle)?;
        }
        match &mut self.state {
            State::New | State::Failed => Ok(0),
            State::Whole { candles, column, next } => {
                let place = *next;
                *next += 1;
                if candles.candles().get(place) == Some(candle) {
                    return Ok(column[place]);
                }
                // Some candles may have been skipped, as between the windows of a walk-forward.
                let found = candles.candles().binary_search_by_key(&candle.time(), Candle::time);
                let found = found.ok().filter(|place| candles.candles()[*place] == *candle);
                let place = found.ok_or_else(|| {
                    let time = format_utc(candle.time());
                    PyRuntimeError::new_err(format!("no signal was computed for the candle of {time}"))
                })?;
                *next = place + 1;
                Ok(column[place])
            }
            State::Latest { candles, column } => {
                let kept = self.warmup.max(2);
                if candles.len() >= kept + kept.max(SPARE_CANDLES) {
                    candles.drain(..candles.len() - kept);
                    column.clear();
                }
                candles.push(*candle);
                let now = Python::attach(|py| compute_column(self.signals.bind(py), candles))?;
                // Dropped candles may change the signals of the warm-up, so a cleared column is not compared.
                compare_columns(column, &now, candles)?;
                *column = now;
                Ok(column[column.len() - 1])
            }
        }
    }
}

impl Strategy for SignalColumnStrategy {
    fn warmup(&self) -> usize {
        self.warmup
    }

    #[inline]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        if let State::Whole { candles, column, next } = &mut self.state
            && candles.candles().get(*next) == Some(candle)
        {
            let sign = column[*next];
            *next += 1;
            return to_signal(sign);
        }
        match self.sign_at(candle) {
            Ok(sign) => to_signal(sign),
            Err(error) => {
                self.state = State::Failed;
                let note =
                    format!("in signals() of the bot {}, at {}", self.bot.bot, format_utc(candle.time()));
                self.host.fail(with_note(error, &note));
                None
            }
        }
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

#[inline]
fn to_signal(sign: Sign) -> Option<Signal> {
    to_direction(sign).map(|direction| Signal::new(direction, "signal column"))
}
