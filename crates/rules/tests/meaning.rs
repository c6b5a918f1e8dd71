//! Random rules over random candles, compared with a naive calculation of each value and with the
//! declaration of the rule.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::Rule;
use candlewick_sdk::{Candle, Direction, Interval, Millis, Ohlcv, Resampler};
use parts::{answers, declared};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug)]
enum Number {
    Constant(i32),
    Field(&'static str),
    Sma(usize, Box<Number>),
    Upper(usize),
    Back(Box<Number>, usize),
    Arithmetic(char, Box<Number>, Box<Number>),
    Max(Box<Number>, Box<Number>),
    Count(Box<Truth>, usize),
    Since(Box<Truth>, usize),
    Longer(Box<Number>),
}

#[derive(Clone, Debug)]
enum Truth {
    Compare(&'static str, Number, Number),
    Not(Box<Truth>),
    And(Box<Truth>, Box<Truth>),
    Or(Box<Truth>, Box<Truth>),
    CrossesAbove(Number, Number),
    Rising(Number, usize),
    Back(Box<Truth>, usize),
    Longer(Box<Truth>),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(number) => write!(f, "{number}"),
            Self::Field(name) => write!(f, "{name}"),
            Self::Sma(period, of) => write!(f, "sma({period}, {of})"),
            Self::Upper(period) => write!(f, "donchian({period}).upper"),
            Self::Back(of, by) => write!(f, "({of})[{by}]"),
            Self::Arithmetic(sign, one, other) => write!(f, "({one} {sign} {other})"),
            Self::Max(one, other) => write!(f, "max({one}, {other})"),
            Self::Count(of, among) => write!(f, "count({of}, {among})"),
            Self::Since(of, within) => write!(f, "since({of}, {within})"),
            Self::Longer(of) => write!(f, "({of})@3m"),
        }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(sign, one, other) => write!(f, "{one} {sign} {other}"),
            Self::Not(of) => write!(f, "not ({of})"),
            Self::And(one, other) => write!(f, "({one} and {other})"),
            Self::Or(one, other) => write!(f, "({one} or {other})"),
            Self::CrossesAbove(one, other) => write!(f, "crosses_above({one}, {other})"),
            Self::Rising(of, among) => write!(f, "rising({of}, {among})"),
            Self::Back(of, by) => write!(f, "({of})[{by}]"),
            Self::Longer(of) => write!(f, "({of})@3m"),
        }
    }
}

/// Own candles, and the longer candles that have closed at each of them.
struct History<'c> {
    candles: &'c [Candle],
    longer: Vec<Candle>,
    /// Number of longer candles that are visible at each own candle.
    seen: Vec<usize>,
}

impl<'c> History<'c> {
    fn from_candles(candles: &'c [Candle]) -> Self {
        let mut resampler = Resampler::new(Interval::MINUTE, "3m".parse().unwrap()).unwrap();
        let (mut longer, mut seen) = (Vec::new(), Vec::new());
        for candle in candles {
            seen.push(longer.len());
            longer.extend(resampler.push(candle));
        }
        Self { candles, longer, seen }
    }

    fn number(&self, of: &Number, at: Option<usize>, is_longer: bool) -> Option<f64> {
        let at = at?;
        let candle = if is_longer { self.longer[at] } else { self.candles[at] };
        match of {
            Number::Constant(number) => Some(f64::from(*number)),
            Number::Field(name) => Some(match *name {
                "open" => candle.open(),
                "high" => candle.high(),
                "low" => candle.low(),
                _ => candle.close(),
            }),
            // Averages the latest existing values. If the current one is missing, so is the result.
            Number::Sma(period, source) => {
                self.number(source, Some(at), is_longer)?;
                let values: Vec<f64> = (0..=at)
                    .rev()
                    .filter_map(|at| self.number(source, Some(at), is_longer))
                    .take(*period)
                    .collect();
                (values.len() == *period).then(|| values.iter().sum::<f64>() / *period as f64)
            }
            Number::Upper(period) => {
                let all = if is_longer { &self.longer[..=at] } else { &self.candles[..=at] };
                let last = all.len().checked_sub(*period).map(|from| &all[from..])?;
                last.iter().map(Candle::high).reduce(f64::max)
            }
            Number::Back(of, by) => self.number(of, at.checked_sub(*by), is_longer),
            Number::Arithmetic(sign, one, other) => {
                let [one, other] = [one, other].map(|of| self.number(of, Some(at), is_longer));
                Some(calculated(*sign, one?, other?)).filter(|result| result.is_finite())
            }
            Number::Max(one, other) => {
                Some(self.number(one, Some(at), is_longer)?.max(self.number(other, Some(at), is_longer)?))
            }
            Number::Count(of, among) => {
                let from = (at + 1).checked_sub(*among)?;
                let held = (from..=at)
                    .map(|at| self.truth(of, Some(at), is_longer))
                    .collect::<Option<Vec<bool>>>()?;
                Some(held.iter().filter(|holds| **holds).count() as f64)
            }
            Number::Since(of, within) => {
                let mut ages = 0..=(*within).min(at);
                ages.find(|age| self.truth(of, Some(at - age), is_longer) == Some(true)).map(|age| age as f64)
            }
            // Constants need no candles.
            Number::Longer(of) => {
                fixed_number(of).or_else(|| self.number(of, self.seen[at].checked_sub(1), true))
            }
        }
    }

