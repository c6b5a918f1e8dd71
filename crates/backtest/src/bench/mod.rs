//! Work to measure a backtest by, and the same work in loops written by hand for nothing else: the floors.
//!
//! Each [`Work`] is run by [`Work::run`] through the whole of a backtest, and by [`Work::run_by_hand`] through its
//! floor. Both make the same trades, which whoever measures holds first.

mod by_hand;
mod crowd;
mod outcome;
mod work;

pub use crowd::Crowd;
pub use outcome::Outcome;
pub use work::{Stage, Work, WorkKind};

use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::{Candle, Direction, Signal, Strategy};

/// Both seeds of the index are forgotten by then, to the last bit that could decide.
const WARMUP: usize = 1_000;
const OVERSOLD: f64 = 30.0;
const OVERBOUGHT: f64 = 70.0;
/// So much that the usual drawdown limit is asked and never binds, however long the walk.
const BALANCE: i64 = 100_000_000;
const STAKE: i64 = 10;

/// The loop by hand of [`WorkKind::Single`] over other candles.
pub fn run_single_by_hand(candles: &[Candle]) -> Outcome {
    by_hand::single(candles)
}

/// Of the candles that close at an extreme of the index, those that signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signals {
    /// The first: the one that crosses the level.
    AtCrossings,
    /// Every one.
    AtExtremes,
}

/// Where the index closed.
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

/// What a signal says at either extreme.
const SIDES: [(Direction, &str, f64); 2] =
    [(Direction::Buy, "oversold", OVERSOLD), (Direction::Sell, "overbought", OVERBOUGHT)];

/// Buys below 30 and sells above 70 of Wilder's index.
struct RsiExtremes {
    rsi: Rsi,
    /// The extreme of the last candle, one bit for each, where the next one is no signal there.
    last: u8,
    /// Extremes that are remembered: both, or none where every candle of an extreme signals.
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
