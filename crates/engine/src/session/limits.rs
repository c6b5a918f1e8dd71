//! Reloads limits during a run, and tracks the periods to which session limits apply.

use super::Session;
use super::earlier::position_or_push;
use crate::risk::Limits;
use crate::{BotId, EngineError, RiskSettings};
use candlewick_sdk::{Millis, Money};

impl Session {
    /// Prepares limits that apply from the next [`Control::Reload`](crate::Control::Reload) event.
    ///
    /// A reload does not affect trades, money or verdicts. Settings in `[risk.verdict]` are ignored. Fails if a
    /// setting is invalid or cannot change during a run. The start of the day and the kind of session cannot change,
    /// and an hourly trade limit cannot be enabled. After an error, no limits are prepared.
    pub fn prepare_reload(&mut self, risk: &RiskSettings) -> Result<(), EngineError> {
        self.prepared = None;
        let limits = Limits::new(risk, self.money_scale)?;
        if !self.limits.has_same_day_start(&limits) {
            let problem = "the start of the day cannot change during a run. Restart the bot to change it";
            return Err(EngineError::setting("risk.day_start", problem));
        }
        if !self.limits.session.has_same_sessions(&limits.session) {
            let problem = "session limits cannot be enabled or redefined during a run. Restart the bot";
            return Err(EngineError::setting("risk.session.of", problem));
        }
        if limits.has_trades_per_hour_limit() && !self.limits.has_trades_per_hour_limit() {
            let problem = format!(
                "cannot change from 0 to {} during a run, because trades of the last hour were not counted. Restart \
                 the bot to apply it",
                risk.max_trades_per_hour
            );
            return Err(EngineError::setting("risk.max_trades_per_hour", problem));
        }
        self.prepared = Some(Box::new(limits));
        Ok(())
    }

    /// Sets the limits of a read-only Session to the limits in force at the end of a journal.
    /// A trading Session uses a reload event instead. Fails like [`Session::prepare_reload`].
    pub fn apply_limits(&mut self, risk: &RiskSettings) -> Result<(), EngineError> {
        self.prepare_reload(risk)?;
        self.reload();
        Ok(())
    }

    /// Applies the prepared limits. Does nothing if there are none, which is the case while earlier runs are folded.
    pub(super) fn reload(&mut self) {
        let Some(limits) = self.prepared.take() else { return };
        self.limits = *limits;
        self.limits.bind_ids(&self.names, &self.symbols);
        // Symbols traded only in earlier runs are ignored, as at startup.
        let mut symbols = Vec::new();
        for series in &self.series {
            position_or_push(&mut symbols, series.symbol);
        }
        self.max_open_trades = self.limits.open_trade_cap(symbols.len());
    }

    pub(super) fn begin_run_session(&mut self) {
        if self.limits.session.is_per_run() {
            self.state.begin_session(self.ledger.session_baseline(), None);
        }
    }

    pub(super) fn begin_trading_window_session(&mut self, now: Millis) {
        if self.limits.session.is_per_trading_window() && now >= self.state.session.end() {
            let end = self.limits.session_end(now);
            self.state.begin_session(self.ledger.session_baseline(), Some(end));
        }
    }

    pub(super) fn resume_session(&mut self) {
        if self.limits.session.is_enabled {
            self.state.restart_session(self.ledger.session_baseline());
        }
    }

    #[inline]
    pub(super) fn add_session_profit(&mut self, bot: BotId, profit: Money) {
        if self.limits.session.is_enabled {
            self.state.add_session_profit(bot, profit);
        }
    }

    pub(super) fn deposit(&mut self, amount: Money) {
        self.ledger.deposit(amount);
        if self.limits.session.is_enabled {
            self.state.session.equity += amount;
        }
    }

    pub(super) fn record_wallet_difference(&mut self, amount: Money) {
        self.ledger.record_wallet_difference(amount);
        if self.limits.session.is_enabled {
            self.state.session.lower_initial_shortage(self.ledger.shortage());
        }
    }

    pub(super) fn next_due_time(&self) -> Millis {
        let session = self.limits.session.is_per_trading_window().then(|| self.state.session.end());
        self.intents.next_release_time().min(session.unwrap_or(Millis::MAX))
    }
}
