//! Files named by parameters, whose content determines trials as much as the parameters do.

use crate::error::AppError;
use candlewick_engine::BotSettings;
use candlewick_search::sweep::Space;
use candlewick_search::variants::files_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::iter::once;

/// Returns the content hash of each file named in a parameter.
///
/// Texts that name no file are ignored.
///
/// # Errors
/// An existing file that cannot be read.
pub fn files_of_bots(bots: &[BotSettings]) -> Result<BTreeMap<String, String>, AppError> {
    hashes_of(bots.iter().map(|bot| &bot.params))
}

pub(super) fn named_files(bots: &[BotSettings], space: &Space) -> Result<BTreeMap<String, String>, AppError> {
    let searched = space.axes().iter().filter_map(|axis| axis.listed()).flatten();
    let texts = json!(searched.map(ToString::to_string).collect::<Vec<_>>());
    hashes_of(bots.iter().map(|bot| &bot.params).chain(once(&texts)))
}

fn hashes_of<'a>(values: impl Iterator<Item = &'a Value>) -> Result<BTreeMap<String, String>, AppError> {
    files_of(values).map_err(|(name, error)| {
        let problem = format!("{name}: the file that a parameter names cannot be read");
        AppError::invalid(problem).because(error)
    })
}
