//! Tests of lints with hand-checked conditions and with random candles.

use super::lint_conditions;
use crate::{NAME, Rule, count_conditions, entry};
use candlewick_sdk::testkit::{bot, random_walk};
use candlewick_sdk::{Interval, Registry};
use proptest::prelude::*;
use serde_json::{Value, json};

fn params(buy: &str) -> Value {
    if buy.contains("(n)") || buy.contains(", n)") {
        return json!({ "buy": buy, "parameters": { "n": { "default": 20, "min": 1, "max": 50 } } });
    }
    json!({ "buy": buy })
}

fn findings(buy: &str) -> Vec<String> {
    lint_conditions(&Registry::default(), (NAME, &params(buy)), Interval::MINUTE).unwrap()
}

/// Returns on how many of `count` random candles a condition was true, and on how many it was evaluated.
fn held_count(buy: &str, count: usize) -> (u64, u64) {
    let registry = Registry::default().with_entry(entry()).unwrap();
    let params = params(buy);
    let held = count_conditions(&registry, (NAME, &params), &bot("BTCUSDT"), &random_walk(5, count)).unwrap();
    (held[0].true_candles, held[0].candles)
}

#[test]
fn reports_each_doubtful_condition_once_with_its_reason() {
    let percent = "the compared value is between 0 and 100";
    for (buy, part, reason) in [
        ("rsi(14) > 130", "`rsi(14) > 130` never holds", percent),
        ("rsi(14)[1] < 0", "`rsi(14)[1] < 0` never holds", percent),
        ("100 < stochastic(14, 3, 3).k@5m", "`100 < stochastic(14, 3, 3).k@5m` never holds", percent),
        ("adx(14).plus_di >= 100.5", "`adx(14).plus_di >= 100.5` never holds", percent),
        ("williams_r(14) > 20", "`williams_r(14) > 20` never holds", "between -100 and 0"),
        ("close > open and weekday() == 0", "`weekday() == 0` never holds", "between 1 and 7"),
        ("hour('UTC') == 24 or close > open", "`hour('UTC') == 24` never holds", "between 0 and 23"),
        ("crosses_above(rsi(14), 130)", "`crosses_above(rsi(14), 130)` never holds", percent),
        ("crosses_below(rsi(14), 0)", "`crosses_below(rsi(14), 0)` never holds", percent),
        ("crosses_below(100, rsi(14))", "`crosses_below(100, rsi(14))` never holds", percent),
        ("since(close > open, 5) > 5", "`since(close > open, 5) > 5` never holds", "between 0 and 5"),
        ("count(close > open, 5) > 5", "`count(close > open, 5) > 5` never holds", "between 0 and 5"),
        ("body() < 0", "`body() < 0` never holds", "the compared value is 0 or above"),
        ("close > open and rsi(14) >= 0", "`rsi(14) >= 0` always holds", percent),
        ("weekday() < 8 and close > open", "`weekday() < 8` always holds", "between 1 and 7"),
        ("hour() <= 16 and minute() <= 59", "`minute() <= 59` always holds", "between 0 and 59"),
        ("rsi(14) < 30 and (close > open and rsi( 14 ) > 70)", "`rsi(14) < 30` and `rsi( 14 ) > 70`", "`or`"),
        ("close > 5 and close < 5", "`close > 5` and `close < 5` never hold", "`or`"),
        ("weekday() == 1 and weekday() == 2", "`weekday() == 1` and `weekday() == 2` never hold", "`or`"),
        ("supertrend(10, 3) > 0", "`supertrend(10, 3) > 0` compares", "`supertrend(10, 3).trend`"),
        ("parabolic_sar(0.02, 0.2).stop == -1", "`parabolic_sar(0.02, 0.2).stop == -1` compares", ".trend`"),
        ("crosses_above(supertrend(10, 3), 0)", "`crosses_above(supertrend(10, 3), 0)` compares", ".trend`"),
        (
            "falling(ema(50)@15m, 1) and rsi(14) > 60",
            "`falling(ema(50)@15m, 1)` holds on at most one of 15 candles",
            "`falling(ema(50), 1)@15m`",
        ),
        ("rising(close@5m, 2) or rising(close@5m, 2)", "`rising(close@5m, 2)` never holds", "(close, 2)@5m"),
        ("change(close@5m) > 0", "`change(close@5m)` is 0 on all but one of 5 candles", "`change(close)@5m`"),
        ("close > donchian(20).upper", "`close > donchian(20).upper` never", "`donchian(20).upper[1]`"),
        ("donchian(20).upper < close", "`donchian(20).upper < close` never", "`donchian(20).upper[1]`"),
        ("close < donchian(20).lower", "`close < donchian(20).lower` never", "`donchian(20).lower[1]`"),
        ("donchian( 20 ).lower > typical", "`donchian( 20 ).lower > typical` never", "( 20 ).lower[1]`"),
        ("high > donchian(n).upper", "`high > donchian(n).upper` never", "`donchian(n).upper[1]`"),
        ("crosses_above(close, donchian(20).upper)", "`crosses_above(", "`donchian(20).upper[1]`"),
        ("crosses_below(donchian(20).upper, close)", "`crosses_below(", "`donchian(20).upper[1]`"),
        ("crosses_below(close, donchian(20).lower)", "`crosses_below(", "`donchian(20).lower[1]`"),
        ("close - donchian(20).upper > 0", "`close - donchian(20).upper > 0` never", ".upper[1]`"),
        ("0 < donchian(20).lower - close", "`0 < donchian(20).lower - close` never", ".lower[1]`"),
        ("not (close <= donchian(20).upper)", "`(close <= donchian(20).upper)` always", ".upper[1]`"),
        ("close[1] > donchian(20).upper[1]", "`close[1] > donchian(20).upper[1]` never", ".upper[2]`"),
        ("close[1] > donchian(20).upper", "`close[1] > donchian(20).upper` never", ".upper[2]`"),
        ("close@15m > donchian(20).upper@15m", "`close@15m > donchian(20).upper@15m`", ".upper[1]@15m`"),
        ("(close > donchian(20).upper)@15m", "`(close > donchian(20).upper)` never", ".upper[1]`"),
    ] {
        let found = findings(buy);
        let is_expected = matches!(&found[..], [text] if text.starts_with(part) && text.contains(reason));
        assert!(is_expected, "{buy}: {found:?}");
    }
}

