//! Key paths in the configuration, such as `bots[0].stake.amount`.

use figment::value::Value;
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl KeyPath {
    pub fn parse(text: &str) -> Self {
        let parts = text.split(['.', '[']).map(|part| part.trim_end_matches(']'));
        Self::from_parts(parts.filter(|part| !part.is_empty()))
    }

    pub fn from_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let step = |part: &str| part.parse().map_or_else(|_| Step::Key(part.to_owned()), Step::Index);
        Self(parts.into_iter().map(step).collect())
    }

    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    pub fn last(&self) -> &str {
        match self.0.last() {
            Some(Step::Key(key)) => key,
            Some(Step::Index(_)) | None => "",
        }
    }

    pub fn deepest<'a>(&self, root: &'a Value) -> &'a Value {
        let mut value = root;
        for step in &self.0 {
            let next = match (step, value) {
                (Step::Key(key), Value::Dict(_, dict)) => dict.get(key),
                (Step::Index(index), Value::Array(_, items)) => items.get(*index),
                (Step::Index(index), Value::Dict(_, dict)) => dict.get(&index.to_string()),
                _ => None,
            };
            match next {
                Some(next) => value = next,
                None => return value,
            }
        }
        value
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if place == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
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
