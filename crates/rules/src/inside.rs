//! Analysis of a bot's rules. For a combination, this includes the rules of all parts.

use crate::combine::nested_rules;
use crate::compile::Compiler;
use crate::entry::{NAME, RuleSource};
use crate::graph::{Graph, Id, Op};
use crate::indicator::Indicator;
use crate::rule::Condition;
use crate::syntax::Form;
use crate::{Rule, RuleError, Side, combine};
use candlewick_sdk::{BuildError, Interval, Registry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

fn collect_rules(registry: &Registry, (strategy, params): (&str, &Value)) -> Result<Vec<Value>, BuildError> {
    Ok(match strategy {
        NAME => vec![params.clone()],
        combine::NAME => nested_rules(params, &Arc::new(registry.clone()), 0)?,
        _ => Vec::new(),
    })
}

pub(crate) fn nested_conditions(
    registry: &Registry,
    (strategy, params): (&str, &Value),
) -> Result<Vec<Condition>, BuildError> {
    let mut conditions = Vec::new();
    for params in collect_rules(registry, (strategy, params))? {
        let rule = RuleSource::new(&params)?.rule()?;
        conditions.extend(rule.conditions().map(|(_, condition)| condition.clone()));
    }
    Ok(conditions)
}

/// Counts everything in a bot's rules that can be fitted to past prices: numbers, texts and used parameters.
pub fn count_fitted_values(registry: &Registry, strategy: (&str, &Value)) -> Result<usize, BuildError> {
    let is_number = |form: &Form, parameters: &BTreeMap<String, f64>| match form {
        Form::Number(_) | Form::Text(_) => true,
        Form::Name(name) => parameters.contains_key(name),
        _ => false,
    };
    let mut count = 0;
    for params in collect_rules(registry, strategy)? {
        let source = RuleSource::new(&params)?;
        let parameters = source.parameter_values(&Value::Null);
        for (_, condition) in source.rule()?.conditions() {
            count += condition.tree.forms().filter(|form| is_number(form, &parameters)).count();
        }
    }
    Ok(count)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestWarmupPart {
    /// Text of the part with parameter values inserted, such as `ema(100)@1h`.
    pub text: String,
    /// Warm-up, in the bot's own candles.
    pub warmup: usize,
    /// Simple moving average with the same period and a shorter warm-up, such as `sma(100)@1h`, and its warm-up in
    /// candles. `None` if the part is not an exponential moving average.
    pub windowed_average: Option<(String, usize)>,
}

pub fn longest_warmup_part(
    registry: &Registry,
    (strategy, params): (&str, &Value),
    own: Interval,
) -> Result<Option<LongestWarmupPart>, BuildError> {
    let mut longest: Option<LongestWarmupPart> = None;
    for params in collect_rules(registry, (strategy, params))? {
        let source = RuleSource::new(&params)?;
        let numbers = source.parameter_values(&params);
        let part = find_longest_warmup_part(&source.rule()?, &numbers, own);
        let part = part.map_err(|(side, error)| source.side_error(side, &error))?;
        longest = longest
            .into_iter()
            .chain(part)
            .reduce(|one, other| if other.warmup > one.warmup { other } else { one });
    }
    Ok(longest)
}

fn find_longest_warmup_part(
    rule: &Rule,
    numbers: &BTreeMap<String, f64>,
    own: Interval,
) -> Result<Option<LongestWarmupPart>, (Side, RuleError)> {
    let mut compiler = Compiler::new(numbers, own);
    let mut conditions: Vec<Id> = Vec::new();
    for (side, condition) in rule.conditions() {
        conditions.push(compiler.compile(&condition.tree).map_err(|error| (side, error))?);
    }
    let graph = &compiler.graph;
    let Some(whole) = value_with_longest_warmup(graph, conditions.into_iter()) else { return Ok(None) };
    let part = dominant_part(graph, whole);
    let (inner, behind) = match graph.node(part).op {
        Op::Longer(inner) => {
            let inner_part = dominant_part(graph, inner);
            let interval = graph.intervals()[graph.node(inner).interval_index];
            (inner_part, format!("@{interval}"))
        }
        _ => (part, String::new()),
    };
    let text = format!("{}{behind}", compiler.bracketed_name(inner));
    let Some(candles) = expression_warmup(&text, own) else { return Ok(None) };
    let is_average = matches!(&graph.node(inner).op,
        Op::Indicator { indicator, .. } if matches!(**indicator, Indicator::Ema(_)));
    let windowed = is_average.then(|| text.replacen("ema(", "sma(", 1));
    let windowed = windowed.and_then(|text| expression_warmup(&text, own).map(|candles| (text, candles)));
    Ok(Some(LongestWarmupPart { text, warmup: candles, windowed_average: windowed }))
}

fn value_with_longest_warmup(graph: &Graph, values: impl Iterator<Item = Id>) -> Option<Id> {
    values.max_by_key(|id| graph.node(*id).warmup_candles)
}

fn dominant_part(graph: &Graph, from: Id) -> Id {
    let mut at = from;
    // Stops at lines, because they are named after their indicator, and at values of longer candles.
    while !matches!(graph.node(at).op, Op::Line(..) | Op::Longer(_)) {
        let Some(part) = value_with_longest_warmup(graph, graph.node(at).op.operands()) else { break };
        if graph.node(part).warmup_candles * 2 < graph.node(at).warmup_candles {
            break;
        }
        at = part;
    }
    at
}

fn expression_warmup(text: &str, own: Interval) -> Option<usize> {
    let none = BTreeMap::new();
    let warm = |text: &str| {
        let rule = Rule::parse(Some(text), None).ok()?;
        let mut compiler = Compiler::new(&none, own);
        let (_, condition) = rule.conditions().next()?;
        let id = compiler.compile(&condition.tree).ok()?;
        Some(compiler.graph.node(id).warmup_candles)
    };
    warm(text).or_else(|| warm(&format!("{text} > 0")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_used_numbers_texts_and_parameters() {
        for (params, expected) in [
            (json!({ "buy": "close > open" }), 0),
            (json!({ "buy": "rsi(14) < 30", "sell": "rsi(14) > 70" }), 4),
            (json!({ "buy": "rsi(14) < 30 and between('08:00', '17:00')" }), 4),
            (
                json!({
                    "buy": "rsi(period) < 30", "sell": "rsi(period) > 70",
                    "parameters": { "period": { "default": 14 } },
                }),
                4,
            ),
        ] {
            let found = count_fitted_values(&Registry::default(), (NAME, &params)).unwrap();
            assert_eq!(found, expected, "{params}");
        }
        assert_eq!(
            count_fitted_values(&Registry::default(), ("ema-cross", &json!({ "fast": 9 }))).unwrap(),
            0
        );
    }

    fn longest(buy: &str) -> (String, usize, Option<(String, usize)>) {
        let params = json!({ "buy": buy, "parameters": { "trend": { "default": 100 } } });
        let buy = buy.contains("trend");
        let params = if buy { params } else { json!({ "buy": params["buy"] }) };
        let found =
            longest_warmup_part(&Registry::default(), (NAME, &params), Interval::MINUTE).unwrap().unwrap();
        (found.text, found.warmup, found.windowed_average)
    }

    #[test]
    fn longest_part_suggests_a_windowed_average() {
        // An hour has 60 candles. Values of longer candles need one more hour: (100 + 1) * 60.
        let windowed = Some(("sma(100)@1h".to_owned(), 6_060));
        let (text, candles, found) = longest("rsi(7) < 30 and close > ema(trend)@1h");
        assert_eq!((text.as_str(), found), ("ema(100)@1h", windowed.clone()));
        assert!(candles > 60_000 && candles.is_multiple_of(60), "{candles}");
        assert_eq!(longest("falling((close - ema(100))@1h, 3) or doji()").2, windowed);
        for (buy, expected, candles) in [
            ("close > sma(20) and close > sma(50)@15m", "sma(50)@15m", 51 * 15),
            ("since(rsi(2) < 5, 400) < 9", "since(rsi(2) < 5, 400)", 0),
            ("close > donchian(300).upper[1]", "donchian(300).upper", 300),
            ("close > close[250]", "close[250]", 251),
            ("doji()@1h", "range()@1h", 0),
        ] {
            let (text, found, windowed) = longest(buy);
            assert_eq!((text.as_str(), windowed), (expected, None), "{buy}");
            assert!(candles == 0 || found == candles, "{buy}: {found}");
        }
    }
}
