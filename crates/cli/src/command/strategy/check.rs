//! `strategy check`: runs every check on a strategy.

use super::{child_program, find_strategy};
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::show_as;
use crate::progress::Progress;
use candlewick_app::candles::{CandleChoice, DataName, read_for_exploration};
use candlewick_app::configuration::{BaseLayer, LoadedConfig};
use candlewick_app::shell::quote_for_shell;
use candlewick_app::validation::{self, CheckError, DEFAULT_TIME_LIMIT, ValidationOptions, ValidationReport};
use candlewick_app::warm_up::describe_longest_part;
use candlewick_engine::BotSettings;
use candlewick_sdk::testkit::{Finding, Market, Subject};
use candlewick_sdk::{
    BotContext, CloseType, CoverageRule, ExpirationType, Expiry, Interval, Registry, Series, StrategyEntry,
    Symbol, suggest,
};
use clap::Args;
use serde_json::{Map, Value};
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::time::Duration;

const MIN_LENGTH_HINT: &str = "the checks need twice the warm-up plus 100 candles";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick strategy check rsi-reversal\n  candlewick strategy check \
                  rsi-reversal --param period=7 --param oversold=25 --json\n  candlewick strategy check signal-list --param \
                  file=list.csv --data BTCUSDT_1m.csv\n\nWithout --data, the candles are synthetic: a random walk, trends, and \
                  mean-reverting prices. With --data, the latest 50000 candles are checked, or fewer if the strategy is slow. Files named by \
                  parameters are truncated during the checks to detect reading ahead: pass the matching --data.\n\n\
                  The checks run in a separate process. A strategy that exits, crashes, or exceeds --timeout fails with exit code 5. Its output goes to stderr.\n\n\
                  Not detected:\n  - use of the hour, date or uptime, unless it changes within seconds or is compared with\n    \
                    candle times; other processes have another time zone, but the same time\n  - use of machine-wide state that is not read from a file\n  \
                  - an environment variable that is only set during trading\n  - a strategy that detects this command and behaves differently\n  \
                  - a model fitted to these candles that also recognizes noisy and mirrored copies;\n    check it on unseen candles\n  \
                  - cheating that needs more candles than are checked, or that affects few signals (see --unseen)\n  \
                  - memory-mapped files, and files read by other programs\n  - file access on systems other than Linux")]
pub(crate) struct CheckArguments {
    /// Name of the strategy
    name: String,
    /// Parameter KEY=VALUE; repeatable [default: value of the configured bot, or of the strategy]
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_parameter)]
    param: Vec<(String, Value)>,
    /// Name of the bot in --config, if several use this strategy
    #[arg(long, value_name = "NAME")]
    bot: Option<String>,
    /// Candles: SYMBOL_INTERVAL.csv or .parquet, SYMBOL@INTERVAL=PATH, or a catalog series SYMBOL@INTERVAL
    #[arg(long, value_name = "NAME")]
    data: Option<DataName>,
    /// Symbol of the synthetic candles [default: symbol of the configured bot, or BTCUSDT]
    #[arg(long, conflicts_with = "data")]
    symbol: Option<Symbol>,
    /// Interval of the synthetic candles [default: interval of the configured bot, or 1m]
    #[arg(long, conflicts_with = "data")]
    interval: Option<Interval>,
    /// Trade duration, such as 05:00 [default: duration of the configured bot, or one candle interval]
    #[arg(long = "duration", alias = "close-type", value_name = "CODE")]
    close_type: Option<CloseType>,
    /// Seed of the random walk with unseen candles; set it to repeat a failed check [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of unseen candles from a random walk. More candles reveal rarer look-ahead [default: enough for a
    /// quick check]
    #[arg(long, value_name = "N")]
    unseen: Option<usize>,
    /// Total time limit for the checks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_TIME_LIMIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

