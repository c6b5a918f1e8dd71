//! Trials of a sweep have the trades of single backtests, whatever they share and whatever the rules are.
#![allow(clippy::unwrap_used, missing_docs, reason = "what cannot be made or run fails its test")]

mod fixtures;
mod trial_rules;

use candlewick_backtest::{BacktestResult, BacktestSettings};
use candlewick_engine::{IntentRow, IntentState, JournalHash};
use candlewick_sdk::{
    BotContext, BuildError, Candle, CandleSeries, Declaration, Interval, Millis, Money, Payout, Registry,
    Settlement, Signal, Strategy, StrategyEntry, StrategyFactory,
};
use candlewick_search::SearchError;
use candlewick_search::sweep::{
    Candidate, DEFAULT_BATCH, DeclarationMode, Figures, Halving, Objective, Replayer, Search, SearchSettings,
    SharedRunner, Space, Sweep, SweepSettings, TrialEnd, TrialRow, TrialRunner, TrialTrade,
};
use candlewick_simulator::{DrawRule, Market, OpenRounding, PathKind, RecordedLatency, SimulationSettings};
use fixtures::{MONDAY, backtest, markets, swept};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use trial_rules::rules;

/// Generates one-minute candles for some days, with one gap and some single missing candles.
fn minutes(days: u32) -> CandleSeries {
    let whole = fixtures::minutes(MONDAY, days);
    let is_there = |index: usize| !(900..927).contains(&index) && !index.is_multiple_of(397);
    let candles = whole.candles().iter().enumerate();
    let candles: Vec<Candle> = candles.filter(|(index, _)| is_there(*index)).map(|(_, c)| *c).collect();
    CandleSeries::new(whole.series(), candles).unwrap()
}

fn venue(number: u64) -> SimulationSettings {
    let usual = SimulationSettings::default();
    let now = SimulationSettings { latency_ms: Millis::ZERO, settle_delay_ms: Millis::ZERO, ..usual.clone() };
    match number % 5 {
        0 => SimulationSettings { open_rounding: OpenRounding::None, ..now },
        1 => now,
        2 => SimulationSettings {
            draw: DrawRule::Loss,
            path: PathKind::Open,
            payout_percent_by_symbol: [("BTCUSDT".parse().unwrap(), Payout::from_parts(911_111).unwrap())]
                .into(),
            ..usual
        },
        3 => SimulationSettings {
            latency_ms: Millis::new(61_000),
            settle_delay_ms: Millis::MINUTE * 7,
            ..usual
        },
        _ => {
            let samples_ms =
                [("BTCUSDT".parse().unwrap(), vec![Millis::new(300), Millis::new(2_900)])].into();
            SimulationSettings { recorded_latency: Some(RecordedLatency { seed: 1, samples_ms }), ..usual }
        }
    }
}

fn settled(rows: &[IntentRow]) -> Vec<TrialTrade> {
    let trade = |row: &IntentRow| TrialTrade {
        number: row.approved.intent().number(),
        direction: row.approved.direction(),
        expiry: row.approved.expiry(),
        stake: row.approved.stake(),
        decision_time: row.approved.decision_time(),
        open_time: row.open_time.unwrap(),
        close_time: row.close_time.unwrap(),
        settled_at: row.settled_at.unwrap(),
        outcome: row.outcome.unwrap(),
        profit: row.profit,
    };
    let mut trades: Vec<TrialTrade> =
        rows.iter().filter(|row| row.state == IntentState::Settled).map(trade).collect();
    trades.sort_by_key(|trade| (trade.settled_at, trade.close_time, trade.number));
    trades
}

struct Fixture<'a> {
    settings: BacktestSettings,
    entry: &'a StrategyEntry,
    space: Space,
    days: u32,
    candles: Vec<CandleSeries>,
    markets: Vec<Market>,
}

impl<'a> Fixture<'a> {
    fn new(entry: &'a StrategyEntry, rules: (&Value, &Value), parameters: &[&str], days: u32) -> Self {
        Self::delayed(entry, rules, parameters, (days, 0))
    }

