//! Invariants of the drill, verified against journal and venue.

use super::Promise;
use super::night::AtVenue;
use crate::configuration::{Loaded, Problems, journal_url};
use crate::error::AppError;
use crate::live::Outcome;
use candlewick_engine::IntentState;
use candlewick_journal::Reader;
use std::collections::BTreeSet;

pub(super) fn trades_of(outcome: &Outcome) -> BTreeSet<String> {
    let book = &outcome.finished.book;
    let settled = book.rows().iter().filter(|row| row.state == IntentState::Settled);
    settled.filter_map(|row| book.venue_id(row).map(|id| id.as_str().to_owned())).collect()
}

pub(super) async fn hold(
    loaded: &Loaded,
    outcome: &Outcome,
    at_venue: &AtVenue,
) -> Result<Vec<Promise>, AppError> {
    let url = journal_url(loaded).map_err(Problems::from)?;
    let mut reader = Reader::open(&url).await?;
    let verified = reader.verify().await;
    let (book, scale) = (&outcome.finished.book, outcome.settings.money_scale);
    let (mut requests, mut most) = (0, 0);
    for row in book.rows() {
        let exchanges = reader.exchanges_of(row.approved.intent().number()).await?;
        let sent = exchanges.iter().filter(|exchange| exchange.what.starts_with("POST ")).count();
        (requests, most) = (requests + sent, most.max(sent));
    }
    reader.close().await;
    let settled = trades_of(outcome);
    let theirs: BTreeSet<String> = at_venue.trades.iter().cloned().collect();
    let unknown = theirs.symmetric_difference(&settled).count();
    let free = scale.to_f64(outcome.finished.free);
    let undecided = book
        .rows()
        .iter()
        .filter(|row| matches!(row.state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open))
        .count();
    Ok(vec![
        Promise {
            promise: "at most one request for each intent",
            found: format!("{requests} requests for {} intents, {most} for one at most", book.rows().len()),
            held: most <= 1 && requests > 0,
        },
        Promise {
            promise: "the venue has the trades of the journal, and no other",
            found: format!("{} trades there, {} here, {unknown} that differ", theirs.len(), settled.len()),
            held: unknown == 0 && theirs.len() == at_venue.trades.len() && !theirs.is_empty(),
        },
        Promise {
            promise: "the ledger is the venue's wallet",
            found: format!("{free:.2} here, {:.2} there", at_venue.balance),
            held: (free - at_venue.balance).abs() < 0.005,
        },
        Promise {
            promise: "nothing is left in doubt",
            found: format!("{undecided} without an end"),
            held: undecided == 0,
        },
        Promise {
            promise: "the journal is whole",
            found: match &verified {
                Ok(verified) => format!("{} entries, each chained to the one before", verified.entries),
                Err(error) => error.to_string(),
            },
            held: verified.is_ok(),
        },
    ])
}
