//! `drill`: a night of venue failures, simulated on the sandbox.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::show;
use candlewick_app::drill::{Drill, play};
use clap::Args;
use tokio::runtime::Runtime;

/// A bad night.
#[derive(Debug, Args)]
#[command(
    after_help = "A bot trades generated candles at an embedded venue, 60 times as fast as a clock on the wall, while in turn the \
                  venue is down, a reply is lost, the token expires, the journal cannot be written and the machine sleeps. Shown \
                  is what events, status and metrics said of each. It takes about a minute, in a folder of its own: no \
                  configuration is read and no other bot is touched. A broken promise exits with 5.\n\nExamples:\n  candlewick \
                  drill\n  candlewick drill --json"
)]
pub(crate) struct DrillArguments {}

pub(super) fn run(_arguments: &DrillArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let runtime = Runtime::new().map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
    context.say("a bad night of a minute or so; what the bot warns of is part of it, and -v shows it");
    let mut progress = |scene: &str| context.say(&format!("  {scene}"));
    let drill = runtime.block_on(Box::pin(play(context.registry, &mut progress)))?;
    show(&drill, context.global)?;
    judge(&drill)
}

fn judge(drill: &Drill) -> Result<Ending, Failure> {
    let broken = drill.broken();
    if broken.is_empty() {
        return Ok(Ending::Done);
    }
    let problem = format!("not as promised: {}", broken.join("; "));
    let help =
        "on a machine that is busy with other things a drill may see too little: play it again; -v says more";
    Err(Failure::new(FailureKind::Check, anyhow::Error::msg(problem)).help(help))
}
