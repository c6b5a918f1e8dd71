//! Text as it may stand in a page.

/// Text that brings no markup of its own, in an element or in a quoted attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
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

/// JSON as it may stand in a `<script>` that holds data: nothing in it can end the element.
pub(crate) fn json_in_script(value: &serde_json::Value) -> String {
    // Outside of strings JSON has none of these letters, and in strings they may be written so.
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markup_becomes_text() {
        for (text, expected) in [
            ("a < b & c", "a &lt; b &amp; c"),
            ("</script>", "&lt;/script&gt;"),
            ("\"x\" 'y'", "&quot;x&quot; &#39;y&#39;"),
            ("Überschuß 5 %", "Überschuß 5 %"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn data_cannot_end_its_element_and_reads_back() {
        for text in ["</script><script>alert(1)</script>", "<!--", "a & b > c", "\u{2028}\"\\"] {
            let value = json!({ text: [text, 1.5, null] });
            let written = json_in_script(&value);
            assert!(!written.contains(['<', '>', '&']), "{written}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
        }
    }
}
