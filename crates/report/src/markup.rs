//! Escaping of text and JSON for HTML pages.

use candlewick_sdk::escape_hidden;
use serde_json::Value;

/// Escapes text for use in an element or a quoted attribute. Makes invisible characters visible.
pub(crate) fn escape_html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in escape_hidden(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Escapes JSON for a `<script>` data element, so that no string in the JSON can close the element.
pub(crate) fn escape_json_for_script(value: &Value) -> String {
    // These characters occur in JSON only inside strings, where the escapes are equivalent.
    escape_hidden_in_json(value)
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

pub(crate) fn escape_hidden_in_json(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(escape_hidden(text).into_owned()),
        Value::Array(items) => items.iter().map(escape_hidden_in_json).collect(),
        Value::Object(fields) => {
            let shown = |(name, value): (&String, &Value)| {
                (escape_hidden(name).into_owned(), escape_hidden_in_json(value))
            };
            fields.iter().map(shown).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::is_hidden;
    use serde_json::json;

    #[test]
    fn escapes_markup() {
        for (text, expected) in [
            ("a < b & c", "a &lt; b &amp; c"),
            ("</script>", "&lt;/script&gt;"),
            ("\"x\" 'y'", "&quot;x&quot; &#39;y&#39;"),
            ("Überschuß 5 %", "Überschuß 5 %"),
            ("\u{202e}<b>\n", "\\u{202e}&lt;b&gt;\\n"),
        ] {
            assert_eq!(escape_html(text), expected);
        }
    }

    #[test]
    fn escaped_data_cannot_end_its_element_and_parses_back() {
        for text in ["</script><script>alert(1)</script>", "<!--", "a & b > c", "\"\\"] {
            let value = json!({ text: [text, 1.5, null] });
            let written = escape_json_for_script(&value);
            assert!(!written.contains(['<', '>', '&']), "{written}");
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
        }
    }

    #[test]
    fn makes_hidden_characters_of_data_visible() {
        let written =
            escape_json_for_script(&json!({ "a\u{200b}": ["\u{2028}", "\u{1b}[2J", "two\nlines"] }));
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read, json!({ "a\\u{200b}": ["\\u{2028}", "\\u{1b}[2J", "two\\nlines"] }));
        assert!(!written.chars().any(is_hidden), "{written:?}");
    }
}
