//! Twelve strategies, each once in Rust and once as a rule: the same trades, and the same results of a sweep.
//!
//! Five of them are written in Rust here, without a declaration: a sweep shows them every candle, and of the rule only what it declares.
#![allow(clippy::unwrap_used, missing_docs, reason = "what cannot be made or run fails its test")]

use candlewick_backtest::{Backtest, BacktestSettings, NullRecorder};
use candlewick_engine::{BotSettings, IntentState, RiskSettings, SessionSettings, StakeSettings};
use candlewick_history::{GenerateSettings, generate, known_market};
use candlewick_sdk::indicator::{Adx, Atr, Ema, SessionRange, ZScore};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    BotContext, BuildError, Candle, CandleSeries, CloseType, Direction, ExpirationType, Expiry, Interval,
    Millis, Money, MoneyScale, Outcome, Signal, Strategy, StrategyEntry, StrategyFactory, Symbol, parameters,
};
use candlewick_search::sweep::{
    DeclarationUse, Figures, Halving, Objective, Replay, Search, SearchSettings, SharedRunner, Space, Sweep,
    SweepEnd, SweepSettings, TrialJournal,
};
use candlewick_simulator::{Market, SimulationSettings};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// Monday, 2026-01-05.
const MONDAY: i64 = 1_767_571_200_000;

/// Minutes of so many days.
fn minutes(days: u32) -> CandleSeries {
    let symbol: Symbol = "BTCUSDT".parse().unwrap();
    let market = known_market(symbol).unwrap();
    generate(&GenerateSettings::of_market(symbol, market, Millis::new(MONDAY), days)).unwrap()
}

fn bot(strategy: &str, params: &Value) -> BotSettings {
    BotSettings {
        name: "btc".to_owned(),
        symbol: "BTCUSDT".parse().unwrap(),
        venue: std::collections::BTreeMap::new(),
        interval: Interval::MINUTE,
        strategy: strategy.to_owned(),
        close_type: "01:00".parse().unwrap(),
        expiration_type: ExpirationType::TimeFixed,
        params: params.clone(),
        stake: StakeSettings::default(),
    }
}

/// The usual rules but for those of money, so that all of the candles are traded.
fn settings(bot: BotSettings) -> BacktestSettings {
    let mut risk = serde_json::to_value(RiskSettings::default()).unwrap();
    for limit in ["daily_loss_limit", "max_trades_per_day", "max_drawdown_percent"] {
        risk[limit] = json!(0);
    }
    BacktestSettings {
        session: SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(100_000),
            risk: serde_json::from_value(risk).unwrap(),
            bots: vec![bot],
        },
        simulation: SimulationSettings::default(),
        price_every_ms: Millis::from_seconds(5),
    }
}

/// What of a trade must be the same.
#[derive(Debug, PartialEq)]
struct Trade {
    decided: Millis,
    direction: Direction,
    expiry: Expiry,
    opened: Option<(Millis, f64)>,
    closed: Option<(Millis, f64)>,
    outcome: Option<Outcome>,
    profit: Money,
}

fn trades(entry: &StrategyEntry, bot: BotSettings, candles: &CandleSeries) -> Vec<Trade> {
    let context = BotContext {
        bot: bot.name.clone(),
        symbol: bot.symbol,
        interval: bot.interval,
        expiry: bot.expiry(),
    };
    let strategy = entry.build(&bot.params, &context).unwrap();
    let settings = settings(bot);
    let market = Market { prices: candles.clone(), detail: Vec::new() };
    let own = [candles.clone()];
    let backtest = Backtest::new(&settings, vec![strategy], &[false], &own, vec![market]).unwrap();
    let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {}).unwrap();
    let settled = finished.book.rows().iter().filter(|row| row.state == IntentState::Settled);
    let trade = |row: &candlewick_engine::IntentRow| Trade {
        decided: row.approved.decision_time(),
        direction: row.approved.direction(),
        expiry: row.approved.expiry(),
        opened: row.open_time.zip(row.open_price),
        closed: row.close_time.zip(row.close_price),
        outcome: row.outcome,
        profit: row.profit,
    };
    settled.map(trade).collect()
}

