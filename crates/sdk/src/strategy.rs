//! The trait that a strategy implements, and how one is made.

use crate::candle_loop::Several;
use crate::{
    Candle, CandleAnswers, CandleLoop, CloseTypeError, Condition, Declaration, Expiry, GateView, Interval,
    Parameters, Price, Settlement, Signal, Symbol,
};

/// A strategy of one bot on one series.
///
/// Called with every closed candle of its series, in order, in a backtest and live alike. It must be
/// deterministic: the same calls give the same answers, so it reads no clock, file or random source here.
/// Anything it reads from outside it reads in [`StrategyFactory::build`], from files that its parameters name: what they hold is
/// part of what a result is known by.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strategy",
    label = "implement `Strategy` for it",
    note = "`Strategy` asks for `warmup` and `on_candle`; one that only compares numbers with levels implements `DeclaredStrategy` instead"
)]
// The compiler shows the line of the bound that a strategy does not meet, so its way out stands on it.
pub trait Strategy: CandleLoop + Send /* it moves between threads: plain fields, no `Rc` */ {
    /// How many candles it must have seen before its signals mean anything, the present one counted: with a warm-up of 20 the
    /// signal of the 20th candle is the first that is traded in a backtest. A mean of the last 20 closes asks for 20; a comparison
    /// with the 20 candles before the present one asks for 21. Live, that many are fetched before the start, and the first
    /// signal that is traded is that of the candle after them; signals during warm-up are never traded.
    fn warmup(&self) -> usize;

    /// A candle of the bot's series has closed. Answer with a signal to ask for a trade.
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal>;

    /// Intervals, besides its bot's own, whose candles it wants to see: longer multiples of it, such as 5m for a trend
    /// beside 1m for entries. Asked once, after it is built.
    ///
    /// Longer candles are joined from the bot's own, never from incomplete ones: where one of those is missing, no
    /// longer candle is made. [`warmup`](Self::warmup) counts the bot's own candles, also those that make up longer
    /// ones; the first longer candle may begin before the first of them, and is then left out.
    fn longer_intervals(&self) -> &[Interval] {
        &[]
    }

    /// A candle of one of its [longer intervals](Self::longer_intervals) has closed. It comes after
    /// [`on_candle`](Self::on_candle) of the last candle inside it, a shorter one before a longer one: what closes at
    /// one instant is seen from the bot's next candle on.
    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        let _ = (interval, candle);
    }

    /// The latest price, on a grid of venue time. Only called when [`StrategyFactory::WANTS_PRICES`] is true.
    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        let _ = price;
        None
    }

    /// One of the bot's own trades has settled. Only called when it [wants settlements](Self::wants_settlements).
    fn on_settled(&mut self, settlement: &Settlement) {
        let _ = settlement;
    }

    /// Returns whether [`on_settled`](Self::on_settled) is to be called.
    ///
    /// A strategy that depends only on candles may return `false`. A backtest is then faster: it shows the strategy further candles
    /// before its open trades have ended. Called once, after it is built.
    fn wants_settlements(&self) -> bool {
        true
    }

    /// Returns the expiries that its signals may have, `None` for that of its bot, which all have unless it says otherwise here.
    ///
    /// A search checks them against the candles before it begins, the header of a run names them, and `strategy check` fails a signal
    /// with another expiry. Called once, after it is built.
    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![None]
    }

    /// Whether nothing of its bot is traded for now, so that a signal from outside, too, is refused by the rule `GateClosed`: a strategy
    /// that makes its own signals [virtual](crate::Signal::as_virtual) at times says here when. Asked at each signal from outside.
    fn is_gate_closed(&self) -> bool {
        false
    }

    /// How the gate before its signals stands, in words, for people; none of a strategy that has none. Asked by `status`, `explain` and
    /// the like, never to decide anything.
    fn gate(&self) -> Option<GateView> {
        None
    }

    /// The conditions that it goes by and how each stood when it last answered a candle, for people who ask why there was a signal or none
    /// (`candlewick why`, `candlewick explain`); nothing that trades asks. Always the same conditions in the same order. A strategy that
    /// would have to compute more for this than it trades by says them in a form of its own:
    /// [`StrategyEntry::explained_by`](crate::StrategyEntry::explained_by).
    fn conditions(&self) -> Vec<Condition<'_>> {
        Vec::new()
    }

    /// The values that it went by when it last answered, each with a name: an index, an average, a count. People see them
    /// who ask why it decided so (`candlewick explain`); nothing that trades does. A name may be the strategy's own text.
    ///
    /// Asked after [`on_candle`](Self::on_candle) or [`on_price`](Self::on_price), whether that gave a signal or not. So a
    /// strategy keeps what it computed there, and leaves out what it does not know yet. `explain` shows a new strategy
    /// all that the recorded session showed, so nothing is stored while it trades. Without this method there are none.
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

    /// What [`Together`](crate::Together) answers to several candles; how many were shown. No other strategy can have it.
    #[doc(hidden)]
    #[inline]
    fn answer_several(&mut self, _: Several<'_>, _: &mut CandleAnswers) -> Option<usize> {
        None
    }
}

