//! Current usage of risk limits, as JSON and text.

use candlewick_engine::{BotId, LimitUsage, Quantity, Rule, Session};
use candlewick_sdk::{Millis, MoneyScale, group_thousands};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitLine {
    pub bot: Option<String>,
    pub name: &'static str,
    pub title: &'static str,
    pub value: f64,
    pub most: f64,
    pub unit: &'static str,
}

impl LimitLine {
    pub fn from_session(session: &Session, now: Millis) -> Vec<Self> {
        let scale = session.money_scale();
        let of_all = session.limit_usage(now).into_iter().map(|used| (None, used));
        let of_bots = session.bot_names().iter().enumerate().flat_map(|(place, bot)| {
            let own = BotId::new(place).map(|id| session.bot_limit_usage(id)).unwrap_or_default();
            own.into_iter().map(move |used| (Some(bot.clone()), used))
        });
        of_all.chain(of_bots).filter_map(|(bot, used)| Self::new(bot, used, scale)).collect()
    }

    fn new(bot: Option<String>, used: LimitUsage, scale: MoneyScale) -> Option<Self> {
        let number = |quantity| match quantity {
            Quantity::Count(count) => (count as f64, "count"),
            Quantity::Money(amount) => (scale.to_f64(amount), "money"),
        };
        let (name, title) = name_and_title(used.rule)?;
        let ((value, unit), (most, _)) = (number(used.used), number(used.limit));
        Some(Self { bot, name, title, value, most, unit })
    }

    pub fn describe(&self, decimals: usize) -> String {
        let Self { bot, title, value, most, unit, .. } = self;
        let decimals = if *unit == "money" { decimals } else { 0 };
        let whose = bot.as_ref().map(|bot| format!("{bot}: ")).unwrap_or_default();
        let reached = if value >= most { ", reached" } else { "" };
        let [value, most] = [value, most].map(|number| group_thousands(&format!("{number:.decimals$}")));
        format!("{whose}{title} {value} of {most}{reached}")
    }
}

const fn name_and_title(rule: Rule) -> Option<(&'static str, &'static str)> {
    Some(match rule {
        Rule::MaxOpenTrades | Rule::BotMaxOpenTrades => ("max_open_trades", "open trades"),
        Rule::MaxOpenTradesPerSymbol => ("max_open_trades_per_symbol", "open trades on the busiest symbol"),
        Rule::MaxTradesPerHour => ("max_trades_per_hour", "trades in the last hour"),
        Rule::MaxTradesPerDay | Rule::BotMaxTradesPerDay => ("max_trades_per_day", "trades today"),
        Rule::DailyLossLimit | Rule::BotDailyLossLimit => {
            ("daily_loss_limit", "today's loss if all open trades lose")
        }
        Rule::DailyProfitTarget | Rule::BotDailyProfitTarget => ("daily_profit_target", "today's profit"),
        Rule::SessionLossLimit => ("session.loss_limit", "session loss if all open trades lose"),
        Rule::SessionProfitTarget => ("session.profit_target", "session profit"),
        Rule::BotSessionLossLimit => ("session_loss_limit", "session loss if all open trades lose"),
        Rule::BotSessionProfitTarget => ("session_profit_target", "session profit"),
        Rule::MaxDrawdown => ("max_drawdown_percent", "drawdown if all open trades lose"),
        Rule::LossStreak | Rule::BotLossStreak => ("max_loss_streak", "losses in a row"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_used_and_available_amount() {
        let line = |bot: Option<&str>, value, most, unit| {
            let (bot, name, title) = (bot.map(str::to_owned), "max_open_trades", "open trades");
            LimitLine { bot, name, title, value, most, unit }
        };
        for (line, expected) in [
            (line(None, 1.0, 3.0, "count"), "open trades 1 of 3"),
            (line(Some("btc"), 2.0, 2.0, "count"), "btc: open trades 2 of 2, reached"),
            (line(None, 5.5, 100.0, "money"), "open trades 5.50 of 100.00"),
        ] {
            assert_eq!(line.describe(2), expected);
        }
    }
}
