//! Tests of lints with hand-checked conditions and with random candles.

use super::lint_conditions;
use crate::{NAME, count_conditions, entry};
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
    // Backticks mark the parts that the finding quotes.
    for (effect, reason, conditions) in [
        ("never holds", "between 0 and 100", &["`rsi(14) > 130`", "`rsi(14)[1] < 0`"][..]),
        ("never holds", "between 0 and 100", &["`100 < stochastic(14, 3, 3).k@5m`"]),
        ("never holds", "between 0 and 100", &["`adx(14).plus_di >= 100.5`", "`crosses_below(rsi(14), 0)`"]),
        ("never holds", "0 and 100", &["`crosses_above(rsi(14), 130)`", "`crosses_below(100, rsi(14))`"]),
        ("never holds", "between -100 and 0", &["`williams_r(14) > 20`"]),
        ("never holds", "between 1 and 7", &["close > open and `weekday() == 0`"]),
        ("never holds", "between 0 and 23", &["`hour('UTC') == 24` or close > open"]),
        ("never holds", "0 and 5", &["`since(close > open, 5) > 5`", "`count(close > open, 5) > 5`"]),
        ("never holds", "the compared value is 0 or above", &["`body() < 0`"]),
        ("always holds", "between 0 and 100", &["close > open and `rsi(14) >= 0`"]),
        ("always holds", "between 1 and 7", &["`weekday() < 8` and close > open"]),
        ("always holds", "between 0 and 59", &["hour() <= 16 and `minute() <= 59`"]),
        ("never hold on", "`or`", &["`rsi(14) < 30` and (close > open and `rsi( 14 ) > 70`)"]),
        ("never hold on", "`or`", &["`close > 5` and `close < 5`", "`weekday() == 1` and `weekday() == 2`"]),
        ("never hold on", "`or`", &["`crosses_above(rsi(14), 70)` and `rsi(14) < 30`"]),
        ("compares", "(10, 3).trend`", &["`supertrend(10, 3) > 0`", "`crosses_above(supertrend(10, 3), 0)`"]),
        ("compares", "(0.02, 0.2).trend`", &["`parabolic_sar(0.02, 0.2).stop == -1`"]),
        ("at most one of 15", "`falling(ema(50), 1)@15m`", &["`falling(ema(50)@15m, 1)` and close > 0"]),
        ("never holds", "`rising(close, 2)@5m`", &["`rising(close@5m, 2)` or rising(close@5m, 2)"]),
        ("is 0 on all but one of 5 candles", "`change(close)@5m`", &["`change(close@5m)` > 0"]),
        ("never", "`donchian(20).upper[1]`", &["`close > donchian(20).upper`"]),
        ("never", "`donchian(20).upper[1]`", &["`donchian(20).upper < close`"]),
        ("never", "`donchian(20).upper[1]`", &["`crosses_above(close, donchian(20).upper)`"]),
        ("never", "`donchian(20).upper[1]`", &["`crosses_below(donchian(20).upper, close)`"]),
        ("never", "`donchian(20).upper[1]`", &["`(close > donchian(20).upper)`@15m"]),
        ("never", "`donchian(20).lower[1]`", &["`close < donchian(20).lower`"]),
        ("never", "`donchian(20).lower[1]`", &["`crosses_below(close, donchian(20).lower)`"]),
        ("never", "`donchian( 20 ).lower[1]`", &["`donchian( 20 ).lower > typical`"]),
        ("never", "`donchian(n).upper[1]`", &["`high > donchian(n).upper`"]),
        ("always", "`donchian(20).upper[1]`", &["not `(close <= donchian(20).upper)`"]),
    ] {
        for marked in conditions {
            let found = findings(&marked.replace('`', ""));
            let [text] = &found[..] else { panic!("{marked}: {found:?}") };
            let mut parts = marked.split('`').skip(1).step_by(2);
            let has_reason = text.contains(effect) && text.contains(reason);
            assert!(has_reason && parts.all(|part| text.contains(&format!("`{part}`"))), "{marked}: {text}");
        }
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
        "rsi(14) >= 100 or rsi(14) <= 0 or rsi(14) < 30 or rsi(14) > 70",
        "rsi(14)[1] < 30 and rsi(14) > 70 or rsi(14) > 30 and rsi(14) < 70 and rsi(7) < 20",
        "close >= 5 and close <= 5 and williams_r(14) > -20 and cci(20) > 130 and hour() != 24",
        "hour() >= 8 and hour() <= 17 and minute() < 30",
        "since(close > open, 5) <= 5 or (since(close > open) >= 0 and since(close > open, 5)[1] < 6)",
        "count(since(close > open, 5) < 3, 4) >= 0 and rsi(14, close / volume) >= 0",
        "(rsi(14) < 30 and close > open) or (rsi(14) > 70 and close < open)",
        // No lint applies here: five 1m candles are one 5m candle, and a parameter may be 5.
        "change(close@5m, 5) > 0 and falling(ema(50), 2)@15m and falling(close@1m, 2)",
        "change(close@5m, n) > 0 or crosses_above(close, ema(50)@15m) and close@15m > close@15m[1]",
        "close > donchian(20).upper[1] or close[1] > donchian(20).upper[2]",
        "close >= donchian(20).upper or donchian(20).lower >= low or close > donchian(20).upper@15m",
        "close@15m > donchian(20).upper or close[20] > donchian(20).upper or close[1] > donchian(n).upper",
        "close < donchian(20).upper or close > donchian(20).middle",
        "ema(5) > donchian(20).upper or close > bollinger(20, 2).upper",
    ] {
        assert_eq!(findings(buy), [""; 0], "{buy}");
    }
}

#[test]
fn suggested_channels_hold_on_random_candles_and_reported_ones_do_not() {
    for buy in ["close > donchian(20).upper", "crosses_below(close, donchian(5).lower)"] {
        assert_eq!(held_count(buy, 4_000).0, 0, "{buy}");
    }
    let (held, candles) = held_count("typical <= donchian(20).upper", 4_000);
    assert_eq!(held, candles);
    assert!(held_count("close > donchian(20).upper[1]", 4_000).0 > 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn reported_comparisons_never_or_always_hold(
        value in prop::sample::select(vec!["rsi(3)", "williams_r(5)", "hour()", "count(close > open, 3)", "since(close > open, 1)", "body()", "close"]),
        signs in prop::array::uniform2(prop::sample::select(vec!["<", "<=", ">", ">=", "==", "crosses_above", "crosses_below"])),
        numbers in prop::array::uniform2(prop::sample::select(vec![-100, -50, -1, 0, 1, 3, 4, 24, 25, 50, 75, 100, 101])),
    ) {
        let [one, other] = [0, 1].map(|at| match signs[at] {
            sign @ ("crosses_above" | "crosses_below") => format!("{sign}({value}, {})", numbers[at]),
            sign => format!("{value} {sign} {}", numbers[at]),
        });
        let (held, candles) = held_count(&one, 600);
        match &findings(&one)[..] {
            [] => {}
            [text] if text.contains(" always holds") => prop_assert_eq!(held, candles, "{}", one),
            [text] => prop_assert!(text.contains(" never holds") && held == 0, "{}: {}", one, text),
            more => prop_assert!(false, "{}: {:?}", one, more),
        }
        let both = format!("{one} and {other}");
        if findings(&both).iter().any(|text| text.contains(" never hold")) {
            prop_assert_eq!(held_count(&both, 600).0, 0, "{}", both);
        }
    }
}
