//! Handles the stored candles of a backtest in batches. Each bot has its own position in the candles.

use super::tournament::TournamentTree;
use super::{Moment, Session};
use crate::bot::Bot;
use crate::{Action, BotId, Origin, SeriesId, SymbolId};
use candlewick_sdk::{Candle, CandleAnswers, Millis, Signal, count_closing_before};

/// Maximum number of candles that a bot reads before the next bot's turn. A block is small enough to stay in a CPU
/// cache for all bots of a series, and large enough that the cache misses at its start cost little.
const BLOCK_CANDLES: usize = 1_024;

/// Maximum number of signals that a bot collects before the next bot's turn, if the bot only depends on candles.
/// It is large enough to switch between bots rarely, and small enough to keep all signals in a CPU cache.
const MAX_SIGNALS: usize = 8;

/// The candles of a Session's series, and the position of each bot in them.
///
/// This is the input of [`Session::handle_candles`]. A bot reads ahead of the other bots up to its first signal, unless
/// it has to wait for a price or a settlement. A bot that never has to wait may collect several signals. Each signal is
/// handled once all other bots have reached its time.
pub struct StoredCandles<'a> {
    series: Vec<&'a [Candle]>,
    readers: Vec<BotCandleReader>,
    turns: TournamentTree,
    shown: u64,
}

struct BotCandleReader {
    bot: BotId,
    series: SeriesId,
    length: Millis,
    shown: usize,
    answers: CandleAnswers,
    answer_index: usize,
    max_signals: usize,
    /// Whether all events before a candle's close must be handled before the bot sees the candle.
    waits_for_events: bool,
    is_first: bool,
}

impl<'a> StoredCandles<'a> {
    /// Builds the input from the candles of each series, sorted by time.
    /// `series` is in the order of [`Session::series`]. `priced` are the symbols with prices between candle closes.
    /// Bots on these symbols only see a candle after all earlier prices.
    pub fn new(session: &Session, series: Vec<&'a [Candle]>, priced: &[SymbolId]) -> Self {
        let mut readers = Vec::with_capacity(session.bots.len());
        for id in session.series_order() {
            let length = session.series[id.index()].interval.length();
            for (place, bot) in session.listeners[id.index()].iter().enumerate() {
                let own = &session.bots[bot.index()];
                let waits_for_events = priced.contains(&own.symbol);
                let sees_candles_only = !waits_for_events && !own.waits_for_settlements();
                let max_signals = if sees_candles_only { MAX_SIGNALS } else { 1 };
                readers.push(BotCandleReader {
                    bot: *bot,
                    series: id,
                    length,
                    shown: 0,
                    answers: CandleAnswers::with_capacity(max_signals),
                    answer_index: 0,
                    max_signals,
                    waits_for_events,
                    is_first: place == 0,
                });
            }
        }
        let turns = TournamentTree::new(readers.iter().map(|reader| reader.next_close(&series)));
        Self { series, readers, turns, shown: 0 }
    }

    /// Returns the total number of candles in all series.
    pub fn candle_count(&self) -> u64 {
        self.series.iter().map(|candles| candles.len() as u64).sum()
    }

    /// Returns the number of candles seen by the first bot of each series, summed over all series.
    pub const fn processed_candle_count(&self) -> u64 {
        self.shown
    }

    /// Advances a bot and its reader at index `place` to the next signal. If no collected signal is left, the bot reads
    /// candles until it has enough signals or a block ends. A bot that must wait for events also stops at `until`.
    #[inline]
    fn advance(&mut self, place: usize, bot: &mut Bot, until: Option<Millis>) {
        let reader = &mut self.readers[place];
        reader.answer_index += 1;
        if reader.current_signal().is_none() {
            self.shown += reader.feed_candles(bot, self.series[reader.series.index()], until);
        }
        let turn = reader.next_turn_time(&self.series);
        self.turns.change_first(turn);
    }

    fn first_close_from(&self, from: Millis) -> Option<Millis> {
        let firsts = self.readers.iter().filter(|reader| reader.is_first);
        firsts.filter_map(|reader| reader.first_close_from(self.series[reader.series.index()], from)).min()
    }

    #[inline]
    fn end_turn(&mut self, place: usize) {
        let reader = &mut self.readers[place];
        reader.answer_index += 1;
        let turn = reader.next_turn_time(&self.series);
        self.turns.change_first(turn);
    }
}

impl BotCandleReader {
    #[inline]
    fn current_signal(&self) -> Option<&Signal> {
        self.answers.get(self.answer_index).map(|answer| &answer.signal)
    }

