//! Limits and their utilisation.

use candlewick_engine::{BotId, BotSettings, LimitUse, Quantity, Rule, Session};
use candlewick_sdk::Millis;
use serde::Serialize;
use utoipa::ToSchema;

/// A limit and how far it is used.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Limit {
    /// Whose limit it is; null of the whole run.
    pub(crate) bot: Option<String>,
    /// The setting's name in `[risk]`, or of a bot's own in `[risk.bots.NAME]`.
    pub(crate) name: &'static str,
    /// What is limited, in words.
    pub(crate) title: &'static str,
    /// How much of it there is.
    pub(crate) value: f64,
    /// How much there may be.
    pub(crate) most: f64,
    /// `count` or `money`.
    pub(crate) unit: &'static str,
}

pub(crate) fn limits_of(session: &Session, bots: &[BotSettings], now: Millis) -> Vec<Limit> {
    let scale = session.money_scale();
    let number = |quantity| match quantity {
        Quantity::Count(count) => (count as f64, "count"),
        Quantity::Money(amount) => (scale.to_f64(amount), "money"),
    };
    let limit = |bot: Option<&BotSettings>, used: LimitUse| {
        let (name, title) = named(used.rule)?;
        let ((value, unit), (most, _)) = (number(used.used), number(used.most));
        Some(Limit { bot: bot.map(|bot| bot.name.clone()), name, title, value, most, unit })
    };
    let of_run = session.limit_use(now).into_iter().map(|used| (None, used));
    let of_bots = bots.iter().enumerate().flat_map(|(place, bot)| {
        let own = BotId::new(place).map(|id| session.limit_use_of(id)).unwrap_or_default();
        own.into_iter().map(move |used| (Some(bot), used))
    });
    of_run.chain(of_bots).filter_map(|(bot, used)| limit(bot, used)).collect()
}

const fn named(rule: Rule) -> Option<(&'static str, &'static str)> {
    Some(match rule {
        Rule::MaxOpenTrades | Rule::BotMaxOpenTrades => ("max_open_trades", "open trades"),
        Rule::MaxOpenTradesPerSymbol => {
            ("max_open_trades_per_symbol", "open trades on a symbol, the one with most")
        }
        Rule::MaxTradesPerHour => ("max_trades_per_hour", "trades within an hour"),
        Rule::MaxTradesPerDay | Rule::BotMaxTradesPerDay => ("max_trades_per_day", "trades today"),
        Rule::DailyLossLimit | Rule::BotDailyLossLimit => {
            ("daily_loss_limit", "loss today, open trades as lost")
        }
        Rule::DailyProfitTarget | Rule::BotDailyProfitTarget => ("daily_profit_target", "profit today"),
        Rule::SessionLossLimit => ("session.loss_limit", "loss this session, open trades as lost"),
        Rule::SessionProfitTarget => ("session.profit_target", "profit this session"),
        Rule::BotSessionLossLimit => ("session_loss_limit", "loss this session, open trades as lost"),
        Rule::BotSessionProfitTarget => ("session_profit_target", "profit this session"),
        Rule::MaxDrawdown => ("max_drawdown_percent", "drawdown, open trades as lost"),
        Rule::LossStreak | Rule::BotLossStreak => ("max_loss_streak", "losses in a row"),
        _ => return None,
    })
}
