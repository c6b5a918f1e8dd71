//! Hints for unknown commands and flags.

use candlewick_sdk::{AliasContext, Counterpart, counterparts};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

pub(crate) fn with_hint(mut error: clap::Error) -> clap::Error {
    if let Some(hint) = find_hint(&error) {
        // The usage is that of the argument or command that is spelt alike.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Usage);
        let hint = vec![StyledStr::from(hint.to_owned())];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(hint));
    }
    error
}

fn find_hint(error: &clap::Error) -> Option<&'static str> {
    let (context, kind) = match error.kind() {
        ErrorKind::UnknownArgument => (AliasContext::Flag, ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand if is_at_top(error) => {
            (AliasContext::Command, ContextKind::InvalidSubcommand)
        }
        _ => return None,
    };
    let Some(ContextValue::String(invalid)) = error.get(kind) else { return None };
    counterparts(context, invalid).next().map(Counterpart::text)
}

fn is_at_top(error: &clap::Error) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    // "Usage: candlewick [OPTIONS] <COMMAND>"
    usage.split_whitespace().nth(2).is_some_and(|next| next.starts_with(['[', '<']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn names_the_counterpart_of_a_foreign_command_or_flag() {
        for (arguments, expected, spelling) in [
            (&["run", "--sandbox"][..], "`candlewick live` runs the bots", "tune'"),
            (&["start"], "`candlewick live --sandbox`", "status'"),
            (&["optimize"], "`candlewick sweep`", "tune'"),
            (&["init"], "`candlewick config init`", "tune'"),
            (&["download-data"], "`candlewick data`", "dashboard'"),
            (&["backtest", "--strategy", "ema-cross"], "--rules FILE", "--stress"),
            (&["live", "--strategy=ema-cross"], "below [[bots]]", "--stress"),
            (&["backtest", "--rules", "my.toml", "--param", "period=7"], "candlewick sweep --param", "'-- "),
            (&["live", "--payout", "85"], "payout_percent = 85", "'-- "),
            (&["signal", "one", "--buy", "--stake", "20"], "the stake belongs to the bot", "'-- "),
            // Misspelt names are suggested by their spelling.
            (&["backtset"], "'backtest'", "`candlewick"),
            (&["backtest", "--confg", "a.toml"], "a similar argument exists: '--config'", "[[bots]]"),
        ] {
            let command = crate::app::Arguments::command();
            let error = command.try_get_matches_from(["candlewick"].iter().chain(arguments)).unwrap_err();
            let said = with_hint(error).render().to_string();
            let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_refused = text.contains("unrecognized subcommand") || text.contains("unexpected argument");
            assert!(is_refused && text.contains(expected) && !text.contains(spelling), "{said}");
        }
    }
}
