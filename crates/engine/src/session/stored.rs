//! The candles of a backtest, read from storage, and how far each bot has come in them.

use super::Session;
use super::tournament::Tournament;
use crate::bot::Bot;
use crate::{BotId, SeriesId, SymbolId};
use candlewick_sdk::{Candle, Millis, Signal, closing_before};

/// Candles that a bot is shown before another bot's turn comes: few enough that all bots of a series find them in a cache, and
/// many beside those at a block's start, which are not prefetched.
const BLOCK: usize = 1_024;

/// The candles of every series of a Session, for [`Session::handle_candles`], and how far each bot has come in them.
///
/// A strategy sees closed candles, prices of its symbol and settlements of its own trades, if it wants these. A bot that can be
/// shown no settlement, on a symbol without prices, can therefore be shown candles before the other bots are, up to the
/// first that it answers. What it answered is decided when every other bot has come as far.
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
    /// Its answer to the last of them, until that is decided.
    pub(super) signal: Option<Signal>,
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
                readers.push(Reader {
                    bot: *bot,
                    series: id,
                    length,
                    shown: 0,
                    signal: None,
                    waits_for_events: priced.contains(&session.bots[bot.index()].symbol),
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

    /// Forgets the last answer of the reader whose turn it is, and shows its bot further candles, up to the first that it answers
    /// once it is warm, or the end of a block; none that close at `until` or later, if it has to wait for events.
    #[inline]
    pub(super) fn show(&mut self, place: usize, bot: &mut Bot, until: Option<Millis>) {
        let reader = &mut self.readers[place];
        reader.signal = None;
        let candles = self.series[reader.series.index()];
        let before = reader.shown;
        let end = candles.len().min((before | (BLOCK - 1)) + 1);
        let mut rest = candles.get(before..end).unwrap_or_default();
        if let Some(until) = until {
            rest = &rest[..closing_before(rest, reader.length, until)];
        }
        while !rest.is_empty() {
            let shown = bot.on_candles(rest, &mut reader.signal);
            reader.shown += shown;
            rest = &rest[shown..];
            if reader.signal.is_some() {
                if bot.is_warm() {
                    break;
                }
                reader.signal = None;
            }
        }
        if reader.is_first {
            self.shown += (reader.shown - before) as u64;
        }
        let turn = match reader.signal {
            Some(_) => bot.last_close,
            None => reader.next_close(&self.series),
        };
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

    /// Forgets the last answer of the reader whose turn it is, and shows its bot nothing further yet.
    #[inline]
    pub(super) fn end_turn(&mut self, place: usize) {
        let reader = &mut self.readers[place];
        reader.signal = None;
        let turn = reader.next_close(&self.series);
        self.turns.change_first(turn);
    }
}

impl Reader {
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
