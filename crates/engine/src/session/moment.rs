//! What a signal was given on.

use crate::bot::Bot;
use crate::{Event, Origin};
use candlewick_sdk::Millis;

/// When a signal was given, and on which candle.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Millis,
    pub(super) received: Millis,
    /// Close time of the last candle that the bot had seen.
    pub(super) last_close: Millis,
    pub(super) origin: Origin,
}

impl Moment {
    /// That of an event, for a bot that has seen no candle.
    #[inline]
    pub(super) const fn of(event: &Event, origin: Origin) -> Self {
        Self { at: event.at, received: event.received, last_close: Millis::new(i64::MIN), origin }
    }

    /// The same for this bot.
    #[inline]
    pub(super) const fn of_bot(self, bot: &Bot) -> Self {
        Self { last_close: bot.last_close, ..self }
    }
}
