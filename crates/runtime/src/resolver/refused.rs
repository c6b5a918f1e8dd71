//! Requests that the venue rejected or that were not sent, and of which it lists a trade all the same.

use super::candidate::{Match, Window, compare, is_departure_within, request_time_of};
use super::doubt::{ARRIVES_WITHIN, STAMP_SLACK};
use super::{CandidateTable, Doubt, Resolver};
use candlewick_broker::TradeReport;
use candlewick_engine::IntentId;
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

/// The answer is dated by the venue and may lie. The venue has the request at the latest this long after its sending.
const MIN_TRANSIT: Millis = Millis::from_seconds(5);

/// Whether the venue may have made this trade of a request that counts as refused. A trade without any time is not
/// matched: every old one with the same terms would be.
pub(crate) fn may_be_of_refused(doubt: &Doubt, report: &TradeReport, uncertainty: Millis) -> bool {
    request_time_of(report).is_some()
        && compare(doubt, report, window_of(doubt, uncertainty)) != Match::Different
}

/// When a request that was answered reached the venue: between its sending and its answer, given how far our clock may
/// be wrong.
fn window_of(doubt: &Doubt, uncertainty: Millis) -> Window {
    let answered = doubt.ended.clamp(doubt.sent + MIN_TRANSIT, doubt.sent + ARRIVES_WITHIN);
    doubt.window(uncertainty, answered + uncertainty + STAMP_SLACK)
}

impl Resolver {
    /// The refused intents that may own a trade that fits no intent in doubt. What the venue may have taken instead of the
    /// order counts only while no other program is known to trade on the account.
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

/// The refused intents that may own one of these rows, and the first such row.
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
