//! A gate in front of a strategy: while closed, signals become virtual trades.

use super::virtual_trade::{Ending, VirtualTrade};
use super::written_gate::GatePlan;
use candlewick_sdk::{Candle, Direction, EndedSignal, Expiry, GateMove, GateView, Interval, Millis, Signal};
use candlewick_statistics::{GateDecision, GateStanding, TradeGate, TradeOutcome};
use std::collections::VecDeque;

pub(super) struct Gate {
    plan: GatePlan,
    rule: TradeGate,
    expiry: Expiry,
    interval: Millis,
    day_ends: Millis,
    under_way: VecDeque<Followed>,
    /// State before the signal of the last candle; `None` if that candle had no signal.
    before: Option<GateStanding>,
    moved: Option<GateMove>,
}

struct Followed {
    trade: VirtualTrade,
    decided: Millis,
    direction: Direction,
    decision: GateDecision,
}

impl Gate {
    pub(super) fn new(plan: GatePlan, expiry: Expiry, interval: Interval) -> Self {
        let rule = TradeGate::new(plan.rule).expect("a plan was checked when it was made");
        let (interval, day_ends) = (interval.length(), Millis::new(i64::MIN));
        Self { plan, rule, expiry, interval, day_ends, under_way: VecDeque::new(), before: None, moved: None }
    }

    pub(super) fn warmup(&self) -> usize {
        self.plan.warmup(self.interval)
    }

    /// Settles virtual trades that this candle prices. Must be called before the strategy's signal
    /// on the same candle.
    pub(super) fn on_candle(&mut self, candle: &Candle) {
        let close = candle.time() + self.interval;
        if let Some(day) = self.plan.day.filter(|_| close >= self.day_ends) {
            let (begins, ends) = day.day_of(close);
            self.moving((close, None), |rule| rule.on_day(begins.get()));
            self.day_ends = ends;
        }
        let mut place = 0;
        while place < self.under_way.len() {
            match self.under_way[place].trade.on_candle(candle, self.interval) {
                Ending::NotYet => place += 1,
                Ending::NoPrice => self.end(place, TradeOutcome::Cancelled, close),
                Ending::Ended(outcome) => self.end(place, outcome, close),
            }
        }
        self.before = None;
    }

    pub(super) fn take(&mut self, signal: Signal, at: Millis) -> Signal {
        let expiry = signal.expiry.unwrap_or(self.expiry);
        self.before = Some(self.rule.standing());
        let decision = self.moving((at, None), TradeGate::on_decided);
        let is_real = decision.is_real();
        let (direction, decided) = (signal.direction, at);
        let trade = VirtualTrade::new(direction, expiry, at);
        self.under_way.push_back(Followed { trade, decided, direction, decision });
        if is_real { signal } else { signal.as_virtual() }
    }

    pub(super) const fn is_closed(&self) -> bool {
        !self.rule.is_open()
    }

    pub(super) fn indicators(&self) -> [(&'static str, f64); 3] {
        let gate = self.stood();
        [
            ("gate.open", f64::from(u8::from(gate.is_open()))),
            ("gate.virtual_losses", f64::from(gate.virtual_losses())),
            ("gate.virtual_win_rate", gate.win_rate().unwrap_or(f64::NAN)),
        ]
    }

    pub(super) fn view(&self) -> GateView {
        let now = self.rule.standing();
        GateView {
            rule: now.rule().to_string(),
            history: self.warmup(),
            before: self.stood().to_string(),
            now: now.to_string(),
            moved: self.moved,
        }
    }

    fn stood(&self) -> GateStanding {
        self.before.unwrap_or_else(|| self.rule.standing())
    }

    fn end(&mut self, place: usize, outcome: TradeOutcome, at: Millis) {
        if let Some(Followed { decision, decided, direction, .. }) = self.under_way.remove(place) {
            let won = outcome == TradeOutcome::Won;
            let by = EndedSignal { decided, direction, won };
            self.moving((at, Some(by)), |rule| rule.on_ended(decision, outcome));
        }
    }

    fn moving<T>(
        &mut self,
        (at, by): (Millis, Option<EndedSignal>),
        tell: impl FnOnce(&mut TradeGate) -> T,
    ) -> T {
        let was_open = self.rule.is_open();
        let told = tell(&mut self.rule);
        let is_open = self.rule.is_open();
        if is_open != was_open {
            self.moved = Some(GateMove { at, is_open, by });
        }
        told
    }
}
