//! Traits of a strategy and its factory.

use crate::candle_loop::Several;
use crate::{
    Candle, CandleAnswers, CandleLoop, CloseTypeError, Condition, Declaration, Expiry, GateView, Interval,
    Parameters, Price, Settlement, Signal, Symbol,
};
use serde::{Deserialize, Serialize};

/// A strategy of one bot on one series.
///
/// It is called with every closed candle of its series, in order, both in a backtest and live. It must be
/// deterministic: the same calls give the same answers, so it reads no clock, file or random source here.
/// [`StrategyFactory::build`] reads external data, from files named by its parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strategy",
    label = "implement `Strategy` for it",
    note = "`Strategy` asks for `warmup` and `on_candle`; one that only compares numbers with levels implements `DeclaredStrategy` instead"
)]
// The compiler shows the line of the bound that a strategy does not meet, so its way out stands on it.
pub trait Strategy: CandleLoop + Send /* it moves between threads: plain fields, no `Rc` */ {
    /// Returns the warm-up length in candles, including the current one.
    ///
    /// With a warm-up of 20 a backtest trades from the signal of the 20th candle. A mean of the last 20 closes needs
    /// 20, a comparison of the current candle with the 20 before it needs 21. A live run fetches that many candles
    /// before the start, and trades from the signal of the next one. Signals during warm-up are never traded.
    fn warmup(&self) -> usize;

    /// Processes a closed candle of the bot's series. A returned signal requests a trade.
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal>;

    /// Returns additional intervals: longer multiples of the bot's own.
    ///
    /// For example 5m for the trend and 1m for entries. Called once, after the strategy is built. A longer candle is
    /// omitted if one of the bot's own is missing in it, or it starts before the first one. [`warmup`](Self::warmup)
    /// counts the bot's own candles, including those in longer ones.
    fn longer_intervals(&self) -> &[Interval] {
        &[]
    }

    /// Processes a closed candle of a [longer interval](Self::longer_intervals).
    /// Called after [`on_candle`](Self::on_candle) of the last candle in it, shorter intervals first. Candles
    /// that close at the same time thus take effect from the bot's next candle.
    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        let _ = (interval, candle);
    }

    /// Processes the latest price, on a grid of venue time.
    /// Only called if [`StrategyFactory::WANTS_PRICES`] is true.
    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let _ = price;
        None
    }

    /// Processes the settlement of one of the bot's own trades.
    /// Only called if it [wants settlements](Self::wants_settlements).
    fn on_settled(&mut self, settlement: &Settlement) {
        let _ = settlement;
    }

    /// Returns whether [`on_settled`](Self::on_settled) is to be called.
    /// A strategy that depends only on candles may return `false`. A backtest is then faster, because it can
    /// feed further candles while trades are open. Called once, after the strategy is built.
    fn wants_settlements(&self) -> bool {
        true
    }

    /// Returns the possible expiries of its signals, `None` for that of its bot.
    /// The default is the bot's expiry only. A search checks them against the candles before it starts, the
    /// header of a run lists them, and `strategy check` rejects a signal with another expiry. Called once,
    /// after the strategy is built.
    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![None]
    }

    /// Returns whether trading of its bot is paused.
    /// While `true`, external signals are also rejected, by the rule `GateClosed`. Override this in a
    /// strategy that makes its own signals [virtual](crate::Signal::as_virtual) at times. Called for each
    /// external signal.
    fn is_gate_closed(&self) -> bool {
        false
    }

    /// Returns a description of its signal gate, `None` if it has none.
    /// For display only (`status`, `explain`), never for decisions.
    fn gate(&self) -> Option<GateView> {
        None
    }

    /// Returns its conditions with their state at the last candle.
    /// For display only (`candlewick why`, `candlewick explain`). Always returns the same conditions in the
    /// same order. If this needs extra computation, provide a separate variant of the strategy, see
    /// [`StrategyEntry::explained_by`](crate::StrategyEntry::explained_by).
    fn conditions(&self) -> Vec<Condition<'_>> {
        Vec::new()
    }

    /// Returns the named values behind its last answer, such as an index or an average.
    ///
    /// For display only (`candlewick explain`). Called after [`on_candle`](Self::on_candle) or [`on_price`](Self::on_price),
    /// with or without a signal. Values that are not known yet are omitted.
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
    ///         self.rsi.stable_after()
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

    /// Processes several candles and returns their number.
    /// For [`Together`](crate::Together). No other strategy can implement this.
    #[doc(hidden)]
    #[inline]
    fn answer_several(&mut self, _: Several<'_>, _: &mut CandleAnswers) -> Option<usize> {
        None
    }
}

