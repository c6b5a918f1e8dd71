//! End-to-end self-test on generated markets with a known edge.
//!
//! A bot trades generated candles through a session and the simulator, and the verdict must be
//! right as often as it promises. The null markets win exactly at the break-even rate. A random
//! walk is far below it, so a significance test that is broken in the usual way would pass there.

mod path;
mod promise;
mod test_market;
mod text;

use candlewick_broker::clock::Stopwatch;
use candlewick_statistics::{EdgeTestPlan, PathRange, StatisticsError, VerdictRates};
use path::PathOutcome;
use promise::PromiseResult;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;
pub use test_market::TestMarket;
pub use text::{document, text};

/// Simulated verdicts per path, from which the expected rate of right verdicts follows.
const TRIALS_PER_PATH: u64 = 10;

pub struct MarketResult {
    pub market: TestMarket,
    pub counts: Counts,
    pub kept: Vec<PromiseResult>,
    pub took: Duration,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub paths: u64,
    pub shown: u64,
    pub rejected: u64,
    pub won: u64,
    pub decided: u64,
    /// Rejected, cancelled or drawn trades; must be 0.
    pub other: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct SelftestPlan {
    pub seed: u64,
    pub paths: u64,
}

pub fn run_all(plan: SelftestPlan, progress: &mut dyn FnMut(u64, u64)) -> anyhow::Result<Vec<MarketResult>> {
    let markets = TestMarket::all();
    let total = plan.paths * markets.len() as u64;
    let mut tried = Vec::with_capacity(markets.len());
    for (number, market) in markets.into_iter().enumerate() {
        let (before, watch) = (plan.paths * number as u64, Stopwatch::start());
        // No two markets are made by the same chance.
        let plan = SelftestPlan { seed: plan.seed.wrapping_add((number as u64) << 32), ..plan };
        let counts = follow(&market, plan, &mut |done| progress(before + done, total))?;
        let trial = trial(&market, plan)?;
        let kept = promise::hold(&market, &counts, &trial, EdgeTestPlan::default());
        tried.push(MarketResult { market, counts, kept, took: watch.elapsed() });
    }
    Ok(tried)
}

/// The result does not depend on which core runs which path.
fn follow(market: &TestMarket, plan: SelftestPlan, progress: &mut dyn FnMut(u64)) -> anyhow::Result<Counts> {
    let (next, failure) = (AtomicU64::new(0), OnceLock::new());
    let (send, receive) = mpsc::channel::<PathOutcome>();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = Counts::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (send, next, failure) = (send.clone(), &next, &failure);
            scope.spawn(move || {
                while failure.get().is_none() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= plan.paths {
                        break;
                    }
                    match path::follow(market, plan.seed.wrapping_add(number)) {
                        // The other end listens until the last of these is gone.
                        Ok(outcome) => drop(send.send(outcome)),
                        Err(error) => drop(failure.set(error)),
                    }
                }
            });
        }
        drop(send);
        for outcome in receive {
            counts.add(outcome);
            progress(counts.paths);
        }
    });
    failure.into_inner().map_or(Ok(counts), Err)
}

fn trial(market: &TestMarket, plan: SelftestPlan) -> Result<VerdictRates, StatisticsError> {
    let range = PathRange {
        seed: plan.seed,
        first_path: 0,
        paths: plan.paths * TRIALS_PER_PATH,
        trades: market.trades(),
    };
    Ok(VerdictRates::simulate(EdgeTestPlan::default(), &market.stream()?, range))
}

impl Counts {
    fn add(&mut self, outcome: PathOutcome) {
        self.paths += 1;
        self.shown += u64::from(outcome.is_shown);
        self.rejected += u64::from(outcome.is_rejected);
        self.won += outcome.won;
        self.decided += outcome.decided;
        self.other += outcome.other;
    }

    pub fn win_rate(&self) -> f64 {
        self.won as f64 / self.decided.max(1) as f64
    }

    pub fn share(&self, count: u64) -> f64 {
        count as f64 / self.paths.max(1) as f64
    }
}
