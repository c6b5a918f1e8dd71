//! Page section: settings, key by key.

use super::{DataTable, RunPage};
use crate::markup::escaped;
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>) -> String {
    let mut text =
        String::from("<section id=\"settings\"><h2>Parameters and settings</h2><div class=\"tables\">");
    let groups = page.settings.as_object().into_iter().flatten();
    for (name, group) in groups {
        let rows: Vec<Vec<String>> =
            flattened(group).into_iter().map(|(key, value)| vec![key, value]).collect();
        if rows.is_empty() {
            continue;
        }
        let table_data = DataTable { header: vec!["key".to_owned(), "value".to_owned()], rows };
        let _ = write!(text, "<figure><h3>{}</h3>{}</figure>", escaped(name), table_data.to_markup());
    }
    text.push_str("</div></section>");
    text
}

/// Flattens a document into pairs such as `params.period` and `14`, in document order. Omits null.
pub fn flattened(document: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    flatten(document, String::new(), &mut found);
    found
}

fn flatten(value: &Value, path: String, found: &mut Vec<(String, String)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Null => {}
        Value::Object(parts) if !parts.is_empty() => {
            parts.iter().for_each(|(key, part)| flatten(part, below(key), found));
        }
        Value::Array(parts) if parts.iter().any(|part| part.is_object() || part.is_array()) => {
            let numbered = parts.iter().enumerate();
            numbered.for_each(|(place, part)| flatten(part, below(&place.to_string()), found));
        }
        Value::Array(parts) if !parts.is_empty() => {
            found.push((path, parts.iter().map(text).collect::<Vec<_>>().join(", ")));
        }
        Value::Array(_) | Value::Object(_) => found.push((path, "none".to_owned())),
        other => found.push((path, text(other))),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_reported_key_by_key() {
        let document = json!({
            "name": "btc", "params": {"period": 14, "none": null}, "hours": [1, 2], "empty": {}, "no": [], "list": [{"a": 0.5}]
        });
        let expected = [
            ("empty", "none"),
            ("hours", "1, 2"),
            ("list.0.a", "0.5"),
            ("name", "btc"),
            ("no", "none"),
            ("params.period", "14"),
        ];
        let found = flattened(&document);
        let found: Vec<(&str, &str)> = found.iter().map(|(key, value)| (&**key, &**value)).collect();
        assert_eq!(found, expected);
    }
}
