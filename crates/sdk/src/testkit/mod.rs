//! The conformance kit: what every strategy must hold, as one call in its tests.
//!
//! Switch the feature on for the tests alone, `candlewick-sdk = { ..., features = ["testkit"] }` under
//! `[dev-dependencies]`, and write:
//!
//! ```
//! # use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
//! # parameters! {
//! #     /// None.
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
//! use candlewick_sdk::testkit::{bot, conformance, random_walk};
//!
//! let signals = conformance::<Momentum>(&Params::default(), &bot("BTCUSDT"), &random_walk(1, 2_000));
//! assert!(signals.expect("a strategy as it should be") > 0);
//! ```
//!
//! [`Check`] says what is checked; the command `strategy check` of every program that knows the strategy checks the same and
//! more. The candles to check on are [`random_walk`]s or your own; [`from_closes`] makes a few candles by hand. Which signals
//! these call for is one line with a table: [`assert_signals`].

mod allocator;
mod candles;
mod chance;
mod conformance;
mod table;
mod validation;

pub use allocator::{Allocations, CountingAllocator};
pub use candles::{at_interval, bot, flat, from_closes, gappy, random_walk, reverting, trending, wild};
pub use conformance::{Nonconformity, conformance};
pub use table::assert_signals;
pub use validation::{
    Check, Checked, Decision, Finding, KnownUntil, Market, Subject, Unseen, Validation, ValidationError,
    candles_needed, check_clock, check_declaration, check_files, check_foresight, validate,
};
