//! What a strategy author sees: the way from an idea to a strategy that has been checked.
//!
//! `candlewick strategy new my-strategy` writes a crate with all of the following in its place. A strategy receives closed
//! [`Candle`]s (and, when it asks for them, [`Price`]s), keeps whatever state it needs, and answers with a [`Signal`] when it
//! wants a trade. It never sees the time, the wallet or the venue, and never chooses a stake: the engine does, after its risk
//! rules have had their say. That is what lets the very same object run in a backtest and live.
//!
//! # Write
//!
//! [`parameters!`] declares what can be set, [`Strategy`] says what is answered to a candle, [`StrategyFactory`] gives the name
//! and builds it. A signal's words are fixed; what differs from candle to candle is a named number.
//!
//! ```
//! use candlewick_sdk::{BotContext, BuildError, Candle, Signal, Strategy, StrategyFactory, parameters};
//!
//! parameters! {
//!     /// How far a candle must move.
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
//! [`indicator`] has the usual indicators, which know when they are warm. A strategy that only compares numbers with levels is
//! shorter, and several times as fast in a search, as a [`DeclaredStrategy`]. One that looks at longer candles as well names
//! them in [`Strategy::longer_intervals`].
//!
//! # Register and run
//!
//! A program names its strategies, in ten lines that depend on `candlewick-cli`, and has every command of `candlewick`. A file of
//! settings gives the strategy a bot: `[[bots]]` with `strategy = "momentum"`, a symbol, an interval and an expiry.
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     candlewick_cli::App::with_builtin_strategies().with_strategy::<Momentum>().run()
//! }
//! ```
//!
//! # Test and check
//!
//! `testkit`, behind the feature of that name, holds it to a table of candles and signals
//! (`assert_signals`), to a file of all its signals (`assert_golden`), and to what every strategy
//! must hold (`assert_passes_checks`): it may not look ahead, is warm when it says so, decides the
//! same again. `strategy check momentum` of the program that knows it checks more, in other
//! processes and on your own candles as well.
//!
//! Then `backtest`, `sweep` and `walk-forward` say whether there is an edge: a win rate above the break-even of the payout, never
//! 50 %.
#![warn(missing_docs)]

// `parameters!` names this crate by its full name, also inside it.
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

pub use candle::{Candle, CandleError, Ohlcv, Price, compare_prices, price_text};
pub use candle_loop::{
    AnswersTogether, CandleAnswer, CandleAnswers, CandleLoop, MOST_TOGETHER, ShownCandles, Together, prefetch,
};
pub use condition::{Condition, ConditionSide, EndedSignal, GateMove, GateView};
pub use declaration::{
    Comparison, Declaration, DeclaredEntry, DeclaredSeries, DeclaredStrategy, SeriesKey, SeriesPlace, Side,
    SignalRule,
};
pub use expiry::{CloseType, CloseTypeError, ExpirationType, ExpirationTypeError, Expiry};
pub use interval::{Interval, IntervalError};
pub use millis::Millis;
pub use money::{Money, MoneyError, MoneyScale, Payout, PayoutError};
pub use parameters::{Parameter, Parameters};
pub use reason::{Reason, ReasonTemplate};
pub use registry::{BuiltStrategy, Registry, RegistryError, StrategyEntry, wrong_folder};
pub use resample::{LongerCandles, LongerRule, ResampleCounts, ResampleError, Resampler, Staleness};
pub use series::{CandleSeries, Series, SeriesError, closing_before};
pub use signal::{Direction, DirectionError, FixedText, Outcome, Settlement, Signal};
pub use strategy::{BotContext, BuildError, Strategy, StrategyFactory};
#[doc(hidden)]
pub use suggestion::{
    AliasContext, Counterpart, counterparts, edit_distance, find_key, find_setting, nearest, plain_words,
    suggest, value_of_message,
};
pub use symbol::{CURRENCIES, OTC_SUFFIXES, Symbol, SymbolError, TradingWeek};
pub use text::{Text, is_hidden, text_of_cell, visible, visible_cell};

// Re-exported so that a strategy crate needs no dependency but this one; `parameters!` refers to them.
pub use {rust_decimal, schemars, serde, serde_json};

/// Compiles the strategy in the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
