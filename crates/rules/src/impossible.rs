//! Comparisons with numbers that hold at no candle, or at every one: beyond what a value can be, or against one another; and the price
//! of a line that is compared as if it were its direction.

use crate::rule::{Condition, one_line};
use crate::syntax::{Form, Operator, PartId};

/// A price is hardly so near to zero; a direction is no further from it.
const NEAR_ZERO: f64 = 1.0;

/// What a value can be: the numbers between two, each of them left out or not.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: f64,
    most: f64,
    is_least_out: bool,
    is_most_out: bool,
}

/// What a distance can be.
const FROM_ZERO: (f64, f64) = (0.0, f64::INFINITY);

/// A comparison of a value with a number.
struct Comparison {
    part: PartId,
    /// The value, without blanks.
    value: String,
    /// What it can be, whatever it is compared with.
    known: Option<(f64, f64)>,
    /// Whether there may be no such value at a candle, at which no comparison with it holds.
    may_be_missing: bool,
    /// What the comparison asks of it.
    asked: Range,
}

/// Each comparison of a condition that never holds, and each that never holds beside another one, in words.
pub(crate) fn impossible_parts(condition: &Condition) -> Vec<String> {
    let among = condition.tree.and_groups().flat_map(|group| impossible_among(condition, group));
    let alone = (0..condition.tree.len()).filter_map(|part| {
        impossible_crossing(condition, part).or_else(|| line_beside_zero(condition, part))
    });
    among.chain(alone).collect()
}

/// What is said of a crossing of a number that the value cannot reach, or not leave.
fn impossible_crossing(condition: &Condition, part: PartId) -> Option<String> {
    let Form::Call { name, arguments, .. } = &condition.tree.part(part).form else { return None };
    let (is_above, [one, other]) = match (name.as_str(), &arguments[..]) {
        ("crosses_above", [one, other]) => (true, [*one, *other]),
        ("crosses_below", [one, other]) => (false, [*one, *other]),
        _ => return None,
    };
    let (value, number, is_above) = match (number_of(condition, one), number_of(condition, other)) {
        (None, Some(number)) => (one, number, is_above),
        (Some(number), None) => (other, number, !is_above),
        _ => return None,
    };
    let (least, most) = known_range(condition, value)?;
    // It is beyond the number after the crossing, and not before.
    let can = if is_above { least <= number && number < most } else { least < number && number <= most };
    (!can).then(|| {
        format!("`{}` never holds: the value lies {}", text_of(condition, part), between(least, most))
    })
}

/// What is said of the price of a line that stands where its direction was meant, `supertrend(10, 3) > 0`.
fn line_beside_zero(condition: &Condition, part: PartId) -> Option<String> {
    let sides = match &condition.tree.part(part).form {
        Form::Binary { operator, left, right } if operator.compares() => [*left, *right],
        Form::Call { name, arguments, .. } if name.starts_with("crosses_") => {
            arguments[..].try_into().ok()?
        }
        _ => return None,
    };
    let (value, number) = match sides.map(|side| number_of(condition, side)) {
        [None, Some(number)] => (sides[0], number),
        [Some(number), None] => (sides[1], number),
        _ => return None,
    };
    let line = match &condition.tree.part(value).form {
        Form::Line { of, name, .. } if ["line", "stop"].contains(&name.as_str()) => *of,
        _ => value,
    };
    let Form::Call { name, .. } = &condition.tree.part(line).form else { return None };
    let is_line = ["supertrend", "parabolic_sar"].contains(&name.as_str()) && number.abs() <= NEAR_ZERO;
    is_line.then(|| {
        let (text, line) = (text_of(condition, part), text_of(condition, line));
        format!("`{text}` compares a price with {number}: is `{line}.trend` meant, which is 1 or -1?")
    })
}

