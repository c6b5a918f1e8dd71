//! Registry of running bots with file journals. Commands use it to find bots that were started in other folders.

use super::reach::live_lease;
use crate::configuration::{LoadedConfig, journal_url, make_state_folder, state_folder};
use crate::error::{AppError, Result};
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::ControlPaths;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const ENTRY_EXTENSION: &str = "bot";
const MAX_ENTRIES: usize = 1_000;
const MAX_ENTRY_BYTES: u64 = 64 * 1_024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RunningBot {
    process: u32,
    configuration: Vec<PathBuf>,
    journal: PathBuf,
    socket: PathBuf,
    halt_file: PathBuf,
}

#[derive(Debug)]
pub(crate) struct RunningBotEntry {
    path: PathBuf,
    bot: RunningBot,
}

impl RunningBotEntry {
    /// Registers a bot that has a file journal, so that commands in any folder find it. Failures are logged.
    pub(crate) fn register(loaded: &LoadedConfig, paths: &ControlPaths) -> Option<Self> {
        let journal = journal_url(loaded).ok()?.file()?.to_owned();
        let entry = build_entry(&journal, loaded, paths).and_then(|entry| entry.write().map(|()| entry));
        match entry {
            Ok(entry) => Some(entry),
            Err(error) => {
                tracing::warn!(%error, "bot not registered; commands in other folders need its journal path");
                None
            }
        }
    }

    fn write(&self) -> io::Result<()> {
        make_state_folder()?;
        let folder = self.path.parent().ok_or(io::ErrorKind::NotFound)?;
        remove_stale_entries(folder);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut file, &self.bot)?;
        file.flush()?;
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

impl Drop for RunningBotEntry {
    fn drop(&mut self) {
        // Another process may hold the journal by now.
        if read_entry(&self.path).as_ref() == Some(&self.bot) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn build_entry(journal: &Path, loaded: &LoadedConfig, paths: &ControlPaths) -> io::Result<RunningBotEntry> {
    let journal = full_path(journal)?;
    let hash = blake3::hash(journal.as_os_str().as_encoded_bytes()).to_hex();
    let name = journal.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = state_folder().ok_or_else(|| io::Error::other("this user has no state folder"))?;
    Ok(RunningBotEntry {
        path: folder.join(format!("{name}-{}.{ENTRY_EXTENSION}", &hash[..8])),
        bot: RunningBot {
            process: std::process::id(),
            configuration: loaded.files().iter().filter(|file| file.is_file()).cloned().collect(),
            socket: resolve_folder(&paths.socket)?,
            halt_file: resolve_folder(paths.halt_file.path())?,
            journal,
        },
    })
}

/// Sets the journal, socket and halt file in `loaded` to those of the running bot with the same configuration files.
/// Leaves `loaded` unchanged if a bot runs on the journal in this folder, or if the environment names a journal.
pub async fn use_running_bot_paths(loaded: &mut LoadedConfig) -> Result<()> {
    let named = journal_url(loaded)?;
    // An absolute path needs no search.
    let Some(file) = named.file().filter(|file| file.is_relative()) else { return Ok(()) };
    let files = loaded.files();
    let is_named = !files.is_empty() && files.iter().all(|file| file.is_file());
    if !is_named || loaded.is_from_environment("journal.url") {
        return Ok(());
    }
    let here = full_path(file).unwrap_or_else(|_| file.to_owned());
    let mut same = live_bots().await;
    same.retain(|bot| bot.configuration == files);
    if same.is_empty() || same.iter().any(|bot| bot.journal == here) {
        return Ok(());
    }
    // If the journal of a bot has another name, the bot was started with --journal.
    if same.len() > 1 || same.iter().any(|bot| !bot.journal.ends_with(file)) {
        return Err(ambiguous_bot_error(same, &here));
    }
    let Some(bot) = same.pop() else { return Ok(()) };
    let Some(journal) = bot.journal.to_str() else { return Ok(()) };
    tracing::info!("a bot with this configuration is already running on {journal}");
    loaded.config.journal.url = format!("sqlite://{journal}");
    loaded.config.control.socket = Some(bot.socket);
    loaded.config.control.halt_file = Some(bot.halt_file);
    Ok(())
}

fn ambiguous_bot_error(bots: Vec<RunningBot>, here: &Path) -> AppError {
    let (count, here) = (bots.len(), here.display());
    let run = if count == 1 { "1 bot runs".to_owned() } else { format!("{count} bots run") };
    let named = list_journal_flags(bots.into_iter().map(|bot| bot.journal));
    AppError::invalid(format!("{run} with this configuration, but on a journal other than {here}; {named}"))
}

pub(super) async fn running_bots_hint() -> Option<String> {
    let journals: Vec<PathBuf> = live_bots().await.into_iter().map(|bot| bot.journal).collect();
    (!journals.is_empty()).then(|| list_journal_flags(journals))
}

fn list_journal_flags(journals: impl IntoIterator<Item = PathBuf>) -> String {
    let named: Vec<String> =
        journals.into_iter().map(|journal| format!("--journal {}", journal.display())).collect();
    format!("choose a bot: {}", named.join(" or "))
}

async fn live_bots() -> Vec<RunningBot> {
    let mut living = Vec::new();
    for bot in state_folder().map(|folder| read_entries(&folder)).unwrap_or_default() {
        let url = JournalUrl::from_path(&bot.journal);
        // Read errors are ignored here, because commands that use an unreadable journal report it.
        let holder = if bot.journal.exists() { live_lease(&url).await } else { Ok(None) };
        // Another, unregistered bot may hold the journal by now.
        if holder.is_ok_and(|held| held.is_some_and(|lease| lease.holder.pid == bot.process)) {
            living.push(bot);
        }
    }
    living.sort_by(|one, other| one.journal.cmp(&other.journal));
    living
}

fn read_entries(folder: &Path) -> Vec<RunningBot> {
    entry_paths(folder).filter_map(|path| read_entry(&path)).collect()
}

fn entry_paths(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == ENTRY_EXTENSION)).take(MAX_ENTRIES)
}

fn remove_stale_entries(folder: &Path) {
    let is_stale = |path: &PathBuf| read_entry(path).is_some_and(|bot| !bot.journal.exists());
    for path in entry_paths(folder).filter(is_stale) {
        let _ = fs::remove_file(path);
    }
}

fn read_entry(path: &Path) -> Option<RunningBot> {
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_ENTRY_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn full_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path))
}

fn resolve_folder(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let (folder, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(full_path(folder)?.join(name))
}
