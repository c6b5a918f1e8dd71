//! Commands that control a running bot: `halt`, `resume`, `reload` and `resolve`.

use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure};
use crate::output::show_as;
use candlewick_app::configuration::control_paths;
use candlewick_app::control::{
    Decision, HaltOutcome, ResolveOutcome, ResumeOutcome, describe, find_reached_limit, halt, reload,
    resolve, resume,
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
    after_help = "Examples:\n  candlewick halt\n  candlewick halt --reason \"news at noon\" --config config/demo.toml\n  candlewick halt --journal run.db\n\n\
                  Open trades are tracked until they settle. Name the bot's journal (--journal) or configuration (--config). \
                  If several bots use that configuration, name the journal. The command is sent through the bot's socket and \
                  its journal; it fails if the bot does not acknowledge it.\nIf no bot is running, a journal entry and a HALT file \
                  halt the next start. `touch candlewick.db.HALT` has the same effect."
)]
pub(crate) struct HaltArguments {
    /// Reason to record in the journal
    #[arg(long, value_name = "TEXT", default_value = "ordered by hand")]
    reason: String,
    #[command(flatten)]
    journal: JournalArguments,
}

const HALT_FILE_HINT: &str =
    "to halt the bot anyway, create a file next to its journal, such as candlewick.db.HALT for candlewick.db";

pub(super) fn run_halt(arguments: &HaltArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let found = arguments.journal.load_for_running_bot(context);
    let (paths, journal) = found
        .and_then(|(loaded, url)| Ok((control_paths(&loaded)?, url)))
        .map_err(|failure| failure.hint(HALT_FILE_HINT))?;
    let (document, text) = match block_on(halt(&paths, &journal, &arguments.reason))? {
        HaltOutcome::ByOrder(state) => {
            (json!({ "halted": true, "bot_runs": true, "state": state }), describe(&state))
        }
        HaltOutcome::ByFile(file) => {
            let text = format!(
                "No bot is running on {journal}. Created {} and recorded the halt in the journal. The bot will start halted \
                 and open no trades until you run `candlewick resume`. To halt a bot with another journal, pass --journal or --config.",
                file.display()
            );
            (json!({ "halted": true, "bot_runs": false, "halt_file": file }), text)
        }
        HaltOutcome::ByJournal { error } => {
            let cause = error.source().map_or(String::new(), |cause| format!(" ({cause})"));
            let text = format!(
                "No bot is running on {journal}. Recorded the halt in the journal. The bot will start halted and \
                 open no trades until you run `candlewick resume`. The HALT file was not created: {error}{cause}.",
            );
            (json!({ "halted": true, "bot_runs": false, "halt_file": null }), text)
        }
        HaltOutcome::Unconfirmed { error, file } => {
            let file = file.display();
            let rest = error.help_text().map_or(String::new(), |help| format!("{help}; "));
            let help = format!("{rest}created {file}; a running bot should halt within a second");
            return Err(Failure::from(error).hint(help));
        }
    };
    show_as(&document, || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick resume\n  candlewick resume --config config/demo.toml\n  candlewick resume \
                  --journal run.db\n\nRemoves the HALT file, if it exists, and lets the running bot open trades again. \
                  The drawdown peak and the loss streak are reset."
)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_resume(arguments: &ResumeArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, journal) = arguments.journal.load_for_running_bot(context)?;
    let paths = control_paths(&loaded)?;
    let removal = |removed: &Option<PathBuf>| {
        removed.as_ref().map_or(String::new(), |file| format!("Removed {}.\n", file.display()))
    };
    let (document, text) = match block_on(resume(&paths, &journal))? {
        ResumeOutcome::ByOrder { state, removed } => {
            let text = format!("{}{}", removal(&removed), describe(&state));
            (json!({ "bot_runs": true, "removed": removed, "state": state }), text)
        }
        ResumeOutcome::TakenBack { removed, orders } => {
            let text = format!(
                "{}No bot is running. Pending halt commands were withdrawn. If the last run was halted when it ended, \
                 the next run starts halted: start the bot, then run `candlewick resume` again.",
                removal(&removed)
            );
            (json!({ "bot_runs": false, "removed": removed, "orders_taken_back": orders }), text)
        }
        ResumeOutcome::NothingToResume => {
            let (socket, file) = (paths.socket.display(), paths.halt_file.path().display());
            let problem = format!("nothing to resume: no bot listens at {socket}, and {file} does not exist");
            if let Some(ended) = block_on(async { Ok::<_, Failure>(find_reached_limit(&journal).await) })? {
                let problem =
                    format!("nothing to resume: the last run of this journal was {}", ended.describe());
                return Err(Failure::configuration(problem).hint("the limit still applies to the next run. To lift it, run `candlewick halt`, start the bot, then run `candlewick resume`"));
            }
            let help = "pass the bot's journal with --journal, or its configuration with --config";
            return Err(Failure::configuration(problem).hint(help));
        }
    };
    show_as(&document, || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick reload\n  candlewick reload --config config/demo.toml\n  candlewick reload --journal \
                  run.db\n\nThe bot reads and validates its configuration files, environment and arguments again. Only \
                  limits in [risk], and alarms and timeouts in [runtime], may change. Any other change, or an invalid \
                  configuration, is rejected as a whole. Open trades, orders of unknown status and halts are not affected. `kill -HUP` has the same effect."
)]
pub(crate) struct ReloadArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_reload(arguments: &ReloadArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    // With --journal, the bot is found even if the configuration has become invalid.
    let (loaded, journal) = arguments.journal.load_for_running_bot(context)?;
    let state = block_on(reload(&control_paths(&loaded)?, &journal))?;
    let changes = state.reloaded.as_ref().map(|reloaded| &reloaded.changes[..]).unwrap_or_default();
    let what = if changes.is_empty() { "; nothing changed." } else { ":" };
    let mut lines = vec![format!("Reloaded the settings{what}")];
    lines.extend(changes.iter().map(|change| format!("  {change}")));
    let text = format!("{}\n{}", lines.join("\n"), describe(&state));
    show_as(&json!({ "reloaded": state.reloaded, "state": state }), || text, context.global)
}

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("resolution").required(true)),
    after_help = "Examples:\n  candlewick resolve 17 --adopt 01KE5ZTX2224ERMQE51J8Q9BC0\n  candlewick resolve 17 \
                  --not-opened --reason \"not in the venue's list\"\n  candlewick resolve 17 --settled cancelled \
                  --reason \"the wallet has the stake back\"\n\nCheck the venue's own list of trades first. --adopt is \
                  rejected if the venue does not have the trade, or if the trade differs from the order. --settled is \
                  for a closed trade that the venue no longer lists. The decision is sent to the running bot. If no \
                  bot is running, the journal keeps the decision for the next start."
)]
pub(crate) struct ResolveArguments {
    /// Number of the trade, without #
    #[arg(value_name = "INTENT")]
    intent: u64,
    /// Adopt the trade with this venue id as the trade that the order opened
    #[arg(long, value_name = "VENUE_ID", group = "resolution", value_parser = parse_venue_id)]
    adopt: Option<VenueId>,
    /// Confirm that the order opened no trade
    #[arg(long, group = "resolution")]
    not_opened: bool,
    /// Outcome of a closed trade that the venue no longer lists: won, lost, draw or cancelled
    #[arg(long, value_name = "OUTCOME", group = "resolution", value_parser = parse_outcome)]
    settled: Option<Outcome>,
    /// Reason to record in the journal
    #[arg(long, value_name = "TEXT", default_value = "decided by hand")]
    reason: String,
    #[command(flatten)]
    journal: JournalArguments,
}

