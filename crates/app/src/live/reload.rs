//! Reload of a run's settings: full validation, then a check against the run and its open trades.

use super::journal_session::restore_forgotten_trades;
use super::start_checks::check_ladders;
use crate::bots::session_settings;
use crate::configuration::{Config, LoadedConfig, check_reload};
use crate::error::{AppError, Result};
use crate::lints::idle_blackout_notice;
use crate::search::hash_bot_files;
use candlewick_broker::clock::Clock;
use candlewick_engine::{SessionSettings, check_stakes};
use candlewick_journal::JournalUrl;
use candlewick_runtime::{NewSettings, ReloadInput, RequestDemand, RuntimeSettings, SettingsReader};
use candlewick_sdk::escape_hidden;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Maximum number of changed files listed in a reply, which must be short.
const MAX_LISTED_FILES: usize = 3;
const MAX_NAME_CHARS: usize = 40;

pub type ConfigurationReader = Box<dyn Fn() -> Result<LoadedConfig> + Send + Sync>;

pub(super) struct ReloadContext {
    config: Config,
    wants_prices: Vec<bool>,
    files: BTreeMap<String, String>,
    requests_per_second: f64,
    runtime: RuntimeSettings,
    journal: Option<JournalUrl>,
    settings: SessionSettings,
    clock: Arc<dyn Clock>,
}

impl ReloadContext {
    pub(super) fn new(
        loaded: &LoadedConfig,
        wants_prices: &[bool],
        (settings, runtime): (&SessionSettings, &RuntimeSettings),
        (journal, clock): (Option<&JournalUrl>, &Arc<dyn Clock>),
        requests_per_second: f64,
    ) -> Result<Self> {
        Ok(Self {
            config: loaded.config.clone(),
            wants_prices: wants_prices.to_vec(),
            files: hash_bot_files(&loaded.config.bots)?,
            requests_per_second,
            runtime: runtime.clone(),
            journal: journal.cloned(),
            settings: settings.clone(),
            clock: Arc::clone(clock),
        })
    }

    pub(super) fn into_settings_reader(self, read: ConfigurationReader) -> SettingsReader {
        Arc::new(move |standing: &ReloadInput| {
            let loaded = read().map_err(|error| to_one_line(&error))?;
            // Runs in a thread that may block.
            let completion = restore_forgotten_trades(standing, self.journal.as_ref(), &self.settings);
            let standing = Handle::current().block_on(completion).map_err(|error| to_one_line(&error))?;
            self.validate(&loaded, &standing).map_err(|error| to_one_line(&error))
        })
    }

    fn validate(&self, loaded: &LoadedConfig, standing: &ReloadInput) -> Result<NewSettings> {
        check_reload(&self.config, loaded)?;
        let settings = self.build_settings(loaded);
        check_stakes(&settings)?;
        check_ladders(&settings, standing, &loaded.config.simulation)?;
        let (mut runtime, risk) = (loaded.config.runtime.clone(), settings.risk);
        let (configured, venue) = (&self.config.runtime, &self.runtime);
        // Keeps the longer timeouts of an embedded venue, and its fewer audits if stress moves its prices.
        runtime.stop_patience_s = runtime
            .stop_patience_s
            .saturating_add(venue.stop_patience_s.saturating_sub(configured.stop_patience_s));
        runtime.interrupt_patience_s = scale_timeout(
            runtime.interrupt_patience_s,
            venue.interrupt_patience_s,
            configured.interrupt_patience_s,
        );
        runtime.audit_settlement_prices &=
            venue.audit_settlement_prices || !configured.audit_settlement_prices;
        if self.requests_per_second > 0.0 {
            let demand = RequestDemand::new(&runtime, &risk, &settings.bots, &self.wants_prices)
                .with_stream(self.config.broker.client.stream);
            runtime.rate_limit_warning = demand.describe_shortage(self.requests_per_second);
        }
        let mut kept = self.describe_changed_files()?;
        kept.extend(idle_blackout_notice(loaded, self.clock.now()));
        Ok(NewSettings { risk, runtime, unreloaded_inputs: kept })
    }

    fn describe_changed_files(&self) -> Result<Vec<String>> {
        let now = hash_bot_files(&self.config.bots)?;
        let changed = self.files.iter().filter(|(name, hash)| now.get(*name) != Some(*hash));
        let words = |name: &str| {
            let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
            let name: String = escape_hidden(&name).chars().take(MAX_NAME_CHARS).collect();
            format!("{name} has changed since the start: restart the bot to use the new file")
        };
        Ok(changed.take(MAX_LISTED_FILES).map(|(name, _)| words(name)).collect())
    }

