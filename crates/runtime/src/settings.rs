//! The `[runtime]` section of the configuration.

use candlewick_sdk::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Polling and timeouts of a live run, in venue time. The suffix of a key is its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RuntimeSettings {
    /// Interval of the price grid. Strategies that use prices get one price per interval.
    #[schemars(range(min = 100))]
    pub price_every_ms: u32,
    /// Whether to poll prices for display even if no strategy uses them.
    pub watch_prices: bool,
    /// Delay between a candle's close and the first request for it.
    pub first_ask_ms: u32,
    /// Maximum number of repeated requests for a missing candle before the next candle closes.
    pub quick_repeats: u32,
    /// Maximum time for which a candle waits for other candles with the same close time.
    pub hold_ms: u32,
    /// Delay between a trade's close time and the first request for its result.
    pub settle_after_ms: u32,
    /// Seconds between wallet readings, which are compared with the ledger.
    /// If 0, the wallets are only read at the start of the run, and not compared.
    pub wallet_every_s: u32,
    /// Maximum lag of the wallet behind a trade. A deviation that lasts longer counts as a wallet difference.
    #[serde(skip_serializing_if = "is_default_wallet_lag")]
    pub wallet_lag_ms: u32,
    /// Maximum unexplained wallet change, in percent of the equity. A larger change halts the run. 0: no limit.
    #[serde(skip_serializing_if = "is_default_max_unexplained")]
    #[schemars(range(max = 100))]
    pub max_unexplained_percent: u32,
    /// Seconds between searches of the venue's trade list for unknown trades.
    /// If 0, the list is searched only while an order has an unknown status.
    pub list_every_s: u32,
    /// Maximum time for which a trade may be absent from the venue's list.
    pub list_lag_ms: u32,
    /// Seconds for which a closed trade may be missing from both the lookup by id and the trade list.
    /// After that, the run halts, and the operator has to enter the result.
    pub missing_trade_s: u32,
    /// Reaction to a duplicate trade (a second trade for one order): `halt`, or only an `alarm`.
    pub second_trade: SecondTradeRule,
    /// Largest plausible payout, in percent of the stake. A trade with a larger payout halts the run.
    #[schemars(range(min = 1, max = 1000))]
    pub max_payout_percent: u32,
    /// Whether to check the prices of settled trades against the venue's price records.
    pub audit_settlement_prices: bool,
    /// Seconds for which a stopping run tracks an open trade beyond its close time.
    pub stop_patience_s: u32,
    /// Maximum number of seconds for which an interrupted run tracks open trades. Another interrupt ends the run.
    pub interrupt_patience_s: u32,
    /// Seconds for which finished trades are kept in memory: at least 720, or the list lag plus 120 if that is more.
    /// If 0, or without a journal, they are kept for the whole run. The journal keeps every trade forever.
    pub remember_s: u32,
    /// Number of journal entries between snapshots. A restart continues from the last snapshot. 0 disables snapshots.
    pub snapshot_every: u32,
    /// Warning in the run's status that the rate limit is too low for these bots. Set by the program.
    #[serde(skip)]
    pub rate_limit_warning: Option<String>,
    /// Age at which data polled every minute counts as stale, in seconds of venue time. Set by the program. `None` in
    /// real time, where [`RunState::SILENT_AFTER`](crate::control::RunState::SILENT_AFTER) applies.
    #[serde(skip)]
    pub stale_after_s: Option<NonZeroU32>,
    /// Minimum retention of finished trades, set only by tests of the whole program.
    #[serde(skip)]
    pub min_retention_override: Option<Millis>,
}

/// Reaction to a duplicate trade (a second trade for one order).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecondTradeRule {
    /// Raise an alarm and halt the run.
    #[default]
    Halt,
    /// Raise an alarm only.
    Alarm,
}

const DEFAULT_WALLET_LAG_MS: u32 = 10_000;
const DEFAULT_MAX_UNEXPLAINED_PERCENT: u32 = 20;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_default_wallet_lag(lag_ms: &u32) -> bool {
    *lag_ms == DEFAULT_WALLET_LAG_MS
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_default_max_unexplained(percent: &u32) -> bool {
    *percent == DEFAULT_MAX_UNEXPLAINED_PERCENT
}

impl Default for RuntimeSettings {
    fn default() -> Self {
        Self {
            price_every_ms: 5_000,
            watch_prices: true,
            first_ask_ms: 0,
            quick_repeats: 10,
            hold_ms: 1_000,
            settle_after_ms: 4_000,
            wallet_every_s: 60,
            wallet_lag_ms: DEFAULT_WALLET_LAG_MS,
            max_unexplained_percent: DEFAULT_MAX_UNEXPLAINED_PERCENT,
            list_every_s: 300,
            list_lag_ms: 120_000,
            missing_trade_s: 600,
            second_trade: SecondTradeRule::Halt,
            max_payout_percent: 200,
            audit_settlement_prices: true,
            stop_patience_s: 30,
            interrupt_patience_s: 90,
            remember_s: 3_600,
            snapshot_every: 100_000,
            rate_limit_warning: None,
            stale_after_s: None,
            min_retention_override: None,
        }
    }
}

/// Returns the minimum retention of finished intents if a test overrides it. Always `None` in release builds.
pub fn min_retention_override() -> Option<Millis> {
    #[cfg(debug_assertions)]
    return std::env::var("LEAST_REMEMBERED_MS").ok()?.parse().ok().map(Millis::new);
    #[cfg(not(debug_assertions))]
    None
}
