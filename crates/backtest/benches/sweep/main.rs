//! What a trial of a sweep costs: 1,000 sets of Wilder's RSI over 100,000 one-minute candles, beside loops written by hand.
//!
//! All make the same trades, which is held before anything is measured. Ours go through a Session with every rule, the
//! simulated venue, exact money, the figures of each trial and the journal of trials; the loops do nothing but trade.
//!
//! `cargo bench -p candlewick-backtest --bench sweep` prints backtests per second on one core and on two, and the ratios.
//! `... --bench sweep -- NAME` runs only the ways that have it in their names.
//! `... --bench sweep -- --memory` runs 10,000 sets over 1,000,000 candles and prints the most memory that was held.

mod by_hand;

use candlewick_backtest::BacktestSettings;
use candlewick_backtest::sweep::{
    BlackBox, Candidate, Halving, Objective, Replay, Search, SearchSettings, Setting, Shared, Space, Sweep,
    SweepEnd, SweepSettings, TrialJournal, TrialRow, Wish,
};
use candlewick_engine::{BotSettings, RiskSettings, SessionSettings, StakeSettings};
use candlewick_history::{GenerateSettings, generate, known_market};
use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    CandleSeries, ExpirationType, Interval, Millis, Money, MoneyScale, Registry, Series, StrategyEntry,
    Symbol,
};
use candlewick_simulator::{Market, SimulationSettings};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;

const BALANCE_CENTS: i64 = 100_000_000;
const STAKE_CENTS: i64 = 1_000;
/// How often all are run in turn.
const ROUNDS: usize = 5;

/// Trades and what they earned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Result {
    trades: u64,
    profit_cents: i64,
}

/// One set of parameters.
struct Set {
    period: usize,
    oversold: f64,
    overbought: f64,
    /// Signals of candles before it are not heard.
    warmup: usize,
}

/// Everything that a sweep runs on.
struct Scene {
    settings: BacktestSettings,
    candles: Vec<CandleSeries>,
    markets: Vec<Market>,
    entry: StrategyEntry,
    space: Space,
}

impl Scene {
    fn new(candles: usize, parameters: [&str; 3]) -> Self {
        let symbol = Symbol::new("BTCUSDT").expect("a sound name");
        let market = known_market(symbol).expect("it stands in the table");
        let days = candles.div_ceil(24 * 60) as u32;
        let start = Millis::new(1_704_067_200_000); // 2024-01-01
        let made = generate(&GenerateSettings::of_market(symbol, market, start, days)).expect("a sound wish");
        let few = made.candles()[..candles].to_vec();
        let candles = CandleSeries::new(made.series(), few).expect("a part of a series is one");
        let settings = settings(candles.series());
        let registry = Registry::default().with::<rsi_reversal::RsiReversal>();
        let entry = registry.find("rsi-reversal").expect("it was just added").clone();
        let parameters = parameters.map(str::to_owned);
        let bot = &settings.session.bots[0];
        let space = Space::new(&entry, bot, &parameters, &[]).expect("parameters that it has");
        let markets = vec![Market { prices: candles.clone(), detail: Vec::new() }];
        Self { settings, candles: vec![candles], markets, entry, space }
    }

    fn sweep(&self, black_box: BlackBox, threads: usize) -> Vec<TrialRow> {
        let replay = Replay {
            settings: &self.settings,
            entry: &self.entry,
            space: &self.space,
            candles: &self.candles,
            markets: &self.markets,
        };
        let search = SearchSettings { search: Search::Grid, trials: 0, seed: 1 };
        let settings =
            SweepSettings { search, objective: Objective::Edge, min_trades: 30, halving: Halving::NONE };
        let job = Sweep {
            space: &self.space,
            settings: &settings,
            ground: &Shared::new(replay, black_box),
            balance: Money::from_minor(BALANCE_CENTS),
            threads: NonZeroUsize::new(threads).expect("one or two"),
        };
        let folder = tempfile::tempdir().expect("a folder for the journal");
        let path = folder.path().join("trials.jsonl");
        let (mut journal, known) =
            TrialJournal::open(&path, &candlewick_sdk::serde_json::json!({})).expect("a new journal");
        match job.run(&mut journal, known, &mut |_| Wish::GoOn).expect("a sound sweep") {
            SweepEnd::Done(rows) => rows,
            SweepEnd::Stopped => unreachable!("nobody stops it"),
        }
    }

