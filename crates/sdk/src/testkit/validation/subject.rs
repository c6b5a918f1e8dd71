//! The strategy under test, and the runs that feed it candles and collect its signals.

use super::Check;
use super::surrogate::Decoys;
use crate::{
    BotContext, BuildError, Candle, Direction, LongerCandles, Millis, Money, Outcome, Price, Reason,
    Settlement, Signal, Strategy, StrategyEntry, StrategyFactory, compare_prices,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{self, AtomicU64, AtomicUsize};

/// A strategy with all inputs needed to build it repeatedly.
#[derive(Clone)]
pub struct Subject {
    /// Registry entry of the strategy.
    pub entry: StrategyEntry,
    /// Parameters as a JSON object.
    pub params: Value,
    /// Build context.
    pub bot: BotContext,
}

pub(super) const PRICES_PER_CANDLE: u8 = 4;

const SPARE_CANDLES: usize = 4_096;

#[derive(Clone, Debug)]
pub(in crate::testkit) struct Answer {
    pub(in crate::testkit) candle: usize,
    /// Index of the price within the candle, or [`PRICES_PER_CANDLE`] for its close.
    pub(super) moment: u8,
    pub(in crate::testkit) signal: Signal,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::testkit) struct RunMode {
    /// Index of the first candle with prices, if the strategy requests prices. Earlier candles have no prices.
    pub(super) prices_from: usize,
    pub(super) results: ResultMode,
    pub(super) getter_calls: GetterCalls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultMode {
    Shown,
    Withheld,
}

#[derive(Debug, thiserror::Error)]
pub(in crate::testkit) enum RunError {
    #[error("the strategy cannot be built again: {0}")]
    Build(BuildError),
    #[error("the strategy panics at candle {candle}: {message}")]
    Panic { candle: usize, message: String },
    #[error(
        "at candle {candle} the strategy changes the floating-point mode of the processor, and with it all later calculations: \
         restore the mode before returning"
    )]
    FloatMode { candle: usize },
}

impl RunError {
    pub(super) const fn failed_check(&self) -> Check {
        match self {
            Self::Build(_) | Self::Panic { .. } => Check::Extremes,
            Self::FloatMode { .. } => Check::Isolation,
        }
    }

    pub(super) fn message(self) -> String {
        match self {
            Self::Panic { message, .. } => message,
            stop => stop.to_string(),
        }
    }
}

impl RunMode {
    pub(in crate::testkit) const FULL: Self =
        Self { prices_from: 0, results: ResultMode::Shown, getter_calls: GetterCalls::None };
    pub(super) const WITHOUT_RESULTS: Self = Self { results: ResultMode::Withheld, ..Self::FULL };
}

impl Subject {
    /// Creates a subject from the strategy `S` with these parameters.
    pub fn new<S: StrategyFactory>(params: &S::Params, bot: &BotContext) -> Result<Self, BuildError> {
        let params = serde_json::to_value(params)
            .map_err(|error| BuildError::invalid_parameters(S::NAME, error.to_string()))?;
        Ok(Self { entry: StrategyEntry::from_factory::<S>(), params, bot: bot.clone() })
    }

    /// Builds an instance of the strategy. Also fails if a longer interval is not a multiple of the bot's interval.
    pub fn build(&self) -> Result<Box<dyn Strategy>, BuildError> {
        let strategy = self.entry.build(&self.params, &self.bot)?;
        LongerCandles::for_bot(&self.bot, strategy.longer_intervals())
            .map_err(|error| BuildError::invalid_parameters(self.entry.name.as_str(), error.to_string()))?;
        Ok(strategy)
    }

    pub(in crate::testkit) fn run(&self, candles: &[Candle], mode: RunMode) -> Result<Vec<Answer>, RunError> {
        let (candles, place) = (&with_spare_capacity(candles), Cell::new(0));
        let show = || {
            let mut feed = Feed::new(self, mode)?;
            while place.get() < candles.len() {
                feed.feed_next(candles, &place);
            }
            feed.finish()
        };
        catch_panic(&place, show)
    }

