//! The loop that feeds candles to a strategy, in backtests, searches and live runs.

use crate::{
    Candle, Direction, Expiry, GateSnapshot, Interval, Millis, Price, Reason, ReasonTemplate, Settlement,
    Signal, Strategy,
};
use std::ops::Deref;

/// Number of candles to look ahead when prefetching: about as many as are processed during one memory access.
const PREFETCH_DISTANCE: usize = 48;

/// Result of feeding candles to a strategy ([`CandleLoop::feed_until_signal`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedResult {
    /// Number of candles that the strategy processed.
    pub count: usize,
    /// Number of suppressed signals: signals that are counted, but never traded.
    pub suppressed: u64,
}

/// Argument of [`Strategy::try_answer_batch`]. Other crates cannot name this type, so they cannot override that method.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    pub(crate) candles: &'a [Candle],
    pub(crate) max_answers: usize,
}

/// The loop that feeds candles to [`Strategy::on_candle`], implemented for every strategy.
///
/// The loop guarantees that a strategy answers each candle before it sees the next candle. A strategy cannot override
/// the loop, except with `unsafe` code ([`BatchStrategy`]).
///
/// ```compile_fail,E0407
/// use candlewick_sdk::{Candle, FedCandles, Signal, Strategy};
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
///     // `Strategy` does not have this method.
///     fn feed_until_signal(&mut self, candles: &[Candle], _: usize, signal: &mut Option<Signal>) -> FedCandles {
///         *signal = (candles[candles.len() - 1].close() > candles[0].close()).then(|| Signal::buy("it will rise"));
///         FedCandles { count: 1, suppressed: 0 }
///     }
/// }
/// ```
///
/// ```compile_fail,E0119
/// use candlewick_sdk::{Candle, CandleLoop, FedCandles, Signal, Strategy};
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
/// // Conflicts with the implementation for all strategies.
/// impl CandleLoop for Peeks {
///     fn feed_until_signal(&mut self, candles: &[Candle], _: usize, signal: &mut Option<Signal>) -> FedCandles {
///         FedCandles { count: 1, suppressed: 0 }
///     }
/// }
/// ```
pub trait CandleLoop {
    /// Feeds closed candles to [`Strategy::on_candle`], in order, up to the first signal.
    ///
    /// Signals on the first `suppress` candles are only counted, because the strategy is still warming up or must not
    /// trade yet. The first signal after these candles ends the loop and is stored in `signal`.
    fn feed_until_signal(
        &mut self,
        candles: &[Candle],
        suppress: usize,
        signal: &mut Option<Signal>,
    ) -> FeedResult;

    /// Feeds candles until `answers` contains `limit` signals. Returns the number of candles fed.
    ///
    /// The signals must depend only on candles, and not on earlier trades. A strategy that processes candles in batches
    /// ([`BatchAdapter`](crate::BatchAdapter)) may exceed the limit by a few signals.
    fn feed_until_limit(&mut self, candles: &[Candle], limit: usize, answers: &mut CandleAnswers) -> usize;
}

impl<S: Strategy> CandleLoop for S {
    fn feed_until_signal(
        &mut self,
        candles: &[Candle],
        suppress: usize,
        signal: &mut Option<Signal>,
    ) -> FeedResult {
        let (first, rest) = candles.split_at(suppress.min(candles.len()));
        let suppressed = first.iter().map(|candle| u64::from(self.on_candle(candle).is_some())).sum();
        for (index, candle) in rest.iter().enumerate() {
            if let Some(soon) = rest.get(index + PREFETCH_DISTANCE) {
                prefetch(soon);
            }
            if let Some(answer) = self.on_candle(candle) {
                *signal = Some(answer);
                return FeedResult { count: first.len() + index + 1, suppressed };
            }
        }
        *signal = None;
        FeedResult { count: candles.len(), suppressed }
    }

    fn feed_until_limit(&mut self, candles: &[Candle], limit: usize, answers: &mut CandleAnswers) -> usize {
        if let Some(fed) = self.process_batch(Batch { candles, max_answers: limit }, answers) {
            return fed;
        }
        let entries = answers.entries();
        let mut ahead = candles.get(PREFETCH_DISTANCE..).unwrap_or_default().iter();
        let mut rest = candles.iter();
        for candle in rest.by_ref() {
            if let Some(soon) = ahead.next() {
                prefetch(soon);
            }
            if let Some(signal) = self.on_candle(candle) {
                entries.push(CandleAnswer { candle_time: candle.time(), signal });
                if entries.len() >= limit {
                    break;
                }
            }
        }
        answers.update_count();
        candles.len() - rest.len()
    }
}