    fn truth(&self, of: &Truth, at: Option<usize>, is_longer: bool) -> Option<bool> {
        let at = at?;
        match of {
            Truth::Compare(sign, one, other) => {
                let [one, other] = [one, other].map(|of| self.number(of, Some(at), is_longer));
                Some(compared(sign, one?, other?))
            }
            Truth::Not(of) => self.truth(of, Some(at), is_longer).map(|holds| !holds),
            Truth::And(one, other) => {
                kleene(false, [one, other].map(|of| self.truth(of, Some(at), is_longer)))
            }
            Truth::Or(one, other) => kleene(true, [one, other].map(|of| self.truth(of, Some(at), is_longer))),
            Truth::CrossesAbove(one, other) => {
                let is_above = |at: Option<usize>| {
                    Some(self.number(one, at, is_longer)? > self.number(other, at, is_longer)?)
                };
                let before = is_above(at.checked_sub(1))?;
                Some(is_above(Some(at))? && !before)
            }
            Truth::Rising(of, among) => {
                let steps = (0..*among).map(|age| {
                    let now = self.number(of, at.checked_sub(age), is_longer)?;
                    Some(now > self.number(of, at.checked_sub(age + 1), is_longer)?)
                });
                Some(steps.collect::<Option<Vec<bool>>>()?.into_iter().all(|rose| rose))
            }
            Truth::Back(of, by) => self.truth(of, at.checked_sub(*by), is_longer),
            Truth::Longer(of) => {
                fixed_truth(of).or_else(|| self.truth(of, self.seen[at].checked_sub(1), true))
            }
        }
    }
}

fn calculated(sign: char, one: f64, other: f64) -> f64 {
    match sign {
        '+' => one + other,
        '-' => one - other,
        '*' => one * other,
        _ => one / other,
    }
}

fn compared(sign: &str, one: f64, other: f64) -> bool {
    match sign {
        "<" => one < other,
        "<=" => one <= other,
        ">" => one > other,
        ">=" => one >= other,
        "==" => one == other,
        _ => one != other,
    }
}

fn kleene(decides: bool, both: [Option<bool>; 2]) -> Option<bool> {
    if both.contains(&Some(decides)) { Some(decides) } else { both[0].and(both[1]) }
}

fn fixed_number(of: &Number) -> Option<f64> {
    match of {
        Number::Constant(number) => Some(f64::from(*number)),
        Number::Back(of, 0) => fixed_number(of),
        Number::Max(one, other) => Some(fixed_number(one)?.max(fixed_number(other)?)),
        Number::Arithmetic(sign, one, other) => {
            Some(calculated(*sign, fixed_number(one)?, fixed_number(other)?))
        }
        _ => None,
    }
}

fn fixed_truth(of: &Truth) -> Option<bool> {
    match of {
        Truth::Compare(sign, one, other) => Some(compared(sign, fixed_number(one)?, fixed_number(other)?)),
        Truth::Not(of) => fixed_truth(of).map(|holds| !holds),
        Truth::Back(of, 0) => fixed_truth(of),
        Truth::And(one, other) => kleene(false, [fixed_truth(one), fixed_truth(other)]),
        Truth::Or(one, other) => kleene(true, [fixed_truth(one), fixed_truth(other)]),
        _ => None,
    }
}

