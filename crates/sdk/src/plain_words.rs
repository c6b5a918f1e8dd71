//! Plain-language versions of serde error messages.

use std::fmt::Write;

/// Rewrites a deserializer's message without Rust types.
///
/// `` invalid type: boolean `true`, expected u32 `` becomes `use a whole number, not true`. A
/// message of an unknown form stays unchanged.
pub fn plain_words(message: &str) -> String {
    if message == "not a JSON number" {
        return "use a number: nan and inf are none here".to_owned();
    }
    if let Some(name) = in_marks(message).next() {
        let others: Vec<&str> = in_marks(message).skip(1).collect();
        if message.starts_with("missing field ") {
            return format!("the key {name} is missing");
        }
        if message.starts_with("unknown field ") {
            return format!("there is no key {name}; there are {}", others.join(", "));
        }
        if message.starts_with("unknown variant ") {
            return format!("use one of \"{}\", not \"{name}\"", others.join("\", \""));
        }
    }
    let Some((given, wanted)) = given_and_wanted(message) else { return message.to_owned() };
    let mut words = format!("use {}", kind(wanted));
    if let Some(given) = shown(given) {
        // Writing to a text cannot fail.
        let _ = write!(words, ", not {given}");
    }
    words
}

/// Returns the rejected value in a message, `None` if it is not repeated there.
pub fn value_of_message(message: &str) -> Option<&str> {
    let (given, _) = given_and_wanted(message)?;
    let is_repeated = given.contains('`') || given.starts_with("string ");
    shown(given).filter(|_| is_repeated)
}

fn given_and_wanted(message: &str) -> Option<(&str, &str)> {
    let said = ["invalid type: ", "invalid value: ", "invalid length "];
    let rest = said.iter().find_map(|beginning| message.strip_prefix(beginning))?;
    // A text may hold the word itself.
    rest.rsplit_once(", expected ")
}

fn in_marks(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

fn shown(given: &str) -> Option<&str> {
    match given {
        "sequence" => Some("a list"),
        "map" => Some("a table"),
        "null" => Some("nothing"),
        _ if given.starts_with("string ") => given.strip_prefix("string "),
        _ => in_marks(given).next(),
    }
}

fn kind(wanted: &str) -> &str {
    match wanted {
        // The range is that of the setting, which is narrower than that of its type.
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" | "a JSON number" => "a number",
        "a string" | "string or map" => "a text in quotes",
        "a boolean" => "true or false",
        "a map" => "a table, as { key = value }",
        "a sequence" => "a list, as [1, 2]",
        _ if wanted.starts_with("struct ") => "a table, as { key = value }",
        _ if wanted.starts_with("a Decimal ") => "a number",
        "fewer elements in array" => "fewer values",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Number, json};
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        #[serde(rename = "number")]
        _number: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        One,
        Other,
    }

    fn check<T: DeserializeOwned>(value: &serde_json::Value, expected: &str) {
        let error = serde_json::from_value::<T>(value.clone()).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert_eq!(plain_words(&error), expected, "{error}");
    }

    #[test]
    fn no_type_of_the_language_is_left() {
        check::<u32>(&json!(1.5), "use a whole number, not 1.5");
        check::<u32>(&json!(-1), "use a whole number, not -1");
        check::<usize>(&json!(true), "use a whole number, not true");
        check::<i64>(&json!("7"), "use a whole number, not \"7\"");
        check::<f64>(&json!("1,5, expected f64"), "use a number, not \"1,5, expected f64\"");
        check::<Number>(&json!([1]), "use a number, not a list");
        check::<String>(&json!(5), "use a text in quotes, not 5");
        check::<bool>(&json!(1), "use true or false, not 1");
        check::<BTreeMap<String, f64>>(&json!(1), "use a table, as { key = value }, not 1");
        check::<Vec<f64>>(&json!({ "a": 1 }), "use a list, as [1, 2], not a table");
        check::<String>(&json!(null), "use a text in quotes, not nothing");
        check::<Table>(&json!(7), "use a table, as { key = value }, not 7");
        check::<Table>(&json!([1, 2]), "use fewer values");
        check::<Table>(&json!({}), "the key number is missing");
        check::<Table>(&json!({ "numbr": 1 }), "there is no key numbr; there are number");
        check::<Choice>(&json!("third"), "use one of \"one\", \"other\", not \"third\"");
        check::<Choice>(&json!(true), "use a text in quotes, not true");
        assert_eq!(plain_words("not a JSON number"), "use a number: nan and inf are none here");
        let list = "invalid length 2, expected struct Volatility with 3 elements";
        assert_eq!(plain_words(list), "use a table, as { key = value }");
        assert_eq!(plain_words("the end is missing"), "the end is missing");
    }

    #[test]
    fn the_value_is_found_in_the_message() {
        assert_eq!(value_of_message("invalid type: boolean `true`, expected u32"), Some("true"));
        assert_eq!(value_of_message("invalid type: string \"a\", expected u32"), Some("\"a\""));
        assert_eq!(value_of_message("invalid type: sequence, expected u32"), None);
        assert_eq!(value_of_message("missing field `a`"), None);
    }
}