/// Loads the first cache line of `value` into the CPU cache. Call this shortly before the value is needed.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn prefetch<T>(value: &T) {
    safe_arch::prefetch_t0(value);
}

/// Does nothing: prefetching is only implemented for x86-64.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn prefetch<T>(_: &T) {}

/// A signal and the open time of the candle that triggered the signal.
#[derive(Clone, Debug, PartialEq)]
pub struct CandleAnswer {
    /// Open time of the candle that triggered the signal.
    pub candle_time: Millis,
    /// The strategy's signal.
    pub signal: Signal,
}

/// A list of signals in candle order. Cleared entries keep their memory for reuse.
#[derive(Debug, Default)]
pub struct CandleAnswers {
    slots: Vec<CandleAnswer>,
    count: usize,
}

impl CandleAnswers {
    /// Creates an empty list with capacity for `answers` entries.
    pub fn with_capacity(answers: usize) -> Self {
        Self { slots: Vec::with_capacity(answers), count: 0 }
    }

    /// Removes all answers, but keeps their memory for reuse.
    #[inline]
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Appends an answer.
    #[inline]
    pub fn push(&mut self, answer: CandleAnswer) {
        self.entries().push(answer);
        self.update_count();
    }

    #[inline]
    pub(crate) fn entries(&mut self) -> &mut Vec<CandleAnswer> {
        self.slots.truncate(self.count);
        &mut self.slots
    }

    #[inline]
    const fn update_count(&mut self) {
        self.count = self.slots.len();
    }

    /// Appends an answer whose reason is built from a template and numbers. Reuses a cleared entry if possible.
    #[inline]
    pub fn push_from_template(
        &mut self,
        candle_time: Millis,
        (direction, expiry): (Direction, Option<Expiry>),
        template: &ReasonTemplate,
        numbers: &[f64],
    ) {
        if self.count == self.slots.len() {
            self.add_slot();
        }
        if let Some(CandleAnswer { candle_time: time, signal }) = self.slots.get_mut(self.count) {
            *time = candle_time;
            signal.direction = direction;
            signal.expiry = expiry;
            signal.is_virtual = false;
            signal.reason.set_from_template(template, numbers);
            self.count += 1;
        }
    }

    #[cold]
    fn add_slot(&mut self) {
        let signal = Signal::with_reason(Direction::Buy, Reason::new(""));
        self.slots.push(CandleAnswer { candle_time: Millis::ZERO, signal });
    }
}

impl Deref for CandleAnswers {
    type Target = [CandleAnswer];

    #[inline]
    fn deref(&self) -> &[CandleAnswer] {
        self.slots.get(..self.count).unwrap_or_default()
    }
}

/// Maximum number of candles in a batch: one per bit of a `u64` mask.
pub const MAX_BATCH_CANDLES: usize = 64;

/// Minimum number of candles in a batch. Fewer candles are processed one at a time.
const MIN_BATCH: usize = 4;

/// A strategy that can process a batch of candles in one call.
///
/// # Safety
/// [`answer_batch`](Self::answer_batch) must give the same signals as [`Strategy::on_candle`] for the same candles,
/// even if calls to the two methods alternate. A violation falsifies results, because a batch shows a strategy later
/// candles before it answers an earlier one. Memory safety is not affected.
#[expect(unsafe_code, reason = "implementers guarantee what the type system cannot check")]
pub unsafe trait BatchStrategy: Strategy {
    /// Processes the next closed candles, at most [`MAX_BATCH_CANDLES`], and appends their signals to `answers`.
    fn answer_batch(&mut self, candles: &[Candle], answers: &mut CandleAnswers);
}

/// Wrapper around a [`BatchStrategy`] that processes candles in batches if possible.
#[derive(Clone, Debug)]
pub struct BatchAdapter<S>(S);

impl<S: BatchStrategy> BatchAdapter<S> {
    /// Wraps a strategy.
    pub const fn new(strategy: S) -> Self {
        Self(strategy)
    }
}

// Excludes this implementation from the compiler's suggestions.
#[diagnostic::do_not_recommend]
impl<S: BatchStrategy> Strategy for BatchAdapter<S> {
    fn warmup(&self) -> usize {
        self.0.warmup()
    }

    // This method is the body of the loop over candles (see docs/performance.md).
    #[allow(clippy::inline_always, reason = "otherwise the compiler emits a call per candle")]
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

    fn gate(&self) -> Option<GateSnapshot> {
        self.0.gate()
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        self.0.indicators()
    }

