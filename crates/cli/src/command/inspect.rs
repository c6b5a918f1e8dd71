//! Commands that inspect a journal and its bot: `status`, `watch`, `explain`, `why` and `trades`.

use crate::arguments::{RequestedTime, parse_requested_time};
use crate::context::{Context, JournalArguments, block_on};
use crate::failure::{Ending, Failure, FailureKind};
use crate::interrupt::StopListener;
use crate::output::{print, print_json, print_json_text, show};
use candlewick_app::AppError;
use candlewick_app::configuration::control_paths;
use candlewick_app::recent::read_recent;
use candlewick_app::status::Status;
use candlewick_journal::Reader;
use candlewick_records::explain::{
    MomentQuery, MomentRequest, TradeRequest, read_last_decisions, read_moment, read_trade,
};
use candlewick_records::{TradeFilter, TradeLine, TradeList};
use candlewick_runtime::control::{FollowedRun, RunState};
use candlewick_runtime::events::event_schema;
use candlewick_sdk::{Millis, Symbol, to_csv_cell};
use clap::Args;
use clap::builder::PossibleValuesParser;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick status\n  candlewick status --journal run.db --json\n  candlewick status --running --quiet\n\n\
                  Money and trades are read from the journal. The state is read from the running bot. Without \
                  --journal, the configured \
                  journal is used: candlewick.db in this folder unless [journal] url is set. Other journals in this folder are listed on \
                  stderr. With --quiet, only the exit code is set."
)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Health check: exit with code 5 if no bot responds, a venue API is silent, or candles are late
    #[arg(long)]
    running: bool,
}

pub(super) fn run_status(arguments: &StatusArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (loaded, url) = arguments.journal.load_for_running_bot(context)?;
    let status = block_on(Status::read(&loaded, &url))?;
    if context.global.json || !context.global.quiet {
        show(&status, context.global)?;
    }
    if arguments.running && status.bot.is_none() {
        return Err(Failure::failed_check(format!("no bot is running with the journal {}", status.journal)));
    }
    let problems = status.bot.as_ref().map(RunState::venue_problems).unwrap_or_default();
    if arguments.running && !problems.is_empty() {
        return Err(Failure::failed_check(format!(
            "the bot with the journal {} cannot trade: {}",
            status.journal,
            problems.join("; ")
        )));
    }
    Ok(Ending::Done)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick watch\n  candlewick watch --journal run.db\n  candlewick watch --config config/demo.toml | jq 'select(.event \
                  == \"settled\")'\n\nPrints one JSON object per line, like `live --json`, from now until the bot ends \
                  or you press Ctrl-C. A slow reader never blocks the bot: skipped events are counted \
                  (\"event\":\"dropped\")."
)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Print the JSON Schema of the events and exit
    #[arg(long)]
    schema: bool,
}

pub(super) fn run_watch(arguments: &WatchArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if arguments.schema {
        print_json(&event_schema())?;
        return Ok(Ending::Done);
    }
    let (loaded, _) = arguments.journal.load_for_running_bot(context)?;
    let paths = control_paths(&loaded)?;
    block_on(async {
        let mut interrupt = StopListener::new()?;
        let mut followed = FollowedRun::connect(&paths.socket).await.map_err(AppError::from)?;
        loop {
            let line = tokio::select! {
                line = followed.next() => line,
                ending = interrupt.wait() => return Ok::<_, Failure>(ending),
            };
            match line {
                Some(line) if print_json_text(&line)? => {}
                Some(_) | None => return Ok(Ending::Done),
            }
        }
    })
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick explain 17\n  candlewick explain 17 --raw\n  candlewick explain 01KE5ZTX2224ERMQE51J8Q9BC0 --journal run.db --json\n\n\
                  Shows the candles, the decision with its values, all requests and responses, the trade lists that resolved an \
                  unknown status, and the settlement with its verification. Times are in UTC. --raw and --json print recorded texts unchanged."
)]
pub(crate) struct ExplainArguments {
    /// Number of the trade, or its id at the venue
    trade: String,
    /// Print the entries, requests and responses as recorded
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// Compute the indicators even if more than 500,000 entries precede the decision
    #[arg(long)]
    indicators: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_explain(arguments: &ExplainArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let explanation = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let contents = read_recent(&mut reader).await?;
        let (name, registry, is_far) = (arguments.trade.as_str(), context.registry, arguments.indicators);
        Ok::<_, AppError>(
            read_trade(&mut reader, &contents, &TradeRequest { name, registry, is_replay_unlimited: is_far })
                .await?,
        )
    })?;
    if arguments.raw {
        print(&explanation.raw_text())?;
        return Ok(Ending::Done);
    }
    show(&explanation, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick why 2026-01-05T02:31:00Z\n  candlewick why 1767580260000 GBPUSD --journal \
                  run.db --json\n  candlewick why 2026-01-05T02:31 --bot btc\n  candlewick why 02:31\n  candlewick why\n\n\
                  Without a time, shows the last ten signals and whether each opened a trade. With a time, shows for each bot the last candle, the \
                  signal of its strategy, the rule that rejected it, and the conditions of a rule or combination with their values."
)]
pub(crate) struct WhyArguments {
    /// Time such as 2026-01-05T12:00:00Z, or Unix seconds or milliseconds. 17:08 and "01-05 17:08" mean the latest such
    /// time in the journal
    #[arg(value_parser = parse_requested_time)]
    time: Option<RequestedTime>,
    /// Symbol of the bots to show
    symbol: Option<Symbol>,
    /// Name of the bot to show
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Compute the conditions even if more than 500,000 entries precede the candle
    #[arg(long)]
    indicators: bool,
    #[command(flatten)]
    journal: JournalArguments,
}

