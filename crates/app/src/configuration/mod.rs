//! Configuration types, and loading from files, environment and flags.

mod blackouts;
mod check;
mod layer;
mod load;
mod notify;
mod problem;
mod secret;
mod sections;
mod show;
mod signals;
mod suggest;

pub use layer::{FileKind, Flag};
pub use load::{BaseLayer, LoadedConfig, RealMoneyRequest, check_reload};
pub(crate) use notify::notify_section_problems;
pub use notify::{AlertEvent, AlertSeverity, ChannelKind, ChannelSettings, NotifySettings};
pub use problem::{Problem, ProblemKind, Problems};
#[cfg(feature = "notify")]
pub(crate) use secret::read_private_file;
pub use secret::{check_secrets, configured_secrets, credentials, token_source};
pub use sections::{
    ControlSettings, DataSettings, HeartbeatSettings, LogFormat, LogSettings, MetricsSettings, control_paths,
    journal_url, make_parent_folder, monitoring_problems,
};
pub(crate) use sections::{asset_types, bot_asset_type, make_state_folder, state_folder};
pub(crate) use show::toml_key;
pub use show::{schema, to_json, to_toml};
pub use signals::{DateOrder, SignalSettings, signal_problems};
pub(crate) use signals::{Network, WebhookSecret};

use crate::evidence::EvidenceSettings;
use candlewick_broker::Account;
use candlewick_engine::{BotSettings, RiskSettings};
use candlewick_runtime::RuntimeSettings;
use candlewick_sandbox::SandboxSettings;
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_simulator::SimulationSettings;
use problem::KeyPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Configuration of the program. Paths are relative to the working directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Venue connection.
    pub broker: BrokerSettings,
    /// Trading account.
    pub account: AccountSettings,
    /// Settings of the simulated venue.
    pub simulation: SimulationSettings,
    /// Risk rules that are checked before each trade.
    pub risk: RiskSettings,
    /// Polling intervals and timeouts of live runs.
    pub runtime: RuntimeSettings,
    /// Journal of all events of a run.
    pub journal: JournalSettings,
    /// Socket and file for commands to a running bot.
    pub control: ControlSettings,
    /// Log format.
    pub log: LogSettings,
    /// Prometheus metrics of live runs.
    pub metrics: MetricsSettings,
    /// Heartbeat requests to a monitoring service.
    pub heartbeat: HeartbeatSettings,
    /// Alerts from live runs.
    pub notify: NotifySettings,
    /// Sources of external signals.
    pub signals: SignalSettings,
    /// Candle storage.
    pub data: DataSettings,
    /// Sealed candles and the evidence ledger.
    pub evidence: EvidenceSettings,
    /// Embedded or standalone sandbox venue.
    pub sandbox: SandboxSettings,
    /// Bots to run.
    #[schemars(with = "Vec<sections::BotSection>")]
    pub bots: Vec<BotSettings>,
}

/// The `[broker]` section: client settings, and files with credentials. Credentials can also be set in the
/// environment (`CANDLEWICK_BROKER__API_TOKEN`, `CANDLEWICK_BROKER__API_KEY`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))] // serde cannot reject keys next to a flattened struct
pub struct BrokerSettings {
    /// Connection to the venue.
    #[serde(flatten)]
    pub client: candlewick_api::Settings,
    /// File with the token of the trading API. Only its owner may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_token_file: Option<PathBuf>,
    /// File with the key of the price API. Only its owner may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
}

/// The `[account]` section: wallet, initial balance and decimal places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSettings {
    /// Wallet to trade with.
    pub mode: Mode,
    /// Initial balance for backtests, paper runs and sandbox runs.
    #[schemars(with = "f64", range(min = 0.0))]
    pub initial_balance: Decimal,
    /// Number of decimal places in wallet amounts.
    #[schemars(with = "u32", range(max = 8))]
    pub money_scale: MoneyScale,
}

/// Wallet to trade with: demo or real money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Demo wallet.
    #[default]
    Demo,
    /// Real money. Requires both `CANDLEWICK_ALLOW_REAL=yes` and `--real`.
    Real,
}

/// The `[journal]` section: database for the events of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// URL of the journal database.
    pub url: String,
}

impl Mode {
    pub(crate) const fn account(self) -> Account {
        match self {
            Self::Demo => Account::Demo,
            Self::Real => Account::Real,
        }
    }
}

impl Default for AccountSettings {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            initial_balance: Decimal::from(10_000),
            money_scale: MoneyScale::default(),
        }
    }
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self { url: "sqlite://candlewick.db".to_owned() }
    }
}
