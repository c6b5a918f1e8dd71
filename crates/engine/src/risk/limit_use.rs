//! Current use of each limit, to show how close each limit is to being reached.

use super::money_limits::AmountOrPercent;
use super::{Limits, RiskState, RiskView, Rule};
use crate::BotId;
use crate::intent::Intents;
use crate::ledger::Ledger;
use candlewick_sdk::{Millis, Money};

/// The current use of an active limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitUsage {
    /// Rule that checks the limit.
    pub rule: Rule,
    /// Used amount, at least zero and possibly above the limit.
    /// A per-symbol limit reports the highest use of any symbol.
    pub used: Quantity,
    /// Value at which the limit is reached.
    pub limit: Quantity,
}

/// A number of trades or losses, or an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Number of trades or losses.
    Count(u64),
    /// Amount of money.
    Money(Money),
}

impl LimitUsage {
    fn from_count(rule: Rule, used: usize, limit: usize) -> Option<Self> {
        let [used, limit] = [used, limit].map(|count| Quantity::Count(count as u64));
        (limit != Quantity::Count(0)).then_some(Self { rule, used, limit })
    }

    fn from_money(rule: Rule, used: Money, most: Money) -> Option<Self> {
        let [used, limit] = [used.max(Money::ZERO), most].map(Quantity::Money);
        most.is_positive().then_some(Self { rule, used, limit })
    }
}

