//! Lint: prices compared with a channel that includes their candle, `close > donchian(20).upper`.

use super::{Comparison, Relation};
use crate::rule::Condition;
use crate::syntax::{Form, Operator, PartId};
use candlewick_sdk::Interval;

const CANDLE_PRICES: [&str; 6] = ["open", "high", "low", "close", "median", "typical"];

struct Unshifted<'c> {
    part: PartId,
    back: f64,
    longer: Option<&'c str>,
}

impl<'c> Unshifted<'c> {
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

struct ChannelEdge<'c> {
    value: Unshifted<'c>,
    is_upper: bool,
    /// Number of candles in the channel; at least 1 if the period is a parameter.
    candles: f64,
}

impl<'c> ChannelEdge<'c> {
    fn from_part(condition: &'c Condition, part: PartId) -> Option<Self> {
        let value = Unshifted::from_part(condition, part)?;
        let Form::Line { of, name, .. } = &condition.tree.part(value.part).form else { return None };
        let is_upper = match name.as_str() {
            "upper" => true,
            "lower" => false,
            _ => return None,
        };
        let Form::Call { name, arguments, .. } = &condition.tree.part(*of).form else { return None };
        let period = arguments.first().and_then(|period| condition.number(*period));
        (name == "donchian").then_some(Self { value, is_upper, candles: period.unwrap_or(1.0) })
    }

    fn contains(&self, price: &Unshifted<'_>) -> bool {
        let first = self.value.back;
        self.value.longer == price.longer && first <= price.back && price.back < first + self.candles
    }
}

pub(super) fn check(condition: &Condition, _: Interval) -> Vec<String> {
    let check_part = |part: PartId| {
        let comparison = Comparison::from_part(condition, part)?;
        let (lower, higher) = without_difference(condition, &comparison);
        let edges = [lower, higher].map(|side| ChannelEdge::from_part(condition, side));
        let (edge, price, is_channel_lower) = match edges {
            [Some(edge), None] => (edge, higher, true),
            [None, Some(edge)] => (edge, lower, false),
            _ => return None,
        };
        let price = Unshifted::from_part(condition, price)?;
        let Form::Name(name) = &condition.tree.part(price.part).form else { return None };
        if !CANDLE_PRICES.contains(&name.as_str()) || !edge.contains(&price) {
            return None;
        }
        let holds = match (edge.is_upper == is_channel_lower, comparison.relation) {
            (true, Relation::Below | Relation::Crossing) => "never",
            (false, Relation::AtMost) => "always",
            _ => return None,
        };
        let (text, channel) = (condition.text_of(part), condition.text_of(edge.value.part));
        let longer = edge.value.longer.map_or_else(String::new, |interval| format!("@{interval}"));
        Some(format!(
            "`{text}` {holds} holds: the channel includes the candle itself; did you mean `{channel}[{}]{longer}`, the channel before it?",
            price.back + 1.0
        ))
    };
    condition.parts().filter_map(check_part).collect()
}

/// Returns the operands of a comparison; `a - b > 0` has those of `a > b`.
fn without_difference(condition: &Condition, comparison: &Comparison) -> (PartId, PartId) {
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