fn parse_venue_id(text: &str) -> Result<VenueId, String> {
    let id = VenueId::truncated(text);
    if text.is_empty() || id.as_str() != text {
        return Err("use the id from the venue's list, at most 63 characters".to_owned());
    }
    Ok(id)
}

fn parse_outcome(text: &str) -> Result<Outcome, String> {
    let named = Outcome::ALL.into_iter().find(|outcome| outcome.to_string().eq_ignore_ascii_case(text));
    named.ok_or_else(|| "use won, lost, draw or cancelled (stake returned)".to_owned())
}

pub(super) fn run_resolve(arguments: &ResolveArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load_for_running_bot(context)?;
    let intent = IntentId::new(arguments.intent);
    let settled = arguments.settled.map(Resolution::Settled);
    let resolution = arguments.adopt.map(Resolution::Adopt).or(settled).unwrap_or(Resolution::NotOpened);
    let decision = Decision { intent, resolution, reason: arguments.reason.clone() };
    let (state, halted) = match block_on(resolve(&loaded, &url, &decision))? {
        ResolveOutcome::ByBot(state) => (Some(state), None),
        ResolveOutcome::InJournal { halt_reason: halted } => (None, halted),
    };
    let text = || {
        let without_bot = || {
            let halted = halted.map(|why| format!(" and starts halted: {why}")).unwrap_or_default();
            format!("No bot is running. The next run applies this decision{halted}.")
        };
        let next = state.as_ref().map_or_else(without_bot, |state| describe(state));
        let what = match resolution {
            Resolution::Adopt(_) | Resolution::NotOpened => "is resolved".to_owned(),
            Resolution::Settled(outcome) => format!("is settled as {outcome}"),
        };
        format!("Trade #{intent} {what}. {next}")
    };
    show_as(&json!({ "resolved": intent, "bot_runs": state.is_some(), "state": state }), text, context.global)
}
