//! Updates the books when an intent is opened, declined, settled or resolved, and begins new days.

use super::Session;
use crate::intent::{Intent, ReinstatedIntent};
use crate::nominal::nominal_close;
use crate::{
    Action, BotId, IntentId, OpenedTrade, OrderTerms, Rejection, SymbolId, TradeSettlement, VenueTerms,
};
use candlewick_sdk::{Direction, Millis, Money, Outcome, Payout, Settlement};

impl Session {
    pub(super) fn on_opened(&mut self, opened: &OpenedTrade, at: Millis) {
        let Some(&Intent { bot, symbol, decision_time, .. }) = self.intents.mark_open(opened.intent) else {
            return;
        };
        self.state.record_acceptance(symbol, decision_time);
        if let Some(taken) = &opened.taken {
            self.apply_venue_terms(opened.intent, taken);
        }
        let Some(payout) = opened.payout else { return };
        self.state.record_payout(symbol, payout, at);
        // Only the first of several replies counts, as in the trade book.
        let is_first = self.intents.mark_payout_known(opened.intent);
        if let Some(verdict) = self.verdict_mut(bot).filter(|_| is_first) {
            verdict.on_answered(opened.intent, symbol, payout);
        }
    }

    /// Applies the terms that the venue accepted. A trade on different terms does not count as evidence.
    fn apply_venue_terms(&mut self, intent: IntentId, taken: &VenueTerms) {
        let Some(before) = self.intents.apply_venue_terms(intent, taken) else { return };
        self.ledger.release(before.stake);
        self.ledger.reserve(taken.stake);
        if taken.differs_from_order(before.direction) {
            self.exclude(&before);
        }
    }

    pub(super) fn on_rejected(&mut self, intent: IntentId, rejection: &Rejection, at: Millis) {
        let found = self.intents.unfinished.iter().find(|known| known.id == intent);
        if let (Some(&Intent { symbol, decision_time, .. }), Rejection::Refused { reason, .. }) =
            (found, rejection)
        {
            self.state.venue_refusals.record(*reason, symbol, decision_time, at);
        }
        self.on_refused(intent);
    }

    pub(super) fn on_refused(&mut self, intent: IntentId) {
        let Some(intent) = self.intents.remove_refused(intent) else { return };
        self.ledger.release(intent.stake);
        self.on_order_failed(&intent);
    }

    fn on_order_failed(&mut self, intent: &Intent) {
        self.state.uncount_trade(intent.decision_time);
        self.state.uncount_bot_trade(intent.bot, intent.decision_time);
        self.state.end_probe(intent.symbol, intent.id);
        self.exclude(intent);
        if let Some(bot) = self.bots.get_mut(intent.bot.index()) {
            bot.on_order_failed(intent.id);
        }
    }

    /// Excludes an intent from the evidence, even if its trade appears later, because the outcome may be known by then.
    fn exclude(&mut self, intent: &Intent) {
        if let Some(verdict) = self.verdict_mut(intent.bot) {
            verdict.on_excluded(intent.id);
        }
        if let Some(bot) = self.bots.get_mut(intent.bot.index()) {
            bot.stake.on_unopened(intent.id);
        }
    }

    /// Excludes a trade from the evidence because an operator reported its result. The profit is still booked.
    pub(super) fn exclude_by_id(&mut self, intent: IntentId) {
        let found = self.intents.unfinished.iter().find(|known| known.id == intent).copied();
        if let Some(intent) = found {
            self.exclude(&intent);
        }
    }

    #[inline]
    pub(super) fn end_trade(&mut self, settled: &TradeSettlement, at: Millis, actions: &mut Vec<Action>) {
        let Some(intent) = self.on_settled(settled, at) else { return };
        let judgement = self.judge(intent.bot, settled, at);
        let Intent { direction, decision_time, .. } = intent;
        let TradeSettlement { outcome, profit, .. } = *settled;
        if let Some(bot) = self.bots.get_mut(intent.bot.index()) {
            bot.on_settled(&Settlement { direction, decision_time, outcome, profit });
        }
        // Usually there is no verdict, but an `Option<Action>` would be copied anyway.
        if let Some(judgement) = judgement {
            actions.push(Action::Verdict(judgement));
        }
    }