    /// Like the plain bot, but with orders a few seconds after the decisions.
    fn delayed(
        entry: &'a StrategyEntry,
        (stake, risk): (&Value, &Value),
        parameters: &[&str],
        (days, delay_s): (u32, i64),
    ) -> Self {
        let bot = json!({ "strategy": entry.name, "stake": stake });
        let mut settings = fixtures::settings(&bot, risk, 10_000);
        settings.session.bots[0].entry_delay_s = delay_s;
        let parameters: Vec<String> = parameters.iter().map(|text| (*text).to_owned()).collect();
        let space = Space::new(entry, &settings.session.bots[0], &parameters, &[]).unwrap();
        let candles = vec![minutes(days)];
        let markets = markets(&candles[0]);
        Self { settings, entry, space, days, candles, markets }
    }

    fn shared(&self, black_box: DeclarationMode) -> SharedRunner<'_> {
        let Self { settings, entry, space, candles, markets, .. } = self;
        SharedRunner::new(Replayer { settings, entry, space, candles, markets }, black_box)
    }

    fn sweep(&self, runner: &dyn TrialRunner, trials: u64, seed: u64) -> Result<Vec<TrialRow>, SearchError> {
        let search = SearchSettings { search: Search::Random, trials, seed, batch: DEFAULT_BATCH };
        let settings =
            SweepSettings { search, objective: Objective::Edge, min_trades: 1, halving: Halving::NONE };
        let (space, balance) = (&self.space, Money::from_minor(1_000_000));
        let threads = NonZeroUsize::new(2).unwrap();
        swept(&Sweep { space, settings: &settings, runner, balance, threads })
    }

    fn alone(&self, candidate: &Candidate) -> BacktestResult {
        let mut settings = self.settings.clone();
        settings.session.bots = vec![self.space.bot_settings(candidate)];
        backtest(&settings, self.entry, &minutes(self.days), &mut JournalHash::new())
    }

    fn check(&self, black_box: DeclarationMode, trials: u64, seed: u64) -> usize {
        let shared = self.shared(black_box);
        let mut count = 0;
        for row in self.sweep(&shared, trials, seed).unwrap() {
            let case = || format!("{black_box:?} {:?} under {:?}", row.candidate, self.settings.session);
            let alone = self.alone(&row.candidate);
            let expected = settled(alone.book.rows());
            let found = shared.trades(&row.candidate, Millis::MAX).unwrap().unwrap();
            let difference = found.iter().zip(&expected).position(|(found, expected)| found != expected);
            if let Some(first) = difference {
                panic!("{}: {:?} instead of {:?}", case(), found[first], expected[first]);
            }
            assert_eq!(found.len(), expected.len(), "{}", case());
            let figures = Figures::new(&alone, Money::from_minor(1_000_000), &shared.span());
            assert_eq!(row.figures(), Some(&figures), "{}", case());
            count += found.len();
        }
        count
    }
}

const RSI: [&str; 4] =
    ["period=2..20", "oversold=5..45:0.5", "overbought=55..95", "close_type=01:00,02:00,05:00"];
const EMA: [&str; 4] = [
    "fast=1..9",
    "slow=10..30",
    "close_type=01:00,03:00",
    "expiration_type=TIME_FIXED,CANDLE_CLOSE,NEXT_CANDLE",
];

const STOCHASTIC_ADX: [&str; 4] =
    ["period=5..20", "trend=10..60", "adx_period=3..14", "close_type=01:00,02:00,05:00"];

fn registry() -> Registry {
    let entries = [
        StrategyEntry::from_factory::<rsi_reversal::RsiReversal>(),
        StrategyEntry::from_factory::<ema_cross::EmaCross>(),
        StrategyEntry::from_factory::<stochastic_adx::StochasticAdx>(),
        StrategyEntry::from_factory::<WronglyDeclared>(),
        StrategyEntry::from_factory::<OrderDependent>(),
    ];
    entries.into_iter().try_fold(Registry::default(), Registry::with_entry).unwrap()
}

