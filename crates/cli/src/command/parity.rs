//! `parity`: replays a recorded session through the engine and the simulator.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_journal::Reader;
use candlewick_records::parity;
use clap::Args;

/// Which journal.
#[derive(Debug, Args)]
#[command(
    after_help = "First every recorded event is given to a Session of the recorded settings and the same strategies: it \
                  must decide as it did. Then every recorded decision goes to the simulator, over the recorded candles: \
                  a trade that comes out otherwise is given a cause (latency, price_source, payout, refusal, gap, \
                  end_of_recording). Exit code 5 when an entry is not as it was written, a decision differs, or a \
                  difference is unexplained. It reads the whole journal.\n\nExamples:\n  candlewick parity\n  candlewick parity --journal run.db --json"
)]
pub(crate) struct ParityArguments {
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &ParityArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let report = block_on(async { parity::check(&mut Reader::open(&url).await?, context.registry).await })?;
    show(&report, context.global)?;
    if report.ok {
        return Ok(Ending::Done);
    }
    let problem = anyhow::Error::msg(report.problem());
    Err(Failure::new(FailureKind::Check, problem).help(report.advice()))
}
