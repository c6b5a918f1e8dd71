//! A configured part of a combination: strategy, name and parameters.

use super::entry::{MAX_WITHIN, entry_of, refuse};
use super::view::Part;
use super::written::WrittenPart;
use candlewick_sdk::{BotContext, BuildError, Parameter, Registry, StrategyEntry, suggest};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone, Copy)]
pub(super) enum Form {
    Quick,
    Explained,
}

pub(super) struct Member {
    pub(super) name: String,
    entry: StrategyEntry,
    given: Value,
    parameters: Vec<Parameter>,
    pub(super) weight: f64,
    pub(super) within: Option<usize>,
    pub(super) invert: bool,
}

impl Member {
    pub(super) fn of(
        written: WrittenPart,
        name: String,
        params: &Value,
        registry: &Arc<Registry>,
        depth: usize,
    ) -> Result<Self, BuildError> {
        let wrong = |problem: String| refuse(format!("part {name}: {problem}"));
        let mut own = written.params;
        let prefix = format!("{name}.");
        for (key, value) in params.as_object().into_iter().flatten() {
            if let Some(key) = key.strip_prefix(&prefix) {
                own.insert(key.to_owned(), value.clone());
            }
        }
        let own = Value::Object(own);
        let entry = if written.strategy == super::NAME {
            entry_of(&own, registry, depth + 1)
        } else {
            let known = registry.find(&written.strategy);
            let known = known.ok_or_else(|| {
                let names = registry.entries().iter().map(|entry| entry.name.as_str());
                wrong(format!(
                    "there is no strategy {}; {}",
                    written.strategy,
                    suggest(&written.strategy, names)
                ))
            })?;
            known.for_params(&own).map(std::borrow::Cow::into_owned)
        };
        let entry = entry.map_err(|error| of_part(&name, error))?;
        if entry.wants_prices {
            return Err(wrong(
                "it wants prices between candles, and a part is shown candles alone".to_owned(),
            ));
        }
        if let Some(unknown) = unknown_key(&own, &entry) {
            let known: Vec<&str> = entry.parameters.iter().map(|known| known.name.as_str()).collect();
            return Err(wrong(format!("there is no parameter {unknown}; there are {}", known.join(", "))));
        }
        let weight = written.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(wrong(format!("its weight is a number above 0, not {weight}")));
        }
        if written.within.is_some_and(|within| !(1..=MAX_WITHIN).contains(&within)) {
            return Err(wrong(format!("within is a whole number from 1 to {MAX_WITHIN}")));
        }
        let named = |parameter: &Parameter| Parameter {
            name: format!("{prefix}{}", parameter.name),
            default: own.get(&parameter.name).unwrap_or(&parameter.default).clone(),
            ..parameter.clone()
        };
        let parameters = entry.parameters.iter().map(named).collect();
        let (within, invert) = (written.within, written.invert);
        Ok(Self { parameters, name, entry, given: own, weight, within, invert })
    }

    pub(super) fn into_given(self) -> (String, String, Value) {
        (self.name, self.entry.name, self.given)
    }

    pub(super) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the input of the version hash: everything except the values of parameters.
    pub(super) fn identity(&self) -> Value {
        let Self { name, entry, weight, within, invert, .. } = self;
        json!([name, entry.name, entry.version, weight, within, invert])
    }

    /// Builds the part for one bot. `values` has all parameters of the combination. `within` is the
    /// default number of candles for which a signal is the part's view.
    pub(super) fn build(
        &self,
        values: &Value,
        within: usize,
        (bot, form): (&BotContext, Form),
    ) -> Result<Part, BuildError> {
        let value = |(own, named): (&Parameter, &Parameter)| {
            Some((own.name.clone(), values.get(&named.name).filter(|value| !value.is_null())?.clone()))
        };
        let own: Map<String, Value> =
            self.entry.parameters.iter().zip(&self.parameters).filter_map(value).collect();
        let own = Value::Object(own);
        let strategy = match form {
            Form::Quick => self.entry.build(&own, bot),
            Form::Explained => self.entry.build_explained(&own, bot),
        };
        let strategy = strategy.map_err(|error| of_part(&self.name, error))?;
        Ok(Part::new(self.name.clone(), strategy, self.within.unwrap_or(within), self.invert))
    }
}

/// Returns the name of each part: its own or that of its strategy, numbered if already used.
pub(super) fn names_of(parts: &[&WrittenPart]) -> Result<Vec<String>, BuildError> {
    let mut taken = BTreeSet::new();
    for part in parts.iter().filter(|part| !part.name.is_empty()) {
        let is_allowed = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-');
        if !part.name.chars().all(is_allowed) {
            return Err(refuse(format!(
                "name = \"{}\": use lower-case letters, digits and hyphens",
                part.name
            )));
        }
        if !taken.insert(part.name.clone()) {
            return Err(refuse(format!("two parts are named {}: give one of them another name", part.name)));
        }
    }
    let mut name_of = |part: &&WrittenPart| {
        if !part.name.is_empty() {
            return part.name.clone();
        }
        let numbered = (2..).map(|number| format!("{}-{number}", part.strategy));
        let mut names = std::iter::once(part.strategy.clone()).chain(numbered);
        let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    Ok(parts.iter().map(&mut name_of).collect())
}

fn unknown_key<'a>(own: &'a Value, entry: &StrategyEntry) -> Option<&'a str> {
    let is_known = |key: &str| entry.parameters.iter().any(|parameter| parameter.name == key);
    own.as_object()?.keys().map(String::as_str).find(|key| !is_known(key))
}

fn of_part(name: &str, error: BuildError) -> BuildError {
    match error {
        BuildError::File { .. } => error,
        other => refuse(format!("part {name}: {other}")),
    }
}
