//! Configuration and composition, for any front end: a command line, a page, a Python module.
//!
//! A [`Loaded`](configuration::Loaded) configuration is read in layers; [`bots`] builds its strategies, [`candles`] finds
//! what they are shown, [`backtest`] replays them, and [`live`] connects and runs them; [`control`] gives a running bot orders,
//! [`status`] says how it stands. [`search`] prepares sweeps and walks forward, [`tune`] goes from a rule to a checked result, [`fetch`] brings candles from the venue, [`data`]
//! imports, checks, makes and exports them, [`doctor`] looks at everything that a live run needs. Nothing here parses arguments, prints, or
//! decides how a program ends: work is watched through [`Progress`], and what goes wrong is an [`AppError`].

pub mod backtest;
pub mod bench;
pub mod bots;
pub mod candles;
pub mod configuration;
pub mod control;
pub mod data;
pub mod doctor;
pub mod drill;
mod error;
pub mod fetch;
pub mod inspection;
pub mod journal;
pub mod lints;
pub mod live;
pub mod monte_carlo;
mod nearby;
pub mod notify;
pub mod program_hash;
mod progress;
pub mod recent;
pub mod search;
pub mod selftest;
pub mod sensitivity;
pub mod shell;
pub mod signals;
pub mod status;
pub mod storage;
mod traded_symbols;
pub mod tune;
pub mod validation;
pub mod warm_up;

pub use error::{AppError, ErrorKind, ErrorReport};
pub use progress::{NoProgress, Progress, ProgressBar};
pub use traded_symbols::usual_spelling;
