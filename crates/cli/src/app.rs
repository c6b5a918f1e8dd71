//! Builder of a command-line program with registered strategies and brokers.

use crate::arguments::GlobalArguments;
use crate::command::{self, Command};
use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::host::{Host, HostedFailure, HostedOutput, HostedResult, with_host};
use crate::log::start_log;
use crate::output::fit_tables_to_terminal;
use crate::terminal::{sanitize_coloured_lines, sanitize_lines};
use candlewick_app::configuration::Config;
use candlewick_app::live::{CustomBrokers, VenuePorts};
use candlewick_broker::BrokerError;
use candlewick_sdk::{
    AliasContext, AliasTarget, Registry, RegistryError, StrategyEntry, StrategyFactory, find_alias_targets,
};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser};
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

fn long_version() -> &'static str {
    static VERSION_TEXT: LazyLock<String> = LazyLock::new(|| {
        let all = [
            ("feather", cfg!(feature = "feather")),
            ("man", cfg!(feature = "man")),
            ("metrics", cfg!(feature = "metrics")),
            ("notify", cfg!(feature = "notify")),
            ("object-storage", cfg!(feature = "object-storage")),
            ("postgres", cfg!(feature = "postgres")),
            ("stream", cfg!(feature = "stream")),
            ("systemd", cfg!(feature = "systemd")),
            ("tui", cfg!(feature = "tui")),
        ];
        let built: Vec<&str> =
            all.into_iter().filter(|(_, is_built)| *is_built).map(|(name, _)| name).collect();
        let built = if built.is_empty() { "none".to_owned() } else { built.join(", ") };
        format!("{}\nfeatures: {built}", env!("CARGO_PKG_VERSION"))
    });
    &VERSION_TEXT
}

/// Backtest fixed-time trading bots and run the same code live
#[derive(Debug, Parser)]
#[command(
    name = "candlewick",
    version,
    long_version = long_version(),
    arg_required_else_help = true,
    subcommand_required = true,
    help_template = command::help_template(),
    after_help = "Examples:\n  candlewick backtest\n  candlewick live --sandbox\n  candlewick strategy list\n\n\
                  Exit codes:\n  0    success\n  1    unexpected error\n  2    invalid arguments or configuration\n  \
                  3    unusable data\n  4    venue declined or unreachable, or results still pending\n  \
                  5    a check failed\n  6    halted by a limit, or operator action required\n  7    journal in use by another process\n  8    no edge shown by `confirm`\n  130  interrupted"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: GlobalArguments,
}

#[derive(Clone, Debug)]
pub struct App {
    registry: Result<Registry, RegistryError>,
    brokers: CustomBrokers,
    package_folder: Option<&'static str>,
}

impl Default for App {
    fn default() -> Self {
        Self { registry: Ok(Registry::default()), brokers: CustomBrokers::default(), package_folder: None }
    }
}

impl App {
    /// Creates a program whose only strategy is `combine`.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_builtin_strategies() -> Self {
        Self::new()
            .with_strategy::<rsi_reversal::RsiReversal>()
            .with_strategy::<ema_cross::EmaCross>()
            .with_strategy::<signal_list::SignalList>()
            .with_strategy::<trend_filter::TrendFilter>()
            .with_strategy::<bollinger_reversal::BollingerReversal>()
            .with_strategy::<macd_cross::MacdCross>()
            .with_strategy::<donchian_breakout::DonchianBreakout>()
            .with_strategy::<stochastic_adx::StochasticAdx>()
            .with_strategy::<coin::Coin>()
            .with_strategy::<none::NoSignals>()
            .with_strategy_entry(candlewick_rules::entry())
    }

    /// Adds a strategy type. If the registration fails, [`App::run`] reports the error.
    #[must_use]
    pub fn with_strategy<S: StrategyFactory>(self) -> Self {
        self.with_strategy_entry(StrategyEntry::from_factory::<S>())
    }

    #[must_use]
    pub fn with_strategy_entry(self, entry: StrategyEntry) -> Self {
        Self { registry: self.registry.and_then(|registry| registry.with_entry(entry)), ..self }
    }

    /// Adds a broker for `live --broker NAME`. Every live run calls `connect` once, inside the tokio runtime.
    #[must_use]
    pub fn with_broker(
        mut self,
        name: &str,
        connect: impl Fn(&Config) -> Result<VenuePorts, BrokerError> + Send + Sync + 'static,
    ) -> Self {
        self.brokers.add(name, connect);
        self
    }

    /// Sets the folder of this program's package. Pass `env!("CARGO_MANIFEST_DIR")`. [`App::run`] fails if cargo
    /// started the program for another package.
    #[must_use]
    pub fn with_package_folder(self, folder: &'static str) -> Self {
        Self { package_folder: Some(folder), ..self }
    }

    /// Returns the long flags of a command such as `edge verdict`, including aliases, without the leading dashes.
    pub fn long_flags(path: &[String]) -> Vec<String> {
        let mut command = Arguments::command();
        command.build();
        let found = path.iter().try_fold(&command, |command, name| command.find_subcommand(name));
        let flags = found.into_iter().flat_map(clap::Command::get_arguments);
        let names = flags
            .flat_map(|flag| flag.get_long().into_iter().chain(flag.get_all_aliases().unwrap_or_default()));
        names.map(str::to_owned).collect()
    }

    pub fn run(self) -> ExitCode {
        match Arguments::try_parse() {
            Ok(arguments) => {
                let print = |failure: &Failure, is_logged: bool| {
                    if !is_logged {
                        failure.print();
                    }
                };
                ExitCode::from(self.run_command(&arguments, &print))
            }
            Err(error) => {
                let error = with_counterpart_hint(error);
                print_usage(&error);
                ExitCode::from(usage_exit_code(&error))
            }
        }
    }

    /// Runs a command inside another program, on the calling thread. Panics in strategies propagate.
    pub fn run_hosted(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
        host: Arc<dyn Host>,
        output: HostedOutput,
    ) -> HostedResult {
        let named = std::iter::once(OsString::from("candlewick")).chain(arguments);
        let arguments = match Arguments::try_parse_from(named) {
            Ok(arguments) => arguments,
            Err(error) => return hosted_usage_result(&with_counterpart_hint(error), output),
        };
        host.on_begin(arguments.command.kind());
        let failed = RefCell::new(None);
        let note = |failure: &Failure, is_logged: bool| {
            if output == HostedOutput::Printed && !is_logged {
                failure.print();
            }
            failed.replace(Some(failure.to_hosted_failure()));
        };
        let (code, output) = with_host(host, output, || self.run_command(&arguments, &note));
        let code = code.unwrap_or(Ending::Interrupted.code());
        HostedResult { code, output, failure: failed.into_inner() }
    }

    fn run_command(&self, arguments: &Arguments, report: &dyn Fn(&Failure, bool)) -> u8 {
        let log = start_log(&arguments.global);
        fit_tables_to_terminal();
        let wrong = self.package_folder.and_then(candlewick_sdk::check_build_folder).map(anyhow::Error::msg);
        let registry = || self.registry.clone().and_then(register_combine).map_err(anyhow::Error::from);
        let registry = match wrong.map_or_else(registry, Err) {
            Ok(registry) => registry,
            Err(error) => {
                let failure = Failure::new(FailureKind::Configuration, error);
                report(&failure, false);
                return failure.code();
            }
        };
        let context =
            Context { registry: &registry, brokers: &self.brokers, global: &arguments.global, log: &log };
        let result = command::run(&arguments.command, &context);
        let is_logged = result.as_ref().err().is_some_and(|failure| log.print_failure(&failure.render()));
        log.flush();
        match result {
            Ok(ending) => ending.code(),
            Err(failure) => {
                report(&failure, is_logged);
                failure.code()
            }
        }
    }
}

