//! The loop over candles that every driver of a strategy uses.

use crate::{
    Candle, Direction, Expiry, GateView, Interval, Millis, Price, Reason, ReasonTemplate, Settlement, Signal,
    Strategy,
};
use std::ops::Deref;

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

/// A batch of candles. Other crates cannot name it, so they cannot implement the method that takes it.
#[derive(Clone, Copy, Debug)]
pub struct Several<'a> {
    pub(crate) candles: &'a [Candle],
    pub(crate) most: usize,
}

/// The loop around [`Strategy::on_candle`], for drivers of a strategy.
///
/// Every strategy has this one and, without `unsafe` code ([`AnswersTogether`]), none can have another: a strategy
/// that answers a candle has seen no later one. As a method of [`Strategy`] an author could override it.
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
    /// Each candle goes to [`Strategy::on_candle`] in order. The first signal that counts ends the loop and
    /// is stored in `signal`. Signals on the first `suppress` candles do not count: they fall into the
    /// warm-up, or are certain to be rejected.
    fn on_candles(
        &mut self,
        candles: &[Candle],
        suppress: usize,
        signal: &mut Option<Signal>,
    ) -> ShownCandles;

    /// Feeds candles until there are `most` answers.
    /// Returns the number of candles fed. For a bot that sees nothing but candles, whatever becomes of its
    /// answers. A strategy that processes candles [together](crate::Together) may give a few more answers.
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

/// Prefetches the first cache line of a value.
/// For loops over more data than fits the caches. Affects only the speed.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn prefetch<T>(soon: &T) {
    safe_arch::prefetch_t0(soon);
}

/// Does nothing on other processors.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn prefetch<T>(_: &T) {}

/// A signal together with the candle that triggered it.
#[derive(Clone, Debug, PartialEq)]
pub struct CandleAnswer {
    /// Open time of the candle.
    pub candle_time: Millis,
    /// The strategy's signal.
    pub signal: Signal,
}

/// Signals in the order of their candles. Cleared entries stay allocated and are reused by later ones.
#[derive(Debug, Default)]
pub struct CandleAnswers {
    places: Vec<CandleAnswer>,
    count: usize,
}

impl CandleAnswers {
    /// Creates an empty list with this capacity.
    pub fn with_capacity(answers: usize) -> Self {
        Self { places: Vec::with_capacity(answers), count: 0 }
    }

    /// Removes all answers, but keeps their memory for reuse.
    #[inline]
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Appends an answer.
    #[inline]
    pub fn push(&mut self, answer: CandleAnswer) {
        self.list().push(answer);
        self.count_list();
    }

    #[inline]
    pub(crate) fn list(&mut self) -> &mut Vec<CandleAnswer> {
        self.places.truncate(self.count);
        &mut self.places
    }

    #[inline]
    const fn count_list(&mut self) {
        self.count = self.places.len();
    }

    /// Appends an answer whose reason is built from a template with these numbers.
    /// Overwrites a cleared entry in place if there is one.
    #[inline]
    pub fn push_of_template(
        &mut self,
        candle_time: Millis,
        (direction, expiry): (Direction, Option<Expiry>),
        template: &ReasonTemplate,
        numbers: &[f64],
    ) {
        if self.count == self.places.len() {
            self.add_place();
        }
        if let Some(CandleAnswer { candle_time: time, signal }) = self.places.get_mut(self.count) {
            *time = candle_time;
            signal.direction = direction;
            signal.expiry = expiry;
            signal.is_virtual = false;
            signal.reason.become_one_of(template, numbers);
            self.count += 1;
        }
    }

    #[cold]
    fn add_place(&mut self) {
        let signal = Signal::with_reason(Direction::Buy, Reason::new(""));
        self.places.push(CandleAnswer { candle_time: Millis::ZERO, signal });
    }
}

impl Deref for CandleAnswers {
    type Target = [CandleAnswer];

    #[inline]
    fn deref(&self) -> &[CandleAnswer] {
        self.places.get(..self.count).unwrap_or_default()
    }
}

/// Maximum number of candles per call: the number of bits in a `u64`.
pub const MOST_TOGETHER: usize = 64;

const FEW: usize = 4;

/// A strategy that can answer many candles in one call.
///
/// It applies each of its steps to all candles before the next step, which is cheaper.
///
/// # Safety
/// The answer to a candle must be the one that [`Strategy::on_candle`] gives if these candles are fed one by one,
/// and both may be called in any order. Not memory safety is at stake, but the validity of results: only this
/// trait lets a strategy see a candle before it has answered the previous one.
#[expect(unsafe_code, reason = "whoever implements it promises what no type can hold him to")]
pub unsafe trait AnswersTogether: Strategy {
    /// Appends the answers to closed candles of the bot's series.
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

    fn check(answers: &'static [usize], suppress: usize, expected: (Option<usize>, u64)) {
        let closes = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let mut strategy = Notes { answers, shown: Vec::new() };
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
        let answer = |place: usize| {
            let signal = Signal::buy("chosen").with("place", place as f64);
            CandleAnswer { candle_time: candles[place].time(), signal }
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

    #[test]
    fn an_answer_is_the_same_in_whosever_place_it_is() {
        let expiry = Expiry::minutes(5).unwrap();
        let templates = ReasonTemplate::together([("low", vec!["rsi", "level"]), ("high", vec!["rsi"])]);
        let at = |time, signal| CandleAnswer { candle_time: Millis::new(time), signal };
        let full = (0..5).fold(Signal::sell("fixed"), |signal, n| signal.with("n", f64::from(n)));
        let alone = ReasonTemplate::new("alone", ["a", "b", "c"]).with_numbers(&[7.0, 8.0, 9.0]);
        let before = [
            full.expiring(expiry).as_virtual(),
            Signal::with_reason(Direction::Sell, alone),
            Signal::with_reason(Direction::Buy, templates[0].with_numbers(&[1.0, 2.0])),
            Signal::with_reason(Direction::Sell, templates[1].with_numbers(&[3.0])).as_virtual(),
        ];
        let mut answers = CandleAnswers::with_capacity(2);
        for (template, numbers) in
            [(&templates[0], &[28.5, 30.0][..]), (&templates[1], &[71.0]), (&templates[0], &[])]
        {
            for count in 0..before.len() {
                answers.clear();
                assert!(answers.is_empty());
                before[..=count].iter().for_each(|signal| answers.push(at(1, signal.clone())));
                assert_eq!(answers.len(), count + 1);
                answers.clear();
                let times = 2..count as i64 + 4;
                times.clone().for_each(|time| {
                    answers.push_of_template(Millis::new(time), (Direction::Buy, None), template, numbers);
                });
                let signal = Signal::with_reason(Direction::Buy, template.with_numbers(numbers));
                assert_eq!(answers[..], times.map(|time| at(time, signal.clone())).collect::<Vec<_>>());
                for answer in &*answers {
                    let reason = &answer.signal.reason;
                    assert_eq!(reason.padded_values(), signal.reason.padded_values());
                    assert!(reason.shares_words_with(&signal.reason) && !reason.is_cut());
                }
            }
        }
    }

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
