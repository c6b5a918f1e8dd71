//! The `[data]` section: where candles stay.

use crate::result_cache::ResultCache;
use candlewick_history::FileCache;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The `[data]` section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// The folder of the catalog. Bots whose series it holds are backtested on them unless files are named.
    pub catalog: PathBuf,
    /// The folder of parsed copies of candle files that are named by path, and of results. Left out: `candlewick` in
    /// `$XDG_CACHE_HOME` or in `~/.cache`; empty: none are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
    /// Results of backtests that show strategies at least so many candles are kept; shorter ones are made sooner
    /// than they are found.
    pub cache_results_from: u64,
    /// The folder of what must not be forgotten about this project: which hold-outs were opened.
    pub state: PathBuf,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self {
            catalog: PathBuf::from("data"),
            cache: None,
            cache_results_from: 1_000_000,
            state: PathBuf::from(".candlewick"),
        }
    }
}

impl DataSettings {
    /// The copies of candle files, unless none are kept.
    pub(crate) fn file_cache(&self) -> Option<FileCache> {
        self.cache_folder().map(FileCache::new)
    }

    /// The results of backtests, unless none are kept.
    pub(crate) fn result_cache(&self) -> Option<ResultCache> {
        self.cache_folder().map(|folder| ResultCache::new(folder.join("results")))
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let usual = || variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
        match &self.cache {
            Some(folder) if folder.as_os_str().is_empty() => None,
            Some(folder) => Some(folder.clone()),
            None => usual().map(|folder| folder.join("candlewick")),
        }
    }
}
