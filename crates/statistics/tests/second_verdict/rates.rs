//! The verdict errs no more often than promised, and not much less often.

use candlewick_statistics::{
    EdgeTest, EdgeTestPlan, PathBatch, StreamDependence, TradeOutcome, TradeStream, Verdict, VerdictRates,
};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

const DELTA: f64 = 0.2;

fn plan() -> EdgeTestPlan {
    EdgeTestPlan::new(0.05, 0.05, DELTA).expect("rates and an edge between 0 and 1")
}

/// Returns the verdict on consecutive trades at payout 100. Nearly all paths reach one.
fn verdict_of(path: u64, edge: f64) -> Verdict {
    const STEPS: f64 = (1_u64 << 53) as f64;
    let mut chance = ChaCha8Rng::seed_from_u64(77);
    chance.set_stream(path);
    let mut test = EdgeTest::new(plan());
    for _ in 0..500 {
        if test.is_final() {
            break;
        }
        let is_won = ((chance.next_u64() >> 11) as f64 / STEPS) < f64::midpoint(1.0, edge);
        let stake = test.on_open(1.0).expect("a payout");
        test.settle(stake, if is_won { TradeOutcome::Won } else { TradeOutcome::Lost }, 1.0);
    }
    test.verdict()
}

#[test]
fn error_rate_is_exhausted_on_sequential_trades() {
    const PATHS: u64 = 3_000;
    // At most 5 % plus two and a half standard errors.
    for (edge, wrong, least) in [(0.0, Verdict::EdgeShown, 0.036), (DELTA, Verdict::EdgeRejected, 0.03)] {
        let errors = (0..PATHS).filter(|path| verdict_of(*path, edge) == wrong).count();
        let share = errors as f64 / PATHS as f64;
        assert!((least..=0.06).contains(&share), "{wrong:?}: {share}");
    }
}

#[test]
fn dependent_trades_are_not_overly_conservative() {
    for (dependence, draws, least) in [
        (StreamDependence::SameTrade(3), 0.0, 0.02),
        (StreamDependence::Overlapping(2), 0.0, 0.02),
        (StreamDependence::Independent, 0.2, 0.03),
    ] {
        let stream = TradeStream::new(dependence, &[0.85], 0.0, draws).unwrap();
        let range = PathBatch { seed: 5, first_path: 0, paths: 2_000, trades: 1_200 };
        let shown = VerdictRates::simulate(plan(), &stream, range).edge_shown_share();
        assert!((least..=0.0646).contains(&shown), "{dependence:?}: {shown}");
    }
}