    /// Builds the new settings, but keeps the current bots, because the state of the run refers to bots by index.
    fn build_settings(&self, loaded: &LoadedConfig) -> SessionSettings {
        let bots = self.config.bots.clone();
        SessionSettings { balance: self.settings.balance, bots, ..session_settings(loaded) }
    }
}

fn to_one_line(error: &AppError) -> String {
    let text = error.text();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

fn scale_timeout(seconds: u32, venue: u32, configured: u32) -> u32 {
    let longer = u64::from(seconds) * u64::from(venue) / u64::from(configured.max(1));
    u32::try_from(longer).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::{BaseLayer, Flag};
    use candlewick_broker::clock::SystemClock;
    use candlewick_sdk::rust_decimal::Decimal;

    fn loaded(bots: [(&str, u32); 2], risk: &str) -> LoadedConfig {
        let bot = |(name, stake): (&str, u32)| {
            format!(
                "[[bots]]\nname = \"{name}\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rsi-reversal\"\n\
                 close_type = \"01:00\"\nstake = {{ kind = \"fixed\", amount = {stake} }}\n"
            )
        };
        LoadedConfig::from_text(&format!("{risk}\n{}", bots.map(bot).concat())).unwrap()
    }

    fn running(config: Config, files: BTreeMap<String, String>) -> ReloadContext {
        let runtime = config.runtime.clone();
        ReloadContext {
            config,
            wants_prices: vec![false; 2],
            files,
            requests_per_second: 0.0,
            runtime,
            journal: None,
            clock: Arc::new(SystemClock::new()),
            settings: SessionSettings {
                balance: Decimal::from(70),
                ..session_settings(&loaded([("a", 1), ("b", 2)], ""))
            },
        }
    }

    #[test]
    fn reports_files_changed_since_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("up.toml");
        std::fs::write(&file, "buy = 'close > 1'").unwrap();
        let mut config = loaded([("a", 1), ("b", 2)], "").config;
        config.bots[0].params = serde_json::json!({ "file": file.to_str() });
        let files = hash_bot_files(&config.bots).unwrap();
        let running = running(config, files);
        assert_eq!(running.describe_changed_files().unwrap(), [""; 0]);
        let told = ["up.toml has changed since the start: restart the bot to use the new file"];
        std::fs::write(&file, "buy = 'close > 2'").unwrap();
        assert_eq!(running.describe_changed_files().unwrap(), told);
        std::fs::write(&file, "buy = 'close > 1'").unwrap();
        assert_eq!(running.describe_changed_files().unwrap(), [""; 0], "as it was");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(running.describe_changed_files().unwrap(), told);
    }

    #[test]
    fn answers_have_no_line_breaks() {
        let gone =
            LoadedConfig::read(&["missing.toml".into()], BaseLayer::Bare, Vec::<Flag>::new()).unwrap_err();
        assert!(gone.text().contains('\n'), "{}", gone.text());
        let line = to_one_line(&gone);
        assert!(!line.contains('\n') && line.contains("missing.toml") && line.contains("; "), "{line}");
    }

    #[test]
    fn rejects_the_same_limits_as_a_start() {
        let configured = loaded([("a", 10), ("b", 20)], "");
        let mut running = running(configured.config.clone(), BTreeMap::new());
        running.settings = session_settings(&configured);
        let free = candlewick_sdk::Money::from_minor(1_000_000);
        let standing =
            ReloadInput { free_balance: free, payouts: vec![None; 2], rows: Vec::new(), forgotten_trades: 0 };
        for limits in ["max_stake = 15", "min_stake = 11", "daily_loss_limit = 5"] {
            let new = loaded([("a", 10), ("b", 20)], &format!("[risk]\n{limits}"));
            let at_start = check_stakes(&session_settings(&new)).unwrap_err().to_string();
            assert!(at_start.contains("can never trade"), "{at_start}");
            let at_reload = running.validate(&new, &standing).unwrap_err().to_string();
            assert_eq!(at_reload, at_start, "{limits}");
        }
        let sound = loaded([("a", 10), ("b", 20)], "[risk]\nmax_stake = 20");
        assert!(running.validate(&sound, &standing).is_ok());
    }

    #[test]
    fn compares_reordered_bots_by_name() {
        let running = running(loaded([("a", 1), ("b", 2)], "").config, BTreeMap::new());
        let turned = loaded([("b", 2), ("a", 1)], "[risk]\nmax_open_trades = 1");
        check_reload(&running.config, &turned).unwrap();
        let settings = running.build_settings(&turned);
        assert_eq!(settings.bots, running.config.bots);
        assert_eq!((settings.balance, settings.risk.max_open_trades), (Decimal::from(70), 1));
    }
}
