//! Import problems, before the file name is added.

use crate::HistoryError;
use std::io;
use std::path::Path;

#[derive(Debug)]
pub(crate) enum Problem {
    Io(io::Error),
    Line { line: u64, problem: String },
    File(String),
    Unclear { seen: String, option: String, examples: Vec<String> },
    Empty(String),
}

impl Problem {
    pub(super) fn unclear(seen: impl Into<String>, option: impl Into<String>) -> Self {
        Self::Unclear { seen: seen.into(), option: option.into(), examples: Vec::new() }
    }

    pub(super) fn asking(seen: impl Into<String>, example: impl Into<String>) -> Self {
        let example = example.into();
        let option = example.split(' ').next().unwrap_or_default();
        let option = format!("{option}, such as {example}");
        Self::Unclear { seen: seen.into(), option, examples: vec![example] }
    }

    pub(super) fn and(self, other: Option<Self>) -> Self {
        match (self, other) {
            (
                Self::Unclear { seen, option, mut examples },
                Some(Self::Unclear { seen: also_seen, option: other_option, examples: more }),
            ) => {
                examples.extend(more);
                let (seen, option) =
                    (format!("{seen}, and {also_seen}"), format!("{option}, and {other_option}"));
                Self::Unclear { seen, option, examples }
            }
            (Self::Unclear { .. }, Some(wrong)) => wrong,
            (only, _) => only,
        }
    }

    pub(super) fn at(self, path: &Path) -> HistoryError {
        let path = path.to_owned();
        match self {
            Self::Io(source) => HistoryError::Io { path, action: "read", source },
            Self::Line { line, problem } => HistoryError::InvalidLine { path, line, problem },
            Self::File(problem) => HistoryError::InvalidFile { path, problem },
            Self::Unclear { seen, option, examples } if examples.len() > 1 => {
                let option = format!("{option}; all at once, for example: {}", examples.join(" "));
                HistoryError::AmbiguousFile { path, seen, option }
            }
            Self::Unclear { seen, option, .. } => HistoryError::AmbiguousFile { path, seen, option },
            Self::Empty(problem) => HistoryError::NoCandles { place: path.display().to_string(), problem },
        }
    }
}

/// Returns whether decimal commas split the four prices into extra columns.
pub(super) const fn splits_decimals(count: usize, columns: usize) -> bool {
    count >= columns + 4
}

pub(super) fn decimals_between_commas(count: usize, columns: usize) -> String {
    format!(
        "{count} columns where {columns} belong: its decimals seem to stand behind commas, and its columns between commas; write it with another \
         separator, such as a semicolon, or with decimal points"
    )
}

#[derive(Debug, Default)]
pub(super) struct Questions(Option<Problem>);

impl Questions {
    pub(super) fn take<T>(&mut self, found: Result<T, Problem>) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(problem) => {
                self.0 = Some(match self.0.take() {
                    Some(asked) => asked.and(Some(problem)),
                    None => problem,
                });
                None
            }
        }
    }

    pub(super) fn problem(self) -> Problem {
        self.0.expect("what was not found has left its question")
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
