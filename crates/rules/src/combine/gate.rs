//! A gate before a strategy: while it is closed its signals are virtual trades, settled by the candles that follow, and none is traded.

use super::written_gate::{GatePlan, Opens};
use candlewick_sdk::{Candle, Direction, ExpirationType, Expiry, Interval, Millis, Signal};
use candlewick_statistics::{EdgeTest, NotionalStake, TradeOutcome, Verdict};
use std::collections::VecDeque;

/// Within this much of a candle's end a `CANDLE_CLOSE` of 60 s or more belongs to the next candle (`domain 3`).
const CUTOFF: Millis = Millis::from_seconds(30);

/// Watches every signal of a strategy as a virtual trade, and says which of them are traded.
pub(super) struct Gate {
    plan: GatePlan,
    /// The expiry of signals that name none.
    expiry: Expiry,
    /// The length of the bot's candles.
    interval: Millis,
    under_way: VecDeque<VirtualTrade>,
    is_open: bool,
    /// Counts openings and closings: a trade belongs to the span in which it was decided.
    span: u64,
    /// Losses in a row among trades decided since the gate closed.
    streak: u32,
    /// Signals let pass since it opened, and how many of those have won, and lost in a row, by the candles.
    passed: u32,
    won: u32,
    lost: u32,
    /// Of the last virtual trades that were won or lost, which were won.
    recent: VecDeque<bool>,
    test: Option<EdgeTest>,
}

/// A signal as if it had been traded at the price of its moment.
struct VirtualTrade {
    direction: Direction,
    entry_at: Millis,
    exit_at: Millis,
    entry: Option<f64>,
    span: u64,
    stake: Option<NotionalStake>,
}

/// What a candle tells of a virtual trade.
enum Told {
    Nothing,
    /// It has no price at its entry or its exit, because candles are missing.
    NoPrice,
    Ended(TradeOutcome),
}

impl Gate {
    pub(super) fn new(plan: GatePlan, expiry: Expiry, interval: Interval) -> Self {
        let test = match plan.opens {
            Opens::VerdictShown { test, .. } => Some(EdgeTest::new(test)),
            Opens::AfterLosses(_) | Opens::WinRate { .. } => None,
        };
        Self {
            plan,
            expiry,
            interval: interval.length(),
            under_way: VecDeque::new(),
            is_open: false,
            span: 0,
            streak: 0,
            passed: 0,
            won: 0,
            lost: 0,
            recent: VecDeque::new(),
            test,
        }
    }

    /// Candles that it wants to have seen beside its strategy's own.
    pub(super) const fn warmup(&self) -> usize {
        self.plan.history
    }

    /// Settles what this candle has the prices of. To be called before the strategy's signal at it.
    pub(super) fn on_candle(&mut self, candle: &Candle) {
        let mut place = 0;
        while place < self.under_way.len() {
            match self.under_way[place].on_candle(candle, self.interval) {
                Told::Nothing => place += 1,
                Told::NoPrice => self.end(place, TradeOutcome::Cancelled),
                Told::Ended(outcome) => self.end(place, outcome),
            }
        }
    }

    /// Takes a signal given at the close of a candle: as it is where the gate is open, else as a virtual one.
    pub(super) fn take(&mut self, signal: Signal, at: Millis) -> Signal {
        let expiry = signal.expiry.unwrap_or(self.expiry);
        let (entry_at, exit_at) = times(expiry, at);
        let stake = match (&mut self.test, &self.plan.opens) {
            (Some(test), Opens::VerdictShown { payout, .. }) => test.on_open(*payout).ok(),
            _ => None,
        };
        let (direction, span) = (signal.direction, self.span);
        self.under_way.push_back(VirtualTrade { direction, entry_at, exit_at, entry: None, span, stake });
        if !self.is_open {
            return signal.as_virtual();
        }
        self.passed += 1;
        self.move_gate();
        signal
    }

