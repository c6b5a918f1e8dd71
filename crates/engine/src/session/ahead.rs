//! Strategies that candles alone decide, shown them by somebody else, ahead of their Session.

use super::stored::Reader;
use super::{Session, StoredCandles};
use crate::SeriesId;
use crate::bot::Bot;
use candlewick_sdk::{Candle, CandleAnswers, Millis, Signal, Strategy, prefetch};

/// How many answers before its own an answer is prefetched, and the candles that price its trade, of which it says where they are.
const ANSWERS_AHEAD: usize = 4;
const PRICES_AHEAD: usize = 2;

/// The strategy of a bot that is shown nothing but candles, lent by its Session for a run over [`StoredCandles`]. What becomes of its
/// answers cannot change what it answers next, so it may be shown candles on another thread, as far ahead as there is room for its answers.
pub struct LentStrategy {
    series: SeriesId,
    strategy: Box<dyn Strategy>,
    /// Candles whose answers do not count.
    suppressed: usize,
}

/// What lent strategies answer.
pub trait AnswersAhead {
    /// Puts what a strategy answers to its next candles in the place of `answers`: how many candles those are, at least one while there
    /// are any. A strategy's number is its place among those that were [lent](Session::lend_strategies).
    fn next_answers(&mut self, strategy: usize, answers: &mut CandleAnswers) -> usize;
}

/// What is answered for the strategy of a reader's bot, which is lent.
pub(super) struct Lent {
    /// Its number among all.
    strategy: usize,
    /// The first candle that its answers are to, and its time.
    first: (usize, Millis),
    length: Millis,
    /// Candles from a decision to the price that ends its trade.
    until_exit: usize,
}

/// Stands in for a strategy that was lent. Nothing is shown to it.
struct StandIn;

impl Session {
    /// Lends, for a run over these candles, the strategies that are shown nothing else; [answers](StoredCandles::answered_by) take their
    /// place. Its other bots are shown candles as ever.
    pub fn lend_strategies(&mut self, candles: &mut StoredCandles<'_>) -> Vec<LentStrategy> {
        let mut lent = Vec::new();
        for reader in candles.readers_of_candles_only() {
            let bot = &mut self.bots[reader.bot.index()];
            if let Some((strategy, suppressed)) = bot.lend_strategy(Box::new(StandIn)) {
                let until_exit = bot.expiry.close_type.duration().get() / reader.length.get() + 1;
                reader.lent = Some(Lent {
                    strategy: lent.len(),
                    first: (0, Millis::ZERO),
                    length: reader.length,
                    until_exit: until_exit as usize,
                });
                lent.push(LentStrategy { series: reader.series, strategy, suppressed });
            }
        }
        lent
    }
}

impl LentStrategy {
    /// The series whose candles it is shown, from the first on.
    pub const fn series(&self) -> SeriesId {
        self.series
    }

    /// Shows it its next candles, and appends what it answers to them.
    pub fn show(&mut self, candles: &[Candle], answers: &mut CandleAnswers) {
        let (suppressed, mut rest) = candles.split_at(self.suppressed.min(candles.len()));
        if !suppressed.is_empty() {
            self.strategy.on_candles(suppressed, suppressed.len(), &mut None);
            self.suppressed -= suppressed.len();
        }
        while !rest.is_empty() {
            let shown = self.strategy.on_candles_ahead(rest, usize::MAX, answers);
            rest = &rest[shown..];
        }
    }
}

impl Reader {
    /// Takes what its bot's strategy, which is lent, answers to further candles; how many of them count as shown.
    #[inline(never)]
    pub(super) fn take(&mut self, bot: &mut Bot, candles: &[Candle], ahead: &mut dyn AnswersAhead) -> u64 {
        let Some(lent) = &mut self.lent else { return 0 };
        self.answers.clear();
        self.decided = 0;
        let before = self.shown;
        self.shown += ahead.next_answers(lent.strategy, &mut self.answers);
        let shown = candles.get(before..self.shown).unwrap_or_default();
        bot.keep_close(shown);
        lent.first = (before, shown.first().map_or(Millis::ZERO, Candle::time));
        for first in self.answers.iter().take(PRICES_AHEAD) {
            lent.prefetch_prices(candles, first.candle_time);
        }
        lent.prefetch(candles, &self.answers, 0);
        if self.is_first { shown.len() as u64 } else { 0 }
    }
}

impl Lent {
    /// Prefetches what the next answers need after this one: they were written, and their candles read, on another thread.
    #[inline(never)]
    pub(super) fn prefetch(&self, candles: &[Candle], answers: &CandleAnswers, decided: usize) {
        if let Some(later) = answers.get(decided + ANSWERS_AHEAD) {
            later.prefetch();
        }
        if let Some(soon) = answers.get(decided + PRICES_AHEAD) {
            self.prefetch_prices(candles, soon.candle_time);
        }
    }

    /// Prefetches the candles that price a trade whose signal came with the candle of this time, where none is missing before them. A candle
    /// may lie in two cache lines, so the one behind it is prefetched as well.
    #[inline]
    fn prefetch_prices(&self, candles: &[Candle], time: Millis) {
        let (first, first_time) = self.first;
        let place = first.wrapping_add(((time - first_time).get() / self.length.get()) as usize);
        for ahead in [1, 2, self.until_exit, self.until_exit + 1] {
            if let Some(candle) = candles.get(place.wrapping_add(ahead)) {
                prefetch(candle);
            }
        }
    }
}

impl Strategy for StandIn {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        None
    }

    fn wants_settlements(&self) -> bool {
        false
    }
}
