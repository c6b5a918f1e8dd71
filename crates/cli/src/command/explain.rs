//! `explain`: one trade, from the candles before it to its settlement.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, show};
use candlewick_journal::Reader;
use candlewick_records::explain::read_trade;
use clap::Args;

/// Which trade.
#[derive(Debug, Args)]
#[command(
    after_help = "The candles, the decision with its numbers, every request with its reply, the lists that ended a doubt, and \
                  the settlement with what of it the journal shows to be right, in UTC; --raw and --json have what was said byte \
                  for byte.\n\n\
                  Examples:\n  candlewick explain 17\n  candlewick explain 17 --raw\n  candlewick explain 01KE5ZTX2224ERMQE51J8Q9BC0 --journal run.db --json"
)]
pub(crate) struct ExplainArguments {
    /// The number of the intent, or the venue's identifier of the trade
    trade: String,
    /// Show entries, requests and replies as they were recorded
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &ExplainArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let explanation = block_on(async {
        read_trade(&mut Reader::open(&url).await?, &arguments.trade, context.registry).await
    })?;
    if arguments.raw {
        print(&explanation.raw_text())?;
    } else {
        show(&explanation, context.global)?;
    }
    Ok(Ending::Done)
}
