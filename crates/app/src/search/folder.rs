//! The folder of a sweep or a walk: the journals of its trials, and the results when all have run.

use crate::error::AppError;
use candlewick_backtest::BacktestSettings;
use candlewick_engine::BotSettings;
use candlewick_history::write_whole_file;
use candlewick_sdk::ExpirationType;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, SweepSettings, TrialJournal};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Everything that decides the trials of a sweep and their order.
pub struct Identity<'a> {
    /// The hash of the code: another program, whatever version it says it is, may make other trials of the rest.
    pub program: String,
    /// The bot, the risk rules, the venue.
    pub settings: &'a BacktestSettings,
    /// Name and version.
    pub strategy: (&'a str, &'a str),
    /// Over the candles.
    pub data_hash: &'a str,
    /// As they were given.
    pub parameters: &'a [String],
    /// As they were given.
    pub conditions: &'a [String],
    /// The files that parameters name, each with the hash of what is in it.
    pub files: BTreeMap<String, String>,
    /// The search.
    pub sweep: &'a SweepSettings,
}

/// A folder that exists.
pub struct ResultFolder(PathBuf);

impl Identity<'_> {
    /// As it stands at the head of a journal.
    pub fn to_json(&self) -> Value {
        let SweepSettings { search, objective, min_trades, halving } = self.sweep;
        json!({
            "program": self.program,
            "strategy": self.strategy,
            "data_hash": self.data_hash,
            "parameters": self.parameters,
            "conditions": self.conditions,
            "files": self.files,
            "search": search.search.as_str(),
            "trials": search.trials,
            "seed": search.seed,
            "objective": objective.as_str(),
            "min_trades": min_trades,
            "halving": [halving.keep_one_in(), halving.rungs()],
            "settings": self.settings,
        })
    }
}

impl ResultFolder {
    /// Makes the folder where there is none.
    pub fn open(path: &Path) -> Result<Self, AppError> {
        fs::create_dir_all(path).map_err(|error| unwritable(path, error))?;
        Ok(Self(path.to_owned()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The journal of this name in it, and the trials that have run.
    ///
    /// # Errors
    /// As [`TrialJournal::open`].
    pub fn journal(&self, name: &str, identity: &Value) -> Result<(TrialJournal, Vec<Record>), SearchError> {
        TrialJournal::open(&self.0.join(name), identity)
    }

    /// Writes a file; it is there whole or not at all.
    pub fn put(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<PathBuf, AppError> {
        let path = self.0.join(name);
        let mut bytes = Vec::new();
        let written = fill(&mut bytes).and_then(|()| write_whole_file(&path, |file| file.write_all(&bytes)));
        written.map_err(|error| unwritable(&path, error))?;
        Ok(path)
    }
}

/// The best set as a configuration that is laid over the one that was searched. What was not searched stays as it
/// is written.
///
/// # Errors
/// Parameters that TOML cannot hold.
pub fn best_bot(written: &Value, bot: &BotSettings) -> Result<String, AppError> {
    let mut best = written.clone();
    best["params"] = bot.params.clone();
    best["close_type"] = json!(bot.close_type);
    if bot.expiration_type != ExpirationType::Unstated {
        best["expiration_type"] = json!(bot.expiration_type);
    }
    let text = toml::to_string(&json!({ "bots": [best] }));
    let text = text.map_err(|error| AppError::system("the best set is no TOML", error))?;
    Ok(format!("# The best set of a sweep: candlewick backtest --config ... --config best.toml\n{text}"))
}

fn unwritable(path: &Path, error: io::Error) -> AppError {
    let problem = format!("--out: cannot write {}", path.display());
    AppError::invalid(problem).because(error)
}
