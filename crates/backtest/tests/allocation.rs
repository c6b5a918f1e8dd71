//! The main loop of a backtest allocates memory only for its results.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

#[allow(dead_code, reason = "what backtests are tested with holds more than is needed here")]
#[path = "backtest/stage.rs"]
mod stage;

use candlewick_backtest::{Backtest, BacktestResult, BacktestSettings};
use candlewick_engine::{BotSettings, CooldownScope, Entry, JournalHash, Recorder, RiskSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{CandleSeries, Interval, Series, Strategy};
use candlewick_simulator::{Market, SimulationSettings};
use stage::Extremes;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

#[allow(
    unsafe_code,
    reason = "an allocator is unsafe by its trait; this one counts and hands on what it is asked"
)]
// SAFETY: every call is forwarded to the system allocator, and the counter does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.set(ASKED.get() + 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CANDLES: usize = 400_000;
/// Initial capacity of the trade book in rows: one per 32 candles.
const BOOK: usize = CANDLES / 32;

struct Everything(JournalHash);

impl Recorder for Everything {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        self.0.record(entry)
    }
}

fn settings(series: Series) -> BacktestSettings {
    let close_type = "05:00".parse().unwrap();
    let mut settings = stage::settings(vec![BotSettings { close_type, ..stage::bot("rsi", series) }]);
    settings.session.balance = Decimal::from(1_000_000);
    settings.session.risk.daily_loss_limit = Decimal::from(1_000);
    settings.simulation = SimulationSettings::default();
    settings
}

/// Runs a backtest and counts the allocations between progress reports.
fn asked_on_the_way(
    settings: &BacktestSettings,
    candles: &[CandleSeries],
    recorder: &mut dyn Recorder,
) -> (BacktestResult, Vec<u64>) {
    let bots = settings.session.bots.len();
    let strategy = |_| -> Box<dyn Strategy> { Box::new(Extremes::over(14)) };
    let strategies = (0..bots).map(strategy).collect();
    let market = |prices: &CandleSeries| Market { prices: prices.clone(), detail: Vec::new() };
    let markets = candles.iter().map(market).collect();
    let backtest = Backtest::new(settings, strategies, &vec![false; bots], candles, markets).unwrap();
    let mut marks = Vec::with_capacity(1_000);
    let mut progress = |_, _| marks.push(ASKED.get());
    let finished = backtest.run(&settings.header(Vec::new(), None), recorder, &mut progress).unwrap();
    assert!(finished.book.rows().len() > 1_000, "{} rows are too few", finished.book.rows().len());
    (finished, marks.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

fn walk(symbol: &str, interval: Interval, seed: u64) -> CandleSeries {
    let series = Series { symbol: symbol.parse().unwrap(), interval };
    CandleSeries::new(series, random_walk(seed, CANDLES)).unwrap()
}

#[test]
fn rules_bots_and_symbols_do_not_allocate_during_a_run() {
    let (btc, eth) = (walk("BTCUSDT", Interval::MINUTE, 1), walk("ETHUSDT", Interval::MINUTE, 2));
    let usual = settings(btc.series());
    let mut every_rule = usual.clone();
    every_rule.session.risk = RiskSettings {
        max_open_trades: 5,
        max_open_trades_per_symbol: 3,
        allow_opposite: true,
        allow_duplicate: true,
        max_trades_per_hour: 20,
        cooldown_after_loss_s: 60,
        cooldown_after_losses: 3,
        cooldown_after_losses_s: 600,
        cooldown_scope: CooldownScope::Symbol,
        min_payout_percent: 50.0,
        max_stake_percent: 50.0,
        ..usual.session.risk.clone()
    };
    let mut crowd = usual.clone();
    crowd.session.bots = [&btc, &btc, &eth, &eth]
        .iter()
        .enumerate()
        .map(|(number, candles)| BotSettings {
            name: format!("rsi-{number}"),
            symbol: candles.symbol(),
            ..usual.session.bots[0].clone()
        })
        .collect();
    for (name, settings, candles) in [
        ("one bot", &usual, vec![btc.clone()]),
        ("every rule", &every_rule, vec![btc.clone()]),
        ("two bots on each of two symbols", &crowd, vec![btc.clone(), eth.clone()]),
    ] {
        let (_, asked) = asked_on_the_way(settings, &candles, &mut JournalHash::new());
        assert!(asked.iter().sum::<u64>() <= 2 && asked.len() > 6, "{name}: {asked:?}");
    }
}

#[test]
fn loop_allocates_only_to_grow_the_trade_book() {
    let btc = walk("BTCUSDT", Interval::MINUTE, 1);
    let settings = settings(btc.series());
    let (finished, asked) = asked_on_the_way(&settings, &[btc], &mut Everything(JournalHash::new()));
    let rows = finished.book.rows().len();
    let refusals: u64 = finished.book.refusal_counts().values().sum();
    assert!(rows > BOOK && refusals > 10_000, "{rows} rows and {refusals} refusals are too few to show it");
    let doublings = rows.div_ceil(BOOK).next_power_of_two().ilog2();
    assert_eq!(asked.iter().sum::<u64>(), u64::from(doublings), "{asked:?}");
}
