//! `trades`: the trades of a journal and their outcome.

use crate::asked_time::{AskedTime, parse_asked};
use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::AppError;
use candlewick_app::recent::read_recent;
use candlewick_journal::Reader;
use candlewick_records::{TradeFilter, TradeLine, TradeList};
use candlewick_sdk::{Millis, Symbol, visible_cell};
use clap::Args;
use clap::builder::PossibleValuesParser;

/// Which of them.
#[derive(Debug, Args)]
#[command(
    after_help = "One line an intent, in the order of their decisions; it may be read while a bot runs. An intent whose \
                  answer is awaited counts as in doubt.\n\nExamples:\n  candlewick trades\n  candlewick trades --last 20\n  candlewick trades --journal \
                  run.db --bot btc-rsi --state settled --since 2026-01-05\n  candlewick trades --csv > trades.csv"
)]
pub(crate) struct TradesArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Print CSV, with the keys of --json as header
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Only this bot's
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Only on this symbol
    #[arg(long)]
    symbol: Option<Symbol>,
    /// Only in this state
    #[arg(long, value_parser = PossibleValuesParser::new(TradeLine::STATES))]
    state: Option<String>,
    /// Only decided at this time or later: a date, a time such as 2026-01-05T12:00:00Z or 17:08, or seconds or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse_asked)]
    since: Option<AskedTime>,
    /// Only decided before this time
    #[arg(long, value_name = "TIME", value_parser = parse_asked)]
    until: Option<AskedTime>,
    /// Only the last so many of these
    #[arg(long, value_name = "COUNT")]
    last: Option<usize>,
}

pub(super) fn run(arguments: &TradesArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let trades = block_on(async { arguments.read(&mut Reader::open(&url).await?, context).await })?;
    if context.global.json {
        print_json(&trades)?;
    } else if arguments.csv {
        print(to_csv(&trades.lines().iter().collect::<Vec<_>>())?.trim_end())?;
    } else {
        print(&trades.to_string())?;
    }
    Ok(Ending::Done)
}

impl TradesArguments {
    /// Reads a few of the last trades from their own entries, others from the whole journal.
    async fn read(&self, reader: &mut Reader, context: &Context<'_>) -> Result<TradeList, AppError> {
        let head = reader.head().await?.seq;
        if let Some(end) = reader.lines(head, 1).await?.first() {
            let end = end.line.received;
            let asked = [&self.since, &self.until];
            asked.into_iter().flatten().for_each(|asked| asked.say(end, context));
            let filter = self.filter(end);
            if let Some(trades) = Box::pin(filter.read_last(reader)).await? {
                return Ok(trades);
            }
        }
        let contents = read_recent(reader).await?;
        Ok(self.filter(contents.last.line.received).apply(&contents)?)
    }

    fn filter(&self, end: Millis) -> TradeFilter {
        let Self { symbol, last, .. } = *self;
        let moment = |asked: &Option<AskedTime>| asked.as_ref().and_then(|asked| asked.before(end));
        let (since, until) = (moment(&self.since), moment(&self.until));
        TradeFilter { bot: self.bot.clone(), symbol, state: self.state.clone(), since, until, last }
    }
}

pub(crate) fn to_csv(lines: &[&TradeLine]) -> Result<String, Failure> {
    let unexpected = |error: String| Failure::new(FailureKind::Unexpected, anyhow::Error::msg(error));
    let mut serialized = csv::Writer::from_writer(Vec::new());
    for line in lines {
        serialized.serialize(line).map_err(|error| unexpected(error.to_string()))?;
    }
    let bytes = serialized.into_inner().map_err(|error| unexpected(error.to_string()))?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice()).records() {
        let record = record.map_err(|error| unexpected(error.to_string()))?;
        let cells = record.iter().map(|cell| visible_cell(cell).into_owned());
        writer.write_record(cells).map_err(|error| unexpected(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| unexpected(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unexpected(error.to_string()))
}
