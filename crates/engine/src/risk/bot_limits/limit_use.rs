//! Utilisation of a bot's own limits, as their rules count it.

use crate::BotId;
use crate::intent::Intents;
use crate::ledger::Ledger;
use crate::risk::bound::Bound;
use crate::risk::{LimitUse, Limits, RiskState, Rule, View};
use candlewick_sdk::Money;

pub(crate) fn limit_use_of(
    bot: BotId,
    limits: &Limits,
    (ledger, intents, state): (&Ledger, &Intents, &RiskState),
) -> Vec<LimitUse> {
    let Some(own) = limits.of_bot(bot) else { return Vec::new() };
    let tally = state.tally(bot);
    // Open trades count as lost until they settle.
    let day_loss = intents.stakes_of(bot) - tally.day_profit;
    let (session, session_loss) = (state.session(), intents.stakes_of(bot) - tally.session_profit);
    let (today, most_today) = (tally.trades_today as usize, own.max_trades_per_day as usize);
    let (losses, most_losses) = (tally.losses as usize, own.max_loss_streak as usize);
    let money = |rule, used, bound: Bound| LimitUse::of_money(rule, used, bound.of(ledger.day_equity())?);
    let of_session = |rule, used, bound: Bound| LimitUse::of_money(rule, used, bound.of(session.equity)?);
    [
        LimitUse::of_count(Rule::BotMaxOpenTrades, intents.trades_of(bot), own.max_open_trades),
        LimitUse::of_count(Rule::BotMaxTradesPerDay, today, most_today),
        money(Rule::BotDailyLossLimit, day_loss, own.daily_loss_limit),
        money(Rule::BotDailyProfitTarget, tally.day_profit, own.daily_profit_target),
        of_session(Rule::BotSessionLossLimit, session_loss, own.session_loss_limit),
        of_session(Rule::BotSessionProfitTarget, tally.session_profit, own.session_profit_target),
        LimitUse::of_count(Rule::BotLossStreak, losses, most_losses),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the remaining loss under one of the bot's limits that count open stakes as lost. May be
/// negative.
pub(in crate::risk) fn room_of_bot(rule: Rule, bot: BotId, view: View<'_>) -> Option<Money> {
    let View { limits, ledger, state, intents, .. } = view;
    let (own, tally) = (limits.of_bot(bot)?, state.tally(bot));
    let (most, profit) = match rule {
        Rule::BotDailyLossLimit => (own.daily_loss_limit.of(ledger.day_equity())?, tally.day_profit),
        Rule::BotSessionLossLimit => {
            (own.session_loss_limit.of(state.session().equity)?, tally.session_profit)
        }
        _ => return None,
    };
    Some(most + profit - intents.stakes_of(bot))
}

#[cfg(test)]
mod tests {
    use super::super::BotLimitSettings;
    use super::*;
    use crate::intent::Stage;
    use crate::risk::testing::Situation;
    use crate::risk::{Quantity, RiskSettings};
    use candlewick_sdk::rust_decimal::Decimal;
    use candlewick_sdk::{Money, Outcome};

    #[test]
    fn a_bot_uses_its_own_limits_with_its_own_trades() {
        let own = BotLimitSettings {
            max_open_trades: 2,
            max_trades_per_day: 9,
            daily_loss_limit: Decimal::from(50),
            daily_profit_target: Decimal::ZERO,
            session_loss_limit: Decimal::from(60),
            session_profit_target: Decimal::from(7),
            max_loss_streak: 3,
            ..BotLimitSettings::default()
        };
        let settings = |risk: &mut RiskSettings| {
            risk.bots.insert("own".to_owned(), own.clone());
        };
        let mut situation = Situation::with(settings);
        situation.know_bots(&["own", "other"]);
        let other = BotId::new(1).unwrap();
        for (bot, trades) in [(BotId::FIRST, 2), (other, 7)] {
            for _ in 0..trades {
                situation.state.count_bot_trade(bot);
                situation.state.count_bot_end(bot, Money::from_minor(-1_500), Outcome::Lost);
                situation.state.earn_in_session(bot, Money::from_minor(-1_500));
            }
        }
        // Two trades of the bot have lost 30.00, and one of 10.00 is open.
        situation.begin(Situation::SYMBOL, Stage::Open);
        situation.state.count_bot_trade(BotId::FIRST);
        let used = |bot| {
            let Situation { limits, ledger, intents, state, .. } = &situation;
            limit_use_of(bot, limits, (ledger, intents, state))
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
        let found: Vec<_> = used(BotId::FIRST).iter().map(|used| (used.rule, used.used, used.most)).collect();
        assert_eq!(found, expected);
        assert_eq!(used(other), [], "the other one has none of its own");
    }
}
