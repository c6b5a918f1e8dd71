//! Schema validation of the configuration, reporting all problems at once.
//!
//! Deserialization would reject the same values, but stops at the first and knows neither the
//! origin of a value nor similar keys.

use super::unknown_key::suggest_key;
use super::wrong_value::{example_of, suggest_choice, suggest_stake, text_of_number};
use super::{KeyPath, Problem};
use candlewick_sdk::{AliasContext, CloseType, Interval, find_key};
use figment::value::{Dict, Num, Tag, Value};
use serde_json::Value as Json;

/// Largest allowed number; floats lose decimals beyond it.
const LARGEST: f64 = 1e15;

pub(super) struct Checker<'a, O> {
    schema: &'a Json,
    root: &'a Value,
    origin_of: O,
}

impl<'a, O: Fn(Tag) -> Option<String>> Checker<'a, O> {
    pub(super) const fn new(schema: &'a Json, root: &'a Value, origin_of: O) -> Self {
        Self { schema, root, origin_of }
    }

    pub(super) fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.visit(self.schema, self.root, &KeyPath::default(), &mut problems);
        problems
    }

    fn visit(&self, schema: &Json, value: &Value, path: &KeyPath, problems: &mut Vec<Problem>) {
        let schema = self.resolve(schema);
        let alternatives = alternatives_of(schema);
        if let Some(allowed) = constants_of(schema) {
            self.check_constant(&allowed, value, path, problems);
        } else if !alternatives.is_empty() {
            self.check_alternatives(&alternatives, value, path, problems);
        } else if !has_type_of(schema, value) {
            // A table lacks only brackets.
            let is_list = types_of(schema).contains(&"array") && !matches!(value, Value::Dict(..));
            problems.push(match example_of(path.last()).filter(|_| is_list) {
                Some(example) => self.wrong_value(value, path, example),
                None => self.wrong_value(value, path, &self.describe(schema)),
            });
        } else {
            match value {
                Value::Dict(_, dict) => self.check_table(schema, dict, value, path, problems),
                Value::Array(_, items) => {
                    for (index, item) in items.iter().enumerate() {
                        self.visit(&schema["items"], item, &path.index(index), problems);
                    }
                }
                Value::String(_, text) => {
                    if let Some(problem) = problem_of_length(path, text) {
                        problems.push(Problem::of_key(path, (self.origin_of)(value.tag()), problem));
                    }
                }
                Value::Num(_, number) if !is_in_range(schema, *number) => {
                    let most =
                        if is_too_large(*number) { format!(" up to {LARGEST}") } else { String::new() };
                    problems.push(self.wrong_value(value, path, &format!("{}{most}", self.describe(schema))));
                }
                _ => {}
            }
        }
    }

    fn check_table(
        &self,
        schema: &Json,
        dict: &Dict,
        table: &Value,
        path: &KeyPath,
        problems: &mut Vec<Problem>,
    ) {
        let properties = schema["properties"].as_object();
        let known = || properties.into_iter().flatten().map(|(name, _)| name.as_str());
        let rest = &schema["additionalProperties"];
        for (key, value) in dict {
            let inner = path.key(key);
            match properties.and_then(|properties| properties.get(key)) {
                Some(schema) => self.visit(schema, value, &inner, problems),
                None if rest.is_object() => self.visit(rest, value, &inner, problems),
                None if properties.is_none() => self.check_numbers(value, &inner, problems),
                None => {
                    let meant = suggest_key(self.schema, &inner, key, &known().collect::<Vec<_>>());
                    let problem = format!("there is no such key; {meant}");
                    problems.push(Problem::of_key(&inner, (self.origin_of)(value.tag()), problem));
                }
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        for key in required.filter(|key| !dict.contains_key(*key)) {
            // A misspelt key, or one of another program, is reported already.
            let is_meant = |given: &String| find_key(&[AliasContext::Setting], given, &[key]).is_some();
            if !dict.keys().any(|given| !known().any(|known| known == given) && is_meant(given)) {
                let origin = (self.origin_of)(dict.values().next().map_or_else(|| table.tag(), Value::tag));
                let example = example_of(key).filter(|_| path.to_string().starts_with("bots["));
                let example = example.map(|example| format!("; such as {example}")).unwrap_or_default();
                problems.push(Problem::of_key(
                    &path.key(key),
                    origin,
                    format!("this key is missing{example}"),
                ));
            }
        }
    }

    /// Checks that numbers in parameters are finite and not too large.
    ///
    /// Only the strategies know their types.
    fn check_numbers(&self, value: &Value, path: &KeyPath, problems: &mut Vec<Problem>) {
        match value {
            Value::Dict(_, dict) => {
                for (key, value) in dict {
                    self.check_numbers(value, &path.key(key), problems);
                }
            }
            Value::Array(_, items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check_numbers(item, &path.index(index), problems);
                }
            }
            Value::Num(_, number) if is_too_large(*number) => {
                problems.push(self.wrong_value(value, path, &format!("a number up to {LARGEST}")));
            }
            Value::Num(_, number) if is_nan(*number) => {
                problems.push(self.wrong_value(value, path, "a number"));
            }
            _ => {}
        }
    }

    fn check_constant(&self, allowed: &[&str], value: &Value, path: &KeyPath, problems: &mut Vec<Problem>) {
        let Some(text) = value.as_str() else {
            problems.push(self.wrong_value(value, path, &one_of(allowed)));
            return;
        };
        if !allowed.contains(&text) {
            let hint = suggest_choice(text, allowed).map(|hint| format!("; {hint}")).unwrap_or_default();
            problems.push(self.wrong_value(value, path, &format!("{}{hint}", one_of(allowed))));
        }
    }

    fn check_alternatives(&self, all: &[&Json], value: &Value, path: &KeyPath, problems: &mut Vec<Problem>) {
        let all: Vec<&Json> =
            all.iter().map(|one| self.resolve(one)).filter(|one| one["type"] != "null").collect();
        if let [only] = all.as_slice() {
            return self.visit(only, value, path, problems);
        }
        if let (Some(tag), Value::Dict(_, dict)) = (all.first().and_then(|first| tag_of(first)), value) {
            let given = dict.get(tag).and_then(Value::as_str);
            let is_given = |one: &&&Json| {
                constants_of(&one["properties"][tag])
                    .zip(given)
                    .is_some_and(|(names, given)| names.contains(&given))
            };
            if let Some(chosen) = all.iter().find(is_given) {
                return self.visit(chosen, value, path, problems);
            }
            let names: Vec<&str> =
                all.iter().filter_map(|one| constants_of(&one["properties"][tag])).flatten().collect();
            let inner = path.key(tag);
            if let Some(given) = dict.get(tag) {
                self.check_constant(&names, given, &inner, problems);
            } else {
                let problem = format!("this key is missing; use {}", one_of(&names));
                problems.push(Problem::of_key(&inner, (self.origin_of)(value.tag()), problem));
            }
            return;
        }
        let fits = |one: &&&Json| {
            let mut found = Vec::new();
            self.visit(one, value, path, &mut found);
            found.is_empty()
        };
        if all.iter().find(fits).is_none() {
            if let Some(table) = suggest_stake(path.last(), value) {
                let problem = Problem::of_key(path, (self.origin_of)(value.tag()), table);
                problems.push(problem.value(print(value)));
                return;
            }
            let allowed: Vec<String> = all.iter().map(|one| self.describe(one)).collect();
            problems.push(self.wrong_value(value, path, &allowed.join(" or ")));
        }
    }

    fn wrong_value(&self, value: &Value, path: &KeyPath, allowed: &str) -> Problem {
        // A table where there may be several: one pair of brackets is missing.
        let more = match value {
            Value::Dict(..) if allowed == kind_name("array") => {
                format!(": write [[{path}]] in place of [{path}]")
            }
            Value::Num(..) if allowed == kind_name("string") => {
                let written = text_of_number(path, value);
                written.map(|written| format!(": {written}")).unwrap_or_default()
            }
            _ => String::new(),
        };
        let problem = Problem::of_key(path, (self.origin_of)(value.tag()), format!("use {allowed}{more}"));
        problem.value(print(value))
    }

    fn resolve<'b>(&'b self, schema: &'b Json) -> &'b Json {
        let Some(reference) = schema["$ref"].as_str() else { return schema };
        self.schema.pointer(reference.trim_start_matches('#')).unwrap_or(&Json::Null)
    }

    fn describe(&self, schema: &Json) -> String {
        let schema = self.resolve(schema);
        if let Some(allowed) = constants_of(schema) {
            return one_of(&allowed);
        }
        if let Some(table) = table_of(schema) {
            return table;
        }
        let kinds: Vec<&str> =
            types_of(schema).into_iter().filter(|kind| *kind != "null").map(kind_name).collect();
        let bound = |key: &str, word: &str| schema[key].as_f64().map(|bound| format!(" {word} {bound}"));
        let most = most_of(schema).map(|most| format!(" up to {most}"));
        let bounds = [bound("minimum", "from"), bound("exclusiveMinimum", "above"), most];
        format!("{}{}", kinds.join(" or "), bounds.into_iter().flatten().collect::<String>())
    }
}

