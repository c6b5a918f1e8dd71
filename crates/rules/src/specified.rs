//! Strategy entries that are rebuilt if the parameters of a bot redefine the rule.

use candlewick_sdk::{BuildError, StrategyEntry};
use serde_json::Value;

/// Wraps an entry so that other texts, lists or tables rebuild it with `specify`.
///
/// Numbers and booleans only override parameters. Anything else, such as another rule file in a
/// search, brings its own parameters and defaults.
pub(crate) fn made_anew_of_others(
    entry: StrategyEntry,
    specify: impl Fn(&Value) -> Result<StrategyEntry, BuildError> + Send + Sync + 'static,
) -> StrategyEntry {
    let own = entry.clone();
    entry.specified_by(
        move |params| {
            if says_what_it_is(params, &own) { Ok(own.clone()) } else { specify(params) }
        },
    )
}

fn says_what_it_is(params: &Value, entry: &StrategyEntry) -> bool {
    let is_other = |(name, value): (&String, &Value)| {
        let is_value = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
        let known = entry.parameters.iter().find(|parameter| parameter.name == *name);
        !is_value && known.is_some_and(|known| known.default != *value)
    };
    !params.as_object().into_iter().flatten().any(is_other)
}
