//! Candles that are handed in many at a time.

use super::{Moment, Session};
use crate::{Action, Origin, SeriesId};
use candlewick_sdk::{Candle, Millis, closing_before};

/// Actions that are noted before a stretch of candles ends: few, so that they are still in the nearest cache when they
/// are read.
const MOST_NOTED: usize = 16;

/// What ends a stretch of candles before its last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    AtAction,
    AtOpen,
}

impl Stop {
    /// Whether a stretch ends with the candle that these actions follow from, the last so many of them.
    fn is_reached(self, actions: &[Action], new: usize) -> bool {
        match self {
            Self::AtAction => !actions.is_empty(),
            Self::AtOpen => {
                let newest = &actions[actions.len() - new..];
                actions.len() >= MOST_NOTED || newest.iter().any(|action| matches!(action, Action::Open(_)))
            }
        }
    }
}

impl Session {
    /// Takes candles of a series that were known the moment they closed, up to the first from which an action follows; how
    /// many those were. The same as [`handle`](Self::handle) of their events one by one, without making them.
    ///
    /// Nothing else may happen before the last of them: no event, and no candle of another series.
    #[inline]
    pub fn handle_candles(
        &mut self,
        series: SeriesId,
        candles: &[Candle],
        actions: &mut Vec<Action>,
    ) -> usize {
        self.handle_stretch(series, candles, Stop::AtAction, actions)
    }

    /// The same, but goes on after what only has to be noted: up to the first trade, or a number of actions.
    #[inline]
    pub fn handle_candles_to_open(
        &mut self,
        series: SeriesId,
        candles: &[Candle],
        actions: &mut Vec<Action>,
    ) -> usize {
        self.handle_stretch(series, candles, Stop::AtOpen, actions)
    }

    #[inline]
    fn handle_stretch(
        &mut self,
        series: SeriesId,
        candles: &[Candle],
        stop: Stop,
        actions: &mut Vec<Action>,
    ) -> usize {
        let Some(of) = self.series.get(series.index()) else { return candles.len() };
        let length = of.interval.length();
        let only = match self.listeners[series.index()][..] {
            [bot] => Some(bot),
            _ => None,
        };
        let (mut taken, mut quiet) = (0, 0);
        while taken < candles.len() {
            let noted = actions.len();
            if taken == quiet {
                let rest = &candles[taken..];
                self.pass_time(rest[0].time() + length, actions);
                quiet += self.quiet(rest, length);
            }
            if let Some(bot) = only {
                let until = if stop.is_reached(actions, 0) { taken + 1 } else { quiet };
                let listener = &mut self.bots[bot.index()];
                let mut signal = None;
                taken += listener.on_candles(&candles[taken..until], &mut signal);
                if let Some(signal) = &signal
                    && listener.is_warm()
                {
                    let at = listener.last_close;
                    self.decide(bot, signal, Moment { at, received: at, origin: Origin::Live }, actions);
                }
            } else {
                let at = candles[taken].time() + length;
                let moment = Moment { at, received: at, origin: Origin::Live };
                self.on_candle(series, &candles[taken], moment, actions);
                taken += 1;
            }
            if actions.len() > noted && stop.is_reached(actions, actions.len() - noted) {
                break;
            }
        }
        taken
    }

    /// How many candles, the first always, close before time alone brings anything about. A refusal changes neither of the
    /// two moments.
    #[inline]
    fn quiet(&self, candles: &[Candle], length: Millis) -> usize {
        let until = self.ledger.day_end().min(self.next_release);
        closing_before(candles, length, until).max(1)
    }
}
