//! Candles that are handed in many at a time.

use super::{Moment, Session, StoredCandles};
use crate::{Action, BotId, Origin};
use candlewick_sdk::Millis;

/// Actions after which a stretch of candles ends, so that they are carried out while they are still in a cache.
const MAX_ACTIONS: usize = 16;

/// Why a stretch of candles ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StretchEnd {
    /// Every candle that closes before the given moment has been taken.
    Reached,
    /// There are actions to carry out: of all candles that close before this moment, and of some that close at it.
    ActionsAt(Millis),
}

impl Session {
    /// Takes the candles that close before `until`, each known the moment it closed, up to the first that is traded, or until a
    /// number of actions have been appended. The same as [`handle`](Self::handle) of their events one by one in the order of
    /// time, at one instant in that of [`series_order`](Self::series_order), without making them.
    ///
    /// No event may come before `until`, except what follows from a trade that this approves. After
    /// [`StretchEnd::ActionsAt`] a moment, the other candles of that moment come before any event.
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

    /// Whether the bot's strategy may yet be shown a settlement of a trade that is under way.
    #[inline]
    fn waits_for_settlement(&self, bot: BotId) -> bool {
        self.bots[bot.index()].waits_for_settlements()
            && (self.intents.has_unopened() || self.intents.all().iter().any(|intent| intent.bot == bot))
    }

    /// What time alone brings about while candles close before `until`.
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
