//! The trait that a strategy implements, and how one is made.

use crate::{Candle, Declaration, Expiry, Interval, Parameters, Price, Settlement, Signal, Symbol};

/// A strategy of one bot on one series.
///
/// Called with every closed candle of its series, in order, in a backtest and live alike. It must be
/// deterministic: the same calls give the same answers, so it reads no clock, file or random source here.
/// Anything it reads from outside it reads in [`StrategyFactory::build`], from files that its parameters name: what they hold is
/// part of what a result is known by.
pub trait Strategy: CandleLoop + Send {
    /// How many candles it must have seen before its signals mean anything. Live, that many are fetched before
    /// the start; signals during warm-up are never traded.
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

    /// One of the bot's own trades has settled.
    fn on_settled(&mut self, settlement: &Settlement) {
        let _ = settlement;
    }

    /// The values that it went by when it last answered, each with a name: an index, an average, a count. People see them
    /// who ask why it decided so (`candlewick explain`); nothing that trades does.
    ///
    /// Asked after [`on_candle`](Self::on_candle) or [`on_price`](Self::on_price), whether that gave a signal or not. So a
    /// strategy keeps what it computed there, and leaves out what it does not know yet. `explain` tells a strategy of its
    /// own all that the recorded session told it, so nothing is stored while it trades. As it is, it offers none.
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
    ///     fn indicators(&self) -> Vec<(&'static str, f64)> {
    ///         self.last.map(|rsi| ("rsi", rsi)).into_iter().collect()
    ///     }
    /// }
    /// ```
    fn indicators(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Its signals as comparisons of series of numbers, where they are nothing else: a search over its parameters then
    /// shares the series, and is several times as fast. Asked right after it is built; see [`Declaration`].
    fn declaration(&self) -> Option<Declaration> {
        None
    }
}

/// The loop around [`Strategy::on_candle`]. Every strategy has this one and none can have another, so whatever its author
/// writes, a strategy that answers a candle has been shown no later one, in a backtest as live.
///
/// It is a trait of its own because a run over stored candles makes one call through a trait object for many candles: were it
/// a method of [`Strategy`], an author could write one that looks at all of them before it answers the first.
///
/// ```compile_fail,E0407
/// use candlewick_sdk::{Candle, Signal, Strategy};
///
/// struct Peeks;
///
/// impl Strategy for Peeks {
///     fn warmup(&self) -> usize {
///         0
///     }
///
///     fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
///         None
///     }
///
///     // No method of `Strategy`.
///     fn on_candles(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
///         *signal = (candles[candles.len() - 1].close() > candles[0].close()).then(|| Signal::buy("it will rise"));
///         1
///     }
/// }
/// ```
///
/// ```compile_fail,E0119
/// use candlewick_sdk::{Candle, CandleLoop, Signal, Strategy};
///
/// struct Peeks;
///
/// impl Strategy for Peeks {
///     fn warmup(&self) -> usize {
///         0
///     }
///
///     fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
///         None
///     }
/// }
///
/// // Every strategy has it already.
/// impl CandleLoop for Peeks {
///     fn on_candles(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
///         1
///     }
/// }
/// ```
pub trait CandleLoop {
    /// Candles of the bot's series have closed, one after the other: each is shown to [`Strategy::on_candle`], up to the
    /// first that is answered, with this signal. How many were shown.
    fn on_candles(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize;

    /// The same of candles whose answers nobody hears: all are shown. How many were answered.
    fn pass_candles(&mut self, candles: &[Candle]) -> u64;

    /// The same after a trade: nobody hears the answers to the first `unheard` candles; the strategy is told of the settlement
    /// behind them, then [`on_candles`](Self::on_candles) goes on. How many candles were shown, and how many of the unheard
    /// were answered.
    fn on_candles_after(
        &mut self,
        unheard: usize,
        settlement: &Settlement,
        candles: &[Candle],
        signal: &mut Option<Signal>,
    ) -> (usize, u64);
}

impl<S: Strategy> CandleLoop for S {
    fn on_candles(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
        for (index, candle) in candles.iter().enumerate() {
            if let Some(answer) = self.on_candle(candle) {
                *signal = Some(answer);
                return index + 1;
            }
        }
        *signal = None;
        candles.len()
    }

