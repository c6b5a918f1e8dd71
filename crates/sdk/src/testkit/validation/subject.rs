//! The strategy under test and its runs: candles in, answers out.

use super::Check;
use super::decoys::Decoys;
use super::float_mode;
use super::inspection::Inspection;
use super::position::Position;
use super::trade::Trades;
use crate::{
    BotContext, BuildError, Candle, LongerCandles, Millis, Price, Reason, Signal, Strategy, StrategyEntry,
    StrategyFactory,
};
use serde_json::Value;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A strategy with all inputs needed to build it repeatedly.
#[derive(Clone)]
pub struct Subject {
    /// Entry of the strategy.
    pub entry: StrategyEntry,
    /// Parameters as a JSON object.
    pub params: Value,
    /// Build context.
    pub bot: BotContext,
}

pub(super) const PRICES_IN_CANDLE: u8 = 4;

const ROOM: usize = 4_096;

#[derive(Clone, Debug)]
pub(in crate::testkit) struct Answer {
    pub(in crate::testkit) candle: usize,
    /// Index of the price inside the candle, or [`PRICES_IN_CANDLE`] for its close.
    pub(super) moment: u8,
    pub(in crate::testkit) signal: Signal,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::testkit) struct Manner {
    /// First candle with prices, for a strategy that wants them.
    ///
    /// Past candles have none.
    pub(super) prices_from: usize,
    pub(super) results: Results,
    pub(super) inspection: Inspection,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    Shown,
    Withheld,
}

#[derive(Debug, thiserror::Error)]
pub(in crate::testkit) enum Stop {
    #[error("it is built once and not again: {0}")]
    Build(BuildError),
    #[error("it panics at candle {candle}: {message}")]
    Panic { candle: usize, message: String },
    #[error(
        "at candle {candle} it has changed the floating-point mode of the processor, with which everything after it computes: \
         restore the mode before you return"
    )]
    FloatMode { candle: usize },
}

impl Stop {
    pub(super) const fn check(&self) -> Check {
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

impl Manner {
    pub(in crate::testkit) const LIVE: Self =
        Self { prices_from: 0, results: Results::Shown, inspection: Inspection::None };
    pub(super) const ALONE: Self = Self { results: Results::Withheld, ..Self::LIVE };
}

impl Subject {
    /// Creates a subject from the strategy `S` with these parameters.
    ///
    /// # Errors
    /// [`BuildError`] if the parameters cannot be serialized as JSON.
    pub fn of<S: StrategyFactory>(params: &S::Params, bot: &BotContext) -> Result<Self, BuildError> {
        let params = serde_json::to_value(params)
            .map_err(|error| BuildError::parameters(S::NAME, error.to_string()))?;
        Ok(Self { entry: StrategyEntry::of::<S>(), params, bot: bot.clone() })
    }

    /// Builds an instance.
    ///
    /// # Errors
    /// [`BuildError`], also if longer intervals are not multiples of the bot's own.
    pub fn build(&self) -> Result<Box<dyn Strategy>, BuildError> {
        let strategy = self.entry.build(&self.params, &self.bot)?;
        LongerCandles::of_bot(&self.bot, strategy.longer_intervals())
            .map_err(|error| BuildError::parameters(self.entry.name.as_str(), error.to_string()))?;
        Ok(strategy)
    }

    pub(in crate::testkit) fn run(&self, candles: &[Candle], manner: Manner) -> Result<Vec<Answer>, Stop> {
        let (candles, place) = (&with_room(candles), Cell::new(0));
        let show = || {
            let mut showing = Showing::new(self, manner)?;
            while place.get() < candles.len() {
                showing.show_next(candles, &place);
            }
            showing.finish()
        };
        guarded(&place, show)
    }

    /// Like `run`, with decoys instead of the later candles in memory, see [`Decoys`].
    pub(super) fn run_apart(&self, candles: &[Candle], manner: Manner) -> Result<Vec<Answer>, Stop> {
        let place = Cell::new(0);
        let show = || {
            let (mut showing, mut decoys) = (Showing::new(self, manner)?, Decoys::of(candles));
            while place.get() < candles.len() {
                let index = place.get();
                decoys.with(index, &candles[index], |candle| showing.show(candle, candles, &place));
            }
            showing.finish()
        };
        guarded(&place, show)
    }

    pub(super) fn run_beside(&self, candles: &[Candle], others: &[Candle]) -> Result<Vec<Answer>, Stop> {
        let (place, other_place) = (Cell::new(0), Cell::new(0));
        let show = || {
            let (mut one, mut other) = (Showing::new(self, Manner::LIVE)?, Showing::new(self, Manner::LIVE)?);
            while place.get() < candles.len() {
                if other_place.get() < others.len() {
                    other.show_next(others, &other_place);
                }
                one.show_next(candles, &place);
            }
            one.finish()
        };
        guarded(&place, show)
    }
}

/// Copies candles with spare capacity.
///
/// Reads beyond the last candle are then detected without a crash.
pub(super) fn with_room(candles: &[Candle]) -> Vec<Candle> {
    let mut roomy = Vec::with_capacity(candles.len() + ROOM);
    roomy.extend_from_slice(candles);
    roomy
}

pub(super) fn guarded<T>(place: &Cell<usize>, show: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(show)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Stop::Panic { candle: place.get(), message })
    })
}

