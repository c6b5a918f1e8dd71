//! Prepares text for the terminal: escapes control and bidirectional characters, and wraps lines.

use candlewick_sdk::{escape_hidden, is_hidden};
use console::{Term, measure_text_width};
use std::borrow::Cow;
use std::fmt::Write as _;

pub(crate) fn sanitize_lines(text: &str) -> Cow<'_, str> {
    sanitize(text, |rest| usize::from(rest.starts_with('\n')))
}

/// Like `sanitize_lines`, but retains colour codes. Untrusted parts of `text` must be sanitized beforehand.
pub(crate) fn sanitize_coloured_lines(text: &str) -> Cow<'_, str> {
    sanitize(text, |rest| if rest.starts_with('\n') { 1 } else { colour_code_length(rest) })
}

pub(crate) fn sanitize_coloured_line(text: &str) -> Cow<'_, str> {
    sanitize(text, colour_code_length)
}

pub(crate) fn escape_json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(|letter| letter != '\n' && is_hidden(letter)) {
        return Cow::Borrowed(document);
    }
    let mut text = String::with_capacity(document.len() + 8);
    for letter in document.chars() {
        // Outside strings, a JSON document contains no hidden characters except line ends.
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

fn colour_code_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let length = rest.find(|letter: char| !matches!(letter, '0'..='9' | ';')).unwrap_or(rest.len());
    if rest[length..].starts_with('m') { length + 3 } else { 0 }
}

fn sanitize(text: &str, kept: impl Fn(&str) -> usize) -> Cow<'_, str> {
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
                (escape_hidden(&hidden[..length]), length)
            }
            length => (Cow::Borrowed(&hidden[..length]), length),
        };
        shown.push_str(&taken);
        rest = &hidden[length..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

const MIN_COLUMNS: usize = 40;

/// Returns the number of columns from `COLUMNS` or the terminal. `None` if the output is a file or pipe.
pub(crate) fn terminal_columns(terminal: &Term) -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let named = named.filter(|columns: &usize| *columns > 0);
    let columns = named.or_else(|| terminal.size_checked().map(|(_, columns)| usize::from(columns)));
    columns.filter(|columns| *columns > 0).map(|columns| columns.max(MIN_COLUMNS))
}

pub(crate) fn wrap(text: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) if text.lines().any(|line| measure_text_width(line) > columns) => {
            let lines = text.split('\n').map(|line| wrap_line(line, columns, hanging_indent(line, columns)));
            Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
        }
        _ => Cow::Borrowed(text),
    }
}

pub(crate) fn wrap_indented(text: &str, indent: usize, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent));
    wrap_line(text, room, 0).replace('\n', &format!("\n{}", " ".repeat(indent)))
}

fn wrap_line(line: &str, columns: usize, hang: usize) -> String {
    // Commands stay on one line so that they can be copied.
    if measure_text_width(line) <= columns || line.trim_start().starts_with("candlewick ") {
        return line.to_owned();
    }
    let hang = " ".repeat(hang.min(columns / 2));
    let (mut text, mut width, mut blanks) = (String::with_capacity(line.len() + 40), 0, 0);
    // A number and its percent sign stay on one line.
    for word in line.replace(" %", "\u{a0}%").split(' ') {
        if !word.is_empty() {
            let length = measure_text_width(word);
            if width > hang.len() && width + blanks + length > columns {
                text.push('\n');
                text.push_str(&hang);
                width = hang.len();
            } else {
                text.push_str(&" ".repeat(blanks));
                width += blanks;
            }
            text.push_str(word);
            width += length;
            blanks = 0;
        }
        blanks += 1;
    }
    text.replace('\u{a0}', " ")
}

/// Returns the indent of continuation lines: after a leading `- `, or after the last gap of two or more spaces.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    if words.starts_with("- ") {
        return indent + 2;
    }
    let starts = words.rmatch_indices("  ").map(|(at, _)| at + 2).filter(|at| !words[*at..].starts_with(' '));
    starts.map(|at| indent + measure_text_width(&words[..at])).find(|at| *at <= columns / 2).unwrap_or(indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_everything_but_own_colours() {
        let text = "\u{1b}[1;31mred\u{1b}[0m\n\u{1b}]0;title\u{7}\u{9b}2J\u{1b}[2J\u{1b}[3\u{202e}\r";
        assert_eq!(
            sanitize_lines(text),
            "\\u{1b}[1;31mred\\u{1b}[0m\n\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{1b}[2J\\u{1b}[3\\u{202e}\\r"
        );
        let coloured =
            "\u{1b}[1;31mred\u{1b}[0m\n\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{1b}[2J\\u{1b}[3\\u{202e}\\r";
        assert_eq!(sanitize_coloured_lines(text), coloured);
        assert_eq!(sanitize_coloured_line(text), coloured.replace('\n', "\\n"));
        assert!(matches!(sanitize_lines("plain → text"), Cow::Borrowed("plain → text")));
    }

    #[test]
    fn indents_wrapped_lines() {
        for (text, expected) in [
            ("one two", "one two"),
            ("one two   three   four", "one two\n    three\n    four"),
            ("one   two   three", "one   two\n    three"),
            ("one two three   four", "one two\n    three\n    four"),
            ("\u{1b}[1mone\u{1b}[0m two   three", "\u{1b}[1mone\u{1b}[0m two\n    three"),
        ] {
            assert_eq!(wrap_indented(text, 4, Some(14)), expected, "{text}");
            assert_eq!(wrap_indented(text, 4, None), text);
        }
    }

    #[test]
    fn wraps_long_lines_between_words() {
        for (text, expected) in [
            ("short", "short"),
            ("one two three four five", "one two\nthree four\nfive"),
            ("  one two three four", "  one two\n  three\n  four"),
            ("- one two three four", "- one two\n  three\n  four"),
            ("key  one two three", "key  one\n     two\n     three"),
            ("a  b one two three", "a  b one\n   two\n   three"),
            ("a  b c  d", "a  b c  d"),
            ("at most 75 %", "at most\n75 %"),
            ("one\n\ntwo three four", "one\n\ntwo three\nfour"),
            ("a-word-without-any-blank at", "a-word-without-any-blank\nat"),
            ("\u{1b}[1mone\u{1b}[0m two three", "\u{1b}[1mone\u{1b}[0m two\nthree"),
            ("数字数字 数字", "数字数字\n数字"),
        ] {
            assert_eq!(wrap(text, Some(10)), expected, "{text}");
            assert_eq!(wrap(text, None), text);
        }
    }
}
