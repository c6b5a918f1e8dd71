//! Trade gate of a combination. While the gate is closed, signals become virtual trades.

use super::NAME;
use super::written_gate::{GateConfig, GatePlan};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Direction, ExpirationType, Expiry, GateSnapshot, GateTransition,
    Interval, LongerCandles, Millis, SettledSignal, Signal, StrategyEntry, compare_prices,
};
use candlewick_statistics::{GateDecision, GateRule, GateState, TradeGate, TradeOutcome};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::VecDeque;

pub(super) struct Gate {
    plan: GatePlan,
    rule: TradeGate,
    expiry: Expiry,
    interval: Millis,
    day_ends: Millis,
    pending: VecDeque<PendingTrade>,
    /// Gate state before the last candle's signal. `None` if the last candle had no signal.
    before: Option<GateState>,
    moved: Option<GateTransition>,
}

struct PendingTrade {
    trade: VirtualTrade,
    decided: Millis,
    direction: Direction,
    decision: GateDecision,
}

impl Gate {
    pub(super) fn new(plan: GatePlan, expiry: Expiry, interval: Interval) -> Self {
        let rule = TradeGate::new(plan.rule).expect("the plan is validated");
        let (interval, day_ends) = (interval.length(), Millis::new(i64::MIN));
        Self { plan, rule, expiry, interval, day_ends, pending: VecDeque::new(), before: None, moved: None }
    }

    pub(super) fn warmup(&self) -> usize {
        self.plan.warmup(self.interval)
    }

    /// Settles virtual trades that end on this candle. Call it before the strategy gets the candle.
    pub(super) fn on_candle(&mut self, candle: &Candle) {
        let close = candle.time() + self.interval;
        if let Some(day) = self.plan.daily_reset.filter(|_| close >= self.day_ends) {
            let (begins, ends) = day.day_bounds(close);
            self.update_rule((close, None), |rule| rule.set_day(begins.get()));
            self.day_ends = ends;
        }
        let mut place = 0;
        while place < self.pending.len() {
            match self.pending[place].trade.on_candle(candle, self.interval) {
                TradeStatus::Open => place += 1,
                TradeStatus::NoPrice => self.settle(place, TradeOutcome::Cancelled, close),
                TradeStatus::Ended(outcome) => self.settle(place, outcome, close),
            }
        }
        self.before = None;
    }

    pub(super) fn mark_signal(&mut self, signal: Signal, at: Millis) -> Signal {
        let expiry = signal.expiry.unwrap_or(self.expiry);
        self.before = Some(self.rule.gate_state());
        let decision = self.update_rule((at, None), TradeGate::on_decided);
        let is_real = decision.is_real();
        let (direction, decided) = (signal.direction, at);
        let trade = VirtualTrade::new(direction, expiry, at);
        self.pending.push_back(PendingTrade { trade, decided, direction, decision });
        if is_real { signal } else { signal.as_virtual() }
    }

    pub(super) const fn is_closed(&self) -> bool {
        !self.rule.is_open()
    }

    pub(super) fn indicators(&self) -> [(&'static str, f64); 3] {
        let gate = self.displayed_state();
        [
            ("gate.open", f64::from(u8::from(gate.is_open()))),
            ("gate.virtual_losses", f64::from(gate.virtual_losses())),
            ("gate.virtual_win_rate", gate.win_rate().unwrap_or(f64::NAN)),
        ]
    }

    pub(super) fn snapshot(&self) -> GateSnapshot {
        let now = self.rule.gate_state();
        GateSnapshot {
            rule: now.rule().to_string(),
            history: self.warmup(),
            before: self.displayed_state().to_string(),
            now: now.to_string(),
            moved: self.moved,
        }
    }

    fn displayed_state(&self) -> GateState {
        self.before.unwrap_or_else(|| self.rule.gate_state())
    }

    fn settle(&mut self, place: usize, outcome: TradeOutcome, at: Millis) {
        if let Some(PendingTrade { decision, decided, direction, .. }) = self.pending.remove(place) {
            let won = outcome == TradeOutcome::Won;
            let by = SettledSignal { decided, direction, won };
            self.update_rule((at, Some(by)), |rule| rule.on_ended(decision, outcome));
        }
    }

    fn update_rule<T>(
        &mut self,
        (at, by): (Millis, Option<SettledSignal>),
        apply: impl FnOnce(&mut TradeGate) -> T,
    ) -> T {
        let was_open = self.rule.is_open();
        let result = apply(&mut self.rule);
        let is_open = self.rule.is_open();
        if is_open != was_open {
            self.moved = Some(GateTransition { at, is_open, by });
        }
        result
    }
}

/// Time before the close in which a new `CANDLE_CLOSE` trade of 60 s or more ends a candle later (see `domain 3`).
const CANDLE_CLOSE_CUTOFF: Millis = Millis::from_seconds(30);

pub(super) struct VirtualTrade {
    direction: Direction,
    entry_at: Millis,
    exit_at: Millis,
    entry: Option<f64>,
}

pub(super) enum TradeStatus {
    Open,
    NoPrice,
    Ended(TradeOutcome),
}

impl VirtualTrade {
    pub(super) fn new(direction: Direction, expiry: Expiry, at: Millis) -> Self {
        let (entry_at, exit_at) = trade_times(expiry, at);
        Self { direction, entry_at, exit_at, entry: None }
    }

