//! Walk-forward finds only planted edges, and no test data reaches the training.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

mod fixtures;

use candlewick_backtest::{BacktestSettings, NullRecorder};
use candlewick_engine::{IntentRow, judge};
use candlewick_history::{GenerateSettings, generate, known_market};
use candlewick_sdk::{
    BotContext, BuildError, Candle, CandleSeries, Millis, Money, Registry, Signal, Strategy, StrategyFactory,
    parameters,
};
use candlewick_search::sweep::{
    DEFAULT_BATCH, Figures, Halving, Objective, Replayer, Search, SearchSettings, Space, SweepSettings,
    TrialJournal,
};
use candlewick_search::walk_forward::{
    ChosenSet, Robustness, WalkForward, WalkForwardData, Window, WindowOutcome, WindowResult, WindowScheme,
    WindowSettings, join_tests,
};
use candlewick_simulator::{OpenRounding, SimulationSettings};
use candlewick_statistics::{EdgeTestPlan, Verdict};
use fixtures::{MONDAY, backtest, markets, no_limits};
use serde_json::json;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

parameters! {
    pub struct LeanParams {
        /// 1 bets on continuation, -1 on reversal; 0 never bets.
        lean: i64 = 0, -1..=1;
        every: usize = 2, 2..=5;
    }
}

/// Bets on the next candle by the direction of the last candle, which exploits a planted edge.
struct Lean(LeanParams);

impl Strategy for Lean {
    fn warmup(&self) -> usize {
        3
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let place = candle.time().get() / FIVE.get();
        if self.0.lean == 0 || place % self.0.every as i64 != 0 {
            return None;
        }
        let rose = candle.close() > candle.open();
        Some(if rose == (self.0.lean > 0) { Signal::buy("rises") } else { Signal::sell("falls") })
    }
}

impl StrategyFactory for Lean {
    const NAME: &'static str = "lean";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Bets on the next candle by the last one's direction.";
    type Params = LeanParams;

    fn build(params: LeanParams, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self(params))
    }
}

const FIVE: Millis = Millis::new(300_000);

fn market(regime: &str, seed: u64) -> CandleSeries {
    let symbol = "BTCUSDT".parse().unwrap();
    let usual = GenerateSettings::for_market(symbol, known_market(symbol).unwrap(), Millis::new(MONDAY), 40);
    let (interval, regime) = ("5m".parse().unwrap(), regime.parse().unwrap());
    generate(&GenerateSettings { interval, regime, seed, ..usual }).unwrap()
}

fn unlimited() -> BacktestSettings {
    let stake = json!({ "kind": "fixed", "amount": 10 });
    let bot = json!({ "strategy": "lean", "interval": "5m", "close_type": "05:00", "stake": stake });
    let mut settings = fixtures::settings(&bot, &no_limits(), 1_000_000);
    settings.simulation = SimulationSettings {
        latency_ms: Millis::from_seconds(2),
        settle_delay_ms: Millis::ZERO,
        open_rounding: OpenRounding::None,
        ..SimulationSettings::default()
    };
    settings
}

const BALANCE: Money = Money::from_minor(100_000_000);

/// A walk-forward with two weeks of training and four days of test.
struct Walk {
    candles: Vec<CandleSeries>,
    search: Search,
    threads: usize,
}

impl Walk {
    fn from_candles(candles: CandleSeries) -> Self {
        Self { candles: vec![candles], search: Search::Grid, threads: 2 }
    }

