//! `doctor`: checks the requirements of a live run before it starts.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::{print_coloured, print_json};
use candlewick_app::doctor::{Finding, Mark, examine};
use clap::Args;
use serde_json::json;
use tokio::runtime::Runtime;

/// Nothing but what every command takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Looks at the configuration, the credentials, both APIs, the clocks, the disk, the journal and \
                        the candle files.\nNothing is traded, and nothing is changed. Warnings do not fail; one FAIL \
                        exits with 5.\n\n\
                        Examples:\n  candlewick doctor\n  candlewick doctor --config config/demo.toml --json"
)]
pub(crate) struct DoctorArguments {}

pub(super) fn run(_arguments: &DoctorArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let runtime = Runtime::new().map_err(|error| Failure::new(FailureKind::Unexpected, error))?;
    let mut findings: Vec<Finding> = Vec::new();
    let mut printed = Ok(());
    let mut report = |finding: Finding| {
        if !context.global.json && printed.is_ok() {
            printed = print_coloured(&finding.to_string());
        }
        findings.push(finding);
    };
    runtime.block_on(examine(&context.global.config, context.registry, &mut report));
    // A look at a disk that never answers is not waited for.
    runtime.shutdown_background();
    printed?;
    let count = |mark| findings.iter().filter(|finding| finding.mark == mark).count();
    let (failed, warned) = (count(Mark::Fail), count(Mark::Warn));
    if context.global.json {
        print_json(&json!({ "failed": failed, "warned": warned, "findings": findings }))?;
    }
    if failed == 0 {
        return Ok(Ending::Done);
    }
    let problem = anyhow::anyhow!("{failed} of {} checks failed", findings.len());
    Err(Failure::new(FailureKind::Check, problem).help("each FAIL says what to do; begin with the first"))
}