    pub(super) fn on_candle(&mut self, candle: &Candle, interval: Millis) -> TradeStatus {
        let (begin, end) = (candle.time(), candle.time() + interval);
        if self.entry.is_none() {
            if begin > self.entry_at {
                return TradeStatus::NoPrice;
            }
            if end <= self.entry_at {
                return TradeStatus::Open;
            }
            self.entry = Some(interpolate_price(candle, self.entry_at, interval));
        }
        let Some(entry) = self.entry.filter(|_| end >= self.exit_at) else { return TradeStatus::Open };
        if begin >= self.exit_at {
            return TradeStatus::NoPrice;
        }
        let exit = interpolate_price(candle, self.exit_at, interval);
        TradeStatus::Ended(match (compare_prices(exit, entry), self.direction) {
            (Ordering::Equal, _) => TradeOutcome::Draw,
            (Ordering::Greater, Direction::Buy) | (Ordering::Less, Direction::Sell) => TradeOutcome::Won,
            (Ordering::Greater, Direction::Sell) | (Ordering::Less, Direction::Buy) => TradeOutcome::Lost,
        })
    }
}

/// Interpolates the price at `at` linearly from the candle's open to its close (see `domain 3`, path `linear`).
fn interpolate_price(candle: &Candle, at: Millis, interval: Millis) -> f64 {
    let inside = at - candle.time();
    if inside == Millis::ZERO {
        candle.open()
    } else if inside == interval {
        candle.close()
    } else {
        candle.open() + (candle.close() - candle.open()) * inside.get() as f64 / interval.get() as f64
    }
}

/// Returns the open and close times of a trade for a signal at `at`, assuming no latency (see `domain 3`).
fn trade_times(expiry: Expiry, at: Millis) -> (Millis, Millis) {
    let duration = expiry.close_type.duration();
    let next = at.floor_to(duration) + duration;
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => (at, at + duration),
        ExpirationType::CandleClose => {
            let cutoff = if duration >= Millis::MINUTE { CANDLE_CLOSE_CUTOFF } else { Millis::ZERO };
            (at, if next - at <= cutoff { next + duration } else { next })
        }
        ExpirationType::NextCandle => (next, next + duration),
    }
}

#[derive(Clone, Debug)]
pub struct GateReplay {
    pub rule: GateRule,
    pub signals: Vec<ReplayedSignal>,
}

/// Signal with the outcome of its virtual trade. The trade ignores latency, money and risk limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedSignal {
    pub decided_at: Millis,
    pub settled_at: Millis,
    /// Start of the signal's day in Unix ms, or 0 if the gate does not reset daily.
    pub day: i64,
    /// Outcome of the virtual trade. `Cancelled` if candles are missing.
    pub outcome: TradeOutcome,
    pub is_real: bool,
}

/// Replays candles through a combination with a gate and returns its signals.
/// `None` for other strategies, and for combinations whose parts need settlements.
pub fn replay_gate(
    entry: &StrategyEntry,
    params: &Value,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Option<GateReplay>, BuildError> {
    if entry.name != NAME {
        return Ok(None);
    }
    let Some(gate) = GateConfig::parse(params)? else { return Ok(None) };
    let plan = gate.plan()?;
    let mut strategy = entry.build(params, bot)?;
    if strategy.wants_settlements() {
        return Ok(None);
    }
    let longer = LongerCandles::for_bot(bot, strategy.longer_intervals());
    let mut longer = longer.map_err(|error| super::entry::params_error(error.to_string()))?;
    let interval = bot.interval.length();
    let (mut signals, mut pending) = (Vec::new(), Vec::new());
    for candle in candles {
        let close = candle.time() + interval;
        pending.retain_mut(|(place, trade): &mut (usize, VirtualTrade)| {
            let outcome = match trade.on_candle(candle, interval) {
                TradeStatus::Open => return true,
                TradeStatus::NoPrice => TradeOutcome::Cancelled,
                TradeStatus::Ended(outcome) => outcome,
            };
            let signal: &mut (Millis, bool, Option<(Millis, TradeOutcome)>) = &mut signals[*place];
            signal.2 = Some((close, outcome));
            false
        });
        if let Some(signal) = longer.feed_candle(candle, &mut *strategy) {
            let expiry = signal.expiry.unwrap_or(bot.expiry);
            pending.push((signals.len(), VirtualTrade::new(signal.direction, expiry, close)));
            signals.push((close, !signal.is_virtual, None));
        }
    }
    let ended = signals.into_iter().filter_map(|(decided, is_real, end)| {
        let (known, outcome) = end?;
        let day = plan.daily_reset.map_or(0, |day| day.day_bounds(decided).0.get());
        Some(ReplayedSignal { decided_at: decided, settled_at: known, day, outcome, is_real })
    });
    Ok(Some(GateReplay { rule: plan.rule, signals: ended.collect() }))
}
