//! Sanitizes text before it reaches a terminal, against control and bidirectional characters.

use candlewick_sdk::{is_hidden, visible};
use std::borrow::Cow;
use std::fmt::Write as _;

pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    shown(text, |rest| usize::from(rest.starts_with('\n')))
}

/// Like `lines`, but keeps our own colours. Quoted text must be sanitized before it is inserted.
pub(crate) fn coloured_lines(text: &str) -> Cow<'_, str> {
    shown(text, |rest| if rest.starts_with('\n') { 1 } else { colour(rest) })
}

pub(crate) fn coloured_line(text: &str) -> Cow<'_, str> {
    shown(text, colour)
}

pub(crate) fn json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(|letter| letter != '\n' && is_hidden(letter)) {
        return Cow::Borrowed(document);
    }
    let mut text = String::with_capacity(document.len() + 8);
    for letter in document.chars() {
        // Outside of texts a document has no other hidden character than the line ends of its layout.
        if letter != '\n' && is_hidden(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(letter);
        }
    }
    Cow::Owned(text)
}

fn colour(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let length = rest.find(|letter: char| !matches!(letter, '0'..='9' | ';')).unwrap_or(rest.len());
    if rest[length..].starts_with('m') { length + 3 } else { 0 }
}

fn shown(text: &str, kept: impl Fn(&str) -> usize) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len() + 8), text);
    while let Some(at) = rest.find(is_hidden) {
        let (before, hidden) = rest.split_at(at);
        shown.push_str(before);
        let (taken, length) = match kept(hidden) {
            0 => {
                let length = hidden.chars().next().map_or(0, char::len_utf8);
                (visible(&hidden[..length]), length)
            }
            length => (Cow::Borrowed(&hidden[..length]), length),
        };
        shown.push_str(&taken);
        rest = &hidden[length..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_does_anything() {
        let text = "\u{1b}[1;31mred\u{1b}[0m\n\u{1b}]0;title\u{7}\u{9b}2J\u{1b}[2J\u{1b}[3\u{202e}\r";
        assert_eq!(
            lines(text),
            "\\u{1b}[1;31mred\\u{1b}[0m\n\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{1b}[2J\\u{1b}[3\\u{202e}\\r"
        );
        let coloured =
            "\u{1b}[1;31mred\u{1b}[0m\n\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{1b}[2J\\u{1b}[3\\u{202e}\\r";
        assert_eq!(coloured_lines(text), coloured);
        assert_eq!(coloured_line(text), coloured.replace('\n', "\\n"));
        assert!(matches!(lines("plain → text"), Cow::Borrowed("plain → text")));
    }

    #[test]
    fn a_document_reads_back_as_it_was() {
        let value =
            serde_json::json!({ "id\u{7f}": "\u{1b}]0;\u{9b}\u{202e}\u{2028}\u{e0041}\n", "n": [1, "é"] });
        for document in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let text = json(&document);
            assert!(!text.chars().any(|letter| letter != '\n' && is_hidden(letter)), "{text:?}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }
}
