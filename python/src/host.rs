//! Host of a command in a Python process. Stores the command's progress and result, and the exceptions of strategies.

use crate::trades::build_trades_table;
use arrow_array::RecordBatch;
use candlewick_cli::{ChildProgram, CommandKind, Host};
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_sdk::{Candle, CandleSeries, MoneyScale, Series};
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) work: String,
    pub(crate) done: u64,
    pub(crate) total: u64,
}

/// State shared by a command and its Python strategies.
pub(crate) struct PyHost {
    itself: Option<ChildProgram>,
    is_stopped: AtomicBool,
    kind: Mutex<CommandKind>,
    pub(crate) failure: Mutex<Option<PyErr>>,
    pub(crate) progress: Mutex<Option<Progress>>,
    candles: Mutex<Vec<CandleSeries>>,
    pub(crate) trades: Mutex<Option<RecordBatch>>,
}

/// Locks a mutex and ignores poisoning. A failed strategy may have panicked, but the value is still complete.
pub(crate) fn lock_unpoisoned<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PyHost {
    pub(crate) fn new(itself: Option<ChildProgram>) -> Self {
        Self {
            itself,
            is_stopped: AtomicBool::new(false),
            kind: Mutex::new(CommandKind::Computes),
            failure: Mutex::default(),
            progress: Mutex::default(),
            candles: Mutex::default(),
            trades: Mutex::default(),
        }
    }

    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Handles the exception of a strategy: stops a trading command, or unwinds the thread of any other command.
    pub(crate) fn fail(&self, error: PyErr) {
        let text = error.to_string();
        let kind = *lock_unpoisoned(&self.kind);
        if kind != CommandKind::Checks {
            lock_unpoisoned(&self.failure).get_or_insert(error);
        }
        match kind {
            CommandKind::Trades => self.stop(),
            // This skips the panic hook, because the strategy's exception is reported instead.
            CommandKind::Checks | CommandKind::Computes => resume_unwind(Box::new(text)),
        }
    }

    pub(crate) fn is_trading(&self) -> bool {
        *lock_unpoisoned(&self.kind) == CommandKind::Trades
    }

    /// Returns all candles of a series, including future ones. `None` if they are unknown or do not contain `candle`.
    pub(crate) fn find_candles(&self, series: Series, candle: &Candle) -> Option<CandleSeries> {
        let known = lock_unpoisoned(&self.candles);
        let found = known.iter().find(|one| one.series() == series)?;
        let place = found.candles().binary_search_by_key(&candle.time(), Candle::time).ok()?;
        (found.candles()[place] == *candle).then(|| found.clone())
    }
}

impl Host for PyHost {
    fn on_begin(&self, kind: CommandKind) {
        *lock_unpoisoned(&self.kind) = kind;
    }

    fn on_progress(&self, work: &str, done: u64, total: u64) {
        *lock_unpoisoned(&self.progress) = Some(Progress { work: work.to_owned(), done, total });
    }

    fn wants_stop(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn child_program(&self) -> Option<ChildProgram> {
        self.itself.clone()
    }

    fn on_candles(&self, series: &[CandleSeries]) {
        *lock_unpoisoned(&self.candles) = series.to_vec();
    }

    fn on_trades(&self, book: &TradeBook, bots: &[BotSettings], scale: MoneyScale) {
        *lock_unpoisoned(&self.trades) = build_trades_table(book, bots, scale).ok();
    }
}
