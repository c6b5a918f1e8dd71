//! A journal file: its snapshots and its tables.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod changed_settings;
mod corrections;
mod forgetting;
#[cfg(all(unix, debug_assertions))]
mod killed;
mod prelude;
mod snapshots;
mod tables;
