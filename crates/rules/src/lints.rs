//! Lints for conditions. They find comparisons that are always or never true, and probable mistakes.

#[cfg(test)]
mod tests;

use crate::inside::nested_conditions;
use crate::rule::{Condition, collapse_whitespace};
use crate::syntax::{Form, Operator, PartId};
use candlewick_sdk::{BuildError, Interval, Registry};
use serde_json::Value;

/// Largest absolute value of a trend, which is 1 or -1.
const MAX_TREND_VALUE: f64 = 1.0;
const CHANGE_FUNCTIONS: [&str; 3] = ["rising", "falling", "change"];
const CANDLE_PRICES: [&str; 6] = ["open", "high", "low", "close", "median", "typical"];
/// Parts of a value that may be missing even after warm-up.
const PARTS_WITH_GAPS: [&str; 6] = ["since(", "session_range(", "pivots(", "cci(", "z_score(", "/"];

type Check = fn(&Condition, PartId, Interval) -> Option<String>;

const CHECKS: [Check; 3] = [check_change_calls, check_price_line, check_channel];

pub fn lint_conditions(
    registry: &Registry,
    strategy: (&str, &Value),
    own: Interval,
) -> Result<Vec<String>, BuildError> {
    let mut found: Vec<String> = Vec::new();
    for condition in nested_conditions(registry, strategy)? {
        let condition = &condition;
        let of_parts = CHECKS
            .iter()
            .flat_map(|check| (0..condition.tree.len()).filter_map(move |part| check(condition, part, own)));
        let of_groups = condition.tree.and_groups().flat_map(|group| check_ranges(condition, group));
        for text in of_parts.chain(of_groups) {
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    Ok(found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Below,
    AtMost,
    Equal,
    /// `Below` on this candle, but not on the previous candle.
    Crossing,
}

/// A comparison or crossing in normal form. `a > b` is stored as `b` below `a`.
struct Comparison {
    relation: Relation,
    lower: PartId,
    higher: PartId,
}

impl Comparison {
    fn from_part(condition: &Condition, part: PartId) -> Option<Self> {
        let (relation, lower, higher) = match &condition.tree.part(part).form {
            Form::Binary { operator, left, right } => match operator {
                Operator::Less => (Relation::Below, *left, *right),
                Operator::LessOrEqual => (Relation::AtMost, *left, *right),
                Operator::Greater => (Relation::Below, *right, *left),
                Operator::GreaterOrEqual => (Relation::AtMost, *right, *left),
                Operator::Equal => (Relation::Equal, *left, *right),
                _ => return None,
            },
            Form::Call { name, arguments, .. } => match (name.as_str(), &arguments[..]) {
                ("crosses_above", [one, other]) => (Relation::Crossing, *other, *one),
                ("crosses_below", [one, other]) => (Relation::Crossing, *one, *other),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { relation, lower, higher })
    }
}

/// A comparison of a value with a number.
struct Bound {
    value: PartId,
    number: f64,
    /// Values for which the comparison is true.
    accepted: Range,
    is_crossing: bool,
}

impl Bound {
    fn from_part(condition: &Condition, part: PartId) -> Option<Self> {
        let Comparison { relation, lower, higher } = Comparison::from_part(condition, part)?;
        let (value, number, is_upper) = match [lower, higher].map(|side| condition.number(side)) {
            [None, Some(number)] => (lower, number, true),
            [Some(number), None] => (higher, number, false),
            _ => return None,
        };
        let accepted = match (relation, is_upper) {
            (Relation::Equal, _) => Range { least: number, most: number },
            (Relation::AtMost, true) => Range { most: number, ..Range::UNBOUNDED },
            (Relation::AtMost, false) => Range { least: number, ..Range::UNBOUNDED },
            (_, true) => Range { most: number.next_down(), ..Range::UNBOUNDED },
            (_, false) => Range { least: number.next_up(), ..Range::UNBOUNDED },
        };
        Some(Self { value, number, accepted, is_crossing: relation == Relation::Crossing })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    const UNBOUNDED: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY };

    /// Returns the range of a function's or candle field's values. `None` if the range is unknown.
    fn from_name(name: &str) -> Option<Self> {
        let (least, most) = match name {
            "rsi" | "adx" | "stochastic" => (0.0, 100.0),
            "williams_r" => (-100.0, 0.0),
            "hour" => (0.0, 23.0),
            "minute" => (0.0, 59.0),
            "weekday" => (1.0, 7.0),
            "body" | "range" | "upper_wick" | "lower_wick" | "atr" | "abs" | "volume" => (0.0, f64::INFINITY),
            _ => return None,
        };
        Some(Self { least, most })
    }

    fn intersect(self, other: Self) -> Self {
        Self { least: self.least.max(other.least), most: self.most.min(other.most) }
    }

    fn is_empty(self) -> bool {
        self.least > self.most
    }

    fn describe(self) -> String {
        let Self { least, most } = self;
        if most.is_finite() { format!("between {least} and {most}") } else { format!("{least} or above") }
    }
}

impl Condition {
    fn number(&self, part: PartId) -> Option<f64> {
        match self.tree.part(part).form {
            Form::Number(number) => Some(number),
            Form::Negate(inner) => self.number(inner).map(|number| -number),
            _ => None,
        }
    }

    fn part_text(&self, part: PartId) -> String {
        collapse_whitespace(self.text.get(self.tree.part(part).span.clone()).unwrap_or_default())
    }

    fn value_range(&self, part: PartId) -> Option<Range> {
        match &self.tree.part(part).form {
            Form::Call { name, arguments, .. } if ["count", "since"].contains(&name.as_str()) => {
                let most = arguments.get(1).and_then(|most| self.number(*most));
                Some(Range { least: 0.0, most: most.unwrap_or(f64::INFINITY) })
            }
            Form::Call { name, .. } => Range::from_name(name),
            Form::Name(name) if name == "volume" => Range::from_name(name),
            // For these indicators, every line has the range of the indicator.
            Form::Line { of, .. } | Form::Back { of, .. } | Form::At { of, .. } => self.value_range(*of),
            _ => None,
        }
    }
}

/// Finds comparisons with numbers that are always or never true, alone or together with others of an `and` group.
fn check_ranges(condition: &Condition, group: Vec<PartId>) -> Vec<String> {
    let mut found = Vec::new();
    let mut earlier: Vec<(String, String, Range)> = Vec::new();
    for part in group {
        let Some(Bound { value, accepted, is_crossing, .. }) = Bound::from_part(condition, part) else {
            continue;
        };
        let known = condition.value_range(value).unwrap_or(Range::UNBOUNDED);
        let (text, value) = (condition.part_text(part), condition.part_text(value).replace(' ', ""));
        let common = accepted.intersect(known);
        // A value that is always beyond a number never crosses it.
        let is_never = common.is_empty() || (is_crossing && common == known);
        if is_never || (common == known && !PARTS_WITH_GAPS.iter().any(|gap| value.contains(gap))) {
            let holds = if is_never { "never" } else { "always" };
            found.push(format!("`{text}` {holds} holds: the compared value is {}", known.describe()));
        } else {
            let excludes = |other: &Range| accepted.intersect(*other).is_empty();
            let conflict = earlier.iter().find(|(_, same, other)| *same == value && excludes(other));
            found.extend(conflict.map(|(other, ..)| {
                format!("`{other}` and `{text}` never hold on the same candle; did you mean `or`?")
            }));
        }
        earlier.push((text, value, accepted));
    }
    found
}

/// Finds comparisons of an indicator's price line where its trend was probably meant, as in `supertrend(10, 3) > 0`.
fn check_price_line(condition: &Condition, part: PartId, _: Interval) -> Option<String> {
    let Bound { value, number, .. } = Bound::from_part(condition, part)?;
    let line = match &condition.tree.part(value).form {
        Form::Line { of, name, .. } if ["line", "stop"].contains(&name.as_str()) => *of,
        _ => value,
    };
    let Form::Call { name, .. } = &condition.tree.part(line).form else { return None };
    let is_price = ["supertrend", "parabolic_sar"].contains(&name.as_str());
    (is_price && number.abs() <= MAX_TREND_VALUE).then(|| {
        let (text, line) = (condition.part_text(part), condition.part_text(line));
        format!("`{text}` compares a price with {number}; did you mean `{line}.trend`, which is 1 or -1?")
    })
}

/// Finds calls such as `falling(ema(50)@15m, 1)`, which compare bot candles for a value that changes less often.
fn check_change_calls(condition: &Condition, part: PartId, own: Interval) -> Option<String> {
    let tree = &condition.tree;
    let Form::Call { name, arguments, .. } = &tree.part(part).form else { return None };
    let first = arguments.first().filter(|_| CHANGE_FUNCTIONS.contains(&name.as_str()))?;
    let Form::At { of, interval, .. } = &tree.part(*first).form else { return None };
    let longer: Interval = interval.parse().ok()?;
    let times = longer.length().get() / own.length().get();
    // Parameters are skipped, because their value may fit the longer candle.
    let count = arguments.get(1).map_or(Some(1.0), |count| condition.number(*count))?;
    let effect = match (name.as_str(), count > 1.0) {
        _ if times < 2 => return None,
        ("change", true) => return None,
        ("change", false) => format!("is 0 on all but one of {times} candles"),
        (_, true) => "never holds".to_owned(),
        (_, false) => format!("holds on at most one of {times} candles"),
    };
    let inner = std::iter::once(of).chain(&arguments[1..]).map(|part| condition.part_text(*part));
    let meant = format!("{name}({})@{interval}", inner.collect::<Vec<_>>().join(", "));
    let text = condition.part_text(part);
    Some(format!(
        "`{text}` {effect}: it compares {own} candles, but the value changes every {times} candles; did you mean `{meant}`?"
    ))
}

/// Finds comparisons of a price with a channel that includes the price, as in `close > donchian(20).upper`.
fn check_channel(condition: &Condition, part: PartId, _: Interval) -> Option<String> {
    let Comparison { relation, lower, higher } = Comparison::from_part(condition, part)?;
    let form = |part: PartId| &condition.tree.part(part).form;
    let is_channel_below = matches!(form(lower), Form::Line { .. });
    let (channel, price) = if is_channel_below { (lower, higher) } else { (higher, lower) };
    let (Form::Line { of, name: line, .. }, Form::Name(price)) = (form(channel), form(price)) else {
        return None;
    };
    let Form::Call { name, .. } = form(*of) else { return None };
    if name != "donchian" || line == "middle" || !CANDLE_PRICES.contains(&price.as_str()) {
        return None;
    }
    let is_outside = is_channel_below == (line == "upper");
    let holds = match relation {
        Relation::Below | Relation::Crossing if is_outside => "never",
        Relation::AtMost if !is_outside => "always",
        _ => return None,
    };
    let (text, channel) = (condition.part_text(part), condition.part_text(channel));
    Some(format!(
        "`{text}` {holds} holds: the channel includes the candle itself; did you mean `{channel}[1]`, the previous channel?"
    ))
}
