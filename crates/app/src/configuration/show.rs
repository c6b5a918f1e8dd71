//! Renders the merged configuration, with the origin of each value and with masked secrets.

use super::secret::{MASK, is_secret_url, mask_passwords, mask_path};
use super::{Config, KeyPath, LoadedConfig, secret};
use figment::value::{Dict, Num, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub fn to_toml(loaded: &LoadedConfig) -> String {
    let mut text = String::from("# The merged configuration. Each value is followed by its origin.\n");
    let Value::Dict(_, sections) = loaded.root() else { return text };
    for (name, section) in sections {
        let path = KeyPath::default().join_key(name);
        match section {
            Value::Dict(_, table) => {
                let _ = writeln!(text, "\n[{}]", toml_key(name));
                write_table(loaded, &path, table, &mut text);
                if name == "broker" {
                    for (key, origin) in secret::configured_secrets(&loaded.config.broker) {
                        let _ = writeln!(text, "# {key} = \"{MASK}\" # {origin}");
                    }
                }
            }
            Value::Array(_, items) => {
                for (index, item) in items.iter().enumerate() {
                    let _ = writeln!(text, "\n[[{}]]", toml_key(name));
                    if let Value::Dict(_, table) = item {
                        write_table(loaded, &path.join_index(index), table, &mut text);
                    }
                }
            }
            _ => {}
        }
    }
    text
}

fn write_table(loaded: &LoadedConfig, path: &KeyPath, table: &Dict, text: &mut String) {
    for (name, value) in table.iter().filter(|(_, value)| !matches!(value, Value::Empty(..))) {
        let shown = mask_secrets(&path.join_key(name), value);
        let _ = writeln!(
            text,
            "{} = {} # {}",
            toml_key(name),
            toml_value(&shown),
            describe_origins(loaded, value)
        );
    }
}

pub fn to_json(loaded: &LoadedConfig) -> Json {
    let mut origins = Map::new();
    let mut configuration = render_json(loaded, &KeyPath::default(), loaded.root(), &mut origins);
    for (key, origin) in secret::configured_secrets(&loaded.config.broker) {
        configuration["broker"][key] = json!(MASK);
        origins.insert(format!("broker.{key}"), json!(origin));
    }
    json!({ "configuration": configuration, "origins": origins })
}

fn render_json(loaded: &LoadedConfig, path: &KeyPath, value: &Value, into: &mut Map<String, Json>) -> Json {
    match value {
        Value::Dict(_, dict) => {
            let inner = |(name, value): (&String, &Value)| {
                (name.clone(), render_json(loaded, &path.join_key(name), value, into))
            };
            Json::Object(dict.iter().map(inner).collect())
        }
        Value::Array(_, items) => {
            let inner = |(index, item)| render_json(loaded, &path.join_index(index), item, into);
            Json::Array(items.iter().enumerate().map(inner).collect())
        }
        leaf => {
            into.insert(path.to_string(), json!(describe_origins(loaded, leaf)));
            serde_json::to_value(mask_secrets(path, leaf)).unwrap_or_default()
        }
    }
}

fn describe_origins(loaded: &LoadedConfig, value: &Value) -> String {
    fn collect_origins(loaded: &LoadedConfig, value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Dict(_, dict) if !dict.is_empty() => {
                for inner in dict.values() {
                    collect_origins(loaded, inner, into);
                }
            }
            Value::Array(_, items) if !items.is_empty() => {
                for item in items {
                    collect_origins(loaded, item, into);
                }
            }
            leaf => into.extend(loaded.find_origin(leaf)),
        }
    }
    let mut all = BTreeSet::new();
    collect_origins(loaded, value, &mut all);
    all.into_iter().collect::<Vec<_>>().join(", ")
}

fn mask_secrets(path: &KeyPath, value: &Value) -> Value {
    match value {
        Value::Dict(tag, dict) if path.to_string() == "broker.headers" => {
            let hidden = |name: &String| (name.clone(), Value::from(MASK));
            let shown = |(name, value): (&String, &Value)| {
                if is_secret_header(name) { hidden(name) } else { (name.clone(), value.clone()) }
            };
            Value::Dict(*tag, dict.iter().map(shown).collect())
        }
        Value::Dict(tag, dict) => {
            let masked =
                |(name, value): (&String, &Value)| (name.clone(), mask_secrets(&path.join_key(name), value));
            Value::Dict(*tag, dict.iter().map(masked).collect())
        }
        Value::String(tag, text) => match path.to_string().strip_prefix("broker.headers.") {
            Some(name) if is_secret_header(name) => Value::String(*tag, MASK.to_owned()),
            None if is_secret_url(&path.to_string()) => Value::String(*tag, mask_path(text)),
            _ => Value::String(*tag, mask_passwords(text).unwrap_or_else(|| text.clone())),
        },
        other => other.clone(),
    }
}

fn is_secret_header(header: &str) -> bool {
    let name = header.to_lowercase();
    ["auth", "cookie", "token", "key", "secret", "password"].iter().any(|part| name.contains(part))
}

fn toml_value(value: &Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| quote(""), |value| value.to_string())
}

fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

pub(crate) fn toml_key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if bare { name.to_owned() } else { quote(name) }
}

pub(super) fn toml_number(number: Num) -> String {
    match (number.to_f64(), number.to_i128(), number.to_u128()) {
        // Uses the TOML spelling.
        (Some(float), ..) if float.is_nan() => "nan".to_owned(),
        (Some(float), ..) => format!("{float:?}"),
        (_, Some(whole), _) => whole.to_string(),
        (_, _, Some(whole)) => whole.to_string(),
        (None, None, None) => format!("{:?}", number.to_actual()),
    }
}

pub fn schema() -> Json {
    let mut schema = schemars::schema_for!(Config).to_value();
    fix_decimal_defaults(&mut schema);
    schema
}

fn fix_decimal_defaults(schema: &mut Json) {
    let is_number = schema["type"] == "number";
    match schema {
        Json::Object(entries) => {
            let amount = entries.get("default").and_then(Json::as_str).and_then(|s| s.parse::<f64>().ok());
            if let Some(amount) = amount.filter(|_| is_number) {
                entries.insert("default".to_owned(), json!(amount));
            }
            entries.values_mut().for_each(fix_decimal_defaults);
        }
        Json::Array(items) => items.iter_mut().for_each(fix_decimal_defaults),
        _ => {}
    }
}
