//! An error of this crate's own: what kind it is, what is wrong in a sentence, its cause, and what to do about it.

use std::error::Error;
use std::fmt;

/// What kind of fault an [`ErrorReport`] is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A setting or an argument cannot be used, or two contradict each other.
    InvalidArgument,
    /// Candles, or files that hold them, are missing or wrong.
    UnusableData,
    /// The venue refused, or cannot be reached.
    VenueFailed,
    /// The hold-out was opened before.
    HoldOutOpenedBefore,
    /// A rule of real money does not let the run begin.
    RealMoneyRefused,
    /// A running bot said that it does not do what it was ordered to.
    OrderRefused,
    /// A running bot did not say whether it did what it was ordered to.
    OrderNotConfirmed,
    /// The operating system, or the program itself, failed.
    SystemFailed,
}

/// What is wrong, in a sentence, with its cause and what to do about it.
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

    /// What kind of fault it is of.
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
