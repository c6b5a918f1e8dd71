//! Division of the error rate for live trading among the journals of a ledger.

use candlewick_statistics::{AlphaBudget, BudgetedBot};
use chrono::NaiveDate;
use std::collections::BTreeMap;

/// A journal whose last day of trading is older than this many days no longer runs.
const MAX_PAUSE_DAYS: i64 = 1;

/// The error rate for live trading. A journal is to the ledger what a bot is to a journal ([`AlphaBudget`]).
///
/// A new journal takes over the remaining share of a stopped journal. If all journals run, they split their shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveShares {
    budget: AlphaBudget,
    journals: BTreeMap<String, LiveJournal>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveJournal {
    /// URL of the journal without credentials.
    pub place: String,
    pub last_day: NaiveDate,
}

impl LiveShares {
    /// Journals by id: the hash of their first run header.
    pub const fn journals(&self) -> &BTreeMap<String, LiveJournal> {
        &self.journals
    }

    /// Returns the journal's share of the error rate, from 0 to 1. Journals that the ledger does not know have none.
    pub fn share(&self, journal: &str) -> f64 {
        self.budget.weight(journal).unwrap_or_default()
    }

    pub(super) fn trade(&mut self, id: String, journal: LiveJournal) {
        self.journals.insert(id, journal);
    }

    /// Adds a journal. `worths` are the lowest accounts of the other journals so far, 0 for those that cannot be read.
    pub(super) fn join(&mut self, id: &str, day: NaiveDate, worths: &BTreeMap<String, f64>) {
        let runs = |journal: &LiveJournal| (day - journal.last_day).num_days() <= MAX_PAUSE_DAYS;
        let running = self.journals.iter().filter(|(_, journal)| runs(journal)).map(|(id, _)| id.as_str());
        let names = running.filter(|other| self.budget.weight(other).is_some()).chain([id]);
        let bots: Vec<BudgetedBot<'_>> = names.map(|name| BudgetedBot { name, is_changed: false }).collect();
        self.budget.begin_run(&bots, |other| worths.get(other).copied().unwrap_or_default());
    }
}
