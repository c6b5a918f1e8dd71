//! Strategies that answer many candles in one call.

use crate::candle_loop::Several;
use crate::{Candle, CandleAnswers, Expiry, GateView, Interval, Price, Settlement, Signal, Strategy};

/// Maximum number of candles per call: the number of bits in a `u64`.
pub const MOST_TOGETHER: usize = 64;

const FEW: usize = 4;

/// A strategy that can answer many candles in one call.
///
/// It consists of a list of steps and applies each step to all candles before the next step. This
/// is cheaper than walking the list for each candle.
///
/// # Safety
/// The answer to a candle must be the one that [`Strategy::on_candle`] gives if these candles are
/// fed one by one, and both may be called in any order. Not memory safety is at stake, but the
/// validity of results: only this trait lets a strategy see a candle before it has answered the
/// previous one. An author without `unsafe` code cannot implement it.
#[expect(unsafe_code, reason = "whoever implements it promises what no type can hold him to")]
pub unsafe trait AnswersTogether: Strategy {
    /// Appends the answers to closed candles of the bot's series.
    ///
    /// The candles are consecutive, at most [`MOST_TOGETHER`].
    fn answer_together(&mut self, candles: &[Candle], answers: &mut CandleAnswers);
}

/// Wrapper that feeds a strategy several candles at once where possible.
#[derive(Clone, Debug)]
pub struct Together<S>(S);

impl<S: AnswersTogether> Together<S> {
    /// Wraps a strategy.
    pub const fn new(strategy: S) -> Self {
        Self(strategy)
    }
}

// No advice to an author whose type is no strategy.
#[diagnostic::do_not_recommend]
impl<S: AnswersTogether> Strategy for Together<S> {
    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    // The body of the loop over candles: see docs/performance.md.
    #[allow(clippy::inline_always, reason = "left to itself the compiler calls it for each candle")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.0.on_candle(candle)
    }

    fn longer_intervals(&self) -> &[Interval] {
        self.0.longer_intervals()
    }

    fn on_longer_candle(&mut self, interval: Interval, candle: &Candle) {
        self.0.on_longer_candle(interval, candle);
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.0.on_price(price)
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        self.0.on_settled(settlement);
    }

    fn wants_settlements(&self) -> bool {
        self.0.wants_settlements()
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        self.0.expiries()
    }

    fn is_gate_closed(&self) -> bool {
        self.0.is_gate_closed()
    }

    fn gate(&self) -> Option<GateView> {
        self.0.gate()
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.0.indicators()
    }

    fn answer_several(
        &mut self,
        Several { candles, most }: Several<'_>,
        answers: &mut CandleAnswers,
    ) -> Option<usize> {
        if candles.len() < FEW {
            return None;
        }
        let mut shown = 0;
        for together in candles.chunks(MOST_TOGETHER) {
            self.0.answer_together(together, answers);
            shown += together.len();
            if answers.len() >= most {
                break;
            }
        }
        Some(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::from_closes;
    use crate::{CandleAnswer, CandleLoop};

    /// Answers each candle whose close is whole, and notes how many it is shown together.
    #[derive(Default)]
    struct Whole {
        together: Vec<usize>,
    }

    impl Strategy for Whole {
        fn warmup(&self) -> usize {
            0
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            (candle.close().fract() == 0.0).then(|| Signal::buy("whole").with("close", candle.close()))
        }
    }

    #[expect(unsafe_code, reason = "each answer is that of the candle alone")]
    unsafe impl AnswersTogether for Whole {
        fn answer_together(&mut self, candles: &[Candle], answers: &mut CandleAnswers) {
            self.together.push(candles.len());
            for candle in candles {
                if let Some(signal) = self.on_candle(candle) {
                    answers.push(CandleAnswer { candle_time: candle.time(), signal });
                }
            }
        }
    }

    #[test]
    fn it_is_shown_many_at_a_time_until_there_are_as_many_answers_as_may_be() {
        let closes: Vec<f64> = (1..=200).map(|place| f64::from(place) / 40.0).collect();
        let candles = from_closes(&closes);
        // Whole at the candles 40, 80, 120, 160 and 200.
        for (most, expected) in [(1, 64), (2, 128), (3, 128), (4, 192), (5, 200), (9, 200)] {
            let (mut strategy, mut answers) = (Together::new(Whole::default()), CandleAnswers::default());
            assert_eq!(strategy.on_candles_ahead(&candles, most, &mut answers), expected, "{most}");
            let times: Vec<_> = answers.iter().map(|answer| answer.candle_time).collect();
            let whole = (1..=expected / 40).map(|count| candles[count * 40 - 1].time());
            assert_eq!(times, whole.collect::<Vec<_>>(), "{most}");
            assert_eq!(strategy.0.together.iter().sum::<usize>(), expected);
            assert!(strategy.0.together.iter().all(|count| *count <= MOST_TOGETHER));
        }
    }

    #[test]
    fn a_few_candles_are_shown_one_by_one() {
        let (mut strategy, mut answers) = (Together::new(Whole::default()), CandleAnswers::default());
        assert_eq!(strategy.on_candles_ahead(&from_closes(&[0.5, 1.0, 2.0]), 1, &mut answers), 2);
        assert_eq!((answers.len(), strategy.0.together.len()), (1, 0));
    }
}
