//! The rules in `strategies/rules/` that a strategy in Rust says as well: both give the same signals at the same candles.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_sdk::testkit::{bot, random_walk, reverting, trending};
use candlewick_sdk::{Candle, Direction, Strategy, StrategyEntry, StrategyFactory};
use parts::{answers, check_valid};
use serde_json::{Value, json};

fn signals(strategy: Box<dyn Strategy>, candles: &[Candle]) -> Vec<(usize, Direction)> {
    let cold = strategy.warmup().saturating_sub(1);
    let given = answers(strategy, candles).into_iter().enumerate().skip(cold);
    given.filter_map(|(index, signal)| Some((index, signal?.direction))).collect()
}

fn path_of(file: &str) -> String {
    format!("{}/../../strategies/rules/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// A strategy in Rust and a file with these parameters, which both have.
fn check<S: StrategyFactory>(file: &str, rust: &Value, rule: &Value) {
    let mut params = rule.clone();
    params["file"] = json!(path_of(file));
    check_params::<S>(file, rust, &params);
}

fn check_params<S: StrategyFactory>(file: &str, rust: &Value, params: &Value) {
    let (rules, bot) = (candlewick_rules::entry(), bot("BTCUSDT"));
    for candles in [random_walk(3, 6_000), trending(4, 6_000), reverting(5, 6_000)] {
        let rust = StrategyEntry::of::<S>().build(rust, &bot).unwrap();
        let rule = rules.build(params, &bot).unwrap();
        assert_eq!(rule.warmup(), rust.warmup(), "{file}");
        let (by_rust, by_rule) = (signals(rust, &candles), signals(rule, &candles));
        assert!(by_rust.len() > 5, "{file}: {} signals", by_rust.len());
        assert_eq!(by_rule, by_rust, "{file}");
    }
}

#[test]
fn a_rule_signals_where_the_strategy_in_rust_does() {
    check::<rsi_reversal::RsiReversal>("rsi-reversal.toml", &json!({}), &json!({}));
    check::<rsi_reversal::RsiReversal>(
        "rsi-reversal.toml",
        &json!({ "period": 5, "oversold": 20.0, "overbought": 82.5 }),
        &json!({ "period": 5, "oversold": 20.0, "overbought": 82.5 }),
    );
    check::<bollinger_reversal::BollingerReversal>("bollinger-reversal.toml", &json!({}), &json!({}));
    check::<donchian_breakout::DonchianBreakout>("donchian-breakout.toml", &json!({}), &json!({}));
    check::<donchian_breakout::DonchianBreakout>(
        "donchian-breakout.toml",
        &json!({ "period": 7, "margin": 0.1 }),
        &json!({ "period": 7, "margin": 0.1 }),
    );
    check::<macd_cross::MacdCross>("macd-cross.toml", &json!({}), &json!({}));
    // The file asks for a trend as well.
    let crossing =
        json!({ "buy": "crosses_above(ema(9), ema(21))", "sell": "crosses_below(ema(9), ema(21))" });
    check_params::<ema_cross::EmaCross>("crossing", &json!({}), &crossing);
    check::<stochastic_adx::StochasticAdx>("stochastic-adx.toml", &json!({}), &json!({}));
    check::<trend_filter::TrendFilter>("higher-trend.toml", &json!({}), &json!({}));
}

#[test]
fn every_file_passes_what_every_strategy_must() {
    let files = std::fs::read_dir(path_of("")).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        check_valid(candlewick_rules::entry(), json!({ "file": file.to_str() }));
    }
}
