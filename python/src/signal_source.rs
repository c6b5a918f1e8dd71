//! A strategy that computes whole columns of signals: of all candles at once where they are known, else of the latest ones at each.

use crate::definition::warmup_of;
use crate::host::PyHost;
use crate::signal_column::{Sign, check_same, check_truncations, column_of, direction_of, usual_truncations};
use crate::strategy::noted;
use candlewick_records::utc;
use candlewick_sdk::{BotContext, Candle, CandleSeries, Series, Signal, Strategy};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Candles beyond the warm-up that are kept before the oldest are dropped.
const SPARE: usize = 64;

/// The strategy of one bot.
pub(crate) struct SignalSource {
    bot: BotContext,
    host: Arc<PyHost>,
    warmup: usize,
    signals: Py<PyAny>,
    checks: bool,
    state: State,
}

/// Where the signals come from.
enum State {
    /// It was shown no candle yet.
    New,
    /// The column of all candles: that of the next candle is at `next`.
    Whole { candles: CandleSeries, column: Vec<Sign>, next: usize },
    /// The latest candles, and the column that was computed of them last; its length is theirs, or less where some were dropped.
    Latest { candles: Vec<Candle>, column: Vec<Sign> },
    /// It failed, and is not asked again.
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

    /// Decides at the first candle where the signals come from.
    fn begin(&self, candle: &Candle) -> PyResult<State> {
        let series = Series { symbol: self.bot.symbol, interval: self.bot.interval };
        let Some(known) = self.host.known_candles(series, candle) else {
            return Ok(State::Latest { candles: Vec::new(), column: Vec::new() });
        };
        let column = Python::attach(|py| {
            let signals = self.signals.bind(py);
            let column = column_of(signals, known.candles())?;
            if self.checks {
                check_truncations(signals, known.candles(), &column, usual_truncations())?;
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
                    // Of other candles: nothing to be compared.
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
        // What is asked millions of times over.
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
