//! The Python module `candlewick._native`: commands, Arrow tables, and strategies written in Python.
//!
//! The public API is the package in `python/candlewick`. Without the feature `extension`, this crate is empty.
#![cfg(feature = "extension")]
#![allow(clippy::needless_pass_by_value, reason = "functions for Python own their arguments")]

mod candle;
mod candles;
mod command;
mod definition;
mod host;
mod signal_column;
mod strategy;
mod table;
mod trades;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::candle::{PyCandle, PyPrice, PySettlement, PySignal};
    #[pymodule_export]
    use super::candles::{check_candles, read_candles, write_candles};
    #[pymodule_export]
    use super::command::{CommandResult, find_keyword, flags, run};
    #[pymodule_export]
    use super::definition::Definition;
    #[pymodule_export]
    use super::signal_column::check_lookahead;
    #[pymodule_export]
    use super::table::{Column, Table, read_csv};
}