#[test]
fn random_trials_equal_their_backtests_under_any_rules() {
    let registry = registry();
    let [rsi, ema, stochastic] =
        ["rsi-reversal", "ema-cross", "stochastic-adx"].map(|name| registry.find(name).unwrap());
    let mut trades = 0;
    for ((stake, risk), seed) in rules().iter().zip(1..) {
        let mut fixture = Fixture::new(rsi, (stake, risk), &RSI, 3);
        trades += fixture.check(DeclarationMode::Trusted, 2, seed);
        fixture.settings.simulation = venue(seed);
        trades += fixture.check(DeclarationMode::Trusted, 2, seed);
        trades += fixture.check(DeclarationMode::Ignored, 2, seed + 100);
        let fixture = Fixture::new(ema, (stake, risk), &EMA, 2);
        trades += fixture.check(DeclarationMode::Trusted, 2, seed);
        let fixture = Fixture::new(stochastic, (stake, risk), &STOCHASTIC_ADX, 2);
        trades += fixture.check(DeclarationMode::Trusted, 2, seed);
    }
    // 150 trials.
    assert!(trades > 5_000, "{trades} trades are too few to tell anything");
}

/// Immediate settlement requires trades that open with their signals, so a delayed bot runs in full.
#[test]
fn trial_of_delayed_bot_equals_its_backtest_under_any_rules() {
    let registry = registry();
    let (mut trades, mut moved, mut trials) = (0, 0, 0);
    for ((stake, risk), seed) in rules().iter().zip(1..) {
        for (name, parameters) in [("rsi-reversal", &RSI), ("ema-cross", &EMA)] {
            let entry = registry.find(name).unwrap();
            let delay_s = 1 + (seed * 23) as i64 % 59;
            let rows = |delay_s: i64, use_of: DeclarationMode| {
                let mut fixture = Fixture::delayed(entry, (stake, risk), parameters, (2, delay_s));
                fixture.settings.simulation = venue(seed);
                let rows = fixture.sweep(&fixture.shared(use_of), 2, seed).unwrap();
                (fixture, rows)
            };
            let (fixture, delayed) = rows(delay_s, DeclarationMode::Trusted);
            assert_eq!(delayed, rows(delay_s, DeclarationMode::Ignored).1, "seed {seed}");
            let at_once = rows(0, DeclarationMode::Trusted).1;
            for (row, at_once) in delayed.iter().zip(&at_once) {
                let alone = fixture.alone(&row.candidate);
                let figures = Figures::new(
                    &alone,
                    Money::from_minor(1_000_000),
                    &fixture.shared(DeclarationMode::Trusted).span(),
                );
                assert_eq!(row.figures(), Some(&figures), "seed {seed}, {delay_s} s: {:?}", row.candidate);
                trades += figures.trades;
                moved += usize::from(row.figures() != at_once.figures());
                trials += 1;
            }
        }
    }
    // If all trades opened with their signals, the delay would have no effect.
    assert!(trades > 2_000 && moved * 2 > trials, "{trades} trades, {moved} of {trials} moved");
}

#[test]
fn trials_share_an_earlier_end_and_stress() {
    let registry = registry();
    let entry = registry.find("rsi-reversal").unwrap();
    let mut fixture = Fixture::new(entry, (&rules()[0].0, &rules()[1].1), &RSI, 2);
    fixture.settings.simulation.stress = 0.5;
    fixture.check(DeclarationMode::Trusted, 3, 5);
    let shared = fixture.shared(DeclarationMode::Trusted);
    let replay = fixture.shared(DeclarationMode::Ignored);
    let until = Millis::new(MONDAY) + Millis::HOUR * 20;
    for row in fixture.sweep(&shared, 3, 9).unwrap() {
        let balance = Money::from_minor(1_000_000);
        let found = shared.measure(&row.candidate, until, balance).unwrap();
        assert_eq!(found, replay.measure(&row.candidate, until, balance).unwrap());
        assert!(matches!(&found, TrialEnd::Figures(figures) if figures.trades > 0), "{found:?}");
        assert_ne!(found, row.outcome);
    }
}

candlewick_sdk::parameters! {
    struct AttentiveParams {
        every: usize = 3, 1..=50;
        longer: bool = false;
    }
}

/// A strategy whose signals depend on all candles and on their order.
struct OrderDependent {
    params: AttentiveParams,
    longer: Vec<Interval>,
    state: u64,
}

