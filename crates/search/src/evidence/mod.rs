//! Evidence ledger: sealed day, seen days, confirmations and live journals.
//!
//! Exploring runs see candles up to a *sealed day*, which is the same for all symbols. On past candles, only a
//! confirmation, a test on the days after it, can show an edge. The [`EvidenceLedger`] remembers the sealed day, the
//! seen days and the tests. Test `k` of a ledger has the weight [`test_weight`]. The weights of all tests add up to 1,
//! so the probability that a ledger ever contains a false *shown* is at most alpha (`docs/statistics.md`).

mod confirmation;
mod copies;
mod days;
mod kind;
mod ledger;
mod live;

pub use confirmation::{
    Confirmation, ConfirmationError, ConfirmationRequest, FORECAST_EDGE_POINTS, PlannedTest, SetForecast,
    TestedSet, confirm, is_unseen, share_plan,
};
pub use copies::{CopiedDays, DayMoves, SeenMoves, day_moves, find_copies};
pub use days::{SeenDays, day_of, last_day, next_day, start_of};
pub use kind::EvidenceKind;
pub use ledger::{EvidenceLedger, LedgerError};
pub use live::{LiveJournal, LiveShares};

use candlewick_sdk::Millis;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Share of the days of the first candles that may be explored. The other days are sealed.
const EXPLORED_SHARE: f64 = 0.8;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// The first line of a ledger.
    Born,
    Sealed {
        from: NaiveDate,
    },
    Seen {
        from: NaiveDate,
        until: NaiveDate,
        by: String,
    },
    /// A day on which a live or paper run traded. It becomes a seen day.
    Traded {
        journal: String,
        place: String,
        day: NaiveDate,
        /// If the journal is new: the worth of each earlier journal ([`LiveShares`]).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worths: Option<BTreeMap<String, f64>>,
    },
    Explored {
        /// Hash of the candles that the run saw.
        candles: String,
    },
    /// Start of a test. It uses up the number of the test, even without an answer.
    Begun {
        /// Hash of everything that is tested: settings, strategies, parameters and files.
        identity: String,
        from: NaiveDate,
    },
    /// Start of a repeat of an answered test. Without an answer, the next run is a new test.
    Repeated {
        number: usize,
    },
    Answered {
        number: usize,
        answer: Answer,
        /// First day that the test did not use.
        until: NaiveDate,
        /// Hash of the candles that closed before `until`.
        candles: String,
        /// Hash of the trades as they were known at the start of `until`.
        trades: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Shown,
    NotShown,
}

/// A test on sealed days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// 1-based number, which determines the threshold.
    pub number: usize,
    pub identity: String,
    pub from: NaiveDate,
    /// Whether the test, or a repeat of it, began and did not end.
    pub is_pending: bool,
    /// `None` before the first answer.
    pub result: Option<TestResult>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    pub answer: Answer,
    pub until: NaiveDate,
    pub candles: String,
    pub trades: String,
}

/// Contents of a ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    pub born: Option<Millis>,
    /// First day that exploring runs do not see. No run uses this day, so no trade belongs to both sides.
    pub sealed_from: Option<NaiveDate>,
    pub seen: SeenDays,
    /// Number of exploring runs.
    pub explored: u64,
    /// Hashes of all candles that exploring runs saw.
    pub explored_candles: BTreeSet<String>,
    pub tests: Vec<Test>,
    pub live: LiveShares,
}

impl Evidence {
    fn apply(&mut self, at: Millis, entry: Entry) {
        match entry {
            Entry::Born => self.born = Some(at),
            Entry::Sealed { from } => self.sealed_from = self.sealed_from.max(Some(from)),
            Entry::Seen { from, until, .. } => self.seen.insert(&(from..until)),
            Entry::Traded { journal, place, day, worths } => {
                if let Some(worths) = worths {
                    self.live.join(&journal, day, &worths);
                }
                self.live.trade(journal, LiveJournal { place, last_day: day });
                self.seen.insert(&(day..next_day(day)));
            }
            Entry::Explored { candles } => {
                self.explored += 1;
                self.explored_candles.insert(candles);
            }
            Entry::Begun { identity, from } => {
                let number = self.tests.len() + 1;
                self.tests.push(Test { number, identity, from, is_pending: true, result: None });
            }
            Entry::Repeated { number } => {
                if let Some(test) = self.test_mut(number) {
                    test.is_pending = true;
                }
            }
            Entry::Answered { number, answer, until, candles, trades } => {
                if let Some(test) = self.test_mut(number) {
                    test.is_pending = false;
                    test.result = Some(TestResult { answer, until, candles, trades });
                }
            }
        }
    }

    fn test_mut(&mut self, number: usize) -> Option<&mut Test> {
        self.tests.get_mut(number.checked_sub(1)?)
    }

    /// Returns the days before `end` that a test may use: sealed and whole.
    pub fn testable_days(&self, end: Millis) -> Option<Range<NaiveDate>> {
        let from = next_day(self.sealed_from?);
        let until = day_of(end);
        (from < until).then_some(from..until)
    }

    /// Returns the answered tests with this identity that began on the same day, the last one first. Tests that began
    /// and did not end are used up.
    pub fn find_tests(&self, identity: &str, from: NaiveDate) -> impl Iterator<Item = (&Test, &TestResult)> {
        let same = move |test: &&Test| test.identity == identity && test.from == from && !test.is_pending;
        self.tests.iter().rev().filter(same).filter_map(|test| Some((test, test.result.as_ref()?)))
    }

    /// Returns the last test with this identity that showed an edge.
    pub fn find_shown_test(&self, identity: &str) -> Option<(&Test, &TestResult)> {
        let own = self.tests.iter().rev().filter(|test| test.identity == identity);
        own.filter_map(|test| Some((test, test.result.as_ref()?)))
            .find(|(_, result)| result.answer == Answer::Shown)
    }
}

/// Returns the sealed day for the first candles of a ledger: 80 % of the days with candles may be explored, at least one.
pub fn first_sealed_day(days: &BTreeSet<NaiveDate>) -> NaiveDate {
    let explored = (days.len() as f64 * EXPLORED_SHARE).ceil().max(1.0) as usize;
    days.iter().nth(explored - 1).map_or(NaiveDate::MAX, |last| next_day(*last))
}

/// Returns the share of alpha of test `number`: 4/5 for the first, then `1 / (5 k (k - 1))`. All shares together are 1.
pub fn test_weight(number: usize) -> f64 {
    let k = number as f64;
    if number <= 1 { 0.8 } else { 1.0 / (5.0 * k * (k - 1.0)) }
}

#[cfg(test)]
mod tests;