fn register_combine(registry: Registry) -> Result<Registry, RegistryError> {
    let combine = candlewick_rules::combine::entry(registry.clone());
    registry.with_entry(combine)
}

fn print_usage(error: &clap::Error) {
    let text = error.render().ansi().to_string();
    let _ = if error.use_stderr() {
        write!(anstream::stderr(), "{}", sanitize_coloured_lines(&text))
    } else {
        write!(anstream::stdout(), "{}", sanitize_coloured_lines(&text))
    };
}

fn usage_exit_code(error: &clap::Error) -> u8 {
    u8::try_from(error.exit_code()).unwrap_or(2)
}

fn hosted_usage_result(error: &clap::Error, output: HostedOutput) -> HostedResult {
    let code = usage_exit_code(error);
    if output == HostedOutput::Printed {
        print_usage(error);
    }
    let text = sanitize_lines(&error.render().to_string()).into_owned();
    let (output, failure) = match code {
        0 => (text, None),
        _ => (String::new(), Some(HostedFailure { message: text.trim_end().to_owned(), help: None })),
    };
    HostedResult { code, output, failure }
}

fn with_counterpart_hint(mut error: clap::Error) -> clap::Error {
    if let Some(hint) = find_counterpart_hint(&error) {
        // Removes clap's suggestion, because its usage line is about the similarly spelled argument or command.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::Usage);
        let hint = vec![StyledStr::from(hint.to_owned())];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(hint));
    }
    error
}

fn find_counterpart_hint(error: &clap::Error) -> Option<&'static str> {
    let (context, kind) = match error.kind() {
        ErrorKind::UnknownArgument => (AliasContext::Flag, ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand if is_top_level_error(error) => {
            (AliasContext::Command, ContextKind::InvalidSubcommand)
        }
        _ => return None,
    };
    let Some(ContextValue::String(invalid)) = error.get(kind) else { return None };
    find_alias_targets(context, invalid).next().map(AliasTarget::text)
}

fn is_top_level_error(error: &clap::Error) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    usage.split_whitespace().nth(2).is_some_and(|next| next.starts_with(['[', '<']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn help_has_every_exit_code_and_an_example_of_each_command() {
        fn check(command: &clap::Command) {
            let example = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(example.contains("candlewick "), "{} has no example", command.get_name());
            command.get_subcommands().filter(|inner| inner.get_name() != "help").for_each(check);
        }
        let command = Arguments::command();
        command.clone().debug_assert();
        check(&command);
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for code in [0, 1, 2, 3, 4, 5, 6, 7, 8, 130] {
            let is_line_of_code = |line: &str| line.trim_start().starts_with(&format!("{code} "));
            assert!(help.lines().any(is_line_of_code), "{code}: {help}");
        }
    }

    #[test]
    fn suggests_the_counterpart_of_other_programs_commands_and_flags() {
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
            (&["backtset"], "'backtest'", "`candlewick"),
            (&["backtest", "--confg", "a.toml"], "a similar argument exists: '--config'", "[[bots]]"),
        ] {
            let command = crate::app::Arguments::command();
            let error = command.try_get_matches_from(["candlewick"].iter().chain(arguments)).unwrap_err();
            let rendered = with_counterpart_hint(error).render().to_string();
            let text = rendered.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_refused = text.contains("unrecognized subcommand") || text.contains("unexpected argument");
            assert!(is_refused && text.contains(expected) && !text.contains(spelling), "{rendered}");
        }
    }
}