fn problem_of_length(path: &KeyPath, text: &str) -> Option<String> {
    let whole = path.to_string();
    match whole.strip_prefix("bots[")?.split_once("].")?.1 {
        "interval" => Some(text.parse::<Interval>().err()?.to_string()),
        "close_type" => Some(text.parse::<CloseType>().err()?.to_string()),
        _ => None,
    }
}

fn table_of(schema: &Json) -> Option<String> {
    let properties = schema["properties"].as_object()?;
    let needed: Vec<&str> = schema["required"].as_array()?.iter().filter_map(Json::as_str).collect();
    let written = |name: &&str| match properties.get(*name).and_then(|one| one["const"].as_str()) {
        Some(only) => format!("{name} = \"{only}\""),
        None => format!("{name} = ..."),
    };
    let keys: Vec<String> = needed.iter().map(written).collect();
    let others: Vec<&str> =
        properties.keys().map(String::as_str).filter(|name| !needed.contains(name)).collect();
    let others =
        if others.is_empty() { String::new() } else { format!(", perhaps with {}", others.join(", ")) };
    (!keys.is_empty()).then(|| format!("a table as {{ {} }}{others}", keys.join(", ")))
}

fn alternatives_of(schema: &Json) -> Vec<&Json> {
    ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten().collect()
}