    fn feed_candles(&mut self, bot: &mut Bot, candles: &[Candle], until: Option<Millis>) -> u64 {
        self.answers.clear();
        self.answer_index = 0;
        let before = self.shown;
        let end = candles.len().min((before | (BLOCK_CANDLES - 1)) + 1);
        let mut rest = candles.get(before..end).unwrap_or_default();
        if let Some(until) = until {
            rest = &rest[..count_closing_before(rest, self.length, until)];
        }
        while !rest.is_empty() && self.answers.len() < self.max_signals {
            let shown = bot.on_candles_past_signals(rest, self.max_signals, &mut self.answers);
            self.shown += shown;
            rest = &rest[shown..];
        }
        if self.is_first { (self.shown - before) as u64 } else { 0 }
    }

    #[inline]
    fn next_turn_time(&self, series: &[&[Candle]]) -> Millis {
        let answer = self.answers.get(self.answer_index);
        answer.map_or_else(|| self.next_close(series), |answer| answer.candle_time + self.length)
    }

    /// Searches exponentially from the current position. A binary search over all candles would miss the CPU cache.
    fn first_close_from(&self, candles: &[Candle], from: Millis) -> Option<Millis> {
        let closes_before = |candle: &Candle| candle.time() + self.length < from;
        let (mut start, mut step) = (self.shown.min(candles.len()), 1);
        while start > 0 && !closes_before(&candles[start - 1]) {
            start = start.saturating_sub(step);
            step *= 2;
        }
        let place = start + count_closing_before(&candles[start..], self.length, from);
        Some(candles.get(place)?.time() + self.length)
    }

    #[inline]
    fn next_close(&self, series: &[&[Candle]]) -> Millis {
        let candles = series.get(self.series.index()).copied().unwrap_or_default();
        candles.get(self.shown).map_or(Millis::MAX, |candle| candle.time() + self.length)
    }
}

/// Number of actions after which a batch ends, so that the actions are handled while still in a CPU cache.
const MAX_BATCH_ACTIONS: usize = 16;

/// The reason why a batch of candles ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchEnd {
    /// All candles that close before the requested time were handled.
    Reached,
    /// Actions are pending.
    /// All candles that close before this time were handled, and possibly some that close exactly at this time.
    ActionsAt(Millis),
}

impl Session {
    /// Handles candles that close before `until`. Stops early at an approved trade or after several actions.
    ///
    /// Equivalent to calling [`handle`](Self::handle) at the close of each candle, with simultaneous candles in
    /// [`series_order`](Self::series_order). Only events that follow from a trade approved here may occur before
    /// `until`. After [`BatchEnd::ActionsAt`], call this method again for the other candles of that time before
    /// handling any event.
    #[inline]
    pub fn handle_candles(
        &mut self,
        candles: &mut StoredCandles<'_>,
        until: Millis,
        actions: &mut Vec<Action>,
    ) -> BatchEnd {
        loop {
            let (place, at) = candles.turns.first();
            if at >= until {
                break;
            }
            let reader = &candles.readers[place];
            let bot = reader.bot;
            let mut is_end = false;
            if let Some(signal) = reader.current_signal() {
                self.advance_time_until(candles, at + Millis::new(1), actions);
                let moment = Moment { at, received: at, last_close: at, origin: Origin::Live };
                let is_approved = self.decide(bot, signal, moment, actions);
                is_end = is_approved || actions.len() >= MAX_BATCH_ACTIONS;
            }
            let waits = candles.readers[place].waits_for_events || self.waits_for_settlement(bot);
            if is_end && waits {
                candles.end_turn(place);
            } else {
                candles.advance(place, &mut self.bots[bot.index()], waits.then_some(until));
            }
            if is_end {
                return BatchEnd::ActionsAt(at);
            }
        }
        self.advance_time_until(candles, until, actions);
        BatchEnd::Reached
    }

    #[inline]
    fn waits_for_settlement(&self, bot: BotId) -> bool {
        self.bots[bot.index()].waits_for_settlements()
            && (self.intents.has_unopened_intents()
                || self.intents.unfinished.iter().any(|intent| intent.bot == bot))
    }

    #[inline]
    fn advance_time_until(&mut self, candles: &StoredCandles<'_>, until: Millis, actions: &mut Vec<Action>) {
        if self.ledger.day_end.min(self.next_release) < until {
            self.handle_due_times_until(candles, until, actions);
        }
    }

    #[inline(never)]
    fn handle_due_times_until(
        &mut self,
        candles: &StoredCandles<'_>,
        until: Millis,
        actions: &mut Vec<Action>,
    ) {
        loop {
            let due = self.ledger.day_end.min(self.next_release);
            // Candles far ahead are not read, because they are not in a CPU cache yet.
            if due >= until {
                return;
            }
            match candles.first_close_from(due) {
                Some(close) if close < until => self.advance_to(close, actions),
                _ => return,
            }
        }
    }
}
