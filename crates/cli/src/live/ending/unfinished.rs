//! What a run leaves at the venue: named, and never passed over at exit 0 while the venue goes on.

use crate::failure::{Failure, FailureKind};
use candlewick_records::{counted, utc};
use candlewick_report::run::Unsettled;
use candlewick_runtime::{Finished, Stop, Unfinished, UnfinishedKind};
use candlewick_sdk::{Millis, MoneyScale};
use serde::Serialize;

/// So many are named, each in a line.
const MAX_NAMED: usize = 20;

/// A trade or doubt without a known end, as machines read it.
#[derive(Serialize)]
pub(super) struct UnfinishedLine {
    intent_id: u64,
    /// `open`, `in_doubt` or `second_trade`.
    state: UnfinishedKind,
    venue_id: Option<String>,
    amount: f64,
    close_time: Option<Millis>,
}

/// Everything that is unfinished.
pub(super) fn lines(finished: &Finished, scale: MoneyScale) -> Vec<UnfinishedLine> {
    let line = |one: &Unfinished| UnfinishedLine {
        intent_id: one.intent.number(),
        state: one.kind,
        venue_id: one.venue_id.map(|id| id.as_str().to_owned()),
        amount: scale.to_f64(one.stake),
        close_time: one.close_time,
    };
    finished.unfinished.iter().map(line).collect()
}

/// Who has the stakes: a venue whose own candles have ended settles nothing any more.
pub(super) const fn holder(finished: &Finished) -> Unsettled {
    match finished.stop {
        Stop::DataEnds(_) => Unsettled::Returned,
        Stop::TimeUp | Stop::Interrupted | Stop::Terminated | Stop::Limit(_) => Unsettled::AtVenue,
    }
}

/// Each by its name, and what is staked on all.
pub(super) fn notices(finished: &Finished, scale: MoneyScale) -> Vec<String> {
    if finished.unfinished.is_empty() {
        return Vec::new();
    }
    let all = counted(finished.unfinished.len() as u64, "trade or doubt has", "trades and doubts have");
    let stakes = scale.format(finished.unfinished.iter().map(|one| one.stake).sum());
    let first = match holder(finished) {
        Unsettled::Returned => {
            format!("{all} no end, because the venue's candles end: no venue holds their stakes of {stakes}")
        }
        Unsettled::AtVenue => format!("{all} no known end, and the venue holds stakes of {stakes}:"),
    };
    let named = finished.unfinished.iter().take(MAX_NAMED).map(|one| describe(one, scale));
    let more = finished.unfinished.len().saturating_sub(MAX_NAMED);
    let rest = (more > 0).then(|| format!("and {more} more: `candlewick trades` lists them"));
    let has_names = holder(finished) == Unsettled::AtVenue;
    std::iter::once(first).chain(named.chain(rest).filter(|_| has_names)).collect()
}

fn describe(one: &Unfinished, scale: MoneyScale) -> String {
    let Unfinished { intent, kind, venue_id, stake, close_time } = one;
    let stake = scale.format(*stake);
    let trade = venue_id.as_ref().map(|id| format!("trade {}", id.as_str()));
    let trade = trade.unwrap_or_else(|| "a trade without a known name".to_owned());
    let closes = close_time.map(|at| format!(", closes at {}", utc(at))).unwrap_or_default();
    match kind {
        UnfinishedKind::Open => format!("intent {intent} is open: {trade}, stake {stake}{closes}"),
        UnfinishedKind::InDoubt => {
            format!(
                "intent {intent} is in doubt: it may be a trade with a stake of {stake}; look at the venue's own list"
            )
        }
        UnfinishedKind::SecondTrade => format!("intent {intent} has a second trade: {trade}, stake {stake}"),
    }
}

/// The venue goes on with what is unfinished, and nobody watches it.
pub(super) fn failure(finished: &Finished, scale: MoneyScale) -> Option<Failure> {
    if finished.unfinished.is_empty() || holder(finished) == Unsettled::Returned {
        return None;
    }
    let kinds = [
        (UnfinishedKind::Open, "open trade", "open trades"),
        (UnfinishedKind::InDoubt, "order of unknown status", "orders of unknown status"),
        (UnfinishedKind::SecondTrade, "second trade", "second trades"),
    ];
    let of_kind = kinds.into_iter().filter_map(|(kind, one, many)| {
        let all = || finished.unfinished.iter().filter(move |unfinished| unfinished.kind == kind);
        let stakes = scale.format(all().map(|unfinished| unfinished.stake).sum());
        let count = counted(all().count() as u64, one, many);
        all().next().map(|_| format!("{count} (stakes {stakes})"))
    });
    let all = of_kind.collect::<Vec<_>>().join(" and ");
    let problem = anyhow::anyhow!("the run ended before the venue reported the result of {all}");
    Some(Failure::new(FailureKind::Venue, problem).help(
        "the next start on this journal follows them to their end; `candlewick status` and `candlewick trades` show them",
    ))
}