    fn with<T>(&self, look: impl FnOnce(&WalkForward<'_>, &[Window]) -> T) -> T {
        let registry = Registry::default().with::<Lean>().unwrap();
        let entry = registry.find("lean").unwrap();
        let settings = unlimited();
        let parameters = ["lean=-1..1", "every=2..5"].map(str::to_owned);
        let space = Space::new(entry, &settings.session.bots[0], &parameters, &[]).unwrap();
        let markets = markets(&self.candles[0]);
        let (settings, space, candles) = (&settings, &space, &self.candles);
        let whole = Replayer { settings, entry, space, candles, markets: &markets };
        let course = WalkForwardData { replay: whole, balance: BALANCE };
        let search = SearchSettings { search: self.search, trials: 6, seed: 3, batch: DEFAULT_BATCH };
        let sweep =
            SweepSettings { search, objective: Objective::Edge, min_trades: 30, halving: Halving::NONE };
        let layout = WindowSettings {
            scheme: WindowScheme::Rolling,
            train: Millis::DAY * 14,
            test: Millis::DAY * 4,
            gap: course.purge_gap(),
        };
        let windows = layout.windows(&course.span()).unwrap();
        let walk =
            WalkForward { data: course, sweep: &sweep, threads: NonZeroUsize::new(self.threads).unwrap() };
        look(&walk, &windows)
    }

    fn steps(&self) -> Vec<WindowResult> {
        self.with(|walk, windows| windows.iter().map(|window| step(walk, window)).collect())
    }
}

fn step(walk: &WalkForward<'_>, window: &Window) -> WindowResult {
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, known) = TrialJournal::open(&folder.path().join("trials.jsonl"), &json!({})).unwrap();
    match walk.run_window(window, &mut journal, known, &mut |_| ControlFlow::Continue(())).unwrap() {
        WindowOutcome::Done(step) => *step,
        WindowOutcome::Stopped => panic!("the run was not stopped"),
    }
}

fn chosen(step: &WindowResult) -> &ChosenSet {
    step.chosen.as_ref().unwrap()
}

fn choice(step: &WindowResult) -> (String, f64, Figures, Robustness, usize) {
    let ChosenSet { candidate, score, in_sample, robustness, .. } = chosen(step);
    (format!("{candidate:?}"), *score, in_sample.clone(), *robustness, step.scored_sets)
}

fn trades(step: &WindowResult) -> &[IntentRow] {
    chosen(step).test_result.book.rows()
}

#[test]
fn finds_planted_edge_in_every_window_and_the_joined_tests() {
    let steps = Walk::from_candles(market("edge:0.63:5m", 5)).steps();
    assert_eq!(steps.len(), 6);
    for step in &steps {
        assert_eq!((step.rows.len(), chosen(step).candidate[0].to_number()), (12, Some(1.0)));
        // The set without trades does not count.
        assert_eq!(step.scored_sets, 8);
    }
    let all = join_tests(&steps, BALANCE).unwrap();
    assert_eq!(judge(all.book.rows(), EdgeTestPlan::default()).verdict(), Verdict::EdgeShown);
    let pooled = Robustness::pool(steps.iter().map(|step| &chosen(step).robustness));
    // The neighbours of a trend-following set bet more or less often, or never.
    assert!(
        pooled.share_above_break_even().unwrap() > 0.4 && pooled.share_above_break_even().unwrap() < 0.8,
        "{pooled:?}"
    );
    // Neighbours that the search did not try are also run.
    let few = Walk { search: Search::Random, ..Walk::from_candles(market("edge:0.63:5m", 5)) }.steps();
    let both = steps.iter().zip(&few).map(|(one, other)| (chosen(one), chosen(other)));
    let alike: Vec<_> = both.filter(|(one, other)| one.candidate == other.candidate).collect();
    assert!(!alike.is_empty() && alike.iter().all(|(one, other)| one.robustness == other.robustness));
}

#[test]
fn finds_no_edge_in_noise_despite_good_training() {
    for seed in [1, 2, 3] {
        let all = join_tests(&Walk::from_candles(market("random-walk", seed)).steps(), BALANCE).unwrap();
        assert!(all.book.rows().len() > 1_000, "{} trades are too few to tell", all.book.rows().len());
        let verdict = judge(all.book.rows(), EdgeTestPlan::default()).verdict();
        assert_ne!(verdict, Verdict::EdgeShown, "seed {seed}");
    }
}

fn spliced(one: &CandleSeries, at: Millis, other: &CandleSeries) -> CandleSeries {
    let before = one.candles().iter().filter(|candle| candle.close_time(one.interval()) <= at);
    let after = other.candles().iter().filter(|candle| candle.close_time(one.interval()) > at);
    CandleSeries::new(one.series(), before.chain(after).copied().collect::<Vec<_>>()).unwrap()
}

