//! Result folder of a search. If the folder is on object storage, complete files are uploaded.

use super::PreparedSearch;
use crate::bots::declared_durations;
use crate::candles::built_in_steps;
use crate::error::{AppError, Result};
use crate::storage::{RemoteFolder, is_storage_url};
use candlewick_engine::BotSettings;
use candlewick_history::write_whole_file;
use candlewick_sdk::ExpirationType;
use candlewick_search::SearchError;
use candlewick_search::sweep::{Record, TrialJournal};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub struct ResultFolder {
    here: PathBuf,
    remote: Option<RemoteFolder>,
}

impl ResultFolder {
    pub fn open(path: &Path) -> Result<Self> {
        if is_storage_url(path) {
            let remote = RemoteFolder::open(path)?;
            return Ok(Self { here: remote.local_folder().to_owned(), remote: Some(remote) });
        }
        fs::create_dir_all(path).map_err(|error| to_write_error(path, error))?;
        Ok(Self { here: path.to_owned(), remote: None })
    }

    pub fn display_path(&self) -> PathBuf {
        self.remote.as_ref().map_or_else(|| self.here.clone(), RemoteFolder::display_path)
    }

    /// Returns the local path of a file, downloading it if necessary. The file may not exist.
    pub fn download(&self, name: &str) -> Result<PathBuf> {
        if let Some(remote) = &self.remote {
            remote.download(name)?;
        }
        Ok(self.here.join(name))
    }

    /// Uploads a finished file. If another machine has uploaded the file first, keeps that file and returns a notice.
    pub fn upload(&self, name: &str) -> Result<Option<String>> {
        let Some(remote) = &self.remote else { return Ok(None) };
        let place = remote.display_path().join(name);
        let others = || format!("{}: kept the file that a faster run uploaded", place.display());
        Ok((!remote.upload_if_unchanged(name)?).then(others))
    }

    pub fn records(&self, name: &str, identity: &Value) -> Result<Vec<Record>, SearchError> {
        TrialJournal::read_records(&self.here.join(name), identity)
            .map_err(|error| self.with_path(name, error))
    }

    pub fn journal(&self, name: &str, identity: &Value) -> Result<(TrialJournal, Vec<Record>), SearchError> {
        TrialJournal::open(&self.here.join(name), identity).map_err(|error| self.with_path(name, error))
    }

    fn with_path(&self, name: &str, error: SearchError) -> SearchError {
        match error {
            SearchError::OtherSweep { problem, .. } => {
                SearchError::OtherSweep { path: self.display_path().join(name), problem }
            }
            other => other,
        }
    }

    /// Writes a shard atomically. An existing shard is not replaced.
    pub(super) fn write_shard(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<PathBuf> {
        let path = self.write(name, fill)?.0;
        let Some(remote) = &self.remote else { return Ok(path) };
        // A shard of a faster run has the same rows, since they depend only on the plan. Merging verifies the rows.
        remote.upload_if_unchanged(name)?;
        Ok(remote.display_path().join(name))
    }

    pub fn put(&self, name: &str, fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<PathBuf> {
        let (path, bytes) = self.write(name, fill)?;
        let Some(remote) = &self.remote else { return Ok(path) };
        remote.put(name, bytes)?;
        Ok(remote.display_path().join(name))
    }

    fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> Result<(PathBuf, Vec<u8>)> {
        let path = self.here.join(name);
        let mut bytes = Vec::new();
        let written = fill(&mut bytes).and_then(|()| write_whole_file(&path, |file| file.write_all(&bytes)));
        written.map_err(|error| to_write_error(&path, error))?;
        Ok((path, bytes))
    }
}

/// Renders the best bot as a configuration overlay. Includes the built-in price steps that the search used.
pub fn render_best_bot(prepared: &PreparedSearch<'_>, bot: &BotSettings) -> Result<String> {
    let mut best = prepared.configured_bot.clone();
    best["params"] = bot.params.clone();
    best["close_type"] = json!(bot.close_type);
    if bot.expiration_type != ExpirationType::Unstated {
        best["expiration_type"] = json!(bot.expiration_type);
    }
    let text = toml::to_string(&json!({ "bots": [best] }));
    let text = text.map_err(|error| AppError::system("cannot write the best parameters as TOML", error))?;
    let own: Vec<String> = declared_durations(bot, &prepared.entry).iter().map(ToString::to_string).collect();
    let own = match own.as_slice() {
        [] => String::new(),
        own => format!(
            "# Trades last {}, as set by the strategy; close_type applies to external signals only.\n",
            own.join(" or ")
        ),
    };
    let steps = match built_in_steps(&prepared.loaded).as_slice() {
        [] => String::new(),
        steps => format!("\n[simulation.ticks]\n{}\n", steps.join("\n")),
    };
    Ok(format!(
        "# Best parameter set of a sweep. To use it, add it to your configuration: --config ... --config best.toml\n\
         # The best of many sets is partly luck. Test it on sealed candles with `candlewick confirm`.\n{own}{text}{steps}"
    ))
}

fn to_write_error(path: &Path, error: io::Error) -> AppError {
    let problem = format!("--out: cannot write {}", path.display());
    AppError::invalid(problem).with_source(error)
}