pub(super) struct Showing<'a> {
    subject: &'a Subject,
    strategy: Box<dyn Strategy>,
    longer: LongerCandles,
    manner: Manner,
    trades: Trades,
    pub(super) answers: Vec<Answer>,
    changed_mode: Option<usize>,
}

impl<'a> Showing<'a> {
    pub(super) fn new(subject: &'a Subject, manner: Manner) -> Result<Self, Stop> {
        Ok(Self::with(subject.build().map_err(Stop::Build)?, subject, manner))
    }

    pub(super) fn with(strategy: Box<dyn Strategy>, subject: &'a Subject, manner: Manner) -> Self {
        let longer = LongerCandles::of_bot(&subject.bot, strategy.longer_intervals());
        // `build` has held the intervals to the same.
        let (longer, trades) = (longer.unwrap_or_default(), Trades::new(&subject.bot));
        Self { subject, strategy, longer, manner, trades, answers: Vec::new(), changed_mode: None }
    }

    pub(super) fn finish(self) -> Result<Vec<Answer>, Stop> {
        self.changed_mode.map_or(Ok(self.answers), |candle| Err(Stop::FloatMode { candle }))
    }

    pub(super) fn show_next(&mut self, candles: &[Candle], place: &Cell<usize>) {
        self.show(&candles[place.get()], candles, place);
    }

    pub(super) fn show(&mut self, candle: &Candle, candles: &[Candle], place: &Cell<usize>) {
        let index = place.get();
        Position::record(index);
        self.manner.inspection.call(&*self.strategy);
        if index > 0 && self.subject.entry.wants_prices && index >= self.manner.prices_from {
            self.show_prices(candle, index);
        }
        let signal = self.longer.show_candle(candle, &mut *self.strategy);
        place.set(index + 1);
        if let Some(signal) = signal {
            self.take(Answer { candle: index, moment: PRICES_IN_CANDLE, signal }, candle.time());
        }
        if self.manner.results == Results::Shown {
            self.trades.settle(candles, index, &mut *self.strategy);
        }
        self.manner.inspection.call(&*self.strategy);
        if !float_mode::is_standard() {
            self.changed_mode.get_or_insert(index);
        }
    }

    fn show_prices(&mut self, candle: &Candle, index: usize) {
        let quarter = self.subject.bot.interval.length().get() / i64::from(PRICES_IN_CANDLE);
        let path = [candle.open(), candle.low(), candle.high(), candle.close().midpoint(candle.open())];
        for (moment, value) in (0..PRICES_IN_CANDLE).zip(path) {
            let time = candle.time() + Millis::new(quarter * i64::from(moment));
            if let Some(signal) = self.strategy.on_price(&Price { time, value }) {
                self.take(Answer { candle: index, moment, signal }, candle.time());
            }
        }
    }

    fn take(&mut self, answer: Answer, opened: Millis) {
        if self.manner.results == Results::Shown {
            let time = if answer.moment == PRICES_IN_CANDLE {
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
    pub(super) const fn history(&self, start: usize) -> usize {
        let closed = if self.moment == PRICES_IN_CANDLE { self.candle + 1 } else { self.candle };
        closed - start
    }

    fn is_same(&self, other: &Self) -> bool {
        let (reason, other_reason) = (&self.signal.reason, &other.signal.reason);
        let bits = |reason: &Reason| reason.numbers().map(|(_, value)| value.to_bits()).collect::<Vec<_>>();
        self.is_alike(other) && reason.has_words_of(other_reason) && bits(reason) == bits(other_reason)
    }

    fn is_alike(&self, other: &Self) -> bool {
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
            (Some(left), Some(right)) if left.is_same(right) => {}
            (left, right) => return left.into_iter().chain(right).map(|answer| answer.candle).min(),
        }
    }
}

pub(super) fn differences(one: &[Answer], other: &[Answer]) -> Vec<Answer> {
    let key = |answer: &Answer| (answer.candle, answer.moment);
    let has = |run: &[Answer], answer: &Answer| {
        run.binary_search_by_key(&key(answer), key).is_ok_and(|at| run[at].is_alike(answer))
    };
    let only = |run: &[Answer], rest: &[Answer]| -> Vec<Answer> {
        run.iter().filter(|answer| !has(rest, answer)).cloned().collect()
    };
    let mut all = only(one, other);
    all.extend(only(other, one));
    all.sort_by_key(key);
    all
}
