//! A bot of a Session: strategy, symbol, stake and verdict.

use crate::reentry::Reentry;
use crate::stake::{Stake, StakeContext};
use crate::{BotVerdict, EdgeVerdict, IfRefused, IntentId, SymbolId};
use candlewick_sdk::{
    Candle, CandleAnswer, CandleAnswers, Direction, Expiry, FeedResult, LongerCandles, Millis, Money,
    Settlement, Signal, Strategy,
};

/// State of a bot. Fields used together for a signal are adjacent, because not all bots fit into the L1 cache.
#[repr(C)]
pub(crate) struct Bot {
    pub(crate) stake: Stake,
    /// State of a ladder that continues on the next candle without a signal. `None` for other stake rules.
    pub(crate) reentry: Option<Box<Reentry>>,
    pub(crate) expiry: Expiry,
    pub(crate) interval: Millis,
    pub(crate) entry_delay: Millis,
    pub(crate) symbol: SymbolId,
    wants_settlements: bool,
    pub(crate) verdict: Box<BotVerdict>,
    pub(crate) last_close: Millis,
    pub(crate) strategy: Box<dyn Strategy>,
    pub(crate) longer_candles: LongerCandles,
    cold: usize,
    pub(crate) if_refused: IfRefused,
}

impl Bot {
    pub(crate) fn new(
        symbol: SymbolId,
        interval: Millis,
        expiry: Expiry,
        (stake, verdict): (Stake, BotVerdict),
        (strategy, longer): (Box<dyn Strategy>, LongerCandles),
    ) -> Self {
        let (cold, wants_settlements) = (strategy.warmup(), strategy.wants_settlements());
        let last_close = Millis::new(i64::MIN);
        let verdict = Box::new(verdict);
        Self {
            stake,
            reentry: None,
            expiry,
            interval,
            entry_delay: Millis::ZERO,
            symbol,
            wants_settlements,
            verdict,
            last_close,
            strategy,
            longer_candles: longer,
            cold,
            if_refused: IfRefused::Wait,
        }
    }

    /// Returns whether the ladder restarts immediately if its next stake is too large.
    /// With `reentry`, the ladder restarts later, once the next candle has closed without a trade.
    pub(crate) fn restarts_ladder(&self) -> bool {
        self.if_refused == IfRefused::Reset && self.reentry.is_none()
    }

    /// Returns how many of the last `candles` the warm-up needs, `None` if there are too few candles.
    pub(crate) fn required_history(&self, candles: &[Candle]) -> Option<usize> {
        self.longer_candles.required_history(self.strategy.warmup(), candles)
    }

    /// Feeds the strategy up to the first signal after [warm-up](Self::is_warm). Returns the number of candles fed.
    #[inline]
    pub(crate) fn on_candles(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
        let enters_again = self.is_reentry_due();
        let fed = if self.longer_candles.is_empty() && !enters_again {
            self.strategy.feed_until_signal(candles, self.cold.saturating_sub(1), signal).count
        } else {
            self.on_first_candle(candles, signal)
        };
        self.update_last_close(&candles[..fed]);
        self.cold = self.cold.saturating_sub(fed);
        if enters_again {
            self.apply_reentry(signal);
        }
        fed
    }

    /// Like [`Self::on_candles`], but may feed past a signal, until `answers` contains `max_answers` signals.
    #[inline]
    pub(crate) fn on_candles_past_signals(
        &mut self,
        candles: &[Candle],
        max_answers: usize,
        answers: &mut CandleAnswers,
    ) -> usize {
        if self.is_warm() && self.longer_candles.is_empty() && self.reentry.is_none() {
            let fed = self.strategy.feed_until_limit(candles, max_answers, answers);
            self.update_last_close(&candles[..fed]);
            return fed;
        }
        let mut signal = None;
        let fed = self.on_candles(candles, &mut signal);
        if let (Some(signal), true) = (signal, self.is_warm()) {
            answers.push(CandleAnswer { candle_time: self.last_close - self.interval, signal });
        }
        fed
    }

    /// Feeds candles and drops the signals. Returns the number of dropped signals, without those of the warm-up.
    pub(crate) fn on_candles_without_signals(&mut self, candles: &[Candle]) -> u64 {
        let (mut rest, mut suppressed) = (candles, 0);
        let mut signal = None;
        while !rest.is_empty()
            && (!self.is_warm() || !self.longer_candles.is_empty() || self.is_reentry_due())
        {
            let fed = self.on_candles(rest, &mut signal);
            suppressed += u64::from(signal.is_some() && self.is_warm());
            rest = &rest[fed..];
        }
        self.update_last_close(rest);
        suppressed + self.strategy.feed_until_signal(rest, rest.len(), &mut signal).suppressed
    }

