//! `signal`: sends a signal to a running bot, or checks a signal list.

use super::signal_check::print_check;
use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::journal::{JournalArguments, block_on};
use crate::output::{print, print_json};
use candlewick_app::configuration::control_paths;
use candlewick_app::control::signal;
use candlewick_app::signals::{check_list, close_type_of};
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::{SignalId, SignalReason, SignalSource};
use candlewick_runtime::control::{SignalOrder, SignalOutcome};
use candlewick_sdk::{CloseType, Direction};
use clap::{ArgGroup, Args};
use serde_json::json;
use std::path::PathBuf;

/// For whom, and which way.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("direction").required(true).args(["buy", "sell", "check"])),
    after_help = "The signal is held against the same rules as one of the bot's own strategy, and its trade is staked, recorded \
                  and followed alike. Risk decides: a refusal is printed with its rule, and ends with status 0 as an approval \
                  does. A bot that does not take the signal (no such bot, or none runs) is an error.\nTwo signals of one --id are one: \
                  the second is dropped. Without --id each is a new one.\n\nExamples:\n  candlewick signal ema --buy\n  candlewick signal ema \
                  --sell --id 2026-01-05T10:00 --expires 2s --reason \"breakout\"\n  candlewick signal --config bots.toml --check list.txt"
)]
pub(crate) struct SignalArguments {
    /// The bot's name
    #[arg(required_unless_present = "check", conflicts_with = "check")]
    bot: Option<String>,
    /// A bet on a higher price; also --call
    #[arg(long, alias = "call")]
    buy: bool,
    /// A bet on a lower price; also --put
    #[arg(long, alias = "put")]
    sell: bool,
    /// Send nothing: show how each line of this list is taken for the bots of the configuration
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// What the signal is called; a second one of this name is dropped
    #[arg(long, value_name = "TEXT")]
    id: Option<String>,
    /// After how long it is late, as 5s or 500ms, where the rules do not say so before
    #[arg(long, value_name = "TIME", value_parser = duration_ms)]
    expires: Option<u32>,
    /// A duration that replaces the bot's own, as 05:00 or M5
    #[arg(long, alias = "expiry", value_name = "CODE", value_parser = close_type_of)]
    close_type: Option<CloseType>,
    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    journal: JournalArguments,
}

/// Parses seconds (`5s`) or milliseconds (`500ms`).
fn duration_ms(text: &str) -> Result<u32, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1),
        (None, Some(number)) => (number, 1_000),
        (None, None) => (text, 0),
    };
    let ms = number.trim().parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    ms.filter(|ms| *ms > 0).ok_or_else(|| "use seconds or milliseconds, such as 5s or 500ms".to_owned())
}

pub(super) fn run(arguments: &SignalArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if let Some(path) = &arguments.check {
        let (loaded, _) = arguments.journal.load_of_bot(context)?;
        let skips = loaded.config.signals.skip_unknown;
        let checked = check_list(&loaded, path, SystemClock::new().now())?;
        return print_check(&checked, context.global.json, skips);
    }
    let (loaded, _) = arguments.journal.load_of_bot(context)?;
    let paths = control_paths(&loaded)?;
    let order = order_of(arguments)?;
    let id = order.id;
    let outcome = block_on(signal(&paths, order))?;
    if context.global.json {
        print_json(&json!({ "bot": arguments.bot, "id": id, "outcome": outcome }))?;
        return Ok(Ending::Done);
    }
    print(&match outcome {
        SignalOutcome::Approved { intent } => {
            format!(
                "Approved: trade #{intent} is on its way. `candlewick explain {intent}` says what became of it."
            )
        }
        SignalOutcome::Refused { rule } => format!("Refused by {rule}: no trade was opened."),
        SignalOutcome::Duplicate => format!("Dropped: the bot has met a signal {id} before."),
    })?;
    Ok(Ending::Done)
}

fn order_of(arguments: &SignalArguments) -> Result<SignalOrder, Failure> {
    let too_long =
        |what: &str, most| Failure::configuration(format!("{what} is too long: at most {most} bytes"));
    let id = arguments.id.clone().unwrap_or_else(|| {
        // A process gives one signal.
        format!("{}-{}", SystemClock::new().now().get(), std::process::id())
    });
    let reason = arguments.reason.as_deref();
    let reason = reason.map(|text| SignalReason::new(text).ok_or_else(|| too_long("--reason", 47)));
    Ok(SignalOrder {
        bot: arguments.bot.clone(),
        symbol: None,
        direction: if arguments.sell { Direction::Sell } else { Direction::Buy },
        source: SignalSource::truncated("command"),
        id: SignalId::new(&id).ok_or_else(|| too_long("--id", 63))?,
        time: None,
        expires_ms: arguments.expires,
        close_type: arguments.close_type,
        reason: reason.transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: SignalArguments,
    }

    #[test]
    fn the_expiry_of_a_signal_is_the_length_of_its_trade() {
        let line =
            <Line as clap::Parser>::try_parse_from(["signal", "eur", "--buy", "--expiry", "5m"]).unwrap();
        assert_eq!(line.arguments.close_type, "05:00".parse().ok());
        assert_eq!(line.arguments.expires, None);
    }

    #[test]
    fn how_long_a_signal_is_good_is_said_in_seconds_or_milliseconds() {
        assert_eq!(duration_ms("5s"), Ok(5_000));
        assert_eq!(duration_ms("500ms"), Ok(500));
        for text in ["5", "s", "", "-1s", "0s", "9999999s", "5m"] {
            assert!(duration_ms(text).is_err(), "{text}");
        }
    }
}
