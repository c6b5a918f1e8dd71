//! Whole backtests over candles made for the purpose.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

// Candles, bots that follow a script, and a journal to read.
mod lines;
mod stage;
// Behaviour of a run.
mod accounting;
mod crowds;
mod entry_delay;
mod errors;
mod long_runs;
mod order;
mod outside;
mod prices;
// Figures and errors.
mod summary;
