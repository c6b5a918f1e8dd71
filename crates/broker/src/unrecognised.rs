//! Counts what a venue sends that its adapter does not know.
//!
//! Fields and values appear at a venue over time. They never stop the program, and they are never ignored: each is
//! counted, logged once, and shown.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many different names are kept; the rest share one count.
const NAMES: usize = 256;
/// How long a name may be, in bytes.
const NAME_LENGTH: usize = 96;
/// The shared count of all names beyond the bound.
const OVERFLOW: &str = "(others)";

/// Counts per unknown field (`Trade.reverted`), unknown value (`Trade.status=FROZEN`), unreadable field
/// (`Trade.payout unreadable`) and malformed field (`Trade.closeTime is below zero`). One is shared by all requests of an
/// adapter.
#[derive(Debug, Default)]
pub struct UnrecognisedData {
    counts: Mutex<BTreeMap<String, u64>>,
}

impl UnrecognisedData {
    /// Nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// All counts so far, by name.
    pub fn snapshot(&self) -> BTreeMap<String, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A field that the adapter does not know.
    pub fn count_field(&self, record: &str, field: &str) {
        self.count(format!("{record}.{field}"));
    }

    /// A value that the adapter does not know, in a field that it does.
    pub fn count_value(&self, record: &str, field: &str, value: &str) {
        self.count(format!("{record}.{field}={value}"));
    }

    /// A known field whose content has the wrong type.
    pub fn count_unreadable(&self, record: &str, field: &str) {
        self.count(format!("{record}.{field} unreadable"));
    }

    /// A known field whose value cannot be.
    pub fn count_malformed(&self, record: &str, field: &str, fault: &str) {
        self.count(format!("{record}.{field} {fault}"));
    }

    fn count(&self, mut name: String) {
        name.retain(|c| !c.is_control());
        name.truncate(name.floor_char_boundary(NAME_LENGTH));
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&name) {
            *count += 1;
        } else if counts.len() < NAMES {
            // A live run's audit shows it to people.
            tracing::info!(what = %name, "the venue sent something unknown");
            counts.insert(name, 1);
        } else {
            *counts.entry(OVERFLOW.to_owned()).or_insert(0) += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_counted_under_one_name() {
        let counted = UnrecognisedData::new();
        counted.count_field("Trade", "reverted");
        counted.count_field("Trade", "re\u{1b}verted");
        counted.count_value("Trade", "status", "FROZEN");
        counted.count_unreadable("Trade", "payout");
        let expected = [("Trade.payout unreadable", 1), ("Trade.reverted", 2), ("Trade.status=FROZEN", 1)];
        assert_eq!(counted.snapshot(), expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn a_flood_of_names_is_bounded_and_none_goes_uncounted() {
        let counted = UnrecognisedData::new();
        for number in 0..1_000 {
            counted.count_field("Trade", &format!("{number}{}", "é".repeat(200)));
        }
        let counts = counted.snapshot();
        assert_eq!((counts.len(), counts.values().sum::<u64>()), (NAMES + 1, 1_000));
        assert!(counts.keys().all(|name| name.len() <= NAME_LENGTH));
    }
}
