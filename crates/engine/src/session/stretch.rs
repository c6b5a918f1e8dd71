//! Batch handling of candles.

use super::{Moment, Session, StoredCandles};
use crate::{Action, BotId, Origin};
use candlewick_sdk::Millis;

/// Number of actions after which a batch ends, so that they are executed while still in a cache.
const MAX_ACTIONS: usize = 16;

/// The reason why a batch of candles ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StretchEnd {
    /// All candles that close before the given time have been handled.
    Reached,
    /// Actions are pending.
    ///
    /// All candles that close before this time have been handled, and some that close at it.
    ActionsAt(Millis),
}

impl Session {
    /// Handles candles before `until`, up to the first trade or a few actions.
    ///
    /// Candles count if they close before `until`, and each arrives at its close. The result is
    /// that of [`handle`](Self::handle) for their events in order of time, at equal times in that
    /// of [`series_order`](Self::series_order), without creating events.
    ///
    /// There must be no event before `until`, except those that follow from a trade approved here.
    /// After [`StretchEnd::ActionsAt`], the remaining candles of that time come before any event.
    #[inline]
    pub fn handle_candles(
        &mut self,
        candles: &mut StoredCandles<'_>,
        until: Millis,
        actions: &mut Vec<Action>,
    ) -> StretchEnd {
        loop {
            let (place, at) = candles.next_turn();
            if at >= until {
                break;
            }
            let reader = candles.reader(place);
            let bot = reader.bot;
            let mut is_end = false;
            if let Some(signal) = reader.answer() {
                self.pass_time_of(candles, at + Millis::new(1), actions);
                let moment = Moment { at, received: at, last_close: at, origin: Origin::Live };
                let is_approved = self.decide(bot, signal, moment, actions);
                is_end = is_approved || actions.len() >= MAX_ACTIONS;
            }
            let waits = candles.waits_for_events(place) || self.waits_for_settlement(bot);
            if is_end && waits {
                candles.end_turn(place);
            } else {
                candles.go_on(place, &mut self.bots[bot.index()], waits.then_some(until));
            }
            if is_end {
                return StretchEnd::ActionsAt(at);
            }
        }
        self.pass_time_of(candles, until, actions);
        StretchEnd::Reached
    }

    #[inline]
    fn waits_for_settlement(&self, bot: BotId) -> bool {
        self.bots[bot.index()].waits_for_settlements()
            && (self.intents.has_unopened() || self.intents.all().iter().any(|intent| intent.bot == bot))
    }

    #[inline]
    fn pass_time_of(&mut self, candles: &StoredCandles<'_>, until: Millis, actions: &mut Vec<Action>) {
        if self.ledger.day_end().min(self.next_release) < until {
            self.pass_days_of(candles, until, actions);
        }
    }

    #[inline(never)]
    fn pass_days_of(&mut self, candles: &StoredCandles<'_>, until: Millis, actions: &mut Vec<Action>) {
        loop {
            let due = self.ledger.day_end().min(self.next_release);
            // No look at the candle of a moment that is far ahead: it is in no cache yet.
            if due >= until {
                return;
            }
            match candles.first_close_from(due) {
                Some(close) if close < until => self.pass_time(close, actions),
                _ => return,
            }
        }
    }
}
