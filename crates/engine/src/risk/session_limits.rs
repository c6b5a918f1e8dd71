//! A session whose loss and profit are limited, beside those of the day: that of a run, or of each window of the trading hours.

use super::BotLimitSettings;
use super::bound::Bound;
use super::hours::Window;
use super::settings::is_off;
use crate::EngineError;
use crate::ledger::is_zero_money;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Money, MoneyScale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The section `[risk.session]`: limits of a session. 0 turns any of them off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionLimitSettings {
    /// What a session is.
    pub of: SessionSpan,
    /// No open that could bring the session's loss beyond this amount.
    #[schemars(with = "f64")]
    pub loss_limit: Decimal,
    /// The same in percent of the equity at the session's beginning; where both are given, the tighter holds.
    #[serde(skip_serializing_if = "is_off")]
    pub loss_limit_percent: f64,
    /// No open once the session's settled profit has reached this amount.
    #[schemars(with = "f64")]
    pub profit_target: Decimal,
    /// The same in percent of the equity at the session's beginning; where both are given, the lower one counts.
    #[serde(skip_serializing_if = "is_off")]
    pub profit_target_percent: f64,
}

/// What a session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionSpan {
    /// From a start of the program to the next one, whatever ended it.
    #[default]
    Run,
    /// From the beginning of a window of `risk.hours` to that of the next one.
    Hours,
}

/// The same, checked and in the engine's own units.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionLimits {
    pub(crate) loss_limit: Bound,
    pub(super) profit_target: Bound,
    of: SessionSpan,
    is_on: bool,
}

/// What is counted of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionTally {
    /// Settled since it began.
    pub(crate) profit: Money,
    /// Equity at its beginning; deposits move it.
    pub(crate) equity: Money,
    /// When a session of hours is over, and the next one begins.
    end: Option<Millis>,
    /// Shortage of the wallet at its beginning.
    #[serde(default, skip_serializing_if = "is_zero_money")]
    shortage: Money,
}

impl SessionLimitSettings {
    /// Whether nothing is limited: it is not written then.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl SessionLimits {
    /// Those of a run; a session is counted as well where bots have limits of their own in it.
    pub(super) fn new(
        (settings, bots): (&SessionLimitSettings, &BTreeMap<String, BotLimitSettings>),
        hours: &[Window],
        scale: MoneyScale,
    ) -> Result<Self, EngineError> {
        if settings.of == SessionSpan::Hours && hours.is_empty() {
            let problem = "a session of \"hours\" begins with each window of risk.hours, and there is none: give the trading hours, or \
                           take of = \"run\"";
            return Err(EngineError::setting("risk.session.of", problem));
        }
        let own = settings;
        let bound = |(most, share), key: &str| Bound::new(scale, most, share, &format!("risk.session.{key}"));
        Ok(Self {
            loss_limit: bound((own.loss_limit, own.loss_limit_percent), "loss_limit")?,
            profit_target: bound((own.profit_target, own.profit_target_percent), "profit_target")?,
            of: settings.of,
            is_on: !settings.is_none() || bots.values().any(BotLimitSettings::limits_session),
        })
    }

    /// Whether a session is counted at all.
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether time begins sessions.
    pub(crate) fn is_of_hours(&self) -> bool {
        self.is_on && self.of == SessionSpan::Hours
    }

    /// Whether each run begins one.
    pub(crate) fn is_of_runs(&self) -> bool {
        self.is_on && self.of == SessionSpan::Run
    }

    /// Whether sessions of the other begin at the same moments.
    pub(crate) fn has_sessions_of(&self, other: &Self) -> bool {
        (self.is_on, self.of) == (other.is_on, other.of)
    }
}

impl SessionTally {
    /// Whether nothing was ever counted.
    pub(super) fn is_new(&self) -> bool {
        *self == Self::default()
    }

    /// Begins a session with this equity and shortage, which ends at `end` or with the run.
    pub(crate) fn begin(&mut self, (equity, shortage): (Money, Money), end: Option<Millis>) {
        *self = Self { profit: Money::ZERO, equity, end, shortage };
    }

    /// Resets the counts and keeps the end.
    pub(crate) fn begin_anew(&mut self, (equity, shortage): (Money, Money)) {
        (self.profit, self.equity, self.shortage) = (Money::ZERO, equity, shortage);
    }

    /// Lowers the shortage of its beginning to the present one: what comes to be missing again counts again.
    pub(crate) fn limit_shortage(&mut self, shortage: Money) {
        self.shortage = self.shortage.min(shortage);
    }

    /// Settled profit, less what the wallet has come short of since the session began.
    pub(crate) fn result(&self, shortage: Money) -> Money {
        self.profit - (shortage - self.shortage).max(Money::ZERO)
    }

    /// When the next session begins by time alone; that is at once where none has begun.
    pub(crate) fn end(&self) -> Millis {
        self.end.unwrap_or(Millis::new(i64::MIN))
    }
}