    fn pass_candles(&mut self, candles: &[Candle]) -> u64 {
        candles.iter().map(|candle| u64::from(self.on_candle(candle).is_some())).sum()
    }

    // One loop: a processor takes a guess at where each ends, and it is wrong as often.
    fn on_candles_after(
        &mut self,
        unheard: usize,
        settlement: &Settlement,
        candles: &[Candle],
        signal: &mut Option<Signal>,
    ) -> (usize, u64) {
        let mut answered = 0;
        for (index, candle) in candles.iter().enumerate() {
            if index == unheard {
                self.on_settled(settlement);
            }
            if let Some(answer) = self.on_candle(candle) {
                if index >= unheard {
                    *signal = Some(answer);
                    return (index + 1, answered);
                }
                answered += 1;
            }
        }
        if unheard >= candles.len() {
            self.on_settled(settlement);
        }
        *signal = None;
        (candles.len(), answered)
    }
}

/// What a bot is told of its place when its strategy is built.
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
}

/// Why a strategy could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The parameters do not have the right form.
    #[error("parameters of strategy \"{strategy}\": {problem}")]
    Parameters {
        /// Which strategy.
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
}

impl BuildError {
    /// Parameters that the strategy of that name cannot be built with.
    pub fn parameters(strategy: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Parameters { strategy: strategy.into(), problem: problem.into() }
    }
}

/// How a strategy is described and made. Implemented by the strategy's own type; registered with
/// [`crate::Registry::with`].
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Millis, Money, Ohlcv, Outcome};
    use proptest::prelude::prop;
    use proptest::{prop_assert_eq, proptest};

    #[derive(Debug, PartialEq)]
    enum Call {
        Candle(Candle),
        Settled(Settlement),
    }

    /// Notes whatever it is told, and answers some candles.
    struct Notes {
        /// Whether it answers, for each candle.
        answers: Vec<bool>,
        shown: usize,
        calls: Vec<Call>,
    }

    impl Notes {
        fn of(answers: &[bool]) -> Self {
            Self { answers: answers.to_vec(), shown: 0, calls: Vec::new() }
        }
    }

    impl Strategy for Notes {
        fn warmup(&self) -> usize {
            0
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            self.calls.push(Call::Candle(*candle));
            self.shown += 1;
            self.answers[self.shown - 1].then(|| Signal::buy("shown").with("candles", self.shown as f64))
        }

        fn on_settled(&mut self, settlement: &Settlement) {
            self.calls.push(Call::Settled(*settlement));
        }
    }

    proptest! {
        #[test]
        fn after_a_trade_it_is_told_the_same_in_the_same_order_as_by_three_calls(
            answers in prop::collection::vec(prop::bool::weighted(0.2), 0..12),
            unheard in 0_usize..15,
        ) {
            let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
            let candle =
                |index: i64| Candle::new(Millis::MINUTE * index, Interval::MINUTE, numbers).unwrap();
            let candles: Vec<Candle> = (0..).map(candle).take(answers.len()).collect();
            let settlement = Settlement {
                direction: Direction::Sell,
                decision_time: Millis::MINUTE,
                outcome: Outcome::Draw,
                profit: Money::ZERO,
            };
            // What stood there before is no answer.
            let (mut one, mut three) = (Some(Signal::sell("stale")), Some(Signal::sell("stale")));
            let (mut by_one, mut by_three) = (Notes::of(&answers), Notes::of(&answers));

            let told = by_one.on_candles_after(unheard, &settlement, &candles, &mut one);

            let (before, behind) = candles.split_at(unheard.min(candles.len()));
            let answered = by_three.pass_candles(before);
            by_three.on_settled(&settlement);
            let shown = before.len() + by_three.on_candles(behind, &mut three);
            prop_assert_eq!(told, (shown, answered));
            prop_assert_eq!(one, three);
            prop_assert_eq!(by_one.calls, by_three.calls);
        }
    }
}
