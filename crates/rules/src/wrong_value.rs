//! Which key of a table has a value of another kind.

use candlewick_sdk::{plain_words, value_of_message};
use serde_json::Value;

/// What is said of a value of another kind, behind the key that has it, where only one has.
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

/// The paths of all keys with this value, of tables inside too.
fn keys_of(table: &Value, path: &str, given: &Value, found: &mut Vec<String>) {
    for (key, own) in table.as_object().into_iter().flatten() {
        let path = format!("{path}{key}");
        keys_of(own, &format!("{path}."), given, found);
        if own == given {
            found.push(path);
        }
    }
}