/// The values of each set with its figures, in the order of a grid.
fn swept(
    entry: &StrategyEntry,
    bot: BotSettings,
    axes: &[&str],
    candles: &CandleSeries,
) -> Vec<(String, Figures)> {
    let axes: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
    let space = Space::new(entry, &bot, &axes, &[]).unwrap();
    let settings = settings(bot);
    let (candles, markets) =
        (vec![candles.clone()], vec![Market { prices: candles.clone(), detail: Vec::new() }]);
    let replay = Replay { settings: &settings, entry, space: &space, candles: &candles, markets: &markets };
    let runner = SharedRunner::new(replay, DeclarationUse::Trusted);
    let search = SearchSettings { search: Search::Grid, trials: 0, seed: 1 };
    let sweep = SweepSettings { search, objective: Objective::Edge, min_trades: 1, halving: Halving::NONE };
    let (balance, threads) = (Money::from_minor(10_000_000), NonZeroUsize::MIN);
    let job = Sweep { space: &space, settings: &sweep, runner: &runner, balance, threads };
    let folder = tempfile::tempdir().unwrap();
    let (mut journal, known) = TrialJournal::open(&folder.path().join("trials.jsonl"), &json!({})).unwrap();
    let SweepEnd::Done(rows) = job.run(&mut journal, known, &mut |_| ControlFlow::Continue(())).unwrap()
    else {
        panic!("nobody stopped it")
    };
    let row = |row: &candlewick_search::sweep::TrialRow| {
        let set = row.candidate.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        (set, row.figures().unwrap().clone())
    };
    rows.iter().map(row).collect()
}

fn file(name: &str) -> Value {
    json!({ "file": format!("{}/../../strategies/rules/{name}.toml", env!("CARGO_MANIFEST_DIR")) })
}

/// A rule that stands in the bot's parameters, each with its default.
fn written(buy: &str, sell: &str, parameters: &Value) -> Value {
    json!({ "buy": buy, "sell": sell, "parameters": parameters })
}

/// Holds a strategy in Rust and a rule to the same trades, and to the same sweep of the axes, which may have other names.
fn check<S: StrategyFactory>(params: &Value, (of_rust, of_rule): (&[&str], &[&str]), least: usize) {
    let rust = StrategyEntry::of::<S>();
    let rules = candlewick_rules::entry();
    let rule = rules.for_params(params).unwrap();
    let candles = minutes(8);
    let [by_rust, by_rule] = [(&rust, &json!({})), (&*rule, params)]
        .map(|(entry, params)| trades(entry, bot(&entry.name, params), &candles));
    for (rust, rule) in by_rust.iter().zip(&by_rule) {
        assert_eq!(rule, rust, "{}", S::NAME);
    }
    assert_eq!(by_rule.len(), by_rust.len(), "{}", S::NAME);
    assert!(by_rust.len() >= least, "{}: {} trades are too few to tell anything", S::NAME, by_rust.len());
    let candles = minutes(4);
    let by_rust = swept(&rust, bot(S::NAME, &json!({})), of_rust, &candles);
    let by_rule = swept(&rule, bot("rules", params), of_rule, &candles);
    assert!(by_rust.len() > 1 && by_rust.iter().any(|(_, figures)| figures.trades > 0), "{}", S::NAME);
    assert_eq!(by_rule, by_rust, "{}", S::NAME);
}

#[test]
fn seven_built_in_strategies_trade_and_are_swept_as_their_rules() {
    let same = |axes: &'static [&'static str]| (axes, axes);
    check::<rsi_reversal::RsiReversal>(
        &file("rsi-reversal"),
        same(&["period=3..8", "oversold=20,30", "overbought=65..75:5"]),
        300,
    );
    check::<bollinger_reversal::BollingerReversal>(
        &file("bollinger-reversal"),
        same(&["period=10..30:5", "deviations=1.5,2.0"]),
        300,
    );
    check::<donchian_breakout::DonchianBreakout>(
        &file("donchian-breakout"),
        same(&["period=5..20:5", "margin=0.0,0.1"]),
        300,
    );
    check::<macd_cross::MacdCross>(&file("macd-cross"), same(&["fast=5..9", "slow=26..28"]), 300);
    check::<ema_cross::EmaCross>(
        &written(
            "crosses_above(ema(fast), ema(slow))",
            "crosses_below(ema(fast), ema(slow))",
            &json!({ "fast": { "default": 9 }, "slow": { "default": 21 } }),
        ),
        same(&["fast=2..6", "slow=10..12", "close_type=01:00,03:00"]),
        300,
    );
    check::<stochastic_adx::StochasticAdx>(
        &file("stochastic-adx"),
        same(&["period=5..15:5", "trend=15.0,25.0,35.0"]),
        300,
    );
    check::<trend_filter::TrendFilter>(
        &file("higher-trend"),
        (
            &["trend_period=10,20", "period=4..7", "distance=10.0,20.0"],
            &["trend=10,20", "period=4..7", "distance=10.0,20.0"],
        ),
        300,
    );
}

