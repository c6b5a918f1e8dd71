//! Masking of human-readable texts and of values that differ between runs.

use crate::allowed::matches_pointer;
use crate::document::visit;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const TEXT: &str = "<text>";
const VOLATILE: &str = "<volatile>";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Masks {
    /// Keys of human-readable texts: a string, and each string of a list, is masked.
    text: BTreeMap<String, String>,
    /// Keys of values that differ between runs: everything below them is masked, except `null`.
    volatile: BTreeMap<String, String>,
}

impl Masks {
    pub(crate) fn parse(text: &str) -> Self {
        toml::from_str(text).unwrap()
    }

    pub(crate) fn apply(&self, document: &mut Value, pointers: &BTreeMap<String, String>) {
        let is_named = |pointer: &str| pointers.keys().any(|pattern| matches_pointer(pattern, pointer));
        visit(document, "", &mut |pointer, value| {
            let key = pointer.rsplit('/').next().unwrap_or_default();
            if self.volatile.contains_key(key) || is_named(pointer) {
                visit(value, "", &mut |_, value| {
                    if !(value.is_null() || value.is_array() || value.is_object()) {
                        *value = Value::from(VOLATILE);
                    }
                });
            } else if self.text.contains_key(key) {
                mask_texts(value);
            }
        });
    }
}

fn mask_texts(value: &mut Value) {
    let values = match value {
        Value::Array(values) => &mut values[..],
        value => std::slice::from_mut(value),
    };
    values.iter_mut().filter(|value| value.is_string()).for_each(|value| *value = Value::from(TEXT));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn masks_texts_and_volatile_values_and_nothing_else() {
        let masks = Masks::parse("[text]\nnotices = \"a\"\n[volatile]\nelapsed_ms = \"b\"\n");
        let mut document = json!({ "a": [{ "notices": ["x", 2], "elapsed_ms": 7, "pnl": 1.5, "text": "x" }],
            "notices": { "rule": "MaxOpenTrades" }, "elapsed_ms": null });
        masks.apply(&mut document, &[("/a/*/pnl".to_owned(), String::new())].into());
        let expected = json!({ "a": [{ "notices": [TEXT, 2], "elapsed_ms": VOLATILE, "pnl": VOLATILE, "text": "x" }],
            "notices": { "rule": "MaxOpenTrades" }, "elapsed_ms": null });
        assert_eq!(document, expected);
    }
}
