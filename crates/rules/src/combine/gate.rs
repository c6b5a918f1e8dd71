//! A gate before a strategy: while it is closed its signals are virtual trades, settled by the candles that follow, and none is traded.

use super::virtual_trade::{Ending, VirtualTrade};
use super::written_gate::GatePlan;
use candlewick_sdk::{Candle, Expiry, Interval, Millis, Signal};
use candlewick_statistics::{GateDecision, TradeGate, TradeOutcome};
use std::collections::VecDeque;

/// Watches every signal of a strategy as a virtual trade, and says which of them are traded.
pub(super) struct Gate {
    plan: GatePlan,
    rule: TradeGate,
    /// The expiry of signals that name none.
    expiry: Expiry,
    /// The length of the bot's candles.
    interval: Millis,
    under_way: VecDeque<Followed>,
}

/// A signal that is followed to its end.
struct Followed {
    trade: VirtualTrade,
    decision: GateDecision,
}

impl Gate {
    pub(super) fn new(plan: GatePlan, expiry: Expiry, interval: Interval) -> Self {
        let rule = TradeGate::new(plan.rule).expect("a plan was checked when it was made");
        let interval = interval.length();
        Self { plan, rule, expiry, interval, under_way: VecDeque::new() }
    }

    /// Candles that it wants to have seen beside its strategy's own.
    pub(super) const fn warmup(&self) -> usize {
        self.plan.history
    }

    /// Settles what this candle has the prices of. To be called before the strategy's signal at it.
    pub(super) fn on_candle(&mut self, candle: &Candle) {
        let mut place = 0;
        while place < self.under_way.len() {
            match self.under_way[place].trade.on_candle(candle, self.interval) {
                Ending::NotYet => place += 1,
                Ending::NoPrice => self.end(place, TradeOutcome::Cancelled),
                Ending::Ended(outcome) => self.end(place, outcome),
            }
        }
    }

    /// Takes a signal given at the close of a candle: as it is where the gate is open, else as a virtual one.
    pub(super) fn take(&mut self, signal: Signal, at: Millis) -> Signal {
        let expiry = signal.expiry.unwrap_or(self.expiry);
        let decision = self.rule.on_decided();
        let is_real = decision.is_real();
        let trade = VirtualTrade::new(signal.direction, expiry, at);
        self.under_way.push_back(Followed { trade, decision });
        if is_real { signal } else { signal.as_virtual() }
    }

    /// Whether its next signal would be a virtual one.
    pub(super) const fn is_closed(&self) -> bool {
        !self.rule.is_open()
    }

    /// What people are shown of it.
    pub(super) fn indicators(&self) -> [(&'static str, f64); 3] {
        [
            ("gate.open", f64::from(u8::from(self.rule.is_open()))),
            ("gate.virtual_losses", f64::from(self.rule.virtual_losses())),
            ("gate.virtual_win_rate", self.rule.recent_win_rate().unwrap_or(f64::NAN)),
        ]
    }

    fn end(&mut self, place: usize, outcome: TradeOutcome) {
        if let Some(Followed { decision, .. }) = self.under_way.remove(place) {
            self.rule.on_ended(decision, outcome);
        }
    }
}
