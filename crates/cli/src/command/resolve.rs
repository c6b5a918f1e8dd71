//! `resolve`: a person ends a doubt.

use super::Context;
use crate::chronicle::{BETWEEN_RUNS, Chronicle, JournalArguments, block_on, state_of};
use crate::configuration::control_paths;
use crate::control::{describe, done, give_order};
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::{print, print_json};
use candlewick_api::clock::{Clock, SystemClock};
use candlewick_engine::{Event, EventKind, IntentId, IntentState, Opened, VenueId};
use candlewick_journal::{Holder, JournalUrl, Line, LineKind, Reader, Store};
use candlewick_runtime::control::{ControlError, ControlOrder, Resolution};
use candlewick_sdk::Millis;
use clap::{ArgGroup, Args};
use serde_json::json;

/// Which doubt, and how it ends.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("resolution").required(true)),
    after_help = "Look at the venue's own list of trades first. A bot that runs is told; where none runs, the journal is \
                  told, and the next start goes on with it.\n\nExamples:\n  candlewick resolve 17 --adopt \
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
        Err(ControlError::StartBot { .. } | ControlError::UseHaltFile) => {
            block_on(write(&url, intent, resolution, &arguments.reason))?;
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

/// Tells the journal of a bot that does not run, while nobody else holds it.
async fn write(url: &JournalUrl, id: IntentId, resolution: Resolution, reason: &str) -> Result<(), Failure> {
    // Looked at first: what does not exist is not made.
    let mut reader = Reader::open(url).await?;
    let wall = SystemClock::new();
    let mut store = Store::open(url, &Holder::of_this_process("candlewick resolve"), wall.now()).await?;
    let judged = Chronicle::read(&mut reader).await.and_then(|read| judge(&read, id, resolution));
    let written = judged.and_then(|(state, last)| {
        let at = wall.now().max(last);
        let note = json!({ "resolved": id, "resolution": resolution, "reason": reason }).to_string();
        let mut bodies = vec![(LineKind::Note, note)];
        // An answer that was awaited when the bot ended is in doubt before its doubt can end.
        let doubt = (state == IntentState::InFlight).then_some(EventKind::InDoubt { intent: id });
        for kind in doubt.into_iter().chain([event_of(id, resolution, at)]) {
            let event = serde_json::to_string(&Event { at, received: at, kind });
            let event = event.map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
            bodies.push((LineKind::Event, event));
        }
        for (kind, body) in bodies {
            let intent = Some(id.number());
            store.record(Line { run: BETWEEN_RUNS, kind, intent, at, received: at, body });
        }
        Ok(())
    });
    // The lease is given back whatever was found.
    let closed = store.close().await.map_err(Failure::from);
    written.and(closed)
}

/// Whether a person may end it so; how it stands, and the time of the journal's last entry.
fn judge(
    chronicle: &Chronicle,
    id: IntentId,
    resolution: Resolution,
) -> Result<(IntentState, Millis), Failure> {
    let row = chronicle.book.row(id);
    let row = row.ok_or_else(|| Failure::configuration(format!("the journal has no intent {id}")))?;
    let may_be = match (row.state, resolution) {
        (IntentState::InDoubt | IntentState::InFlight, _)
        | (IntentState::NotOpened, Resolution::Adopt(_)) => true,
        (IntentState::Open, Resolution::Adopt(_)) => row.venue_id.is_none(),
        (IntentState::NotOpened | IntentState::Open, Resolution::NotOpened)
        | (IntentState::Settled | IntentState::Rejected | IntentState::NotSent, _) => false,
    };
    if !may_be {
        let state = state_of(row.state);
        return Err(Failure::configuration(format!("intent {id} is not in doubt: it is {state}")));
    }
    if let Resolution::Adopt(venue_id) = resolution {
        let other = chronicle.book.rows().iter().find(|row| row.venue_id == Some(venue_id));
        if let Some(other) = other {
            let problem = format!("trade {venue_id} is that of intent {}", other.approved.intent());
            return Err(Failure::configuration(problem));
        }
    }
    Ok((row.state, chronicle.last.line.received))
}

/// What the next start is told; the trade's details come with its first answer.
const fn event_of(intent: IntentId, resolution: Resolution, at: Millis) -> EventKind {
    match resolution {
        Resolution::Adopt(venue_id) => EventKind::Adopted(Opened {
            intent,
            venue_id: Some(venue_id),
            open_time: None,
            open_price: None,
            close_time: None,
            payout: None,
        }),
        Resolution::NotOpened => EventKind::NotOpened { intent, reserved_until: at },
    }
}