pub(super) fn run(arguments: &CheckArguments, context: &Context<'_>) -> Result<(), Failure> {
    let entry = find_strategy(&arguments.name, context.registry)?;
    let configured = arguments.find_configured_bot(context)?;
    let subject = arguments.to_subject(entry, configured.as_ref());
    if let Some(bot) = &configured {
        context.print_notice(&format!("note: using the parameters of bot {} from --config", bot.name));
    }
    let market = arguments.data.as_ref().map(|name| read_candles(name, context)).transpose()?;
    let mut progress = Progress::new(format!("Checking {}", entry.name), context.global);
    let seed = arguments.seed.unwrap_or_else(|| RandomState::new().hash_one(0_u8));
    let limit = Duration::from_secs(arguments.timeout);
    let means =
        ValidationOptions { seed, unseen_candles: arguments.unseen, program: child_program()?, limit };
    let mut watch = |begun| progress.update(begun, validation::CHECK_COUNT);
    let examined = validation::examine(&subject, market, &means, &mut watch);
    let examined =
        examined.map_err(|error| to_check_failure(error, &subject, MIN_LENGTH_HINT, context.registry))?;
    drop(progress);
    show_as(&examined.to_json(&subject), || examined.render(&subject), context.global)?;
    ensure_passed(&examined)
}

pub(super) fn answer_decision_request(context: &Context<'_>) -> Result<(), Failure> {
    let answered =
        validation::answer_request(context.registry, &child_program()?, &mut std::io::stdin().lock());
    answered.map_err(|error| Failure::new(FailureKind::Check, error))
}

impl CheckArguments {
    fn find_configured_bot(&self, context: &Context<'_>) -> Result<Option<BotSettings>, Failure> {
        if context.global.config.is_empty() {
            let hint = "pass the configuration file of the bot with --config";
            let problem = "--bot requires a configuration";
            return match self.bot {
                Some(_) => Err(Failure::configuration(problem).hint(hint)),
                None => Ok(None),
            };
        }
        let mut bots = LoadedConfig::read(&context.global.config, BaseLayer::Bare, Vec::new())?.config.bots;
        bots.retain(|bot| bot.strategy == self.name);
        let names: Vec<String> = bots.iter().map(|bot| bot.name.clone()).collect();
        let Some(wanted) = &self.bot else {
            if let [_, _, ..] = names.as_slice() {
                let problem = format!("several bots use the strategy {}: {}", self.name, names.join(", "));
                return Err(Failure::configuration(problem).hint("choose one with --bot"));
            }
            return Ok(bots.pop());
        };
        bots.into_iter().find(|bot| bot.name == *wanted).map(Some).ok_or_else(|| {
            let problem = format!("no bot \"{wanted}\" uses the strategy {}", self.name);
            Failure::configuration(problem).hint(suggest(wanted, names.iter().map(String::as_str)))
        })
    }

    fn to_subject(&self, entry: &StrategyEntry, configured: Option<&BotSettings>) -> Subject {
        let made = || {
            let own = configured.map(BotSettings::series);
            let usual = || "BTCUSDT".parse().expect("a valid symbol");
            let symbol = self.symbol.or(own.map(|own| own.symbol)).unwrap_or_else(usual);
            let interval = self.interval.or(own.map(|own| own.interval)).unwrap_or(Interval::MINUTE);
            Series { symbol, interval }
        };
        let Series { symbol, interval } = self.data.as_ref().map_or_else(made, DataName::series);
        // A trade lasts at most a day.
        let longest = || CloseType::new(interval.length().min(candlewick_sdk::Millis::DAY)).ok();
        let of_bot = || configured.map(|bot| bot.expiry().close_type);
        let close_type = self.close_type.or_else(of_bot).or_else(longest);
        let close_type = close_type.expect("whole seconds up to a day are valid");
        let bot = BotContext {
            bot: "check".to_owned(),
            symbol,
            interval,
            expiry: Expiry { close_type, expiration_type: ExpirationType::TimeFixed },
            longer_share_percent: Some(CoverageRule::DEFAULT_SHARE_PERCENT),
        };
        let of_bot = configured.and_then(|bot| bot.params.as_object().cloned()).unwrap_or_default();
        let params =
            Value::Object(of_bot.into_iter().chain(self.param.iter().cloned()).collect::<Map<_, _>>());
        Subject { entry: entry.clone(), params, bot }
    }
}

