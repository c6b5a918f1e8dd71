//! `data list`: what the catalog holds.

use super::{CatalogArgument, tell_broken};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print, print_json, table};
use candlewick_history::{Manifest, Version};
use candlewick_records::utc;
use clap::Args;
use serde_json::{Value, json};

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
    let catalog = arguments.catalog.open(context)?;
    let (mut manifests, mut broken) = (Vec::new(), Vec::new());
    for series in catalog.series()? {
        match catalog.manifest(series) {
            Ok(manifest) => manifests.extend(manifest),
            Err(error) => broken.push(Failure::from(error)),
        }
    }
    let rows = manifests.iter().filter_map(|manifest| Some((manifest, manifest.current()?)));
    if context.global.json {
        print_json(&rows.map(|(manifest, version)| to_json(manifest, version)).collect::<Vec<_>>())?;
        return tell_broken(broken);
    }
    if manifests.is_empty() && broken.is_empty() {
        let folder = catalog.folder().display();
        return print(&format!(
            "{folder}: the catalog is empty; `candlewick data fetch` fills it from the venue, `candlewick data import` from files"
        ));
    }
    let mut table = table(["Symbol", "Interval", "From", "To", "Candles", "Missing", "Revised", "Source"]);
    for (manifest, version) in rows {
        let sources: Vec<&str> = manifest.origins.iter().map(|origin| origin.source.as_str()).collect();
        table.add_row([
            manifest.symbol.to_string(),
            manifest.interval.to_string(),
            utc(version.start()),
            utc(version.end()),
            version.candles().to_string(),
            manifest.missing_candles(version).to_string(),
            manifest.revised().to_string(),
            sources.join(", "),
        ]);
    }
    print(&table.to_string())?;
    tell_broken(broken)
}

fn to_json(manifest: &Manifest, version: &Version) -> Value {
    let versions = manifest.versions.iter().map(|version| {
        json!({ "number": version.number, "note": version.note, "candles": version.candles(), "data_hash": version.data_hash })
    });
    json!({
        "symbol": manifest.symbol,
        "interval": manifest.interval,
        "start": version.start(),
        "end": version.end(),
        "candles": version.candles(),
        "missing": manifest.missing_candles(version),
        "revised": manifest.revised(),
        "data_hash": version.data_hash,
        "version": version.number,
        "versions": versions.collect::<Vec<_>>(),
        "origins": manifest.origins,
    })
}