#[test]
fn choice_of_a_window_ignores_later_candles() {
    let (true_market, other) = (market("mixed", 7), market("trend", 8));
    let whole = Walk::from_candles(true_market.clone()).steps();
    for (place, before) in whole.iter().enumerate() {
        let end = before.window.training.end;
        let later = Walk::from_candles(spliced(&true_market, end, &other));
        let step = later.with(|walk, windows| step(walk, &windows[place]));
        assert_eq!(choice(&step), choice(before), "window {place}");
        assert_ne!(trades(&step), trades(before), "window {place}: the test is of other candles");
        // Changed candles within the training do affect the result.
        let earlier = Walk::from_candles(spliced(&true_market, end - FIVE * 600, &other));
        let step = earlier.with(|walk, windows| self::step(walk, &windows[place]));
        assert_ne!(choice(&step).2, choice(before).2, "window {place}");
    }
}

#[test]
fn no_training_trade_is_open_at_the_first_test_decision() {
    for step in Walk::from_candles(market("mixed", 7)).steps() {
        let Window { training, test } = &step.window;
        // A latency of 2 s, rounding of 1 s, and five minutes, in whole candles.
        assert_eq!(test.start - training.end, FIVE * 2);
        let first = trades(&step).first().unwrap().approved.decision_time();
        let settled_at = |row: &IntentRow| row.settled_at.unwrap();
        let last_settled = trades(&step).iter().map(settled_at).max().unwrap();
        assert!(first > test.start && first <= test.start + FIVE * 6, "{first}");
        assert!(last_settled > test.end && last_settled <= test.end + FIVE * 2);
        assert!(trades(&step).iter().all(|row| row.approved.decision_time() <= test.end));
        // All trades settled, the last ones after the candles of the test.
        assert_eq!(chosen(&step).out_of_sample.unsettled, 0);
        let in_training = chosen(&step).in_sample.trades + chosen(&step).in_sample.unsettled;
        assert!(in_training > 500, "{in_training}");
    }
}

fn outcome(row: &IntentRow) -> impl PartialEq + std::fmt::Debug {
    let of = (row.approved.decision_time(), row.approved.direction(), row.approved.stake());
    (of, row.open_time, row.open_price, row.close_time, row.close_price, row.outcome, row.profit)
}

#[test]
fn test_equals_one_long_backtest_of_its_set() {
    let walk = Walk::from_candles(market("mixed", 7));
    let steps = walk.steps();
    let registry = Registry::default().with::<Lean>().unwrap();
    let mut several = std::collections::BTreeSet::new();
    for step in &steps {
        let [lean, every] = [0, 1].map(|place| chosen(step).candidate[place].to_json());
        several.insert(format!("{lean} {every}"));
        let mut settings = unlimited();
        settings.session.bots[0].params = json!({ "lean": lean, "every": every });
        let long = backtest(&settings, registry.find("lean").unwrap(), &walk.candles[0], &mut NullRecorder);
        let within = |row: &&IntentRow| {
            let decided = row.approved.decision_time();
            decided > step.window.test.start && decided <= step.window.test.end
        };
        let expected: Vec<_> = long.book.rows().iter().filter(within).map(outcome).collect();
        let found: Vec<_> = trades(step).iter().map(outcome).collect();
        assert!(expected.len() > 200 && found == expected, "{} trades, not {}", found.len(), expected.len());
    }
    assert!(several.len() > 1, "a market in which one set is always best shows little: {several:?}");
    let all = join_tests(&steps, BALANCE).unwrap();
    let numbers: Vec<u64> = all.book.rows().iter().map(|row| row.approved.intent().number()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let pnl: f64 = steps.iter().map(|step| chosen(step).out_of_sample.pnl).sum();
    let span = steps[0].window.test.start..steps[5].window.test.end;
    let figures = Figures::new(&all, BALANCE, &span);
    assert!((figures.pnl - pnl).abs() < 1e-6, "{} {pnl}", figures.pnl);
    assert_eq!(all.final_balance - BALANCE, all.book.rows().iter().map(|row| row.profit).sum());
}

#[test]
fn result_is_independent_of_threads() {
    let candles = market("mixed", 9);
    let one = Walk { threads: 1, ..Walk::from_candles(candles.clone()) }.steps();
    let three = Walk { threads: 3, ..Walk::from_candles(candles) }.steps();
    for (one, three) in one.iter().zip(&three) {
        assert_eq!((choice(one), trades(one)), (choice(three), trades(three)));
    }
}
