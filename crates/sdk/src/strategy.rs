//! Traits for strategies and their factories.

use crate::candle_loop::Batch;
use crate::{
    Candle, CandleAnswers, CandleLoop, CloseTypeError, Condition, Declaration, Expiry, GateSnapshot,
    Interval, Parameters, Price, Settlement, Signal, Symbol,
};
use serde::{Deserialize, Serialize};

/// A trading strategy: receives the candles of one bot and returns signals (requests for trades).
///
/// Implement [`warmup`](Self::warmup) and [`on_candle`](Self::on_candle). All other methods have defaults.
///
/// Call order in backtests and live runs:
/// 1. [`StrategyFactory::build`], once per bot.
/// 2. [`longer_intervals`](Self::longer_intervals), [`wants_settlements`](Self::wants_settlements) and
///    [`expiries`](Self::expiries), once.
/// 3. [`on_candle`](Self::on_candle) for every closed candle, in order, then
///    [`on_longer_candle`](Self::on_longer_candle) for each longer candle that ends at the same time.
/// 4. [`on_price`](Self::on_price) and [`on_settled`](Self::on_settled) between candle closes, if requested.
///
/// A strategy must be deterministic: the same calls give the same signals. It must not read a clock, a file or a random
/// source in these methods. Read external data in [`StrategyFactory::build`], from files named by the parameters. If a
/// strategy only compares numbers with levels, implement [`DeclaredStrategy`](crate::DeclaredStrategy) instead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strategy",
    label = "implement `Strategy` for it",
    note = "implement `warmup` and `on_candle`; if the strategy only compares numbers with levels, implement `DeclaredStrategy` instead"
)]
// The compiler prints the next line if `Send` is not met, so the line includes a hint.
pub trait Strategy: CandleLoop + Send /* it moves between threads: plain fields, no `Rc` */ {
    /// Returns the number of warm-up candles, including the current candle.
    ///
    /// With a warm-up of 20, a backtest can first trade on the 20th candle. A live run fetches 20 candles before the
    /// start, and can first trade on the next candle. Signals during the warm-up are never traded.
    ///
    /// A mean of the last 20 closes needs 20 candles. A comparison of the current candle with the previous 20 needs 21.
    /// For an indicator, return its own `warmup()`.
    fn warmup(&self) -> usize;

    /// Processes a closed candle of the bot's series and returns a signal to request a trade.
    ///
    /// Called once per candle, including during the warm-up. Missing candles are skipped, so compare
    /// [`Candle::time`] if gaps matter. The trade opens after the close of the candle, at a later price.
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal>;

    /// Returns additional, longer candle intervals. Each must be a multiple of the bot's interval.
    ///
    /// For example, a bot on 1m candles can use 5m candles for the trend. Called once, after the strategy is built. A
    /// longer candle is skipped if it starts before the bot's first candle, or if too many of the bot's candles are
    /// missing ([`BotContext::longer_share_percent`]). [`warmup`](Self::warmup) counts the bot's own candles.
    fn longer_intervals(&self) -> &[Interval] {
        &[]
    }

    /// Processes a closed candle of a [longer interval](Self::longer_intervals).
    ///
    /// Called after [`on_candle`](Self::on_candle) for the last candle that the longer candle covers. Only later
    /// signals can use the longer candle. If several longer candles end together, the shortest comes first.
    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        let _ = (interval, candle);
    }

    /// Processes the latest price and returns a signal to request a trade.
    ///
    /// Called at regular intervals of venue time (`runtime.price_every_ms`), only if
    /// [`StrategyFactory::WANTS_PRICES`] is true.
    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let _ = price;
        None
    }

    /// Processes the settlement of one of the bot's own trades.
    ///
    /// Only called if [`wants_settlements`](Self::wants_settlements) returns true.
    fn on_settled(&mut self, settlement: &Settlement) {
        let _ = settlement;
    }

    /// Returns whether the strategy receives settlements through [`on_settled`](Self::on_settled).
    ///
    /// Return `false` if the strategy depends only on candles. A backtest is then faster, because it can feed later
    /// candles while trades are open. Called once, after the strategy is built.
    fn wants_settlements(&self) -> bool {
        true
    }

    /// Returns all expiries that signals may have. `None` means the bot's own expiry.
    ///
    /// The default is only the bot's own expiry. `strategy check` fails if a signal has an expiry that is not listed.
    /// A search checks that its candles are short enough for all expiries. Run headers list the expiries. Called once.
    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![None]
    }

    /// Returns whether the strategy currently pauses its bot's trading.
    ///
    /// During a pause, the rule `GateClosed` also rejects external signals. Override this method if the strategy
    /// sometimes makes its own signals [virtual](crate::Signal::as_virtual). Called for each external signal.
    fn is_gate_closed(&self) -> bool {
        false
    }

    /// Returns the state of the gate (the rule that pauses trading), `None` if the strategy has no gate.
    ///
    /// For display only (`status`, `explain`), never for decisions.
    fn gate(&self) -> Option<GateSnapshot> {
        None
    }

    /// Returns the strategy's conditions for signals, with their state at the last candle.
    ///
    /// For display only (`candlewick why`, `candlewick explain`). Return the same conditions in the same order each
    /// time. If computing them slows the strategy down, provide them only in a variant of the strategy, registered with
    /// [`StrategyEntry::with_explainer`](crate::StrategyEntry::with_explainer).
    fn conditions(&self) -> Vec<Condition<'_>> {
        Vec::new()
    }

    /// Returns the named values behind the last decision, such as an RSI or an average.
    ///
    /// For display only (`candlewick explain`). Called after [`on_candle`](Self::on_candle) or
    /// [`on_price`](Self::on_price), with or without a signal. Omit values that are not known yet.
    ///
    /// ```
    /// use candlewick_sdk::indicator::Rsi;
    /// use candlewick_sdk::{Candle, Signal, Strategy};
    ///
    /// struct Oversold {
    ///     rsi: Rsi,
    ///     last: Option<f64>,
    /// }
    ///
    /// impl Strategy for Oversold {
    ///     fn warmup(&self) -> usize {
    ///         self.rsi.warmup()
    ///     }
    ///
    ///     fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
    ///         self.last = self.rsi.update(candle.close());
    ///         self.last.filter(|rsi| *rsi < 30.0).map(|_| Signal::buy("oversold"))
    ///     }
    ///
    ///     fn indicators(&self) -> Vec<(&str, f64)> {
    ///         self.last.map(|rsi| ("rsi", rsi)).into_iter().collect()
    ///     }
    /// }
    /// ```
    fn indicators(&self) -> Vec<(&str, f64)> {
        Vec::new()
    }

    /// Processes candles as a batch and returns their number. Returns `None` if they must be processed one by one.
    #[doc(hidden)]
    #[inline]
    fn process_batch(&mut self, _: Batch<'_>, _: &mut CandleAnswers) -> Option<usize> {
        None
    }
}

