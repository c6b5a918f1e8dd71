//! Configuration problems with key path, value, origin and hint.

use figment::value::Value;
use serde::Serialize;
use std::fmt;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    pub key: String,
    /// The invalid value, or `None` if it is unknown or may be a secret.
    pub value: Option<String>,
    pub origin: Option<String>,
    pub complaint: String,
    #[serde(skip)]
    pub kind: ProblemKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    Setting,
    Data,
}

#[derive(Debug)]
pub struct Problems(Vec<Problem>);

impl Problem {
    pub fn at_key(key: &KeyPath, origin: Option<String>, complaint: impl Into<String>) -> Self {
        let kind = ProblemKind::Setting;
        Self { key: key.to_string(), value: None, origin, complaint: complaint.into(), kind }
    }

    #[must_use]
    pub fn with_value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }

    #[must_use]
    pub fn with_kind(mut self, kind: ProblemKind) -> Self {
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
    pub fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    #[must_use]
    pub fn replace_origin_file(mut self, draft: &Path, file: &Path) -> Self {
        let (draft, file) = (draft.display().to_string(), file.display().to_string());
        for problem in &mut self.0 {
            problem.origin = problem.origin.take().map(|origin| origin.replace(&draft, &file));
        }
        self
    }

    pub fn into_list(self) -> Vec<Problem> {
        self.0
    }

    /// Returns `Setting` if any setting is invalid, otherwise `Data`. An invalid setting may cause data problems.
    pub fn kind(&self) -> ProblemKind {
        let is_setting = |problem: &Problem| problem.kind == ProblemKind::Setting;
        if self.0.iter().any(is_setting) { ProblemKind::Setting } else { ProblemKind::Data }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [only] => only.fmt(f),
            many => {
                write!(f, "{} problems in the configuration:", many.len())?;
                many.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for Problems {}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    pub fn parse(text: &str) -> Self {
        let parts = text.split(['.', '[']).map(|part| part.trim_end_matches(']'));
        Self(parts.filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }

    pub const fn from_parts(parts: Vec<String>) -> Self {
        Self(parts)
    }

    pub fn join_key(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([key.to_owned()]).collect())
    }

    pub fn join_index(&self, index: usize) -> Self {
        self.join_key(&index.to_string())
    }

    pub fn last(&self) -> &str {
        self.0.last().filter(|part| !is_index(part)).map_or("", String::as_str)
    }

    /// Returns the value at this path or, if it does not exist, the innermost existing table or list on the path.
    pub fn innermost_value<'a>(&self, root: &'a Value) -> &'a Value {
        let next = |value: &'a Value, part: &String| match value {
            Value::Dict(_, dict) => dict.get(part),
            Value::Array(_, items) => items.get(part.parse::<usize>().ok()?),
            _ => None,
        };
        let mut value = root;
        for part in &self.0 {
            match next(value, part) {
                Some(inner) => value = inner,
                None => break,
            }
        }
        value
    }
}

fn is_index(part: &str) -> bool {
    part.parse::<usize>().is_ok()
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, part) in self.0.iter().enumerate() {
            match part {
                part if is_index(part) => write!(f, "[{part}]")?,
                part if place == 0 => f.write_str(part)?,
                part => write!(f, ".{part}")?,
            }
        }
        Ok(())
    }
}
