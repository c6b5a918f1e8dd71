//! Key paths in the configuration, such as `bots[0].stake.amount`.

use figment::value::Value;
use std::fmt;

/// Keys, and indices of lists as numbers.
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

    pub fn key(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([key.to_owned()]).collect())
    }

    pub fn index(&self, index: usize) -> Self {
        self.key(&index.to_string())
    }

    pub fn last(&self) -> &str {
        self.0.last().filter(|part| !is_index(part)).map_or("", String::as_str)
    }

    /// Returns the value at this path, or the innermost table or list on the way that exists.
    pub fn deepest<'a>(&self, root: &'a Value) -> &'a Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_it_prints() {
        for (text, printed) in [
            ("bots[0].stake.amount", "bots[0].stake.amount"),
            ("bots.0.stake", "bots[0].stake"),
            ("risk", "risk"),
            ("", ""),
        ] {
            assert_eq!(KeyPath::parse(text).to_string(), printed);
        }
    }
}
