//! What a candle costs: the whole backtest beside a loop written by hand for this one strategy.
//!
//! Both trade Wilder's RSI over 14 on the same 1,000,000 one-minute candles and make the same trades, which is
//! held before anything is measured. The backtest asks every rule, keeps the trade book, hashes the journal and
//! sums up; the loop does nothing but trade. `cargo bench -p candlewick-backtest` ends with the ratio of the two.

#![allow(missing_docs, reason = "criterion's macros make the items")]

mod by_hand;

use candlewick_backtest::{Backtest, BacktestSettings, Summary};
use candlewick_engine::{BotSettings, JournalHash, RiskSettings, SessionSettings, StakeSettings};
use candlewick_history::{GenerateSettings, generate, known_market};
use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    Candle, CandleSeries, ExpirationType, Interval, Millis, MoneyScale, Series, Signal, Strategy, Symbol,
};
use candlewick_simulator::{Market, SimulationSettings};
use criterion::{Criterion, Throughput, criterion_group};
use std::hint::black_box;
use std::time::Duration;

const CANDLES: usize = 1_000_000;
const BALANCE: i64 = 1_000_000;
const STAKE: i64 = 10;
/// Both seeds of the index are forgotten by then, to the last bit that could decide.
const WARMUP: usize = 1_000;
const OVERSOLD: f64 = 30.0;
const OVERBOUGHT: f64 = 70.0;
/// How often both are run in turn for the ratio.
const ROUNDS: usize = 25;

/// Trades and the balance after them, in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Result {
    trades: u64,
    balance: i64,
}

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

fn candles() -> CandleSeries {
    let symbol = Symbol::new("BTCUSDT").expect("a sound name");
    let market = known_market(symbol).expect("it stands in the table");
    let days = CANDLES.div_ceil(24 * 60) as u32;
    let start = Millis::new(1_704_067_200_000); // 2024-01-01
    let made = generate(&GenerateSettings::of_market(symbol, market, start, days)).expect("a sound wish");
    let candles = made.candles()[..CANDLES].to_vec();
    CandleSeries::new(made.series(), candles).expect("a part of a series is one")
}

fn settings(series: Series) -> BacktestSettings {
    let bot = BotSettings {
        name: "rsi".to_owned(),
        symbol: series.symbol,
        asset_type: "crypto".to_owned(),
        interval: Interval::MINUTE,
        strategy: "rsi-extremes".to_owned(),
        close_type: "05:00".parse().expect("a code"),
        expiration_type: ExpirationType::TimeFixed,
        params: candlewick_sdk::serde_json::json!({}),
        stake: StakeSettings::Fixed { amount: Decimal::from(STAKE) },
    };
    // The usual limits; only the day's loss may be ten times as large, so that the trades of a day are not cut short.
    let risk = RiskSettings { daily_loss_limit: Decimal::from(1_000), ..RiskSettings::default() };
    BacktestSettings {
        session: SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(BALANCE),
            risk,
            bots: vec![bot],
        },
        simulation: SimulationSettings::default(),
        price_every_ms: Millis::from_seconds(5),
    }
}

/// The whole of a backtest but for reading files and printing, and how many signals it refused.
fn by_session(settings: &BacktestSettings, candles: &CandleSeries) -> (Result, u64) {
    let strategy = RsiExtremes { rsi: Rsi::new(14).expect("a sound period") };
    let market = Market { prices: candles.clone(), detail: None };
    let series = std::slice::from_ref(candles);
    let backtest = Backtest::new(settings, vec![Box::new(strategy)], &[false], series, vec![market])
        .expect("sound settings");
    let header = settings.header(vec![("rsi-extremes".to_owned(), "1.0.0".to_owned())], None);
    let mut hash = JournalHash::new();
    let finished = backtest.run(&header, &mut hash, &mut |_, _| {}).expect("a hash takes every entry");
    let start = settings.session.money_scale.exact(settings.session.balance).expect("a whole amount");
    let summary = Summary::of(&finished.book, start);
    black_box((hash.finish(), &summary));
    let result = Result { trades: summary.trades, balance: finished.final_balance.minor() };
    (result, summary.refused.values().sum())
}

fn both(criterion: &mut Criterion) {
    let candles = candles();
    let settings = settings(candles.series());
    let mut group = criterion.benchmark_group("rsi, 1,000,000 one-minute candles");
    group.throughput(Throughput::Elements(CANDLES as u64)).sample_size(20);
    group.measurement_time(Duration::from_secs(5));
    group.bench_function("backtest", |bencher| bencher.iter(|| by_session(&settings, &candles)));
    group.bench_function("by hand", |bencher| bencher.iter(|| by_hand::run(candles.candles())));
    group.finish();
}

/// Runs both in turn, so that whatever slows the machine slows both, and prints their best.
#[allow(clippy::print_stdout, reason = "the ratio is what this bench is for")]
fn print_ratio(candles: &CandleSeries, settings: &BacktestSettings) {
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        best[0] = best[0].min(time_of(|| by_session(settings, candles)));
        best[1] = best[1].min(time_of(|| by_hand::run(candles.candles())));
    }
    let [session, hand] = best.map(|time| time.as_secs_f64() * 1e9 / CANDLES as f64);
    println!("best of {ROUNDS} in turn: backtest {session:.2} ns, by hand {hand:.2} ns per candle");
    println!("ratio: {:.2}", session / hand);
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time; no event takes part")]
fn time_of<T>(run: impl Fn() -> T) -> Duration {
    let start = std::time::Instant::now();
    black_box(run());
    start.elapsed()
}

/// A bench of unequal work would say nothing.
#[allow(clippy::print_stdout, reason = "the ratio is what this bench is for")]
fn hold_equal(candles: &CandleSeries, settings: &BacktestSettings) {
    let ((session, refused), hand) = (by_session(settings, candles), by_hand::run(candles.candles()));
    assert_eq!(session, hand, "the two do not make the same trades");
    assert!(session.trades > CANDLES as u64 / 100, "too few trades to measure what a trade costs");
    let Result { trades, balance } = session;
    println!("both: {trades} trades, {balance} cents at the end; the backtest refused {refused} signals");
}

criterion_group!(benches, both);

fn main() {
    let candles = candles();
    let settings = settings(candles.series());
    hold_equal(&candles, &settings);
    benches();
    Criterion::default().configure_from_args().final_summary();
    print_ratio(&candles, &settings);
}
