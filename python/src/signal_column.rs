//! Columns of signals, one for each candle, and the strategy that trades them.

use crate::candles::{batch_of, series_of_table};
use crate::definition::{repr, warmup_of};
use crate::host::PyHost;
use crate::strategy::noted;
use crate::table::{Table, arrays_of, numbers_of_array};
use arrow_array::{Array, BooleanArray};
use candlewick_records::utc;
use candlewick_sdk::{BotContext, Candle, CandleSeries, Direction, Interval, Series, Signal, Strategy};
use pyo3::PyTypeInfo;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// How often a column is computed again, of candles that end earlier.
const TRUNCATIONS: usize = 12;

/// What a column says at a candle: +1 buys, -1 sells, 0 does neither.
pub(crate) type Sign = i8;

const fn direction_of(sign: Sign) -> Option<Direction> {
    match sign {
        1 => Some(Direction::Buy),
        -1 => Some(Direction::Sell),
        _ => None,
    }
}

fn column_of(signals: &Bound<'_, PyAny>, candles: &[Candle]) -> PyResult<Vec<Sign>> {
    let table = batch_of(candles).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let answer = signals.call1((Bound::new(signals.py(), Table(table))?,))?;
    let numbers = numbers_of(&answer)?;
    if numbers.len() != candles.len() {
        let (signals, candles) = (numbers.len(), candles.len());
        let problem =
            format!("signals() answered {signals} numbers for {candles} candles: there must be one for each");
        return Err(PyValueError::new_err(problem));
    }
    let sign = |(number, candle): (&f64, &Candle)| match *number {
        1.0 => Ok(1),
        -1.0 => Ok(-1),
        // Missing, as pandas and NumPy say it.
        number if number == 0.0 || number.is_nan() => Ok(0),
        number => {
            let time = utc(candle.time());
            let problem = format!("signals() answered {number} at {time}: 1 buys, -1 sells, 0 does neither");
            Err(PyValueError::new_err(problem))
        }
    };
    numbers.iter().zip(candles).map(sign).collect()
}

/// Numbers of an array of `NumPy`, a series or column of pandas, Polars or pyarrow, or a list; missing ones are NaN.
fn numbers_of(answer: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let py = answer.py();
    macro_rules! buffer_of {
        ($($kind:ty),+) => {$(
            if let Ok(buffer) = PyBuffer::<$kind>::get(answer) {
                #[allow(clippy::cast_lossless, reason = "whole numbers are small, or refused as they are")]
                return Ok(buffer.to_vec(py)?.into_iter().map(|number| number as f64).collect());
            }
        )+};
    }
    buffer_of!(f64, i64, i8, f32, i32, i16);
    if let Some(arrays) = arrays_of(answer)? {
        let mut numbers = Vec::with_capacity(arrays.iter().map(Array::len).sum());
        for array in &arrays {
            numbers.extend(numbers_of_array(&**array).ok_or_else(|| {
                let hint = if array.as_any().is::<BooleanArray>() {
                    ": 1 buys, -1 sells, 0 does neither"
                } else {
                    ""
                };
                PyTypeError::new_err(format!("signals() answered a column of {}{hint}", array.data_type()))
            })?);
        }
        return Ok(numbers);
    }
    answer.extract::<Vec<f64>>().map_err(|_| {
        let problem = format!(
            "signals() answered {}: it must be an array, a column or a list of numbers, one for each candle",
            repr(answer)
        );
        PyTypeError::new_err(problem)
    })
}

/// Holds a column to those that the same function computes of fewer candles: what a candle says may not change with those after it.
fn check_truncations(
    signals: &Bound<'_, PyAny>,
    candles: &[Candle],
    column: &[Sign],
    count: usize,
) -> PyResult<()> {
    for place in 1..=count {
        // Unevenly spread, so that a period of the function does not hide it.
        let end = candles.len() * place / (count + 1) + place % 7;
        let end = end.clamp(1, candles.len());
        let shorter = column_of(signals, &candles[..end])?;
        check_same(&shorter, column, &candles[..end])?;
    }
    Ok(())
}

/// The error that `longer`, computed of more candles, says something else than `shorter` where both say something.
fn check_same(shorter: &[Sign], longer: &[Sign], candles: &[Candle]) -> PyResult<()> {
    let differs = |(place, (before, after)): (usize, (&Sign, &Sign))| (before != after).then_some(place);
    let Some(place) = shorter.iter().zip(longer).enumerate().find_map(differs) else { return Ok(()) };
    let words = |sign: Sign| direction_of(sign).map_or_else(|| "no signal".to_owned(), |one| one.to_string());
    let (time, last) = (utc(candles[place].time()), utc(candles[shorter.len() - 1].time()));
    let (before, after) = (words(shorter[place]), words(longer[place]));
    Err(LookaheadError::new_err(format!(
        "signals() looks ahead: at the candle of {time} it says {before} where the candles end with that of {last}, and \
         {after} where more follow; compute each signal of candles up to its own, with shift() for those before"
    )))
}

