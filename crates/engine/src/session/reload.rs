//! New limits for a Session that runs.

use super::Session;
use super::earlier::position_or_push;
use crate::risk::Limits;
use crate::{EngineError, RiskSettings};

impl Session {
    /// Prepares limits that are in force from the next event [`Control::Reload`](crate::Control::Reload) on. Trades, doubts,
    /// money and verdicts stay as they are: what is fixed before the first trade of a verdict is no limit, and not read here.
    ///
    /// # Errors
    /// [`EngineError`] names the setting that has to be corrected, or that no running Session can change: the bounds of the day
    /// whose profit is being counted, and a limit of trades per hour where none were counted. Then nothing is prepared.
    pub fn prepare_reload(&mut self, risk: &RiskSettings) -> Result<(), EngineError> {
        self.prepared = None;
        let limits = Limits::new(risk, self.money_scale)?;
        if !self.limits.has_day_of(&limits) {
            let problem = "the day that has begun keeps its bounds: restart the bot with the new ones";
            return Err(EngineError::setting("risk.day_start", problem));
        }
        if !self.limits.session.has_sessions_of(&limits.session) {
            let problem = "the session that has begun goes on, and where none was limited none was counted: restart the bot to count others";
            return Err(EngineError::setting("risk.session.of", problem));
        }
        if limits.counts_hours() && !self.limits.counts_hours() {
            let problem = format!(
                "0 cannot become {} while the bot runs, because the trades of the last hour were not counted: restart the bot \
                 with it",
                risk.max_trades_per_hour
            );
            return Err(EngineError::setting("risk.max_trades_per_hour", problem));
        }
        self.prepared = Some(Box::new(limits));
        Ok(())
    }

    /// Holds a Session that is only read to the limits that were in force at its journal's end. One that trades has them from an event.
    ///
    /// # Errors
    /// As [`Session::prepare_reload`]; then its limits stay.
    pub fn hold_to(&mut self, risk: &RiskSettings) -> Result<(), EngineError> {
        self.prepare_reload(risk)?;
        self.reload();
        Ok(())
    }

    /// The prepared limits are in force. Without any, as where an earlier run is folded, those of the present run stay.
    pub(super) fn reload(&mut self) {
        let Some(limits) = self.prepared.take() else { return };
        self.limits = *limits;
        self.limits.take_places(&self.names, &self.symbols);
        // Symbols that only earlier runs traded count no more than at the start.
        let mut symbols = Vec::new();
        for series in &self.series {
            position_or_push(&mut symbols, series.symbol);
        }
        self.together = self.limits.most_together(symbols.len());
    }
}
