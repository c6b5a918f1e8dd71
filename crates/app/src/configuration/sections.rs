//! Configuration sections: bots, control, data, log, metrics and heartbeat.

use super::secret::mask_path;
use super::{LoadedConfig, Problem};
use crate::error::Result;
use candlewick_engine::BotSettings;
use candlewick_history::{FileCache, expected_asset_type};
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::{ControlPaths, HaltFile};
use candlewick_sdk::{CoverageRule, Symbol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Schema of a `[[bots]]` section, which is parsed as [`BotSettings`] with venue-specific keys.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) struct BotSection {
    #[serde(flatten)]
    bot: BotSettings,
    /// Asset type of the symbol: `crypto`, `forex`, `otc` or another type of the venue.
    /// Default: `forex` for a currency pair, `otc` for a name with the suffix `.OTC`, else `crypto`.
    #[serde(default)]
    asset_type: String,
}

const ASSET_TYPE: &str = "asset_type";

pub(super) fn fill_asset_type(bot: &mut BotSettings) {
    let usual = expected_asset_type(bot.symbol).as_str();
    bot.venue.entry(ASSET_TYPE.to_owned()).or_insert_with(|| usual.into());
}

pub(crate) fn bot_asset_type(bot: &BotSettings) -> &str {
    bot.venue
        .get(ASSET_TYPE)
        .and_then(Value::as_str)
        .unwrap_or_else(|| expected_asset_type(bot.symbol).as_str())
}

pub(crate) fn asset_types(bots: &[BotSettings]) -> BTreeMap<Symbol, String> {
    bots.iter().rev().map(|bot| (bot.symbol, bot_asset_type(bot).to_owned())).collect()
}

/// The `[control]` section: socket and halt file of a bot. For the journal `sqlite://candlewick.db`, the defaults are
/// `candlewick.db.sock` and `candlewick.db.HALT`. For a journal on a database server, they are `NAME-HASH.sock` and
/// `NAME-HASH.HALT` in `$XDG_STATE_HOME/candlewick` or `~/.local/state/candlewick`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ControlSettings {
    /// Socket for `halt`, `resume` and `resolve` commands to a running bot. Only its owner has access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// File whose existence halts the bot, both at startup and while running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halt_file: Option<PathBuf>,
}

pub fn journal_url(loaded: &LoadedConfig) -> Result<JournalUrl, Problem> {
    loaded.config.journal.url.parse().map_err(|error: candlewick_journal::JournalError| {
        // Omits the value, which may contain a password.
        loaded.problem("journal.url", error.to_string())
    })
}

pub fn control_paths(loaded: &LoadedConfig) -> Result<ControlPaths> {
    let url = journal_url(loaded)?;
    let ControlSettings { socket, halt_file } = loaded.config.control.clone();
    let defaults = ControlPaths::for_journal(&control_base_path(&url));
    Ok(ControlPaths {
        socket: socket.unwrap_or(defaults.socket),
        halt_file: halt_file.map_or(defaults.halt_file, HaltFile::new),
    })
}

/// Returns the base path of the control files: the journal file or, for a database server, a path in the state folder.
fn control_base_path(url: &JournalUrl) -> PathBuf {
    let database = || {
        let shown = url.to_string();
        let name = shown.rsplit('/').next().unwrap_or_default();
        let hash = blake3::hash(shown.as_bytes()).to_hex();
        state_folder().unwrap_or_default().join(format!("{name}-{}", &hash[..8]))
    };
    url.file().map_or_else(database, Path::to_owned)
}

fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = path(variable).or_else(|| Some(path("HOME")?.join(below_home)));
    folder.map(|folder| folder.join("candlewick"))
}

/// Returns `$XDG_STATE_HOME/candlewick` or `~/.local/state/candlewick`.
/// `None` if neither variable is set, or if the path is relative.
pub(crate) fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state").filter(|folder| folder.is_absolute())
}

/// Creates the parent folder of `path` if that is the state folder. Other folders must already exist.
pub fn make_parent_folder(path: &Path) -> io::Result<()> {
    let is_in_it = state_folder().is_some_and(|folder| path.parent() == Some(&folder));
    if is_in_it { make_state_folder() } else { Ok(()) }
}

pub(crate) fn make_state_folder() -> io::Result<()> {
    let folder = state_folder().ok_or(io::ErrorKind::NotFound)?;
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The `[data]` section: folders for candles, cache and state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataSettings {
    /// Folder of the candle catalog. Backtests use the catalog unless you name files.
    pub catalog: PathBuf,
    /// Cache folder for parsed candle files and copies from object storage. Empty: no cache.
    /// Default: `$XDG_CACHE_HOME/candlewick` or `~/.cache/candlewick`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
    /// Minimum coverage of a resampled candle by shorter candles, in percent of its market hours.
    /// A candle with less coverage is not built.
    pub longer_share_percent: f64,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self {
            catalog: PathBuf::from("data"),
            cache: None,
            longer_share_percent: CoverageRule::DEFAULT_SHARE_PERCENT,
        }
    }
}

impl DataSettings {
    pub fn file_cache(&self) -> Option<FileCache> {
        self.cache_folder().map(FileCache::new)
    }

    pub fn copies_folder(&self) -> PathBuf {
        let usual = || std::env::temp_dir().join("candlewick");
        self.cache_folder().unwrap_or_else(usual).join("objects")
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        match &self.cache {
            Some(folder) if folder.as_os_str().is_empty() => None,
            Some(folder) => Some(folder.clone()),
            None => user_folder("XDG_CACHE_HOME", ".cache"),
        }
    }
}