pub(crate) fn limit_usage(
    limits: &Limits,
    (ledger, intents, state): (&Ledger, &Intents, &RiskState),
    now: Millis,
) -> Vec<LimitUsage> {
    let count = LimitUsage::from_count;
    let money = |rule, used, most: Option<Money>| LimitUsage::from_money(rule, used, most?);
    let hour = state.trade_count_after(now - Millis::HOUR);
    // Open trades count as lost until they settle.
    let day_loss = ledger.open_stakes() - ledger.day_result();
    let session = state.session;
    let session_loss = ledger.open_stakes() - session.result(ledger.shortage());
    let fall = ledger.peak_equity() - ledger.available_balance();
    [
        count(Rule::MaxOpenTrades, intents.trade_count(), limits.max_open_trades),
        count(Rule::MaxOpenTradesPerSymbol, intents.max_count_on_symbol(), limits.max_open_trades_per_symbol),
        count(Rule::MaxTradesPerHour, hour, limits.max_trades_per_hour),
        count(Rule::MaxTradesPerDay, state.trades_today as usize, limits.max_trades_per_day as usize),
        money(Rule::DailyLossLimit, day_loss, limits.daily_loss_limit.amount_at(ledger.day_equity())),
        money(
            Rule::DailyProfitTarget,
            ledger.day_profit(),
            limits.daily_profit_target.amount_at(ledger.day_equity()),
        ),
        money(Rule::SessionLossLimit, session_loss, limits.session.loss_limit.amount_at(session.equity)),
        money(
            Rule::SessionProfitTarget,
            session.profit,
            limits.session.profit_target.amount_at(session.equity),
        ),
        money(Rule::MaxDrawdown, fall, limits.max_drawdown_amount(ledger.peak_equity())),
        count(Rule::LossStreak, ledger.loss_streak() as usize, limits.max_loss_streak as usize),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn bot_limit_usage(
    bot: BotId,
    limits: &Limits,
    (ledger, intents, state): (&Ledger, &Intents, &RiskState),
) -> Vec<LimitUsage> {
    let Some(own) = limits.bot_limits(bot) else { return Vec::new() };
    let tally = state.bot_tally(bot);
    // Open trades count as lost until they settle.
    let day_loss = intents.bot_total_stake(bot) - tally.day_profit;
    let (session, session_loss) = (state.session, intents.bot_total_stake(bot) - tally.session_profit);
    let (today, most_today) = (tally.trades_today as usize, own.max_trades_per_day as usize);
    let (losses, most_losses) = (tally.losses as usize, own.max_loss_streak as usize);
    let money = |rule, used, bound: AmountOrPercent| {
        LimitUsage::from_money(rule, used, bound.amount_at(ledger.day_equity())?)
    };
    let of_session = |rule, used, bound: AmountOrPercent| {
        LimitUsage::from_money(rule, used, bound.amount_at(session.equity)?)
    };
    [
        LimitUsage::from_count(Rule::BotMaxOpenTrades, intents.bot_trade_count(bot), own.max_open_trades),
        LimitUsage::from_count(Rule::BotMaxTradesPerDay, today, most_today),
        money(Rule::BotDailyLossLimit, day_loss, own.daily_loss_limit),
        money(Rule::BotDailyProfitTarget, tally.day_profit, own.daily_profit_target),
        of_session(Rule::BotSessionLossLimit, session_loss, own.session_loss_limit),
        of_session(Rule::BotSessionProfitTarget, tally.session_profit, own.session_profit_target),
        LimitUsage::from_count(Rule::BotLossStreak, losses, most_losses),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns how much more a bot may lose under a loss limit that counts open stakes as lost. The result may be negative.
pub(super) fn remaining_bot_loss(rule: Rule, bot: BotId, view: RiskView<'_>) -> Option<Money> {
    let RiskView { limits, ledger, state, intents, .. } = view;
    let (own, tally) = (limits.bot_limits(bot)?, state.bot_tally(bot));
    let (most, profit) = match rule {
        Rule::BotDailyLossLimit => (own.daily_loss_limit.amount_at(ledger.day_equity())?, tally.day_profit),
        Rule::BotSessionLossLimit => {
            (own.session_loss_limit.amount_at(state.session.equity)?, tally.session_profit)
        }
        _ => return None,
    };
    Some(most + profit - intents.bot_total_stake(bot))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use crate::intent::IntentStage;
    use candlewick_sdk::Outcome;
    use candlewick_sdk::rust_decimal::Decimal;
    use serde_json::json;

    fn used(situation: &Situation) -> Vec<LimitUsage> {
        let Situation { limits, ledger, intents, state, .. } = situation;
        limit_usage(limits, (ledger, intents, state), situation.proposal.at)
    }

    #[test]
    fn open_stakes_count_as_lost_and_disabled_limits_are_omitted() {
        // Limits: 3 open trades, 200 per day, daily loss of 100.00, 20 % of 10,000.00. Lost: 40.00, open: 10.00.
        let mut situation = Situation::default();
        situation.lose(Money::from_minor(4_000));
        situation.ledger.reserve(Money::from_minor(1_000));
        situation.begin(Situation::SYMBOL, IntentStage::Open);
        let money = |units| Quantity::Money(Money::from_minor(units));
        let expected = [
            (Rule::MaxOpenTrades, Quantity::Count(1), Quantity::Count(3)),
            (Rule::MaxOpenTradesPerSymbol, Quantity::Count(1), Quantity::Count(1)),
            (Rule::MaxTradesPerDay, Quantity::Count(0), Quantity::Count(200)),
            (Rule::DailyLossLimit, money(5_000), money(10_000)),
            (Rule::MaxDrawdown, money(5_000), money(200_000)),
        ];
        assert_eq!(
            used(&situation),
            expected.map(|(rule, used, most)| LimitUsage { rule, used, limit: most })
        );
        situation.ledger.settle(Money::from_minor(1_000), Money::from_minor(9_000));
        assert_eq!(used(&situation)[3].used, money(0), "a profit of the day does not make the loss negative");
    }

    #[test]
    fn lists_every_enabled_limit() {
        let situation = Situation::with(|risk| {
            (risk.max_trades_per_hour, risk.max_loss_streak) = (5, 6);
            risk.daily_profit_target = Decimal::TEN;
        });
        let rules: Vec<Rule> = used(&situation).into_iter().map(|limit| limit.rule).collect();
        let expected = Rule::ALL.into_iter().filter(|rule| rules.contains(rule)).collect::<Vec<_>>();
        assert_eq!((rules.len(), rules), (8, expected));
    }

    #[test]
    fn bot_limits_count_only_trades_of_the_bot() {
        let mut situation = Situation::from_json(&json!({ "bots": { "own": {
            "max_open_trades": 2, "max_trades_per_day": 9, "daily_loss_limit": 50, "session_loss_limit": 60,
            "session_profit_target": 7, "max_loss_streak": 3,
        } } }));
        situation.know_bots(&["own", "other"]);
        let other = BotId::new(1).unwrap();
        for (bot, trades) in [(BotId::FIRST, 2), (other, 7)] {
            for _ in 0..trades {
                situation.state.count_bot_trade(bot);
                situation.state.count_bot_settlement(bot, Money::from_minor(-1_500), Outcome::Lost);
                situation.state.add_session_profit(bot, Money::from_minor(-1_500));
            }
        }
        // The bot has lost 30.00 on two trades, and a third trade of 10.00 is open.
        situation.begin(Situation::SYMBOL, IntentStage::Open);
        situation.state.count_bot_trade(BotId::FIRST);
        let used = |bot| {
            let Situation { limits, ledger, intents, state, .. } = &situation;
            bot_limit_usage(bot, limits, (ledger, intents, state))
        };
        let (count, money) = (Quantity::Count, |units| Quantity::Money(Money::from_minor(units)));
        let expected = [
            (Rule::BotMaxOpenTrades, count(1), count(2)),
            (Rule::BotMaxTradesPerDay, count(3), count(9)),
            (Rule::BotDailyLossLimit, money(4_000), money(5_000)),
            (Rule::BotSessionLossLimit, money(4_000), money(6_000)),
            (Rule::BotSessionProfitTarget, money(0), money(700)),
            (Rule::BotLossStreak, count(2), count(3)),
        ];
        let found: Vec<_> = used(BotId::FIRST).iter().map(|one| (one.rule, one.used, one.limit)).collect();
        assert_eq!(found, expected);
        assert_eq!(used(other), [], "the other bot has no limits");
    }
}
