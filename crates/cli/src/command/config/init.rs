//! `config init`: a first configuration, from a few answers.

use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::print;
use anyhow::Context as _;
use candlewick_app::AppError;
use candlewick_app::configuration::{Base, Loaded, Problems, RealMoney};
use candlewick_app::inspection::{notices_of_stakes, problems_of};
use candlewick_history::known_market;
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

const TEMPLATE: &str = include_str!("template.toml");

/// What the file is to say.
#[derive(Debug, Args)]
#[command(
    after_help = "At a terminal it asks for what is not given; elsewhere, and with --defaults, it takes defaults and says which.\n\nExamples:\n  candlewick config init\n  \
                  candlewick config init my.toml --defaults\n  candlewick config init eur.toml --symbol EURUSD --interval 5m --expiry 15:00"
)]
pub(crate) struct InitArguments {
    /// The file; one that is there is left alone
    #[arg(default_value = "candlewick.toml")]
    file: PathBuf,
    /// Ask nothing
    #[arg(long)]
    defaults: bool,
    /// What is traded, such as BTCUSDT
    #[arg(long)]
    symbol: Option<String>,
    /// Candles that the strategy sees, such as 1m
    #[arg(long)]
    interval: Option<String>,
    /// A strategy of `strategy list`
    #[arg(long)]
    strategy: Option<String>,
    /// Length of a trade, minutes and seconds
    #[arg(long)]
    expiry: Option<String>,
    /// Stake of each trade
    #[arg(long)]
    stake: Option<String>,
    /// What a win pays, in percent of the stake
    #[arg(long)]
    payout: Option<String>,
}

pub(super) fn run(arguments: &InitArguments, context: &Context<'_>) -> Result<(), Failure> {
    let file = &arguments.file;
    if file.exists() {
        return Err(Failure::configuration(format!(
            "{} exists already: name another file, or move it away",
            file.display()
        )));
    }
    let asks = !arguments.defaults && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut taken = Vec::new();
    let mut answer = |(option, given): (&str, &Option<String>), question: &str, usual: &str| match given {
        Some(given) => Ok(given.clone()),
        None if asks => ask(question, usual),
        None => {
            taken.push(format!("--{option} {usual}"));
            Ok(usual.to_owned())
        }
    };
    let strategies: Vec<&str> = context.registry.entries().iter().map(|entry| entry.name.as_str()).collect();
    let symbol = answer(("symbol", &arguments.symbol), "Symbol", "BTCUSDT")?;
    let interval = answer(("interval", &arguments.interval), "Candles (1s, 5s, 1m, 5m, 1h, ...)", "1m")?;
    let first = strategies.first().copied().unwrap_or_default();
    let usual = strategies.iter().copied().find(|name| *name == "rsi-reversal").unwrap_or(first);
    let strategy =
        answer(("strategy", &arguments.strategy), &format!("Strategy ({})", strategies.join(", ")), usual)?;
    let expiry = answer(("expiry", &arguments.expiry), "Length of a trade (minutes:seconds)", "01:00")?;
    let stake = answer(("stake", &arguments.stake), "Stake of a trade", "1.0")?;
    let payout = answer(("payout", &arguments.payout), "What a win pays, in percent of the stake", "80.0")?;
    for (what, text) in [("stake", &stake), ("payout", &payout)] {
        if !text.parse().is_ok_and(f64::is_finite) {
            return Err(Failure::configuration(format!(
                "the {what} \"{text}\" is no number: write one such as 10.0"
            )));
        }
    }
    let asset_type = if symbol.ends_with("USDT") { "crypto" } else { "forex" };
    let name = format!("{}-{strategy}", symbol.to_lowercase());
    let daily_loss =
        stake.parse::<f64>().map_or_else(|_| stake.clone(), |stake| format!("{:?}", stake * 20.0));
    let text = filled(&[
        ("file", &file.display().to_string()),
        ("payout", &payout),
        ("ticks", &ticks_of(&symbol)),
        ("daily_loss", &daily_loss),
        ("name", &name),
        ("symbol", &symbol),
        ("asset_type", asset_type),
        ("interval", &interval),
        ("strategy", &strategy),
        ("expiry", &expiry),
        ("stake", &stake),
    ]);
    check(&text, file, context)?;
    candlewick_history::write_whole_file(file, |to| to.write_all(text.as_bytes()))
        .with_context(|| format!("{} cannot be written", file.display()))
        .map_err(unwritable)?;
    let shown = file.display();
    if !taken.is_empty() {
        let taken = taken.join(" ");
        print(&format!(
            "Not asked for, so taken by default: {taken}\nThese options set them, and so do the lines of the file."
        ))?;
    }
    print(&format!(
        "{shown} is written. Next:\n  candlewick backtest --config {shown}\n  candlewick live --sandbox --config {shown}"
    ))
}

