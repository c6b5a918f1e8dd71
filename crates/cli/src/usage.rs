//! Arguments that no command has, and what was meant by them.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Arguments that people try, and where what they mean is said.
const CURES: [(&str, &str); 4] = [
    (
        "--param",
        "here a parameter has one value, which stands in the bot's params, as params = { period = 7 }, or as the default in the rule's file; \
     `candlewick sweep --param period=5..20` tries several",
    ),
    (
        "--payout",
        "what a win pays stands in the configuration, as payout_percent = 85 under [simulation]; a configuration is named with --config FILE, \
     and `candlewick config init` writes one",
    ),
    (
        "--stake",
        "the stake is the bot's own: it stands in the configuration, as stake = { kind = \"fixed\", amount = 10.0 } under [[bots]]",
    ),
    (
        "--strategy",
        "a bot's strategy is named in the configuration, as strategy = \"rsi-reversal\" under [[bots]] (`candlewick strategy list` has \
     the names, `candlewick config init` writes such a file); a file of rules runs with --rules FILE",
    ),
];

/// Commands of other programs, and the command that does the same here.
const COMMANDS: [(&[&str], &str); 11] = [
    (
        &["run", "start", "trade", "bot", "demo", "go", "launch"],
        "`candlewick live` runs the bots, `candlewick live --sandbox` without a venue",
    ),
    (&["test", "simulate", "replay", "bt"], "`candlewick backtest` replays candles"),
    (
        &["optimize", "optimise", "hyperopt", "optimization", "search"],
        "`candlewick sweep` searches parameters, `candlewick tune` also tests what it finds",
    ),
    (
        &["download", "download-data", "fetch", "import", "candles", "export", "generate"],
        "`candlewick data` imports, fetches, makes and exports candles",
    ),
    (&["init", "setup", "configure", "new-config"], "`candlewick config init` writes a configuration"),
    (&["new", "create", "scaffold"], "`candlewick strategy new NAME` makes a crate of a strategy"),
    (&["strategies", "list"], "`candlewick strategy list` lists strategies"),
    (&["stop", "pause", "kill"], "`candlewick halt` stops a bot from opening trades"),
    (&["ui", "web", "webserver", "serve", "gui"], "`candlewick dashboard` serves the page of a bot"),
    (&["verdict", "break-even", "ruin"], "`candlewick edge` has the statistics of an edge"),
    (&["log", "logs", "history"], "`candlewick trades` lists trades, `candlewick report` sums them up"),
];

/// Replaces a suggestion by spelling with the argument or command that was meant.
pub(crate) fn with_cure(mut error: clap::Error) -> clap::Error {
    if let Some(cure) = find_cure(&error) {
        // The usage is that of the argument or command that is spelt alike.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Usage);
        let cure = vec![StyledStr::from(cure.to_owned())];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(cure));
    }
    error
}

/// Returns the hint for an argument or a command of another program.
fn find_cure(error: &clap::Error) -> Option<&'static str> {
    let invalid = |kind| match error.get(kind) {
        Some(ContextValue::String(invalid)) => Some(invalid.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let argument = invalid(ContextKind::InvalidArg)?;
            CURES.iter().find(|(name, _)| *name == argument).map(|(_, cure)| *cure)
        }
        ErrorKind::InvalidSubcommand if is_at_top(error) => {
            let command = invalid(ContextKind::InvalidSubcommand)?;
            COMMANDS.iter().find(|(names, _)| names.contains(&command)).map(|(_, cure)| *cure)
        }
        _ => None,
    }
}

/// Returns whether the unknown command directly follows the program's name.
fn is_at_top(error: &clap::Error) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    // "Usage: candlewick [OPTIONS] <COMMAND>"
    usage.split_whitespace().nth(2).is_some_and(|next| next.starts_with(['[', '<']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn said(arguments: &[&str]) -> String {
        let command = crate::app::Arguments::command();
        let error = command.try_get_matches_from(arguments).unwrap_err();
        with_cure(error).render().to_string()
    }

    #[test]
    fn commands_of_other_programs_name_the_one_that_does_the_same() {
        for (command, expected) in [
            ("run", "`candlewick live`"),
            ("start", "`candlewick live --sandbox`"),
            ("optimize", "`candlewick sweep`"),
            ("init", "`candlewick config init`"),
        ] {
            let said = said(&["candlewick", command, "--sandbox"]);
            assert!(said.contains(&format!("unrecognized subcommand '{command}'")), "{said}");
            assert!(said.contains(expected) && !said.contains("tune'"), "{said}");
        }
        // A misspelt command is suggested by its spelling.
        let said = said(&["candlewick", "backtset"]);
        assert!(said.contains("'backtest'"), "{said}");
    }

    #[test]
    fn a_strategy_that_is_asked_for_by_an_argument_is_told_where_it_goes() {
        for arguments in [
            &["candlewick", "backtest", "--strategy", "ema-cross"][..],
            &["candlewick", "live", "--strategy=ema-cross"],
        ] {
            let said = said(arguments);
            assert!(said.contains("unexpected argument '--strategy' found"), "{said}");
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("under [[bots]]") && words.contains("--rules FILE"), "{said}");
            assert!(!said.contains("--stress"), "{said}");
        }
        let words = said(&["candlewick", "backtest", "--rules", "my.toml", "--param", "period=7"]);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in
            ["unexpected argument '--param' found", "params = { period = 7 }", "candlewick sweep --param"]
        {
            assert!(words.contains(part), "{words}");
        }
        let payout = said(&["candlewick", "live", "--payout", "85"]);
        assert!(payout.contains("payout_percent = 85") && !payout.contains("use '-- --payout'"), "{payout}");
        let stake = said(&["candlewick", "signal", "one", "--buy", "--stake", "20"]);
        assert!(
            stake.contains("the stake is the bot's own") && !stake.contains("use '-- --stake'"),
            "{stake}"
        );
        // What is only misspelt is suggested as ever.
        let said = said(&["candlewick", "backtest", "--confg", "a.toml"]);
        assert!(said.contains("a similar argument exists: '--config'"), "{said}");
    }
}