    /// Like `run`, but [`Decoys`] replace the later candles in memory.
    pub(super) fn run_with_decoys(&self, candles: &[Candle], mode: RunMode) -> Result<Vec<Answer>, RunError> {
        let place = Cell::new(0);
        let show = || {
            let (mut feed, mut decoys) = (Feed::new(self, mode)?, Decoys::from_candles(candles));
            while place.get() < candles.len() {
                let index = place.get();
                decoys.with_candle(index, &candles[index], |candle| feed.push(candle, candles, &place));
            }
            feed.finish()
        };
        catch_panic(&place, show)
    }

    pub(super) fn run_in_parallel(
        &self,
        candles: &[Candle],
        others: &[Candle],
    ) -> Result<Vec<Answer>, RunError> {
        let (place, other_place) = (Cell::new(0), Cell::new(0));
        let show = || {
            let (mut one, mut other) = (Feed::new(self, RunMode::FULL)?, Feed::new(self, RunMode::FULL)?);
            while place.get() < candles.len() {
                if other_place.get() < others.len() {
                    other.feed_next(others, &other_place);
                }
                one.feed_next(candles, &place);
            }
            one.finish()
        };
        catch_panic(&place, show)
    }
}

/// Copies candles to a vector with spare capacity, so that a read beyond the last candle does not crash.
pub(super) fn with_spare_capacity(candles: &[Candle]) -> Vec<Candle> {
    let mut roomy = Vec::with_capacity(candles.len() + SPARE_CANDLES);
    roomy.extend_from_slice(candles);
    roomy
}

pub(super) fn catch_panic<T>(
    place: &Cell<usize>,
    show: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(show)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(RunError::Panic { candle: place.get(), message })
    })
}

pub(super) struct Feed<'a> {
    subject: &'a Subject,
    strategy: Box<dyn Strategy>,
    longer: LongerCandles,
    mode: RunMode,
    trades: OpenTrades,
    pub(super) answers: Vec<Answer>,
    changed_mode: Option<usize>,
}

impl<'a> Feed<'a> {
    pub(super) fn new(subject: &'a Subject, mode: RunMode) -> Result<Self, RunError> {
        Ok(Self::with_strategy(subject.build().map_err(RunError::Build)?, subject, mode))
    }

    pub(super) fn with_strategy(strategy: Box<dyn Strategy>, subject: &'a Subject, mode: RunMode) -> Self {
        let longer = LongerCandles::for_bot(&subject.bot, strategy.longer_intervals());
        // `Subject::build` has checked the intervals.
        let (longer, trades) = (longer.unwrap_or_default(), OpenTrades::new(&subject.bot));
        Self { subject, strategy, longer, mode, trades, answers: Vec::new(), changed_mode: None }
    }

    pub(super) fn finish(self) -> Result<Vec<Answer>, RunError> {
        self.changed_mode.map_or(Ok(self.answers), |candle| Err(RunError::FloatMode { candle }))
    }

    pub(super) fn feed_next(&mut self, candles: &[Candle], place: &Cell<usize>) {
        self.push(&candles[place.get()], candles, place);
    }

    pub(super) fn push(&mut self, candle: &Candle, candles: &[Candle], place: &Cell<usize>) {
        let index = place.get();
        Progress::record(index);
        self.mode.getter_calls.call_getters(&*self.strategy);
        if index > 0 && self.subject.entry.wants_prices && index >= self.mode.prices_from {
            self.feed_prices(candle, index);
        }
        let signal = self.longer.feed_candle(candle, &mut *self.strategy);
        place.set(index + 1);
        if let Some(signal) = signal {
            self.record_answer(Answer { candle: index, moment: PRICES_PER_CANDLE, signal }, candle.time());
        }
        if self.mode.results == ResultMode::Shown {
            self.trades.settle(candles, index, &mut *self.strategy);
        }
        self.mode.getter_calls.call_getters(&*self.strategy);
        if !is_standard_float_mode() {
            self.changed_mode.get_or_insert(index);
        }
    }

    fn feed_prices(&mut self, candle: &Candle, index: usize) {
        let quarter = self.subject.bot.interval.length().get() / i64::from(PRICES_PER_CANDLE);
        let path = [candle.open(), candle.low(), candle.high(), candle.close().midpoint(candle.open())];
        for (moment, value) in (0..PRICES_PER_CANDLE).zip(path) {
            let time = candle.time() + Millis::new(quarter * i64::from(moment));
            if let Some(signal) = self.strategy.on_price(&Price { time, value }) {
                self.record_answer(Answer { candle: index, moment, signal }, candle.time());
            }
        }
    }

