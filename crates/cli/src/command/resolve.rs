//! `resolve`: a person ends a doubt.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::configuration::{Loaded, control_paths};
use candlewick_app::control::{describe, done, give_order};
use candlewick_app::live::connect_remote;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{Account, OpenOrder, TradeReport};
use candlewick_engine::{Event, EventKind, IntentId, IntentRow, IntentState, Opened, VenueId};
use candlewick_journal::{Holder, JournalUrl, Line, LineKind, Reader, Store};
use candlewick_records::Trading;
use candlewick_records::{BETWEEN_RUNS, JournalContents, state_of};
use candlewick_runtime::control::{ControlError, ControlOrder, Resolution};
use candlewick_runtime::{confirm_adoption, latest_close};
use candlewick_sdk::Millis;
use clap::{ArgGroup, Args};
use serde_json::json;

/// Which doubt, and how it ends.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("resolution").required(true)),
    after_help = "Look at the venue's own list of trades first: a trade that the venue does not have, or that is not what was \
                  asked for, is not adopted. A bot that runs is told; where none runs, the journal is told, and the next start \
                  goes on with it.\n\nExamples:\n  candlewick resolve 17 --adopt \
                  01KE5ZTX2224ERMQE51J8Q9BC0\n  candlewick resolve 17 --not-opened --reason \"not in the venue's list\""
)]
pub(crate) struct ResolveArguments {
    /// The intent in doubt, by its number
    #[arg(value_name = "INTENT")]
    intent: u64,
    /// It is this trade of the venue
    #[arg(long, value_name = "VENUE_ID", group = "resolution", value_parser = parse_venue_id)]
    adopt: Option<VenueId>,
    /// The venue has no trade of it
    #[arg(long, group = "resolution")]
    not_opened: bool,
    /// How you know, for the journal
    #[arg(long, value_name = "TEXT", default_value = "decided by hand")]
    reason: String,
    #[command(flatten)]
    journal: JournalArguments,
}

/// A name is kept whole or not at all.
fn parse_venue_id(text: &str) -> Result<VenueId, String> {
    let id = VenueId::truncated(text);
    if text.is_empty() || id.as_str() != text {
        return Err("use the identifier of the venue's list, of at most 63 characters".to_owned());
    }
    Ok(id)
}

