//! Condition counts compared with hand-computed counts and with the rule's signals.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::{ConditionCount, count_conditions, entry};
use candlewick_sdk::testkit::{bot, from_closes, random_walk};
use candlewick_sdk::{Candle, Direction, Registry, StrategyEntry};
use parts::{Scripted, answers};
use serde_json::{Value, json};

fn registry() -> Registry {
    let other = StrategyEntry::new("other", "1.0.0", |_, _| Ok(Box::new(Scripted::default())));
    parts::with_combinations(parts::registry([other]))
}

fn counted_of(strategy: &str, params: &Value, candles: &[Candle]) -> Vec<ConditionCount> {
    count_conditions(&registry(), (strategy, params), &bot("BTCUSDT"), candles).unwrap()
}

fn counted(params: &Value, candles: &[Candle]) -> Vec<ConditionCount> {
    counted_of("rules", params, candles)
}

fn lines(params: &Value, candles: &[Candle]) -> Vec<String> {
    let line = |one: &ConditionCount| {
        let ConditionCount {
            role: side,
            depth,
            text,
            candles,
            true_candles: held,
            unknown_candles: unknown,
            ..
        } = one;
        format!("{} {depth} {text}: {held} of {candles}, {unknown} not known", side.key())
    };
    counted(params, candles).iter().map(line).collect()
}

#[test]
fn counts_each_part_and_the_whole_condition() {
    // Each candle opens at the previous close. Changes: none, +1, +1, -3, +2, -1, 0.
    let candles = from_closes(&[10.0, 11.0, 12.0, 9.0, 11.0, 10.0, 10.0]);
    let params = json!({
        "buy": "close > open and close > level\n  and (hour() > 22 or close < 10)",
        "sell": "not (close > open and close < open)",
        "parameters": { "level": { "default": 10.5 } },
    });
    let by_default = [
        // The rising candles close at 11, 12 and 11, all above 10.5. Only 9 is below 10, and it falls. The hour is 0.
        "buy 0 close > open and close > level and (hour() > 22 or close < 10): 0 of 7, 0 not known",
        "buy 1 close > open: 3 of 7, 0 not known",
        "buy 1 close > level: 3 of 7, 0 not known",
        "buy 1 (hour() > 22 or close < 10): 1 of 7, 0 not known",
        "buy 2 hour() > 22: 0 of 7, 0 not known",
        "buy 2 close < 10: 1 of 7, 0 not known",
        // The operand of `not` counts as a single condition.
        "sell 0 not (close > open and close < open): 7 of 7, 0 not known",
    ];
    assert_eq!(lines(&params, &candles), by_default);
    let mut given = params;
    given["level"] = json!(11.5);
    assert_eq!(lines(&given, &candles)[2], "buy 1 close > level: 1 of 7, 0 not known");
}

/// By hand: closes 11, 12 and the later 11 rise. Candles from 12 on close after 00:02.
#[test]
fn counts_candles_on_which_both_sides_hold() {
    let candles = from_closes(&[10.0, 11.0, 12.0, 9.0, 11.0, 10.0, 10.0]);
    let rule = json!({ "buy": "close > open", "sell": "minute() > 2" });
    let buy_overlaps = |counted: &[ConditionCount]| -> Vec<(String, u64)> {
        counted.iter().map(|one| (format!("{} {}", one.part, one.role.key()), one.candles_with_buy)).collect()
    };
    assert_eq!(buy_overlaps(&counted(&rule, &candles)), [(" buy".to_owned(), 0), (" sell".to_owned(), 2)]);
    // Rules of a combination are separate. A sell is only compared with the buy of the same rule.
    let part = |name: &str, params: Value| json!({ "name": name, "strategy": "rules", "params": params });
    let whole = json!({ "first_of": [part("up", json!({ "buy": "close > open" })), part("both", rule)] });
    let found = buy_overlaps(&counted_of("combine", &whole, &candles));
    let found: Vec<_> = found.into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(found, [("both sell".to_owned(), 2)]);
    let apart = json!({ "first_of": [part("up", json!({ "buy": "close > open" })), part("late", json!({ "sell": "minute() > 2" }))] });
    assert!(buy_overlaps(&counted_of("combine", &apart, &candles)).iter().all(|(_, count)| *count == 0));
}

#[test]
fn excludes_warm_up_and_reports_missing_numbers() {
    let candles = from_closes(&[10.0, 11.0, 12.0, 13.0, 12.0, 11.0]);
    // The mean of three is warm at the third candle. At the fourth, the close is 13 and the denominator 0.
    let params = json!({ "buy": "close > sma(3) and 1 / (close - 13) > -5" });
    let expected = [
        "buy 0 close > sma(3) and 1 / (close - 13) > -5: 1 of 4, 1 not known",
        "buy 1 close > sma(3): 2 of 4, 0 not known",
        "buy 1 1 / (close - 13) > -5: 3 of 4, 1 not known",
    ];
    assert_eq!(lines(&params, &candles), expected);
}

