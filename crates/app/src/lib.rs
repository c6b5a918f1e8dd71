//! Configuration and assembly of runs for any front end: command line, web page or Python module.
//!
//! The crate never parses arguments, prints or exits. A front end receives [`Progress`] and [`AppError`].

pub mod backtest;
pub mod bots;
pub mod candles;
pub mod configuration;
pub mod confirm;
pub mod control;
pub mod data;
pub mod doctor;
mod error;
pub mod evidence;
pub mod fetch;
mod http_server;
pub mod inspection;
pub mod journal;
pub mod lints;
pub mod live;
pub mod monte_carlo;
pub mod notify;
pub mod program_hash;
mod progress;
pub mod recent;
pub mod search;
pub mod sensitivity;
pub mod shell;
pub mod signals;
pub mod status;
pub mod storage;
#[cfg(test)]
mod tests;
mod traded_symbols;
pub mod tune;
pub mod validation;
pub mod warm_up;

pub use error::{AppError, ErrorKind, ErrorReport};
pub use progress::{NoProgress, Progress, ProgressBar};
pub use traded_symbols::normalize_spelling;
