//! The `[risk]` section of the configuration.

use super::{Blackouts, BotLimitSettings, Hours, PauseSettings, SessionLimitSettings};
use crate::EngineError;
use crate::settings::is_default;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_statistics::EdgeTestPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const REFUSAL_PAUSE_S: u32 = 60;

/// The rules before every open. 0 turns any limit off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting")]
pub struct RiskSettings {
    /// Most trades open together.
    pub max_open_trades: u32,
    /// Most trades open together on one symbol.
    pub max_open_trades_per_symbol: u32,
    /// Most trades within any 60 minutes.
    pub max_trades_per_hour: u32,
    /// Most trades in a day.
    pub max_trades_per_day: u32,
    /// No open that could bring the day's loss beyond this amount.
    #[schemars(with = "f64")]
    pub daily_loss_limit: Decimal,
    /// The same in percent of the equity at the day's beginning; where both are given, the tighter holds.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_loss_limit_percent: f64,
    /// No open once the day's settled profit has reached this amount.
    #[schemars(with = "f64")]
    pub daily_profit_target: Decimal,
    /// The same in percent of the equity at the day's beginning; where both are given, the lower one counts.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_profit_target_percent: f64,
    /// Limits of a session: of a run, or of a window of the hours.
    #[serde(skip_serializing_if = "SessionLimitSettings::is_none")]
    pub session: SessionLimitSettings,
    /// No open that could bring equity this many percent below its peak.
    pub max_drawdown_percent: f64,
    /// No open after this many losses in a row.
    pub max_loss_streak: u32,
    /// Seconds without opens after any loss.
    pub cooldown_after_loss_s: u32,
    /// After this many losses in a row, `cooldown_after_losses_s` applies.
    pub cooldown_after_losses: u32,
    /// Seconds without opens after `cooldown_after_losses` losses in a row.
    pub cooldown_after_losses_s: u32,
    /// Whether a cooldown rests only the symbol that lost, or all.
    pub cooldown_scope: CooldownScope,
    /// Pauses after a number of wins, losses or trades.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PauseSettings>,
    /// Seconds without opens after the venue refused an order, doubled with each further refusal up to an hour; of the symbol, or of
    /// all where the reason concerns the account.
    #[serde(skip_serializing_if = "is_usual_refusal_pause")]
    pub refused_by_venue_pause_s: u32,
    /// No open on a symbol that pays less than this percent.
    pub min_payout_percent: f64,
    /// The same for single symbols, in place of it: `{ EURUSD = 85.0 }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub min_payout_percent_by_symbol: BTreeMap<String, f64>,
    /// Symbols of which only the one that pays best is traded: a signal of one is refused while another's last known payout is higher.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub best_payout_of: Vec<String>,
    /// A payout seen longer ago than this is unknown, in seconds.
    pub payout_max_age_s: u32,
    /// No open when the last candle closed more than this many intervals ago.
    pub stale_after_intervals: u32,
    /// No open on a signal older than this, or than half the interval if that is smaller, in milliseconds.
    pub max_signal_delay_ms: u32,
    /// Whether trades in both directions may be open on one symbol.
    pub allow_opposite: bool,
    /// Whether two trades of one direction and close time may be open on one symbol.
    pub allow_duplicate: bool,
    /// No open when our clock and the venue's differ by more than this, in milliseconds.
    pub max_clock_skew_ms: u32,
    /// Trading hours; none means always.
    pub hours: Vec<Hours>,
    /// A file of dated spans in which no trade is opened, such as those around news: CSV with the header `from,to,symbols,reason`.
    #[serde(skip_serializing_if = "Blackouts::is_none")]
    pub blackouts: Blackouts,
    /// Limits of single bots, by their names, beside those of the run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bots: BTreeMap<String, BotLimitSettings>,
    /// When the day of the daily limits begins, `HH:MM`.
    pub day_start: String,
    /// The time zone of `day_start`, such as `UTC` or `Europe/London`.
    pub day_timezone: String,
    /// The smallest stake.
    #[schemars(with = "f64")]
    pub min_stake: Decimal,
    /// The largest stake.
    #[schemars(with = "f64")]
    pub max_stake: Decimal,
    /// Stakes are rounded down to a multiple of this.
    #[schemars(with = "f64")]
    pub stake_step: Decimal,
    /// The largest stake in percent of the free balance.
    pub max_stake_percent: f64,
    /// Whether a stake above `max_stake` or `max_stake_percent` is reduced to it instead of refused.
    #[serde(skip_serializing_if = "is_default")]
    pub cap_stakes: bool,
    /// Whether a bot whose edge is ruled out may open no more.
    pub enforce_verdict: bool,
    /// What is fixed before the first trade of a verdict.
    pub verdict: VerdictSettings,
    /// No start with ladders that are ruined with more than this probability within `ruin_horizon_trades`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_ruin_probability: f64,
    /// How many trades ahead ruin is looked for.
    #[schemars(range(min = 1, max = 100_000))]
    pub ruin_horizon_trades: u32,
}

/// Whom a cooldown rests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CooldownScope {
    /// Every bot.
    #[default]
    All,
    /// Only bots on the symbol that lost.
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
            refused_by_venue_pause_s: REFUSAL_PAUSE_S,
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
const fn is_usual_refusal_pause(seconds: &u32) -> bool {
    *seconds == REFUSAL_PAUSE_S
}

/// The errors that a verdict may make and the edge that it looks for. A change lets the verdict of every bot begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictSettings {
    /// The most probable wrong *edge shown*.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub alpha: f64,
    /// The most probable wrong *no edge*.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub beta: f64,
    /// The edge that is worth finding, as a return per unit of stake.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub delta: f64,
    /// How much the notional accounts stake.
    pub lambda: LambdaRule,
    /// After *edge shown*: the mean number of trades to a false alarm that an edge of `delta` or more is no longer held, while it
    /// is; 0 watches nothing, as does a journal that does not say. A change restarts no verdict.
    #[serde(default)]
    pub watch_trades: u64,
}

/// How much the notional accounts of a verdict stake; a rule that changes gets another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LambdaRule {
    /// The Kelly fractions of four edges from 1.1 to 6.5 `delta`, each of a part of its own. `shrunk_kelly400`, the rule of
    /// earlier versions, is read as this one: what it judged stands in its journals, and every verdict begins anew.
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
    /// Builds the test plan of the settings.
    pub fn to_plan(self) -> Result<EdgeTestPlan, EngineError> {
        let LambdaRule::FixedFractions = self.lambda;
        EdgeTestPlan::new(self.alpha, self.beta, self.delta)
            .map(|plan| plan.watching(self.watch_trades))
            .map_err(|error| EngineError::setting("risk.verdict", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_plan_of_the_statistics() {
        assert_eq!(VerdictSettings::default().to_plan().unwrap(), EdgeTestPlan::default());
    }

    #[test]
    fn the_rule_of_earlier_versions_is_read_and_written_as_the_one_that_is_used() {
        let read: VerdictSettings = serde_json::from_str(r#"{"lambda":"shrunk_kelly400"}"#).unwrap();
        assert_eq!(read, VerdictSettings { watch_trades: 0, ..VerdictSettings::default() });
        assert!(serde_json::to_string(&read).unwrap().contains("fixed_fractions"));
    }

    #[test]
    fn a_plan_that_cannot_be_kept_is_refused_with_its_key() {
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
