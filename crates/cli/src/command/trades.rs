//! `trades`: the trades of a journal and their outcome.

use crate::arguments::parse_moment;
use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json, table};
use candlewick_app::suggestion::suggest;
use candlewick_journal::Reader;
use candlewick_records::utc;
use candlewick_records::{JournalContents, TradeLine, counted};
use candlewick_sdk::{Millis, Symbol};
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::collections::BTreeSet;

/// Which of them.
#[derive(Debug, Args)]
#[command(
    after_help = "One line an intent, in the order of their decisions; it may be read while a bot runs. An intent whose \
                  answer is awaited counts as in doubt.\n\nExamples:\n  candlewick trades\n  candlewick trades --journal \
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
    /// Only decided at this time or later: a date, a time such as 2026-01-05T12:00:00Z, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    since: Option<Millis>,
    /// Only decided before this time
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    until: Option<Millis>,
}

pub(super) fn run(arguments: &TradesArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let (_, url) = arguments.journal.load(context)?;
    let contents = block_on(async { JournalContents::read(&mut Reader::open(&url).await?).await })?;
    arguments.check_names(&contents)?;
    let lines: Vec<TradeLine> = (contents.intents().map(|one| TradeLine::of(&contents.book, one)))
        .filter(|line| arguments.admits(line))
        .collect();
    if context.global.json {
        print_json(&lines)?;
    } else if arguments.csv {
        print(to_csv(&lines)?.trim_end())?;
    } else {
        print(&to_table(&lines))?;
    }
    Ok(Ending::Done)
}

impl TradesArguments {
    /// Whether the journal knows the bot and the symbol that are asked for: a slip of the keyboard is not an empty list.
    fn check_names(&self, contents: &JournalContents) -> Result<(), Failure> {
        let bots = || contents.runs.iter().flat_map(|run| &run.settings.bots);
        let names: BTreeSet<&str> = bots().map(|bot| bot.name.as_str()).collect();
        let symbols: BTreeSet<&str> = bots().map(|bot| bot.symbol.as_str()).collect();
        let asked = [
            ("bot", self.bot.as_deref(), names),
            ("bot on the symbol", self.symbol.as_ref().map(Symbol::as_str), symbols),
        ];
        for (what, name, known) in asked {
            if let Some(name) = name.filter(|name| !known.contains(name)) {
                let problem = format!("the journal has no {what} {name}");
                return Err(Failure::configuration(problem).help(suggest(name, known)));
            }
        }
        Ok(())
    }

    fn admits(&self, line: &TradeLine) -> bool {
        self.bot.as_ref().is_none_or(|bot| *bot == line.bot)
            && self.symbol.is_none_or(|symbol| symbol == line.symbol)
            && self.state.as_ref().is_none_or(|state| state == line.state)
            && self.since.is_none_or(|since| line.decision_time >= since)
            && self.until.is_none_or(|until| line.decision_time < until)
    }
}

fn to_csv(lines: &[TradeLine]) -> Result<String, Failure> {
    let unexpected = |error: String| Failure::new(FailureKind::Unexpected, anyhow::Error::msg(error));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.serialize(line).map_err(|error| unexpected(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| unexpected(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| unexpected(error.to_string()))
}

fn to_table(lines: &[TradeLine]) -> String {
    let header =
        ["intent", "bot", "symbol", "", "amount", "decided", "open", "close", "state", "result", "pnl"];
    let mut rows = table(header);
    let price = |price: Option<f64>| price.map_or("-".to_owned(), |price| price.to_string());
    for line in lines {
        rows.add_row([
            line.intent_id.to_string(),
            line.bot.clone(),
            line.symbol.to_string(),
            line.direction.to_string(),
            line.stake_text(),
            utc(line.decision_time),
            price(line.open_price),
            price(line.close_price),
            line.state.to_owned(),
            line.result.map_or("-".to_owned(), |result| result.to_string()),
            line.pnl_text().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    let count = counted(lines.len(), "intent", "intents");
    format!("{}\n\n{count}", rows.trim_fmt())
}
