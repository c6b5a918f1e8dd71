//! The conditions of a bot's rule, and of those inside of its combination.

use crate::clock_bounds::doubtful_bounds;
use crate::combine::{self, rules_inside};
use crate::entry::{NAME, Source};
use crate::impossible::impossible_parts;
use crate::own_candle::inside_own_channel;
use crate::rule::Condition;
use crate::stepped::stepped_values;
use crate::syntax::Form;
use candlewick_sdk::{BuildError, Interval, Registry};
use serde_json::Value;
use std::sync::Arc;

/// Of a strategy that is a rule, or has some inside, each condition; of another none.
pub(crate) fn conditions_inside(
    registry: &Registry,
    (strategy, params): (&str, &Value),
) -> Result<Vec<Condition>, BuildError> {
    let rules = match strategy {
        NAME => vec![(String::new(), params.clone())],
        combine::NAME => rules_inside(params, &Arc::new(registry.clone()), 0)?,
        _ => Vec::new(),
    };
    let mut conditions = Vec::new();
    for (_, params) in rules {
        conditions.extend(Source::of(&params)?.rule()?.conditions().map(|(_, condition)| condition.clone()));
    }
    Ok(conditions)
}

/// What of a bot's rule, or of those in its combination, does hardly what its author means, in words: values of longer candles whose
/// neighbours are compared, and comparisons that never hold.
///
/// # Errors
/// As [`StrategyEntry::build`](candlewick_sdk::StrategyEntry::build).
pub fn doubtful_parts(
    registry: &Registry,
    strategy: (&str, &Value),
    own: Interval,
) -> Result<Vec<String>, BuildError> {
    let mut found: Vec<String> = Vec::new();
    for condition in conditions_inside(registry, strategy)? {
        let doubts = stepped_values(&condition, own)
            .chain(impossible_parts(&condition))
            .chain(inside_own_channel(&condition))
            .chain(doubtful_bounds(&condition, own));
        for words in doubts {
            if !found.contains(&words) {
                found.push(words);
            }
        }
    }
    Ok(found)
}

/// Whether a bot's rule, or one in its combination, looks at the volume.
///
/// # Errors
/// As [`StrategyEntry::build`](candlewick_sdk::StrategyEntry::build).
pub fn looks_at_volume(registry: &Registry, strategy: (&str, &Value)) -> Result<bool, BuildError> {
    let conditions = conditions_inside(registry, strategy)?;
    let forms = conditions.iter().flat_map(|one| (0..one.tree.len()).map(|part| &one.tree.part(part).form));
    Ok(forms.into_iter().any(|form| matches!(form, Form::Name(name) if name == "volume")))
}

/// The texts in quotes in a bot's rule, or in those of its combination: times of the day and time zones.
///
/// # Errors
/// As [`StrategyEntry::build`](candlewick_sdk::StrategyEntry::build).
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
