//! The configuration: its types, and loading from files, environment and flags.

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
pub use load::{Base, Loaded, RealMoney, check_reload};
pub(crate) use notify::section_problems;
pub use notify::{AlertEvent, AlertSeverity, ChannelKind, ChannelSettings, NotifySettings};
pub use problem::{Problem, ProblemKind, Problems};
#[cfg(feature = "notify")]
pub(crate) use secret::read_private_file;
pub use secret::{check_secrets, credentials, given as given_secrets, token_source};
pub use sections::{
    ControlSettings, DataSettings, HeartbeatSettings, LogFormat, LogSettings, MetricsSettings,
    VariantSettings, control_paths, journal_url, make_folder_of, monitoring_problems,
};
pub(crate) use sections::{asset_type_of_bot, asset_types, make_state_folder, state_folder};
pub(crate) use show::key as toml_key;
pub use show::{schema, to_json, to_toml};
pub use signals::{DateOrder, SignalSettings, signal_problems};
pub(crate) use signals::{Network, WebhookSecret};

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

/// Everything that can be configured. Paths in it are relative to the working directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the venue is and how to speak to it.
    pub broker: BrokerSettings,
    /// Whose money, and how much.
    pub account: AccountSettings,
    /// How the simulated venue opens, prices and settles.
    pub simulation: SimulationSettings,
    /// The rules before every open.
    pub risk: RiskSettings,
    /// How a live run polls and waits.
    pub runtime: RuntimeSettings,
    /// Where events are recorded.
    pub journal: JournalSettings,
    /// Where a running bot takes orders.
    pub control: ControlSettings,
    /// How the log is written.
    pub log: LogSettings,
    /// Figures of a live run for a scraper.
    pub metrics: MetricsSettings,
    /// A sign of life to an address of the user's.
    pub heartbeat: HeartbeatSettings,
    /// Alerts of a live run, and where they go.
    pub notify: NotifySettings,
    /// The doors by which signals come from outside.
    pub signals: SignalSettings,
    /// Where candles stay.
    pub data: DataSettings,
    /// Where tried variants are counted.
    pub variants: VariantSettings,
    /// The embedded or standalone venue.
    pub sandbox: SandboxSettings,
    /// The bots, in their order.
    #[schemars(with = "Vec<sections::BotSection>")]
    pub bots: Vec<BotSettings>,
}

/// The `[broker]` section: the settings of the client, and where its credentials are. The credentials themselves
/// come from the environment (`CANDLEWICK_BROKER__API_TOKEN`, `CANDLEWICK_BROKER__API_KEY`) or from these files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))] // serde cannot refuse keys beside a flattened struct
pub struct BrokerSettings {
    /// Where the venue is and how to speak to it.
    #[serde(flatten)]
    pub client: candlewick_api::Settings,
    /// File that holds the token of the trading token API; only its owner may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_token_file: Option<PathBuf>,
    /// File that holds the key of the symbol price API; only its owner may read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
}

/// The `[account]` section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AccountSettings {
    /// Which wallet is traded.
    pub mode: Mode,
    /// The balance at the start, for backtest, paper and sandbox.
    #[schemars(with = "f64", range(min = 0.0))]
    pub initial_balance: Decimal,
    /// How many decimals the wallet keeps.
    #[schemars(with = "u32", range(max = 8))]
    pub money_scale: MoneyScale,
}

/// Which wallet is traded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The demo wallet.
    #[default]
    Demo,
    /// Real money; refused unless `CANDLEWICK_ALLOW_REAL=yes` and `--real` are both given.
    Real,
}

/// The `[journal]` section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// The database.
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
