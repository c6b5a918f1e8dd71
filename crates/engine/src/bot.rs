//! A bot inside a Session: its strategy, its place and its stake.

use crate::reentry::Reentry;
use crate::stake::{Purse, Stake};
use crate::{BotVerdict, Edge, IfRefused, IntentId, SymbolId};
use candlewick_sdk::{
    Candle, CandleAnswer, CandleAnswers, Direction, Expiry, GateView, LongerCandles, Millis, Money, Price,
    Settlement, ShownCandles, Signal, Strategy,
};

/// In the order in which it is read: what a signal needs stands together, because the bots of a crowd do not all fit the nearest cache.
#[repr(C)]
pub(crate) struct Bot {
    pub(crate) stake: Stake,
    /// Its next entry without a signal; none of a bot whose ladder does not go on with the next candle.
    pub(crate) reentry: Option<Box<Reentry>>,
    pub(crate) expiry: Expiry,
    /// The length of its candles.
    pub(crate) interval: Millis,
    /// From its decisions to the requests of their trades.
    pub(crate) entry_delay: Millis,
    pub(crate) symbol: SymbolId,
    /// Whether its strategy is shown the settlements of its trades.
    wants_settlements: bool,
    /// Apart, because candles do not touch it.
    pub(crate) verdict: Box<BotVerdict>,
    /// Close time of the last candle it saw.
    pub(crate) last_close: Millis,
    strategy: Box<dyn Strategy>,
    longer: LongerCandles,
    /// Candles until its signals mean anything.
    cold: usize,
    /// Handling of a refused level of the ladder.
    if_refused: IfRefused,
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
            longer,
            cold,
            if_refused: IfRefused::Wait,
        }
    }

    /// Makes its ladder go on with the next candle, without a signal.
    pub(crate) fn with_reentries(mut self) -> Self {
        self.reentry = Some(Box::default());
        self
    }

    /// Sets what becomes of a refused level of its ladder.
    pub(crate) const fn with_if_refused(mut self, if_refused: IfRefused) -> Self {
        self.if_refused = if_refused;
        self
    }

    /// Returns whether a stake above its bounds restarts the ladder at once. One that goes on with candles is given up by time.
    pub(crate) fn restarts_ladder(&self) -> bool {
        self.if_refused == IfRefused::Reset && self.reentry.is_none()
    }

    /// Has its trades asked for so long after their decisions.
    pub(crate) fn entering_after(mut self, delay: Millis) -> Self {
        self.entry_delay = delay;
        self
    }

    /// How many candles it wants to have seen.
    pub(crate) fn warmup(&self) -> usize {
        self.strategy.warmup()
    }

    /// How many of the last of these candles it wants to have seen; none where they are too few.
    pub(crate) fn history(&self, candles: &[Candle]) -> Option<usize> {
        self.longer.history(self.warmup(), candles)
    }

    /// Shows the strategy candles up to the first that it answers once it [is warm](Self::is_warm), with this signal; how many
    /// those were.
    #[inline]
    pub(crate) fn on_candles(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
        let enters_again = self.is_reentry_due();
        let shown = if self.longer.is_empty() && !enters_again {
            self.strategy.on_candles(candles, self.cold.saturating_sub(1), signal).count
        } else {
            self.on_candle_with_longer(candles, signal)
        };
        self.keep_close(&candles[..shown]);
        self.cold = self.cold.saturating_sub(shown);
        if enters_again {
            self.enter_again(signal);
        }
        shown
    }

    /// Shows the strategy candles up to the one whose answer makes `answers` so many; how many those were. Answers before it
    /// [is warm](Self::is_warm) do not count.
    #[inline]
    pub(crate) fn on_candles_ahead(
        &mut self,
        candles: &[Candle],
        most: usize,
        answers: &mut CandleAnswers,
    ) -> usize {
        if self.is_warm() && self.longer.is_empty() && self.reentry.is_none() {
            let shown = self.strategy.on_candles_ahead(candles, most, answers);
            self.keep_close(&candles[..shown]);
            return shown;
        }
        let mut signal = None;
        let shown = self.on_candles(candles, &mut signal);
        if let (Some(signal), true) = (signal, self.is_warm()) {
            answers.push(CandleAnswer { candle_time: self.last_close - self.interval, signal });
        }
        shown
    }

    /// Shows the strategy candles whose signals are suppressed; how many there were once it was [warm](Self::is_warm).
    pub(crate) fn on_candles_suppressed(&mut self, candles: &[Candle]) -> u64 {
        let (mut rest, mut suppressed) = (candles, 0);
        let mut signal = None;
        while !rest.is_empty() && (!self.is_warm() || !self.longer.is_empty() || self.is_reentry_due()) {
            let shown = self.on_candles(rest, &mut signal);
            suppressed += u64::from(signal.is_some() && self.is_warm());
            rest = &rest[shown..];
        }
        self.keep_close(rest);
        suppressed + self.strategy.on_candles(rest, rest.len(), &mut signal).suppressed
    }

    /// Shows the strategy candles after a trade of it: signals on so many are suppressed, and behind them it is shown the settlement.
    /// How many were shown up to the first that it then answers, and how many signals were suppressed. It is warm.
    #[inline]
    pub(crate) fn on_candles_after(
        &mut self,
        (suppress, settlement): (usize, &Settlement),
        candles: &[Candle],
        signal: &mut Option<Signal>,
    ) -> (usize, u64) {
        if !self.waits_for_settlements() && self.longer.is_empty() {
            let ShownCandles { count, suppressed } = self.strategy.on_candles(candles, suppress, signal);
            self.keep_close(&candles[..count]);
            return (count, suppressed);
        }
        let (first, rest) = candles.split_at(suppress.min(candles.len()));
        let suppressed = self.on_candles_suppressed(first);
        self.on_settled(settlement);
        (first.len() + self.on_candles(rest, signal), suppressed)
    }

    /// Whether it enters at its next candle, or at one soon after, without a signal.
    #[inline]
    fn is_reentry_due(&self) -> bool {
        self.reentry.as_ref().is_some_and(|reentry| reentry.is_due())
    }

    /// Puts its entry in the place of the strategy's signal on the candle that was just shown, where that is the candle for it.
    #[cold]
    fn enter_again(&mut self, signal: &mut Option<Signal>) {
        if let Some(entry) =
            self.reentry.as_mut().and_then(|due| due.on_close(self.last_close, self.interval))
        {
            *signal = Some(entry);
        }
    }

    /// Its next stake at this moment, before it is rounded down to the step and held against the bounds.
    #[inline]
    pub(crate) fn next_stake(&self, purse: Purse, at: Millis) -> Money {
        if self.has_lost_edge() {
            return purse.minimum;
        }
        if self.has_missed_level(at) { self.stake.first(purse) } else { self.stake.next(purse) }
    }

    /// Returns whether the bot stakes by an edge that is no longer held.
    ///
    /// The lower end of its win rate covers all of its trades. After a long good stretch it stays above break-even for
    /// thousands of losing trades.
    #[inline]
    pub(crate) fn has_lost_edge(&self) -> bool {
        self.stake.is_by_edge() && self.verdict.edge() == Edge::NoLongerHeld
    }

    /// From when on its ladder is given up, where no trade is approved before.
    pub(crate) fn gives_up_from(&self) -> Option<Millis> {
        let reentry = self.reentry.as_ref().filter(|_| self.if_refused == IfRefused::Reset)?;
        reentry.missed_from(self.interval)
    }

    /// Whether its ladder was given up by this moment, since its level was refused at the next candle.
    #[inline]
    pub(crate) fn has_missed_level(&self, at: Millis) -> bool {
        self.gives_up_from().is_some_and(|from| at >= from)
    }

    /// Begins a ladder anew that was given up by this moment.
    #[inline]
    pub(crate) fn give_up_missed_level(&mut self, at: Millis) {
        if self.has_missed_level(at) {
            self.stake.begin_ladder_anew();
        }
    }

    /// Gives up the ladder if it was to continue with an approved trade that the venue did not take.
    pub(crate) fn on_not_taken(&mut self, intent: IntentId) {
        let waits = self.reentry.as_ref().is_some_and(|reentry| reentry.waits());
        if self.if_refused == IfRefused::Reset && !waits {
            self.stake.give_up_ladder(intent);
        }
    }

    /// Restores the ladder if it was given up because this trade seemed not to have been taken.
    pub(crate) fn on_taken_after_all(&mut self, intent: IntentId) {
        self.stake.restore_ladder(intent);
    }

    /// A trade of it was approved.
    #[inline]
    pub(crate) fn on_decided(&mut self, expiry: Expiry) {
        if let Some(reentry) = &mut self.reentry {
            reentry.on_decided(expiry);
        }
    }

    /// A trade of it has ended, and its stake rule knows: whether its ladder goes on with the next candle.
    #[inline]
    pub(crate) fn on_ended(&mut self, direction: Direction, at: Millis) {
        if let Some(reentry) = &mut self.reentry {
            reentry.on_ended(direction, at, self.stake.level());
        }
    }

    /// Keeps when the last of the candles that were shown closed.
    #[inline]
    fn keep_close(&mut self, shown: &[Candle]) {
        if let Some(last) = shown.last() {
            self.last_close = last.time() + self.interval;
        }
    }

    /// Longer candles are shown between the bot's own, so these are taken one by one.
    fn on_candle_with_longer(&mut self, candles: &[Candle], signal: &mut Option<Signal>) -> usize {
        *signal = None;
        let Some(candle) = candles.first() else { return 0 };
        *signal = self.longer.show_candle(candle, &mut *self.strategy);
        1
    }

    /// The longer candles that its strategy sees.
    pub(crate) const fn longer(&self) -> &LongerCandles {
        &self.longer
    }

    /// Whether its strategy lets nothing be traded for now, whoever asks for it.
    pub(crate) fn is_gate_closed(&self) -> bool {
        self.strategy.is_gate_closed()
    }

    /// How the gate before its signals stands, for people.
    pub(crate) fn gate(&self) -> Option<GateView> {
        self.strategy.gate()
    }

    pub(crate) fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.strategy.on_price(price)
    }

    /// Whether its strategy has seen as many candles as it wanted to.
    #[inline]
    pub(crate) const fn is_warm(&self) -> bool {
        self.cold == 0
    }

    /// Whether what it answers may depend on the settlements of its trades.
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
