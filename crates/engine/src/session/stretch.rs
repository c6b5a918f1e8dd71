//! Candles that are handed in many at a time.

use super::{Moment, Session};
use crate::{Action, BotId, Origin, SeriesId};
use candlewick_sdk::{Candle, Millis, closing_before};

/// Actions that are noted before a stretch of candles ends: few, so that they are still in the nearest cache when they
/// are read.
const MOST_NOTED: usize = 16;

impl Session {
    /// Takes candles of a series that were known the moment they closed, up to the first that is traded, or a number of
    /// actions that only have to be noted; how many those were. The same as [`handle`](Self::handle) of their events one by
    /// one, without making them.
    ///
    /// Nothing else may happen before the last of them: no event, and no candle of another series.
    #[inline]
    pub fn handle_candles(
        &mut self,
        series: SeriesId,
        candles: &[Candle],
        actions: &mut Vec<Action>,
    ) -> usize {
        let Some(of) = self.series.get(series.index()) else { return candles.len() };
        let length = of.interval.length();
        let only = match self.listeners[series.index()][..] {
            [bot] => Some(bot),
            _ => None,
        };
        let mut taken = 0;
        while taken < candles.len() {
            let is_approved = if let Some(bot) = only {
                let (shown, is_approved) = self.show(bot, &candles[taken..], length, actions);
                taken += shown;
                is_approved
            } else {
                let at = candles[taken].time() + length;
                self.pass_time(at, actions);
                taken += 1;
                let moment = Moment { at, received: at, origin: Origin::Live };
                self.on_candle(series, &candles[taken - 1], moment, actions)
            };
            if is_approved || actions.len() >= MOST_NOTED {
                break;
            }
        }
        taken
    }

    /// Shows candles to the only bot of their series, up to the first that it answers; how many those were, and whether the
    /// answer was approved.
    ///
    /// What time brings about is looked for afterwards, still before the answer: a strategy does not hear of it, and by then the
    /// candles are in the nearest cache.
    #[inline]
    fn show(
        &mut self,
        id: BotId,
        candles: &[Candle],
        length: Millis,
        actions: &mut Vec<Action>,
    ) -> (usize, bool) {
        let bot = &mut self.bots[id.index()];
        let mut signal = None;
        let shown = bot.on_candles(candles, &mut signal);
        let at = bot.last_close;
        let is_heard = bot.is_warm();
        if self.is_time_due(at) {
            self.pass_time_of(&candles[..shown], length, actions);
        }
        let Some(signal) = signal.as_ref().filter(|_| is_heard) else { return (shown, false) };
        let moment = Moment { at, received: at, origin: Origin::Live };
        (shown, self.decide(id, signal, moment, actions))
    }

    /// What time alone brings about while these candles close.
    #[inline(never)]
    fn pass_time_of(&mut self, candles: &[Candle], length: Millis, actions: &mut Vec<Action>) {
        let mut rest = candles;
        loop {
            let until = self.ledger.day_end().min(self.next_release);
            let quiet = closing_before(rest, length, until);
            let Some(candle) = rest.get(quiet) else { return };
            self.pass_time(candle.time() + length, actions);
            rest = &rest[quiet + 1..];
        }
    }
}
