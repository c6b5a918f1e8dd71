//! What a candle costs: the whole backtest beside a loop written by hand for this one strategy.
//!
//! `cargo bench -p candlewick-backtest --bench session` measures each in turn; `candlewick bench` prints the table of
//! ratios.

#![allow(missing_docs, reason = "criterion's macros make the items")]

use candlewick_backtest::bench::{Work, WorkKind};
use criterion::{Criterion, Throughput, criterion_group};
use std::time::Duration;

const CANDLES: usize = 1_000_000;

fn each(criterion: &mut Criterion) {
    for kind in WorkKind::ALL {
        let work = Work::new(kind, CANDLES).expect("so many candles can be made");
        let mut group = criterion.benchmark_group(kind.to_string());
        group.throughput(Throughput::Elements(work.decisions() as u64)).sample_size(10);
        group.measurement_time(Duration::from_secs(5));
        group.bench_function("backtest", |bencher| bencher.iter(|| work.run(&mut |_| {})));
        group.bench_function("by hand", |bencher| bencher.iter(|| work.run_by_hand()));
        group.finish();
    }
}

criterion_group!(benches, each);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
}
