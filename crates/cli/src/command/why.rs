//! `why`: why no trade was opened at a moment, or the latest decisions.

use crate::asked_time::{AskedTime, parse_asked};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::show;
use candlewick_app::AppError;
use candlewick_app::recent::read_recent;
use candlewick_journal::Reader;
use candlewick_records::explain::{AskedMoment, MomentQuery, read_last, read_moment};
use candlewick_sdk::Symbol;
use clap::Args;

/// Which moment.
#[derive(Debug, Args)]
#[command(
    after_help = "Without a time: the last ten signals that were opened or refused. With one, of each bot: the last candle that it saw by then, what its strategy said, the rule that refused it, and of a \
                  rule or a combination each condition, whether it held, and the numbers in it.\n\nExamples:\n  candlewick why 2026-01-05T02:31:00Z\n  candlewick why 1767580260000 GBPUSD --journal \
                  run.db --json\n  candlewick why 2026-01-05T02:31 --bot btc\n  candlewick why 02:31\n  candlewick why"
)]
pub(crate) struct WhyArguments {
    /// A time such as 2026-01-05T12:00:00Z, seconds or milliseconds since 1970; 17:08 or "01-05 17:08", as live prints them, are the last before the journal's end
    #[arg(value_parser = parse_asked)]
    time: Option<AskedTime>,
    /// Only bots on this symbol
    symbol: Option<Symbol>,
    /// Only the bot with this name
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Compute the conditions also where more than 500,000 entries of the run come before the candle
    #[arg(long)]
    indicators: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run(arguments: &WhyArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let WhyArguments { time, symbol, bot, .. } = arguments;
    let Some(time) = time else {
        let last = block_on(async {
            let mut reader = Reader::open(&url).await?;
            let contents = read_recent(&mut reader).await?;
            Ok::<_, AppError>(read_last(&mut reader, &contents, (bot.as_deref(), *symbol)).await?)
        })?;
        show(&last, context.global)?;
        return Ok(Ending::Done);
    };
    let report = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let contents = read_recent(&mut reader).await?;
        let last = contents.last.line.received;
        time.say(last, context);
        let time = time.before(last).unwrap_or(last);
        let query = MomentQuery { time, symbol: *symbol, bot: bot.clone() };
        let asked = AskedMoment { query: &query, registry: context.registry, is_far: arguments.indicators };
        Ok::<_, AppError>(read_moment(&mut reader, &contents, &asked).await?)
    })?;
    show(&report, context.global)?;
    Ok(Ending::Done)
}
