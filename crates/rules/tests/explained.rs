//! Explanations of rules and combinations at each candle, compared with hand-computed values.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::count_conditions;
use candlewick_sdk::testkit::{bot, from_closes, random_walk};
use candlewick_sdk::{Candle, Condition, LongerCandles, Registry};
use serde_json::{Value, json};

fn registry() -> Registry {
    parts::with_combinations(parts::registry([]))
}

/// Formats a condition as `part side depth text: answer [numbers] (note)`.
fn line(one: &Condition<'_>) -> String {
    let answer = match one.is_met {
        Some(true) => "true",
        Some(false) => "false",
        None => "?",
    };
    let numbers: Vec<String> = one.numbers.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let whose = format!("{} {} {}", one.part_path, one.role.key(), one.depth);
    let line = format!("{whose} {}: {answer} [{}] ({})", one.text, numbers.join(", "), one.note);
    line.replace(" []", "").replace(" ()", "").trim_start().to_owned()
}

fn said(strategy: &str, params: &Value, candles: &[Candle]) -> Vec<Vec<String>> {
    let (registry, terms) = (registry(), bot("BTCUSDT"));
    let mut shown = registry.find(strategy).unwrap().build_explainer(params, &terms).unwrap();
    let mut longer = LongerCandles::new(terms.interval, shown.longer_intervals()).unwrap();
    let mut after = |candle: &Candle| {
        shown.on_candle(candle);
        let lines = shown.conditions().iter().map(line).collect();
        longer.feed_longer_candles_after(candle, &mut *shown);
        lines
    };
    candles.iter().map(&mut after).collect()
}

#[test]
fn explains_each_part_of_a_rule_with_its_numbers() {
    // The mean of two closes is unknown, 10.5, 12 and 12.5. Two rises in a row need three candles.
    let candles = from_closes(&[10.0, 11.0, 13.0, 12.0]);
    let params = json!({ "buy": "close > sma(n) and rising(close, 2)", "sell": "not (close >= sma(n))",
        "parameters": { "n": { "default": 2 } } });
    let expected = [
        [
            "buy 0 close > sma(n) and rising(close, 2): ?",
            "buy 1 close > sma(n): ? [close 10, sma(2) NaN]",
            "buy 1 rising(close, 2): ? [close 10, close[1] NaN]",
            "sell 0 not (close >= sma(n)): ? [close 10, sma(2) NaN]",
        ],
        [
            "buy 0 close > sma(n) and rising(close, 2): ?",
            "buy 1 close > sma(n): true [close 11, sma(2) 10.5]",
            "buy 1 rising(close, 2): ? [close 11, close[1] 10]",
            "sell 0 not (close >= sma(n)): false [close 11, sma(2) 10.5]",
        ],
        [
            "buy 0 close > sma(n) and rising(close, 2): true",
            "buy 1 close > sma(n): true [close 13, sma(2) 12]",
            "buy 1 rising(close, 2): true [close 13, close[1] 11]",
            "sell 0 not (close >= sma(n)): false [close 13, sma(2) 12]",
        ],
        [
            "buy 0 close > sma(n) and rising(close, 2): false",
            "buy 1 close > sma(n): false [close 12, sma(2) 12.5]",
            "buy 1 rising(close, 2): false [close 12, close[1] 13]",
            "sell 0 not (close >= sma(n)): true [close 12, sma(2) 12.5]",
        ],
    ];
    assert_eq!(said("rules", &params, &candles), expected);
}

#[test]
fn explains_numbers_of_longer_candles_and_hours() {
    // Candles of 2m close at 9, 7 and 5. The second one is visible from the fifth candle on.
    let candles = from_closes(&[10.0, 9.0, 8.0, 7.0, 6.0, 5.0]);
    let params =
        json!({ "buy": "falling(close, 1)@2m", "sell": "between(\"08:00\", \"17:00\", \"Asia/Tokyo\")" });
    let said = said("rules", &params, &candles);
    let buys: Vec<&str> = said.iter().map(|lines| lines[0].as_str()).collect();
    let told = |answer: &str, now: &str, before: &str| {
        format!("buy 0 falling(close, 1)@2m: {answer} [close@2m {now}, close[1]@2m {before}]")
    };
    let (none, first, second) = (told("?", "NaN", "NaN"), told("?", "9", "NaN"), told("true", "7", "9"));
    assert_eq!(buys, [&*none, &none, &first, &first, &second, &second]);
    // The first candle closes at 00:01 UTC, which is 09:01 in Tokyo.
    let expected = "sell 0 between(\"08:00\", \"17:00\", \"Asia/Tokyo\"): true [hour(\"Asia/Tokyo\") 9, minute(\"Asia/Tokyo\") 1]";
    assert_eq!(said[0][1], expected);
}