/// The section of price steps, where the symbol's is known: prices inside of a candle are rounded to it, as a venue's are.
fn ticks_of(symbol: &str) -> String {
    let known = symbol.parse().ok().and_then(known_market);
    known.map_or_else(String::new, |market| {
        format!(
            "\n# The smallest step of its prices: those inside of a candle are rounded to it.\n[simulation.ticks]\n{symbol:?} = {}\n",
            market.tick
        )
    })
}

fn unwritable(error: anyhow::Error) -> Failure {
    Failure::new(FailureKind::Configuration, error)
}

/// The template with each `{name}` replaced.
fn filled(values: &[(&str, &str)]) -> String {
    values.iter().fold(TEMPLATE.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// One line from the terminal; nothing typed is the usual answer.
fn ask(question: &str, usual: &str) -> Result<String, Failure> {
    let mut line = String::new();
    let mut questions = anstream::stderr();
    let read = write!(questions, "{question} [{usual}]: ")
        .and_then(|()| questions.flush())
        .and_then(|()| std::io::stdin().lock().read_line(&mut line));
    read.context("the terminal cannot be read; --defaults asks nothing").map_err(unwritable)?;
    let typed = line.trim();
    Ok(if typed.is_empty() { usual.to_owned() } else { typed.to_owned() })
}

/// Holds the answers to what `config check` holds a configuration to, before anything is written.
fn check(text: &str, file: &Path, context: &Context<'_>) -> Result<(), Failure> {
    // Beside the file that it is to become: what cannot be written there is found here.
    let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new().prefix(".candlewick-").tempdir_in(beside);
    let folder =
        folder.with_context(|| format!("{} cannot be written", file.display())).map_err(unwritable)?;
    let draft = folder.path().join(file.file_name().unwrap_or_default());
    std::fs::write(&draft, text)
        .with_context(|| format!("{} cannot be written", file.display()))
        .map_err(unwritable)?;
    check_draft(&draft, context).map_err(|error| match error {
        // The draft is gone when they are read.
        AppError::Configuration(problems) => AppError::from(problems.of_file(&draft, file)).into(),
        error => error.into(),
    })
}

fn check_draft(draft: &PathBuf, context: &Context<'_>) -> Result<(), AppError> {
    let loaded = Loaded::read(std::slice::from_ref(draft), Base::Sandbox, Vec::new())?;
    Problems::check(problems_of(&loaded, RealMoney::NotAsked, context.registry))?;
    notices_of_stakes(&loaded).map_err(Problems::from)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_symbol_has_the_step_of_its_prices_and_another_none() {
        let step = |symbol: &str| ticks_of(symbol).lines().last().map(str::to_owned);
        assert_eq!(step("EURUSD").as_deref(), Some("\"EURUSD\" = 0.00001"));
        assert_eq!(step("BTCUSDT").as_deref(), Some("\"BTCUSDT\" = 0.01"));
        assert_eq!(step("WHATEVER"), None);
    }

    #[test]
    fn every_place_of_the_template_is_filled_and_nothing_else() {
        let names = [
            "file",
            "payout",
            "ticks",
            "daily_loss",
            "name",
            "symbol",
            "asset_type",
            "interval",
            "strategy",
            "expiry",
            "stake",
        ];
        let text = filled(&names.map(|name| (name, "7")));
        assert!(names.iter().all(|name| !text.contains(&format!("{{{name}}}"))), "{text}");
        assert!(
            text.contains("params = {}") && text.contains("stake = { kind = \"fixed\", amount = 7 }"),
            "{text}"
        );
    }
}