fn impossible_among(condition: &Condition, parts: Vec<PartId>) -> Vec<String> {
    let comparisons: Vec<Comparison> =
        parts.into_iter().filter_map(|part| comparison_of(condition, part)).collect();
    let mut words = Vec::new();
    for (place, one) in comparisons.iter().enumerate() {
        let text = text_of(condition, one.part);
        let allowed = one.known.map_or(Range::ANY, |(least, most)| Range { least, most, ..Range::ANY });
        if let Some((least, most)) = one.known.filter(|_| one.asked.and(allowed).is_empty()) {
            words.push(format!("`{text}` never holds: the value lies {}", between(least, most)));
            continue;
        }
        let is_always = !one.may_be_missing && one.asked.and(allowed) == allowed;
        if let Some((least, most)) = one.known.filter(|_| is_always) {
            words.push(format!("`{text}` always holds: the value lies {}", between(least, most)));
            continue;
        }
        let against = comparisons[..place]
            .iter()
            .find(|other| other.value == one.value && one.asked.and(other.asked).is_empty());
        words.extend(against.map(|other| {
            format!(
                "`{}` and `{text}` never hold at one candle: is `or` meant?",
                text_of(condition, other.part)
            )
        }));
    }
    words
}

fn comparison_of(condition: &Condition, part: PartId) -> Option<Comparison> {
    let Form::Binary { operator, left, right } = condition.tree.part(part).form else { return None };
    let (value, asked) = match (number_of(condition, left), number_of(condition, right)) {
        (None, Some(number)) => (left, Range::of(operator, number)?),
        (Some(number), None) => (right, Range::of(turned(operator), number)?),
        _ => return None,
    };
    let text = text_of(condition, value).replace(' ', "");
    let known = known_range(condition, value);
    Some(Comparison { part, value: text, known, may_be_missing: may_be_missing(condition, value), asked })
}

/// A range in words.
fn between(least: f64, most: f64) -> String {
    if most == f64::INFINITY { format!("at {least} or above") } else { format!("between {least} and {most}") }
}

/// The operator by which the right side is compared with the left one.
pub(crate) const fn turned(operator: Operator) -> Operator {
    match operator {
        Operator::Less => Operator::Greater,
        Operator::LessOrEqual => Operator::GreaterOrEqual,
        Operator::Greater => Operator::Less,
        Operator::GreaterOrEqual => Operator::LessOrEqual,
        other => other,
    }
}

/// A number that is written.
pub(crate) fn number_of(condition: &Condition, part: PartId) -> Option<f64> {
    match condition.tree.part(part).form {
        Form::Number(number) => Some(number),
        Form::Negate(inner) => number_of(condition, inner).map(|number| -number),
        _ => None,
    }
}

/// Between which numbers a value lies, by its definition.
fn known_range(condition: &Condition, part: PartId) -> Option<(f64, f64)> {
    match &condition.tree.part(part).form {
        Form::Call { name, arguments, .. } => match name.as_str() {
            "rsi" | "adx" | "stochastic" => Some((0.0, 100.0)),
            "williams_r" => Some((-100.0, 0.0)),
            "hour" => Some((0.0, 23.0)),
            "minute" => Some((0.0, 59.0)),
            "weekday" => Some((1.0, 7.0)),
            "body" | "range" | "upper_wick" | "lower_wick" | "atr" | "abs" => Some(FROM_ZERO),
            "count" | "since" => {
                let most = arguments.get(1).and_then(|most| number_of(condition, *most));
                Some(most.map_or(FROM_ZERO, |most| (0.0, most)))
            }
            _ => None,
        },
        Form::Name(name) if name == "volume" => Some(FROM_ZERO),
        // All lines of an index and of the oscillator lie where the whole does.
        Form::Line { of, .. } | Form::Back { of, .. } | Form::At { of, .. } => known_range(condition, *of),
        _ => None,
    }
}

/// Whether a value, or one that it is made of, may be missing once all is warm.
fn may_be_missing(condition: &Condition, part: PartId) -> bool {
    let tree = &condition.tree;
    let whole = &tree.part(part).place;
    let is_inside = |place: &std::ops::Range<usize>| whole.start <= place.start && place.end <= whole.end;
    let mut parts = (0..=part).map(|part| tree.part(part)).filter(|part| is_inside(&part.place));
    parts.any(|part| match &part.form {
        Form::Call { name, .. } => {
            ["since", "session_range", "pivots", "cci", "z_score"].contains(&name.as_str())
        }
        Form::Binary { operator, .. } => *operator == Operator::Divide,
        _ => false,
    })
}

