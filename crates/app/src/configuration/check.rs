//! Validates the configuration against its schema. Reports all problems at once, with origins and suggestions.

use super::suggest::{example_value, suggest_choice, suggest_duration_text, suggest_key, suggest_stake};
use super::{KeyPath, Problem};
use candlewick_sdk::{AliasContext, CloseType, Interval, find_key};
use figment::value::{Dict, Num, Tag, Value};
use serde_json::Value as Json;

/// Maximum absolute value of a number. Larger floating-point numbers lose precision.
const MAX_NUMBER: f64 = 1e15;

pub(super) fn check(
    schema: Schema<'_>,
    root: &Value,
    find_origin: impl Fn(Tag) -> Option<String>,
) -> Vec<Problem> {
    let mut checker = Checker { root: schema, find_origin, problems: Vec::new() };
    checker.check_value(schema, root, &KeyPath::default());
    checker.problems
}

struct Checker<'a, O> {
    root: Schema<'a>,
    find_origin: O,
    problems: Vec<Problem>,
}

impl<'a, O: Fn(Tag) -> Option<String>> Checker<'a, O> {
    fn check_value(&mut self, schema: Schema<'a>, value: &Value, path: &KeyPath) {
        let alternatives = schema.alternatives();
        if let Some(allowed) = schema.choices() {
            self.check_choice(&allowed, value, path);
        } else if !alternatives.is_empty() {
            self.check_alternatives(&alternatives, value, path);
        } else if !matches_type(schema, value) {
            // If a single table is given for a list, the hint only needs double brackets, not an example value.
            let is_list = schema.types().contains(&"array") && !matches!(value, Value::Dict(..));
            let example = example_value(path.last()).filter(|_| is_list);
            self.report_value(path, value, &example.map_or_else(|| describe(schema), str::to_owned));
        } else {
            match value {
                Value::Dict(_, dict) => self.check_table(schema, dict, value, path),
                Value::Array(_, items) => {
                    for (index, item) in items.iter().enumerate() {
                        self.check_value(schema.child("items"), item, &path.join_index(index));
                    }
                }
                Value::String(_, text) => {
                    if let Some(problem) = check_duration(path, text) {
                        self.report(path, value, problem);
                    }
                }
                Value::Num(_, number) if number.to_f64().is_some_and(|number| number.abs() > MAX_NUMBER) => {
                    self.report_value(path, value, &format!("{} up to {MAX_NUMBER}", describe(schema)));
                }
                Value::Num(_, number) if !is_in_range(schema, *number) => {
                    self.report_value(path, value, &describe(schema));
                }
                _ => {}
            }
        }
    }

    /// Checks a table. A key that has no schema, such as a strategy parameter, may have any finite value.
    fn check_table(&mut self, schema: Schema<'a>, dict: &Dict, table: &Value, path: &KeyPath) {
        let known: Vec<&str> = schema.properties().map(|(name, _)| name).collect();
        for (key, value) in dict {
            let inner = path.join_key(key);
            match schema.property(key) {
                Some(property) => self.check_value(property, value, &inner),
                None if known.is_empty() || schema.has_keyword("additionalProperties") => {
                    self.check_value(schema.child("additionalProperties"), value, &inner);
                }
                None => {
                    let meant = suggest_key(self.root, &inner, key, &known);
                    self.report(&inner, value, format!("unknown key; {meant}"));
                }
            }
        }
        for key in schema.required().filter(|key| !dict.contains_key(*key)) {
            // Misspelled keys and keys known from other programs are reported elsewhere.
            let is_meant = |given: &String| {
                !known.contains(&given.as_str())
                    && find_key(&[AliasContext::Setting], given, &[key]).is_some()
            };
            if !dict.keys().any(is_meant) {
                let example = example_value(key).filter(|_| path.to_string().starts_with("bots["));
                let example = example.map(|example| format!(", such as {example}")).unwrap_or_default();
                let sibling = dict.values().next().unwrap_or(table);
                self.report(&path.join_key(key), sibling, format!("this key is missing{example}"));
            }
        }
    }

    fn check_choice(&mut self, allowed: &[&str], value: &Value, path: &KeyPath) {
        let hint = match value.as_str() {
            Some(text) if allowed.contains(&text) => return,
            Some(text) => suggest_choice(text, allowed),
            None => None,
        };
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        self.report_value(path, value, &format!("{}{hint}", describe_choices(allowed)));
    }

