//! What is wrong in a configuration: the key, its value, where that came from, and what to do.

use super::KeyPath;
use crate::failure::{Failure, FailureKind};
use serde::Serialize;
use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Problem {
    /// The key, such as `bots[0].stake.amount`.
    pub(crate) key: String,
    /// The value, unless it might be a secret.
    pub(crate) value: Option<String>,
    /// The file, the environment or the flag that the value came from.
    pub(crate) origin: Option<String>,
    /// What is wrong, and what is allowed.
    pub(crate) complaint: String,
    #[serde(skip)]
    pub(crate) kind: FailureKind,
}

/// All that is wrong; never empty.
#[derive(Debug)]
pub(crate) struct Problems(Vec<Problem>);

impl Problem {
    /// A problem with a key whose value says nothing.
    pub(crate) fn of_key(key: &KeyPath, origin: Option<String>, complaint: impl Into<String>) -> Self {
        let kind = FailureKind::Configuration;
        Self { key: key.to_string(), value: None, origin, complaint: complaint.into(), kind }
    }

    /// Shows the value.
    #[must_use]
    pub(crate) fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Makes it one of another kind.
    #[must_use]
    pub(crate) fn kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if let Some(value) = &self.value {
            write!(f, " = {value}")?;
        }
        if let Some(origin) = &self.origin {
            write!(f, " ({origin})")?;
        }
        let colon = if self.key.is_empty() { "" } else { ": " };
        write!(f, "{colon}{}", self.complaint)
    }
}

impl Problems {
    /// `Ok` when there is none.
    pub(crate) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    pub(crate) fn into_list(self) -> Vec<Problem> {
        self.0
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        let list = problems.0;
        // Wrong settings come before the data that they lead to.
        let settings = list.iter().any(|problem| problem.kind == FailureKind::Configuration);
        let other = list.first().map_or(FailureKind::Configuration, |problem| problem.kind);
        let kind = if settings { FailureKind::Configuration } else { other };
        let text = match list.as_slice() {
            [only] => only.to_string(),
            many => {
                let lines: Vec<String> = many.iter().map(|problem| format!("\n  {problem}")).collect();
                format!("{} problems in the configuration:{}", many.len(), lines.concat())
            }
        };
        Self::new(kind, anyhow::Error::msg(text))
    }
}
