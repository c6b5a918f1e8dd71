//! Candles whose answer is known beforehand: the strategy is not asked, or not heard.
//!
//! For a search that runs one strategy a thousand times. Nothing is decided here: what is skipped is what the rules are
//! certain to refuse, and what is handed in goes the way of every signal.

use super::{Moment, Session};
use crate::risk::{self, Probe, Proposal, View};
use crate::{Approved, BotId, Opened, Origin, Rule, SeriesId, Settled};
use candlewick_sdk::{Candle, Direction, Millis, Reason, Signal};

/// Who is told of a settlement besides the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// The strategy whose trade it was.
    Strategy,
    /// Nobody.
    Nobody,
}

impl Session {
    /// Follows no verdict from here on, unless a rule goes by it: nobody asks a trial of a search what became of its edge
    /// after each trade.
    pub fn leave_verdicts(&mut self) {
        if !self.limits.enforce_verdict {
            self.bots.iter_mut().for_each(|bot| bot.verdict.leave());
        }
    }

    /// Takes a candle of a bot's series that closed at `close`, and that its strategy is known to answer with this signal.
    /// The same as [`handle_candles`](Self::handle_candles) of this candle, when no candle since the last one that was
    /// handed in has been answered; neither it nor they are shown to the strategy.
    ///
    /// # Errors
    /// The rule that refuses it.
    #[inline]
    pub fn answer_candidate(&mut self, bot: BotId, close: Millis, signal: &Signal) -> Result<Approved, Rule> {
        if self.ledger.is_day_over(close) || close >= self.next_release {
            self.pass_time(close, &mut Vec::new());
        }
        self.bots[bot.index()].last_close = close;
        self.propose(bot, signal, Moment { at: close, received: close, origin: Origin::Live })
    }

    /// Whether as many trades are under way as may be on a bot's symbol: whatever it signals before one of them has ended is
    /// refused.
    #[inline]
    pub fn is_full(&self, bot: BotId) -> bool {
        self.bots.get(bot.index()).is_some_and(|bot| self.limits.is_full(&self.intents, bot.symbol))
    }

    /// Hears that a trade opened, and that it settled: the same as [`handle`](Self::handle) of both events, when nothing
    /// else happens between them. A strategy that is shown no candle need not be told of it either.
    #[inline]
    pub fn hear_trade(
        &mut self,
        (opened, at): (&Opened, Millis),
        (settled, settled_at): (&Settled, Millis),
        telling: Telling,
    ) {
        if self.ledger.is_day_over(settled_at) || settled_at >= self.next_release {
            self.pass_time(at, &mut Vec::new());
        }
        self.on_opened(opened, at);
        if self.ledger.is_day_over(settled_at) || settled_at >= self.next_release {
            self.pass_time(settled_at, &mut Vec::new());
        }
        let Some(intent) = self.on_settled(settled, settled_at) else { return };
        self.judge(intent.bot, settled, settled_at);
        if telling == Telling::Strategy {
            self.tell_settlement(&intent, settled);
        }
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
        let view =
            View { limits: &self.limits, state: &self.state, ledger: &self.ledger, intents: &self.intents };
        risk::refuses_until(&proposal, view).min(self.next_release)
    }

    /// Shows candles of a series to the only bot that listens to it, while every signal of it is certain to be refused;
    /// how many it gave. They are not noted one by one.
    pub fn pass_refused(&mut self, series: SeriesId, candles: &[Candle]) -> u64 {
        let Some([bot]) = self.listeners.get(series.index()).map(Vec::as_slice) else { return 0 };
        self.bots[bot.index()].pass_candles(candles)
    }
}
