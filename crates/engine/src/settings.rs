//! Settings of a Session.

use crate::{BotLimitSettings, RiskSettings, SessionLimitSettings, SessionSpan, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    BotContext, BuildError, CloseType, ExpirationType, Expiry, Interval, Millis, Money, MoneyError,
    MoneyScale, Series, Symbol,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Settings of a bot: strategy, series, expiry and stake. Section `[[bots]]` of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BotSettings {
    /// Unique name of the bot, such as `btc-dips`.
    pub name: String,
    /// Trading pair, such as `EURUSD` or `BTCUSDT`.
    #[schemars(with = "String")]
    pub symbol: Symbol,
    /// Interval of the candles, such as `1m`.
    #[schemars(with = "String")]
    pub interval: Interval,
    /// Name of the strategy, such as `rsi-reversal`, or `rules` for a rule defined in `params`.
    pub strategy: String,
    /// Duration of the trades as `MM:SS` or `H:MM:SS`, such as `01:00` or `2:00:00`. Alias: `duration`.
    #[schemars(with = "String")]
    pub close_type: CloseType,
    /// Expiration type: `TIME_FIXED`, `CANDLE_CLOSE` or `NEXT_CANDLE`. Not sent if omitted.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(with = "Option<String>")]
    pub expiration_type: ExpirationType,
    /// Parameters of the strategy, such as `{ period = 10 }`. Omitted parameters have the strategy's defaults.
    #[serde(default = "empty_object")]
    pub params: Value,
    /// Stake in the wallet's currency, such as `{ kind = "fixed", amount = 10.0 }`.
    #[serde(default)]
    pub stake: StakeSettings,
    /// Delay from the decision to the order, in whole seconds, such as `5`. The default is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub entry_delay_s: i64,
    /// Venue-specific keys. The engine only records them; the configuration checks which keys are allowed.
    #[serde(flatten)]
    #[schemars(skip)]
    pub venue: BTreeMap<String, Value>,
}

/// All settings of a Session, except the strategies themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionSettings {
    /// Number of decimals in the wallet's currency.
    pub money_scale: MoneyScale,
    /// Initial balance.
    pub balance: Decimal,
    /// Risk limits, checked before every trade.
    pub risk: RiskSettings,
    /// Settings of the bots, in bot order.
    pub bots: Vec<BotSettings>,
    /// Minimum percentage of a longer candle that the bot's own candles must cover.
    /// Time outside market hours is ignored. `None` requires full coverage, as in earlier journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_share_percent: Option<f64>,
}

impl SessionSettings {
    pub(crate) fn exact_balance(&self) -> Result<Money, EngineError> {
        EngineError::exact_money(self.money_scale, self.balance, "account.initial_balance")
    }

    pub(crate) fn check_longer_share(&self) -> Result<(), EngineError> {
        let percent = self.longer_share_percent.filter(|percent| !(*percent > 0.0 && *percent <= 100.0));
        let Some(percent) = percent else { return Ok(()) };
        let problem = format!("{percent} is out of range; use a percentage above 0 and at most 100");
        Err(EngineError::setting("data.longer_share_percent", problem))
    }

    pub(crate) fn check_bots(&self, strategies: usize) -> Result<(), EngineError> {
        if self.bots.is_empty() {
            return Err(EngineError::setting("bots", "no bots are configured; add a [[bots]] section"));
        }
        if self.bots.len() != strategies {
            let problem = format!("{strategies} strategies were passed for {} bots", self.bots.len());
            return Err(EngineError::setting("bots", problem));
        }
        for (index, bot) in self.bots.iter().enumerate() {
            if bot.name.is_empty() || bot.name.contains([',', '"', '\n', '\r']) {
                let problem = "a bot name cannot be empty or contain a comma, quotation mark or line break";
                return Err(EngineError::setting(format!("bots[{index}].name"), problem));
            }
            if self.bots[..index].iter().any(|other| other.name == bot.name) {
                let problem = format!("\"{}\" is the name of several bots; use unique names", bot.name);
                return Err(EngineError::setting(format!("bots[{index}].name"), problem));
            }
        }
        Ok(())
    }

    /// Returns the blake3 hash, in hexadecimal, of the settings that affect the state folded from a journal.
    /// With equal fingerprints, the folded state is the same. Limits that only affect future trades are excluded.
    /// Strategies and their parameters are also excluded, because the header of each run contains them.
    pub fn fingerprint(&self) -> Result<String, serde_json::Error> {
        let bots = self.bots.iter().cloned().map(BotSettings::without_strategy);
        Self { bots: bots.collect(), ..self.clone() }.legacy_fingerprint()
    }