    fn check_alternatives(&mut self, all: &[Schema<'a>], value: &Value, path: &KeyPath) {
        if let (Some(tag), Value::Dict(_, dict)) = (all.first().and_then(|first| first.tag()), value) {
            let names = |one: &Schema<'a>| one.property(tag).and_then(Schema::choices).unwrap_or_default();
            let given = dict.get(tag);
            let text = given.and_then(Value::as_str).unwrap_or_default();
            let all_names: Vec<&str> = all.iter().flat_map(names).collect();
            match (all.iter().find(|one| names(one).contains(&text)), given) {
                (Some(chosen), _) => self.check_value(*chosen, value, path),
                (None, Some(given)) => self.check_choice(&all_names, given, &path.join_key(tag)),
                (None, None) => {
                    let problem = format!("this key is missing; set it to {}", describe_choices(&all_names));
                    self.report(&path.join_key(tag), value, problem);
                }
            }
            return;
        }
        let before = self.problems.len();
        for one in all {
            self.check_value(*one, value, path);
            let fits = self.problems.len() == before;
            self.problems.truncate(before);
            if fits {
                return;
            }
        }
        if let Some(table) = suggest_stake(path.last(), value) {
            let problem = Problem::at_key(path, (self.find_origin)(value.tag()), table);
            self.problems.push(problem.with_value(render_value(value)));
        } else {
            let allowed: Vec<String> = all.iter().map(|one| describe(*one)).collect();
            self.report_value(path, value, &allowed.join(" or "));
        }
    }

    fn report(&mut self, path: &KeyPath, place: &Value, problem: String) {
        self.problems.push(Problem::at_key(path, (self.find_origin)(place.tag()), problem));
    }

    fn report_value(&mut self, path: &KeyPath, value: &Value, allowed: &str) {
        let more = match value {
            Value::Dict(..) if allowed == type_name("array") => {
                format!(": write [[{path}]] instead of [{path}]")
            }
            Value::Num(..) if allowed == type_name("string") => {
                suggest_duration_text(path, value).map(|written| format!(": {written}")).unwrap_or_default()
            }
            _ => String::new(),
        };
        let problem = Problem::at_key(path, (self.find_origin)(value.tag()), format!("use {allowed}{more}"));
        self.problems.push(problem.with_value(render_value(value)));
    }
}

fn check_duration(path: &KeyPath, text: &str) -> Option<String> {
    let whole = path.to_string();
    match whole.strip_prefix("bots[")?.split_once("].")?.1 {
        "interval" => Some(text.parse::<Interval>().err()?.to_string()),
        "close_type" => Some(text.parse::<CloseType>().err()?.to_string()),
        _ => None,
    }
}

fn describe(schema: Schema<'_>) -> String {
    if let Some(allowed) = schema.choices() {
        return describe_choices(&allowed);
    }
    if schema.required().next().is_some() {
        return describe_table(schema);
    }
    let kinds: Vec<&str> = schema.types().into_iter().filter(|kind| *kind != "null").map(type_name).collect();
    let kinds = if kinds.is_empty() { type_name("number").to_owned() } else { kinds.join(" or ") };
    let bound =
        |word: &str, bound: Option<f64>| bound.map(|bound| format!(" {word} {bound}")).unwrap_or_default();
    let (least, above) = (schema.bound("minimum"), schema.bound("exclusiveMinimum"));
    format!("{kinds}{}{}{}", bound("from", least), bound("above", above), bound("up to", schema.maximum()))
}

fn describe_table(schema: Schema<'_>) -> String {
    let required: Vec<&str> = schema.required().collect();
    let written = |name: &&str| match schema.property(name).and_then(Schema::choices).as_deref() {
        Some([only]) => format!("{name} = \"{only}\""),
        _ => format!("{name} = ..."),
    };
    let keys = required.iter().map(written).collect::<Vec<_>>();
    let rest: Vec<&str> =
        schema.properties().map(|(name, _)| name).filter(|name| !required.contains(name)).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(", optionally with {}", rest.join(", ")) };
    let keys = keys.join(", ");
    format!("a table such as {{ {keys} }}{rest}")
}

fn matches_type(schema: Schema<'_>, value: &Value) -> bool {
    let (types, kind) = (schema.types(), value_type(value));
    types.is_empty() || types.contains(&kind) || kind == "integer" && types.contains(&"number")
}