fn read_candles(name: &DataName, context: &Context<'_>) -> Result<Market, Failure> {
    let loaded = LoadedConfig::read(&context.global.config, BaseLayer::Bare, Vec::new())?;
    let mut progress = Progress::new(format!("Reading {name}"), context.global);
    let mut watch = |at: candlewick_history::Progress| progress.update(at.read_bytes, at.total_bytes);
    let hashed = read_for_exploration(&loaded, name, &mut watch)?;
    Ok(Market { name: name.to_string(), candles: hashed.candles().candles().to_vec() })
}

fn ensure_passed(examined: &ValidationReport) -> Result<(), Failure> {
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
    Err(Failure::failed_check(format!("{count} failed: {}", failed.join(", "))))
}

pub(in crate::command) fn to_check_failure(
    error: CheckError,
    Subject { entry, params, bot }: &Subject,
    needs: &str,
    registry: &Registry,
) -> Failure {
    match error {
        CheckError::Build { is_data: true, .. } => Failure::new(FailureKind::Data, error),
        CheckError::Build { is_data: false, .. } => Failure::new(FailureKind::Configuration, error),
        CheckError::Panic { .. } => Failure::new(FailureKind::Check, error),
        CheckError::Unfinished(unfinished) => {
            let hint = unfinished.hint();
            Failure::new(FailureKind::Check, unfinished).hint(hint)
        }
        CheckError::TooFewCandles { .. } => {
            let part = describe_longest_part(registry, (&entry.name, params), bot.interval);
            let part = part.map_or_else(String::new, |part| format!("; {part}"));
            Failure::new(FailureKind::Data, error).hint(format!("{needs}: provide more candles{part}"))
        }
    }
}

/// Builds the command that checks this strategy: with --bot if there are configuration files, else with --param.
pub(in crate::command) fn build_check_command(
    Subject { entry, params, bot }: &Subject,
    files: &[PathBuf],
    candles: &CandleChoice,
) -> String {
    let series = Series { symbol: bot.symbol, interval: bot.interval };
    let is_own = |name: &&String| name.parse().is_ok_and(|name: DataName| name.series() == series);
    let data = candles.data.iter().find(is_own).cloned();
    let data = data.unwrap_or_else(|| format!("{}@{}", series.symbol, series.interval));
    let files = if candles.rules.is_some() { &[][..] } else { files };
    let word = |text: &str| quote_for_shell(text).into_owned();
    let mut words = vec![format!("candlewick strategy check {}", entry.name)];
    words.extend(files.iter().map(|file| format!("--config {}", word(&file.display().to_string()))));
    if files.is_empty() {
        words.extend(params.as_object().into_iter().flatten().map(|(key, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("--param {}", word(&format!("{key}={value}")))
        }));
    } else {
        words.push(format!("--bot {}", word(&bot.bot)));
    }
    words.push(format!("--data {}", word(&data)));
    words.join(" ")
}

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
    fn parses_numbers_booleans_and_strings() {
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

    #[test]
    fn check_command_is_quoted_for_the_shell() {
        let params = json!({ "file": "my rule.toml", "period": 7 });
        let entry = StrategyEntry::new("rules", "1", |_, _| unreachable!("not built in this test"));
        let (close_type, expiration_type) = ("01:00".parse().unwrap(), ExpirationType::TimeFixed);
        let bot = BotContext {
            bot: "one".to_owned(),
            symbol: "BTCUSDT".parse().unwrap(),
            interval: Interval::MINUTE,
            expiry: Expiry { close_type, expiration_type },
            longer_share_percent: None,
        };
        let subject = Subject { entry, params, bot };
        let data = vec!["GBPUSD_1m.csv".to_owned(), "data/BTCUSDT_1m.csv".to_owned()];
        let command = build_check_command(&subject, &[], &CandleChoice { data, ..CandleChoice::default() });
        let expected = "candlewick strategy check rules --param 'file=my rule.toml' --param period=7 --data data/BTCUSDT_1m.csv";
        assert_eq!(command, expected);
        let command = build_check_command(&subject, &["my.toml".into()], &CandleChoice::default());
        assert_eq!(command, "candlewick strategy check rules --config my.toml --bot one --data BTCUSDT@1m");
    }
}