/// Where a strategy is built: its bot, symbol, interval and expiry.
#[derive(Clone, Debug, PartialEq)]
pub struct BotContext {
    /// The bot's name.
    pub bot: String,
    /// The symbol it trades.
    pub symbol: Symbol,
    /// The interval of its candles.
    pub interval: Interval,
    /// The expiry that its trades have unless a signal names another.
    pub expiry: Expiry,
    /// Minimum share of a longer candle's open-market time that the bot's candles must cover, in percent; all of its length if `None`.
    pub longer_share_percent: Option<f64>,
}

/// Why a strategy could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The parameters do not have the right form.
    #[error("{}: {problem}", parameters_of(strategy))]
    Parameters {
        /// Which strategy; empty until [`StrategyEntry::build`](crate::StrategyEntry::build) has named it.
        strategy: String,
        /// What is wrong, with the key.
        problem: String,
    },
    /// A file that the strategy needs cannot be used.
    #[error("{path}{}: {problem}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    File {
        /// The file.
        path: String,
        /// The line, counted from 1, when one is to blame.
        line: Option<u64>,
        /// What is wrong and what to do.
        problem: String,
    },
    /// An indicator cannot be made with what it was given, so that `Sma::new(params.period)?` is enough in
    /// [`StrategyFactory::build`].
    #[error("the strategy's parameters: {0}")]
    Indicator(#[from] crate::indicator::IndicatorError),
}

impl BuildError {
    /// Parameters that the strategy of that name cannot be built with.
    pub fn parameters(strategy: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Parameters { strategy: strategy.into(), problem: problem.into() }
    }

    /// The same, which names the strategy if it does not yet.
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

/// A sentence that says what is wrong with the parameters, so that `Err(format!(..).into())` is enough in
/// [`StrategyFactory::build`].
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

/// So that `Expiry::minutes(params.minutes)?` is enough in [`StrategyFactory::build`].
impl From<CloseTypeError> for BuildError {
    fn from(error: CloseTypeError) -> Self {
        error.to_string().into()
    }
}

/// How a strategy is described and made. Implemented by the strategy's own type; registered with
/// [`crate::Registry::with`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be registered as a strategy",
    label = "implement `StrategyFactory` for it",
    note = "`Strategy` says what it answers to candles; `StrategyFactory` its name, version and parameters, and how it is built"
)]
pub trait StrategyFactory: Strategy + Sized + 'static {
    /// The name in configurations: lower case, with hyphens.
    const NAME: &'static str;
    /// The version of its rules. A change of behaviour changes it; results are never mixed across versions.
    const VERSION: &'static str;
    /// One sentence.
    const ABOUT: &'static str;
    /// Whether [`Strategy::on_price`] is to be called.
    const WANTS_PRICES: bool = false;
    /// Its parameters, made with [`crate::parameters!`] or by hand.
    type Params: Parameters;

    /// Makes the strategy of one bot.
    ///
    /// # Errors
    /// [`BuildError`] when the parameters contradict each other, or something they name cannot be read.
    fn build(params: Self::Params, bot: &BotContext) -> Result<Self, BuildError>;

    /// Its signals as comparisons of series of numbers, where they are nothing else: a search over its parameters then
    /// shares the series, and is several times as fast. Asked right after it is built. A
    /// [`DeclaredStrategy`](crate::DeclaredStrategy) answers `Some(Declaration::of(self))`; see [`Declaration`].
    fn declaration(&self) -> Option<Declaration> {
        None
    }
}
