//! An entry that is made anew where the parameters of a bot say that it is something else.

use candlewick_sdk::{BuildError, StrategyEntry};
use serde_json::Value;

/// The entry that `specify` has made of a bot's parameters. Numbers and truths are values of it; of other texts, lists and tables, such as a
/// search tries, `specify` makes another one: a file of another rule has parameters and defaults of its own.
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

/// Whether all that is no value is what the entry was made of, which stands in it as defaults.
fn says_what_it_is(params: &Value, entry: &StrategyEntry) -> bool {
    let is_other = |(name, value): (&String, &Value)| {
        let is_value = matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
        let known = entry.parameters.iter().find(|parameter| parameter.name == *name);
        !is_value && known.is_some_and(|known| known.default != *value)
    };
    !params.as_object().into_iter().flatten().any(is_other)
}