#[test]
fn accepts_conditions_that_can_hold_and_fail() {
    for buy in [
        "crosses_above(rsi(14), 0) or crosses_below(rsi(14), 100)",
        "crosses_above(99.5, rsi(14)) or crosses_below(cci(20), 130)",
        "count(close > open, 5) > 4 and volume > 0 and since(close > open, 9) > 8",
        "supertrend(10, 3).trend > 0 and supertrend(10, 3) > 1.1 and close > parabolic_sar(0.02, 0.2)",
        "macd(12, 26, 9) > 0 and atr(14) > 0",
        "rsi(14) >= 100 or rsi(14) <= 0",
        "rsi(14) < 30 or rsi(14) > 70",
        "rsi(14)[1] < 30 and rsi(14) > 70",
        "rsi(14) > 30 and rsi(14) < 70 and rsi(7) < 20",
        "close >= 5 and close <= 5",
        "williams_r(14) > -20",
        "cci(20) > 130 and hour() != 24",
        "hour() >= 8 and hour() <= 17 and minute() < 30",
        "since(close > open, 5) <= 5 or (since(close > open) >= 0 and since(close > open, 5)[1] < 6)",
        "count(since(close > open, 5) < 3, 4) >= 0 and rsi(14, close / volume) >= 0",
        "(rsi(14) < 30 and close > open) or (rsi(14) > 70 and close < open)",
        // No lint applies here: five 1m candles are one 5m candle, and a parameter may be 5.
        "change(close@5m, 5) > 0 and falling(ema(50), 2)@15m and falling(close@1m, 2)",
        "change(close@5m, n) > 0",
        "crosses_above(close, ema(50)@15m) and close@15m > close@15m[1]",
        "close > donchian(20).upper[1] or close[1] > donchian(20).upper[2]",
        "close >= donchian(20).upper or donchian(20).lower >= low",
        "close > donchian(20).upper@15m or close@15m > donchian(20).upper",
        "close[20] > donchian(20).upper or close[1] > donchian(n).upper",
        "close < donchian(20).upper or close > donchian(20).middle",
        "ema(5) > donchian(20).upper or close > bollinger(20, 2).upper",
        "close - donchian(20).upper > -0.001",
    ] {
        assert_eq!(findings(buy), [""; 0], "{buy}");
    }
}

#[test]
fn suggested_channels_hold_on_random_candles_and_reported_ones_do_not() {
    for buy in [
        "close > donchian(20).upper",
        "crosses_below(close, donchian(5).lower)",
        "close[1] > donchian(20).upper",
        "0 < donchian(20).lower - close",
    ] {
        assert_eq!(held_count(buy, 4_000).0, 0, "{buy}");
    }
    let (held, candles) = held_count("typical <= donchian(20).upper", 4_000);
    assert_eq!(held, candles);
    assert!(held_count("close > donchian(20).upper[1]", 4_000).0 > 20);
    // Each candle opens at the previous close, so every close is part of two candles.
    assert!(held_count("close[4] > donchian(3).upper", 4_000).0 > 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn conditions_reported_as_contradictory_never_hold(
        value in prop::sample::select(vec!["rsi(3)", "stochastic(5, 3, 3).k", "williams_r(5)", "hour()", "close"]),
        signs in prop::array::uniform2(prop::sample::select(vec!["<", "<=", ">", ">=", "=="])),
        numbers in prop::array::uniform2(-3_i32..6),
    ) {
        let numbers = numbers.map(|number| number * 25);
        let buy = format!("{value} {} {} and {value} {} {}", signs[0], numbers[0], signs[1], numbers[1]);
        prop_assert!(Rule::parse(Some(&buy), None).is_ok());
        if findings(&buy).iter().any(|text| text.contains(" never hold")) {
            prop_assert_eq!(held_count(&buy, 600).0, 0, "{}", buy);
        }
    }

    #[test]
    fn comparisons_reported_as_constant_never_change(
        value in prop::sample::select(vec!["rsi(3)", "williams_r(5)", "hour()", "count(close > open, 3)", "since(close > open, 1)", "body()"]),
        sign in prop::sample::select(vec!["<", "<=", ">", ">=", "==", "crosses_above", "crosses_below"]),
        number in prop::sample::select(vec![-100, -1, 0, 1, 3, 4, 24, 50, 100, 101]),
    ) {
        let buy = match sign {
            "crosses_above" | "crosses_below" => format!("{sign}({value}, {number})"),
            sign => format!("{value} {sign} {number}"),
        };
        let (held, candles) = held_count(&buy, 600);
        match &findings(&buy)[..] {
            [] => {}
            [text] if text.contains(" always holds") => prop_assert_eq!(held, candles, "{}", buy),
            [text] => prop_assert!(text.contains(" never holds") && held == 0, "{}: {}", buy, text),
            more => prop_assert!(false, "{}: {:?}", buy, more),
        }
    }
}
