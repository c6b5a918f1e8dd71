//! A gate before a strategy: while it is closed its signals are virtual trades, settled by the candles that follow, and none is traded.

use super::virtual_trade::{Ending, VirtualTrade};
use super::written_gate::GatePlan;
use candlewick_sdk::{Candle, Direction, EndedSignal, Expiry, GateMove, GateView, Interval, Millis, Signal};
use candlewick_statistics::{GateDecision, GateStanding, TradeGate, TradeOutcome};
use std::collections::VecDeque;

/// Watches every signal of a strategy as a virtual trade, and says which of them are traded.
pub(super) struct Gate {
    plan: GatePlan,
    rule: TradeGate,
    /// The expiry of signals that name none.
    expiry: Expiry,
    /// The length of the bot's candles.
    interval: Millis,
    /// When the day of the last candle ends, where the gate resets daily.
    day_ends: Millis,
    under_way: VecDeque<Followed>,
    /// How it stood before the signal of its last candle, where that gave one.
    before: Option<GateStanding>,
    /// When it last opened or closed, and by what.
    moved: Option<GateMove>,
}

/// A signal that is followed to its end.
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

    /// Candles that it wants to have seen beside its strategy's own.
    pub(super) fn warmup(&self) -> usize {
        self.plan.warmup(self.interval)
    }

    /// Settles what this candle has the prices of. To be called before the strategy's signal at it.
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

    /// Takes a signal given at the close of a candle: as it is where the gate is open, else as a virtual one.
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

    /// Whether its next signal would be a virtual one.
    pub(super) const fn is_closed(&self) -> bool {
        !self.rule.is_open()
    }

    /// What people are shown of it: how it stood when the last candle was answered.
    pub(super) fn indicators(&self) -> [(&'static str, f64); 3] {
        let gate = self.stood();
        [
            ("gate.open", f64::from(u8::from(gate.is_open()))),
            ("gate.virtual_losses", f64::from(gate.virtual_losses())),
            ("gate.virtual_win_rate", gate.win_rate().unwrap_or(f64::NAN)),
        ]
    }

    /// The same in words.
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

    /// Tells the gate something, and keeps what moved it where that did.
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
