//! Sets and candles of the bench, and the implementations to compare.

#[path = "by_hand.rs"]
mod by_hand;
#[path = "../../tests/fixtures/mod.rs"]
mod fixtures;

use candlewick_backtest::BacktestSettings;
use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::{CandleSeries, Money, Registry, StrategyEntry};
use candlewick_search::sweep::{
    Candidate, DEFAULT_BATCH, DeclarationMode, Halving, Objective, Replayer, Search, SearchSettings, Setting,
    SharedRunner, Space, Sweep, SweepSettings, TrialRow,
};
use candlewick_simulator::Market;
use serde_json::json;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

pub(crate) const BALANCE_CENTS: i64 = 100_000_000;
pub(crate) const STAKE_CENTS: i64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Result {
    pub(crate) trades: u64,
    pub(crate) profit_cents: i64,
}

pub(crate) struct Set {
    pub(crate) period: usize,
    pub(crate) oversold: f64,
    pub(crate) overbought: f64,
    /// Number of first candles whose signals are suppressed.
    pub(crate) warmup: usize,
}

pub(crate) struct Fixture {
    settings: BacktestSettings,
    pub(crate) candles: Vec<CandleSeries>,
    markets: Vec<Market>,
    entry: StrategyEntry,
    space: Space,
}

impl Fixture {
    pub(crate) fn new(candles: usize, parameters: [&str; 3]) -> Self {
        let days = candles.div_ceil(24 * 60) as u32;
        let made = fixtures::minutes(1_704_067_200_000, days); // 2024-01-01
        let few = made.candles()[..candles].to_vec();
        let candles = CandleSeries::new(made.series(), few).expect("a part of a series is one");
        let settings = settings();
        let registry = Registry::default().with::<rsi_reversal::RsiReversal>().expect("its name is allowed");
        let entry = registry.find("rsi-reversal").expect("it was just added").clone();
        let parameters = parameters.map(str::to_owned);
        let bot = &settings.session.bots[0];
        let space = Space::new(&entry, bot, &parameters, &[]).expect("parameters that it has");
        let markets = fixtures::markets(&candles);
        Self { settings, candles: vec![candles], markets, entry, space }
    }

    pub(crate) fn sweep(&self, black_box: DeclarationMode, threads: usize) -> Vec<TrialRow> {
        let Self { settings, entry, space, candles, markets } = self;
        let runner = SharedRunner::new(Replayer { settings, entry, space, candles, markets }, black_box);
        let search = SearchSettings { search: Search::Grid, trials: 0, seed: 1, batch: DEFAULT_BATCH };
        let settings =
            SweepSettings { search, objective: Objective::Edge, min_trades: 30, halving: Halving::NONE };
        let threads = NonZeroUsize::new(threads).expect("one or two");
        let balance = Money::from_minor(BALANCE_CENTS);
        let job = Sweep { space, settings: &settings, runner: &runner, balance, threads };
        fixtures::swept(&job).expect("a sound sweep")
    }

    pub(crate) fn sets(&self) -> Vec<Set> {
        self.sweep_order().iter().map(set_of).collect()
    }

    /// Returns the candidates in grid order: the last axis varies fastest.
    fn sweep_order(&self) -> Vec<Candidate> {
        let lists: Vec<&[Setting]> =
            self.space.axes().iter().filter_map(|axis| axis.listed_values()).collect();
        let mut sets: Vec<Vec<Setting>> = vec![Vec::new()];
        for list in lists {
            let longer = |set: &Vec<Setting>| {
                let with = |setting: &Setting| [set.clone(), vec![setting.clone()]].concat();
                list.iter().map(with).collect::<Vec<_>>()
            };
            sets = sets.iter().flat_map(longer).collect();
        }
        sets.into_iter().map(Candidate::from).collect()
    }
}

fn set_of(candidate: &Candidate) -> Set {
    let number = |place: usize| candidate[place].to_number().expect("all are numbers");
    let period = number(0) as usize;
    let warmup = Rsi::new(period).expect("a sound period").warmup();
    Set { period, oversold: number(1), overbought: number(2), warmup }
}

fn settings() -> BacktestSettings {
    let stake = json!({ "kind": "fixed", "amount": STAKE_CENTS / 100 });
    let bot = json!({ "strategy": "rsi-reversal", "close_type": "05:00", "stake": stake });
    // The default limits, except for higher daily limits, because the hand-written loops have no days.
    let risk = json!({ "daily_loss_limit": 10_000, "max_trades_per_day": 1_440 });
    fixtures::settings(&bot, &risk, BALANCE_CENTS / 100)
}

pub(crate) fn results(rows: &[TrialRow]) -> Vec<Result> {
    let result = |row: &TrialRow| {
        let figures = row.figures().expect("no set is refused");
        Result { trades: figures.trades, profit_cents: (figures.pnl * 100.0).round() as i64 }
    };
    rows.iter().map(result).collect()
}

pub(crate) fn by_naive_loops(fixture: &Fixture, sets: &[Set]) -> Vec<Result> {
    sets.iter().map(|set| by_hand::naive(fixture.candles[0].candles(), set)).collect()
}

pub(crate) fn by_shared_series(fixture: &Fixture, sets: &[Set]) -> Vec<Result> {
    let candles = fixture.candles[0].candles();
    let of_period = |sets: &[Set]| {
        let series = by_hand::series(candles, &sets[0]);
        sets.iter().map(|set| by_hand::with_series(candles, set, &series)).collect::<Vec<_>>()
    };
    sets.chunk_by(|one, next| one.period == next.period).flat_map(of_period).collect()
}

pub(crate) fn by_lists(fixture: &Fixture, sets: &[Set]) -> Vec<Result> {
    let candles = fixture.candles[0].candles();
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
