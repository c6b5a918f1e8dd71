//! Limits, and how far each is used.

use crate::model::Model;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::{Millis, Money};
use serde::Serialize;
use utoipa::ToSchema;

/// A limit and how far it is used.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Limit {
    /// The setting's name in `[risk]`.
    pub(crate) name: &'static str,
    /// What is limited, in words.
    pub(crate) title: &'static str,
    /// How much of it there is.
    pub(crate) value: f64,
    /// How much there may be.
    pub(crate) most: f64,
    /// `count`, `money` or `percent`.
    pub(crate) unit: &'static str,
}

/// The limits that are on, at this moment of venue time.
pub(crate) fn limits_of(model: &Model, now: Millis) -> Vec<Limit> {
    let (risk, ledger, scale) = (&model.risk, model.session().ledger(), model.session().money_scale());
    let money = |amount: Money| scale.to_f64(amount.max(Money::ZERO));
    let (peak, equity) = (ledger.peak(), ledger.equity());
    let drawdown = if peak.is_positive() { 100.0 * money(peak - equity) / scale.to_f64(peak) } else { 0.0 };
    let limit = |name, title, value, most, unit| Limit { name, title, value, most, unit };
    let rows = [
        limit(
            "max_open_trades",
            "open trades",
            model.unfinished().count() as f64,
            risk.max_open_trades.into(),
            "count",
        ),
        limit(
            "max_trades_per_hour",
            "trades within an hour",
            model.day.within_hour(now) as f64,
            risk.max_trades_per_hour.into(),
            "count",
        ),
        limit(
            "max_trades_per_day",
            "trades today",
            model.day.trades as f64,
            risk.max_trades_per_day.into(),
            "count",
        ),
        limit(
            "daily_loss_limit",
            "loss today",
            money(-ledger.day_profit()),
            risk.daily_loss_limit.to_f64().unwrap_or(0.0),
            "money",
        ),
        limit(
            "daily_profit_target",
            "profit today",
            money(ledger.day_profit()),
            risk.daily_profit_target.to_f64().unwrap_or(0.0),
            "money",
        ),
        limit("max_drawdown_percent", "drawdown", drawdown, risk.max_drawdown_percent, "percent"),
        limit(
            "max_loss_streak",
            "losses in a row",
            ledger.loss_streak().into(),
            risk.max_loss_streak.into(),
            "count",
        ),
    ];
    rows.into_iter().filter(|limit| limit.most > 0.0).collect()
}
