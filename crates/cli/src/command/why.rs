//! `why`: why no trade was opened at a moment.

use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_app::AppError;
use candlewick_app::recent::read_recent;
use candlewick_journal::Reader;
use candlewick_records::explain::{MomentQuery, read_moment};
use candlewick_sdk::{Millis, Symbol};
use clap::Args;

/// Which moment.
#[derive(Debug, Args)]
#[command(
    after_help = "Of each bot: the last candle that it saw by then, what its strategy said, and the rule that refused \
                  it.\n\nExamples:\n  candlewick why 2026-01-05T02:31:00Z\n  candlewick why 1767580260000 GBPUSD --journal \
                  run.db --json\n  candlewick why 2026-01-05T02:31 --bot btc"
)]
pub(crate) struct WhyArguments {
    /// A time such as 2026-01-05T12:00:00Z, or milliseconds since 1970
    #[arg(value_parser = parse_moment)]
    time: Millis,
    /// Only bots on this symbol
    symbol: Option<Symbol>,
    /// Only the bot with this name
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &WhyArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let WhyArguments { time, symbol, bot, .. } = arguments;
    let query = MomentQuery { time: *time, symbol: *symbol, bot: bot.clone() };
    let report = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let contents = read_recent(&mut reader).await?;
        Ok::<_, AppError>(read_moment(&mut reader, &contents, &query).await?)
    })?;
    show(&report, context.global)?;
    Ok(Ending::Done)
}