/// The `[log]` section: format of the program log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Log format on stderr for `live`, `paper`, `sandbox` and `dashboard`.
    pub format: LogFormat,
}

/// Log format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line. In this format, runs also log all events except candles.
    Json,
}

/// The `[metrics]` section: endpoints `/metrics` (Prometheus), `/healthz` and `/readyz` of live runs.
/// Requires a program built with `--features metrics` or `full`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsSettings {
    /// Address to serve on, such as `127.0.0.1:9184`. Default: disabled. Port 0 selects a free port.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// Whether other machines may reach `listen`. They can then see balance, profit and bot names.
    pub allow_remote: bool,
    /// Host names to accept in requests, in addition to addresses and `localhost`.
    /// Requests with other host names are rejected, to prevent DNS rebinding by web pages.
    pub allowed_hosts: Vec<String>,
}

/// The `[heartbeat]` section: regular requests to a monitoring service, which raises an alarm when they stop.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HeartbeatSettings {
    /// URL that receives regular GET requests while the run is healthy. Default: disabled.
    /// The path is treated as a secret, and redirects are not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Interval between requests, in seconds of real time.
    #[schemars(range(min = 1, max = 86_400))]
    pub every_s: u32,
}

impl Default for HeartbeatSettings {
    fn default() -> Self {
        Self { url: None, every_s: 60 }
    }
}

impl fmt::Debug for HeartbeatSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.as_deref().map(mask_path);
        f.debug_struct("HeartbeatSettings").field("url", &url).field("every_s", &self.every_s).finish()
    }
}

pub fn monitoring_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let (metrics, heartbeat) = (&loaded.config.metrics, &loaded.config.heartbeat);
    let mut problems = Vec::new();
    if let Some(listen) = metrics.listen {
        let key = "metrics.listen";
        if !cfg!(feature = "metrics") {
            let problem = "this program was built without metrics; build it with --features metrics or full";
            problems.push(loaded.problem(key, problem));
        }
        if !listen.ip().is_loopback() && !metrics.allow_remote {
            let problem = "other machines can reach this address and read balance, profit and bot names; use 127.0.0.1, or set \
                           metrics.allow_remote = true";
            problems.push(loaded.problem(key, problem).with_value(format!("\"{listen}\"")));
        }
    }
    if let Some(url) = &heartbeat.url
        && !(url.starts_with("https://") || url.starts_with("http://"))
    {
        problems.push(loaded.problem("heartbeat.url", "use an address that begins with https:// or http://"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fills_in_the_default_asset_type() {
        for (symbol, written, recorded) in [
            ("BTCUSDT", None, "crypto"),
            ("EURUSD", None, "forex"),
            ("EURUSD.OTC", None, "otc"),
            ("EURUSD", Some("crypto"), "crypto"),
        ] {
            let mut section = json!({ "name": "a", "symbol": symbol, "interval": "1m", "strategy": "s", "close_type": "01:00" });
            let written = written.map(|kind| ("asset_type".to_owned(), kind.into()));
            section.as_object_mut().unwrap().extend(written);
            let mut bot: BotSettings = serde_json::from_value(section).unwrap();
            fill_asset_type(&mut bot);
            assert_eq!(serde_json::to_value(&bot).unwrap()["asset_type"], recorded);
            assert_eq!(asset_types(&[bot])[&symbol.parse().unwrap()], recorded);
        }
    }

    #[test]
    fn control_files_are_next_to_the_journal_or_in_the_state_folder() {
        let of = |url: &str| control_base_path(&url.parse().unwrap());
        for file in ["candlewick.db", "/var/lib/bot/demo.db"] {
            assert_eq!(of(&format!("sqlite://{file}")), Path::new(file));
        }
        let server = of("postgres://ann:secret@db:5433/trading?sslmode=require");
        assert_eq!(server, of("postgres://ann:other@db:5433/trading"), "without the password");
        assert_ne!(server, of("postgres://ann@db2:5433/trading"), "of two servers");
        let named = server.to_string_lossy();
        assert!(server.is_absolute() && named.contains("candlewick/trading-"), "{named}");
    }

    fn check(text: &str, expected: &[&str]) {
        let mut problems = monitoring_problems(&LoadedConfig::from_text(text).unwrap());
        problems.retain(|problem| !problem.complaint.contains("built without"));
        crate::tests::assert_problems(&problems, expected);
    }

    #[test]
    fn rejects_remote_addresses_without_allow_remote() {
        check("", &[]);
        for listen in ["127.0.0.1:9184", "[::1]:0"] {
            check(&format!("[metrics]\nlisten = \"{listen}\""), &[]);
        }
        for listen in ["0.0.0.0:9184", "192.0.2.7:9184", "[::]:9184"] {
            check(&format!("[metrics]\nlisten = \"{listen}\""), &["allow_remote"]);
            check(&format!("[metrics]\nlisten = \"{listen}\"\nallow_remote = true"), &[]);
        }
        check("[heartbeat]\nurl = \"ftp://example.org\"", &["heartbeat.url"]);
        check("[heartbeat]\nurl = \"https://example.org/ping\"", &[]);
    }

    #[test]
    fn never_shows_the_path_of_the_heartbeat() {
        let url = "https://ann:hush@ping.example/b1f5-secret?key=secret".to_owned();
        let shown = format!("{:?}", HeartbeatSettings { url: Some(url), every_s: 60 });
        assert!(shown.contains("https://ping.example/********") && shown.contains("60"), "{shown}");
        assert!(!shown.contains("secret") && !shown.contains("hush"), "{shown}");
    }
}
