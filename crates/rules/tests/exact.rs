//! Comparisons of computed values, checked with integer arithmetic on prices in points of 0.00001.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::{Rule, entry};
use candlewick_sdk::testkit::bot;
use candlewick_sdk::{Candle, CandleAnswers, Interval, Millis, Ohlcv, Strategy};
use parts::{answers, declared};
use serde_json::json;
use std::collections::BTreeMap;

/// Open, high, low and close in points.
type Points = [i64; 4];
type HoldsAt<'a> = &'a dyn Fn(usize) -> bool;
type Exact = fn(&[Points]) -> bool;

fn body([open, .., close]: Points) -> i64 {
    (close - open).abs()
}

fn range([_, high, low, _]: Points) -> i64 {
    high - low
}

fn upper([open, high, _, close]: Points) -> i64 {
    high - open.max(close)
}

fn lower([open, _, low, close]: Points) -> i64 {
    open.min(close) - low
}

fn last(candles: &[Points]) -> Points {
    candles[candles.len() - 1]
}

fn ago(candles: &[Points], by: usize) -> Option<Points> {
    Some(candles[candles.len().checked_sub(by + 1)?])
}

const RULES: [(&str, Exact); 18] = [
    ("hammer()", |candles| {
        let one = last(candles);
        body(one) > 0 && lower(one) >= 2 * body(one) && 2 * upper(one) <= body(one)
    }),
    ("shooting_star()", |candles| {
        let one = last(candles);
        body(one) > 0 && upper(one) >= 2 * body(one) && 2 * lower(one) <= body(one)
    }),
    ("doji()", |candles| range(last(candles)) > 0 && 10 * body(last(candles)) <= range(last(candles))),
    ("marubozu()", |candles| {
        range(last(candles)) > 0 && 100 * body(last(candles)) >= 95 * range(last(candles))
    }),
    ("range() >= 0.0003", |candles| range(last(candles)) >= 30),
    ("range() >= 0.0003 and range() <= 0.0003", |candles| range(last(candles)) == 30),
    ("range() == 0.0003", |candles| range(last(candles)) == 30),
    ("range() != 0.0003", |candles| range(last(candles)) != 30),
    ("range() > 0.0003", |candles| range(last(candles)) > 30),
    ("not (range() < 0.0003)", |candles| range(last(candles)) >= 30),
    ("close - open >= 0.00005", |candles| last(candles)[3] - last(candles)[0] >= 5),
    ("change(close) == 0.00007", |candles| {
        ago(candles, 1).is_some_and(|before| last(candles)[3] - before[3] == 7)
    }),
    ("close > (open[1] + close[1]) / 2", |candles| {
        ago(candles, 1).is_some_and(|before| 2 * last(candles)[3] > before[0] + before[3])
    }),
    ("close - sma(2) >= 0.00001", |candles| {
        ago(candles, 1).is_some_and(|before| last(candles)[3] - before[3] >= 2)
    }),
    ("close < median", |candles| 2 * last(candles)[3] < last(candles)[1] + last(candles)[2]),
    ("max(body(), 0.00003) <= 0.00003", |candles| body(last(candles)) <= 3),
    ("rising(close - open, 2)", |candles| {
        let moved = |by| ago(candles, by).map(|one| one[3] - one[0]);
        moved(2).is_some_and(|first| Some(first) < moved(1) && moved(1) < moved(0))
    }),
    ("count(body() <= 0.5 * range(), 3) == 2", |candles| {
        let small = |by| ago(candles, by).map(|one| i32::from(2 * body(one) <= range(one)));
        small(2).is_some_and(|first| first + small(1).unwrap() + small(0).unwrap() == 2)
    }),
];

fn candles() -> Vec<Points> {
    let mut state = 20_120_201_u64;
    let mut drawn = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % most) as i64
    };
    let mut close = 157_597;
    let made = (0..20_000).map(|_| {
        let open = close + drawn(3) - 1;
        close = open + drawn(13) - 6;
        [open, open.max(close) + drawn(16), open.min(close) - drawn(16), close]
    });
    made.collect()
}

fn priced(points: &[Points]) -> Vec<Candle> {
    let price = |points: i64| format!("{}.{:05}", points / 100_000, points % 100_000).parse().unwrap();
    let candle = |(minute, one): (i64, &Points)| {
        let [open, high, low, close] = one.map(price);
        let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    };
    (0..).zip(points).map(candle).collect()
}

