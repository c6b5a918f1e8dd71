//! The `[data]` section: storage of candles.

use candlewick_history::FileCache;
use candlewick_sdk::LongerRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The `[data]` section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// The folder of the catalog. Bots whose series it holds are backtested on them unless files are named.
    pub catalog: PathBuf,
    /// The folder of parsed copies of candle files that are named by path, and of copies of those that lie on object storage. Left out: `candlewick` in
    /// `$XDG_CACHE_HOME` or in `~/.cache`; empty: none are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
    /// The folder of what must not be forgotten about this project: which hold-outs were opened, and how long the ledger
    /// of variants is.
    pub state: PathBuf,
    /// Minimum share of the time in which its market trades that a longer candle needs of shorter ones, in percent: one with fewer is not
    /// built. 100 needs all.
    pub longer_share_percent: f64,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self {
            catalog: PathBuf::from("data"),
            cache: None,
            state: PathBuf::from(".candlewick"),
            longer_share_percent: LongerRule::USUAL_PERCENT,
        }
    }
}

impl DataSettings {
    pub fn file_cache(&self) -> Option<FileCache> {
        self.cache_folder().map(FileCache::new)
    }

    pub fn objects(&self) -> PathBuf {
        let usual = || std::env::temp_dir().join("candlewick");
        self.cache_folder().unwrap_or_else(usual).join("objects")
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
