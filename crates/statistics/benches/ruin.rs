//! Duration of the ruin calculation, which runs at startup for ladders and must not delay it.

use candlewick_statistics::{MAX_MONEY, RuinParameters, StakePlan, ruin};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn ruin_of_plans(criterion: &mut Criterion) {
    let most_stake = 1_000_000;
    let ladder = |factor, levels| StakePlan::Martingale { base: 1_000, factor, levels, most_stake, step: 1 };
    let soros = StakePlan::Soros { base: 1_000, wins: 3, most_stake: MAX_MONEY, step: 1 };
    for (name, plan, horizon_trades) in [
        ("flat, 1000 trades", StakePlan::Flat { stake: 1_000 }, 1_000),
        ("flat, 10000 trades", StakePlan::Flat { stake: 1_000 }, 10_000),
        ("share, 1000 trades", StakePlan::Share { fraction: 0.02, step: 1 }, 1_000),
        ("doubling, 6 levels, 1000 trades", ladder(2.0, 6), 1_000),
        ("doubling, 3 levels, 10000 trades", ladder(2.0, 3), 10_000),
        ("recovering all, 6 levels, 1000 trades", ladder(2.176, 6), 1_000),
        ("soros of 3 wins, 1000 trades", soros, 1_000),
    ] {
        let question = RuinParameters {
            balance: 200_000,
            minimum_stake: 100,
            win_probability: 1.0 / 1.85,
            payout_fraction: 0.85,
            draw_share: 0.0,
            horizon_trades,
        };
        criterion
            .bench_function(name, |bencher| bencher.iter(|| ruin(black_box(&question), black_box(&plan))));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = ruin_of_plans
}
criterion_main!(benches);
