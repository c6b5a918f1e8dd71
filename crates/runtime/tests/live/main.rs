//! Live runs against a scripted venue that reports every breach by the client. Time is virtual.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

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
