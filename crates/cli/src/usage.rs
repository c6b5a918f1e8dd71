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

/// The error with what was meant in the place of an argument that is only spelt alike.
pub(crate) fn with_cure(mut error: clap::Error) -> clap::Error {
    let cure = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(argument))) => {
            CURES.iter().find(|(name, _)| name == argument)
        }
        _ => None,
    };
    if let Some((_, cure)) = cure {
        // The usage is that of the argument that is spelt alike.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        let cure = vec![StyledStr::from((*cure).to_owned())];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(cure));
    }
    error
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
