//! Finds the key whose value has the wrong type.

use candlewick_sdk::{plain_words, value_of_message};
use serde_json::Value;

pub(crate) fn with_key(table: &Value, message: &str) -> String {
    let mut found = Vec::new();
    if let Some(given) = value_of_message(message).and_then(|shown| serde_json::from_str(shown).ok()) {
        keys_of(table, "", &given, &mut found);
    }
    match found.as_slice() {
        [key] => format!("{key}: {}", plain_words(message)),
        _ => plain_words(message),
    }
}

fn keys_of(table: &Value, path: &str, given: &Value, found: &mut Vec<String>) {
    for (key, own) in table.as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        keys_of(own, &format!("{path}."), given, found);
        if own == given {
            found.push(path);
        }
    }
}
