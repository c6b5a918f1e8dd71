//! Work to measure a backtest by, and the same work in loops written by hand for nothing else: the floors.
//!
//! Each [`Work`] is run by [`Work::run`] through the whole of a backtest, and by [`Work::run_by_hand`] through its
//! floor. Both make the same trades, which whoever measures holds first.

mod by_hand;
mod work;

pub use work::{Outcome, Work, WorkKind};

use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::{Candle, Signal, Strategy};

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

/// Buys below 30 and sells above 70 of Wilder's index.
struct RsiExtremes {
    rsi: Rsi,
}

impl Strategy for RsiExtremes {
    fn warmup(&self) -> usize {
        WARMUP
    }

    #[inline]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rsi = self.rsi.update(candle.close())?;
        if rsi < OVERSOLD {
            Some(Signal::buy("oversold").with("rsi", rsi).with("level", OVERSOLD))
        } else if rsi > OVERBOUGHT {
            Some(Signal::sell("overbought").with("rsi", rsi).with("level", OVERBOUGHT))
        } else {
            None
        }
    }
}
