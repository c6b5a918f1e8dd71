//! The folder of a sweep or a walk: the journals of its trials, and the results when all have run. It lies on this machine, or on object
//! storage; then its files are worked on in a folder of this machine, and put there when they are whole.

use super::PreparedSearch;
use crate::bots::own_durations_of;
use crate::candles::built_in_steps;
use crate::error::AppError;
use crate::storage::{RemoteFolder, is_address};
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
pub struct ResultFolder {
    /// Where its files are worked on.
    here: PathBuf,
    /// Where they are put, if that is elsewhere.
    remote: Option<RemoteFolder>,
}

impl Identity<'_> {
    /// As it stands at the head of a journal.
    pub fn to_json(&self) -> Value {
        let SweepSettings { search, objective, min_trades, halving } = self.sweep;
        let mut identity = json!({
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
        });
        if search.search.learns() {
            identity["batch"] = json!(search.batch);
        }
        identity
    }
}

impl ResultFolder {
    /// Makes the folder where there is none; an address is one of object storage.
    ///
    /// # Errors
    /// It cannot be made; an address that is none, or a program without object storage.
    pub fn open(path: &Path) -> Result<Self, AppError> {
        if is_address(path) {
            let remote = RemoteFolder::open(path)?;
            return Ok(Self { here: remote.here().to_owned(), remote: Some(remote) });
        }
        fs::create_dir_all(path).map_err(|error| unwritable(path, error))?;
        Ok(Self { here: path.to_owned(), remote: None })
    }

    /// Where it is, as it was named.
    pub fn shown(&self) -> PathBuf {
        self.remote.as_ref().map_or_else(|| self.here.clone(), RemoteFolder::shown)
    }

    /// A file of it on this machine, which is brought here where it lies elsewhere; whether there is one shows when it is opened.
    ///
    /// # Errors
    /// The storage refuses it or cannot be reached.
    pub fn bring(&self, name: &str) -> Result<PathBuf, AppError> {
        if let Some(remote) = &self.remote {
            remote.bring(name)?;
        }
        Ok(self.here.join(name))
    }

    /// Puts a file that was worked on in its place; nothing has to be done where that is this machine. What is to be said, where somebody
    /// else was faster: their file stays.
    ///
    /// # Errors
    /// The storage refuses it or cannot be reached.
    pub fn keep(&self, name: &str) -> Result<Option<String>, AppError> {
        let Some(remote) = &self.remote else { return Ok(None) };
        let place = remote.shown().join(name);
        let others = || format!("{}: another run was faster, and its file stays", place.display());
        Ok((!remote.keep(name)?).then(others))
    }

    /// The trials that have run in the journal of this name, which has to be brought before.
    ///
    /// # Errors
    /// As [`TrialJournal::records`].
    pub fn records(&self, name: &str, identity: &Value) -> Result<Vec<Record>, SearchError> {
        TrialJournal::records(&self.here.join(name), identity).map_err(|error| self.named(name, error))
    }

    /// The journal of this name in it, and the trials that have run. It has to be brought before, and kept when it is whole.
    ///
    /// # Errors
    /// As [`TrialJournal::open`].
    pub fn journal(&self, name: &str, identity: &Value) -> Result<(TrialJournal, Vec<Record>), SearchError> {
        TrialJournal::open(&self.here.join(name), identity).map_err(|error| self.named(name, error))
    }

    /// Names the file as the user knows it.
    fn named(&self, name: &str, error: SearchError) -> SearchError {
        match error {
            SearchError::OtherSweep { problem, .. } => {
                SearchError::OtherSweep { path: self.shown().join(name), problem }
            }
            other => other,
        }
    }

    /// Writes a shard; it is there whole or not at all, and nothing changes where it is there already.
    pub(super) fn put_shard(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<PathBuf, AppError> {
        let path = self.write(name, fill)?.0;
        let Some(remote) = &self.remote else { return Ok(path) };
        // Whoever was faster put the same: rows follow from the plan alone, and what is merged is held to it.
        remote.keep(name)?;
        Ok(remote.shown().join(name))
    }

    /// Writes a file; it is there whole or not at all.
    pub fn put(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<PathBuf, AppError> {
        let (path, bytes) = self.write(name, fill)?;
        let Some(remote) = &self.remote else { return Ok(path) };
        remote.put(name, bytes)?;
        Ok(remote.shown().join(name))
    }

    /// Writes a file of this machine; where, and what.
    fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<(PathBuf, Vec<u8>), AppError> {
        let path = self.here.join(name);
        let mut bytes = Vec::new();
        let written = fill(&mut bytes).and_then(|()| write_whole_file(&path, |file| file.write_all(&bytes)));
        written.map_err(|error| unwritable(&path, error))?;
        Ok((path, bytes))
    }
}

/// The best set as a configuration that is laid over the one that was searched. What was not searched stays as it
/// is written, the price steps that hold without a configuration with it; where the strategy names durations of its own, a comment says
/// them, since the bot's is not that of its trades.
///
/// # Errors
/// Parameters that TOML cannot hold.
pub fn best_bot(prepared: &PreparedSearch<'_>, bot: &BotSettings) -> Result<String, AppError> {
    let mut best = prepared.written.clone();
    best["params"] = bot.params.clone();
    best["close_type"] = json!(bot.close_type);
    if bot.expiration_type != ExpirationType::Unstated {
        best["expiration_type"] = json!(bot.expiration_type);
    }
    let text = toml::to_string(&json!({ "bots": [best] }));
    let text = text.map_err(|error| AppError::system("the best set is no TOML", error))?;
    let own: Vec<String> = own_durations_of(bot, &prepared.entry).iter().map(ToString::to_string).collect();
    let own = match own.as_slice() {
        [] => String::new(),
        own => format!(
            "# Trades last {}: the strategy names that itself, and close_type is for signals from outside.\n",
            own.join(" or ")
        ),
    };
    let steps = match built_in_steps(&prepared.loaded).as_slice() {
        [] => String::new(),
        steps => format!("\n[simulation.ticks]\n{}\n", steps.join("\n")),
    };
    Ok(format!(
        "# The best set of a sweep: candlewick backtest --config ... --config best.toml\n{own}{text}{steps}"
    ))
}

fn unwritable(path: &Path, error: io::Error) -> AppError {
    let problem = format!("--out: cannot write {}", path.display());
    AppError::invalid(problem).because(error)
}
