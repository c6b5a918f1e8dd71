//! Twelve strategies have the same trades and sweep results in Rust and as rules.
//!
//! Five of them have no declaration in Rust. A sweep feeds them every candle, but the rules only candidates.
#![allow(clippy::unwrap_used, missing_docs, reason = "what cannot be made or run fails its test")]

mod five_strategies;
mod fixtures;

use candlewick_backtest::{BacktestSettings, NullRecorder};
use candlewick_engine::IntentState;
use candlewick_sdk::{CandleSeries, Direction, Expiry, Millis, Money, Outcome, StrategyEntry};
use candlewick_search::sweep::{
    DEFAULT_BATCH, DeclarationMode, Figures, Halving, Objective, Replayer, Search, SearchSettings,
    SharedRunner, Space, Sweep, SweepSettings,
};
use five_strategies::pairs;
use fixtures::{MONDAY, backtest, markets, minutes, no_limits};
use serde_json::{Value, json};
use std::num::NonZeroUsize;

fn settings(strategy: &str, params: &Value) -> BacktestSettings {
    fixtures::settings(&json!({ "strategy": strategy, "params": params }), &no_limits(), 100_000)
}

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

fn trades(entry: &StrategyEntry, params: &Value, candles: &CandleSeries) -> Vec<Trade> {
    let finished = backtest(&settings(&entry.name, params), entry, candles, &mut NullRecorder);
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

fn swept(
    entry: &StrategyEntry,
    params: &Value,
    axes: &[String],
    candles: &CandleSeries,
) -> Vec<(String, Figures)> {
    let settings = settings(&entry.name, params);
    let space = Space::new(entry, &settings.session.bots[0], axes, &[]).unwrap();
    let (markets, candles) = (markets(candles), std::slice::from_ref(candles));
    let replay = Replayer { settings: &settings, entry, space: &space, candles, markets: &markets };
    let runner = SharedRunner::new(replay, DeclarationMode::Trusted);
    let search = SearchSettings { search: Search::Grid, trials: 0, seed: 1, batch: DEFAULT_BATCH };
    let sweep = SweepSettings { search, objective: Objective::Edge, min_trades: 1, halving: Halving::NONE };
    let (balance, threads) = (Money::from_minor(10_000_000), NonZeroUsize::MIN);
    let job = Sweep { space: &space, settings: &sweep, runner: &runner, balance, threads };
    let rows = fixtures::swept(&job).unwrap();
    let row = |row: &candlewick_search::sweep::TrialRow| {
        let set = row.candidate.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        (set, row.figures().unwrap().clone())
    };
    rows.iter().map(row).collect()
}

fn check((rust, params): &(StrategyEntry, Value), axes: &[&str], least: usize) {
    let (name, rules) = (&rust.name, candlewick_rules::entry());
    let rule = rules.for_params(params).unwrap();
    let candles = minutes(MONDAY, 8);
    let (by_rust, by_rule) = (trades(rust, &json!({}), &candles), trades(&rule, params, &candles));
    for (rust, rule) in by_rust.iter().zip(&by_rule) {
        assert_eq!(rule, rust, "{name}");
    }
    assert_eq!(by_rule.len(), by_rust.len(), "{name}");
    assert!(by_rust.len() >= least, "{name}: {} trades are too few to tell anything", by_rust.len());
    let candles = minutes(MONDAY, 4);
    let of_rust: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
    // One parameter has a different name in the rule.
    let of_rule: Vec<String> = axes.iter().map(|axis| axis.replace("trend_period", "trend")).collect();
    let by_rust = swept(rust, &json!({}), &of_rust, &candles);
    let by_rule = swept(&rule, params, &of_rule, &candles);
    assert!(by_rust.len() > 1 && by_rust.iter().any(|(_, figures)| figures.trades > 0), "{name}");
    assert_eq!(by_rule, by_rust, "{name}");
}

#[test]
fn twelve_strategies_match_their_rules() {
    let axes: [(&[&str], usize); 12] = [
        (&["period=3..8", "oversold=20,30", "overbought=65..75:5"], 300),
        (&["period=10..30:5", "deviations=1.5,2.0"], 300),
        (&["period=5..20:5", "margin=0.0,0.1"], 300),
        (&["fast=5..9", "slow=26..28"], 300),
        (&["fast=2..6", "slow=10..12", "close_type=01:00,03:00"], 300),
        (&["period=5..15:5", "trend=15.0,25.0,35.0"], 300),
        (&["trend_period=10,20", "period=4..7", "distance=10.0,20.0"], 300),
        (&["fast=5..9", "trend=15.0,25.0"], 50),
        (&["size=0.0,0.5,1.0,2.0"], 100),
        (&["candles=2..5"], 300),
        (&["close_type=01:00,05:00"], 5),
        (&["period=10..30:10", "distance=1.5,2.0"], 300),
    ];
    for (pair, (axes, least)) in pairs().iter().zip(axes) {
        check(pair, axes, least);
    }
}