pub(super) fn run_why(arguments: &WhyArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let WhyArguments { time, symbol, bot, .. } = arguments;
    let Some(time) = time else {
        let last = block_on(async {
            let mut reader = Reader::open(&url).await?;
            let contents = read_recent(&mut reader).await?;
            Ok::<_, AppError>(read_last_decisions(&mut reader, &contents, (bot.as_deref(), *symbol)).await?)
        })?;
        return show(&last, context.global);
    };
    let report = block_on(async {
        let mut reader = Reader::open(&url).await?;
        let contents = read_recent(&mut reader).await?;
        let last = contents.last_line.line.received;
        time.print_resolved(last, context);
        let time = time.resolve_before(last).unwrap_or(last);
        let query = MomentQuery { time, symbol: *symbol, bot: bot.clone() };
        let asked = MomentRequest {
            query: &query,
            registry: context.registry,
            is_replay_unlimited: arguments.indicators,
        };
        Ok::<_, AppError>(read_moment(&mut reader, &contents, &asked).await?)
    })?;
    show(&report, context.global)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick trades\n  candlewick trades --last 20\n  candlewick trades --journal \
                  run.db --bot btc-rsi --state settled --since 2026-01-05\n  candlewick trades --csv > trades.csv\n\n\
                  Prints one line per order, sorted by decision time. Works while a bot is running. An order without a response has \
                  an unknown status (in_doubt)."
)]
pub(crate) struct TradesArguments {
    #[command(flatten)]
    journal: JournalArguments,
    /// Print CSV with the keys of --json as column names
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// List only trades of this bot
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// List only trades on this symbol
    #[arg(long)]
    symbol: Option<Symbol>,
    /// List only trades in this state
    #[arg(long, value_parser = PossibleValuesParser::new(TradeLine::STATES))]
    state: Option<String>,
    /// List only trades decided at or after this time: a date, a time such as 2026-01-05T12:00:00Z or 17:08, or Unix
    /// seconds or milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_requested_time)]
    since: Option<RequestedTime>,
    /// List only trades decided before this time
    #[arg(long, value_name = "TIME", value_parser = parse_requested_time)]
    until: Option<RequestedTime>,
    /// Maximum number of trades; older trades are not listed
    #[arg(long, value_name = "COUNT")]
    last: Option<usize>,
}

pub(super) fn run_trades(arguments: &TradesArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let trades = block_on(async { arguments.read_trades(&mut Reader::open(&url).await?, context).await })?;
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
    async fn read_trades(&self, reader: &mut Reader, context: &Context<'_>) -> Result<TradeList, AppError> {
        let head = reader.head().await?.seq;
        if let Some(end) = reader.lines(head, 1).await?.first() {
            let end = end.line.received;
            let asked = [&self.since, &self.until];
            asked.into_iter().flatten().for_each(|asked| asked.print_resolved(end, context));
            let filter = self.to_filter(end);
            if let Some(trades) = Box::pin(filter.read_last(reader)).await? {
                return Ok(trades);
            }
        }
        let contents = read_recent(reader).await?;
        Ok(self.to_filter(contents.last_line.line.received).apply(&contents)?)
    }

    fn to_filter(&self, end: Millis) -> TradeFilter {
        let Self { symbol, last, .. } = *self;
        let moment =
            |asked: &Option<RequestedTime>| asked.as_ref().and_then(|asked| asked.resolve_before(end));
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
        let cells = record.iter().map(|cell| to_csv_cell(cell).into_owned());
        writer.write_record(cells).map_err(|error| unexpected(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| unexpected(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unexpected(error.to_string()))
}
