//! What stops an import, before the file's name stands beside it.

use crate::HistoryError;
use std::io;
use std::path::Path;

/// Why a file cannot be read as candles.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The system says so.
    Io(io::Error),
    /// A line is wrong.
    Line { line: u64, problem: String },
    /// The content as a whole is wrong.
    File(String),
    /// Nothing is wrong, but something is unclear, and an option settles it.
    Unclear { seen: String, option: String },
    /// There are no candles in it.
    Empty(String),
}

impl Problem {
    pub(super) fn unclear(seen: impl Into<String>, option: impl Into<String>) -> Self {
        Self::Unclear { seen: seen.into(), option: option.into() }
    }

    /// With the name of the file.
    pub(super) fn at(self, path: &Path) -> HistoryError {
        let path = path.to_owned();
        match self {
            Self::Io(source) => HistoryError::Io { path, action: "read", source },
            Self::Line { line, problem } => HistoryError::InvalidLine { path, line, problem },
            Self::File(problem) => HistoryError::InvalidFile { path, problem },
            Self::Unclear { seen, option } => HistoryError::AmbiguousFile { path, seen, option },
            Self::Empty(problem) => HistoryError::NoCandles { place: path.display().to_string(), problem },
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
