//! Reloading of settings during a run: the settings that may change, and the input for their validation.

use crate::RuntimeSettings;
use crate::past::RecoveredState;
use candlewick_engine::{BotId, BotVerdict, IntentId, IntentRow, RiskSettings, Session, TradeBook};
use candlewick_sdk::{Money, Payout};
use std::sync::Arc;

/// Keys in `[runtime]` that may change during a run. All other keys keep their values until the run ends.
pub const RELOADABLE_KEYS: [&str; 8] = [
    "missing_trade_s",
    "second_trade",
    "max_payout_percent",
    "wallet_lag_ms",
    "max_unexplained_percent",
    "audit_settlement_prices",
    "stop_patience_s",
    "interrupt_patience_s",
];

#[derive(Clone, Debug, PartialEq)]
pub struct NewSettings {
    pub risk: RiskSettings,
    pub runtime: RuntimeSettings,
    /// Names of changed inputs that a reload does not read again, such as a rule file.
    pub unreloaded_inputs: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReloadInput {
    pub free_balance: Money,
    pub payouts: Vec<Option<Payout>>,
    /// Intents that were decided with the current parameters of their bots.
    pub rows: Vec<IntentRow>,
    pub forgotten_trades: u64,
}

impl ReloadInput {
    pub fn new(session: &Session, book: &TradeBook) -> Self {
        Self::from_rows(session, book.rows().iter())
    }

    pub fn from_past(session: &Session, past: &RecoveredState) -> Self {
        Self::from_rows(session, past.old_rows().chain(past.book().rows()))
    }

    fn from_rows<'a>(session: &Session, rows: impl Iterator<Item = &'a IntentRow>) -> Self {
        let since: Vec<IntentId> = session.verdicts().map(BotVerdict::first_intent).collect();
        let is_own = |row: &&IntentRow| {
            let since = since.get(row.approved.bot().index());
            since.is_none_or(|since| row.approved.intent() >= *since)
        };
        let bots = (0..session.bot_names().len()).filter_map(BotId::new);
        Self {
            free_balance: session.ledger().free_balance(),
            payouts: bots.map(|bot| session.last_payout(bot)).collect(),
            rows: rows.filter(is_own).copied().collect(),
            forgotten_trades: 0,
        }
    }
}

/// Callback that reads and validates the current settings. Returns a description of the problem if they are invalid.
pub type SettingsReader = Arc<dyn Fn(&ReloadInput) -> Result<NewSettings, String> + Send + Sync>;

impl RuntimeSettings {
    pub(crate) fn apply_reloadable(&mut self, new: &Self) {
        // Each key of `RELOADABLE_KEYS` has one line here. A test checks this.
        self.missing_trade_s = new.missing_trade_s;
        self.second_trade = new.second_trade;
        self.max_payout_percent = new.max_payout_percent;
        self.wallet_lag_ms = new.wallet_lag_ms;
        self.max_unexplained_percent = new.max_unexplained_percent;
        self.audit_settlement_prices = new.audit_settlement_prices;
        self.stop_patience_s = new.stop_patience_s;
        self.interrupt_patience_s = new.interrupt_patience_s;
        // The shortage is not a setting itself, but it is computed from other settings.
        self.rate_limit_warning.clone_from(&new.rate_limit_warning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecondTradeRule;
    use candlewick_engine::changes_between;
    use serde_json::to_value;

    #[test]
    fn applies_exactly_the_reloadable_settings() {
        let other = RuntimeSettings {
            price_every_ms: 1_001,
            watch_prices: false,
            first_ask_ms: 1,
            quick_repeats: 1,
            hold_ms: 1,
            settle_after_ms: 1,
            wallet_every_s: 1,
            wallet_lag_ms: 1,
            max_unexplained_percent: 1,
            list_every_s: 1,
            list_lag_ms: 1,
            missing_trade_s: 1,
            second_trade: SecondTradeRule::Alarm,
            max_payout_percent: 1,
            audit_settlement_prices: false,
            stop_patience_s: 1,
            interrupt_patience_s: 1,
            remember_s: 1,
            snapshot_every: 1,
            rate_limit_warning: None,
            stale_after_s: None,
            min_retention_override: None,
        };
        let before = to_value(RuntimeSettings::default()).unwrap();
        let all = changes_between(&before, &to_value(&other).unwrap());
        assert_eq!(all.len(), to_value(&other).unwrap().as_object().unwrap().len());
        let mut taken = RuntimeSettings::default();
        taken.apply_reloadable(&other);
        let changes = changes_between(&before, &to_value(&taken).unwrap());
        let mut keys: Vec<&str> = changes.iter().map(|change| change.key.as_str()).collect();
        let mut expected = RELOADABLE_KEYS;
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected);
    }
}
