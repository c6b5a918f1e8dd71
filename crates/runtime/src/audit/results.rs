//! Compares booked results with later reports from the venue.

use super::SettledProfit;
use crate::resolver::hash_id;
use candlewick_broker::{TradeListing, TradeProgress, TradeReport};
use candlewick_engine::{BotId, IntentId};
use candlewick_sdk::{Millis, Money, MoneyScale, Outcome, Payout};
use std::collections::{BTreeMap, VecDeque};

const COMPARISON_WINDOW: Millis = Millis::DAY;
const MAX_RESULTS: usize = 20_000;

/// Trade results that were booked within the last day. The key is a hash of the venue's trade id.
#[derive(Debug, Default)]
pub(crate) struct BookedResults {
    booked: BTreeMap<u64, BookedResult>,
    order: VecDeque<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BookedResult {
    pub(crate) intent: IntentId,
    pub(crate) bot: BotId,
    pub(crate) stake: Money,
    pub(crate) payout: Option<Payout>,
    pub(crate) outcome: Outcome,
    pub(crate) profit: Money,
    pub(crate) at: Millis,
    pub(crate) source: ResultSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultSource {
    Venue,
    Operator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VenueClaim {
    Agrees,
    Silent,
    /// The venue reports a different result. The profit is `None` if neither the report nor the payout determines it.
    Ended(Outcome, Option<Money>),
    Running,
    Unknown,
    Reverted,
    Mixed,
}

impl BookedResults {
    pub(crate) fn book(&mut self, venue_id: &str, result: BookedResult) {
        let hash = hash_id(venue_id);
        if self.booked.insert(hash, result).is_none() {
            self.order.push_back(hash);
        }
        while self.order.len() > MAX_RESULTS {
            self.booked.remove(&self.order.pop_front().unwrap_or_default());
        }
    }

    pub(crate) fn forget(&mut self, venue_id: &str) {
        self.booked.remove(&hash_id(venue_id));
    }

    /// Compares a trade list with booked results. A trade booked within the last `lag` may still be listed as open.
    pub(crate) fn compare(
        &mut self,
        listing: &TradeListing,
        (lag, scale, now): (Millis, MoneyScale, Millis),
    ) -> Vec<(String, BookedResult, VenueClaim)> {
        if self.booked.is_empty() {
            return Vec::new();
        }
        self.booked.retain(|_, result| now - result.at < COMPARISON_WINDOW);
        let booked = &self.booked;
        self.order.retain(|hash| booked.contains_key(hash));
        let mut results: BTreeMap<&str, (BookedResult, VenueClaim)> = BTreeMap::new();
        for report in &listing.trades {
            let Some(result) = self.booked.get(&hash_id(&report.id)) else { continue };
            let is_late = listing.began - result.at > lag;
            let reported = result.classify(report, scale);
            let may_lag = matches!(reported, VenueClaim::Running | VenueClaim::Unknown) && !is_late;
            let reported = if may_lag { VenueClaim::Silent } else { reported };
            let known = results.entry(&report.id).or_insert((*result, reported));
            known.1 = known.1.merge(reported);
        }
        results.into_iter().map(|(id, (result, reported))| (id.to_owned(), result, reported)).collect()
    }
}

impl VenueClaim {
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Silent, reported) | (reported, Self::Silent) => reported,
            _ => Self::Mixed,
        }
    }

    pub(crate) const fn contradicts(self) -> bool {
        !matches!(self, Self::Agrees | Self::Silent)
    }

    pub(crate) fn describe(self, result: &BookedResult, scale: MoneyScale) -> String {
        match self {
            Self::Agrees => describe_result(result.outcome, result.profit, scale),
            Self::Silent => "nothing about its result".to_owned(),
            Self::Ended(outcome, Some(profit)) => describe_result(outcome, profit, scale),
            Self::Ended(outcome, None) => format!("{outcome} without a profit"),
            Self::Running => "that it is open".to_owned(),
            Self::Unknown => "an unknown result".to_owned(),
            Self::Reverted => "that it was reverted".to_owned(),
            Self::Mixed => "two different results".to_owned(),
        }
    }
}

pub(crate) fn describe_result(outcome: Outcome, profit: Money, scale: MoneyScale) -> String {
    let sign = if profit.is_positive() { "+" } else { "" };
    format!("{outcome} with {sign}{}", scale.format(profit))
}

impl BookedResult {
    pub(crate) const fn to_settled_profit(self, (outcome, profit): (Outcome, Money)) -> SettledProfit {
        let Self { intent, stake, payout, .. } = self;
        SettledProfit { intent, stake, payout, outcome, profit }
    }