    /// What people are shown of it.
    pub(super) fn indicators(&self) -> [(&'static str, f64); 3] {
        let won = self.recent.iter().filter(|won| **won).count() as f64;
        let rate = if self.recent.is_empty() { f64::NAN } else { won / self.recent.len() as f64 };
        [
            ("gate.open", f64::from(u8::from(self.is_open))),
            ("gate.virtual_losses", f64::from(self.streak)),
            ("gate.virtual_win_rate", rate),
        ]
    }

    fn end(&mut self, place: usize, outcome: TradeOutcome) {
        let Some(trade) = self.under_way.remove(place) else { return };
        if let (Some(test), Some(stake)) = (&mut self.test, trade.stake) {
            test.on_settled(stake, outcome);
        }
        let is_won = match outcome {
            TradeOutcome::Won => true,
            TradeOutcome::Lost => false,
            // Money came back: neither.
            TradeOutcome::Draw | TradeOutcome::Cancelled => return,
        };
        self.recent.push_back(is_won);
        while self.recent.len() > self.plan.remembers() {
            self.recent.pop_front();
        }
        if trade.span == self.span {
            match (self.is_open, is_won) {
                (true, true) => (self.won, self.lost) = (self.won + 1, 0),
                (true, false) => self.lost += 1,
                (false, true) => self.streak = 0,
                (false, false) => self.streak += 1,
            }
        }
        self.move_gate();
    }

    /// Opens or closes it where it is time to.
    fn move_gate(&mut self) {
        let reached = |count: u32, most: Option<u32>| most.is_some_and(|most| count >= most);
        let moves = if self.is_open {
            let plan = &self.plan;
            let is_over = reached(self.passed, plan.close_after_trades)
                || reached(self.lost, plan.close_after_losses)
                || reached(self.won, plan.close_after_wins);
            is_over || (matches!(plan.opens, Opens::WinRate { .. }) && !self.wants_open())
        } else {
            self.wants_open()
        };
        if moves {
            self.is_open = !self.is_open;
            self.span += 1;
            (self.streak, self.passed, self.won, self.lost) = (0, 0, 0, 0);
        }
    }

    fn wants_open(&self) -> bool {
        match self.plan.opens {
            Opens::AfterLosses(losses) => self.streak >= losses,
            Opens::WinRate { rate, over } => {
                let won = self.recent.iter().filter(|won| **won).count();
                self.recent.len() == over && won as f64 >= rate * over as f64 - 1e-9
            }
            Opens::VerdictShown { .. } => {
                self.test.as_ref().is_some_and(|test| test.verdict() == Verdict::EdgeShown)
            }
        }
    }
}

impl VirtualTrade {
    fn on_candle(&mut self, candle: &Candle, interval: Millis) -> Told {
        let (begin, end) = (candle.time(), candle.time() + interval);
        if self.entry.is_none() {
            if begin > self.entry_at {
                return Told::NoPrice;
            }
            if end <= self.entry_at {
                return Told::Nothing;
            }
            self.entry = Some(price(candle, self.entry_at, interval));
        }
        let Some(entry) = self.entry.filter(|_| end >= self.exit_at) else { return Told::Nothing };
        if begin >= self.exit_at {
            return Told::NoPrice;
        }
        let exit = price(candle, self.exit_at, interval);
        let up = match self.direction {
            Direction::Buy => exit - entry,
            Direction::Sell => entry - exit,
        };
        Told::Ended(if exit == entry {
            TradeOutcome::Draw
        } else if up > 0.0 {
            TradeOutcome::Won
        } else {
            TradeOutcome::Lost
        })
    }
}

/// The price at a moment of a candle, its ends included (`domain 3`, the path `linear`).
fn price(candle: &Candle, at: Millis, interval: Millis) -> f64 {
    let inside = at - candle.time();
    if inside == Millis::ZERO {
        candle.open()
    } else if inside == interval {
        candle.close()
    } else {
        candle.open() + (candle.close() - candle.open()) * inside.get() as f64 / interval.get() as f64
    }
}

/// When a trade decided at this moment opens and closes, without latency (`domain 3`).
fn times(expiry: Expiry, at: Millis) -> (Millis, Millis) {
    let duration = expiry.close_type.duration();
    let next = at.floor_to(duration) + duration;
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => (at, at + duration),
        ExpirationType::CandleClose => {
            let cutoff = if duration >= Millis::MINUTE { CUTOFF } else { Millis::ZERO };
            (at, if next - at <= cutoff { next + duration } else { next })
        }
        ExpirationType::NextCandle => (next, next + duration),
    }
}
