//! Rules with inlined indicators give the same signals as lists of steps.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

use candlewick_rules::Rule;
use candlewick_sdk::testkit::{extreme, mean_reverting, random_walk};
use candlewick_sdk::{Candle, CandleAnswer, CandleAnswers, Interval, Signal, Strategy};
use std::collections::BTreeMap;

type Answer = (Option<Signal>, Vec<(String, u64)>);

fn answers(strategy: &mut dyn Strategy, candles: &[Candle]) -> Vec<Answer> {
    candles.iter().map(|candle| (strategy.on_candle(candle), shown(strategy))).collect()
}

fn shown(strategy: &dyn Strategy) -> Vec<(String, u64)> {
    strategy.indicators().into_iter().map(|(name, value)| (name.to_owned(), value.to_bits())).collect()
}

fn check(buy: &str, sell: Option<&str>) {
    let rule = Rule::parse(Some(buy), sell).unwrap();
    let listed = rule.build(&BTreeMap::new(), Interval::MINUTE, None).unwrap();
    let candles: Vec<Candle> = [random_walk(3, 3_000), extreme(50), mean_reverting(5, 3_000)].concat();
    let mut quickest = listed.clone().into_optimized();
    assert_eq!(quickest.warmup(), listed.warmup(), "{buy}");
    assert_eq!(quickest.wants_settlements(), listed.wants_settlements(), "{buy}");
    let mut begun = listed.clone();
    let before = answers(&mut begun, &candles[..777]);
    let (listed, quickest) = (answers(&mut listed.clone(), &candles), answers(&mut *quickest, &candles));
    assert_eq!(
        [before, answers(&mut *begun.into_optimized(), &candles[777..])].concat(),
        listed,
        "{buy}: once begun"
    );
    let signals = listed.iter().filter(|(signal, _)| signal.is_some()).count();
    assert!(signals > 0 && signals < candles.len(), "{buy}: {signals} signals");
    for (place, (listed, quickest)) in listed.iter().zip(&quickest).enumerate() {
        assert_eq!(quickest, listed, "{buy} {sell:?}: candle {place}");
    }
    for seed in 1..=3 {
        check_together(&rule, &candles, &listed, seed);
    }
}

/// Feeds candles in random batches and one by one. Compares all signals, and numbers after each batch.
fn check_together(rule: &Rule, candles: &[Candle], listed: &[Answer], seed: u64) {
    let mut strategy = rule.build(&BTreeMap::new(), Interval::MINUTE, None).unwrap().into_optimized();
    let (mut at, mut random) = (0, seed);
    let (mut answers, mut given) = (CandleAnswers::default(), Vec::new());
    while at < candles.len() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = [1, 3, 5, 63, 64, 65, 200, 1_024][(random >> 33) as usize % 8].min(candles.len() - at);
        let most = 1 + (random >> 40) as usize % 9;
        // Overwrites earlier answers, as in a backtest.
        answers.clear();
        let shown = strategy.feed_until_limit(&candles[at..at + length], most, &mut answers);
        assert!(shown == length || answers.len() >= most, "it ended early at candle {at}");
        given.extend_from_slice(&answers);
        at += shown;
        assert_eq!(self::shown(&*strategy), listed[at - 1].1, "seed {seed}: after candle {}", at - 1);
    }
    // Joined series repeat times, so answers are compared by order.
    let expected = candles.iter().zip(listed).filter_map(|(candle, (signal, _))| {
        signal.clone().map(|signal| CandleAnswer { candle_time: candle.time(), signal })
    });
    assert_eq!(given, expected.collect::<Vec<_>>(), "seed {seed}");
}

#[test]
fn each_indicator_signals_like_the_step_list() {
    for line in [
        "sma(9)",
        "ema(9)",
        "wma(9)",
        "hull(9)",
        "sma(9, open)",
        "ema(4, high)",
        "bollinger(20, 2).lower",
        "bollinger(20, 2, low).upper",
        "donchian(20).upper[1]",
        "keltner(20, 10, 1.5).lower",
        "supertrend(10, 3)",
        "parabolic_sar(0.02, 0.2)",
        "heikin_ashi().close",
        "session_range(\"08:00\", \"08:30\").high",
        "pivots().r1",
    ] {
        check(&format!("close < {line}"), Some(&format!("close > {line} and high > low")));
        check(&format!("crosses_above(close, {line})"), Some(&format!("crosses_below(close, {line})")));
    }
    for (line, below, above) in [
        ("rsi(14)", "30", "70"),
        ("rsi(5, open)", "20", "80"),
        ("z_score(20)", "-2", "2"),
        ("cci(20)", "-100", "100"),
        ("williams_r(14)", "-80", "-20"),
        ("stochastic(14, 3, 3).k", "20", "80"),
        ("macd(12, 26, 9).histogram", "0", "0"),
        ("adx(14)", "20", "40"),
        ("atr(14) / atr(28)", "0.9", "1.1"),
    ] {
        check(&format!("{line} < {below}"), Some(&format!("{line} > {above}")));
        check(&format!("{line} <= {below} or close == open"), Some(&format!("not ({line} <= {above})")));
    }
}

#[test]
fn several_indicators_signal_like_the_step_list() {
    for (buy, sell) in [
        ("crosses_above(ema(9), ema(21))", "crosses_below(ema(9), ema(21))"),
        (
            "crosses_above(sma(9), sma(21)) and adx(14) > 20",
            "crosses_below(sma(9), sma(21)) and adx(14) > 20",
        ),
        ("rsi(7) < 50 and close > sma(50)", "rsi(7) > 50 and close < sma(50)"),
        ("rsi(7) < 50 and close > ema(50)", "rsi(7) > 50 and close < ema(50)"),
        ("stochastic(14, 3, 3).k < 30 and adx(14) < 30", "stochastic(14, 3, 3).k > 70 and adx(14) < 30"),
        // An average of an average does not read the candle directly.
        ("ema(9) > ema(5, ema(9))", "not (ema(9) > ema(5, ema(9)))"),
        ("ema(5, rsi(14)) < 40", "sma(3, ema(5, rsi(14))) > 60"),
        ("close[3] < close and range()[2] > range()", "close[1] > close[2] and close[4] > close[6]"),
        (
            "upper_wick() > 2 * body() and not (hour() >= 22)",
            "lower_wick() > max(body(), 0.1) and median < typical",
        ),
        (
            "hour('Europe/London') >= 8 and minute('Asia/Kolkata') < 45",
            "weekday('America/New_York') == 3 and hour('America/New_York') < 17",
        ),
        ("crosses_above(close, open)[1] or abs(close - open) > 1", "not crosses_below(high, close[2])"),
        ("count(close > open, 4) == 4", "count(close < open, 4) >= 4"),
        // A count is unknown until its whole window is known.
        ("count(close > sma(9), 5) < 2", "not (count(rsi(3) < 50, 4) > 0)"),
        ("count(close > sma(9), 64) > 40", "count(sma(9) > close, 65) > 40"),
        ("since(rsi(7) < 20, 5) < 5 and bullish()", "inside_bar()[1] and close < low[2]"),
    ] {
        check(buy, Some(sell));
        check(buy, None);
    }
}

#[test]
fn rule_too_large_for_inline_slots_signals_like_the_step_list() {
    let means: Vec<String> = (2..80).map(|period| format!("close > sma({period})")).collect();
    check(&means.join(" and "), Some(&means.join(" or ").replace('>', "<")));
}
