//! Test kit that checks all rules for strategies with one call in a test.
//!
//! Enable the feature for tests only, with `candlewick-sdk = { ..., features = ["testkit"] }` under
//! `[dev-dependencies]`, and write:
//!
//! ```
//! # use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
//! # parameters! {
//! #     pub struct Params {}
//! # }
//! # struct Momentum;
//! # impl Strategy for Momentum {
//! #     fn warmup(&self) -> usize { 0 }
//! #     fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
//! #         (candle.close() > candle.open()).then(|| Signal::buy("rose"))
//! #     }
//! # }
//! # impl StrategyFactory for Momentum {
//! #     const NAME: &'static str = "momentum";
//! #     const VERSION: &'static str = "1.0.0";
//! #     const ABOUT: &'static str = "Follows.";
//! #     type Params = Params;
//! #     fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> { Ok(Self) }
//! # }
//! use candlewick_sdk::testkit::{assert_passes_checks, assert_signals};
//!
//! assert_signals::<Momentum>(&Params::default(), "close signal\n 10\n 11 BUY rose\n 10");
//! assert_passes_checks::<Momentum>(&Params::default());
//! ```
//!
//! [`Check`] lists the checks. The command `strategy check` runs all checks, and [`check_conformance`] runs checks on your
//! own candles. [`from_closes`] builds candles from close prices, and [`render_signals`] returns the signals as text.
//! [`assert_signals`] compares signals with a table, and [`assert_golden`] compares signals with a file.

mod allocator;
mod candles;
mod checks;
mod golden;
#[cfg(test)]
#[path = "tests/sample.rs"]
mod sample;
mod table;
mod validation;

pub use allocator::{Allocations, CountingAllocator};
pub use candles::{
    at_interval, bot, extreme, flat, from_closes, gappy, mean_reverting, random_walk, trending,
};
pub use checks::{ConformanceError, assert_built_from_folder, assert_passes_checks, check_conformance};
pub use golden::{assert_golden, render_signals};
pub use table::assert_signals;
pub use validation::{
    Check, CheckReport, Decision, Finding, FirstRun, Market, Progress, Subject, TruncatedParams, UnseenWalk,
    Validation, ValidationError, candles_needed, check_clock, check_declaration, check_files,
    check_foresight, synthetic_markets, validate,
};
