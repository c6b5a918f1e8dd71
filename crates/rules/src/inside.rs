//! Access to the conditions of a bot's rule, or of the rules inside its combination.

use crate::combine::{self, rules_inside};
use crate::entry::{NAME, Source};
use crate::rule::Condition;
use crate::syntax::Form;
use candlewick_sdk::{BuildError, Registry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

fn rules_of(registry: &Registry, (strategy, params): (&str, &Value)) -> Result<Vec<Value>, BuildError> {
    Ok(match strategy {
        NAME => vec![params.clone()],
        combine::NAME => {
            let rules = rules_inside(params, &Arc::new(registry.clone()), 0)?;
            rules.into_iter().map(|(_, params)| params).collect()
        }
        _ => Vec::new(),
    })
}

pub(crate) fn conditions_inside(
    registry: &Registry,
    (strategy, params): (&str, &Value),
) -> Result<Vec<Condition>, BuildError> {
    let mut conditions = Vec::new();
    for params in rules_of(registry, (strategy, params))? {
        conditions.extend(Source::of(&params)?.rule()?.conditions().map(|(_, condition)| condition.clone()));
    }
    Ok(conditions)
}

pub fn looks_at_volume(registry: &Registry, strategy: (&str, &Value)) -> Result<bool, BuildError> {
    let conditions = conditions_inside(registry, strategy)?;
    let forms = conditions.iter().flat_map(|one| (0..one.tree.len()).map(|part| &one.tree.part(part).form));
    Ok(forms.into_iter().any(|form| matches!(form, Form::Name(name) if name == "volume")))
}

/// Counts the numbers and texts of a bot's rules: everything that could be fitted to candles.
/// Parameters count where they are used.
pub fn count_numbers(registry: &Registry, strategy: (&str, &Value)) -> Result<usize, BuildError> {
    let is_number = |form: &Form, parameters: &BTreeMap<String, f64>| match form {
        Form::Number(_) | Form::Text(_) => true,
        Form::Name(name) => parameters.contains_key(name),
        _ => false,
    };
    let mut count = 0;
    for params in rules_of(registry, strategy)? {
        let source = Source::of(&params)?;
        let parameters = source.numbers(&Value::Null);
        for (_, condition) in source.rule()?.conditions() {
            let forms = (0..condition.tree.len()).map(|part| &condition.tree.part(part).form);
            count += forms.filter(|form| is_number(form, &parameters)).count();
        }
    }
    Ok(count)
}

pub fn quoted_texts(registry: &Registry, strategy: (&str, &Value)) -> Result<Vec<String>, BuildError> {
    let mut texts = Vec::new();
    for condition in conditions_inside(registry, strategy)? {
        let forms = (0..condition.tree.len()).map(|part| &condition.tree.part(part).form);
        texts.extend(forms.filter_map(|form| match form {
            Form::Text(text) => Some(text.clone()),
            _ => None,
        }));
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_texts_and_parameters_are_counted_where_they_are_used() {
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
            let found = count_numbers(&Registry::default(), (NAME, &params)).unwrap();
            assert_eq!(found, expected, "{params}");
        }
        assert_eq!(count_numbers(&Registry::default(), ("ema-cross", &json!({ "fast": 9 }))).unwrap(), 0);
    }
}
