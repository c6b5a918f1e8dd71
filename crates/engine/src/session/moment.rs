//! Time and candle of a signal.

use crate::bot::Bot;
use crate::{Event, Origin};
use candlewick_sdk::Millis;

#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Millis,
    pub(super) received: Millis,
    pub(super) last_close: Millis,
    pub(super) origin: Origin,
}

impl Moment {
    #[inline]
    pub(super) const fn of(event: &Event, origin: Origin) -> Self {
        Self { at: event.at, received: event.received, last_close: Millis::new(i64::MIN), origin }
    }

    #[inline]
    pub(super) const fn of_bot(self, bot: &Bot) -> Self {
        Self { last_close: bot.last_close, ..self }
    }
}
