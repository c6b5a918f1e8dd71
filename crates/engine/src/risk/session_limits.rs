//! Session loss limit and session profit target. A session is a run or a window of the trading hours.

use super::hours::TradingWindow;
use super::money_limits::AmountOrPercent;
use super::{BotLimitSettings, Proposal, RiskView, Ruling, refuse_if};
use crate::EngineError;
use crate::settings::is_default;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Money, MoneyScale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Limits per session, from section `[risk.session]` of the configuration. 0 disables a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionLimitSettings {
    /// Period that counts as a session: a run, or a window of the trading hours.
    pub of: SessionSpan,
    /// Maximum loss per session, counting open trades as lost.
    #[schemars(with = "f64")]
    pub loss_limit: Decimal,
    /// Maximum loss per session in percent of the session's initial equity. The lower of the two loss limits applies.
    #[serde(skip_serializing_if = "is_default")]
    pub loss_limit_percent: f64,
    /// Settled profit at which trading stops for the session.
    #[schemars(with = "f64")]
    pub profit_target: Decimal,
    /// Profit target per session in percent of the session's initial equity. The lower of the two targets applies.
    #[serde(skip_serializing_if = "is_default")]
    pub profit_target_percent: f64,
}

/// Period that counts as a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionSpan {
    /// A run, from one start of the program to the next.
    #[default]
    Run,
    /// A window of `risk.hours`, from its start to the start of the next window.
    Hours,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SessionLimits {
    pub(crate) loss_limit: AmountOrPercent,
    pub(super) profit_target: AmountOrPercent,
    of: SessionSpan,
    pub(crate) is_enabled: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionTally {
    pub(crate) profit: Money,
    /// Equity at the start of the session, plus later deposits.
    pub(crate) equity: Money,
    end: Option<Millis>,
    #[serde(default, skip_serializing_if = "is_default")]
    shortage: Money,
}

impl SessionLimitSettings {
    /// Returns whether no session limit is set.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl SessionLimits {
    pub(super) fn new(
        (settings, bots): (&SessionLimitSettings, &BTreeMap<String, BotLimitSettings>),
        hours: &[TradingWindow],
        scale: MoneyScale,
    ) -> Result<Self, EngineError> {
        if settings.of == SessionSpan::Hours && hours.is_empty() {
            let problem = "the value \"hours\" requires trading hours. Set risk.hours, or use \"run\"";
            return Err(EngineError::setting("risk.session.of", problem));
        }
        let own = settings;
        let bound = |(most, share), key: &str| {
            AmountOrPercent::new(scale, most, share, &format!("risk.session.{key}"))
        };
        Ok(Self {
            loss_limit: bound((own.loss_limit, own.loss_limit_percent), "loss_limit")?,
            profit_target: bound((own.profit_target, own.profit_target_percent), "profit_target")?,
            of: settings.of,
            is_enabled: !settings.is_none() || bots.values().any(BotLimitSettings::has_session_limit),
        })
    }

    pub(crate) fn is_per_trading_window(&self) -> bool {
        self.is_enabled && self.of == SessionSpan::Hours
    }

    pub(crate) fn is_per_run(&self) -> bool {
        self.is_enabled && self.of == SessionSpan::Run
    }

    pub(crate) fn has_same_sessions(&self, other: &Self) -> bool {
        (self.is_enabled, self.of) == (other.is_enabled, other.of)
    }
}

impl SessionTally {
    pub(crate) fn begin(&mut self, (equity, shortage): (Money, Money), end: Option<Millis>) {
        *self = Self { profit: Money::ZERO, equity, end, shortage };
    }

    pub(crate) fn restart(&mut self, (equity, shortage): (Money, Money)) {
        (self.profit, self.equity, self.shortage) = (Money::ZERO, equity, shortage);
    }

    /// Lowers the initial wallet shortage to `shortage`, so that a shortage that arises again counts as a loss.
    pub(crate) fn lower_initial_shortage(&mut self, shortage: Money) {
        self.shortage = self.shortage.min(shortage);
    }

    pub(crate) fn result(&self, shortage: Money) -> Money {
        self.profit - (shortage - self.shortage).max(Money::ZERO)
    }

    /// Returns the end of the session, or the earliest possible time if no session has begun.
    pub(crate) fn end(&self) -> Millis {
        self.end.unwrap_or(Millis::new(i64::MIN))
    }
}

pub(super) fn check_session_loss_limit(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    if !view.limits.session.is_enabled {
        return Ruling::Pass;
    }
    let session = view.state.session;
    let Some(limit) = view.limits.session.loss_limit.amount_at(session.equity) else { return Ruling::Pass };
    let result = session.result(view.ledger.shortage());
    refuse_if(result - view.ledger.open_stakes() - proposal.stake < -limit)
}

pub(super) fn check_session_profit_target(_proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    if !view.limits.session.is_enabled {
        return Ruling::Pass;
    }
    let session = view.state.session;
    let target = view.limits.session.profit_target.amount_at(session.equity);
    refuse_if(target.is_some_and(|target| session.profit >= target))
}

#[cfg(test)]
mod tests {
    use super::super::Check;
    use super::super::testing::Situation;
    use super::*;

    /// Judges a stake of 10.00 in a session that began with 2,000.00 and has made `profit`.
    fn ask(check: Check, limits: &SessionLimitSettings, profit: i64, open: i64) -> Ruling {
        let mut situation = Situation::with(|risk| risk.session = limits.clone());
        situation.state.session.begin((Money::from_minor(200_000), Money::ZERO), None);
        situation.state.session.profit = Money::from_minor(profit);
        situation.ledger.reserve(Money::from_minor(open));
        situation.ask(check)
    }

    #[test]
    fn session_losses_with_open_stakes_and_this_stake_stay_within_the_lower_limit() {
        let none = SessionLimitSettings::default();
        let amount = SessionLimitSettings { loss_limit: Decimal::from(50), ..none.clone() };
        let both = SessionLimitSettings { loss_limit_percent: 2.0, ..amount.clone() };
        for (limits, profit, open, expected) in [
            (&amount, -4_000, 0, Ruling::Pass),
            (&amount, -4_001, 0, Ruling::Refuse),
            (&amount, -2_000, 2_001, Ruling::Refuse),
            // 2 % of 2,000.00 is 40.00.
            (&both, -3_000, 0, Ruling::Pass),
            (&both, -3_001, 0, Ruling::Refuse),
            (&none, -199_000, 0, Ruling::Pass),
        ] {
            let ruling = ask(check_session_loss_limit, limits, profit, open);
            assert_eq!(ruling, expected, "{limits:?} {profit} {open}");
        }
    }

    #[test]
    fn rejects_opens_once_session_target_is_reached() {
        let limits = SessionLimitSettings {
            profit_target: Decimal::from(50),
            profit_target_percent: 1.5,
            ..SessionLimitSettings::default()
        };
        for (profit, expected) in [(2_999, Ruling::Pass), (3_000, Ruling::Refuse)] {
            assert_eq!(ask(check_session_profit_target, &limits, profit, 0), expected, "{profit}");
        }
    }
}
