//! `strategy check`: everything that a strategy must hold, whoever wrote it.

use super::{find, itself};
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::{print, print_json};
use crate::progress::Progress;
use candlewick_app::candles::{DataName, candle_store};
use candlewick_app::configuration::{Base, Loaded};
use candlewick_app::validation::{self, Means, ValidationReport};
use candlewick_sdk::testkit::{Check, Finding, Market, Subject, ValidationError};
use candlewick_sdk::{
    BotContext, CloseType, ExpirationType, Expiry, Interval, Series, StrategyEntry, Symbol,
};
use clap::Args;
use serde_json::{Map, Value};
use std::hash::{BuildHasher as _, RandomState};

/// Which strategy, and on what.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --data it is checked on synthetic candles: a random walk, trends, and mean-reverting prices. A \
                  file of --data is checked on its newest 50000 candles, which the result says. A \
                  file that a parameter names is cut off at moments of the candles, to see whether it is read ahead: give the \
                  --data that it belongs to.\n\nWhat cannot be found: the hour and date of the machine's clock, unless it is compared with \
                  the candles' times (the time zone is another in other processes, the clock is not); what is one for the machine and not \
                  read from a file, such as its processor; a model fitted to the very candles that comes inside the program, which only candles it \
                  has not seen show; a cheat that waits for more candles, or cheats more seldom, than are shown; files mapped into memory; and outside of \
                  Linux, what is read and written.\n\nExamples:\n  candlewick strategy check rsi-reversal\n  candlewick strategy check \
                  rsi-reversal --param period=7 --param oversold=25 --json\n  candlewick strategy check signal-list --param \
                  file=list.csv --data BTCUSDT_1m.csv"
)]
pub(crate) struct CheckArguments {
    /// The strategy's name
    name: String,
    /// A parameter, KEY=VALUE; repeat it. Defaults for the rest
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_parameter)]
    param: Vec<(String, Value)>,
    /// Candles to check on: SYMBOL_INTERVAL.csv or .parquet, SYMBOL@INTERVAL=PATH, or SYMBOL@INTERVAL of the catalog
    #[arg(long, value_name = "NAME")]
    data: Option<DataName>,
    /// Symbol of the synthetic candles' bot
    #[arg(long, default_value = "BTCUSDT", conflicts_with = "data")]
    symbol: Symbol,
    /// Interval of the synthetic candles
    #[arg(long, default_value = "1m", conflicts_with = "data")]
    interval: Interval,
    /// How long the bot's trades last; one interval when left out
    #[arg(long, value_name = "CODE")]
    close_type: Option<CloseType>,
    /// Seed of the random walk that nobody has seen, to see again what was found there; another each time when left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many candles that walk has; as many as take a moment when left out. Who cheats more seldom needs more to be seen
    #[arg(long, value_name = "N")]
    unseen: Option<usize>,
}

pub(super) fn run(arguments: &CheckArguments, context: &Context<'_>) -> Result<(), Failure> {
    let entry = find(&arguments.name, context.registry)?;
    let subject = arguments.subject(entry);
    let market = arguments.data.as_ref().map(|name| read(name, context)).transpose()?;
    let mut progress = Progress::new(format!("Checking {}", entry.name), context.global);
    // The hasher's keys are of the system's chance.
    let seed = arguments.seed.unwrap_or_else(|| RandomState::new().hash_one(0_u8));
    let means = Means { seed, unseen: arguments.unseen, itself: itself()? };
    let mut done = 0;
    let mut watch = |_: Check| {
        progress.update(done, validation::CHECKS);
        done += 1;
    };
    let examined = validation::examine(&subject, market, &means, &mut watch).map_err(to_failure)?;
    drop(progress);
    if context.global.json {
        print_json(&examined.document(&subject))?;
    } else {
        print(&examined.text(&subject))?;
    }
    judge(&examined)
}

/// What other processes of this program ask: a request on stdin, decisions on stdout.
pub(super) fn decide(context: &Context<'_>) -> Result<(), Failure> {
    let answer = validation::answer_request(context.registry, &mut std::io::stdin().lock());
    print(&answer.map_err(|error| Failure::new(FailureKind::Check, error))?)
}

impl CheckArguments {
    fn subject(&self, entry: &StrategyEntry) -> Subject {
        let series = self.data.as_ref().map(DataName::series);
        let Series { symbol, interval } =
            series.unwrap_or(Series { symbol: self.symbol, interval: self.interval });
        // Longer candles than a day have no code of their own.
        let longest = || CloseType::new(interval.length().min(candlewick_sdk::Millis::DAY)).ok();
        let close_type = self.close_type.or_else(longest).expect("whole seconds up to a day have a code");
        let bot = BotContext {
            bot: "check".to_owned(),
            symbol,
            interval,
            expiry: Expiry { close_type, expiration_type: ExpirationType::TimeFixed },
        };
        let params = Value::Object(self.param.iter().cloned().collect::<Map<_, _>>());
        Subject { entry: entry.clone(), params, bot }
    }
}

fn read(name: &DataName, context: &Context<'_>) -> Result<Market, Failure> {
    let loaded = Loaded::read(&context.global.config, Base::Bare, Vec::new())?;
    let mut progress = Progress::new(format!("Reading {name}"), context.global);
    let hashed =
        name.read(&candle_store(&loaded), &mut |at| progress.update(at.read_bytes, at.total_bytes))?;
    Ok(Market { name: name.to_string(), candles: hashed.candles().candles().to_vec() })
}

fn judge(examined: &ValidationReport) -> Result<(), Failure> {
    let failed: Vec<&str> = examined
        .checked
        .iter()
        .filter(|checked| checked.finding == Finding::Failed)
        .map(|checked| checked.check.name())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let count = if failed.len() == 1 { "1 check".to_owned() } else { format!("{} checks", failed.len()) };
    Err(Failure::new(
        FailureKind::Check,
        anyhow::Error::msg(format!("{count} failed: {}", failed.join(", "))),
    ))
}

fn to_failure(error: ValidationError) -> Failure {
    match error {
        ValidationError::Build(error) => error.into(),
        ValidationError::TooFewCandles { .. } => Failure::new(FailureKind::Data, error),
    }
}

/// `--param`: a value is read as JSON, else it is a text.
fn parse_parameter(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("use KEY=VALUE, such as period=14")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_are_numbers_truths_or_texts() {
        for (text, key, value) in [
            ("period=14", "period", json!(14)),
            ("level=0.5", "level", json!(0.5)),
            ("on=true", "on", json!(true)),
            ("file=a=b.csv", "file", json!("a=b.csv")),
            ("name=\"14\"", "name", json!("14")),
        ] {
            assert_eq!(parse_parameter(text), Ok((key.to_owned(), value)), "{text}");
        }
        assert!(parse_parameter("period").is_err());
    }
}
