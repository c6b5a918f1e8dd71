//! The `[runtime]` section of the configuration.

use candlewick_sdk::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// How a live run polls and waits. Times are venue time, in milliseconds unless their names say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RuntimeSettings {
    /// The pace of prices: strategies that want them get one at every multiple of this.
    #[schemars(range(min = 100))]
    pub price_every_ms: u32,
    /// Whether the latest price is also polled for symbols whose strategies do not want prices, to be shown.
    pub watch_prices: bool,
    /// How long after a candle's close it is first asked for.
    pub first_ask_ms: u32,
    /// How often a candle that is not there yet is asked for again before its next close.
    pub quick_repeats: u32,
    /// How long the candles of one instant wait for each other.
    pub hold_ms: u32,
    /// How long after its close time a trade is first asked for its result.
    pub settle_after_ms: u32,
    /// How often the wallets are read and compared with the ledger, in seconds, besides at the start and the end. With 0 they are
    /// read at the start only, and not compared.
    pub wallet_every_s: u32,
    /// How long the wallet may lack what a trade has changed, before that counts as a difference.
    #[serde(skip_serializing_if = "is_default_lag")]
    pub wallet_lag_ms: u32,
    /// The largest change of the wallet that no trade explains, in percent of the equity: a larger one halts the run. 0 means any.
    #[serde(skip_serializing_if = "is_default_share")]
    #[schemars(range(max = 100))]
    pub max_unexplained_percent: u32,
    /// How often the venue's list is looked through for trades that no intent explains, in seconds; 0 means only
    /// while something is in doubt.
    pub list_every_s: u32,
    /// How long a trade may be missing from the venue's list.
    pub list_lag_ms: u32,
    /// How long a trade that is to be over may be unknown to the venue, by its id and in whole lists, before the run halts: a
    /// person says then how it ended. In seconds.
    pub missing_trade_s: u32,
    /// What follows when the venue has a second trade of one request: `halt`, or `alarm` alone.
    pub second_trade: SecondTradeRule,
    /// The highest payout that is believed, in percent of the stake: a trade that is to pay more, or has, halts the run.
    #[schemars(range(min = 1, max = 1000))]
    pub max_payout_percent: u32,
    /// Ask for the price records of each settled trade and hold its prices against them.
    pub audit_settlement_prices: bool,
    /// How long a stopping run tracks an open trade beyond its close time, in seconds.
    pub stop_patience_s: u32,
    /// How long an interrupted run tracks open trades at most, in seconds. A second interrupt ends it at once.
    pub interrupt_patience_s: u32,
    /// How long an intent that is over stays in memory, in seconds, though at least for 12 minutes, or 2 longer than the list may lag. The
    /// journal has it for good. 0 means for the whole run, as without a journal.
    pub remember_s: u32,
    /// How many entries of the journal lie between two snapshots, from which the next start goes on; 0 writes none.
    pub snapshot_every: u32,
    /// No setting: by how much the venue's rate limit is too low for the bots of this run, in words, for its status.
    #[serde(skip)]
    pub shortage: Option<String>,
    /// No setting: after how many seconds of venue time what is read every minute is stale, for the run's status. None where venue time is a
    /// person's: then it is [`RunState::SILENT_AFTER`](crate::control::RunState::SILENT_AFTER).
    #[serde(skip)]
    pub stale_after_s: Option<NonZeroU32>,
    /// No setting: for how long an intent that is over is remembered at least, in tests of the whole program.
    #[serde(skip)]
    pub least_remembered: Option<Millis>,
}

/// What follows when the venue has a second trade of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecondTradeRule {
    /// An alarm, and nothing more is opened before a person has looked.
    #[default]
    Halt,
    /// An alarm.
    Alarm,
}

const WALLET_LAG_MS: u32 = 10_000;
const MAX_UNEXPLAINED_PERCENT: u32 = 20;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_default_lag(lag_ms: &u32) -> bool {
    *lag_ms == WALLET_LAG_MS
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_default_share(percent: &u32) -> bool {
    *percent == MAX_UNEXPLAINED_PERCENT
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
            wallet_lag_ms: WALLET_LAG_MS,
            max_unexplained_percent: MAX_UNEXPLAINED_PERCENT,
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
            shortage: None,
            stale_after_s: None,
            least_remembered: None,
        }
    }
}

/// Returns the test override of how long finished intents are retained; always `None` in release builds.
pub fn least_remembered() -> Option<Millis> {
    #[cfg(debug_assertions)]
    return std::env::var("LEAST_REMEMBERED_MS").ok()?.parse().ok().map(Millis::new);
    #[cfg(not(debug_assertions))]
    None
}
