//! Benchmark workloads, with hand-written loops for the same work as a lower bound.
//!
//! [`Work::run`] runs a [`Work`] through the whole backtest, [`Work::run_by_hand`] through the
//! loop. Both make the same trades; check that before measuring.

mod by_hand;
mod work;

pub use work::{Crowd, Outcome, Stage, Work, WorkKind};

use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::{Candle, Direction, Signal, Strategy};

/// After so many candles both seeds of the index are forgotten, to the last relevant bit.
const WARMUP: usize = 1_000;
const OVERSOLD: f64 = 30.0;
const OVERBOUGHT: f64 = 70.0;
/// High enough that the drawdown limit is checked but never reached.
const BALANCE: i64 = 100_000_000;
const STAKE: i64 = 10;

pub fn run_single_by_hand(candles: &[Candle]) -> Outcome {
    by_hand::single(candles)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    AtCrossings,
    AtExtremes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Oversold,
    Between,
    Overbought,
}

impl Zone {
    #[inline]
    fn of(rsi: f64) -> Self {
        if rsi < OVERSOLD {
            Self::Oversold
        } else if rsi > OVERBOUGHT {
            Self::Overbought
        } else {
            Self::Between
        }
    }
}

const SIDES: [(Direction, &str, f64); 2] =
    [(Direction::Buy, "oversold", OVERSOLD), (Direction::Sell, "overbought", OVERBOUGHT)];

struct RsiExtremes {
    rsi: Rsi,
    /// Extremes of the last candle that suppress a signal, one bit each.
    last: u8,
    /// Mask of `last`: both extremes, or none if every candle in an extreme signals.
    remembered: u8,
}

impl RsiExtremes {
    fn new(period: usize, signals: Signals) -> Self {
        let remembered = match signals {
            Signals::AtCrossings => 0b11,
            Signals::AtExtremes => 0,
        };
        Self { rsi: Rsi::new(period).expect("a sound period"), last: 0, remembered }
    }
}

impl Strategy for RsiExtremes {
    fn warmup(&self) -> usize {
        WARMUP
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    // A part of the loop over candles, so that the index stays in registers.
    #[allow(clippy::inline_always, reason = "left to itself the compiler calls it for each candle")]
    #[inline(always)]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rsi = self.rsi.update(candle.close())?;
        let extreme = u8::from(rsi < OVERSOLD) | u8::from(rsi > OVERBOUGHT) << 1;
        let new = extreme & !self.last;
        self.last = extreme & self.remembered;
        // One question that is nearly always answered alike, and which extreme it is none at all: see docs/performance.md.
        if new == 0 {
            return None;
        }
        let (direction, reason, level) = SIDES[usize::from(new >> 1) & 1];
        Some(Signal::new(direction, reason).with("rsi", rsi).with("level", level))
    }
}
