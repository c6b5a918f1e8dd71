//! How often the conditions of a rule held: counted by hand, and held to the signals that the rule gives.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

use candlewick_rules::{HeldCondition, entry, held_conditions};
use candlewick_sdk::testkit::{bot, from_closes, random_walk};
use candlewick_sdk::{Candle, Direction, LongerCandles, StrategyEntry};
use serde_json::{Value, json};

fn counted(params: &Value, candles: &[Candle]) -> Vec<HeldCondition> {
    held_conditions(&entry(), params, &bot("BTCUSDT"), candles).unwrap().unwrap()
}

/// Key, depth, text, and how many candles, held, not known.
fn lines(params: &Value, candles: &[Candle]) -> Vec<String> {
    let line = |one: &HeldCondition| {
        let HeldCondition { side, depth, text, candles, held, unknown } = one;
        format!("{} {depth} {text}: {held} of {candles}, {unknown} not known", side.key())
    };
    counted(params, candles).iter().map(line).collect()
}

#[test]
fn each_part_is_counted_alone_and_all_of_them_together() {
    // Each candle opens at the close before it. Changes: none, +1, +1, -3, +2, -1, 0.
    let candles = from_closes(&[10.0, 11.0, 12.0, 9.0, 11.0, 10.0, 10.0]);
    let params = json!({
        "buy": "close > open and close > level\n  and (hour() > 22 or close < 10)",
        "sell": "not (close > open and close < open)",
        "parameters": { "level": { "default": 10.5 } },
    });
    let by_default = [
        // The candles that rise are 11, 12 and 11; above 10.5 are these; below 10 is 9 alone, which falls; it is midnight.
        "buy 0 close > open and close > level and (hour() > 22 or close < 10): 0 of 7, 0 not known",
        "buy 1 close > open: 3 of 7, 0 not known",
        "buy 1 close > level: 3 of 7, 0 not known",
        "buy 1 (hour() > 22 or close < 10): 1 of 7, 0 not known",
        "buy 2 hour() > 22: 0 of 7, 0 not known",
        "buy 2 close < 10: 1 of 7, 0 not known",
        // What `not` turns round is one condition.
        "sell 0 not (close > open and close < open): 7 of 7, 0 not known",
    ];
    assert_eq!(lines(&params, &candles), by_default);
    let mut given = params;
    given["level"] = json!(11.5);
    assert_eq!(lines(&given, &candles)[2], "buy 1 close > level: 1 of 7, 0 not known");
}

#[test]
fn candles_of_the_warm_up_are_left_out_and_missing_numbers_are_told() {
    let candles = from_closes(&[10.0, 11.0, 12.0, 13.0, 12.0, 11.0]);
    // The mean of three is warm at the third candle; the fourth close is 13, whose denominator is 0.
    let params = json!({ "buy": "close > sma(3) and 1 / (close - 13) > -5" });
    let expected = [
        "buy 0 close > sma(3) and 1 / (close - 13) > -5: 1 of 4, 1 not known",
        "buy 1 close > sma(3): 2 of 4, 0 not known",
        "buy 1 1 / (close - 13) > -5: 3 of 4, 1 not known",
    ];
    assert_eq!(lines(&params, &candles), expected);
}

#[test]
fn whole_conditions_hold_where_the_strategy_signals_also_with_longer_candles() {
    let candles = random_walk(7, 3_000);
    for params in [
        json!({ "buy": "rsi(7) < 35 and close > sma(20)@5m", "sell": "rsi(7) > 65 or rsi(7) > 55 and close > donchian(30).upper[1]" }),
        json!({ "buy": "crosses_above(ema(5), ema(12)) and close > open", "sell": "falling(close, 3) and close < open and not bearish()[3]" }),
    ] {
        let entry: StrategyEntry = entry();
        let terms = bot("BTCUSDT");
        let mut strategy = entry.build(&params, &terms).unwrap();
        let mut longer = LongerCandles::new(terms.interval, strategy.longer_intervals()).unwrap();
        let (mut buys, mut sells) = (0, 0);
        for (place, candle) in candles.iter().enumerate() {
            let signal = strategy.on_candle(candle).filter(|_| place + 1 >= strategy.warmup());
            match signal.map(|signal| signal.direction) {
                Some(Direction::Buy) => buys += 1,
                Some(Direction::Sell) => sells += 1,
                None => {}
            }
            longer.show(candle, &mut *strategy);
        }
        let counted = counted(&params, &candles);
        let whole: Vec<u64> = counted.iter().filter(|one| one.depth == 0).map(|one| one.held).collect();
        assert!(buys > 20 && sells > 20, "{params}: {buys} and {sells}");
        assert_eq!(whole, [buys, sells], "{params}");
        let expected = (candles.len() + 1 - strategy.warmup()) as u64;
        assert!(counted.iter().all(|one| one.candles == expected), "{params}");
    }
}

#[test]
fn what_is_no_rule_has_no_conditions() {
    let other = StrategyEntry::new("other", "1.0.0", |_, _| unreachable!("it is not built"));
    assert_eq!(held_conditions(&other, &json!({}), &bot("BTCUSDT"), &[]).unwrap(), None);
}