pub(super) fn run(arguments: &ResolveArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load(context)?;
    let intent = IntentId::new(arguments.intent);
    let resolution = arguments.adopt.map_or(Resolution::NotOpened, Resolution::Adopt);
    let order = ControlOrder::Resolve { intent, resolution, reason: arguments.reason.clone() };
    match give_order(&control_paths(&loaded)?.socket, &order)? {
        Ok(answer) => {
            let state = done(answer)?;
            if context.global.json {
                print_json(&json!({ "resolved": intent, "bot_runs": true, "state": state }))?;
            } else {
                print(&format!("Intent {intent} is in doubt no more. {}", describe(&state)))?;
            }
        }
        Err(ControlError::NoBotListens { .. } | ControlError::NoSocketsHere) => {
            let decision = Decision { intent, resolution, reason: &arguments.reason };
            block_on(write(&loaded, &url, &decision))?;
            if context.global.json {
                print_json(&json!({ "resolved": intent, "bot_runs": false, "state": null }))?;
            } else {
                print(&format!(
                    "Intent {intent} is in doubt no more. No bot runs; the next start goes on with it."
                ))?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Ending::Done)
}

/// What a person decided.
struct Decision<'a> {
    intent: IntentId,
    resolution: Resolution,
    reason: &'a str,
}

/// Tells the journal of a bot that does not run, while nobody else holds it.
async fn write(loaded: &Loaded, url: &JournalUrl, decision: &Decision<'_>) -> Result<(), Failure> {
    // Looked at first: what does not exist is not made.
    let mut reader = Reader::open(url).await?;
    let wall = SystemClock::new();
    let mut store = Store::open(url, &Holder::of_this_process("candlewick resolve"), wall.now()).await?;
    let judged = lines_of(decision, &mut reader, loaded, &wall).await;
    let written = judged.map(|lines| lines.into_iter().for_each(|line| store.record(line)));
    // The lease is given back whatever was found.
    let closed = store.close().await.map_err(Failure::from);
    written.and(closed)
}

/// What the journal is to be told of a decision.
///
/// # Errors
/// It cannot be made so.
async fn lines_of(
    decision: &Decision<'_>,
    reader: &mut Reader,
    loaded: &Loaded,
    wall: &SystemClock,
) -> Result<Vec<Line>, Failure> {
    let Decision { intent, resolution, reason } = *decision;
    let contents = JournalContents::read(reader).await?;
    let row = judge(&contents, intent, resolution)?;
    let report = match resolution {
        Resolution::Adopt(venue_id) => ask_venue(&contents, row, venue_id, loaded).await?,
        Resolution::NotOpened => None,
    };
    let at = wall.now().max(contents.last.line.received);
    let note = json!({ "resolved": intent, "resolution": resolution, "reason": reason }).to_string();
    let mut bodies = vec![(LineKind::Note, note)];
    let ended = contents.began_doubt(intent).unwrap_or(at);
    let list_lag = Millis::new(loaded.config.runtime.list_lag_ms.into());
    let reserved_until = latest_close(ended, row.approved.expiry().close_type) + list_lag;
    // An answer that was awaited when the bot ended is in doubt before its doubt can end.
    let doubt = (row.state == IntentState::InFlight).then_some(EventKind::InDoubt { intent });
    for kind in doubt.into_iter().chain([event_of(intent, resolution, report, reserved_until)]) {
        let event = serde_json::to_string(&Event { at, received: at, kind });
        let event = event.map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
        bodies.push((LineKind::Event, event));
    }
    let line = |(kind, body)| {
        let intent = Some(intent.number());
        Line { run: BETWEEN_RUNS, kind, intent, at, received: at, body }
    };
    Ok(bodies.into_iter().map(line).collect())
}

/// The venue's report of the trade that is to be adopted. A simulated venue's trades ended with it: there is nobody to
/// ask.
///
/// # Errors
/// The venue has no such trade, or another one, or does not say.
async fn ask_venue(
    contents: &JournalContents,
    row: &IntentRow,
    venue_id: VenueId,
    loaded: &Loaded,
) -> Result<Option<TradeReport>, Failure> {
    let trade = &row.approved;
    let told = contents.provenance.get(&trade.intent());
    let trading = told.and_then(|told| contents.run(told.run)).and_then(|run| run.trading);
    let account = match trading {
        Some(Trading::Demo) => Account::Demo,
        Some(Trading::Real) => Account::Real,
        Some(Trading::Paper | Trading::Sandbox) | None => return Ok(None),
    };
    let Some(told) = told else { return Ok(None) };
    let order = OpenOrder {
        symbol: told.symbol,
        direction: trade.direction(),
        amount: told.scale.to_decimal(trade.stake()).normalize(),
        close_type: trade.expiry().close_type,
        expiration_type: trade.expiry().expiration_type,
        account,
    };
    let broker = connect_remote(loaded)?.broker;
    Ok(Some(confirm_adoption(broker.as_ref(), &order, venue_id.as_str()).await?))
}

/// The intent, if a person may end its doubt so.
///
/// # Errors
/// It is not in doubt, or the trade is another's.
fn judge(contents: &JournalContents, id: IntentId, resolution: Resolution) -> Result<&IntentRow, Failure> {
    let row = contents.book.row(id);
    let row = row.ok_or_else(|| Failure::configuration(format!("the journal has no intent {id}")))?;
    let may_be = match (row.state, resolution) {
        (IntentState::InDoubt | IntentState::InFlight, _)
        | (IntentState::NotOpened, Resolution::Adopt(_)) => true,
        (IntentState::Open, Resolution::Adopt(_)) => contents.book.venue_id(row).is_none(),
        (IntentState::NotOpened | IntentState::Open, Resolution::NotOpened)
        | (IntentState::Settled | IntentState::Rejected | IntentState::NotSent, _) => false,
    };
    if !may_be {
        let state = state_of(row.state);
        return Err(Failure::configuration(format!("intent {id} is not in doubt: it is {state}")));
    }
    if let Resolution::Adopt(venue_id) = resolution {
        let book = &contents.book;
        let other = book.rows().iter().find(|row| book.venue_id(row) == Some(venue_id));
        if let Some(other) = other {
            let problem = format!("trade {venue_id} is that of intent {}", other.approved.intent());
            return Err(Failure::configuration(problem));
        }
    }
    Ok(row)
}

/// What the next start is told; details that are not known yet come with the trade's first answer.
fn event_of(
    intent: IntentId,
    resolution: Resolution,
    report: Option<TradeReport>,
    reserved_until: Millis,
) -> EventKind {
    match resolution {
        Resolution::Adopt(venue_id) => {
            let report = report.unwrap_or_default();
            EventKind::Adopted(Opened {
                intent,
                venue_id: Some(venue_id),
                open_time: report.open_time,
                open_price: report.open_price,
                close_time: report.close_time,
                payout: report.payout,
            })
        }
        Resolution::NotOpened => EventKind::NotOpened { intent, reserved_until },
    }
}