/// Build context of a strategy: its bot, symbol, interval and expiry.
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
    /// Minimum coverage of a longer candle's market hours, in percent. `None` requires its full length.
    pub longer_share_percent: Option<f64>,
}

/// Build errors of a strategy.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The parameters are invalid.
    #[error("{}: {problem}", parameters_of(strategy))]
    Parameters {
        /// Name of the strategy, empty until known.
        /// Set by [`StrategyEntry::build`](crate::StrategyEntry::build).
        strategy: String,
        /// Description of the problem, with the key.
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
    /// Invalid settings of an indicator. Allows `Sma::new(params.period)?` in [`StrategyFactory::build`].
    #[error("the strategy's parameters: {0}")]
    Indicator(#[from] crate::indicator::IndicatorError),
}

impl BuildError {
    /// Creates an error about the parameters of a strategy.
    pub fn parameters(strategy: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Parameters { strategy: strategy.into(), problem: problem.into() }
    }

    pub(crate) fn of_strategy(self, name: &str) -> Self {
        match self {
            Self::Parameters { strategy, problem } if strategy.is_empty() => Self::parameters(name, problem),
            named => named,
        }
    }
}

fn parameters_of(strategy: &str) -> String {
    if strategy.is_empty() {
        "the strategy's parameters".to_owned()
    } else {
        format!("parameters of strategy \"{strategy}\"")
    }
}

/// Converts a sentence about the parameters. Allows `Err(format!(..).into())` in [`StrategyFactory::build`].
impl From<String> for BuildError {
    fn from(problem: String) -> Self {
        Self::parameters("", problem)
    }
}

impl From<&str> for BuildError {
    fn from(problem: &str) -> Self {
        problem.to_owned().into()
    }
}

/// Allows `Expiry::minutes(params.minutes)?` in [`StrategyFactory::build`].
impl From<CloseTypeError> for BuildError {
    fn from(error: CloseTypeError) -> Self {
        error.to_string().into()
    }
}

/// Description and constructor of a strategy.
/// Implemented by the strategy's own type and registered with [`crate::Registry::with`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be registered as a strategy",
    label = "implement `StrategyFactory` for it",
    note = "`Strategy` says what it answers to candles; `StrategyFactory` its name, version and parameters, and how it is built"
)]
pub trait StrategyFactory: Strategy + Sized + 'static {
    /// Name in configurations: lower case, with hyphens.
    const NAME: &'static str;
    /// Version of the rules. Every change of behaviour changes it. Results are never mixed across versions.
    const VERSION: &'static str;
    /// One-sentence description.
    const ABOUT: &'static str;
    /// Whether [`Strategy::on_price`] is to be called.
    const WANTS_PRICES: bool = false;
    /// Parameters, declared with [`crate::parameters!`] or by hand.
    type Params: Parameters;

    /// Builds the strategy of one bot.
    /// Fails with [`BuildError`] if the parameters contradict each other, or something they name cannot be
    /// read.
    fn build(params: Self::Params, bot: &BotContext) -> Result<Self, BuildError>;

    /// Returns its signals as comparisons of series, `None` if they are anything else.
    /// A search over its parameters then shares the series and is several times faster. Called right after
    /// the strategy is built. A [`DeclaredStrategy`](crate::DeclaredStrategy) returns
    /// `Some(Declaration::of(self))`, see [`Declaration`].
    fn declaration(&self) -> Option<Declaration> {
        None
    }
}
