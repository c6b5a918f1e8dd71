//! The loop over candles that every driver of a strategy uses.

use crate::{Candle, CandleAnswer, CandleAnswers, Signal, Strategy, prefetch};

/// Prefetch distance in candles: about as many as one memory access takes.
const AHEAD: usize = 48;

/// Statistics about the candles passed to a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownCandles {
    /// Number of candles.
    pub count: usize,
    /// Number of suppressed signals.
    pub suppressed: u64,
}

/// A batch of candles with a limit on the number of answers.
///
/// Other crates cannot name this type, so they cannot implement the method of [`Strategy`] that
/// takes it.
#[derive(Clone, Copy, Debug)]
pub struct Several<'a> {
    pub(crate) candles: &'a [Candle],
    pub(crate) most: usize,
}

/// The loop around [`Strategy::on_candle`], for whoever drives a strategy. Every strategy has this one and none can have another,
/// so whatever its author writes without `unsafe` code, a strategy that answers a candle has been shown no later one, in a backtest
/// as live. With it there is [`AnswersTogether`](crate::AnswersTogether), and what it promises.
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
    /// Feeds closed candles of the bot's series to the strategy, up to a signal.
    ///
    /// Each candle goes to [`Strategy::on_candle`] in order. The first signal that counts ends the
    /// loop and is stored in `signal`. Signals on the first `suppress` candles do not count: they
    /// fall into the warm-up, or are certain to be rejected.
    fn on_candles(
        &mut self,
        candles: &[Candle],
        suppress: usize,
        signal: &mut Option<Signal>,
    ) -> ShownCandles;

    /// Feeds candles until there are `most` answers.
    ///
    /// Returns the number of candles fed. For a bot that sees nothing but candles, whatever becomes
    /// of its answers. A strategy that processes candles [together](crate::Together) may give a few
    /// more answers.
    fn on_candles_ahead(&mut self, candles: &[Candle], most: usize, answers: &mut CandleAnswers) -> usize;
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

    fn on_candles_ahead(&mut self, candles: &[Candle], most: usize, answers: &mut CandleAnswers) -> usize {
        if let Some(shown) = self.answer_several(Several { candles, most }, answers) {
            return shown;
        }
        let list = answers.list();
        let mut ahead = candles.get(AHEAD..).unwrap_or_default().iter();
        let mut rest = candles.iter();
        for candle in rest.by_ref() {
            if let Some(soon) = ahead.next() {
                prefetch(soon);
            }
            if let Some(signal) = self.on_candle(candle) {
                list.push(CandleAnswer { candle_time: candle.time(), signal });
                if list.len() >= most {
                    break;
                }
            }
        }
        answers.count_list();
        candles.len() - rest.len()
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
    fn ahead_it_ends_at_the_answer_that_makes_as_many_as_may_be() {
        let candles = from_closes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let answer = |place: usize| CandleAnswer {
            candle_time: candles[place].time(),
            signal: Signal::buy("chosen").with("place", place as f64),
        };
        for (most, expected) in [(1, vec![2, 4, 5, 6]), (2, vec![4, 6]), (3, vec![5, 6]), (4, vec![6])] {
            let mut strategy = Notes { answers: &[1, 3, 4], shown: Vec::new() };
            let (mut ends, mut given) = (Vec::new(), Vec::new());
            while strategy.shown.len() < candles.len() {
                let (before, mut answers) = (strategy.shown.len(), CandleAnswers::default());
                let shown = strategy.on_candles_ahead(&candles[before..], most, &mut answers);
                assert_eq!(strategy.shown.len(), before + shown);
                ends.push(before + shown);
                given.extend_from_slice(&answers);
            }
            assert_eq!(ends, expected, "{most}");
            assert_eq!(given, [1, 3, 4].map(answer), "{most}");
        }
        // Those that there are count.
        let mut strategy = Notes { answers: &[2, 3], shown: Vec::new() };
        let mut answers = CandleAnswers::default();
        answers.push(answer(0));
        assert_eq!(strategy.on_candles_ahead(&candles, 2, &mut answers), 3);
        assert_eq!(answers[..], [answer(0), answer(2)]);
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