    /// Feeds `suppress` candles and drops their signals, then feeds the settlement and candles up to the next signal.
    /// The bot must be warm. Returns the number of candles fed and the number of signals dropped.
    #[inline]
    pub(crate) fn on_candles_after_trade(
        &mut self,
        (suppress, settlement): (usize, &Settlement),
        candles: &[Candle],
        signal: &mut Option<Signal>,
    ) -> (usize, u64) {
        if !self.waits_for_settlements() && self.longer_candles.is_empty() {
            let FeedResult { count, suppressed } = self.strategy.feed_until_signal(candles, suppress, signal);
            self.update_last_close(&candles[..count]);
            return (count, suppressed);
        }
        let (first, rest) = candles.split_at(suppress.min(candles.len()));
        let suppressed = self.on_candles_without_signals(first);
        self.on_settled(settlement);
        (first.len() + self.on_candles(rest, signal), suppressed)
    }

    #[inline]
    fn is_reentry_due(&self) -> bool {
        self.reentry.as_ref().is_some_and(|reentry| reentry.is_due())
    }

    #[cold]
    fn apply_reentry(&mut self, signal: &mut Option<Signal>) {
        if let Some(entry) =
            self.reentry.as_mut().and_then(|due| due.on_close(self.last_close, self.interval))
        {
            *signal = Some(entry);
        }
    }

    #[inline]
    pub(crate) fn next_stake(&self, context: StakeContext, at: Millis) -> Money {
        if self.has_lost_edge() {
            return context.minimum;
        }
        if self.has_missed_level(at) { self.stake.first(context) } else { self.stake.next(context) }
    }

    /// Returns whether the bot has lost its edge and uses stakes that depend on the win rate.
    /// Such stakes would shrink too late, because the total win rate can exceed break-even long after the edge is lost.
    #[inline]
    pub(crate) fn has_lost_edge(&self) -> bool {
        self.stake.depends_on_win_rate() && self.verdict.edge() == EdgeVerdict::NoLongerHeld
    }

    pub(crate) fn level_deadline(&self) -> Option<Millis> {
        let reentry = self.reentry.as_ref().filter(|_| self.if_refused == IfRefused::Reset)?;
        reentry.missed_at(self.interval)
    }

    #[inline]
    pub(crate) fn has_missed_level(&self, at: Millis) -> bool {
        self.level_deadline().is_some_and(|from| at >= from)
    }

    #[inline]
    pub(crate) fn give_up_missed_level(&mut self, at: Millis) {
        if self.has_missed_level(at) {
            self.stake.restart_ladder();
        }
    }

    pub(crate) fn on_order_failed(&mut self, intent: IntentId) {
        let waits = self.reentry.as_ref().is_some_and(|reentry| reentry.is_waiting());
        if self.if_refused == IfRefused::Reset && !waits {
            self.stake.give_up_ladder(intent);
        }
    }

    #[inline]
    pub(crate) fn on_decided(&mut self, expiry: Expiry) {
        if let Some(reentry) = &mut self.reentry {
            reentry.on_decided(expiry);
        }
    }

    #[inline]
    pub(crate) fn on_ended(&mut self, direction: Direction, at: Millis) {
        if let Some(reentry) = &mut self.reentry {
            reentry.on_ended(direction, at, self.stake.level());
        }
    }

    #[inline]
    fn update_last_close(&mut self, fed: &[Candle]) {
        if let Some(last) = fed.last() {
            self.last_close = last.time() + self.interval;
        }
    }

    /// Feeds only the first candle, because the strategy may have to receive longer candles before the second.
    fn on_first_candle(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
        *signal = None;
        let Some(candle) = candles.first() else { return 0 };
        *signal = self.longer_candles.feed_candle(candle, &mut *self.strategy);
        1
    }

    #[inline]
    pub(crate) const fn is_warm(&self) -> bool {
        self.cold == 0
    }

    #[inline]
    pub(crate) const fn waits_for_settlements(&self) -> bool {
        self.wants_settlements || self.reentry.is_some()
    }

    pub(crate) fn on_settled(&mut self, settlement: &Settlement) {
        if self.wants_settlements {
            self.strategy.on_settled(settlement);
        }
    }
}