fn constants_of(schema: &Json) -> Option<Vec<&str>> {
    if let Some(allowed) = schema["enum"].as_array() {
        return allowed.iter().map(Json::as_str).collect();
    }
    if let Some(only) = schema["const"].as_str() {
        return Some(vec![only]);
    }
    let alternatives = alternatives_of(schema);
    let of_one =
        |one: &Json| constants_of(one).map(|texts| texts.into_iter().map(str::to_owned).collect::<Vec<_>>());
    if alternatives.is_empty() || alternatives.iter().any(|one| of_one(one).is_none()) {
        return None;
    }
    Some(alternatives.into_iter().filter_map(constants_of).flatten().collect())
}

fn tag_of(variant: &Json) -> Option<&str> {
    let properties = variant["properties"].as_object()?;
    properties.iter().find(|(_, property)| property["const"].is_string()).map(|(key, _)| key.as_str())
}

fn types_of(schema: &Json) -> Vec<&str> {
    match &schema["type"] {
        Json::String(only) => vec![only],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn has_type_of(schema: &Json, value: &Value) -> bool {
    let types = types_of(schema);
    types.is_empty() || types.iter().any(|kind| is_of_type(kind, value))
}

fn is_of_type(kind: &str, value: &Value) -> bool {
    match value {
        Value::String(..) | Value::Char(..) => kind == "string",
        Value::Bool(..) => kind == "boolean",
        Value::Num(_, Num::F32(_) | Num::F64(_)) => kind == "number",
        Value::Num(..) => kind == "number" || kind == "integer",
        Value::Empty(..) => kind == "null",
        Value::Dict(..) => kind == "object",
        Value::Array(..) => kind == "array",
    }
}

fn is_in_range(schema: &Json, number: Num) -> bool {
    if is_too_large(number) {
        return false;
    }
    let number = number
        .to_f64()
        .or_else(|| number.to_i128().map(|n| n as f64))
        .or_else(|| number.to_u128().map(|n| n as f64));
    let Some(number) = number else { return true };
    let bound = |key: &str| schema[key].as_f64();
    bound("minimum").is_none_or(|least| number >= least)
        && bound("exclusiveMinimum").is_none_or(|least| number > least)
        && most_of(schema).is_none_or(|most| number <= most)
        && !number.is_nan()
}

fn is_nan(number: Num) -> bool {
    number.to_f64().is_some_and(f64::is_nan)
}

fn is_too_large(number: Num) -> bool {
    matches!(number, Num::F32(_) | Num::F64(_))
        && number.to_f64().is_some_and(|number| number.abs() > LARGEST)
}

fn most_of(schema: &Json) -> Option<f64> {
    let of_size = || (schema["format"] == "uint32").then_some(f64::from(u32::MAX));
    schema["maximum"].as_f64().or_else(of_size)
}

fn kind_name(kind: &str) -> &str {
    match kind {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text in quotes",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        other => other,
    }
}

fn one_of(allowed: &[&str]) -> String {
    let quoted: Vec<String> = allowed.iter().map(|one| format!("\"{one}\"")).collect();
    match quoted.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

fn print(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("{:?}", text.chars().take(64).collect::<String>()),
        Value::Char(_, character) => format!("\"{character}\""),
        Value::Bool(_, yes) => yes.to_string(),
        Value::Num(_, number) => super::show::number(*number),
        Value::Empty(..) => "nothing".to_owned(),
        Value::Dict(..) => "a table".to_owned(),
        Value::Array(..) => "a list".to_owned(),
    }
}
