//! Differences between documents, and the rows that permit them.

use crate::document::pointer_to;
use serde::Deserialize;
use serde_json::Value;
use std::cell::Cell;
use std::fmt;

const SHOWN_BYTES: usize = 160;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Changed,
    Added,
    Removed,
}

#[derive(Debug)]
pub(crate) struct Difference {
    pointer: String,
    recorded: Option<Value>,
    found: Option<Value>,
}

impl Difference {
    fn kind(&self) -> Kind {
        match (&self.recorded, &self.found) {
            (None, _) => Kind::Added,
            (_, None) => Kind::Removed,
            _ => Kind::Changed,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| {
            let text = value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
            let end = text.floor_char_boundary(SHOWN_BYTES);
            if end < text.len() { format!("{}...", &text[..end]) } else { text }
        };
        let (kind, pointer) = (self.kind(), &self.pointer);
        write!(f, "{kind:?} {pointer}: {} -> {}", show(&self.recorded), show(&self.found))
    }
}

pub(crate) fn find_differences(recorded: &Value, found: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    collect(Some(recorded), Some(found), String::new(), &mut differences);
    differences
}

fn collect(was: Option<&Value>, is: Option<&Value>, pointer: String, differences: &mut Vec<Difference>) {
    match (was, is) {
        (Some(Value::Object(was)), Some(Value::Object(is))) => {
            let added = is.keys().filter(|key| !was.contains_key(*key));
            for key in was.keys().chain(added) {
                collect(was.get(key), is.get(key), pointer_to(&pointer, key), differences);
            }
        }
        (Some(Value::Array(was)), Some(Value::Array(is))) => {
            for (was_at, is_at) in pair_items(was, is) {
                let index = was_at.or(is_at).unwrap_or_default();
                let (was, is) = (was_at.map(|at| &was[at]), is_at.map(|at| &is[at]));
                collect(was, is, format!("{pointer}/{index}"), differences);
            }
        }
        _ if was == is => {}
        _ => differences.push(Difference { pointer, recorded: was.cloned(), found: is.cloned() }),
    }
}

/// Pairs the items of two arrays so that items after an added or removed one match. Others are paired in order.
fn pair_items(was: &[Value], is: &[Value]) -> Vec<(Option<usize>, Option<usize>)> {
    let (mut pairs, mut was_at, mut is_at) = (Vec::new(), 0, 0);
    while was_at < was.len() || is_at < is.len() {
        let removed = is.get(is_at).and_then(|item| was[was_at..].iter().position(|other| other == item));
        let added = was.get(was_at).and_then(|item| is[is_at..].iter().position(|other| other == item));
        let (is_removal, is_addition) = match (removed, added) {
            (Some(removed), Some(added)) => (removed < added, added < removed),
            (removed, added) => {
                (removed.is_some() || is_at == is.len(), added.is_some() || was_at == was.len())
            }
        };
        pairs.push(((!is_addition).then_some(was_at), (!is_removal).then_some(is_at)));
        was_at += usize::from(!is_addition);
        is_at += usize::from(!is_removal);
    }
    pairs
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allowed {
    #[serde(default, rename = "row")]
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    change: String,
    /// Name of the base file; `*` matches any text.
    file: String,
    /// JSON pointer; `*` matches one segment.
    pointer: String,
    kind: Kind,
    reason: String,
    #[serde(skip)]
    is_used: Cell<bool>,
}

impl Allowed {
    pub(crate) fn parse(text: &str) -> Self {
        toml::from_str(text).unwrap()
    }

    pub(crate) fn permits(&self, file: &str, difference: &Difference) -> bool {
        let fitting: Vec<&Row> = self.rows.iter().filter(|row| row.fits(file, difference)).collect();
        for row in &fitting {
            row.is_used.set(true);
        }
        !fitting.is_empty()
    }

    pub(crate) fn unused_rows(&self) -> Vec<String> {
        let unused = self.rows.iter().filter(|row| !row.is_used.get());
        let message = |row: &Row| {
            let Row { change, file, pointer, kind, reason, .. } = row;
            format!("allowed.toml: unused row {change}: {kind:?} {pointer} in {file} ({reason})")
        };
        unused.map(message).collect()
    }
}

impl Row {
    fn fits(&self, file: &str, difference: &Difference) -> bool {
        self.kind == difference.kind()
            && matches_text(&self.file, file)
            && matches_pointer(&self.pointer, &difference.pointer)
    }
}

fn matches_text(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| matches_text(rest, &text[at..]))
        }),
    }
}

pub(crate) fn matches_pointer(pattern: &str, pointer: &str) -> bool {
    let (mut patterns, mut parts) = (pattern.split('/'), pointer.split('/'));
    loop {
        match (patterns.next(), parts.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if pattern == "*" || pattern == part => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_changed_added_and_removed_values() {
        let recorded = json!({ "a": [1, 2], "b/c": null, "d": { "e": 1.0 }, "g": [1, 2, 3, 4], "h": [1, 2] });
        let found = json!({ "a": [1, 3, 4], "d": { "e": 1 }, "f": [], "g": [1, 5, 4], "h": [0, 1, 2] });
        let shown: Vec<String> =
            find_differences(&recorded, &found).iter().map(ToString::to_string).collect();
        let expected = [
            "Changed /a/1: 2 -> 3",
            "Added /a/2: nothing -> 4",
            "Removed /b~1c: null -> nothing",
            "Changed /d/e: 1.0 -> 1",
            "Changed /g/1: 2 -> 5",
            "Removed /g/2: 3 -> nothing",
            "Added /h/0: nothing -> 0",
            "Added /f: nothing -> []",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn patterns_match_whole_names_and_single_parts() {
        for (pattern, text, expected) in [
            ("*", "plain.json", true),
            ("plain*.json", "plain-two.json", true),
            ("*-two.json", "plain-two.json", true),
            ("plain*", "other.json", false),
            ("plain", "plain.json", false),
        ] {
            assert_eq!(matches_text(pattern, text), expected, "{pattern} {text}");
        }
        assert!(matches_pointer("/a/*/b", "/a/7/b"));
        assert!(!matches_pointer("/a/*", "/a/7/b") && !matches_pointer("/a/*/b", "/a/b"));
    }
}
