//! A journal file: its snapshots and its tables.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

mod changed_settings;
mod corrections;
mod forgetting;
#[cfg(all(unix, debug_assertions))]
mod killed;
mod prelude;
mod snapshots;
mod tables;
