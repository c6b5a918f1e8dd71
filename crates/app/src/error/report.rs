//! Errors of this crate: kind, message, cause and hint.

use std::error::Error;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    InvalidArgument,
    UnusableData,
    VenueFailed,
    HoldOutOpenedBefore,
    RealMoneyRefused,
    OrderRefused,
    OrderNotConfirmed,
    SystemFailed,
}

#[derive(Debug)]
pub struct ErrorReport {
    pub(super) kind: ErrorKind,
    problem: String,
    pub(super) source: Option<Box<dyn Error + Send + Sync>>,
    pub(super) help: Option<String>,
}

impl ErrorReport {
    pub(super) fn new(kind: ErrorKind, problem: impl Into<String>) -> Self {
        Self { kind, problem: problem.into(), source: None, help: None }
    }

    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl Error for ErrorReport {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
