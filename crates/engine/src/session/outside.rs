//! Handling of signals from outside.

use super::moment::Moment;
use super::{Session, Signal};
use crate::outside_signal::KnownSignals;
use crate::{Action, BotId, Event, Origin, OutsideSignal};
use candlewick_sdk::{Expiry, Symbol};

impl Session {
    /// Returns whether a signal with this bot, source and id is already known.
    ///
    /// A known signal is dropped.
    pub fn knows_signal(&self, signal: &OutsideSignal) -> bool {
        self.outside.as_ref().is_some_and(|known| known.knows(signal))
    }

    /// Returns the id of the bot with this name.
    pub fn bot_named(&self, name: &str) -> Option<BotId> {
        self.names.iter().position(|known| known == name).and_then(BotId::new)
    }

    /// Returns the symbol of a bot.
    pub fn symbol_of(&self, bot: BotId) -> Option<Symbol> {
        let bot = self.bots.get(bot.index())?;
        self.symbols.get(bot.symbol.index()).copied()
    }

    /// Returns the expiry of a bot's trades.
    pub fn expiry_of(&self, bot: BotId) -> Option<Expiry> {
        self.bots.get(bot.index()).map(|bot| bot.expiry)
    }

    pub(super) fn on_outside_signal(
        &mut self,
        signal: &OutsideSignal,
        event: &Event,
        actions: &mut Vec<Action>,
    ) {
        if !self.remember_signal(signal) {
            return;
        }
        let Some(bot) = self.bots.get(signal.bot.index()) else { return };
        // One that has expired is as late as one on a candle of the past.
        let is_expired = signal.expires.is_some_and(|expires| event.received > expires);
        let origin = if is_expired { Origin::Backfill } else { Origin::Live };
        let moment = Moment::of(event, origin).of_bot(bot);
        let (id, is_virtual) = (signal.bot, bot.is_gate_closed());
        let reason = self.outside.get_or_insert_default().reason_of(signal);
        let signal = Signal { direction: signal.direction, expiry: signal.expiry, reason, is_virtual };
        self.decide(id, &signal, moment, actions);
    }

    pub(super) fn remember_signal(&mut self, signal: &OutsideSignal) -> bool {
        self.outside.get_or_insert_default().remember(signal)
    }

    pub(super) fn known_signals(&self) -> Option<Box<KnownSignals>> {
        self.outside.clone().filter(|known| !known.is_empty())
    }
}
