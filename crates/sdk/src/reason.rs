//! Why a strategy wants a trade, in a form that costs nothing until somebody reads it.

use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

/// How many numbers a reason can carry.
const MOST_NUMBERS: usize = 4;

/// A fixed text with up to four named numbers; rendered only when written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    text: &'static str,
    numbers: [(&'static str, f64); MOST_NUMBERS],
    count: u8,
}

impl Reason {
    /// A reason without numbers.
    pub const fn new(text: &'static str) -> Self {
        Self { text, numbers: [("", 0.0); MOST_NUMBERS], count: 0 }
    }

    /// Adds a named number; a fifth is left out.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: f64) -> Self {
        if let Some(slot) = self.numbers.get_mut(usize::from(self.count)) {
            *slot = (name, value);
            self.count += 1;
        }
        self
    }

    /// The fixed text.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The named numbers, in the order they were added.
    pub fn numbers(&self) -> &[(&'static str, f64)] {
        &self.numbers[..usize::from(self.count)]
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        for (name, value) in self.numbers() {
            // Six significant places after the point are enough to read; no trailing zeros.
            let number = format!("{value:.6}");
            let number = number.trim_end_matches('0').trim_end_matches('.');
            write!(f, " {name}={number}")?;
        }
        Ok(())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(usize::from(self.count) + 1))?;
        map.serialize_entry("text", self.text)?;
        for (name, value) in self.numbers() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_its_text_and_its_numbers() {
        let reason = Reason::new("oversold").with("rsi", 28.25).with("level", 30.0);
        assert_eq!(reason.to_string(), "oversold rsi=28.25 level=30");
    }

    #[test]
    fn a_fifth_number_is_left_out() {
        let reason = (0..6).fold(Reason::new("many"), |reason, n| reason.with("n", f64::from(n)));
        assert_eq!(reason.numbers().len(), 4);
    }
}
