//! Signals that nobody need hear, since the rules are certain to refuse them.
//!
//! For a search that runs one strategy a thousand times. Nothing is decided here: what is passed over is counted.

use super::Session;
use crate::risk::{self, Probe, Proposal};
use crate::{BotId, Origin, SeriesId};
use candlewick_sdk::{Candle, Direction, Millis, Reason};

impl Session {
    /// Follows no verdict from here on, unless a rule goes by it: nobody asks a trial of a search what became of its edge
    /// after each trade.
    pub fn leave_verdicts(&mut self) {
        if !self.limits.enforce_verdict {
            self.bots.iter_mut().for_each(|bot| bot.verdict.leave());
        }
    }

    /// Whether as many trades are under way as may be on a bot's symbol: whatever it signals before one of them has ended is
    /// refused.
    #[inline]
    pub fn is_full(&self, bot: BotId) -> bool {
        self.bots.get(bot.index()).is_some_and(|bot| self.limits.is_full(&self.intents, bot.symbol))
    }

    /// Before when every signal of a bot is certain to be refused, if no event comes first; `now` is the moment of the
    /// last candle or event, and the answer when the next signal may be approved.
    pub fn refuses_until(&self, bot: BotId, now: Millis) -> Millis {
        let Some(of) = self.bots.get(bot.index()) else { return now };
        let proposal = Proposal {
            bot,
            symbol: of.symbol,
            direction: Direction::Buy,
            expiry: of.expiry,
            stake: self.stake(of, Probe::NotNeeded),
            at: now,
            received: now,
            origin: Origin::Live,
            last_close: now,
            interval: of.interval,
            nominal_close: now,
            edge: of.verdict.edge(),
            reason: &Reason::new(""),
        };
        risk::refuses_until(&proposal, self.view()).min(self.next_release)
    }

    /// Shows candles of a series to the only bot that listens to it, while every signal of it is certain to be refused;
    /// how many it gave. They are not noted one by one.
    pub fn pass_refused(&mut self, series: SeriesId, candles: &[Candle]) -> u64 {
        let Some([bot]) = self.listeners.get(series.index()).map(Vec::as_slice) else { return 0 };
        self.bots[bot.index()].pass_candles(candles)
    }
}
