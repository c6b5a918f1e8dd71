//! The files that parameters name: what is in them decides trials as much as the parameters do.

use crate::error::AppError;
use candlewick_engine::BotSettings;
use candlewick_search::sweep::Space;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

/// The hash of each file that a text among the parameters names, searched or not. A text that names none is none.
///
/// # Errors
/// A file is there and cannot be read.
pub(super) fn named_files(bots: &[BotSettings], space: &Space) -> Result<BTreeMap<String, String>, AppError> {
    let fixed = bots.iter().filter_map(|bot| bot.params.as_object()).flat_map(|params| params.values());
    let fixed = fixed.filter_map(Value::as_str).map(str::to_owned);
    let searched = space.axes().iter().filter_map(|axis| axis.listed()).flatten();
    let texts: BTreeSet<String> = fixed.chain(searched.map(ToString::to_string)).collect();
    let files = texts.into_iter().filter(|text| Path::new(text).is_file());
    files.map(|name| hash(Path::new(&name)).map(|hash| (name, hash))).collect()
}

fn hash(path: &Path) -> Result<String, AppError> {
    let mut hasher = blake3::Hasher::new();
    let read = File::open(path).and_then(|file| hasher.update_reader(file).map(|_| ()));
    read.map_err(|error| {
        let problem = format!("{}: the file that a parameter names cannot be read", path.display());
        AppError::invalid(problem).because(error)
    })?;
    Ok(hasher.finalize().to_hex().to_string())
}
