//! A live run, runner and coordinator, against a scripted venue that is stricter than a real one.
//!
//! Time is paused or virtual, never slept. The venue notes every question, and calls a breach whatever a sound
//! client never does; a run with a breach fails its test.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

mod journal;
mod prelude;
mod script;
mod stage;
mod venue;

mod audits;
mod candles;
mod doubt;
mod ending;
mod frontier;
mod gate;
mod lock_step;
mod survival;
mod trades;
mod watching;
