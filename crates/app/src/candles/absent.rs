//! Errors and hints about candles missing from the catalog or the configured files.

use super::load::{serves, stored_for};
use super::market::{absence, meant};
use super::name::{DataName, names};
use crate::configuration::Loaded;
use crate::error::AppError;
use crate::nearby::describe_nearby;
use crate::shell::shell_word;
use candlewick_engine::BotSettings;
use candlewick_history::{Catalog, HistoryError, Manifest};
use candlewick_sdk::{Series, Symbol, nearest};
use std::io::ErrorKind;
use std::path::Path;

fn what_there_is(folder: &Path, wanted: &str) -> String {
    let catalog = Catalog::new(folder);
    let all: Vec<Series> = catalog.series().unwrap_or_default();
    if all.is_empty() {
        return "it is empty; `candlewick data fetch` fills it from the venue, `candlewick data import` from files"
            .to_owned();
    }
    let names: Vec<String> = all.iter().map(|series| series.symbol.to_string()).collect();
    let symbol = wanted.split(' ').next().unwrap_or_default();
    let near = nearest(symbol, names.iter().map(String::as_str));
    let of_symbol: Vec<&Series> =
        all.iter().filter(|series| near.is_some_and(|near| near == series.symbol.as_str())).collect();
    let there: Vec<String> = all.iter().map(|series| argument_of(&catalog, *series)).collect();
    let meant =
        of_symbol.first().map(|series| format!("; did you mean {}@{}?", series.symbol, series.interval));
    format!("it holds {}{}", there.join(", "), meant.unwrap_or_default())
}

pub(crate) fn meant_in_catalog(text: &str, catalog: &Catalog) -> Option<AppError> {
    if Path::new(text).exists() || Symbol::new(text).is_err() {
        return None;
    }
    let all = catalog.series().ok()?;
    let there = all.iter().filter(|series| series.symbol.as_str().eq_ignore_ascii_case(text));
    let there: Vec<String> = there.map(|series| format!("{}@{}", series.symbol, series.interval)).collect();
    let folder = catalog.folder().display();
    let first = there.first()?;
    let problem = format!("{text} is no file; the catalog {folder} holds {}", there.join(", "));
    Some(AppError::data(problem).help(format!("did you mean {first}?")))
}

fn argument_of(catalog: &Catalog, series: Series) -> String {
    let Series { symbol, interval } = series;
    // A broken manifest has an error of its own.
    let manifest: Option<Manifest> = catalog.manifest(series).ok().flatten();
    let versions = manifest.map(|manifest| manifest.versions).unwrap_or_default();
    if versions.len() < 2 {
        return format!("{symbol}@{interval}");
    }
    let numbers: Vec<String> = versions.iter().map(|version| version.number.to_string()).collect();
    format!("{symbol}@{interval} in versions {}", numbers.join(", "))
}

pub(crate) fn bots_without_candles(loaded: &Loaded) -> Vec<String> {
    // What is no name of a file has a message of its own.
    let names = names(&loaded.config.sandbox.data).unwrap_or_default();
    let (names, there, place) = if names.is_empty() {
        let folder = &loaded.config.data.catalog;
        let catalog = Catalog::new(folder);
        // A catalog that cannot be read has an error of its own where candles are needed.
        let all: Vec<Series> = catalog.series().unwrap_or_default();
        if all.is_empty() || loaded.has_built_in_bots() {
            return Vec::new();
        }
        let stored = stored_for(&catalog, &loaded.config.bots).unwrap_or_default();
        (stored, all, format!("the catalog {}", folder.display()))
    } else {
        let there = names.iter().map(DataName::series).collect();
        (names, there, "sandbox.data".to_owned())
    };
    let without = loaded.config.bots.iter().filter(|bot| !serves(&names, bot));
    let words = |bot: &BotSettings| {
        let absence = absence(bot, &there, &place);
        let meant = meant(bot.series(), &there).map_or_else(|| ".".to_owned(), |meant| format!("; {meant}"));
        format!("{absence}{meant} A backtest and live --sandbox refuse to start so")
    };
    without.map(words).collect()
}

pub fn help_for_history(error: &HistoryError) -> Option<String> {
    match error {
        HistoryError::NotInCatalog { folder, what } => Some(what_there_is(folder, what)),
        // The first line is the header, which no repair takes out.
        HistoryError::InvalidLine { path, line: 2.., .. } => Some(format!(
            "`candlewick data check {}` lists all that is wrong with it; with --fix it writes a copy without such lines",
            shell_word(&path.display().to_string())
        )),
        HistoryError::Io { path, action, source } if source.kind() == ErrorKind::NotFound => {
            help_for_missing(path, action)
        }
        _ => None,
    }
}

fn help_for_missing(path: &Path, action: &str) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match action {
        "write" if !folder.exists() => Some(format!("make the folder {} first", folder.display())),
        "open" | "read" if folder.join("manifest.json").exists() => {
            Some("bring the file back, or delete the series' folder and fetch or import it anew".to_owned())
        }
        "open" | "read" => Some(format!(
            "{} without --data `candlewick backtest` and `candlewick live --sandbox` use synthetic candles",
            describe_nearby(path, &["csv", "parquet"])
        )),
        _ => None,
    }
}
