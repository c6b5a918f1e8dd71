//! A work and its floor in turn, so that whatever slows the machine slows both.

use super::memory::{Held, Holding};
use candlewick_backtest::BacktestError;
use candlewick_backtest::bench::{Work, WorkKind};
use candlewick_broker::clock::Stopwatch;
use candlewick_history::HistoryError;
use serde::Serialize;
use std::hint::black_box;

/// A work beside its floor. Times are nanoseconds for each candle that a bot decides on.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// What was done.
    pub work: String,
    /// How many bots did it.
    pub bots: usize,
    /// Candles times the bots that decide on them.
    pub decisions: usize,
    /// Trades that were made.
    pub trades: u64,
    /// Signals that the backtest refused, each recorded and hashed.
    pub refused: u64,
    /// What the backtest took.
    pub backtest_ns: Spread,
    /// What the loop by hand took.
    pub by_hand_ns: Spread,
    /// Median by median.
    pub ratio: f64,
    /// Minimum by minimum.
    pub ratio_of_minima: f64,
    /// What the backtest held beyond its candles; nothing where the program does not count.
    pub memory: Option<Held>,
}

/// Times of several rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// The middle one.
    pub median: f64,
    /// The least.
    pub minimum: f64,
}

impl Spread {
    /// Of at least one time.
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let minimum = times.first().copied().unwrap_or(f64::NAN);
        Self { median: times.get(times.len() / 2).copied().unwrap_or(f64::NAN), minimum }
    }
}

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// So many candles cannot be made.
    #[error(transparent)]
    Make(#[from] HistoryError),
    /// The work cannot run.
    #[error(transparent)]
    Run(#[from] BacktestError),
    /// A comparison of unequal work would say nothing.
    #[error("the backtest and the loop by hand do not make the same trades")]
    Unequal,
}

/// So many rounds of a work over so many candles. `on_round` is called after each round.
///
/// # Errors
/// The candles cannot be made, or the two do not make the same trades.
pub fn measure(
    kind: WorkKind,
    candles: usize,
    rounds: usize,
    on_round: &mut dyn FnMut(),
) -> Result<Measured, MeasureError> {
    let work = Work::new(kind, candles)?;
    let mut holding = Holding::start();
    let (outcome, refused) = work.run(&mut |stage| holding.see(stage))?;
    if outcome != work.run_by_hand() {
        return Err(MeasureError::Unequal);
    }
    let decisions = work.decisions();
    let per_decision = |watch: &Stopwatch| watch.elapsed().as_secs_f64() * 1e9 / decisions.max(1) as f64;
    let (mut ours, mut floor) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    for _ in 0..rounds {
        let watch = Stopwatch::start();
        black_box(work.run(&mut |_| {})?);
        ours.push(per_decision(&watch));
        let watch = Stopwatch::start();
        black_box(work.run_by_hand());
        floor.push(per_decision(&watch));
        on_round();
    }
    let (ours, floor) = (Spread::of(ours), Spread::of(floor));
    Ok(Measured {
        work: kind.to_string(),
        bots: work.bots(),
        decisions,
        trades: outcome.trades,
        refused,
        backtest_ns: ours,
        by_hand_ns: floor,
        ratio: ours.median / floor.median,
        ratio_of_minima: ours.minimum / floor.minimum,
        memory: holding.of_bots(work.bots()),
    })
}
