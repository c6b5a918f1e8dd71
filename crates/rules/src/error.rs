//! Errors in the text of a rule, with their position.

use candlewick_sdk::{Counterpart, visible};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    pub message: String,
    /// Byte range in the text. Empty if the text ends too early or something is missing between two
    /// characters.
    pub place: Range<usize>,
}

impl RuleError {
    pub(crate) fn new(place: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), place }
    }

    /// Both are 1-based; the column counts characters.
    pub fn line_and_column(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.place.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }

    pub fn shown(&self, text: &str) -> String {
        let start = text.floor_char_boundary(self.place.start);
        let first = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let last = text[start..].find('\n').map_or(text.len(), |end| start + end);
        let end = text.floor_char_boundary(self.place.end).clamp(start, last);
        let before = visible(&text[first..start]).chars().count();
        let marked = visible(&text[start..end]).chars().count().max(1);
        format!("{}\n  {}{}", visible(&text[first..last]), " ".repeat(before), "^".repeat(marked))
    }
}

pub(crate) fn render_counterpart(counterpart: &Counterpart) -> String {
    match counterpart {
        Counterpart::Name { name } => format!("did you mean `{name}`?"),
        Counterpart::Advice { advice } => advice.clone(),
        Counterpart::Key { section, example } if section == "bots" => {
            format!("it belongs in a configuration: {example} in [[bots]]")
        }
        Counterpart::Key { section, example } => {
            format!("it belongs in a configuration: {example} in [{section}]")
        }
    }
}