    fn record_answer(&mut self, answer: Answer, opened: Millis) {
        if self.mode.results == ResultMode::Shown {
            let time = if answer.moment == PRICES_PER_CANDLE {
                opened + self.subject.bot.interval.length()
            } else {
                opened
            };
            self.trades.open(answer.candle, &answer.signal, time);
        }
        self.answers.push(answer);
    }
}

impl Answer {
    pub(super) const fn fed_candle_count(&self, start: usize) -> usize {
        let closed = if self.moment == PRICES_PER_CANDLE { self.candle + 1 } else { self.candle };
        closed - start
    }

    fn is_identical(&self, other: &Self) -> bool {
        let (reason, other_reason) = (&self.signal.reason, &other.signal.reason);
        let bits = |reason: &Reason| reason.numbers().map(|(_, value)| value.to_bits()).collect::<Vec<_>>();
        self.has_same_decision(other)
            && reason.has_same_wording(other_reason)
            && bits(reason) == bits(other_reason)
    }

    fn has_same_decision(&self, other: &Self) -> bool {
        (self.candle, self.moment, self.signal.direction, self.signal.expiry)
            == (other.candle, other.moment, other.signal.direction, other.signal.expiry)
    }
}

pub(super) fn first_difference<'a>(
    one: impl IntoIterator<Item = &'a Answer>,
    other: impl IntoIterator<Item = &'a Answer>,
) -> Option<usize> {
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (Some(left), Some(right)) if left.is_identical(right) => {}
            (left, right) => return left.into_iter().chain(right).map(|answer| answer.candle).min(),
        }
    }
}

pub(super) fn differences(one: &[Answer], other: &[Answer]) -> Vec<Answer> {
    let key = |answer: &Answer| (answer.candle, answer.moment);
    let has = |run: &[Answer], answer: &Answer| {
        run.binary_search_by_key(&key(answer), key).is_ok_and(|at| run[at].has_same_decision(answer))
    };
    let only = |run: &[Answer], rest: &[Answer]| -> Vec<Answer> {
        run.iter().filter(|answer| !has(rest, answer)).cloned().collect()
    };
    let mut all = only(one, other);
    all.extend(only(other, one));
    all.sort_by_key(key);
    all
}

const STAKE: Money = Money::from_minor(1_000);
const PROFIT: Money = Money::from_minor(800);

/// Open trades, keyed by the index of their last candle. A trade enters at the open of the candle after its signal.
pub(super) struct OpenTrades {
    length: Millis,
    usual: Millis,
    open: BTreeMap<usize, Vec<Trade>>,
}

struct Trade {
    direction: Direction,
    decision_time: Millis,
    entry: usize,
}

impl OpenTrades {
    pub(super) fn new(bot: &BotContext) -> Self {
        let (length, usual) = (bot.interval.length(), bot.expiry.close_type.duration());
        Self { length, usual, open: BTreeMap::new() }
    }

    pub(super) fn open(&mut self, candle: usize, signal: &Signal, decision_time: Millis) {
        let duration = signal.expiry.map_or(self.usual, |expiry| expiry.close_type.duration());
        let candles = usize::try_from(duration.get() / self.length.get()).unwrap_or(1).max(1);
        let trade = Trade { direction: signal.direction, decision_time, entry: candle + 1 };
        self.open.entry(candle + candles).or_default().push(trade);
    }

    fn settle(&mut self, candles: &[Candle], last: usize, strategy: &mut dyn Strategy) {
        while let Some(due) = self.open.first_entry().filter(|due| *due.key() <= last) {
            for trade in due.remove() {
                let Some(entry) = candles.get(trade.entry) else { continue };
                if strategy.wants_settlements() {
                    strategy.on_settled(&trade.settlement(entry.open(), candles[last].close()));
                }
            }
        }
    }
}

pub(super) fn trade_outcome(direction: Direction, entry: f64, exit: f64) -> Outcome {
    match (compare_prices(exit, entry), direction) {
        (Ordering::Equal, _) => Outcome::Draw,
        (Ordering::Greater, Direction::Buy) | (Ordering::Less, Direction::Sell) => Outcome::Won,
        (Ordering::Greater, Direction::Sell) | (Ordering::Less, Direction::Buy) => Outcome::Lost,
    }
}

