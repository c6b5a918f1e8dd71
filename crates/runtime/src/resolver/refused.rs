//! Trades listed by the venue although their requests were rejected or never sent.

use super::candidate::{Match, Window, compare, is_departure_within, request_time_of};
use super::doubt::{ARRIVES_WITHIN, STAMP_SLACK};
use super::{CandidateTable, Doubt, Resolver};
use candlewick_broker::TradeReport;
use candlewick_engine::IntentId;
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

/// Minimum assumed transit time of a request.
///
/// The venue dates its answer, so the date may be wrong.
const MIN_TRANSIT: Millis = Millis::from_seconds(5);

/// Returns whether the trade may stem from a refused request.
///
/// A trade without a timestamp never matches: otherwise every old trade with the same terms would.
pub(crate) fn may_be_of_refused(doubt: &Doubt, report: &TradeReport, uncertainty: Millis) -> bool {
    request_time_of(report).is_some()
        && compare(doubt, report, window_of(doubt, uncertainty)) != Match::Different
}

fn window_of(doubt: &Doubt, uncertainty: Millis) -> Window {
    let answered = doubt.ended.clamp(doubt.sent + MIN_TRANSIT, doubt.sent + ARRIVES_WITHIN);
    doubt.window(uncertainty, answered + uncertainty + STAMP_SLACK)
}

impl Resolver {
    /// Returns the refused intents that may own a trade without an intent in doubt.
    ///
    /// Departures from the order count only while no other program is known to trade on the
    /// account.
    pub(super) fn refused_owners(
        &self,
        report: &TradeReport,
        (refused, uncertainty): (&[Doubt], Millis),
    ) -> Vec<IntentId> {
        let is_departure = |doubt: &Doubt| {
            self.reported.is_empty() && is_departure_within(doubt, report, window_of(doubt, uncertainty))
        };
        let exact: Vec<IntentId> = (refused.iter())
            .filter(|doubt| may_be_of_refused(doubt, report, uncertainty))
            .map(|doubt| doubt.intent)
            .collect();
        if exact.is_empty() {
            let departures = refused.iter().filter(|doubt| is_departure(doubt));
            return departures.map(|doubt| doubt.intent).collect();
        }
        exact
    }
}

pub(super) fn rivals(
    table: &CandidateTable<'_>,
    mut rows: impl Iterator<Item = usize> + Clone,
    (refused, uncertainty): (&[Doubt], Millis),
) -> Option<(Vec<IntentId>, usize)> {
    let owners = |row: usize| {
        let owners =
            refused.iter().filter(move |doubt| may_be_of_refused(doubt, table.rows[row], uncertainty));
        owners.map(|doubt| doubt.intent)
    };
    let intents: BTreeSet<IntentId> = rows.clone().flat_map(owners).collect();
    let row = rows.find(|row| owners(*row).next().is_some())?;
    Some((intents.into_iter().collect(), row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::{Claimed, Known, LagMeter, Resolution, Why, testing};
    use candlewick_broker::Account;
    use std::collections::BTreeSet;

    /// What two lists with these rows say of intent 1, which was sent at 100 s and is in doubt, while intent 2 was sent at
    /// this second and rejected at once.
    fn resolve(rejected_at: i64, rows: &[(&str, i64)]) -> Vec<Resolution> {
        let lag = LagMeter::new(Millis::from_seconds(120));
        let mut resolver = Resolver::new(Account::Demo, Millis::ZERO, lag);
        resolver.begin(testing::doubt(1), Millis::from_seconds(110));
        let sent = Millis::from_seconds(rejected_at);
        let refused = [Doubt { sent, ended: sent, ..testing::doubt(2) }];
        let known = Known {
            claimed: &Claimed::default(),
            in_flight: &[],
            answered: &[],
            refused: &refused,
            reserved: &BTreeSet::new(),
            has_unknown_pay: false,
            has_stood: false,
            wallet: None,
            uncertainty: Millis::SECOND,
        };
        let mut resolutions = Vec::new();
        for at in [112_000, 120_000] {
            let trades = rows.iter().map(|(id, ms)| testing::report(id, Millis::new(*ms))).collect();
            let listing = testing::listing(at, trades);
            resolver.begin_look(Millis::new(at));
            resolutions.extend(resolver.take_listing(&listing, &known, Millis::new(at)));
        }
        resolutions
    }

    fn describe(resolutions: &[Resolution]) -> Vec<String> {
        let describe = |resolution: &Resolution| match resolution {
            Resolution::Adopt { intent, report } => format!("{intent} is {}", report.id),
            Resolution::Reinstate { intents, report } => format!("{} is of {intents:?}", report.id),
            Resolution::AskPerson { intent, why: Why::MayBeRefused { venue_ids, intents } } => {
                format!("{intent} or {intents:?} is {venue_ids:?}")
            }
            other => format!("{other:?}"),
        };
        resolutions.iter().map(describe).collect()
    }

    #[test]
    fn a_trade_that_may_be_of_an_intent_in_doubt_or_of_a_rejected_one_is_adopted_by_neither() {
        let second = IntentId::new(2);
        assert_eq!(describe(&resolve(101, &[("a", 101_500)])), [format!("1 or {:?} is [\"a\"]", [second])]);
        // A trade for each of them.
        let found = describe(&resolve(101, &[("a", 100_500), ("b", 101_500)]));
        assert_eq!(found, [format!("a is of {:?}", [second])]);
        // The rejected one was of another minute.
        assert_eq!(describe(&resolve(40, &[("a", 101_500)])), ["1 is a"]);
    }

    #[test]
    fn a_rejected_intents_trade_is_of_the_time_between_its_sending_and_its_answer() {
        // Sent at 100 s; its answer is dated so.
        let check = |answered: i64, requested: i64, expected: bool| {
            let doubt = Doubt { ended: Millis::new(answered), ..testing::doubt(1) };
            let report = testing::report("a", Millis::new(requested));
            let found = may_be_of_refused(&doubt, &report, Millis::SECOND);
            assert_eq!(found, expected, "answered at {answered}, requested at {requested}");
        };
        check(101_000, 97_999, false);
        check(101_000, 98_000, true);
        // Within 5 s of the sending, 1 s for the clocks and 1 s for the stamp.
        check(101_000, 107_000, true);
        check(101_000, 107_001, false);
        check(115_000, 117_000, true);
        // A date that cannot be.
        check(0, 107_000, true);
        check(900_000, 132_000, true);
        check(900_000, 132_001, false);
    }
}
