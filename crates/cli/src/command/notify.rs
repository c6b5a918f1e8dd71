//! `notify test`: checks that alerts arrive.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::block_on;
use crate::output::{show_as, table};
use candlewick_app::configuration::{Base, Loaded};
use candlewick_app::notify::{Tested, test};
use clap::{Args, Subcommand};
use serde_json::json;

/// Alerts of a live run: try each channel.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick notify test --config config/demo.toml")]
pub(crate) enum NotifyCommand {
    /// Send a message to each channel that is configured, and say whether it was taken
    Test(TestArguments),
}

/// Which channel.
#[derive(Debug, Args)]
#[command(
    after_help = "Each channel is asked once, whatever its rules say. Exits with 5 where a message was not taken.\n\nExamples:\n  \
                  candlewick notify test --config config/demo.toml\n  candlewick notify test --config config/demo.toml --channel phone"
)]
pub(crate) struct TestArguments {
    /// Only this one, by its name in [notify.channels]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
}

pub(super) fn run(command: &NotifyCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    let NotifyCommand::Test(arguments) = command;
    let loaded = Loaded::read(&context.global.config, Base::Bare, Vec::new())?;
    let tested = block_on(async { Ok::<_, Failure>(test(&loaded, arguments.channel.as_deref()).await?) })?;
    let failed = tested.iter().filter(|tested| tested.problem.is_some()).count();
    let document = json!({ "failed": failed, "channels": tested });
    show_as(&document, || as_table(&tested), context.global)?;
    if failed == 0 {
        return Ok(Ending::Done);
    }
    let problem = anyhow::anyhow!("{failed} of {} messages were not taken", tested.len());
    Err(Failure::new(FailureKind::Check, problem).help("docs/alerts.md says what each kind of channel needs"))
}

fn as_table(tested: &[Tested]) -> String {
    let mut shown = table(["channel", "kind", "taken", "ms", "problem"]);
    for Tested { channel, kind, problem, took_ms } in tested {
        let taken = if problem.is_none() { "yes" } else { "no" };
        let problem = problem.as_deref().unwrap_or_default();
        shown.add_row([channel, *kind, taken, &took_ms.to_string(), problem]);
    }
    shown.trim_fmt()
}
