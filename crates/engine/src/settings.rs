//! What a Session is made from.

use crate::{RiskSettings, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    BuildError, CloseType, ExpirationType, Expiry, Interval, MoneyError, MoneyScale, Series, Symbol,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One bot: a strategy on a series, with an expiry and a stake. A section `[[bots]]` of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BotSettings {
    /// Its name, unique among the bots.
    pub name: String,
    /// The trading pair.
    #[schemars(with = "String")]
    pub symbol: Symbol,
    /// The interval of its candles, such as `1m`.
    #[schemars(with = "String")]
    pub interval: Interval,
    /// The strategy's name.
    pub strategy: String,
    /// The duration code of its trades, such as `01:00`.
    #[schemars(with = "String")]
    pub close_type: CloseType,
    /// `TIME_FIXED`, `CANDLE_CLOSE` or `NEXT_CANDLE`; none is sent when it is left out.
    #[serde(default, skip_serializing_if = "is_unstated")]
    #[schemars(with = "Option<String>")]
    pub expiration_type: ExpirationType,
    /// The strategy's parameters.
    #[serde(default = "empty_object")]
    pub params: Value,
    /// How much it stakes.
    #[serde(default)]
    pub stake: StakeSettings,
    /// Further keys, which only the adapter of a venue reads: the engine records them and reads none. Which are allowed, the
    /// configuration says that has them.
    #[serde(flatten)]
    #[schemars(skip)]
    pub venue: BTreeMap<String, Value>,
}

/// Everything a Session is made from, besides the strategies themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSettings {
    /// How many decimals the wallet keeps.
    pub money_scale: MoneyScale,
    /// The balance at the start.
    pub balance: Decimal,
    /// The rules before every open.
    pub risk: RiskSettings,
    /// The bots, in their order.
    pub bots: Vec<BotSettings>,
}

impl SessionSettings {
    /// The blake3 hash of all of them, in hexadecimal: a journal folded under the same settings comes to the same.
    ///
    /// # Errors
    /// None in practice: settings are always JSON.
    pub fn fingerprint(&self) -> Result<String, serde_json::Error> {
        Ok(blake3::hash(&serde_json::to_vec(self)?).to_hex().to_string())
    }
}

/// Why a Session cannot be made from its settings.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Correct the value of this key.
    #[error("{key}: {problem}")]
    Setting {
        /// The key, as in the configuration.
        key: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// Correct this amount.
    #[error("{key}: {source}")]
    Amount {
        /// The key, as in the configuration.
        key: String,
        /// What is wrong with it.
        source: MoneyError,
    },
    /// Correct the bot's strategy.
    #[error("bot \"{bot}\": {source}")]
    Strategy {
        /// Which bot.
        bot: String,
        /// What its strategy says.
        source: BuildError,
    },
}

impl BotSettings {
    /// The series it listens to.
    pub const fn series(&self) -> Series {
        Series { symbol: self.symbol, interval: self.interval }
    }

    /// The expiry of its trades.
    pub const fn expiry(&self) -> Expiry {
        Expiry { close_type: self.close_type, expiration_type: self.expiration_type }
    }
}

impl EngineError {
    pub(crate) fn setting(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), problem: problem.into() }
    }
}

fn empty_object() -> Value {
    Value::Object(serde_json::Map::new())
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands a reference
fn is_unstated(expiration_type: &ExpirationType) -> bool {
    *expiration_type == ExpirationType::Unstated
}
