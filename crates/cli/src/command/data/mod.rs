//! `data`: candles at rest.

mod generate;

use super::Context;
use crate::failure::{Ending, Failure};
use clap::Subcommand;

/// Candles at rest.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick data generate --symbol BTCUSDT --days 14")]
pub(crate) enum DataCommand {
    /// Make synthetic candles from a seed; they say nothing about a strategy's profit
    Generate(generate::GenerateArguments),
}

pub(super) fn run(command: &DataCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        DataCommand::Generate(arguments) => generate::run(arguments, context)?,
    }
    Ok(Ending::Done)
}