pyo3::import_exception!(candlewick._errors, LookaheadError);

/// Computes the columns of a function of the whole table and of its beginnings. Raises `LookaheadError` at the first candle whose signal
/// changes with the candles after it; the signals of the whole otherwise.
#[pyfunction]
#[pyo3(signature = (signals, candles, interval, truncations = TRUNCATIONS))]
pub(crate) fn check_lookahead(
    signals: &Bound<'_, PyAny>,
    candles: &Bound<'_, PyAny>,
    interval: &str,
    truncations: usize,
) -> PyResult<Vec<Sign>> {
    let interval: Interval = interval.parse().map_err(crate::command::invalid)?;
    let candles = series_of_table(candles, interval)?;
    let column = column_of(signals, &candles)?;
    check_truncations(signals, &candles, &column, truncations)?;
    Ok(column)
}

/// That the exception is there, which the package defines.
const _: fn(Python<'_>) = |py| drop(LookaheadError::type_object(py));

/// Candles beyond the warm-up that are kept before the oldest are dropped.
const SPARE: usize = 64;

pub(crate) struct SignalSource {
    bot: BotContext,
    host: Arc<PyHost>,
    warmup: usize,
    signals: Py<PyAny>,
    checks: bool,
    state: State,
}

enum State {
    New,
    /// The column of all candles: that of the next candle is at `next`.
    Whole {
        candles: CandleSeries,
        column: Vec<Sign>,
        next: usize,
    },
    /// The latest candles, and the column that was computed of them last; its length is theirs, or less where some were dropped.
    Latest {
        candles: Vec<Candle>,
        column: Vec<Sign>,
    },
    Failed,
}

impl SignalSource {
    pub(crate) fn new(object: &Bound<'_, PyAny>, bot: &BotContext, host: Arc<PyHost>) -> PyResult<Self> {
        Ok(Self {
            bot: bot.clone(),
            host,
            warmup: warmup_of(object)?,
            signals: object.getattr("signals")?.unbind(),
            checks: object.getattr("checks_lookahead")?.extract()?,
            state: State::New,
        })
    }

    fn begin(&self, candle: &Candle) -> PyResult<State> {
        let series = Series { symbol: self.bot.symbol, interval: self.bot.interval };
        let Some(known) = self.host.known_candles(series, candle) else {
            return Ok(State::Latest { candles: Vec::new(), column: Vec::new() });
        };
        let column = Python::attach(|py| {
            let signals = self.signals.bind(py);
            let column = column_of(signals, known.candles())?;
            if self.checks {
                check_truncations(signals, known.candles(), &column, TRUNCATIONS)?;
            }
            PyResult::Ok(column)
        })?;
        let next = known.candles().partition_point(|one| one.time() < candle.time());
        Ok(State::Whole { candles: known, column, next })
    }

    fn sign_at(&mut self, candle: &Candle) -> PyResult<Sign> {
        if matches!(self.state, State::New) {
            self.state = self.begin(candle)?;
        }
        match &mut self.state {
            State::New | State::Failed => Ok(0),
            State::Whole { candles, column, next } => {
                let place = *next;
                *next += 1;
                if candles.candles().get(place) == Some(candle) {
                    return Ok(column[place]);
                }
                // Candles may be left out, as between the windows of a walk.
                let found = candles.candles().binary_search_by_key(&candle.time(), Candle::time);
                let found = found.ok().filter(|place| candles.candles()[*place] == *candle);
                let place = found.ok_or_else(|| {
                    let time = utc(candle.time());
                    let problem =
                        format!("the candle of {time} is not among those that the signals were computed of");
                    PyRuntimeError::new_err(problem)
                })?;
                *next = place + 1;
                Ok(column[place])
            }
            State::Latest { candles, column } => {
                let kept = self.warmup.max(2);
                if candles.len() >= kept + kept.max(SPARE) {
                    candles.drain(..candles.len() - kept);
                    column.clear();
                }
                candles.push(*candle);
                let now = Python::attach(|py| column_of(self.signals.bind(py), candles))?;
                // Before it is warm a signal means nothing, and may be anything.
                check_same(column, &now, candles)?;
                *column = now;
                Ok(column[column.len() - 1])
            }
        }
    }
}

impl Strategy for SignalSource {
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
            return signal_of(sign);
        }
        match self.sign_at(candle) {
            Ok(sign) => signal_of(sign),
            Err(error) => {
                self.state = State::Failed;
                let note = format!("in signals of the bot {}, at {}", self.bot.bot, utc(candle.time()));
                self.host.fail(noted(error, &note));
                None
            }
        }
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}

#[inline]
fn signal_of(sign: Sign) -> Option<Signal> {
    direction_of(sign).map(|direction| Signal::new(direction, "signal column"))
}
