//! Lints for conditions. They find comparisons that are always or never true, and probable mistakes.

#[cfg(test)]
mod tests;

use crate::inside::nested_conditions;
use crate::rule::{Condition, collapse_whitespace};
use crate::syntax::{Form, Operator, PartId};
use candlewick_sdk::{BuildError, Interval, Registry};
use serde_json::Value;

const MAX_TREND_VALUE: f64 = 1.0;
const CHANGE_FUNCTIONS: [&str; 3] = ["rising", "falling", "change"];
/// Functions that may lack a value even after warm-up.
const FUNCTIONS_WITH_GAPS: [&str; 5] = ["since", "session_range", "pivots", "cci", "z_score"];

type Check = fn(&Condition, PartId, Interval) -> Option<String>;

const CHECKS: [Check; 4] = [check_change_calls, check_crossing, check_price_line, check_channel];

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
        let of_groups = condition.tree.and_groups().flat_map(|group| check_conjunction(condition, group));
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

struct NumberComparison {
    relation: Relation,
    value: PartId,
    number: f64,
    is_upper: bool,
}

/// Bound of a range: a number and an offset. The offsets -1 and 1 mean just below and just above the number.
type Bound = (f64, i8);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: Bound,
    most: Bound,
}

impl Range {
    const UNBOUNDED: Self = Self { least: (f64::NEG_INFINITY, 0), most: (f64::INFINITY, 0) };

    const fn new(least: f64, most: f64) -> Self {
        Self { least: (least, 0), most: (most, 0) }
    }

    /// Returns the range of a function's or candle field's values. `None` if the range is unknown.
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "rsi" | "adx" | "stochastic" => Self::new(0.0, 100.0),
            "williams_r" => Self::new(-100.0, 0.0),
            "hour" => Self::new(0.0, 23.0),
            "minute" => Self::new(0.0, 59.0),
            "weekday" => Self::new(1.0, 7.0),
            "body" | "range" | "upper_wick" | "lower_wick" | "atr" | "abs" | "volume" => {
                Self::new(0.0, f64::INFINITY)
            }
            _ => return None,
        })
    }

    fn intersect(self, other: Self) -> Self {
        Self {
            least: if self.least > other.least { self.least } else { other.least },
            most: if self.most < other.most { self.most } else { other.most },
        }
    }

    fn is_empty(self) -> bool {
        self.least > self.most
    }

    fn describe(self) -> String {
        let (least, most) = (self.least.0, self.most.0);
        if most.is_finite() { format!("between {least} and {most}") } else { format!("{least} or above") }
    }
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

impl NumberComparison {
    fn from_part(condition: &Condition, part: PartId) -> Option<Self> {
        let Comparison { relation, lower, higher } = Comparison::from_part(condition, part)?;
        let (value, number, is_upper) = match [lower, higher].map(|side| condition.number(side)) {
            [None, Some(number)] => (lower, number, true),
            [Some(number), None] => (higher, number, false),
            _ => return None,
        };
        Some(Self { relation, value, number, is_upper })
    }

    fn accepted_range(&self) -> Option<Range> {
        let (number, is_strict) = (self.number, i8::from(self.relation == Relation::Below));
        match self.relation {
            Relation::Crossing => None,
            Relation::Equal => Some(Range::new(number, number)),
            _ if self.is_upper => Some(Range { most: (number, -is_strict), ..Range::UNBOUNDED }),
            _ => Some(Range { least: (number, is_strict), ..Range::UNBOUNDED }),
        }
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
                Some(Range::new(0.0, most.unwrap_or(f64::INFINITY)))
            }
            Form::Call { name, .. } => Range::from_name(name),
            Form::Name(name) if name == "volume" => Range::from_name(name),
            // For these indicators, every line has the range of the indicator.
            Form::Line { of, .. } | Form::Back { of, .. } | Form::At { of, .. } => self.value_range(*of),
            _ => None,
        }
    }

    fn may_be_missing(&self, part: PartId) -> bool {
        let whole = &self.tree.part(part).span;
        let parts = (0..=part).map(|part| self.tree.part(part));
        let mut inner = parts.filter(|part| whole.start <= part.span.start && part.span.end <= whole.end);
        inner.any(|part| match &part.form {
            Form::Call { name, .. } => FUNCTIONS_WITH_GAPS.contains(&name.as_str()),
            Form::Binary { operator, .. } => *operator == Operator::Divide,
            _ => false,
        })
    }
}