pub(crate) fn text_of(condition: &Condition, part: PartId) -> String {
    one_line(condition.text.get(condition.tree.part(part).place.clone()).unwrap_or_default())
}

impl Range {
    const ANY: Self =
        Self { least: f64::NEG_INFINITY, most: f64::INFINITY, is_least_out: false, is_most_out: false };

    /// What a comparison with a number leaves; none where that is no range.
    fn of(operator: Operator, number: f64) -> Option<Self> {
        match operator {
            Operator::Less => Some(Self { most: number, is_most_out: true, ..Self::ANY }),
            Operator::LessOrEqual => Some(Self { most: number, ..Self::ANY }),
            Operator::Greater => Some(Self { least: number, is_least_out: true, ..Self::ANY }),
            Operator::GreaterOrEqual => Some(Self { least: number, ..Self::ANY }),
            Operator::Equal => Some(Self { least: number, most: number, ..Self::ANY }),
            _ => None,
        }
    }

    /// What lies in both.
    fn and(self, other: Self) -> Self {
        let is_least_out = (self.is_least_out && self.least >= other.least)
            || (other.is_least_out && other.least >= self.least);
        let is_most_out =
            (self.is_most_out && self.most <= other.most) || (other.is_most_out && other.most <= self.most);
        Self {
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            is_least_out,
            is_most_out,
        }
    }

    fn is_empty(self) -> bool {
        self.least > self.most || (self.least >= self.most && (self.is_least_out || self.is_most_out))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Rule, doubtful_parts};
    use candlewick_sdk::testkit::random_walk;
    use candlewick_sdk::{BotContext, Expiry, Interval, Registry};
    use proptest::prelude::*;
    use serde_json::json;

    fn found(buy: &str) -> Vec<String> {
        // What is said of hours is said of shorter candles.
        let own: Interval = "1h".parse().unwrap();
        doubtful_parts(&Registry::default(), (crate::NAME, &json!({ "buy": buy })), own).unwrap()
    }

