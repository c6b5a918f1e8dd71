//! State that an adapter shares with the run: status of the access token, and counts of unknown fields and values.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Status of the access token, set by the adapter. The run opens no trades while the token is rejected.
#[derive(Debug, Default)]
pub struct TokenState {
    refused: Mutex<Option<String>>,
}

impl TokenState {
    /// Returns the venue's message while the token is rejected, otherwise `None`.
    pub fn rejection(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that the venue rejects the token. `text` must not contain the token.
    pub fn record_rejection(&self, text: impl Into<String>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.into());
    }

    /// Records that the venue accepts the token, or that a new token is in use.
    pub fn clear_rejection(&self) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Maximum number of names that are counted separately. All further names share one count.
const MAX_NAMES: usize = 256;
const MAX_NAME_BYTES: usize = 96;
const OVERFLOW_NAME: &str = "(others)";

/// Counts of unknown fields (such as `Trade.reverted`) and unknown values (such as `Trade.status=FROZEN`), by name.
#[derive(Debug, Default)]
pub struct UnrecognisedData {
    counts: Mutex<BTreeMap<String, u64>>,
}

impl UnrecognisedData {
    /// Creates empty counters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns all counts so far, by name.
    pub fn snapshot(&self) -> BTreeMap<String, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a field that the adapter does not know.
    pub fn count_field(&self, record: &str, field: &str) {
        self.count(format!("{record}.{field}"));
    }

    /// Counts an unknown value of a known field.
    pub fn count_value(&self, record: &str, field: &str, value: &str) {
        self.count(format!("{record}.{field}={value}"));
    }

    /// Counts a known field whose content has the wrong type.
    pub fn count_unreadable_field(&self, record: &str, field: &str) {
        self.count(format!("{record}.{field} unreadable"));
    }

    /// Counts a known field with an impossible value.
    pub fn count_impossible_value(&self, record: &str, field: &str, fault: &str) {
        self.count(format!("{record}.{field} {fault}"));
    }

    fn count(&self, mut name: String) {
        name.retain(|c| !c.is_control());
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&name) {
            *count += 1;
        } else if counts.len() < MAX_NAMES {
            tracing::info!(what = %name, "the venue sent an unknown field or value");
            counts.insert(name, 1);
        } else {
            *counts.entry(OVERFLOW_NAME.to_owned()).or_insert(0) += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_equal_names_together() {
        let counted = UnrecognisedData::new();
        counted.count_field("Trade", "reverted");
        counted.count_field("Trade", "re\u{1b}verted");
        counted.count_value("Trade", "status", "FROZEN");
        counted.count_unreadable_field("Trade", "payout");
        let expected = [("Trade.payout unreadable", 1), ("Trade.reverted", 2), ("Trade.status=FROZEN", 1)];
        assert_eq!(counted.snapshot(), expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn bounds_names_and_counts_all_of_them() {
        let counted = UnrecognisedData::new();
        for number in 0..1_000 {
            counted.count_field("Trade", &format!("{number}{}", "é".repeat(200)));
        }
        let counts = counted.snapshot();
        assert_eq!((counts.len(), counts.values().sum::<u64>()), (MAX_NAMES + 1, 1_000));
        assert!(counts.keys().all(|name| name.len() <= MAX_NAME_BYTES));
    }
}