    pub(crate) fn classify(&self, report: &TradeReport, scale: MoneyScale) -> VenueClaim {
        let profit = report.profit.and_then(|profit| scale.convert_rounded(profit).ok());
        let reported = match &report.progress {
            TradeProgress::Over(outcome) if *outcome != self.outcome => {
                let by_rule = || crate::coordinator::computed_profit(*outcome, self.stake, self.payout);
                VenueClaim::Ended(*outcome, profit.or_else(by_rule))
            }
            TradeProgress::Over(outcome) => match profit.filter(|profit| *profit != self.profit) {
                Some(profit) => VenueClaim::Ended(*outcome, Some(profit)),
                None => VenueClaim::Agrees,
            },
            TradeProgress::Running => VenueClaim::Running,
            TradeProgress::Unrecognised(_) => VenueClaim::Unknown,
            TradeProgress::OverWithoutOutcome => VenueClaim::Silent,
        };
        // A reverted trade moves no money. A booked cancellation moves no money either, so the two agree.
        let is_returned = self.outcome == Outcome::Cancelled;
        if report.is_reverted && matches!(reported, VenueClaim::Agrees | VenueClaim::Silent) && !is_returned {
            VenueClaim::Reverted
        } else {
            reported
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::rust_decimal::Decimal;

    const LAG: Millis = Millis::MINUTE;

    fn won(number: u64) -> BookedResult {
        BookedResult {
            intent: IntentId::new(number),
            bot: BotId::FIRST,
            stake: Money::from_minor(1_000),
            payout: Payout::from_percent(80.into()).ok(),
            outcome: Outcome::Won,
            profit: Money::from_minor(800),
            at: Millis::ZERO,
            source: ResultSource::Venue,
        }
    }

    fn compare(results: &mut BookedResults, at: Millis, trades: Vec<TradeReport>) -> Vec<VenueClaim> {
        let listing = crate::resolver::testing::listing(at.get(), trades);
        let found = results.compare(&listing, (LAG, MoneyScale::default(), at));
        found.into_iter().map(|(.., reported)| reported).collect()
    }

    #[test]
    fn classifies_listed_results() {
        let over = |outcome, profit: Option<i64>| TradeReport {
            progress: TradeProgress::Over(outcome),
            profit: profit.map(|minor| Decimal::new(minor, 2)),
            ..TradeReport::new("01JT")
        };
        let reverted = |report: TradeReport| TradeReport { is_reverted: true, ..report };
        let ended = |outcome, minor| VenueClaim::Ended(outcome, Some(Money::from_minor(minor)));
        let late = LAG + Millis::new(1);
        let unrecognised = TradeProgress::Unrecognised("REVERSED".to_owned());
        for (reports, at, expected) in [
            (vec![over(Outcome::Won, Some(800))], late, Some(VenueClaim::Agrees)),
            (vec![over(Outcome::Won, None)], late, Some(VenueClaim::Agrees)),
            (vec![over(Outcome::Lost, None)], late, Some(ended(Outcome::Lost, -1_000))),
            (vec![over(Outcome::Cancelled, Some(0))], late, Some(ended(Outcome::Cancelled, 0))),
            (vec![over(Outcome::Won, Some(799))], late, Some(ended(Outcome::Won, 799))),
            (vec![TradeReport::new("01JT")], late, Some(VenueClaim::Running)),
            (vec![TradeReport::new("01JT")], LAG, Some(VenueClaim::Silent)),
            (
                vec![TradeReport { progress: unrecognised, ..TradeReport::new("01JT") }],
                late,
                Some(VenueClaim::Unknown),
            ),
            (vec![reverted(over(Outcome::Won, Some(800)))], late, Some(VenueClaim::Reverted)),
            (vec![reverted(over(Outcome::Cancelled, Some(0)))], late, Some(ended(Outcome::Cancelled, 0))),
            (vec![over(Outcome::Won, Some(800)), over(Outcome::Lost, None)], late, Some(VenueClaim::Mixed)),
            (vec![TradeReport { id: "01JU".to_owned(), ..over(Outcome::Lost, None) }], late, None),
            (vec![over(Outcome::Lost, None)], Millis::DAY, None),
        ] {
            let mut results = BookedResults::default();
            results.book("01JT", won(7));
            let text = format!("{reports:?}");
            assert_eq!(compare(&mut results, at, reports), Vec::from_iter(expected), "{text}");
        }
    }

    #[test]
    fn only_the_latest_results_are_compared() {
        let mut results = BookedResults::default();
        for number in 0..MAX_RESULTS + 10 {
            results.book(&format!("trade-{number}"), won(number as u64));
            results.book("trade-0", won(0));
        }
        assert_eq!((results.booked.len(), results.order.len()), (MAX_RESULTS, MAX_RESULTS));
        let mut found = |number: usize| {
            let (progress, id) = (TradeProgress::Over(Outcome::Lost), format!("trade-{number}"));
            let lost = TradeReport { progress, ..TradeReport::new(id) };
            compare(&mut results, Millis::ZERO, vec![lost]).len()
        };
        assert_eq!([2, MAX_RESULTS / 2, MAX_RESULTS + 9].map(&mut found), [0, 1, 1]);
        compare(&mut results, Millis::DAY, Vec::new());
        assert_eq!((results.booked.len(), results.order.len()), (0, 0));
    }
}