    /// Returns the fingerprint in the format of earlier versions, which included all bot settings.
    pub fn legacy_fingerprint(&self) -> Result<String, serde_json::Error> {
        let own = &self.risk;
        let by_symbol = own.min_payout_percent_by_symbol.iter();
        let by_symbol = by_symbol.map(|(name, least)| (name.clone(), if *least > 0.0 { 1.0 } else { 0.0 }));
        let session = &own.session;
        let of_bots = own.bots.values().any(BotLimitSettings::has_session_limit);
        let (is_limited, of) = (!session.is_none() || of_bots, session.of);
        let limit = if is_limited { Decimal::ONE } else { Decimal::ZERO };
        let session = SessionLimitSettings { of, loss_limit: limit, ..SessionLimitSettings::default() };
        let risk = RiskSettings {
            session,
            hours: if of == SessionSpan::Hours { own.hours.clone() } else { Vec::new() },
            // The fold only depends on whether this limit is set. The same applies to minimum payouts.
            max_trades_per_hour: own.max_trades_per_hour.min(1),
            // The step distinguishes the first stake of a ladder from a payout probe.
            stake_step: own.stake_step,
            min_payout_percent: if own.min_payout_percent > 0.0 { 1.0 } else { 0.0 },
            payout_max_age_s: own.payout_max_age_s,
            cooldown_after_loss_s: own.cooldown_after_loss_s,
            cooldown_after_losses: own.cooldown_after_losses,
            cooldown_after_losses_s: own.cooldown_after_losses_s,
            cooldown_scope: own.cooldown_scope,
            pauses: own.pauses.clone(),
            min_payout_percent_by_symbol: by_symbol.collect(),
            best_payout_of: own.best_payout_of.clone(),
            day_start: own.day_start.clone(),
            day_timezone: own.day_timezone.clone(),
            verdict: own.verdict,
            ..RiskSettings::default()
        };
        let folded = Self { risk, longer_share_percent: None, ..self.clone() };
        Ok(blake3::hash(&serde_json::to_vec(&folded)?).to_hex().to_string())
    }
}

/// Errors when a Session is created from its settings.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Invalid value of a setting.
    #[error("{key}: {problem}")]
    Setting {
        /// Key, as in the configuration.
        key: String,
        /// Description of the problem, with the allowed values.
        problem: String,
    },
    /// Invalid amount of money.
    #[error("{key}: {source}")]
    Amount {
        /// Key, as in the configuration.
        key: String,
        /// Cause of the error.
        source: MoneyError,
    },
    /// The strategy of a bot cannot be built.
    #[error("bot \"{bot}\": {source}")]
    Strategy {
        /// Name of the bot.
        bot: String,
        /// Build error of the strategy.
        source: BuildError,
    },
}

impl BotSettings {
    /// Returns the candle series of the bot.
    pub const fn series(&self) -> Series {
        Series { symbol: self.symbol, interval: self.interval }
    }

    /// Returns the context in which the strategy is built.
    pub fn context(&self, longer_share_percent: Option<f64>) -> BotContext {
        BotContext {
            bot: self.name.clone(),
            symbol: self.symbol,
            interval: self.interval,
            expiry: self.expiry(),
            longer_share_percent,
        }
    }

    /// Returns the delay from a decision to its order.
    /// Fails if the delay is negative or not shorter than the bot's interval.
    pub fn entry_delay(&self) -> Result<Millis, String> {
        let seconds = self.entry_delay_s;
        if seconds < 0 {
            return Err(format!(
                "{seconds} s is negative, but the signal is known only after the close. Use 0 or more. To enter \
                 within a candle, use a shorter interval or a strategy that reacts to prices"
            ));
        }
        let (interval, length) = (self.interval, self.interval.length());
        if seconds >= length.get() / 1_000 && seconds > 0 {
            return Err(format!("{seconds} s is not shorter than a {interval} candle. Use a shorter delay"));
        }
        Ok(Millis::from_seconds(seconds))
    }

    fn without_strategy(self) -> Self {
        Self { strategy: String::new(), params: Value::Null, venue: BTreeMap::new(), ..self }
    }

    /// Returns the expiry of the bot's trades.
    pub const fn expiry(&self) -> Expiry {
        Expiry { close_type: self.close_type, expiration_type: self.expiration_type }
    }
}

impl EngineError {
    pub(crate) fn exact_money(scale: MoneyScale, amount: Decimal, key: &str) -> Result<Money, Self> {
        scale.convert_exact(amount).map_err(|source| Self::Amount { key: key.to_owned(), source })
    }

    pub(crate) fn setting(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), problem: problem.into() }
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn empty_object() -> Value {
    Value::Object(serde_json::Map::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn entry_delay_is_shorter_than_a_candle_and_omitted_if_zero() {
        let too_long = "60 s is not shorter than a 1m candle. Use a shorter delay";
        let too_early = "-1 s is negative, but the signal is known only after the close. Use 0 or more. To enter \
                         within a candle, use a shorter interval or a strategy that reacts to prices";
        for (seconds, expected) in [(0, Ok(0)), (59, Ok(59)), (60, Err(too_long)), (-1, Err(too_early))] {
            let bot: BotSettings = from_value(json!({
                "name": "a", "symbol": "BTCUSDT", "interval": "1m", "strategy": "s", "close_type": "01:00", "entry_delay_s": seconds
            }))
            .unwrap();
            let found = bot.entry_delay();
            assert_eq!(found, expected.map(Millis::from_seconds).map_err(str::to_owned));
            let written = to_value(&bot).unwrap();
            assert_eq!(written.get("entry_delay_s").is_some(), seconds != 0, "{seconds}: {written}");
        }
    }
}
