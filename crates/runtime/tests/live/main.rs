//! Live runs against a scripted venue that reports every breach by the client. Time is virtual.

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