    #[inline]
    pub(super) fn on_settled(&mut self, settled: &TradeSettlement, at: Millis) -> Option<Intent> {
        self.reinstate(settled.intent);
        let intent = self.intents.remove_settled(settled.intent)?;
        if let Some(payout) = settled.payout {
            // The payout applied when the trade opened, but the reply may have omitted it.
            self.state.record_payout(intent.symbol, payout, intent.decision_time);
        }
        let end = (settled.outcome, settled.profit, settled.payout);
        self.ledger.settle(intent.stake, settled.profit);
        self.state.end_probe(intent.symbol, intent.id);
        self.count_settlement((intent.bot, intent.id), (intent.symbol, intent.direction), end, at);
        Some(intent)
    }

    #[inline]
    pub(super) fn count_settlement(
        &mut self,
        (bot, intent): (BotId, IntentId),
        (symbol, direction): (SymbolId, Direction),
        (outcome, profit, payout): (Outcome, Money, Option<Payout>),
        at: Millis,
    ) {
        self.ledger.count_outcome(outcome);
        self.add_session_profit(bot, profit);
        self.state.count_outcome(symbol, outcome);
        self.state.count_bot_settlement(bot, profit, outcome);
        if self.limits.has_cooldown() && outcome == Outcome::Lost {
            self.state.cool_down(&self.limits, symbol, at, self.ledger.loss_streak());
        }
        if !self.limits.pauses.is_empty() {
            let day_end = self.ledger.day_end;
            self.state.pauses.count_outcome(&self.limits.pauses, (bot, symbol), outcome, (at, day_end));
        }
        if let Some(bot) = self.bots.get_mut(bot.index()) {
            bot.give_up_missed_level(at);
            bot.stake.on_settled(intent, (outcome, profit, payout));
            bot.on_ended(direction, at);
        }
    }

    pub(super) fn on_adopted(&mut self, opened: &OpenedTrade, at: Millis) {
        self.reinstate(opened.intent);
        self.on_opened(opened, at);
    }

    /// Counts a trade whose order was first declined or not sent. The trade stays excluded from the evidence.
    pub(super) fn on_reinstated(&mut self, terms: &OrderTerms) {
        let whose = (terms.intent(), terms.bot(), terms.symbol());
        let bet = (terms.direction(), terms.stake());
        let close = nominal_close(terms.expiry(), self.order_time(terms));
        if self.intents.restore_unfinished(Intent::new(whose, bet, (terms.decision_time(), close))) {
            self.ledger.reserve(terms.stake());
            self.state.restore_trade(&self.limits, terms.decision_time());
            self.state.restore_bot_trade(terms.bot(), terms.decision_time());
            self.restore_ladder(terms.bot(), terms.intent());
        }
    }

    fn restore_ladder(&mut self, bot: BotId, intent: IntentId) {
        if let Some(bot) = self.bots.get_mut(bot.index()) {
            bot.stake.restore_ladder(intent);
        }
    }

    #[inline]
    fn reinstate(&mut self, intent: IntentId) {
        if !self.intents.has_unopened_intents() {
            return;
        }
        if let Some(ReinstatedIntent { bot, decision_time, stake_to_reserve: released }) =
            self.intents.reinstate(intent)
        {
            self.ledger.reserve(released);
            self.state.restore_trade(&self.limits, decision_time);
            self.state.restore_bot_trade(bot, decision_time);
            self.restore_ladder(bot, intent);
        }
        self.next_release = self.next_due_time();
    }

    pub(super) fn on_not_opened(&mut self, intent: IntentId, reserved_until: Millis) {
        let Some(intent) = self.intents.mark_unopened(intent, reserved_until) else { return };
        self.on_order_failed(&intent);
        self.next_release = self.next_due_time();
    }

    pub(super) fn handle_due_time(&mut self, now: Millis) {
        let stakes = self.intents.release_expired_stakes(now);
        self.ledger.release(stakes);
        self.begin_trading_window_session(now);
        self.next_release = self.next_due_time();
    }

    pub(super) fn begin_day(&mut self, at: Millis) -> Millis {
        let (start, end) = self.limits.day_bounds(at);
        self.ledger.open_day(end);
        self.state.open_day(start);
        start
    }

    pub(super) fn begin_day_with_action(&mut self, at: Millis, actions: &mut Vec<Action>) {
        let start = self.begin_day(at);
        actions.push(Action::DayOpened { start, equity: self.ledger.equity() });
    }
}
