//! State of the risk rules, except the ledger and the intents.

pub(super) mod carried;

use super::pauses::PauseState;
use super::session_limits::SessionTally;
use super::venue_refusals::VenueRefusals;
use super::{CooldownScope, Limits};
use crate::ledger::loss_streak_after;
use crate::settings::is_default;
use crate::{BotId, IntentId, SymbolId};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const TYPICAL_TRADES_PER_HOUR: usize = 1_024;

/// Risk state folded from events. Its size is bounded by the limits and by the numbers of symbols and bots.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RiskState {
    pub(crate) halted: bool,
    pub(crate) suspended: bool,
    pub(crate) skew: Millis,
    /// Decision times of trades in the last 60 minutes. Empty if `max_trades_per_hour` is 0.
    recent: VecDeque<Millis>,
    day_start: Millis,
    pub(super) trades_today: u32,
    symbols: Vec<SymbolState>,
    rested_at: Millis,
    bots: Vec<BotTally>,
    #[serde(default, skip_serializing_if = "PauseState::is_empty")]
    pub(crate) pauses: PauseState,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) session: SessionTally,
    #[serde(default, skip_serializing_if = "VenueRefusals::is_empty")]
    pub(crate) venue_refusals: VenueRefusals,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct BotTally {
    pub(super) trades_today: u32,
    pub(super) day_profit: Money,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) session_profit: Money,
    pub(super) losses: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SymbolState {
    rested_at: Millis,
    losses: u32,
    payout: Option<(Payout, Millis)>,
    probe: Option<IntentId>,
}

impl SymbolState {
    const NEW: Self = Self { rested_at: Millis::new(i64::MIN), losses: 0, payout: None, probe: None };
}

impl RiskState {
    pub(crate) fn new(limits: &Limits, symbols: usize) -> Self {
        Self {
            halted: false,
            suspended: false,
            skew: Millis::ZERO,
            recent: VecDeque::with_capacity(limits.max_trades_per_hour.min(TYPICAL_TRADES_PER_HOUR)),
            day_start: Millis::new(i64::MIN),
            trades_today: 0,
            symbols: vec![SymbolState::NEW; symbols],
            rested_at: Millis::new(i64::MIN),
            bots: Vec::new(),
            pauses: PauseState::default(),
            session: SessionTally::default(),
            venue_refusals: VenueRefusals::default(),
        }
    }

    pub(crate) fn with_bots(mut self, bots: usize) -> Self {
        self.bots = vec![BotTally::default(); bots];
        self
    }

    pub(super) fn bot_tally(&self, bot: BotId) -> BotTally {
        self.bots.get(bot.index()).copied().unwrap_or_default()
    }

    pub(super) const fn is_halted(&self) -> bool {
        self.halted || self.suspended
    }

    pub(super) fn trade_count_after(&self, since: Millis) -> usize {
        self.recent.iter().rev().take_while(|decided| **decided > since).count()
    }

    pub(super) fn cooldown_end(&self, symbol: SymbolId) -> Millis {
        let own = self.symbols.get(symbol.index()).map_or(Millis::new(i64::MIN), |state| state.rested_at);
        own.max(self.rested_at)
    }

    /// Returns the last known payout, `None` if it is older than `max_age`. A `max_age` of zero means no limit.
    pub(crate) fn payout(&self, symbol: SymbolId, now: Millis, max_age: Millis) -> Option<Payout> {
        let (payout, seen) = self.symbols.get(symbol.index())?.payout?;
        (max_age == Millis::ZERO || now - seen <= max_age).then_some(payout)
    }

    pub(super) fn probing_intent(&self, symbol: SymbolId) -> Option<IntentId> {
        self.symbols.get(symbol.index())?.probe
    }

    pub(crate) const fn has_symbol_count(&self, symbols: usize) -> bool {
        self.symbols.len() == symbols
    }

    pub(crate) const fn has_bot_count(&self, bots: usize) -> bool {
        self.bots.len() == bots
    }

    pub(crate) fn ensure_symbols(&mut self, symbols: usize) {
        if self.symbols.len() < symbols {
            self.symbols.resize(symbols, SymbolState::NEW);
        }
    }

    pub(crate) fn resume(&mut self) {
        self.halted = false;
        self.symbols.iter_mut().for_each(|symbol| symbol.losses = 0);
        self.bots.iter_mut().for_each(|bot| bot.losses = 0);
        self.pauses.reset_counts();
        self.venue_refusals.clear();
    }

    pub(crate) fn open_day(&mut self, start: Millis) {
        self.day_start = start;
        self.trades_today = 0;
        for bot in &mut self.bots {
            (bot.trades_today, bot.day_profit) = (0, Money::ZERO);
        }
    }

    pub(crate) fn count_trade(&mut self, limits: &Limits, decided: Millis) {
        self.trades_today += 1;
        if limits.max_trades_per_hour > 0 {
            while self.recent.front().is_some_and(|time| *time <= decided - Millis::HOUR) {
                self.recent.pop_front();
            }
            self.recent.push_back(decided);
        }
    }

