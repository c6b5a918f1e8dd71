//! `explain`: one trade, from the candles before it to its settlement.

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, show};
use candlewick_app::AppError;
use candlewick_app::recent::read_recent;
use candlewick_journal::Reader;
use candlewick_records::explain::{AskedTrade, read_trade};
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
    /// Compute the indicators also where more than 500,000 entries of the run come before the decision
    #[arg(long)]
    indicators: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &ExplainArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let explanation = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let contents = read_recent(&mut reader).await?;
        let (name, registry, is_far) = (arguments.trade.as_str(), context.registry, arguments.indicators);
        Ok::<_, AppError>(read_trade(&mut reader, &contents, &AskedTrade { name, registry, is_far }).await?)
    })?;
    if arguments.raw {
        print(&explanation.raw_text())?;
    } else {
        show(&explanation, context.global)?;
    }
    Ok(Ending::Done)
}
