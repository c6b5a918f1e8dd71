//! Alternating runs of a workload and its baseline, so that noise of the machine affects both.

use super::memory::{Held, Holding};
use candlewick_backtest::BacktestError;
use candlewick_backtest::bench::{Work, WorkKind};
use candlewick_broker::clock::Stopwatch;
use candlewick_history::HistoryError;
use serde::Serialize;
use std::hint::black_box;

/// A workload and its baseline, in nanoseconds per decision.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    pub work: String,
    pub bots: usize,
    /// Number of candles times the bots that decide on them.
    pub decisions: usize,
    pub trades: u64,
    pub refused: u64,
    pub backtest_ns: Spread,
    pub by_hand_ns: Spread,
    pub ratio: f64,
    pub ratio_of_minima: f64,
    /// Memory beyond the candles, `None` if the program does not count allocations.
    pub memory: Option<Held>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    pub median: f64,
    pub minimum: f64,
}

impl Spread {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let minimum = times.first().copied().unwrap_or(f64::NAN);
        Self { median: times.get(times.len() / 2).copied().unwrap_or(f64::NAN), minimum }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Make(#[from] HistoryError),
    #[error(transparent)]
    Run(#[from] BacktestError),
    /// The two made different trades, so comparing them is meaningless.
    #[error("the backtest and the loop by hand do not make the same trades")]
    Unequal,
}

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
