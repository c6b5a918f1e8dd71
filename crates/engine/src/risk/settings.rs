//! The `[risk]` section of the configuration.

use super::{Blackouts, BotLimitSettings, Hours, PauseSettings, SessionLimitSettings};
use crate::EngineError;
use crate::settings::is_default;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_statistics::EdgeTestPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const DEFAULT_REFUSAL_PAUSE_S: u32 = 60;

/// Risk limits, checked before every trade. 0 disables a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting")]
pub struct RiskSettings {
    /// Maximum number of open trades.
    pub max_open_trades: u32,
    /// Maximum number of open trades per symbol.
    pub max_open_trades_per_symbol: u32,
    /// Maximum number of trades within any 60 minutes.
    pub max_trades_per_hour: u32,
    /// Maximum number of trades per day.
    pub max_trades_per_day: u32,
    /// Maximum loss per day, counting open trades as lost.
    #[schemars(with = "f64")]
    pub daily_loss_limit: Decimal,
    /// Maximum loss per day in percent of the day's initial equity. The lower of the two daily loss limits applies.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_loss_limit_percent: f64,
    /// Settled profit at which trading stops for the day.
    #[schemars(with = "f64")]
    pub daily_profit_target: Decimal,
    /// Profit target per day in percent of the day's initial equity. The lower of the two daily targets applies.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_profit_target_percent: f64,
    /// Limits per session. A session is a run, or a window of the trading hours.
    #[serde(skip_serializing_if = "SessionLimitSettings::is_none")]
    pub session: SessionLimitSettings,
    /// Maximum drawdown in percent of the equity peak, counting open trades as lost.
    pub max_drawdown_percent: f64,
    /// Number of consecutive losses after which trading stops until an operator resumes trading.
    pub max_loss_streak: u32,
    /// Cooldown after each loss, in seconds.
    pub cooldown_after_loss_s: u32,
    /// Number of consecutive losses after which the cooldown `cooldown_after_losses_s` starts.
    pub cooldown_after_losses: u32,
    /// Cooldown after `cooldown_after_losses` consecutive losses, in seconds.
    pub cooldown_after_losses_s: u32,
    /// Scope of a cooldown: all symbols, or only the symbol with the loss.
    pub cooldown_scope: CooldownScope,
    /// Pauses after a number of wins, losses or trades.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PauseSettings>,
    /// Pause after the venue declined an order, in seconds. Each further decline doubles the pause, up to an hour.
    /// The pause applies to the symbol, or to all symbols if the reason concerns the account.
    #[serde(skip_serializing_if = "is_default_refusal_pause")]
    pub refused_by_venue_pause_s: u32,
    /// Minimum payout, in percent of the stake.
    pub min_payout_percent: f64,
    /// Per-symbol overrides of `min_payout_percent`, such as `{ EURUSD = 85.0 }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub min_payout_percent_by_symbol: BTreeMap<String, f64>,
    /// Symbols that compete by payout. Only the symbol with the highest last known payout is traded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub best_payout_of: Vec<String>,
    /// Maximum age of a known payout, in seconds. Older payouts count as unknown.
    pub payout_max_age_s: u32,
    /// Maximum time since the last candle closed, in candle intervals.
    pub stale_after_intervals: u32,
    /// Maximum age of a signal, in milliseconds. Half the candle interval applies if it is shorter.
    pub max_signal_delay_ms: u32,
    /// Whether trades in opposite directions may be open on the same symbol.
    pub allow_opposite: bool,
    /// Whether two trades with the same symbol, direction and close time may be open at once.
    pub allow_duplicate: bool,
    /// Maximum difference between the local clock and the venue's clock, in milliseconds.
    pub max_clock_skew_ms: u32,
    /// Trading hours. Trading is always allowed if the list is empty.
    pub hours: Vec<Hours>,
    /// CSV file of periods without new trades, for example around news. Header: `from,to,symbols,reason`.
    #[serde(skip_serializing_if = "Blackouts::is_none")]
    pub blackouts: Blackouts,
    /// Per-bot limits by bot name, in addition to the limits of the run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bots: BTreeMap<String, BotLimitSettings>,
    /// Start of the day for daily limits, as `HH:MM`.
    pub day_start: String,
    /// Time zone of `day_start`, such as `UTC` or `Europe/London`.
    pub day_timezone: String,
    /// Minimum stake.
    #[schemars(with = "f64")]
    pub min_stake: Decimal,
    /// Maximum stake.
    #[schemars(with = "f64")]
    pub max_stake: Decimal,
    /// Stake step. Each stake is rounded down to a multiple of the step.
    #[schemars(with = "f64")]
    pub stake_step: Decimal,
    /// Maximum stake in percent of the free balance.
    pub max_stake_percent: f64,
    /// Whether a stake above `max_stake` or `max_stake_percent` is reduced to the maximum instead of rejected.
    #[serde(skip_serializing_if = "is_default")]
    pub cap_stakes: bool,
    /// Whether a bot stops trading once its verdict rules out an edge.
    pub enforce_verdict: bool,
    /// Parameters of the edge verdict, fixed before the first trade.
    pub verdict: VerdictSettings,
    /// Maximum combined risk of ruin of all ladders over `ruin_horizon_trades`, from 0 to 1. No run starts above it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_ruin_probability: f64,
    /// Number of trades over which the risk of ruin is calculated.
    #[schemars(range(min = 1, max = 100_000))]
    pub ruin_horizon_trades: u32,
}

