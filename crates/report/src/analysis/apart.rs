//! Selection of trades that were never open at the same time; only these can be independent.

use candlewick_engine::IntentRow;
use candlewick_sdk::Millis;

/// Returns the largest possible selection, by greedy choice of the earliest close.
pub(super) fn apart<'a>(settled: impl IntoIterator<Item = &'a IntentRow>) -> Vec<&'a IntentRow> {
    let span = |row: &IntentRow| {
        let open = row.open_time.unwrap_or(row.approved.decision_time());
        (row.close_time.or(row.settled_at).unwrap_or(open), open)
    };
    let mut rows: Vec<&IntentRow> = settled.into_iter().collect();
    rows.sort_by_key(|row| (span(row), row.approved.intent()));
    let mut free_at = Millis::ZERO;
    rows.retain(|row| {
        let (close, open) = span(row);
        let is_apart = open >= free_at;
        if is_apart {
            free_at = close;
        }
        is_apart
    });
    rows
}