impl Trade {
    fn settlement(&self, entry: f64, exit: f64) -> Settlement {
        let outcome = trade_outcome(self.direction, entry, exit);
        let profit = match outcome {
            Outcome::Won => PROFIT,
            Outcome::Lost => Money::ZERO - STAKE,
            Outcome::Draw | Outcome::Cancelled => Money::ZERO,
        };
        Settlement { direction: self.direction, decision_time: self.decision_time, outcome, profit }
    }
}

/// Getter calls between candles, which must have no effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum GetterCalls {
    None,
    All,
    /// Calls only the getter with this index in [`GETTERS`].
    Only(usize),
}

type Getter = (&'static str, fn(&dyn Strategy));

pub(super) const GETTERS: [Getter; 8] = [
    ("warmup()", |strategy| _ = black_box(strategy.warmup())),
    ("longer_intervals()", |strategy| _ = black_box(strategy.longer_intervals())),
    ("wants_settlements()", |strategy| _ = black_box(strategy.wants_settlements())),
    ("expiries()", |strategy| _ = black_box(strategy.expiries())),
    ("is_gate_closed()", |strategy| _ = black_box(strategy.is_gate_closed())),
    ("gate()", |strategy| _ = black_box(strategy.gate())),
    ("conditions()", |strategy| _ = black_box(strategy.conditions())),
    ("indicators()", |strategy| _ = black_box(strategy.indicators())),
];

impl GetterCalls {
    fn call_getters(self, strategy: &dyn Strategy) {
        match self {
            Self::None => {}
            Self::All => GETTERS.iter().for_each(|(_, call)| call(strategy)),
            Self::Only(getter) => GETTERS[getter].1(strategy),
        }
    }
}

/// Number too small to change 1 when added to it or subtracted from it, if results are rounded to nearest.
const TINY_ADDEND: f64 = 1e-30;
const SUBNORMAL: f64 = 5e-324;

fn is_standard_float_mode() -> bool {
    let (one, tiny) = (black_box(1.0), black_box(TINY_ADDEND));
    let (least, subnormal) = (black_box(f64::MIN_POSITIVE), black_box(SUBNORMAL));
    // The first comparison fails if the mode rounds upwards, the second if it rounds downwards or towards zero.
    let rounds_to_nearest = black_box(one + tiny) == 1.0 && black_box(one - tiny) == 1.0;
    let keeps_subnormals =
        black_box(least * 0.5).to_bits() != 0 && black_box(subnormal + subnormal).to_bits() == 2;
    rounds_to_nearest && keeps_subnormals
}

static CURRENT_CANDLE: AtomicUsize = AtomicUsize::new(0);
static TOTAL_CANDLES: AtomicU64 = AtomicU64::new(0);

/// Progress of the checks that run in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Index of the last fed candle within the current run.
    pub candle: usize,
    /// Total number of candles fed in all runs.
    pub shown: u64,
}

impl Progress {
    /// Returns the current progress.
    pub fn now() -> Self {
        Self {
            candle: CURRENT_CANDLE.load(atomic::Ordering::Relaxed),
            shown: TOTAL_CANDLES.load(atomic::Ordering::Relaxed),
        }
    }

    /// Records that the candle with this index is about to be fed.
    pub fn record(candle: usize) {
        CURRENT_CANDLE.store(candle, atomic::Ordering::Relaxed);
        TOTAL_CANDLES.fetch_add(1, atomic::Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_the_default_mode() {
        assert!(is_standard_float_mode());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    #[allow(unsafe_code, reason = "no safe function changes the mode")]
    fn recognises_every_other_mode() {
        use std::arch::asm;
        // Bits of MXCSR: rounding down, up and towards zero, flush to zero, denormals are zero.
        for changed in [0x2000_u32, 0x4000, 0x6000, 0x8000, 0x0040] {
            let mode = 0x1F80 | changed;
            let usual = 0x1F80_u32;
            // SAFETY: the register is restored before anything else is computed.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack)) };
            let found = is_standard_float_mode();
            // SAFETY: this is the mode that every thread begins with.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const usual, options(nostack)) };
            assert!(!found, "{changed:#x}");
        }
    }
}
