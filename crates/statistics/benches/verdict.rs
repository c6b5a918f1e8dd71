//! Cost of a verdict per trade, which a backtest pays for each of its trades.

use candlewick_statistics::{EdgeTest, EdgeTestPlan, TradeOutcome};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const TRADES: u32 = 1_000;

/// Wins 54 of 100 at payout 85, so that no verdict is reached within the benchmarked trades.
const fn outcome(trade: u32) -> TradeOutcome {
    if trade * 37 % 100 < 54 { TradeOutcome::Won } else { TradeOutcome::Lost }
}

fn verdict_of_trades(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("verdict");
    group.throughput(Throughput::Elements(TRADES.into()));
    group.bench_function("one after another", |bencher| {
        bencher.iter(|| {
            let mut test = EdgeTest::new(black_box(EdgeTestPlan::default()));
            for trade in 0..TRADES {
                let payout = black_box(0.85);
                if let Ok(stake) = test.on_open(payout) {
                    test.settle(stake, outcome(trade), payout);
                }
            }
            assert!(!test.is_final());
            test
        });
    });
    group.bench_function("two at once", |bencher| {
        bencher.iter(|| {
            let mut test = EdgeTest::new(black_box(EdgeTestPlan::default()));
            for trade in 0..TRADES / 2 {
                let payout = black_box(0.85);
                if let (Ok(first), Ok(second)) = (test.on_open(payout), test.on_open(payout)) {
                    test.settle(first, outcome(2 * trade), payout);
                    test.settle(second, outcome(2 * trade + 1), payout);
                }
            }
            assert!(!test.is_final());
            test
        });
    });
    group.finish();
}

criterion_group!(benches, verdict_of_trades);
criterion_main!(benches);