/// Build context of a strategy: bot, symbol, interval and expiry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BotContext {
    /// Name of the bot.
    pub bot: String,
    /// Traded symbol.
    pub symbol: Symbol,
    /// Interval of the candles.
    pub interval: Interval,
    /// Default expiry of the bot's trades; a signal may override it.
    pub expiry: Expiry,
    /// Minimum percentage of a longer candle's market hours that the bot's candles must cover. `None` means 100 %.
    pub longer_share_percent: Option<f64>,
}

/// Errors that prevent a strategy from being built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The parameters are invalid.
    #[error("{}: {problem}", parameters_label(strategy))]
    Parameters {
        /// Name of the strategy, empty until [`StrategyEntry::build`](crate::StrategyEntry::build) sets it.
        strategy: String,
        /// Description of the problem, including the parameter key.
        problem: String,
    },
    /// A file required by the strategy is unusable.
    #[error("{path}{}: {problem}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    File {
        /// Path of the file.
        path: String,
        /// Line number, 1-based, if known.
        line: Option<u64>,
        /// Description of the problem and its fix.
        problem: String,
    },
    /// The settings of an indicator are invalid. Created by the `?` operator, as in `Sma::new(params.period)?`.
    #[error("the strategy's parameters: {0}")]
    Indicator(#[from] crate::indicator::IndicatorError),
}

impl BuildError {
    /// Creates an error about the parameters of a strategy.
    pub fn invalid_parameters(strategy: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Parameters { strategy: strategy.into(), problem: problem.into() }
    }

    pub(crate) fn with_strategy_name(self, name: &str) -> Self {
        match self {
            Self::Parameters { strategy, problem } if strategy.is_empty() => {
                Self::invalid_parameters(name, problem)
            }
            named => named,
        }
    }
}

fn parameters_label(strategy: &str) -> String {
    if strategy.is_empty() {
        "the strategy's parameters".to_owned()
    } else {
        format!("parameters of strategy \"{strategy}\"")
    }
}

/// Converts an error message about parameters. Lets [`StrategyFactory::build`] return `Err(format!(..).into())`.
impl From<String> for BuildError {
    fn from(problem: String) -> Self {
        Self::invalid_parameters("", problem)
    }
}

impl From<&str> for BuildError {
    fn from(problem: &str) -> Self {
        problem.to_owned().into()
    }
}

/// Converts an expiry error. Lets [`StrategyFactory::build`] call `Expiry::minutes(params.minutes)?`.
impl From<CloseTypeError> for BuildError {
    fn from(error: CloseTypeError) -> Self {
        error.to_string().into()
    }
}

/// Name, version, parameters and constructor of a strategy.
///
/// Implement this trait for the type that implements [`Strategy`], and register the type with
/// [`crate::Registry::with`]. `strategy show` prints the constants, and every run records them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be registered as a strategy",
    label = "implement `StrategyFactory` for it",
    note = "implement `StrategyFactory` too: it has the name, version and parameters, and builds the strategy"
)]
pub trait StrategyFactory: Strategy + Sized + 'static {
    /// Strategy name in configurations, made of lower-case letters, digits and hyphens.
    const NAME: &'static str;
    /// Strategy version. Raise the version with every change of behaviour, so that results remain distinguishable.
    const VERSION: &'static str;
    /// One-sentence description of the strategy.
    const ABOUT: &'static str;
    /// Whether the strategy receives prices through [`Strategy::on_price`].
    const WANTS_PRICES: bool = false;
    /// Parameters, declared with [`crate::parameters!`] or by hand.
    type Params: Parameters;

    /// Builds the strategy for one bot. The parameters have already been checked against their ranges.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if parameters contradict each other, or a file named by a parameter is unusable. A `String` or
    /// `&str` converts to this error: `Err("fast must be below slow".into())`.
    fn build(params: Self::Params, bot: &BotContext) -> Result<Self, BuildError>;

    /// Describes the signals as comparisons of number series; `None` if they depend on anything else.
    ///
    /// A declaration makes a search several times faster: parameter sets can share computed series. Called right after
    /// the build. A [`DeclaredStrategy`](crate::DeclaredStrategy) returns `Some(Declaration::from_strategy(self))`.
    fn declaration(&self) -> Option<Declaration> {
        None
    }
}