fn check_conjunction(condition: &Condition, group: Vec<PartId>) -> Vec<String> {
    let mut found = Vec::new();
    let mut earlier: Vec<(String, String, Range)> = Vec::new();
    for part in group {
        let Some(comparison) = NumberComparison::from_part(condition, part) else { continue };
        let Some(accepted) = comparison.accepted_range() else { continue };
        let (text, value) =
            (condition.part_text(part), condition.part_text(comparison.value).replace(' ', ""));
        let known = condition.value_range(comparison.value).unwrap_or(Range::UNBOUNDED);
        let common = accepted.intersect(known);
        let is_always = common == known && !condition.may_be_missing(comparison.value);
        if common.is_empty() || is_always {
            let holds = if is_always { "always" } else { "never" };
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

fn check_crossing(condition: &Condition, part: PartId, _: Interval) -> Option<String> {
    let NumberComparison { relation, value, number, is_upper } =
        NumberComparison::from_part(condition, part)?;
    let known = condition.value_range(value).filter(|_| relation == Relation::Crossing)?;
    // Before a crossing, the value is on the other side of the bound or equal to it.
    let (least, most) = (known.least.0, known.most.0);
    let can_cross =
        if is_upper { least < number && number <= most } else { least <= number && number < most };
    let text = condition.part_text(part);
    (!can_cross).then(|| format!("`{text}` never holds: the compared value is {}", known.describe()))
}

/// Finds comparisons of an indicator's price line where its trend was probably meant, as in `supertrend(10, 3) > 0`.
fn check_price_line(condition: &Condition, part: PartId, _: Interval) -> Option<String> {
    let NumberComparison { value, number, .. } = NumberComparison::from_part(condition, part)?;
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

const CANDLE_PRICES: [&str; 6] = ["open", "high", "low", "close", "median", "typical"];

struct PastValue<'c> {
    part: PartId,
    back: f64,
    longer: Option<&'c str>,
}

impl<'c> PastValue<'c> {
    fn from_part(condition: &'c Condition, part: PartId) -> Option<Self> {
        let (part, longer) = match &condition.tree.part(part).form {
            Form::At { of, interval, .. } => (*of, Some(interval.as_str())),
            _ => (part, None),
        };
        let (part, back) = match condition.tree.part(part).form {
            Form::Back { of, by } => (of, condition.number(by)?),
            _ => (part, 0.0),
        };
        let is_shifted = matches!(condition.tree.part(part).form, Form::Back { .. } | Form::At { .. });
        (!is_shifted).then_some(Self { part, back, longer })
    }
}

/// Returns `(is_upper, period)` for the upper or lower line of a Donchian channel, `None` for other values.
/// A period set by a parameter is unknown here and counts as 1, the shortest possible period.
fn channel_edge(condition: &Condition, value: &PastValue<'_>) -> Option<(bool, f64)> {
    let Form::Line { of, name: line, .. } = &condition.tree.part(value.part).form else { return None };
    let Form::Call { name, arguments, .. } = &condition.tree.part(*of).form else { return None };
    let is_edge = name == "donchian" && ["upper", "lower"].contains(&line.as_str());
    let period = arguments.first().and_then(|period| condition.number(*period));
    is_edge.then_some((line == "upper", period.unwrap_or(1.0)))
}

fn check_channel(condition: &Condition, part: PartId, _: Interval) -> Option<String> {
    let comparison = Comparison::from_part(condition, part)?;
    let (lower, higher) = difference_operands(condition, &comparison);
    let (lower, higher) = (PastValue::from_part(condition, lower)?, PastValue::from_part(condition, higher)?);
    let edges = [&lower, &higher].map(|side| channel_edge(condition, side));
    let (edge, price, candles, is_outside) = match edges {
        [Some((is_upper, candles)), None] => (&lower, &higher, candles, is_upper),
        [None, Some((is_upper, candles))] => (&higher, &lower, candles, !is_upper),
        _ => return None,
    };
    let Form::Name(name) = &condition.tree.part(price.part).form else { return None };
    let is_candle = CANDLE_PRICES.contains(&name.as_str()) && edge.longer == price.longer;
    if !is_candle || !(edge.back..edge.back + candles).contains(&price.back) {
        return None;
    }
    let holds = match (is_outside, comparison.relation) {
        (true, Relation::Below | Relation::Crossing) => "never",
        (false, Relation::AtMost) => "always",
        _ => return None,
    };
    let (text, channel) = (condition.part_text(part), condition.part_text(edge.part));
    let longer = edge.longer.map_or_else(String::new, |interval| format!("@{interval}"));
    Some(format!(
        "`{text}` {holds} holds: the channel includes the candle itself; did you mean `{channel}[{}]{longer}`, the previous channel?",
        price.back + 1.0
    ))
}

/// Returns the operands of a comparison. `a - b > 0` is treated like `a > b`.
fn difference_operands(condition: &Condition, comparison: &Comparison) -> (PartId, PartId) {
    let Comparison { lower, higher, .. } = *comparison;
    let is_zero = |part: PartId| condition.number(part).is_some_and(|number| number.abs() < f64::EPSILON);
    let difference = |part: PartId| match condition.tree.part(part).form {
        Form::Binary { operator: Operator::Subtract, left, right } => Some((left, right)),
        _ => None,
    };
    let sides = match (is_zero(lower), is_zero(higher)) {
        (true, false) => difference(higher).map(|(from, taken)| (taken, from)),
        (false, true) => difference(lower),
        _ => None,
    };
    sides.unwrap_or((lower, higher))
}