fn given<T>(answers: &[Option<T>]) -> Vec<bool> {
    answers.iter().map(Option::is_some).collect()
}

fn together(strategy: &mut dyn Strategy, candles: &[Candle]) -> Vec<bool> {
    let (mut answers, mut at) = (CandleAnswers::default(), 0);
    let mut found = vec![false; candles.len()];
    while at < candles.len() {
        answers.clear();
        let shown = strategy.feed_until_limit(&candles[at..], 1_000, &mut answers);
        for answer in &answers[..] {
            found[(answer.candle_time.get() / Millis::MINUTE.get()) as usize] = true;
        }
        at += shown;
    }
    found
}

fn explained(buy: &str, candles: &[Candle]) -> Vec<bool> {
    let mut strategy = entry().build_explainer(&json!({ "buy": buy }), &bot("GBPUSD")).unwrap();
    let mut holds = |candle| {
        strategy.on_candle(candle);
        strategy.conditions()[0].is_met == Some(true)
    };
    candles.iter().map(&mut holds).collect()
}

fn all_forms(buy: &str, candles: &[Candle]) -> [(&'static str, Vec<bool>); 5] {
    let rule = Rule::parse(Some(buy), None).unwrap();
    let listed = rule.build(&BTreeMap::new(), Interval::MINUTE, None).unwrap();
    [
        ("listed", given(&answers(Box::new(listed.clone()), candles))),
        ("quickest", given(&answers(listed.clone().into_optimized(), candles))),
        ("together", together(&mut *listed.clone().into_optimized(), candles)),
        ("declared", given(&declared(&listed, candles))),
        ("explained", explained(buy, candles)),
    ]
}

#[test]
fn computed_comparisons_agree_with_exact_arithmetic() {
    let points = candles();
    let priced = priced(&points);
    for (buy, exact) in RULES {
        let expected: Vec<bool> = (1..=points.len()).map(|count| exact(&points[..count])).collect();
        let held = expected.iter().filter(|holds| **holds).count();
        assert!(held > 50 && held < points.len() - 50, "{buy}: {held}");
        for (form, found) in all_forms(buy, &priced) {
            let wrong = (0..points.len()).find(|at| found[*at] != expected[*at]);
            assert_eq!(wrong, None, "{buy}, {form}: {:?}", wrong.map(|at| (points[at], found[at])));
        }
    }
}

/// Closes are in tenths, volumes in ten-thousandths. The tolerance, 1e-12 of the price, is 1.5e-4.
#[test]
fn values_without_price_unit_are_compared_exactly() {
    // The price first alternates by a million, so the final rises of 0.0510 % and of 0.1 hardly move the RSI.
    let mut closes: Vec<i64> = (0..40).map(|at| 1_500_000_000 + 10_000_000 * (at % 2)).collect();
    closes.extend([1_500_000_000, 1_500_765_000, 1_500_765_001, 1_500_765_004, 1_500_765_003]);
    let volumes: Vec<i64> = (0..closes.len() as i64).map(|at| 10_000 + at % 3).collect();
    let made = (0..).zip(closes.iter().zip(&volumes)).map(|(minute, (close, volume))| {
        let price: f64 = format!("{}.{}", close / 10, close % 10).parse().unwrap();
        let volume: f64 = format!("{}.{:04}", volume / 10_000, volume % 10_000).parse().unwrap();
        let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    });
    let made: Vec<Candle> = made.collect();
    let rules: [(&str, HoldsAt<'_>); 4] = [
        ("close / close[1] - 1 > 0.0005", &|at| 10_000 * closes[at] > 10_005 * closes[at - 1]),
        ("volume - volume[1] > 0", &|at| volumes[at] > volumes[at - 1]),
        ("rsi(14) - rsi(14)[1] > 0", &|at| closes[at] > closes[at - 1]),
        ("close - close[1] == 0.3", &|at| closes[at] - closes[at - 1] == 3),
    ];
    for (buy, exact) in rules {
        let from = 20;
        let expected: Vec<bool> = (from..closes.len()).map(exact).collect();
        assert!(expected.contains(&true) && expected.contains(&false), "{buy}");
        for (form, found) in all_forms(buy, &made) {
            assert_eq!(found[from..], expected, "{buy}, {form}");
        }
    }
}