/// Generates numbers of one interval. Longer candles are added elsewhere.
fn number(depth: u32) -> BoxedStrategy<Number> {
    let leaf = prop_oneof![
        (-3_i32..12).prop_map(Number::Constant),
        prop::sample::select(vec!["open", "high", "low", "close"]).prop_map(Number::Field),
        (1_usize..5).prop_map(Number::Upper),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inner = || number(depth - 1).prop_map(Box::new);
    let condition = || truth(depth - 1).prop_map(Box::new);
    prop_oneof![
        3 => leaf,
        1 => (prop::sample::select(vec![1_usize, 2, 4]), inner()).prop_map(|(period, of)| Number::Sma(period, of)),
        1 => (inner(), 0_usize..4).prop_map(|(of, by)| Number::Back(of, by)),
        2 => arithmetic(depth - 1),
        1 => (inner(), inner()).prop_map(|(one, other)| Number::Max(one, other)),
        1 => (condition(), 1_usize..5).prop_map(|(of, among)| Number::Count(of, among)),
        1 => (condition(), 1_usize..6).prop_map(|(of, within)| Number::Since(of, within)),
    ]
    .boxed()
}

/// Generates divisions by powers of two and by zero only. A rolling mean of thirds and their sum would
/// be rounded differently, which would matter for ties.
fn arithmetic(depth: u32) -> impl proptest::strategy::Strategy<Value = Number> {
    let inner = move || number(depth).prop_map(Box::new);
    let divisor = prop::sample::select(vec![-4, -2, -1, 0, 1, 2, 4, 8]);
    prop_oneof![
        3 => (prop::sample::select(vec!['+', '-', '*']), inner(), inner())
            .prop_map(|(sign, one, other)| Number::Arithmetic(sign, one, other)),
        1 => (inner(), divisor).prop_map(|(one, by)| Number::Arithmetic('/', one, Box::new(Number::Constant(by)))),
    ]
}

fn truth(depth: u32) -> BoxedStrategy<Truth> {
    let signs = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
    let compare =
        (signs, number(depth), number(depth)).prop_map(|(sign, one, other)| Truth::Compare(sign, one, other));
    if depth == 0 {
        return compare.boxed();
    }
    let inner = || truth(depth - 1).prop_map(Box::new);
    prop_oneof![
        3 => compare,
        1 => inner().prop_map(Truth::Not),
        2 => (inner(), inner()).prop_map(|(one, other)| Truth::And(one, other)),
        2 => (inner(), inner()).prop_map(|(one, other)| Truth::Or(one, other)),
        1 => (number(depth - 1), number(depth - 1)).prop_map(|(one, other)| Truth::CrossesAbove(one, other)),
        1 => (number(depth - 1), 1_usize..4).prop_map(|(of, among)| Truth::Rising(of, among)),
        1 => (inner(), 0_usize..4).prop_map(|(of, by)| Truth::Back(of, by)),
    ]
    .boxed()
}

fn rule() -> BoxedStrategy<Truth> {
    let longer = || truth(1).prop_map(|of| Truth::Longer(Box::new(of)));
    let number_of_longer = || number(1).prop_map(|of| Number::Longer(Box::new(of)));
    let part = || {
        prop_oneof![
            4 => truth(2),
            1 => longer(),
            1 => (number(1), number_of_longer()).prop_map(|(one, other)| Truth::Compare("<", one, other)),
        ]
        .prop_map(Box::new)
    };
    prop_oneof![
        2 => truth(3),
        1 => (part(), part()).prop_map(|(one, other)| Truth::And(one, other)),
        1 => (part(), part()).prop_map(|(one, other)| Truth::Or(one, other)),
        1 => part().prop_map(Truth::Not),
    ]
    .boxed()
}

/// Generates candles with small whole prices, so that all sums are exact. Some candles are missing.
fn candles() -> impl proptest::strategy::Strategy<Value = Vec<Candle>> {
    prop::collection::vec((1_i32..9, 1_i32..9, 0_i32..2, 0_i32..2, prop::bool::weighted(0.95)), 1..60)
        .prop_map(|rows| {
            let made = rows.into_iter().enumerate().filter(|(_, row)| row.4).map(
                |(minute, (open, close, up, down, _))| {
                    let (open, close) = (f64::from(open + 1), f64::from(close + 1));
                    let numbers = Ohlcv {
                        open,
                        high: open.max(close) + f64::from(up),
                        low: open.min(close) - f64::from(down),
                        close,
                        volume: 0.0,
                    };
                    Candle::new(Millis::MINUTE * minute as i64, Interval::MINUTE, numbers).unwrap()
                },
            );
            made.collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn rules_agree_with_a_naive_calculation_and_their_declaration(
        buy in rule(), sell in rule(), candles in candles(),
    ) {
        let (buy_text, sell_text) = (buy.to_string(), sell.to_string());
        let parsed = Rule::parse(Some(&buy_text), Some(&sell_text)).unwrap();
        // Some rules are rejected, because they are always true or never have a value.
        let built = parsed.build(&BTreeMap::new(), Interval::MINUTE, None);
        prop_assume!(built.is_ok());
        let strategy = built.unwrap();
        let history = History::from_candles(&candles);
        let plain = (0..candles.len()).map(|at| {
            let holds = |rule: &Truth| history.truth(rule, Some(at), false) == Some(true);
            if holds(&buy) { Some(Direction::Buy) } else if holds(&sell) { Some(Direction::Sell) } else { None }
        });
        let plain: Vec<_> = plain.collect();
        let directions = |strategy: Box<dyn candlewick_sdk::Strategy>| -> Vec<_> {
            answers(strategy, &candles).into_iter().map(|answer| Some(answer?.direction)).collect()
        };
        let listed = directions(Box::new(strategy.clone()));
        prop_assert_eq!(&listed, &plain, "buy = {} sell = {}", buy_text, sell_text);
        let quickest = directions(strategy.clone().into_optimized());
        prop_assert_eq!(&quickest, &plain, "quickest: buy = {} sell = {}", buy_text, sell_text);
        prop_assert_eq!(&declared(&strategy, &candles), &plain, "declared: buy = {} sell = {}", buy_text, sell_text);
    }
}