    pub(crate) fn uncount_trade(&mut self, decided: Millis) {
        if decided >= self.day_start {
            self.trades_today = self.trades_today.saturating_sub(1);
        }
        if let Some(position) = self.recent.iter().rposition(|time| *time == decided) {
            self.recent.remove(position);
        }
    }

    pub(crate) fn restore_trade(&mut self, limits: &Limits, decided: Millis) {
        if decided >= self.day_start {
            self.trades_today += 1;
        }
        if limits.max_trades_per_hour > 0 {
            let position = self.recent.partition_point(|time| *time <= decided);
            // The list may exceed the limit by one, because no trade is dropped to make room.
            self.recent.insert(position, decided);
        }
    }

    #[inline]
    pub(crate) fn count_bot_trade(&mut self, bot: BotId) {
        if let Some(bot) = self.bots.get_mut(bot.index()) {
            bot.trades_today += 1;
        }
    }

    pub(crate) fn uncount_bot_trade(&mut self, bot: BotId, decided: Millis) {
        let is_of_today = decided >= self.day_start;
        if let Some(bot) = self.bots.get_mut(bot.index()).filter(|_| is_of_today) {
            bot.trades_today = bot.trades_today.saturating_sub(1);
        }
    }

    pub(crate) fn restore_bot_trade(&mut self, bot: BotId, decided: Millis) {
        if decided >= self.day_start {
            self.count_bot_trade(bot);
        }
    }

    #[inline]
    pub(crate) fn count_bot_settlement(&mut self, bot: BotId, profit: Money, outcome: Outcome) {
        if let Some(bot) = self.bots.get_mut(bot.index()) {
            bot.day_profit += profit;
            bot.losses = loss_streak_after(bot.losses, outcome);
        }
    }

    pub(crate) fn add_bot_profit(&mut self, bot: BotId, profit: Money) {
        if let Some(bot) = self.bots.get_mut(bot.index()) {
            bot.day_profit += profit;
        }
    }

    pub(crate) fn begin_probe(&mut self, symbol: SymbolId, intent: IntentId) {
        if let Some(state) = self.symbols.get_mut(symbol.index()) {
            state.probe = Some(intent);
        }
    }

    pub(crate) fn end_probe(&mut self, symbol: SymbolId, intent: IntentId) {
        if let Some(state) = self.symbols.get_mut(symbol.index()) {
            state.probe = state.probe.filter(|probe| *probe != intent);
        }
    }

    pub(crate) fn record_payout(&mut self, symbol: SymbolId, payout: Payout, at: Millis) {
        let Some(state) = self.symbols.get_mut(symbol.index()) else { return };
        if state.payout.is_none_or(|(_, seen)| seen <= at) {
            state.payout = Some((payout, at));
            state.probe = None;
        }
    }

    #[inline]
    pub(crate) fn count_outcome(&mut self, symbol: SymbolId, outcome: Outcome) {
        if let Some(state) = self.symbols.get_mut(symbol.index()) {
            state.losses = loss_streak_after(state.losses, outcome);
        }
    }

    pub(crate) fn begin_session(&mut self, money: (Money, Money), end: Option<Millis>) {
        self.session.begin(money, end);
        self.bots.iter_mut().for_each(|bot| bot.session_profit = Money::ZERO);
    }

    pub(crate) fn restart_session(&mut self, money: (Money, Money)) {
        self.session.restart(money);
        self.bots.iter_mut().for_each(|bot| bot.session_profit = Money::ZERO);
    }

    pub(crate) fn add_session_profit(&mut self, bot: BotId, profit: Money) {
        self.session.profit += profit;
        if let Some(bot) = self.bots.get_mut(bot.index()) {
            bot.session_profit += profit;
        }
    }

    #[inline]
    pub(super) fn paused_until(&self, bot: BotId, symbol: SymbolId) -> Millis {
        if self.pauses.is_empty() { Millis::new(i64::MIN) } else { self.pauses.paused_until(bot, symbol) }
    }

    #[inline]
    pub(crate) fn record_acceptance(&mut self, symbol: SymbolId, decided: Millis) {
        if !self.venue_refusals.is_empty() {
            self.venue_refusals.forget_before(symbol, decided);
        }
    }

    #[inline]
    pub(super) fn refusal_pause_end(&self, limits: &Limits, symbol: SymbolId) -> Millis {
        if self.venue_refusals.is_empty() {
            return Millis::new(i64::MIN);
        }
        self.venue_refusals.paused_until(symbol, limits.refused_by_venue_pause)
    }

