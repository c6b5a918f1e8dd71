//! The candles of a backtest, read from storage, and how far each bot has come in them.

use super::Session;
use super::tournament::Tournament;
use crate::bot::Bot;
use crate::{BotId, SeriesId, SymbolId};
use candlewick_sdk::{Candle, CandleAnswers, Millis, Signal, closing_before};

/// Candles that a bot is shown before another bot's turn comes: few enough that all bots of a series find them in a cache, and
/// many beside those at a block's start, which are not prefetched.
const BLOCK: usize = 1_024;

/// Answers that a bot gives before another bot's turn comes, where nothing but candles is shown to it: as many as make little of
/// going from bot to bot, and few enough that those of many bots stay in a cache.
const ANSWERS: usize = 8;

/// The candles of every series of a Session, for [`Session::handle_candles`], and how far each bot has come in them.
///
/// A strategy sees closed candles, prices of its symbol and settlements of its own trades, if it wants these. A bot that can be
/// shown no settlement, on a symbol without prices, can therefore be shown candles before the other bots are: up to the
/// first that it answers, or several answers further where it wants no settlement at all. What it answered is decided when every
/// other bot has come as far.
pub struct StoredCandles<'a> {
    /// In the order of the Session's series.
    series: Vec<&'a [Candle]>,
    /// In the order in which bots decide at one instant: that of their series, then their own.
    readers: Vec<Reader>,
    /// When each reader has its next turn.
    turns: Tournament,
    /// Candles of all series that the first bot of each has been shown.
    shown: u64,
}

/// A bot, and how far it has come in its series.
pub(super) struct Reader {
    pub(super) bot: BotId,
    series: SeriesId,
    length: Millis,
    /// Candles that it has been shown.
    shown: usize,
    /// Its answers to them, in their order.
    answers: CandleAnswers,
    /// Those that have been decided.
    decided: usize,
    /// Answers that it may give before the first of them is decided.
    most_answers: usize,
    /// Whether no candle may be shown to it before all events before that candle's close have been handled.
    waits_for_events: bool,
    /// Whether it is the first of its series.
    is_first: bool,
}

impl<'a> StoredCandles<'a> {
    /// The candles of each series of a Session, in the order of [`Session::series`], each series in the order of time. Symbols
    /// that are named have prices between candles: their bots are never shown a candle before all earlier prices.
    pub fn new(session: &Session, series: Vec<&'a [Candle]>, priced: &[SymbolId]) -> Self {
        let mut readers = Vec::with_capacity(session.bots.len());
        for id in session.series_order() {
            let length = session.series[id.index()].interval.length();
            for (place, bot) in session.listeners[id.index()].iter().enumerate() {
                let own = &session.bots[bot.index()];
                let waits_for_events = priced.contains(&own.symbol);
                let sees_candles_only = !waits_for_events && !own.waits_for_settlements();
                let most_answers = if sees_candles_only { ANSWERS } else { 1 };
                readers.push(Reader {
                    bot: *bot,
                    series: id,
                    length,
                    shown: 0,
                    answers: CandleAnswers::with_capacity(most_answers),
                    decided: 0,
                    most_answers,
                    waits_for_events,
                    is_first: place == 0,
                });
            }
        }
        let turns = Tournament::of(readers.iter().map(|reader| reader.next_close(&series)));
        Self { series, readers, turns, shown: 0 }
    }

    /// How many candles the series have together.
    pub fn total(&self) -> u64 {
        self.series.iter().map(|candles| candles.len() as u64).sum()
    }

    /// How many of them the first bot of each series has been shown.
    pub const fn shown(&self) -> u64 {
        self.shown
    }

    /// The reader whose turn is next, and when.
    #[inline]
    pub(super) fn next_turn(&self) -> (usize, Millis) {
        self.turns.first()
    }

    #[inline]
    pub(super) fn reader(&self, place: usize) -> &Reader {
        &self.readers[place]
    }

    /// Goes on to the next answer of the reader whose turn it is. Where it has none, its bot is shown further candles, up to as many
    /// answers as it may give, or the end of a block; none that close at `until` or later, if it has to wait for events.
    #[inline]
    pub(super) fn go_on(&mut self, place: usize, bot: &mut Bot, until: Option<Millis>) {
        let reader = &mut self.readers[place];
        reader.decided += 1;
        if reader.answer().is_none() {
            self.shown += reader.show(bot, self.series[reader.series.index()], until);
        }
        let turn = reader.turn(&self.series);
        self.turns.change_first(turn);
    }

    /// Whether a reader's bot has to wait for events, apart from its own trades.
    #[inline]
    pub(super) fn waits_for_events(&self, place: usize) -> bool {
        self.readers[place].waits_for_events
    }

    /// When the first candle of any series closes that closes at `from` or later.
    pub(super) fn first_close_from(&self, from: Millis) -> Option<Millis> {
        let firsts = self.readers.iter().filter(|reader| reader.is_first);
        firsts.filter_map(|reader| reader.first_close_from(self.series[reader.series.index()], from)).min()
    }

    /// Goes on to the next answer of the reader whose turn it is, and shows its bot nothing further yet.
    #[inline]
    pub(super) fn end_turn(&mut self, place: usize) {
        let reader = &mut self.readers[place];
        reader.decided += 1;
        let turn = reader.turn(&self.series);
        self.turns.change_first(turn);
    }
}

impl Reader {
    /// Its bot's answer that is decided next, if it has been given.
    #[inline]
    pub(super) fn answer(&self) -> Option<&Signal> {
        self.answers.get(self.decided).map(|answer| &answer.signal)
    }

    /// Shows its bot further candles; how many of them count as shown.
    fn show(&mut self, bot: &mut Bot, candles: &[Candle], until: Option<Millis>) -> u64 {
        self.answers.clear();
        self.decided = 0;
        let before = self.shown;
        let end = candles.len().min((before | (BLOCK - 1)) + 1);
        let mut rest = candles.get(before..end).unwrap_or_default();
        if let Some(until) = until {
            rest = &rest[..closing_before(rest, self.length, until)];
        }
        while !rest.is_empty() && self.answers.len() < self.most_answers {
            let shown = bot.on_candles_ahead(rest, self.most_answers, &mut self.answers);
            self.shown += shown;
            rest = &rest[shown..];
        }
        if self.is_first { (self.shown - before) as u64 } else { 0 }
    }

    /// When its answer that is decided next was given, or its next candle closes.
    #[inline]
    fn turn(&self, series: &[&[Candle]]) -> Millis {
        let answer = self.answers.get(self.decided);
        answer.map_or_else(|| self.next_close(series), |answer| answer.candle_time + self.length)
    }

    /// When the first candle of its series closes that closes at `from` or later. Looked for from where it has come to, in steps that
    /// double: that is near and in a cache, the middle of all candles is not.
    fn first_close_from(&self, candles: &[Candle], from: Millis) -> Option<Millis> {
        let closes_before = |candle: &Candle| candle.time() + self.length < from;
        let (mut start, mut step) = (self.shown.min(candles.len()), 1);
        while start > 0 && !closes_before(&candles[start - 1]) {
            start = start.saturating_sub(step);
            step *= 2;
        }
        let place = start + closing_before(&candles[start..], self.length, from);
        Some(candles.get(place)?.time() + self.length)
    }

    /// When the first candle closes that it has not been shown; the end of time when there is none.
    #[inline]
    fn next_close(&self, series: &[&[Candle]]) -> Millis {
        let candles = series.get(self.series.index()).copied().unwrap_or_default();
        candles.get(self.shown).map_or(Millis::MAX, |candle| candle.time() + self.length)
    }
}
