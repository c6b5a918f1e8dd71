//! The loop over candles that every driver of a strategy uses.

use crate::{Candle, Signal, Strategy, prefetch};

/// How many candles ahead of the one that is shown memory is asked: about as many as are shown until it answers.
const AHEAD: usize = 48;

/// Candles that were shown to a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownCandles {
    /// How many were shown.
    pub count: usize,
    /// How many signals were suppressed.
    pub suppressed: u64,
}

/// The loop around [`Strategy::on_candle`], for whoever drives a strategy. Every strategy has this one and none can have another,
/// so whatever its author writes, a strategy that answers a candle has been shown no later one, in a backtest as live.
///
/// It is a trait of its own because a run over stored candles makes one call through a trait object for many candles: were it
/// a method of [`Strategy`], an author could write one that looks at all of them before it answers the first.
///
/// ```compile_fail,E0407
/// use candlewick_sdk::{Candle, ShownCandles, Signal, Strategy};
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
///     fn on_candles(&mut self, candles: &[Candle], _: usize, signal: &mut Option<Signal>) -> ShownCandles {
///         *signal = (candles[candles.len() - 1].close() > candles[0].close()).then(|| Signal::buy("it will rise"));
///         ShownCandles { count: 1, suppressed: 0 }
///     }
/// }
/// ```
///
/// ```compile_fail,E0119
/// use candlewick_sdk::{Candle, CandleLoop, ShownCandles, Signal, Strategy};
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
///     fn on_candles(&mut self, candles: &[Candle], _: usize, signal: &mut Option<Signal>) -> ShownCandles {
///         ShownCandles { count: 1, suppressed: 0 }
///     }
/// }
/// ```
pub trait CandleLoop {
    /// Candles of the bot's series have closed, one after the other: each is shown to [`Strategy::on_candle`], up to the
    /// first whose signal counts, which `signal` then holds. Signals on the first `suppress` candles do not count: during
    /// warm-up, or while every signal is certain to be refused.
    fn on_candles(
        &mut self,
        candles: &[Candle],
        suppress: usize,
        signal: &mut Option<Signal>,
    ) -> ShownCandles;
}

impl<S: Strategy> CandleLoop for S {
    fn on_candles(
        &mut self,
        candles: &[Candle],
        suppress: usize,
        signal: &mut Option<Signal>,
    ) -> ShownCandles {
        let (first, rest) = candles.split_at(suppress.min(candles.len()));
        let suppressed = first.iter().map(|candle| u64::from(self.on_candle(candle).is_some())).sum();
        for (index, candle) in rest.iter().enumerate() {
            if let Some(soon) = rest.get(index + AHEAD) {
                prefetch(soon);
            }
            if let Some(answer) = self.on_candle(candle) {
                *signal = Some(answer);
                return ShownCandles { count: first.len() + index + 1, suppressed };
            }
        }
        *signal = None;
        ShownCandles { count: candles.len(), suppressed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::from_closes;

    /// Notes the candles that it is shown, and answers some of them.
    struct Notes {
        answers: &'static [usize],
        shown: Vec<f64>,
    }

    impl Strategy for Notes {
        fn warmup(&self) -> usize {
            0
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            let place = self.shown.len();
            self.shown.push(candle.close());
            self.answers.contains(&place).then(|| Signal::buy("chosen").with("place", place as f64))
        }
    }

    /// Which candle is answered and how many signals are suppressed before it, of six candles.
    fn check(answers: &'static [usize], suppress: usize, expected: (Option<usize>, u64)) {
        let closes = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut strategy = Notes { answers, shown: Vec::new() };
        // What stood there before is no answer.
        let mut signal = Some(Signal::sell("stale"));
        let shown = strategy.on_candles(&from_closes(&closes), suppress, &mut signal);
        let (answered, suppressed) = expected;
        let count = answered.map_or(closes.len(), |place| place + 1);
        assert_eq!(shown, ShownCandles { count, suppressed }, "{answers:?} {suppress}");
        assert_eq!(strategy.shown, closes[..count], "{answers:?} {suppress}");
        let of = |place| Signal::buy("chosen").with("place", place as f64);
        assert_eq!(signal, answered.map(of), "{answers:?} {suppress}");
    }

    #[test]
    fn it_ends_at_the_first_signal_that_counts() {
        check(&[], 0, (None, 0));
        check(&[3], 0, (Some(3), 0));
        check(&[0, 3], 0, (Some(0), 0));
        check(&[0, 3], 1, (Some(3), 1));
        check(&[0, 3], 3, (Some(3), 1));
        check(&[0, 3, 5], 4, (Some(5), 2));
        check(&[0, 3, 5], 6, (None, 3));
        check(&[0, 3, 5], 60, (None, 3));
    }
}
