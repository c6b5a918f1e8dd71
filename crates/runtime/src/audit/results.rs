//! Results that were booked, against what the venue's list says of them later.

use super::{Audit, Finding, named};
use candlewick_broker::{Progress, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// For how long the list is compared with what was booked.
const COMPARED_FOR: Millis = Millis::DAY;

/// Results that are compared at most: those that were booked last.
const MOST: usize = 20_000;

/// The last results of the last day, by hashes of the venue's identifiers.
#[derive(Debug, Default)]
pub(crate) struct ListedResults {
    booked: BTreeMap<u64, Settling>,
    /// In the order in which they were booked.
    order: VecDeque<u64>,
}

/// What was booked of a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settling {
    pub(crate) intent: IntentId,
    pub(crate) outcome: Outcome,
    pub(crate) profit: Money,
    /// When it became known.
    pub(crate) at: Millis,
    /// Who said how it ended.
    pub(crate) source: Source,
}

/// Who said how a trade ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The venue.
    Venue,
    /// A person, of a trade that the venue no longer had.
    Person,
}

impl ListedResults {
    /// A trade was booked so.
    pub(crate) fn book(&mut self, venue_id: &str, settling: Settling) {
        let hash = hash_of(venue_id);
        if self.booked.insert(hash, settling).is_none() {
            self.order.push_back(hash);
        }
        while self.order.len() > MOST {
            self.booked.remove(&self.order.pop_front().unwrap_or_default());
        }
    }

    /// Compares trades, whose list was asked for at `began` and may lag by `lag`, with what was booked of them at `now`. A
    /// difference is reported once.
    pub(crate) fn check(
        &mut self,
        listed: &[TradeReport],
        (began, lag): (Millis, Millis),
        (scale, now): (MoneyScale, Millis),
    ) -> Vec<Finding> {
        if self.booked.is_empty() {
            return Vec::new();
        }
        self.booked.retain(|_, settling| now - settling.at < COMPARED_FOR);
        let booked = &self.booked;
        self.order.retain(|hash| booked.contains_key(hash));
        let mut findings = Vec::new();
        for report in listed {
            let hash = hash_of(&report.id);
            let Some(settling) = self.booked.get(&hash) else { continue };
            if let Some(difference) = settling.difference(report, (began, lag), scale) {
                let text = format!("{}was booked as {difference}", named(settling.intent));
                findings.push(Finding::alarm(Audit::Settlement, text));
                self.booked.remove(&hash);
            }
        }
        findings
    }
}

fn hash_of(venue_id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    venue_id.hash(&mut hasher);
    hasher.finish()
}

impl Settling {
    fn difference(
        &self,
        report: &TradeReport,
        (began, lag): (Millis, Millis),
        scale: MoneyScale,
    ) -> Option<String> {
        let profit = report.profit.and_then(|profit| scale.rounded(profit).ok());
        if self.source == Source::Person {
            let now =
                report.progress.outcome().map_or("that it runs".to_owned(), |outcome| outcome.to_string());
            return Some(format!(
                "{} because a person said so, and the list has it again: {now}",
                self.outcome
            ));
        }
        match &report.progress {
            Progress::Over(outcome) if *outcome != self.outcome => {
                Some(format!("{}, and the list says {outcome} now", self.outcome))
            }
            Progress::Over(_) => profit.filter(|profit| *profit != self.profit).map(|profit| {
                let (booked, listed) = (scale.to_decimal(self.profit), scale.to_decimal(profit));
                format!("a profit of {booked}, and the list says {listed} now")
            }),
            Progress::Running if began - self.at > lag => {
                Some(format!("{}, and the list says that it runs", self.outcome))
            }
            Progress::Running | Progress::OverUnreported | Progress::Unrecognised(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::rust_decimal::Decimal;

    const LAG: Millis = Millis::MINUTE;

    #[test]
    fn a_result_that_the_list_contradicts_is_reported_once() {
        let over = |outcome, profit: Option<i64>| TradeReport {
            progress: Progress::Over(outcome),
            profit: profit.map(|minor| Decimal::new(minor, 2)),
            ..TradeReport::new("01JT")
        };
        let late = LAG + Millis::new(1);
        for (report, at, expected) in [
            (over(Outcome::Won, Some(800)), late, None),
            (over(Outcome::Won, None), late, None),
            (over(Outcome::Lost, None), late, Some("booked as WON, and the list says LOST now")),
            (over(Outcome::Cancelled, Some(0)), late, Some("booked as WON, and the list says CANCELLED now")),
            (over(Outcome::Won, Some(799)), late, Some("a profit of 8.00, and the list says 7.99 now")),
            (TradeReport::new("01JT"), late, Some("booked as WON, and the list says that it runs")),
            (TradeReport::new("01JT"), LAG, None),
            (TradeReport { id: "01JU".to_owned(), ..over(Outcome::Lost, None) }, late, None),
            (over(Outcome::Lost, None), Millis::DAY, None),
        ] {
            let mut results = ListedResults::default();
            let (intent, profit) = (IntentId::new(7), Money::from_minor(800));
            let settling =
                Settling { intent, outcome: Outcome::Won, profit, at: Millis::ZERO, source: Source::Venue };
            results.book("01JT", settling);
            let mut check =
                || results.check(std::slice::from_ref(&report), (at, LAG), (MoneyScale::default(), at));
            let found = check();
            assert_eq!(found.len(), usize::from(expected.is_some()), "{report:?} {found:?}");
            if let (Some(finding), Some(expected)) = (found.first(), expected) {
                assert!(
                    finding.text.starts_with("intent 7 ") && finding.text.contains(expected),
                    "{finding:?}"
                );
            }
            assert_eq!(check(), []);
        }
    }

    #[test]
    fn the_results_that_were_booked_last_are_compared() {
        let mut results = ListedResults::default();
        let settling = |number: usize| Settling {
            intent: IntentId::new(number as u64),
            outcome: Outcome::Won,
            profit: Money::from_minor(800),
            at: Millis::ZERO,
            source: Source::Venue,
        };
        for number in 0..MOST + 10 {
            results.book(&format!("trade-{number}"), settling(number));
            results.book("trade-0", settling(0));
        }
        assert_eq!((results.booked.len(), results.order.len()), (MOST, MOST));
        let lost = |number: usize| TradeReport {
            progress: Progress::Over(Outcome::Lost),
            ..TradeReport::new(format!("trade-{number}"))
        };
        let mut found = |number: usize| {
            results.check(&[lost(number)], (Millis::ZERO, LAG), (MoneyScale::default(), Millis::ZERO)).len()
        };
        let looked = [2, MOST / 2, MOST + 9].map(&mut found);
        assert_eq!(looked, [0, 1, 1]);
        results.check(&[], (Millis::DAY, LAG), (MoneyScale::default(), Millis::DAY));
        assert_eq!((results.booked.len(), results.order.len()), (0, 0));
    }
}
