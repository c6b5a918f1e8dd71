//! Unfinished trades at the end of a run. Exit code 0 is ruled out while the venue has them.

use crate::failure::{Failure, FailureKind};
use candlewick_records::{counted, utc};
use candlewick_report::run::Unsettled;
use candlewick_runtime::{Finished, Stop, Unfinished, UnfinishedKind};
use candlewick_sdk::{Millis, MoneyScale};
use serde::Serialize;

const MAX_NAMED: usize = 20;

#[derive(Serialize)]
pub(super) struct UnfinishedLine {
    intent_id: u64,
    state: UnfinishedKind,
    venue_id: Option<String>,
    amount: f64,
    close_time: Option<Millis>,
}

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

/// Returns who has the unsettled stakes. A venue whose own candles have ended settles nothing more.
pub(super) const fn holder(finished: &Finished) -> Unsettled {
    match finished.stop {
        Stop::DataEnds(_) => Unsettled::Returned,
        Stop::TimeUp | Stop::Interrupted | Stop::Terminated | Stop::Limit(_) => Unsettled::AtVenue,
    }
}

pub(super) fn notices(finished: &Finished, scale: MoneyScale) -> Vec<String> {
    if finished.unfinished.is_empty() {
        return Vec::new();
    }
    let all = summary(finished, scale);
    let first = match holder(finished) {
        Unsettled::Returned => format!("{all} at the end of the venue's candles: the stakes are free again"),
        Unsettled::AtVenue => format!("{all} at the venue:"),
    };
    let named = finished.unfinished.iter().take(MAX_NAMED).map(|one| describe(one, scale));
    let more = finished.unfinished.len().saturating_sub(MAX_NAMED);
    let rest = (more > 0).then(|| format!("and {more} more: `candlewick trades` lists them"));
    let has_names = holder(finished) == Unsettled::AtVenue;
    std::iter::once(first).chain(named.chain(rest).filter(|_| has_names)).collect()
}

fn summary(finished: &Finished, scale: MoneyScale) -> String {
    let part = |is_it: fn(&UnfinishedKind) -> bool, (one, several): (&str, &str)| {
        let stakes: Vec<_> =
            finished.unfinished.iter().filter(|found| is_it(&found.kind)).map(|found| found.stake).collect();
        let noun = if stakes.len() == 1 { "stake" } else { "stakes" };
        let all = counted(stakes.len() as u64, one, several);
        let stakes = (!stakes.is_empty()).then(|| scale.format(stakes.into_iter().sum()));
        stakes.map(|stakes| format!("{all} ({noun} {stakes})"))
    };
    let open = part(|kind| *kind != UnfinishedKind::InDoubt, ("trade is open", "trades are open"));
    let doubts = ("order is of unknown status", "orders are of unknown status");
    let doubts = part(|kind| *kind == UnfinishedKind::InDoubt, doubts);
    open.into_iter().chain(doubts).collect::<Vec<_>>().join(" and ")
}

fn describe(one: &Unfinished, scale: MoneyScale) -> String {
    let Unfinished { intent, kind, venue_id, stake, close_time } = one;
    let stake = scale.format(*stake);
    let trade = venue_id.as_ref().map(|id| format!("{} at the venue", id.as_str()));
    let trade = trade.unwrap_or_else(|| "without a known name at the venue".to_owned());
    let closes = close_time.map(|at| format!(", closes at {}", utc(at))).unwrap_or_default();
    match kind {
        UnfinishedKind::Open => format!("trade #{intent} is open: {trade}, stake {stake}{closes}"),
        UnfinishedKind::InDoubt => {
            format!(
                "trade #{intent} is in doubt: it may be a trade with a stake of {stake}; look at the venue's own list"
            )
        }
        UnfinishedKind::SecondTrade => format!("trade #{intent} has a second one: {trade}, stake {stake}"),
    }
}

pub(super) fn failure(finished: &Finished, scale: MoneyScale) -> Option<Failure> {
    if finished.unfinished.is_empty() || holder(finished) == Unsettled::Returned {
        return None;
    }
    let all = summary(finished, scale);
    let problem = anyhow::anyhow!("{all}: the run ended before the venue had reported a result");
    Some(Failure::new(FailureKind::Venue, problem).help(
        "the next start on this journal follows them to their end; `candlewick status` and `candlewick trades` show them",
    ))
}
