//! Parts of a combination, as its parameters have them.

use serde_json::{Value, json};

/// A part that signals as a script says.
pub(crate) fn part(script: &str) -> Value {
    json!({ "strategy": "script", "params": { "script": script } })
}

/// A part with more keys.
pub(crate) fn with(script: &str, more: &Value) -> Value {
    let mut part = part(script);
    part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    part
}
