//! `data list`: lists the contents of the catalog.

use super::CatalogArgument;
use crate::context::Context;
use crate::failure::{Failure, fail_with_last};
use crate::output::show_as;
use candlewick_app::data::CatalogContents;
use clap::Args;

/// Which catalog.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick data list\n  candlewick data list --catalog /srv/candles --json"
)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    catalog: CatalogArgument,
}

pub(super) fn run(arguments: &ListArguments, context: &Context<'_>) -> Result<(), Failure> {
    let contents = CatalogContents::read(&arguments.catalog.open(context)?)?;
    show_as(&contents.document(), || contents.to_string(), context.global)?;
    fail_with_last(contents.unreadable.into_iter().map(Failure::from).collect())
}