fn vote(invert: bool) -> Value {
    json!({
        "vote": [
            { "name": "up", "strategy": "rules", "params": { "buy": "close > open" }, "within": 2 },
            { "name": "high", "strategy": "rules", "params": { "sell": "close > 11" }, "invert": true },
        ],
        "quorum": 2.0,
        "filters": [{ "when": "close < 13" }],
        "invert": invert,
    })
}

/// Closes of the candles. Each candle opens at the previous close.
const CLOSES: [f64; 5] = [10.0, 11.0, 12.0, 11.5, 13.0];

#[test]
fn explains_a_vote_with_inversion_and_filters() {
    let said = said("combine", &vote(false), &from_closes(&CLOSES));
    let expected = [
        // The second candle rises and is not above 11.
        [
            "vote 0 2 of 2 votes agree on a direction: false (BUY 1, SELL 0)",
            "up part 0 signaled within the last 2 candles: true (BUY)",
            "up buy 0 close > open: true [close 11, open 10]",
            "high part 0 signals: false",
            "high sell 0 close > 11: false [close 11]",
            "when filter 0 lets the signal pass: ? (any signal would pass)",
            "when filter 1 close < 13: true [close 11]",
        ],
        // The fourth candle falls after a rise.
        [
            "vote 0 2 of 2 votes agree on a direction: true (BUY 2, SELL 0)",
            "up part 0 signaled within the last 2 candles: true (BUY, 1 candle ago)",
            "up buy 0 close > open: false [close 11.5, open 12]",
            "high part 0 signals: true (BUY, inverted: the part signaled SELL)",
            "high sell 0 close > 11: true [close 11.5]",
            "when filter 0 lets the signal pass: true",
            "when filter 1 close < 13: true [close 11.5]",
        ],
        [
            "vote 0 2 of 2 votes agree on a direction: true (BUY 2, SELL 0)",
            "up part 0 signaled within the last 2 candles: true (BUY)",
            "up buy 0 close > open: true [close 13, open 11.5]",
            "high part 0 signals: true (BUY, inverted: the part signaled SELL)",
            "high sell 0 close > 11: true [close 13]",
            "when filter 0 lets the signal pass: false",
            "when filter 1 close < 13: false [close 13]",
        ],
    ];
    assert_eq!([&said[1], &said[3], &said[4]].map(|l| &l[..]), expected.each_ref().map(|l| &l[..]));
    let turned = self::said("combine", &vote(true), &from_closes(&CLOSES));
    assert_eq!(
        turned[3][0],
        "vote 0 2 of 2 votes agree on a direction: true (BUY 2, SELL 0, inverted to SELL)"
    );
}

#[test]
fn counts_quorums_and_filtered_signals() {
    let terms = bot("BTCUSDT");
    let counted =
        count_conditions(&registry(), ("combine", &vote(false)), &terms, &from_closes(&CLOSES)).unwrap();
    let counts = |side: &str, depth: usize| {
        let found = counted.iter().find(|one| one.role.key() == side && one.depth == depth).unwrap();
        (found.true_candles, found.candles, found.unknown_candles)
    };
    // After a warm-up of two, four candles count. Both parts signal BUY on the last three. The one at 13 is filtered.
    assert_eq!(counts("vote", 0), (3, 4, 0));
    assert_eq!(counts("filter", 0), (2, 3, 0));
    assert_eq!(counts("filter", 1), (3, 4, 0));
    assert_eq!(counts("part", 0), (4, 4, 0));
}

