//! Short text of a value for tables.

use serde_json::Value;

pub(crate) fn short(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.6}", number.as_f64().unwrap_or_default());
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
