//! What the rules remember besides ledger and intents.

use super::{CooldownScope, Limits};
use crate::ledger::losses_after;
use crate::{IntentId, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use std::collections::VecDeque;

/// Trades of an hour before the list of them has to grow.
const USUAL_TRADES_PER_HOUR: usize = 1_024;

/// Folded from events; bounded by the number of symbols and the limits.
#[derive(Debug)]
pub(crate) struct RiskState {
    halted: bool,
    suspended: bool,
    skew: Millis,
    /// Decision times of the last 60 minutes' trades; only kept when they are limited.
    recent: VecDeque<Millis>,
    day_start: Millis,
    trades_today: u32,
    symbols: Vec<SymbolState>,
    /// When the cooldown of all ends.
    rested_at: Millis,
}

#[derive(Clone, Copy, Debug)]
struct SymbolState {
    rested_at: Millis,
    /// Losses in a row.
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
            recent: VecDeque::with_capacity(limits.max_trades_per_hour.min(USUAL_TRADES_PER_HOUR)),
            day_start: Millis::new(i64::MIN),
            trades_today: 0,
            symbols: vec![SymbolState::NEW; symbols],
            rested_at: Millis::new(i64::MIN),
        }
    }

    pub(super) const fn is_halted(&self) -> bool {
        self.halted || self.suspended
    }

    pub(super) const fn skew(&self) -> Millis {
        self.skew
    }

    pub(super) const fn trades_today(&self) -> u32 {
        self.trades_today
    }

    /// Trades decided after `since`.
    pub(super) fn trades_after(&self, since: Millis) -> usize {
        self.recent.iter().rev().take_while(|decided| **decided > since).count()
    }

    /// When opens on the symbol may begin again.
    pub(super) fn rested_at(&self, symbol: SymbolId) -> Millis {
        let own = self.symbols.get(symbol.index()).map_or(Millis::new(i64::MIN), |state| state.rested_at);
        own.max(self.rested_at)
    }

    /// The last known payout of the symbol, unless it is older than `max_age` (zero: never too old).
    pub(crate) fn payout(&self, symbol: SymbolId, now: Millis, max_age: Millis) -> Option<Payout> {
        let (payout, seen) = self.symbols.get(symbol.index())?.payout?;
        (max_age == Millis::ZERO || now - seen <= max_age).then_some(payout)
    }

    /// The trade that is finding out the symbol's payout.
    pub(super) fn probe(&self, symbol: SymbolId) -> Option<IntentId> {
        self.symbols.get(symbol.index())?.probe
    }

    /// Makes room for so many symbols.
    pub(crate) fn make_room(&mut self, symbols: usize) {
        if self.symbols.len() < symbols {
            self.symbols.resize(symbols, SymbolState::NEW);
        }
    }

    pub(crate) fn halt(&mut self) {
        self.halted = true;
    }

    /// A person resumed: opens are allowed, and losses in a row are counted from here.
    pub(crate) fn resume(&mut self) {
        self.halted = false;
        self.symbols.iter_mut().for_each(|symbol| symbol.losses = 0);
    }

    pub(crate) fn suspend(&mut self) {
        self.suspended = true;
    }

    pub(crate) fn go_on(&mut self) {
        self.suspended = false;
    }

    pub(crate) fn record_skew(&mut self, offset: Millis) {
        self.skew = offset;
    }

    pub(crate) fn open_day(&mut self, start: Millis) {
        self.day_start = start;
        self.trades_today = 0;
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

    /// An approved trade never came to be: it is not counted.
    pub(crate) fn uncount_trade(&mut self, decided: Millis) {
        if decided >= self.day_start {
            self.trades_today = self.trades_today.saturating_sub(1);
        }
        if let Some(position) = self.recent.iter().rposition(|time| *time == decided) {
            self.recent.remove(position);
        }
    }

    /// A trade that was not counted any more came to be after all.
    pub(crate) fn recount_trade(&mut self, limits: &Limits, decided: Millis) {
        if decided >= self.day_start {
            self.trades_today += 1;
        }
        if limits.max_trades_per_hour > 0 {
            let place = self.recent.partition_point(|time| *time <= decided);
            // It may be one more than the limit: none of the others is forgotten for it.
            self.recent.insert(place, decided);
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

    /// The symbol paid this at `at`; what is known of a later moment stays.
    pub(crate) fn record_payout(&mut self, symbol: SymbolId, payout: Payout, at: Millis) {
        let Some(state) = self.symbols.get_mut(symbol.index()) else { return };
        if state.payout.is_none_or(|(_, seen)| seen <= at) {
            state.payout = Some((payout, at));
            state.probe = None;
        }
    }

    /// A trade on the symbol ended.
    #[inline]
    pub(crate) fn count_outcome(&mut self, symbol: SymbolId, outcome: Outcome) {
        if let Some(state) = self.symbols.get_mut(symbol.index()) {
            state.losses = losses_after(state.losses, outcome);
        }
    }

    /// A loss, counted already, starts the cooldowns. `streak` is the number of losses in a row over all bots.
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
