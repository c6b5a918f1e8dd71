//! A live run against a scripted venue that calls a breach whatever a sound client never does. Time is never slept.

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
