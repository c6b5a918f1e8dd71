//! Checks before a live run: `doctor`, and `notify test` for alert channels.

use crate::context::{Context, block_on};
use crate::failure::{Ending, Failure};
use crate::output::{print_coloured, print_json, show_as, table};
use candlewick_app::configuration::{BaseLayer, LoadedConfig};
use candlewick_app::doctor::{Finding, FindingStatus, examine};
use candlewick_app::notify::{ChannelTest, send_test_messages};
use clap::{Args, Subcommand};
use serde_json::json;
use tokio::runtime::Runtime;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick doctor\n  candlewick doctor --config config/demo.toml --json\n\n\
                  Checks the configuration, the credentials, the trading and price APIs, the clocks, the disk, the journal and the candle \
                  files, without trading or changing anything. Exits with 5 if a check reports FAIL; warnings do not affect the exit code."
)]
pub(crate) struct DoctorArguments {}

pub(super) fn run_doctor(_arguments: &DoctorArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let runtime = Runtime::new().map_err(Failure::unexpected)?;
    let mut findings: Vec<Finding> = Vec::new();
    let mut printed = Ok(());
    let mut report = |finding: Finding| {
        if !context.global.json && printed.is_ok() {
            printed = print_coloured(&finding.to_string());
        }
        findings.push(finding);
    };
    runtime.block_on(examine(&context.global.config, context.registry, &mut report));
    // Does not wait for file operations, because a broken disk may never respond.
    runtime.shutdown_background();
    printed?;
    let count = |mark| findings.iter().filter(|finding| finding.mark == mark).count();
    let (failed, warned) = (count(FindingStatus::Fail), count(FindingStatus::Warn));
    if context.global.json {
        print_json(&json!({ "failed": failed, "warned": warned, "findings": findings }))?;
    }
    if failed == 0 {
        return Ok(Ending::Done);
    }
    let problem = format!("{failed} of {} checks failed", findings.len());
    Err(Failure::failed_check(problem).hint("follow the advice next to each FAIL, starting with the first"))
}

#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick notify test --config config/demo.toml")]
pub(crate) enum NotifyCommand {
    /// Send a test message to each configured channel
    Test(NotifyTestArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick notify test --config config/demo.toml\n  candlewick notify test --config config/demo.toml --channel phone\n\n\
                  Each channel gets one message, regardless of its filters. Exits with 5 if a message was not accepted."
)]
pub(crate) struct NotifyTestArguments {
    /// Test only the channel with this name in [notify.channels]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
}

pub(super) fn run_notify(command: &NotifyCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    let NotifyCommand::Test(arguments) = command;
    let loaded = LoadedConfig::read(&context.global.config, BaseLayer::Bare, Vec::new())?;
    let tested = block_on(async {
        Ok::<_, Failure>(send_test_messages(&loaded, arguments.channel.as_deref()).await?)
    })?;
    let failed = tested.iter().filter(|tested| tested.problem.is_some()).count();
    show_as(&json!({ "failed": failed, "channels": tested }), || channel_table(&tested), context.global)?;
    if failed == 0 {
        return Ok(Ending::Done);
    }
    let problem = format!("{failed} of {} messages were not accepted", tested.len());
    Err(Failure::failed_check(problem).hint("see docs/alerts.md for the requirements of each channel"))
}

fn channel_table(tested: &[ChannelTest]) -> String {
    let mut shown = table(["channel", "kind", "accepted", "ms", "problem"]);
    for ChannelTest { channel, kind, problem, took_ms } in tested {
        let accepted = if problem.is_none() { "yes" } else { "no" };
        let problem = problem.as_deref().unwrap_or_default();
        shown.add_row([channel, *kind, accepted, &took_ms.to_string(), problem]);
    }
    shown.render()
}