impl OrderDependent {
    fn mix(&mut self, number: u64) {
        self.state = (self.state ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    }
}

impl Strategy for OrderDependent {
    fn warmup(&self) -> usize {
        20
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.mix(candle.close().to_bits());
        let signals = self.state.is_multiple_of(self.params.every as u64);
        signals.then(|| if self.state >> 32 & 1 == 0 { Signal::buy("even") } else { Signal::sell("odd") })
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_longer_candle(&mut self, _: Interval, candle: &Candle) {
        self.mix(candle.open().to_bits());
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        self.mix(settlement.profit.minor() as u64 ^ settlement.decision_time.get() as u64);
    }
}

impl StrategyFactory for OrderDependent {
    const NAME: &'static str = "order-dependent";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Its signals depend on everything that it was ever shown.";
    type Params = AttentiveParams;

    fn build(params: AttentiveParams, _bot: &BotContext) -> Result<Self, BuildError> {
        let five = "5m".parse().unwrap();
        let longer = if params.longer { vec![five] } else { Vec::new() };
        Ok(Self { params, longer, state: 1 })
    }
}

#[test]
fn strategy_gets_the_same_calls_in_trial_and_backtest() {
    let registry = registry();
    let entry = registry.find("order-dependent").unwrap();
    let mut trades = 0;
    for ((stake, risk), seed) in rules().iter().zip(1..) {
        for longer in ["longer=false", "longer=true"] {
            let parameters = ["every=1..40", longer, "close_type=01:00,02:00,05:00"];
            let mut fixture = Fixture::new(entry, (stake, risk), &parameters, 2);
            fixture.settings.simulation = venue(seed);
            trades += fixture.check(DeclarationMode::Trusted, 2, seed);
        }
    }
    assert!(trades > 4_000, "{trades} trades are too few to tell anything");
}

candlewick_sdk::parameters! {
    struct BoastfulParams {
        level: f64 = 30.0, 0.0..=100.0;
        /// Error added to the declared level.
        offset: f64 = 0.0, 0.0..=1.0;
        names: bool = true;
        period: usize = 5, 2..=50;
    }
}

struct WronglyDeclared {
    params: BoastfulParams,
    rsi: candlewick_sdk::indicator::Rsi,
}

impl Strategy for WronglyDeclared {
    fn warmup(&self) -> usize {
        self.rsi.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rsi = self.rsi.update(candle.close())?;
        (rsi < self.params.level).then(|| Signal::buy("low"))
    }
}

impl StrategyFactory for WronglyDeclared {
    const NAME: &'static str = "wrongly-declared";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Declares its signals, perhaps wrongly.";
    type Params = BoastfulParams;

    fn build(params: BoastfulParams, _bot: &BotContext) -> Result<Self, BuildError> {
        let rsi = candlewick_sdk::indicator::Rsi::new(params.period).unwrap();
        Ok(Self { params, rsi })
    }

    fn declaration(&self) -> Option<Declaration> {
        let mut rsi = self.rsi.clone();
        let numbers = [self.params.period as f64];
        let numbers: &[f64] = if self.params.names { &numbers } else { &[] };
        let mut declaration = Declaration::new();
        let series = declaration.add_series("rsi", numbers, move |candle| rsi.update(candle.close()));
        Some(declaration.buy_when([series.below(self.params.level - self.params.offset)]))
    }
}

#[test]
fn detects_wrong_declarations_and_duplicate_keys() {
    let registry = registry();
    let entry = registry.find("wrongly-declared").unwrap();
    let (stake, risk) = &rules()[1];
    for (parameters, problem) in [
        (&["level=20..40:10", "offset=0"][..], None),
        (&["level=20..40:10", "offset=0.5"], Some("differ from the trades of a full backtest")),
        (&["period=5,6", "level=30,40", "names=true"], None),
        (&["period=5,6", "level=30,40", "names=false"], Some("the key \"rsi\" is used for two series")),
    ] {
        let fixture = Fixture::new(entry, (stake, risk), parameters, 2);
        let shared = fixture.shared(DeclarationMode::Trusted);
        let check = |row: TrialRow| shared.verify_declaration(&row.candidate, Money::from_minor(1_000_000));
        let checked: Vec<_> = match fixture.sweep(&shared, 4, 1) {
            Ok(rows) => rows.into_iter().map(check).collect(),
            Err(error) => vec![Err(error)],
        };
        for caught in checked {
            let found = caught.err().map(|error| error.to_string());
            assert_eq!(found.is_some(), problem.is_some(), "{parameters:?}: {found:?}");
            assert!(found.unwrap_or_default().contains(problem.unwrap_or_default()), "{parameters:?}");
        }
    }
}
