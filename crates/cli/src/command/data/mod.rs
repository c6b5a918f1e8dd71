//! `data`: commands for stored candles.

mod check;
mod export;
mod fetch;
mod generate;
mod import;
mod list;
mod reading;

use crate::context::Context;
use crate::failure::{Ending, Failure};
use crate::interrupt::end_on_sign;
use candlewick_app::configuration::{Base, Flag, Loaded};
use candlewick_app::data::Existing;
use candlewick_history::Catalog;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Import, check and manage stored candles.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  candlewick data generate --symbol BTCUSDT --days 14")]
pub(crate) enum DataCommand {
    /// Bring the venue's candles into the catalog, or record its prices
    Fetch(fetch::FetchArguments),
    /// Bring candles of other programs and sources into the catalog
    Import(import::ImportArguments),
    /// Find what is wrong with candles: gaps, doubles, impossible prices, spikes and more
    Check(check::CheckArguments),
    /// Show what the catalog holds
    List(list::ListArguments),
    /// Write candles of the catalog, or of a file, as CSV or Parquet
    Export(export::ExportArguments),
    /// Make synthetic candles from a seed; they say nothing about a strategy's profit
    Generate(generate::GenerateArguments),
}

/// The catalog that a command works on.
#[derive(Debug, Args)]
pub(crate) struct CatalogArgument {
    /// Folder of the catalog; data.catalog of the configuration when left out
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
}

impl CatalogArgument {
    fn load(&self, context: &Context<'_>) -> Result<Loaded, Failure> {
        let flag = Flag::new("--catalog", "data", "catalog", self.catalog.as_ref());
        Ok(Loaded::read(&context.global.config, Base::Bare, flag.into_iter().collect())?)
    }

    fn open(&self, context: &Context<'_>) -> Result<Catalog, Failure> {
        Ok(Catalog::new(self.load(context)?.config.data.catalog))
    }
}

const fn existing(force: bool) -> Existing {
    if force { Existing::Replaced } else { Existing::Kept }
}

pub(super) fn run(command: &DataCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    // A fetch puts what came into the catalog before it ends, and a list writes nothing.
    if !matches!(command, DataCommand::Fetch(_) | DataCommand::List(_)) {
        end_on_sign()?;
    }
    match command {
        DataCommand::Fetch(arguments) => return fetch::run(arguments, context),
        DataCommand::Import(arguments) => import::run(arguments, context)?,
        DataCommand::Check(arguments) => check::run(arguments, context)?,
        DataCommand::List(arguments) => list::run(arguments, context)?,
        DataCommand::Export(arguments) => export::run(arguments, context)?,
        DataCommand::Generate(arguments) => generate::run(arguments, context)?,
    }
    Ok(Ending::Done)
}
