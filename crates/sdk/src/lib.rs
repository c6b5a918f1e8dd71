//! API for writing trading strategies.
//!
//! A strategy receives closed [`Candle`]s, and [`Price`]s on request. To request a trade, the strategy returns a
//! [`Signal`]. A strategy never sees the clock, the wallet or the venue, and never chooses a stake. The same code
//! therefore runs in backtests and live. `candlewick strategy new my-strategy` creates a crate with the parts below.
//!
//! # Write a strategy
//!
//! A strategy has three parts:
//! 1. [`parameters!`] declares its settings, with defaults and ranges.
//! 2. [`Strategy`] processes candles. Implement [`warmup`](Strategy::warmup) and [`on_candle`](Strategy::on_candle).
//! 3. [`StrategyFactory`] provides the name, the version and the constructor.
//!
//! The text of a signal is static. Add values that differ from candle to candle as named numbers.
//!
//! ```
//! use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
//!
//! parameters! {
//!     /// Parameters of the momentum strategy.
//!     pub struct Params {
//!         /// Smallest move, as a fraction of the open.
//!         move_fraction: f64 = 0.001, 0.0..=0.5;
//!     }
//! }
//!
//! /// Bets that a big candle is followed by another in the same direction.
//! struct Momentum {
//!     params: Params,
//! }
//!
//! impl Strategy for Momentum {
//!     fn warmup(&self) -> usize {
//!         1
//!     }
//!
//!     fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
//!         let change = candle.close() / candle.open() - 1.0;
//!         if change >= self.params.move_fraction {
//!             Some(Signal::buy("rose").with("change", change))
//!         } else if change <= -self.params.move_fraction {
//!             Some(Signal::sell("fell").with("change", change))
//!         } else {
//!             None
//!         }
//!     }
//! }
//!
//! impl StrategyFactory for Momentum {
//!     const NAME: &'static str = "momentum";
//!     const VERSION: &'static str = "1.0.0";
//!     const ABOUT: &'static str = "Bets that a big candle is followed by another in the same direction.";
//!     type Params = Params;
//!
//!     fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
//!         Ok(Self { params })
//!     }
//! }
//! ```
//!
//! A run builds one instance per bot. Each instance processes every closed candle once, in order. Signals during the
//! warm-up are ignored. Prices are `f64` in the quote currency. Times are [`Millis`] since the Unix epoch (UTC).
//!
//! - [`indicator`] contains the usual indicators.
//! - [`DeclaredStrategy`] is for strategies that only compare numbers with levels. The code is shorter, and a search
//!   is faster.
//! - [`Strategy::longer_intervals`] requests longer candles. [`StrategyFactory::WANTS_PRICES`] requests prices between
//!   candles.
//!
//! # Register and run
//!
//! A program that depends on `candlewick-cli` offers every command of `candlewick`. In the configuration file, add a
//! `[[bots]]` table with `strategy = "momentum"`, a symbol, an interval and an expiry.
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     candlewick_cli::App::with_builtin_strategies().with_strategy::<Momentum>().run()
//! }
//! ```
//!
//! # Test and check
//!
//! The feature `testkit` adds the module `testkit`. `assert_signals` compares a strategy with a table of candles and
//! signals. `assert_golden` compares a strategy with a file of recorded signals. `assert_passes_checks` checks general
//! rules, such as no look-ahead. The command `strategy check momentum` also runs the strategy in other processes and on
//! your own candles. The commands `backtest`, `sweep` and `walk-forward` show whether the strategy has an edge: a win
//! rate above the break-even rate.
#![warn(missing_docs)]

// `parameters!` refers to this crate by its full name, also inside this crate.
extern crate self as candlewick_sdk;

// Time and money.
mod millis;
mod money;
// The market.
mod candle;
mod candle_loop;
mod interval;
mod resample;
mod series;
mod suggestion;
mod symbol;
mod text;
// A trade.
mod condition;
mod expiry;
mod reason;
mod signal;
// A strategy.
mod declaration;
pub mod indicator;
pub mod parameters;
mod registry;
mod strategy;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

pub use candle::{Candle, CandleError, Ohlcv, Price, compare_prices, format_price};
pub use candle_loop::{
    BatchAdapter, BatchStrategy, CandleAnswer, CandleAnswers, CandleLoop, FeedResult, MAX_BATCH_CANDLES,
    prefetch,
};
pub use condition::{Condition, ConditionRole, GateSnapshot, GateTransition, SettledSignal};
pub use declaration::{
    Comparison, Declaration, DeclaredSeries, DeclaredSignal, DeclaredStrategy, LevelSide, SeriesIndex,
    SeriesKey, SignalRule,
};
pub use expiry::{CloseType, CloseTypeError, ExpirationType, ExpirationTypeError, Expiry};
pub use interval::{Interval, IntervalError};
pub use millis::Millis;
pub use money::{Money, MoneyError, MoneyScale, Payout, PayoutError};
pub use parameters::{Parameter, Parameters};
pub use reason::{Reason, ReasonTemplate};
pub use registry::{BuiltStrategy, Registry, RegistryError, StrategyEntry, check_build_folder};
pub use resample::{CoverageRule, LongerCandles, ResampleCounts, ResampleError, Resampler, Staleness};
pub use series::{CandleSeries, Series, SeriesError, count_closing_before};
pub use signal::{Direction, DirectionError, Outcome, Settlement, Signal, StaticText};
pub use strategy::{BotContext, BuildError, Strategy, StrategyFactory};
#[doc(hidden)]
pub use suggestion::{
    AliasContext, AliasTarget, edit_distance, extract_rejected_value, find_alias_targets, find_key,
    find_setting, nearest_name, simplify_parse_error, suggest,
};
pub use symbol::{CURRENCIES, OTC_SUFFIXES, Symbol, SymbolError, TradingWeek};
pub use text::{Text, escape_hidden, from_csv_cell, group_thousands, is_hidden, to_csv_cell};

// Re-exported so that a strategy crate needs no other dependency; `parameters!` refers to them.
pub use {rust_decimal, schemars, serde, serde_json};

/// Compiles the strategy in the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