#[test]
fn five_strategies_written_for_this_test_trade_and_are_swept_as_their_rules() {
    let same = |axes: &'static [&'static str]| (axes, axes);
    check::<EmaCrossAdx>(&file("ema-cross-adx"), same(&["fast=5..9", "trend=15.0,25.0"]), 50);
    check::<InsideBar>(&file("inside-bar-breakout"), same(&["size=0.0,0.5,1.0,2.0"]), 100);
    check::<InARow>(&file("three-in-a-row"), same(&["candles=2..5"]), 300);
    check::<SessionOpen>(&file("session-open"), same(&["close_type=01:00,05:00"]), 5);
    check::<Stretched>(
        &written(
            "z_score(period) < -distance and not (hour() >= 22)",
            "z_score(period) > distance and not (hour() >= 22)",
            &json!({ "period": { "default": 20 }, "distance": { "default": 2.0 } }),
        ),
        same(&["period=10..30:10", "distance=1.5,2.0"]),
        300,
    );
}

/// How two numbers stand to each other, as `crosses_above` compares them.
fn compare(one: f64, other: f64, close: f64) -> Ordering {
    let is_rounding = (one - other).abs() <= 1e-12 * other.abs().max(close);
    if is_rounding { Ordering::Equal } else { one.total_cmp(&other) }
}

/// A strategy of this name, its parameters and how it is built.
macro_rules! strategy {
    ($strategy:ident, $name:literal, $params:ident, $built:expr) => {
        impl StrategyFactory for $strategy {
            const NAME: &'static str = $name;
            const VERSION: &'static str = "1.0.0";
            const ABOUT: &'static str = "The same as a rule.";
            type Params = $params;

            fn build(params: $params, bot: &BotContext) -> Result<Self, BuildError> {
                let built: fn($params, &BotContext) -> Self = $built;
                Ok(built(params, bot))
            }
        }
    };
}

parameters! {
    pub struct CrossParams {
        fast: usize = 9, 2..=20;
        slow: usize = 21, 21..=60;
        trend: f64 = 25.0, 10.0..=50.0;
    }
}

struct EmaCrossAdx {
    fast: Ema,
    slow: Ema,
    adx: Adx,
    trend: f64,
    before: Option<Ordering>,
}

strategy!(EmaCrossAdx, "ema-cross-adx", CrossParams, |params, _| Self {
    fast: Ema::new(params.fast).unwrap(),
    slow: Ema::new(params.slow).unwrap(),
    adx: Adx::new(14).unwrap(),
    trend: params.trend,
    before: None,
});

impl Strategy for EmaCrossAdx {
    fn warmup(&self) -> usize {
        (self.slow.stable_after() + 1).max(self.adx.stable_after())
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let close = candle.close();
        let (fast, slow, adx) = (self.fast.update(close), self.slow.update(close), self.adx.update(candle));
        let now = fast.zip(slow).map(|(fast, slow)| compare(fast, slow, close));
        let before = std::mem::replace(&mut self.before, now);
        let (now, before) = now.zip(before)?;
        if now == before || adx?.adx <= self.trend {
            return None;
        }
        match now {
            Ordering::Greater => Some(Signal::buy("crossed above")),
            Ordering::Less => Some(Signal::sell("crossed below")),
            Ordering::Equal => None,
        }
    }
}

parameters! {
    pub struct InsideParams {
        size: f64 = 1.0, 0.0..=3.0;
    }
}

struct InsideBar {
    atr: Atr,
    size: f64,
    last: [Option<Candle>; 2],
}

strategy!(InsideBar, "inside-bar", InsideParams, |params, _| Self {
    atr: Atr::new(14).unwrap(),
    size: params.size,
    last: [None; 2],
});