    fn sets(&self) -> Vec<Set> {
        self.sweep_order().iter().map(set_of).collect()
    }

    /// The candidates in the order of the grid: the last turns fastest.
    fn sweep_order(&self) -> Vec<Candidate> {
        let lists: Vec<&[Setting]> = self.space.axes().iter().filter_map(|axis| axis.listed()).collect();
        let mut sets: Vec<Vec<Setting>> = vec![Vec::new()];
        for list in lists {
            let longer = |set: &Vec<Setting>| {
                let with = |setting: &Setting| [set.clone(), vec![setting.clone()]].concat();
                list.iter().map(with).collect::<Vec<_>>()
            };
            sets = sets.iter().flat_map(longer).collect();
        }
        sets.into_iter().map(Vec::into_boxed_slice).collect()
    }
}

fn set_of(candidate: &Candidate) -> Set {
    let number = |place: usize| candidate[place].to_number().expect("all are numbers");
    let period = number(0) as usize;
    let warmup = Rsi::new(period).expect("a sound period").stable_after();
    Set { period, oversold: number(1), overbought: number(2), warmup }
}

fn settings(series: Series) -> BacktestSettings {
    let bot = BotSettings {
        name: "rsi".to_owned(),
        symbol: series.symbol,
        asset_type: "crypto".to_owned(),
        interval: Interval::MINUTE,
        strategy: "rsi-reversal".to_owned(),
        close_type: "05:00".parse().expect("a code"),
        expiration_type: ExpirationType::TimeFixed,
        params: candlewick_sdk::serde_json::json!({}),
        stake: StakeSettings::Fixed { amount: Decimal::from(STAKE_CENTS / 100) },
    };
    // The usual limits; only a day may hold more trades and losses, since the loops by hand know no days.
    let risk = RiskSettings {
        daily_loss_limit: Decimal::from(10_000),
        max_trades_per_day: 1_440,
        ..RiskSettings::default()
    };
    BacktestSettings {
        session: SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(BALANCE_CENTS / 100),
            risk,
            bots: vec![bot],
        },
        simulation: SimulationSettings::default(),
        price_every_ms: Millis::from_seconds(5),
    }
}

fn results(rows: &[TrialRow]) -> Vec<Result> {
    let result = |row: &TrialRow| {
        let figures = row.figures().expect("no set is refused");
        Result { trades: figures.trades, profit_cents: (figures.pnl * 100.0).round() as i64 }
    };
    rows.iter().map(result).collect()
}

fn by_naive_loops(scene: &Scene, sets: &[Set]) -> Vec<Result> {
    sets.iter().map(|set| by_hand::naive(scene.candles[0].candles(), set)).collect()
}

fn by_shared_series(scene: &Scene, sets: &[Set]) -> Vec<Result> {
    let candles = scene.candles[0].candles();
    let of_period = |sets: &[Set]| {
        let series = by_hand::series(candles, &sets[0]);
        sets.iter().map(|set| by_hand::with_series(candles, set, &series)).collect::<Vec<_>>()
    };
    sets.chunk_by(|one, next| one.period == next.period).flat_map(of_period).collect()
}

fn by_lists(scene: &Scene, sets: &[Set]) -> Vec<Result> {
    let candles = scene.candles[0].candles();
    let of_period = |sets: &[Set]| {
        let series = by_hand::series(candles, &sets[0]);
        let (mut lows, mut highs) = (BTreeMap::new(), BTreeMap::new());
        for set in sets {
            let Set { oversold, overbought, .. } = *set;
            lows.entry(oversold.to_bits())
                .or_insert_with(|| by_hand::list(&series, |value| value < oversold));
            let beyond = || by_hand::list(&series, |value| value > overbought);
            highs.entry(overbought.to_bits()).or_insert_with(beyond);
        }
        let of_set = |set: &Set| {
            let (lows, highs) = (&lows[&set.oversold.to_bits()], &highs[&set.overbought.to_bits()]);
            by_hand::with_lists(candles, set, lows, highs)
        };
        sets.iter().map(of_set).collect::<Vec<_>>()
    };
    sets.chunk_by(|one, next| one.period == next.period).flat_map(of_period).collect()
}

/// Real time, and time on all processors together.
#[derive(Clone, Copy)]
struct Took {
    real: Duration,
    busy: Duration,
}