    #[test]
    fn what_no_value_can_be_is_told() {
        for (buy, expected) in [
            ("rsi(14) > 130", "`rsi(14) > 130` never holds: the value lies between 0 and 100"),
            ("rsi(14)[1] < 0", "`rsi(14)[1] < 0` never holds: the value lies between 0 and 100"),
            ("100 < stochastic(14, 3, 3).k@5m", "`100 < stochastic(14, 3, 3).k@5m` never holds"),
            ("adx(14).plus_di >= 100.5", "`adx(14).plus_di >= 100.5` never holds"),
            ("williams_r(14) > 20", "`williams_r(14) > 20` never holds: the value lies between -100 and 0"),
            (
                "close > open and weekday() == 0",
                "`weekday() == 0` never holds: the value lies between 1 and 7",
            ),
            ("hour('Europe/London') == 24 or close > open", "`hour('Europe/London') == 24` never holds"),
            (
                "rsi(14) < 30 and (close > open and rsi( 14 ) > 70)",
                "`rsi(14) < 30` and `rsi( 14 ) > 70` never hold at one candle: is `or` meant?",
            ),
            ("close > 5 and close < 5", "`close > 5` and `close < 5` never hold at one candle"),
            (
                "crosses_above(rsi(14), 130)",
                "`crosses_above(rsi(14), 130)` never holds: the value lies between 0",
            ),
            ("crosses_below(rsi(14), 0)", "`crosses_below(rsi(14), 0)` never holds"),
            ("crosses_below(100, rsi(14))", "`crosses_below(100, rsi(14))` never holds"),
            (
                "since(close > open, 5) > 5",
                "`since(close > open, 5) > 5` never holds: the value lies between 0 and 5",
            ),
            (
                "count(close > open, 5) > 5",
                "`count(close > open, 5) > 5` never holds: the value lies between 0 and 5",
            ),
            ("body() < 0", "`body() < 0` never holds: the value lies at 0 or above"),
            (
                "close > open and rsi(14) >= 0",
                "`rsi(14) >= 0` always holds: the value lies between 0 and 100",
            ),
            (
                "weekday() < 8 and close > open",
                "`weekday() < 8` always holds: the value lies between 1 and 7",
            ),
            (
                "supertrend(10, 3) > 0",
                "`supertrend(10, 3) > 0` compares a price with 0: is `supertrend(10, 3).trend` meant",
            ),
            (
                "parabolic_sar(0.02, 0.2).stop == -1",
                "`parabolic_sar(0.02, 0.2).stop == -1` compares a price with -1: is",
            ),
            (
                "crosses_above(supertrend(10, 3), 0)",
                "`crosses_above(supertrend(10, 3), 0)` compares a price with 0",
            ),
            ("weekday() == 1 and weekday() == 2", "`weekday() == 1` and `weekday() == 2` never hold"),
        ] {
            let found = found(buy);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{buy}: {found:?}");
        }
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
            "since(close > open, 5) <= 5 or (since(close > open) >= 0 and since(close > open, 5)[1] < 6)",
            "count(since(close > open, 5) < 3, 4) >= 0 and rsi(14, close / volume) >= 0",
            "(rsi(14) < 30 and close > open) or (rsi(14) > 70 and close < open)",
        ] {
            assert_eq!(found(buy), [""; 0], "{buy}");
        }
    }

    /// On how many candles of chance a condition holds, and on how many it is looked at.
    fn held(buy: &str) -> (u64, u64) {
        let params = json!({ "buy": buy });
        let registry = Registry::default().with_entry(crate::entry()).unwrap();
        let bot = BotContext {
            bot: "a".to_owned(),
            symbol: "BTCUSDT".parse().unwrap(),
            interval: Interval::MINUTE,
            expiry: Expiry::minutes(1).unwrap(),
            longer_share_percent: None,
        };
        let held =
            crate::held_conditions(&registry, (crate::NAME, &params), &bot, &random_walk(5, 600)).unwrap();
        (held[0].held, held[0].candles)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// What is said never to hold does not, on any candle that is tried.
        #[test]
        fn what_is_told_holds_at_no_candle(
            value in prop::sample::select(vec!["rsi(3)", "stochastic(5, 3, 3).k", "williams_r(5)", "hour()", "close"]),
            signs in prop::array::uniform2(prop::sample::select(vec!["<", "<=", ">", ">=", "=="])),
            numbers in prop::array::uniform2(-3_i32..6),
        ) {
            let numbers = numbers.map(|number| number * 25);
            let buy = format!("{value} {} {} and {value} {} {}", signs[0], numbers[0], signs[1], numbers[1]);
            prop_assert!(Rule::parse(Some(&buy), None).is_ok());
            if found(&buy).iter().any(|words| words.contains(" never hold")) {
                prop_assert_eq!(held(&buy).0, 0, "{}", buy);
            }
        }

        /// Nor does a crossing of which that is said, and what always holds does at each candle.
        #[test]
        fn what_is_told_of_one_comparison_is_so_at_every_candle(
            value in prop::sample::select(vec!["rsi(3)", "williams_r(5)", "hour()", "count(close > open, 3)", "since(close > open, 1)", "body()"]),
            sign in prop::sample::select(vec!["<", "<=", ">", ">=", "==", "crosses_above", "crosses_below"]),
            number in prop::sample::select(vec![-100, -1, 0, 1, 3, 4, 24, 50, 100, 101]),
        ) {
            let buy = match sign {
                "crosses_above" | "crosses_below" => format!("{sign}({value}, {number})"),
                sign => format!("{value} {sign} {number}"),
            };
            let (held, candles) = held(&buy);
            match &found(&buy)[..] {
                [] => {}
                [words] if words.contains(" always holds") => prop_assert_eq!(held, candles, "{}", buy),
                [words] => prop_assert!(words.contains(" never holds") && held == 0, "{}: {}", buy, words),
                more => prop_assert!(false, "{}: {:?}", buy, more),
            }
        }
    }
}
