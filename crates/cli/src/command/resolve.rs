//! `resolve`: manually ends a doubt, or a trade that the venue no longer has.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::control::{Decision, Resolved, describe, resolve};
use candlewick_engine::{IntentId, VenueId};
use candlewick_runtime::control::Resolution;
use candlewick_sdk::Outcome;
use clap::{ArgGroup, Args};
use serde_json::json;

/// Which intent, and how it ends.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("resolution").required(true)),
    after_help = "Look at the venue's own list of trades first: a trade that the venue does not have, or that is not what was \
                  asked for, is not adopted. A trade that the venue has lost after its close, by its id and in its list, \
                  is settled by your word. A bot that runs gets the order; where none runs, it is written to the journal, and \
                  the next start goes on with it.\n\nExamples:\n  candlewick resolve 17 --adopt \
                  01KE5ZTX2224ERMQE51J8Q9BC0\n  candlewick resolve 17 --not-opened --reason \"not in the venue's list\"\n  \
                  candlewick resolve 17 --settled cancelled --reason \"the wallet has the stake back\""
)]
pub(crate) struct ResolveArguments {
    /// The intent, by its number
    #[arg(value_name = "INTENT")]
    intent: u64,
    /// It is this trade of the venue
    #[arg(long, value_name = "VENUE_ID", group = "resolution", value_parser = parse_venue_id)]
    adopt: Option<VenueId>,
    /// The venue has no trade of it
    #[arg(long, group = "resolution")]
    not_opened: bool,
    /// Its trade, which the venue no longer has, ended so
    #[arg(long, value_name = "OUTCOME", group = "resolution", value_parser = parse_outcome)]
    settled: Option<Outcome>,
    /// How you know, for the journal
    #[arg(long, value_name = "TEXT", default_value = "decided by hand")]
    reason: String,
    #[command(flatten)]
    journal: JournalArguments,
}

/// Rejects an id that would have to be truncated.
fn parse_venue_id(text: &str) -> Result<VenueId, String> {
    let id = VenueId::truncated(text);
    if text.is_empty() || id.as_str() != text {
        return Err("use the identifier of the venue's list, of at most 63 characters".to_owned());
    }
    Ok(id)
}

fn parse_outcome(text: &str) -> Result<Outcome, String> {
    let named = Outcome::ALL.into_iter().find(|outcome| outcome.to_string().eq_ignore_ascii_case(text));
    named.ok_or_else(|| "use won, lost, draw or cancelled (the stake came back)".to_owned())
}

pub(super) fn run(arguments: &ResolveArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load_of_bot(context)?;
    let intent = IntentId::new(arguments.intent);
    let settled = arguments.settled.map(Resolution::Settled);
    let resolution = arguments.adopt.map(Resolution::Adopt).or(settled).unwrap_or(Resolution::NotOpened);
    let decision = Decision { intent, resolution, reason: arguments.reason.clone() };
    let (state, halted) = match block_on(resolve(&loaded, &url, &decision))? {
        Resolved::ByBot(state) => (Some(state), None),
        Resolved::InJournal { halted } => (None, halted),
    };
    if context.global.json {
        print_json(&json!({ "resolved": intent, "bot_runs": state.is_some(), "state": state }))?;
    } else {
        let nobody = || {
            let halted = halted.map(|why| format!(", halted: {why}")).unwrap_or_default();
            format!("No bot runs; the next start goes on with it{halted}.")
        };
        let next = state.as_ref().map_or_else(nobody, |state| describe(state));
        let what = match resolution {
            Resolution::Adopt(_) | Resolution::NotOpened => "is in doubt no more".to_owned(),
            Resolution::Settled(outcome) => format!("is settled as {outcome}, as you say"),
        };
        print(&format!("Trade #{intent} {what}. {next}"))?;
    }
    Ok(Ending::Done)
}