#[test]
fn conditions_hold_exactly_when_the_strategy_signals() {
    let candles = random_walk(7, 3_000);
    for params in [
        json!({ "buy": "rsi(7) < 35 and close > sma(20)@5m", "sell": "rsi(7) > 65 or rsi(7) > 55 and close > donchian(30).upper[1]" }),
        json!({ "buy": "crosses_above(ema(5), ema(12)) and close > open", "sell": "falling(close, 3) and close < open and not bearish()[3]" }),
    ] {
        let strategy = entry().build(&params, &bot("BTCUSDT")).unwrap();
        let warm = strategy.warmup() - 1;
        let signals: Vec<_> = answers(strategy, &candles).into_iter().skip(warm).flatten().collect();
        let count = |direction| signals.iter().filter(|signal| signal.direction == direction).count() as u64;
        let (buys, sells) = (count(Direction::Buy), count(Direction::Sell));
        let counted = counted(&params, &candles);
        let whole: Vec<u64> =
            counted.iter().filter(|one| one.depth == 0).map(|one| one.true_candles).collect();
        assert!(buys > 20 && sells > 20, "{params}: {buys} and {sells}");
        assert_eq!(whole, [buys, sells], "{params}");
        assert!(counted.iter().all(|one| one.candles == (candles.len() - warm) as u64), "{params}");
    }
}

#[test]
fn counts_rules_of_a_combination_once_all_parts_are_warm() {
    let candles = random_walk(9, 2_000);
    let dip = json!({ "buy": "rsi(period) < 40", "parameters": { "period": { "default": 5, "min": 2, "max": 9 } } });
    let inner = json!({ "vote": [{ "name": "dip", "strategy": "rules", "params": dip }, { "strategy": "other" }], "invert": true });
    let whole = json!({
        "first_of": [{ "name": "inner", "strategy": "combine", "params": inner }, { "strategy": "other" }],
        "filters": [{ "trend": 50 }, { "when": "close > open and level > close", "parameters": { "level": { "default": 100.0 } } }],
        "inner.dip.period": 3,
    });
    let found = counted_of("combine", &whole, &candles);
    // `explained.rs` tests the counts of the combination itself.
    let is_own = |one: &ConditionCount| {
        ["first_of", "vote", "part"].contains(&one.role.key()) || one.is_whole_filter()
    };
    let found: Vec<ConditionCount> = found.into_iter().filter(|one| !is_own(one)).collect();
    let named = |one: &ConditionCount| format!("{} {} {} {}", one.part, one.role.key(), one.depth, one.text);
    let expected = [
        "inner.dip buy 0 rsi(period) < 40",
        "trend buy 0 close > sma(period)",
        "trend sell 0 close < sma(period)",
        "when filter 1 close > open and level > close",
        "when filter 2 close > open",
        "when filter 2 level > close",
    ];
    assert_eq!(found.iter().map(named).collect::<Vec<_>>(), expected);
    // From the combination's warm-up on, counts equal those of the rule alone: its total minus the count before.
    let terms = bot("BTCUSDT");
    let registry = registry();
    let warm = |name: &str, p: &Value| registry.find(name).unwrap().build(p, &terms).unwrap().warmup();
    let warmup = warm("combine", &whole);
    let mut period = dip;
    period["period"] = json!(3);
    let trend = json!({ "buy": "close > sma(50)", "sell": "close < sma(50)" });
    let when = json!({ "buy": "close > open and 100 > close" });
    let mut place = 0;
    for alone in [period, trend, when] {
        let own = warm("rules", &alone);
        assert!(own <= warmup, "{alone}");
        let before = counted(&alone, &candles[..warmup - 1]);
        for (all, before) in counted(&alone, &candles).iter().zip(before) {
            let inside = &found[place];
            assert_eq!(inside.candles, (candles.len() + 1 - warmup) as u64, "{inside:?}");
            assert_eq!(
                (inside.true_candles, inside.unknown_candles),
                (all.true_candles - before.true_candles, all.unknown_candles - before.unknown_candles)
            );
            assert!(inside.true_candles > 20, "{inside:?}");
            place += 1;
        }
    }
    assert_eq!(place, found.len());
}

#[test]
fn other_strategies_have_no_conditions() {
    assert_eq!(counted_of("other", &json!({}), &from_closes(&[1.0])), []);
    // A combination without rules only has the signal counts of its parts.
    let params = json!({ "first_of": [{ "strategy": "other" }] });
    let counted = counted_of("combine", &params, &from_closes(&[1.0]));
    let sides: Vec<&str> = counted.iter().map(|one| one.role.key()).collect();
    assert_eq!((sides, counted[1].true_candles), (vec!["first_of", "part"], 0));
}