#[allow(clippy::disallowed_methods, reason = "a bench measures time; no event takes part")]
fn time_of<T>(run: impl Fn() -> T) -> Took {
    let (start, busy) = (std::time::Instant::now(), busy_so_far());
    black_box(run());
    Took { real: start.elapsed(), busy: busy_so_far().saturating_sub(busy) }
}

/// Processor time of this process: what others do on the machine is not in it.
fn busy_so_far() -> Duration {
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in brackets, may hold anything; user and system time stand 12 and 13 fields after it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u32>().ok());
    TICK * ticks.sum::<u32>()
}

#[allow(clippy::print_stdout, reason = "the table is what this bench is for")]
fn measure_speed(only: &str) {
    let scene = Scene::new(100_000, ["period=2..21", "oversold=12..30:2", "overbought=70..90:5"]);
    let sets = scene.sets();
    let ours = results(&scene.sweep(BlackBox::WhatIsNotDeclared, 1));
    for (name, others) in [
        ("black box", results(&scene.sweep(BlackBox::Everything, 1))),
        ("naive", by_naive_loops(&scene, &sets)),
        ("shared series", by_shared_series(&scene, &sets)),
        ("lists", by_lists(&scene, &sets)),
    ] {
        assert!(ours == others, "{name} does not make the same trades");
    }
    let trades: u64 = ours.iter().map(|result| result.trades).sum();
    println!("{} sets, {trades} trades, the same in all", sets.len());
    let ways: [(&str, &dyn Fn()); 7] = [
        ("by hand, naive", &|| drop(black_box(by_naive_loops(&scene, &sets)))),
        ("by hand, each index once", &|| drop(black_box(by_shared_series(&scene, &sets)))),
        ("by hand, lists of signals", &|| drop(black_box(by_lists(&scene, &sets)))),
        ("sweep, black box", &|| drop(black_box(scene.sweep(BlackBox::Everything, 1)))),
        ("sweep, declared", &|| drop(black_box(scene.sweep(BlackBox::WhatIsNotDeclared, 1)))),
        ("sweep, black box, two cores", &|| drop(black_box(scene.sweep(BlackBox::Everything, 2)))),
        ("sweep, declared, two cores", &|| drop(black_box(scene.sweep(BlackBox::WhatIsNotDeclared, 2)))),
    ];
    // One way alone can be looked at by a profiler.
    let ways: Vec<_> = ways.into_iter().filter(|(name, _)| name.contains(only)).collect();
    let mut best = [Took { real: Duration::MAX, busy: Duration::MAX }; 7];
    for _ in 0..ROUNDS {
        for ((_, run), best) in ways.iter().zip(&mut best) {
            let took = time_of(run);
            best.real = best.real.min(took.real);
            best.busy = best.busy.min(took.busy);
        }
    }
    let rate = |took: Duration| sets.len() as f64 / took.as_secs_f64();
    let Some(first) = best.first().copied() else { return };
    println!("{:<28} {:>9} {:>11} {:>16}", "", "per s", "per s busy", "x first (busy)");
    for ((name, _), took) in ways.iter().zip(&best) {
        let ratio = took.busy.as_secs_f64() / first.busy.as_secs_f64();
        println!("{name:<28} {:>9.0} {:>11.0} {ratio:>16.2}", rate(took.real), rate(took.busy));
    }
}

/// A field of this process's status, in bytes.
fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let kilobytes = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0
}

#[allow(clippy::print_stdout, reason = "the figure is what this bench is for")]
fn measure_memory() {
    const CANDLES: usize = 1_000_000;
    let scene = Scene::new(CANDLES, ["period=2..21", "oversold=11..30:1", "overbought=70..94:1"]);
    let data = (CANDLES * size_of::<candlewick_sdk::Candle>()) as f64;
    // The highest mark begins anew, so that making the candles does not count.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status("VmRSS");
    let rows = scene.sweep(BlackBox::WhatIsNotDeclared, 2);
    let most = status("VmHWM");
    println!("{} sets over {CANDLES} candles of {:.1} MB", rows.len(), data / 1e6);
    println!("held before {:.1} MB, at most {:.1} MB", before / 1e6, most / 1e6);
    println!("most, less what was held before besides the data: {:.2} x data", (most - before + data) / data);
}

fn main() {
    if std::env::args().any(|argument| argument == "--memory") {
        measure_memory();
    } else {
        let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
        measure_speed(&only.unwrap_or_default());
    }
}