    fn process_batch(
        &mut self,
        Batch { candles, max_answers }: Batch<'_>,
        answers: &mut CandleAnswers,
    ) -> Option<usize> {
        if candles.len() < MIN_BATCH {
            return None;
        }
        let mut fed = 0;
        for batch in candles.chunks(MAX_BATCH_CANDLES) {
            self.0.answer_batch(batch, answers);
            fed += batch.len();
            if answers.len() >= max_answers {
                break;
            }
        }
        Some(fed)
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
        let shown = strategy.feed_until_signal(&from_closes(&closes), suppress, &mut signal);
        let (answered, suppressed) = expected;
        let count = answered.map_or(closes.len(), |place| place + 1);
        assert_eq!(shown, FeedResult { count, suppressed }, "{answers:?} {suppress}");
        assert_eq!(strategy.shown, closes[..count], "{answers:?} {suppress}");
        let of = |place| Signal::buy("chosen").with("place", place as f64);
        assert_eq!(signal, answered.map(of), "{answers:?} {suppress}");
    }

    #[test]
    fn feeds_ahead_until_the_maximum_number_of_answers() {
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
                let shown = strategy.feed_until_limit(&candles[before..], most, &mut answers);
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
        assert_eq!(strategy.feed_until_limit(&candles, 2, &mut answers), 3);
        assert_eq!(answers[..], [answer(0), answer(2)]);
    }

    #[test]
    fn stops_at_first_signal_that_is_not_suppressed() {
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
    fn reused_entries_equal_new_ones() {
        let expiry = Expiry::minutes(5).unwrap();
        let templates = ReasonTemplate::new_group([("low", vec!["rsi", "level"]), ("high", vec!["rsi"])]);
        let at = |time, signal| CandleAnswer { candle_time: Millis::new(time), signal };
        let full = (0..5).fold(Signal::sell("fixed"), |signal, n| signal.with("n", f64::from(n)));
        let alone = ReasonTemplate::new("alone", ["a", "b", "c"]).with_numbers(&[7.0, 8.0, 9.0]);
        let before = [
            full.with_expiry(expiry).as_virtual(),
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
                    answers.push_from_template(Millis::new(time), (Direction::Buy, None), template, numbers);
                });
                let signal = Signal::with_reason(Direction::Buy, template.with_numbers(numbers));
                assert_eq!(answers[..], times.map(|time| at(time, signal.clone())).collect::<Vec<_>>());
                for answer in &*answers {
                    let reason = &answer.signal.reason;
                    assert_eq!(reason.padded_values(), signal.reason.padded_values());
                    assert!(reason.wording_ptr_eq(&signal.reason) && !reason.is_truncated());
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

    #[expect(unsafe_code, reason = "each answer depends on its own candle only")]
    unsafe impl BatchStrategy for Whole {
        fn answer_batch(&mut self, candles: &[Candle], answers: &mut CandleAnswers) {
            self.together.push(candles.len());
            for candle in candles {
                if let Some(signal) = self.on_candle(candle) {
                    answers.push(CandleAnswer { candle_time: candle.time(), signal });
                }
            }
        }
    }

    #[test]
    fn feeds_batches_until_the_maximum_number_of_answers() {
        let closes: Vec<f64> = (1..=200).map(|place| f64::from(place) / 40.0).collect();
        let candles = from_closes(&closes);
        // The closes of candles 40, 80, 120, 160 and 200 are whole numbers.
        for (most, expected) in [(1, 64), (2, 128), (3, 128), (4, 192), (5, 200), (9, 200)] {
            let (mut strategy, mut answers) = (BatchAdapter::new(Whole::default()), CandleAnswers::default());
            assert_eq!(strategy.feed_until_limit(&candles, most, &mut answers), expected, "{most}");
            let times: Vec<_> = answers.iter().map(|answer| answer.candle_time).collect();
            let whole = (1..=expected / 40).map(|count| candles[count * 40 - 1].time());
            assert_eq!(times, whole.collect::<Vec<_>>(), "{most}");
            assert_eq!(strategy.0.together.iter().sum::<usize>(), expected);
            assert!(strategy.0.together.iter().all(|count| *count <= MAX_BATCH_CANDLES));
        }
    }

    #[test]
    fn feeds_few_candles_one_by_one() {
        let (mut strategy, mut answers) = (BatchAdapter::new(Whole::default()), CandleAnswers::default());
        assert_eq!(strategy.feed_until_limit(&from_closes(&[0.5, 1.0, 2.0]), 1, &mut answers), 2);
        assert_eq!((answers.len(), strategy.0.together.len()), (1, 0));
    }
}