    /// Starts the cooldown after a loss has been counted. `streak` is the number of consecutive losses of all bots.
    pub(crate) fn cool_down(&mut self, limits: &Limits, symbol: SymbolId, at: Millis, streak: u32) {
        let Some(state) = self.symbols.get_mut(symbol.index()) else { return };
        let (streak, rested_at) = match limits.cooldown_scope {
            CooldownScope::All => (streak, &mut self.rested_at),
            CooldownScope::Symbol => (state.losses, &mut state.rested_at),
        };
        let mut span = limits.cooldown_after_loss;
        if limits.cooldown_after_losses > 0 && streak >= limits.cooldown_after_losses {
            span = span.max(limits.cooldown_after_losses_span);
        }
        if span > Millis::ZERO {
            *rested_at = (*rested_at).max(at + span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RiskSettings;
    use candlewick_sdk::MoneyScale;

    const SYMBOL: SymbolId = SymbolId::FIRST;

    fn limits(change: impl Fn(&mut RiskSettings)) -> Limits {
        let mut settings = RiskSettings::default();
        change(&mut settings);
        Limits::new(&settings, MoneyScale::default()).unwrap()
    }

    fn at(ms: i64) -> Millis {
        Millis::new(ms)
    }

    #[test]
    fn corrections_of_yesterdays_trades_do_not_change_todays_count() {
        let limits = limits(|_| {});
        let mut state = RiskState::new(&limits, 1);
        state.open_day(at(1_000));
        let mut check = |step: &dyn Fn(&mut RiskState), expected: u32| {
            step(&mut state);
            assert_eq!(state.trades_today, expected);
        };
        check(&|state| state.count_trade(&limits, at(1_000)), 1);
        check(&|state| state.uncount_trade(at(999)), 1);
        check(&|state| state.uncount_trade(at(1_000)), 0);
        check(&|state| state.restore_trade(&limits, at(999)), 0);
        check(&|state| state.restore_trade(&limits, at(1_000)), 1);
    }

    #[test]
    fn trades_are_stored_in_order_for_an_hour_and_only_if_limited() {
        let hour = Millis::HOUR.get();
        for (limit, expected) in [(2, &[1, hour, hour][..]), (0, &[])] {
            let limits = limits(|risk| risk.max_trades_per_hour = limit);
            let mut state = RiskState::new(&limits, 1);
            for decided in [0, 1, hour] {
                state.count_trade(&limits, at(decided));
            }
            state.restore_trade(&limits, at(1));
            state.uncount_trade(at(1));
            state.restore_trade(&limits, at(hour));
            assert_eq!(state.recent, expected.iter().copied().map(at).collect::<Vec<_>>(), "{limit}");
            assert_eq!(
                state.trade_count_after(at(1)),
                expected.iter().filter(|decided| **decided > 1).count()
            );
        }
    }

    #[test]
    fn payout_is_valid_until_a_later_one_or_its_maximum_age() {
        let paid = |percent: u32| Payout::from_parts(percent * 10_000).unwrap();
        let mut state = RiskState::new(&limits(|_| {}), 1);
        let mut check = |percent: u32, seen: i64, expected: u32| {
            state.record_payout(SYMBOL, paid(percent), at(seen));
            assert_eq!(state.payout(SYMBOL, at(seen), Millis::ZERO), Some(paid(expected)));
        };
        check(80, 1_000, 80);
        check(70, 999, 80);
        check(60, 1_000, 60);
        check(90, 1_001, 90);
        let after = |wait: i64| state.payout(SYMBOL, at(1_001 + wait), at(60_000));
        assert_eq!([after(60_000), after(60_001)], [Some(paid(90)), None]);
        assert_eq!(state.payout(SYMBOL, Millis::MAX, Millis::ZERO), Some(paid(90)));
    }

    #[test]
    fn probe_ends_with_its_intent_or_a_payout() {
        let mut state = RiskState::new(&limits(|_| {}), 1);
        let [probe, other] = [1, 2].map(IntentId::new);
        state.begin_probe(SYMBOL, probe);
        state.end_probe(SYMBOL, other);
        assert_eq!(state.probing_intent(SYMBOL), Some(probe));
        state.end_probe(SYMBOL, probe);
        assert_eq!(state.probing_intent(SYMBOL), None);
        state.begin_probe(SYMBOL, other);
        state.record_payout(SYMBOL, Payout::from_parts(850_000).unwrap(), at(0));
        assert_eq!(state.probing_intent(SYMBOL), None);
    }

    #[test]
    fn later_symbols_are_added_without_losing_state() {
        let mut state = RiskState::new(&limits(|_| {}), 1);
        let (second, payout) = (SymbolId::new(1).unwrap(), Payout::from_parts(850_000).unwrap());
        state.begin_probe(SYMBOL, IntentId::new(1));
        state.record_payout(second, payout, at(0));
        assert_eq!(state.payout(second, at(0), Millis::ZERO), None);
        state.ensure_symbols(2);
        state.record_payout(second, payout, at(0));
        state.ensure_symbols(1);
        assert_eq!(state.payout(second, at(0), Millis::ZERO), Some(payout));
        assert_eq!(state.probing_intent(SYMBOL), Some(IntentId::new(1)));
    }
}