impl Strategy for InsideBar {
    fn warmup(&self) -> usize {
        self.atr.stable_after()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let atr = self.atr.update(candle);
        let [inner, outer] = self.last;
        self.last = [Some(*candle), inner];
        let (inner, outer, atr) = (inner?, outer?, atr?);
        let is_inside = inner.high() < outer.high() && inner.low() > outer.low();
        if !is_inside || outer.high() - outer.low() <= self.size * atr {
            return None;
        }
        if candle.close() > outer.high() {
            return Some(Signal::buy("left above"));
        }
        (candle.close() < outer.low()).then(|| Signal::sell("left below"))
    }
}

parameters! {
    pub struct RowParams {
        candles: usize = 3, 2..=8;
    }
}

struct InARow {
    candles: usize,
    fell: usize,
    rose: usize,
}

strategy!(InARow, "in-a-row", RowParams, |params, _| Self { candles: params.candles, fell: 0, rose: 0 });

impl Strategy for InARow {
    fn warmup(&self) -> usize {
        self.candles
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let change = candle.close() - candle.open();
        self.fell = if change < 0.0 { self.fell + 1 } else { 0 };
        self.rose = if change > 0.0 { self.rose + 1 } else { 0 };
        if change.abs() <= 0.5 * (candle.high() - candle.low()) {
            return None;
        }
        if self.fell >= self.candles {
            return Some(Signal::buy("fell long enough"));
        }
        (self.rose >= self.candles).then(|| Signal::sell("rose long enough"))
    }
}

parameters! {
    pub struct NoParams {}
}

struct SessionOpen {
    range: SessionRange,
    interval: Interval,
    expiry: Expiry,
    above: Option<Ordering>,
    below: Option<Ordering>,
}

strategy!(SessionOpen, "session-open", NoParams, |_, bot| Self {
    range: SessionRange::new(Millis::HOUR * 8, Millis::MINUTE * 30).unwrap(),
    interval: bot.interval,
    expiry: Expiry { close_type: CloseType::new(Millis::MINUTE * 5).unwrap(), ..bot.expiry },
    above: None,
    below: None,
});

impl Strategy for SessionOpen {
    fn warmup(&self) -> usize {
        self.range.warmup(self.interval) + 1
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let range = self.range.update(candle);
        let at = |line: f64| compare(candle.close(), line, candle.close());
        let above = std::mem::replace(&mut self.above, range.map(|range| at(range.high)));
        let below = std::mem::replace(&mut self.below, range.map(|range| at(range.low)));
        let closes = candle.close_time(self.interval).get();
        let (minute, day) = (closes.rem_euclid(86_400_000) / 60_000, closes.div_euclid(86_400_000));
        // 1970-01-01 was a Thursday: the fourth day of a week.
        let weekday = (day + 3).rem_euclid(7) + 1;
        if !(511..720).contains(&minute) || weekday > 5 {
            return None;
        }
        let crossed = |now: Option<Ordering>, before: Option<Ordering>, to: Ordering| {
            now == Some(to) && before.is_some_and(|before| before != to)
        };
        if crossed(self.above, above, Ordering::Greater) {
            return Some(Signal::buy("left above").expiring(self.expiry));
        }
        crossed(self.below, below, Ordering::Less).then(|| Signal::sell("left below").expiring(self.expiry))
    }
}

parameters! {
    pub struct StretchedParams {
        period: usize = 20, 2..=500;
        distance: f64 = 2.0, 0.1..=5.0;
    }
}

struct Stretched {
    score: ZScore,
    distance: f64,
    interval: Interval,
}

strategy!(Stretched, "stretched", StretchedParams, |params, bot| Self {
    score: ZScore::new(params.period).unwrap(),
    distance: params.distance,
    interval: bot.interval,
});

impl Strategy for Stretched {
    fn warmup(&self) -> usize {
        self.score.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let score = self.score.update(candle.close())?;
        let hour = candle.close_time(self.interval).get().rem_euclid(86_400_000) / 3_600_000;
        if hour >= 22 {
            return None;
        }
        if score < -self.distance {
            return Some(Signal::buy("far below"));
        }
        (score > self.distance).then(|| Signal::sell("far above"))
    }
}
