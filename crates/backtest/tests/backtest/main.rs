//! Complete backtests over synthetic candles.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

mod accounting;
mod crowds;
mod entry_delay;
mod errors;
mod lines;
mod long_runs;
mod order;
mod outside;
mod prices;
mod stage;
mod summary;