#[test]
fn explains_nested_combinations_by_path() {
    let rule = |buy: &str| json!({ "name": "low", "strategy": "rules", "params": { "buy": buy } });
    let inner = json!({ "first_of": [rule("close < 5")], "filters": [{ "trend": 2 }] });
    let params = json!({ "first_of": [{ "name": "inner", "strategy": "combine", "params": inner }, rule("close > 10")] });
    let said = said("combine", &params, &from_closes(&[10.0, 11.0]));
    let expected = [
        "first_of 0 a part signals: true (BUY)",
        "inner part 0 signals: false",
        "inner first_of 0 a part signals: false",
        "inner.low part 0 signals: false",
        "inner.low buy 0 close < 5: false [close 11]",
        "inner.trend filter 0 lets the signal pass: ? (a BUY would pass)",
        "inner.trend buy 0 close > sma(period): true [close 11, sma(2) 10.5]",
        "inner.trend sell 0 close < sma(period): false [close 11, sma(2) 10.5]",
        "low part 0 signals: true (BUY)",
        "low buy 0 close > 10: true [close 11]",
    ];
    assert_eq!(said[1], expected);
}

#[test]
fn explained_strategy_signals_like_the_normal_one() {
    let (candles, terms, registry) = (random_walk(11, 3_000), bot("BTCUSDT"), registry());
    let dip = json!({ "buy": "rsi(7) < 35 and close > sma(20)@5m", "sell": "rsi(7) > 65 and falling(ema(5), 1)@5m", "expiry": "05:00" });
    let part = |name: &str| json!({ "name": name, "strategy": "rules", "params": dip });
    let fast = json!({ "buy": "close > open", "sell": "close < open" });
    let voted = json!({ "vote": [part("a"), { "name": "b", "strategy": "rules", "params": fast, "invert": true }], "within": 3,
        "quorum": 1.0, "filters": [{ "trend": 9 }], "gate": { "after_virtual_losses": 2 } });
    for (strategy, params, least) in [("rules", &dip, 100), ("combine", &voted, 20)] {
        let entry = registry.find(strategy).unwrap();
        let (mut usual, mut explained) =
            (entry.build(params, &terms).unwrap(), entry.build_explainer(params, &terms).unwrap());
        assert_eq!(usual.warmup(), explained.warmup());
        assert_eq!(usual.expiries(), explained.expiries());
        let mut longer = [&usual, &explained]
            .map(|one| LongerCandles::new(terms.interval, one.longer_intervals()).unwrap());
        let mut signals = 0;
        for candle in &candles {
            let (one, other) = (usual.on_candle(candle), explained.on_candle(candle));
            assert_eq!(one, other, "{strategy} at {}", candle.time());
            // Compared as text, so that NaN equals NaN.
            assert_eq!(format!("{:?}", usual.indicators()), format!("{:?}", explained.indicators()));
            signals += usize::from(one.is_some());
            longer[0].feed_longer_candles_after(candle, &mut *usual);
            longer[1].feed_longer_candles_after(candle, &mut *explained);
        }
        assert!(signals > least, "{strategy}: {signals}");
        assert!(usual.conditions().iter().all(|one| one.numbers.is_empty()));
    }
}

#[test]
fn describes_a_combination_in_one_line() {
    let about = |p: &Value| registry().find("combine").unwrap().for_params(p).unwrap().about.clone();
    assert_eq!(
        about(&vote(false)),
        "trades if 2 of 2 votes agree: up (signals stay valid for 2 candles) and high (inverted); the signal must pass the filter when"
    );
    let rule = |name: &str, weight: f64| json!({ "name": name, "strategy": "rules", "params": { "buy": "close > 1" }, "weight": weight });
    let params = json!({ "vote": [rule("a", 0.7), rule("b", 0.1), rule("c", 1.0)], "within": 3, "invert": true,
        "filters": [{ "trend": 9 }, { "hours": ["08:00", "17:00"] }] });
    let expected = "trades if 1.8 of 1.8 votes agree: a (weight 0.7), b (weight 0.1) and c; signals stay valid for 3 candles; the signal must pass the filters trend and \
                    hours; inverted: \
                    every trade goes in the opposite direction; filters apply before the direction is inverted";
    assert_eq!(about(&params), expected);
    let own = json!({ "name": "a", "strategy": "rules", "params": { "buy": "close > 1" }, "within": 5 });
    let params = json!({ "vote": [own, rule("b", 1.0)], "within": 3 });
    assert_eq!(
        about(&params),
        "trades if 2 of 2 votes agree: a (signals stay valid for 5 candles) and b; other signals stay valid for 3 candles"
    );
    let params =
        json!({ "first_of": [{ "name": "a", "strategy": "rules", "params": { "buy": "close > 1" } }] });
    assert_eq!(about(&params), "trades the signals of a");
}
