//! Orders to a running bot: `halt`, `resume`, `reload` and `resolve`.

use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure};
use crate::output::show_as;
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{
    Decision, Halted, Resolved, Resumed, describe, halt, limit_reached, reload, resolve, resume,
};
use candlewick_engine::{IntentId, VenueId};
use candlewick_runtime::control::Resolution;
use candlewick_sdk::Outcome;
use clap::{ArgGroup, Args};
use serde_json::json;
use std::error::Error;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "What is open cannot be cut short: it is tracked to its end. The bot is found by its journal: that \
                        of the configuration, or --journal as the bot was given it; and by --config from any folder, \
                        while one bot runs by it. The order goes through its socket and through the journal's \
                        database; a process that holds the journal and does not acknowledge it is an error.\nWhere no bot runs, an order in the journal \
                        and a file halt one that starts; `touch candlewick.db.HALT` does the same by hand.\n\n\
                        Examples:\n  candlewick halt\n  candlewick halt --reason \"news at noon\" --config config/demo.toml\n  candlewick halt --journal run.db"
)]
pub(crate) struct HaltArguments {
    /// Why, for the journal
    #[arg(long, value_name = "TEXT", default_value = "ordered by hand")]
    reason: String,
    #[command(flatten)]
    journal: JournalArguments,
}

const BY_HAND: &str = "to halt a bot all the same, make the file that lies beside its journal, with .HALT after its \
                       name: candlewick.db.HALT";

pub(super) fn run_halt(arguments: &HaltArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let found = arguments.journal.load_running(context);
    let (paths, journal) = found
        .and_then(|(loaded, url)| Ok((control_paths(&loaded)?, url)))
        .map_err(|failure| failure.hint(BY_HAND))?;
    let (document, text) = match block_on(halt(&paths, &journal, &arguments.reason))? {
        Halted::ByOrder(state) => {
            (json!({ "halted": true, "bot_runs": true, "state": state }), describe(&state))
        }
        Halted::ByFile(file) => {
            let text = format!(
                "No bot runs on {journal}. The file {} is there now, and an order in the journal: a bot that starts on it opens no \
                 trade until `candlewick resume`. A bot with another journal is not halted: name it with --journal or --config.",
                file.display()
            );
            (json!({ "halted": true, "bot_runs": false, "halt_file": file }), text)
        }
        Halted::ByJournal { error } => {
            let cause = error.source().map_or(String::new(), |cause| format!(" ({cause})"));
            let text = format!(
                "No bot runs on {journal}. An order in the journal halts a bot that starts on it, until `candlewick resume`. There is no \
                 file beside it: {error}{cause}.",
            );
            (json!({ "halted": true, "bot_runs": false, "halt_file": null }), text)
        }
        Halted::Unconfirmed { error, file } => {
            let file = file.display();
            let rest = error.help_text().map_or(String::new(), |help| format!("{help}; "));
            let help = format!(
                "{rest}the file {file} is there now, and a bot that looks for it halts within a second"
            );
            return Err(Failure::from(error).hint(help));
        }
    };
    show_as(&document, || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Removes the HALT file, if there is one, and orders the running bot to open trades again; drawdown peak and \
                        loss streak are reset.\n\nExamples:\n  candlewick resume\n  candlewick resume --config config/demo.toml\n  candlewick resume \
                        --journal run.db"
)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_resume(arguments: &ResumeArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, journal) = arguments.journal.load_running(context)?;
    let paths = control_paths(&loaded)?;
    let without = |removed: &Option<PathBuf>| {
        removed.as_ref().map_or(String::new(), |file| format!("The file {} is removed.\n", file.display()))
    };
    let (document, text) = match block_on(resume(&paths, &journal))? {
        Resumed::ByOrder { state, removed } => {
            let text = format!("{}{}", without(&removed), describe(&state));
            (json!({ "bot_runs": true, "removed": removed, "state": state }), text)
        }
        Resumed::TakenBack { removed, orders } => {
            let text = format!(
                "{}No bot runs here, and no order waits for one any more. One that was halted while it ran is still halted \
                 when it starts again, until it is resumed then.",
                without(&removed)
            );
            (json!({ "bot_runs": false, "removed": removed, "orders_taken_back": orders }), text)
        }
        Resumed::NothingToResume => {
            let (socket, file) = (paths.socket.display(), paths.halt_file.path().display());
            let problem =
                format!("nothing to resume: no bot listens at {socket}, and there is no file {file}");
            if let Some(ended) = block_on(async { Ok::<_, Failure>(limit_reached(&journal).await) })? {
                let problem = format!("nothing to resume: the run of this journal ended, {}", ended.words());
                return Err(Failure::configuration(problem).hint("a run that begins is held by the same limit: `candlewick halt` before it begins, then `candlewick resume`, from which its limits count anew"));
            }
            let help = "name the journal of the bot with --journal, or its configuration with --config";
            return Err(Failure::configuration(problem).hint(help));
        }
    };
    show_as(&document, || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "The bot reads its own files, environment and arguments again, those that it was started with, and validates the \
                  whole; kill -HUP does the same (a terminal that is closed ends a bot that was started in it). Limits ([risk]) and what [runtime] says of alarms and patience may change; anything \
                  else is refused by name, as is a wrong configuration: then nothing has changed. What is open, in doubt or halted \
                  stays so.\n\nExamples:\n  candlewick reload\n  candlewick reload --config config/demo.toml\n  candlewick reload --journal \
                  run.db"
)]
pub(crate) struct ReloadArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_reload(arguments: &ReloadArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    // Where the bot's own configuration is wrong by now, its journal is still found by --journal.
    let (loaded, journal) = arguments.journal.load_running(context)?;
    let state = block_on(reload(&control_paths(&loaded)?, &journal))?;
    let changes = state.reloaded.as_ref().map(|reloaded| &reloaded.changes[..]).unwrap_or_default();
    let what = if changes.is_empty() { "; nothing has changed." } else { ":" };
    let mut lines = vec![format!("The settings were read again{what}")];
    lines.extend(changes.iter().map(|change| format!("  {change}")));
    let text = format!("{}\n{}", lines.join("\n"), describe(&state));
    show_as(&json!({ "reloaded": state.reloaded, "state": state }), || text, context.global)
}

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

pub(super) fn run_resolve(arguments: &ResolveArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load_running(context)?;
    let intent = IntentId::new(arguments.intent);
    let settled = arguments.settled.map(Resolution::Settled);
    let resolution = arguments.adopt.map(Resolution::Adopt).or(settled).unwrap_or(Resolution::NotOpened);
    let decision = Decision { intent, resolution, reason: arguments.reason.clone() };
    let (state, halted) = match block_on(resolve(&loaded, &url, &decision))? {
        Resolved::ByBot(state) => (Some(state), None),
        Resolved::InJournal { halted } => (None, halted),
    };
    let text = || {
        let nobody = || {
            let halted = halted.map(|why| format!(", halted: {why}")).unwrap_or_default();
            format!("No bot runs; the next start goes on with it{halted}.")
        };
        let next = state.as_ref().map_or_else(nobody, |state| describe(state));
        let what = match resolution {
            Resolution::Adopt(_) | Resolution::NotOpened => "is in doubt no more".to_owned(),
            Resolution::Settled(outcome) => format!("is settled as {outcome}, as you say"),
        };
        format!("Trade #{intent} {what}. {next}")
    };
    let document = json!({ "resolved": intent, "bot_runs": state.is_some(), "state": state });
    show_as(&document, text, context.global)
}