fn is_in_range(schema: Schema<'_>, number: Num) -> bool {
    let whole = || number.to_i128().map(|n| n as f64).or_else(|| number.to_u128().map(|n| n as f64));
    let Some(number) = number.to_f64().or_else(whole) else { return true };
    schema.bound("minimum").is_none_or(|least| number >= least)
        && schema.bound("exclusiveMinimum").is_none_or(|least| number > least)
        && schema.maximum().is_none_or(|most| number <= most)
        && !number.is_nan()
}

fn value_type(value: &Value) -> &'static str {
    match value {
        Value::String(..) | Value::Char(..) => "string",
        Value::Bool(..) => "boolean",
        Value::Num(_, Num::F32(_) | Num::F64(_)) => "number",
        Value::Num(..) => "integer",
        Value::Empty(..) => "null",
        Value::Dict(..) => "object",
        Value::Array(..) => "array",
    }
}

fn type_name(kind: &str) -> &str {
    match kind {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text in quotes",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        "null" => "nothing",
        other => other,
    }
}

fn describe_choices(allowed: &[&str]) -> String {
    let quoted: Vec<String> = allowed.iter().map(|one| format!("\"{one}\"")).collect();
    match quoted.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

fn render_value(value: &Value) -> String {
    match value {
        Value::String(_, text) => format!("{:?}", text.chars().take(64).collect::<String>()),
        Value::Char(_, character) => format!("\"{character}\""),
        Value::Bool(_, yes) => yes.to_string(),
        Value::Num(_, number) => super::show::toml_number(*number),
        other => type_name(value_type(other)).to_owned(),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Json,
    node: &'a Json,
}

impl<'a> Schema<'a> {
    pub(super) const fn new(root: &'a Json) -> Self {
        Self { root, node: root }
    }

    fn resolve(self, node: &'a Json) -> Self {
        let node = match node["$ref"].as_str() {
            Some(reference) => self.root.pointer(reference.trim_start_matches('#')).unwrap_or(&Json::Null),
            None => node,
        };
        let mut real = node["anyOf"].as_array().into_iter().flatten().filter(|one| one["type"] != "null");
        match (real.next(), real.next()) {
            (Some(only), None) => self.resolve(only),
            _ => Self { node, ..self },
        }
    }

    pub(super) fn has_keyword(self, keyword: &str) -> bool {
        self.node[keyword].is_object()
    }

    pub(super) fn child(self, keyword: &str) -> Self {
        self.resolve(&self.node[keyword])
    }

    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Self)> {
        let properties = self.node["properties"].as_object().into_iter().flatten();
        properties.map(move |(name, node)| (name.as_str(), self.resolve(node)))
    }

    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.node["properties"].get(name).map(|node| self.resolve(node))
    }

    pub(super) fn required(self) -> impl Iterator<Item = &'a str> {
        self.node["required"].as_array().into_iter().flatten().filter_map(Json::as_str)
    }

    pub(super) fn types(self) -> Vec<&'a str> {
        match &self.node["type"] {
            Json::String(only) => vec![only],
            Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the strings that the schema allows, or `None` if the schema does not list them.
    pub(super) fn choices(self) -> Option<Vec<&'a str>> {
        if let Some(allowed) = self.node["enum"].as_array() {
            return allowed.iter().map(Json::as_str).collect();
        }
        if let Some(only) = self.node["const"].as_str() {
            return Some(vec![only]);
        }
        let alternatives = self.alternatives();
        let choices: Option<Vec<_>> = alternatives.iter().map(|one| one.choices()).collect();
        choices.filter(|choices| !choices.is_empty()).map(|choices| choices.concat())
    }

    pub(super) fn alternatives(self) -> Vec<Self> {
        let all = ["oneOf", "anyOf"].into_iter().filter_map(|key| self.node[key].as_array()).flatten();
        all.map(|node| self.resolve(node)).filter(|one| one.node["type"] != "null").collect()
    }

    /// Returns the key that selects the variant of a tagged table, such as `kind`.
    pub(super) fn tag(self) -> Option<&'a str> {
        self.properties().find(|(_, property)| property.node["const"].is_string()).map(|(name, _)| name)
    }

    pub(super) fn bound(self, keyword: &str) -> Option<f64> {
        self.node[keyword].as_f64()
    }

    pub(super) fn maximum(self) -> Option<f64> {
        let of_format = || (self.node["format"] == "uint32").then_some(f64::from(u32::MAX));
        self.bound("maximum").or_else(of_format)
    }
}