/// Scope of a cooldown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CooldownScope {
    /// A loss pauses all bots.
    #[default]
    All,
    /// A loss pauses only the bots on its symbol.
    Symbol,
}

impl Default for RiskSettings {
    fn default() -> Self {
        Self {
            max_open_trades: 3,
            max_open_trades_per_symbol: 1,
            max_trades_per_hour: 0,
            max_trades_per_day: 200,
            daily_loss_limit: Decimal::ONE_HUNDRED,
            daily_loss_limit_percent: 0.0,
            daily_profit_target: Decimal::ZERO,
            daily_profit_target_percent: 0.0,
            session: SessionLimitSettings::default(),
            max_drawdown_percent: 20.0,
            max_loss_streak: 0,
            cooldown_after_loss_s: 0,
            cooldown_after_losses: 0,
            cooldown_after_losses_s: 0,
            cooldown_scope: CooldownScope::All,
            pauses: Vec::new(),
            refused_by_venue_pause_s: DEFAULT_REFUSAL_PAUSE_S,
            min_payout_percent: 0.0,
            min_payout_percent_by_symbol: BTreeMap::new(),
            best_payout_of: Vec::new(),
            payout_max_age_s: 3_600,
            stale_after_intervals: 2,
            max_signal_delay_ms: 5_000,
            allow_opposite: false,
            allow_duplicate: false,
            max_clock_skew_ms: 2_000,
            hours: Vec::new(),
            blackouts: Blackouts::default(),
            bots: BTreeMap::new(),
            day_start: "00:00".to_owned(),
            day_timezone: "UTC".to_owned(),
            min_stake: Decimal::ONE,
            max_stake: Decimal::ZERO,
            stake_step: Decimal::ZERO,
            max_stake_percent: 0.0,
            cap_stakes: false,
            enforce_verdict: false,
            verdict: VerdictSettings::default(),
            max_ruin_probability: 0.05,
            ruin_horizon_trades: 1_000,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_default_refusal_pause(seconds: &u32) -> bool {
    *seconds == DEFAULT_REFUSAL_PAUSE_S
}

/// Error rates and target edge of the edge verdict. A change resets the verdict of every bot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictSettings {
    /// Maximum probability of a wrong *edge shown* verdict.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub alpha: f64,
    /// Maximum probability of a wrong *no edge* verdict.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub beta: f64,
    /// Smallest edge worth finding, as a return per unit of stake.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub delta: f64,
    /// Staking rule of the notional accounts that test the edge.
    pub lambda: LambdaRule,
    /// Mean number of trades between *edge shown* and a false *edge no longer held* alarm. 0 disables the alarm and
    /// applies to journals without this setting. A change does not reset the verdicts.
    #[serde(default)]
    pub watch_trades: u64,
}

/// Staking rule of the notional accounts that test an edge. A changed rule has a new name, which restarts all verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LambdaRule {
    /// Account split into four parts, which bet the Kelly fractions for edges from 1.1 to 6.5 times `delta`.
    /// `shrunk_kelly400`, the name of an earlier rule, is accepted as an alias, but every verdict then restarts.
    #[default]
    #[serde(alias = "shrunk_kelly400")]
    FixedFractions,
}

impl Default for VerdictSettings {
    fn default() -> Self {
        let plan = EdgeTestPlan::default();
        let (alpha, beta, delta) = (plan.alpha(), plan.beta(), plan.delta());
        Self { alpha, beta, delta, lambda: LambdaRule::default(), watch_trades: plan.watch_trades() }
    }
}

impl VerdictSettings {
    /// Builds the plan of the edge test from the settings.
    pub fn to_plan(self) -> Result<EdgeTestPlan, EngineError> {
        let LambdaRule::FixedFractions = self.lambda;
        EdgeTestPlan::new(self.alpha, self.beta, self.delta)
            .map(|plan| plan.with_watch_trades(self.watch_trades))
            .map_err(|error| EngineError::setting("risk.verdict", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_settings_match_default_plan() {
        assert_eq!(VerdictSettings::default().to_plan().unwrap(), EdgeTestPlan::default());
    }

    #[test]
    fn reads_staking_rule_of_earlier_versions_as_fixed_fractions() {
        let read: VerdictSettings = serde_json::from_str(r#"{"lambda":"shrunk_kelly400"}"#).unwrap();
        assert_eq!(read, VerdictSettings { watch_trades: 0, ..VerdictSettings::default() });
        assert!(serde_json::to_string(&read).unwrap().contains("fixed_fractions"));
    }

    #[test]
    fn invalid_plan_error_names_its_key() {
        for (alpha, beta, delta) in
            [(0.0, 0.05, 0.04), (0.05, 1.0, 0.04), (0.05, 0.05, 0.0), (0.05, 0.05, 1.5)]
        {
            let settings = VerdictSettings { alpha, beta, delta, ..VerdictSettings::default() };
            assert!(
                settings.to_plan().unwrap_err().to_string().starts_with("risk.verdict: "),
                "{settings:?}"
            );
        }
    }
}
