//! Per-bot limits, in addition to the limits of the run.

use super::money_limits::AmountOrPercent;
use super::{Proposal, RiskView, Ruling, refuse_if};
use crate::EngineError;
use crate::settings::is_default;
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Section `[risk.bots.NAME]`: per-bot limits, in addition to the limits of the run. 0 disables a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BotLimitSettings {
    /// Maximum number of open trades of the bot.
    pub max_open_trades: u32,
    /// Maximum number of trades of the bot per day.
    pub max_trades_per_day: u32,
    /// Maximum daily loss of the bot, counting its open trades as lost.
    #[schemars(with = "f64")]
    pub daily_loss_limit: Decimal,
    /// Maximum daily loss of the bot, in percent of the equity at the start of the day.
    /// If `daily_loss_limit` is also set, the lower limit applies.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_loss_limit_percent: f64,
    /// Settled daily profit at which the bot stops for the day.
    #[schemars(with = "f64")]
    pub daily_profit_target: Decimal,
    /// Daily profit target of the bot, in percent of the equity at the start of the day.
    /// If `daily_profit_target` is also set, the lower target applies.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_profit_target_percent: f64,
    /// Maximum loss of the bot per session, counting its open trades as lost. `risk.session.of` defines the session.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "is_default")]
    pub session_loss_limit: Decimal,
    /// Maximum loss of the bot per session, in percent of the equity at the start of the session.
    /// If `session_loss_limit` is also set, the lower limit applies.
    #[serde(skip_serializing_if = "is_default")]
    pub session_loss_limit_percent: f64,
    /// Settled session profit at which the bot stops for the session.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "is_default")]
    pub session_profit_target: Decimal,
    /// Profit target of the bot per session, in percent of the equity at the start of the session.
    /// If `session_profit_target` is also set, the lower target applies.
    #[serde(skip_serializing_if = "is_default")]
    pub session_profit_target_percent: f64,
    /// Number of consecutive losses after which the bot stops until the operator resumes trading.
    pub max_loss_streak: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BotLimits {
    pub(super) max_open_trades: usize,
    pub(super) max_trades_per_day: u32,
    pub(super) daily_loss_limit: AmountOrPercent,
    pub(super) daily_profit_target: AmountOrPercent,
    pub(super) session_loss_limit: AmountOrPercent,
    pub(super) session_profit_target: AmountOrPercent,
    pub(super) max_loss_streak: u32,
}

impl BotLimitSettings {
    /// Returns whether the bot has a loss limit or profit target for a session.
    pub fn has_session_limit(&self) -> bool {
        let amounts = [self.session_loss_limit, self.session_profit_target];
        let percents = [self.session_loss_limit_percent, self.session_profit_target_percent];
        !(amounts.iter().all(is_default) && percents.iter().all(is_default))
    }
}

impl BotLimits {
    pub(super) fn new(own: &BotLimitSettings, name: &str, scale: MoneyScale) -> Result<Self, EngineError> {
        let cap = |(most, share), key: &str| {
            AmountOrPercent::new(scale, most, share, &format!("risk.bots.{name}.{key}"))
        };
        Ok(Self {
            max_open_trades: own.max_open_trades as usize,
            max_trades_per_day: own.max_trades_per_day,
            daily_loss_limit: cap((own.daily_loss_limit, own.daily_loss_limit_percent), "daily_loss_limit")?,
            daily_profit_target: cap(
                (own.daily_profit_target, own.daily_profit_target_percent),
                "daily_profit_target",
            )?,
            session_loss_limit: cap(
                (own.session_loss_limit, own.session_loss_limit_percent),
                "session_loss_limit",
            )?,
            session_profit_target: cap(
                (own.session_profit_target, own.session_profit_target_percent),
                "session_profit_target",
            )?,
            max_loss_streak: own.max_loss_streak,
        })
    }
}

#[inline]
pub(super) fn check_max_open_trades(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_open_trades;
    refuse_if(most > 0 && view.intents.bot_trade_count(proposal.bot) >= most)
}

#[inline]
pub(super) fn check_max_trades_per_day(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.bot_tally(proposal.bot).trades_today >= most)
}

#[inline]
pub(super) fn check_daily_loss_limit(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let Some(most) = limits.daily_loss_limit.amount_at(view.ledger.day_equity()) else { return Ruling::Pass };
    let profit = view.state.bot_tally(proposal.bot).day_profit;
    refuse_if(profit - view.intents.bot_total_stake(proposal.bot) - proposal.stake < -most)
}

#[inline]
pub(super) fn check_daily_profit_target(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let enough = limits.daily_profit_target.amount_at(view.ledger.day_equity());
    refuse_if(enough.is_some_and(|enough| view.state.bot_tally(proposal.bot).day_profit >= enough))
}

#[inline]
pub(super) fn check_session_loss_limit(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    if !view.limits.session.is_enabled {
        return Ruling::Pass;
    }
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let Some(most) = limits.session_loss_limit.amount_at(view.state.session.equity) else {
        return Ruling::Pass;
    };
    let profit = view.state.bot_tally(proposal.bot).session_profit;
    refuse_if(profit - view.intents.bot_total_stake(proposal.bot) - proposal.stake < -most)
}

#[inline]
pub(super) fn check_session_profit_target(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    if !view.limits.session.is_enabled {
        return Ruling::Pass;
    }
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let enough = limits.session_profit_target.amount_at(view.state.session.equity);
    refuse_if(enough.is_some_and(|enough| view.state.bot_tally(proposal.bot).session_profit >= enough))
}

#[inline]
pub(super) fn check_loss_streak(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    let Some(limits) = view.limits.bot_limits(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_loss_streak;
    refuse_if(most > 0 && view.state.bot_tally(proposal.bot).losses >= most)
}

#[cfg(test)]
mod tests {
    use super::super::Check;
    use super::super::testing::Situation;
    use super::*;
    use crate::BotId;
    use crate::intent::IntentStage;
    use Ruling::{Pass, Refuse};
    use candlewick_sdk::{Money, Outcome};
    use serde_json::{Value, json};

    fn other() -> BotId {
        BotId::new(1).unwrap()
    }

    fn end(situation: &mut Situation, bot: BotId, profit: i64, outcome: Outcome) {
        let profit = Money::from_minor(profit);
        situation.state.count_bot_trade(bot);
        situation.state.count_bot_settlement(bot, profit, outcome);
        situation.state.add_session_profit(bot, profit);
    }

    fn begin_session(situation: &mut Situation) {
        situation.state.begin_session((Money::from_minor(200_000), Money::ZERO), None);
    }

    /// A bot with limits, and another bot that keeps losing and has three open trades.
    fn situation(limits: &Value) -> Situation {
        let own: BotLimitSettings = serde_json::from_value(limits.clone()).unwrap();
        let mut situation = Situation::with(|risk| risk.bots = [("own".to_owned(), own.clone())].into());
        situation.know_bots(&["own", "other"]);
        begin_session(&mut situation);
        (0..9).for_each(|_| end(&mut situation, other(), -100_000, Outcome::Lost));
        situation.proposal.bot = other();
        (0..3).for_each(|_| situation.begin(Situation::SYMBOL, IntentStage::InFlight));
        situation.proposal.bot = BotId::FIRST;
        situation
    }

    #[test]
    fn limits_count_only_trades_of_the_bot_and_the_lower_of_amount_and_percent_applies() {
        // The day starts with 10,000.00 and the session with 2,000.00. Each stake is 10.00.
        let trades = json!({ "max_open_trades": 2 });
        let amount = json!({ "daily_loss_limit": 50, "daily_profit_target": 10 });
        let percent = json!({ "daily_loss_limit_percent": 0.5, "daily_profit_target_percent": 0.25 });
        let session = json!({
            "session_loss_limit": 50, "session_loss_limit_percent": 2.0,
            "session_profit_target": 30, "session_profit_target_percent": 2.0,
        });
        for (check, limits, profit, open, expected) in [
            (check_max_open_trades as Check, &trades, 0, 1, Pass),
            (check_max_open_trades, &trades, 0, 2, Refuse),
            (check_daily_loss_limit, &amount, 0, 4, Pass),
            (check_daily_loss_limit, &amount, 0, 5, Refuse),
            (check_daily_loss_limit, &amount, -2_000, 2, Pass),
            (check_daily_loss_limit, &amount, -2_001, 2, Refuse),
            (check_daily_loss_limit, &amount, 1_000, 5, Pass),
            (check_daily_profit_target, &amount, 999, 0, Pass),
            (check_daily_profit_target, &amount, 1_000, 0, Refuse),
            (check_daily_loss_limit, &percent, -4_000, 0, Pass),
            (check_daily_loss_limit, &percent, -4_001, 0, Refuse),
            (check_daily_profit_target, &percent, 2_499, 0, Pass),
            (check_daily_profit_target, &percent, 2_500, 0, Refuse),
            (check_session_loss_limit, &session, -3_000, 0, Pass),
            (check_session_loss_limit, &session, -3_001, 0, Refuse),
            (check_session_loss_limit, &session, -2_000, 1, Pass),
            (check_session_loss_limit, &session, -2_001, 1, Refuse),
            (check_session_profit_target, &session, 2_999, 0, Pass),
            (check_session_profit_target, &session, 3_000, 0, Refuse),
        ] {
            let mut situation = situation(limits);
            end(&mut situation, BotId::FIRST, profit, Outcome::Won);
            (0..open).for_each(|_| situation.begin(Situation::SYMBOL, IntentStage::Open));
            assert_eq!(situation.ask(check), expected, "{limits} {profit}, {open} open");
            situation.state.open_day(situation.proposal.at);
            begin_session(&mut situation);
            assert!(open > 0 || situation.ask(check) == Pass, "{limits} {profit} on the previous day");
        }
    }

    #[test]
    fn second_trades_and_stakes_of_unopened_trades_count() {
        let mut situation = situation(&json!({ "max_open_trades": 2, "daily_loss_limit": 50 }));
        let first = situation.intents.next;
        situation.begin(Situation::SYMBOL, IntentStage::Open);
        situation.intents.add_duplicate(first);
        assert_eq!(situation.ask(check_max_open_trades), Refuse);
        (0..3).for_each(|_| situation.begin(Situation::SYMBOL, IntentStage::InDoubt));
        situation.intents.mark_unopened(first.next(), candlewick_sdk::Millis::MAX);
        assert_eq!(situation.ask(check_daily_loss_limit), Refuse);
    }

    #[test]
    fn daily_trade_limit_counts_trades_of_the_bot_on_that_day() {
        for (count, is_new_day, taken_back, expected) in
            [(1, false, 0, Pass), (2, false, 0, Refuse), (2, true, 0, Pass), (2, false, 1, Pass)]
        {
            let mut situation = situation(&json!({ "max_trades_per_day": 2 }));
            let at = situation.proposal.at;
            (0..count).for_each(|_| situation.state.count_bot_trade(BotId::FIRST));
            (0..taken_back).for_each(|_| situation.state.uncount_bot_trade(BotId::FIRST, at));
            if is_new_day {
                situation.state.open_day(at);
            }
            assert_eq!(situation.ask(check_max_trades_per_day), expected, "{count} {taken_back}");
        }
    }

    #[test]
    fn loss_streak_counts_losses_of_the_bot_and_resets_on_resume() {
        let [won, lost, draw] = [Outcome::Won, Outcome::Lost, Outcome::Draw];
        for (ends, is_resumed, expected) in [
            (&[lost][..], false, Pass),
            (&[lost, draw, lost], false, Refuse),
            (&[lost, won, lost], false, Pass),
            (&[lost, lost], true, Pass),
        ] {
            let mut situation = situation(&json!({ "max_loss_streak": 2 }));
            for outcome in ends {
                end(&mut situation, BotId::FIRST, 0, *outcome);
            }
            if is_resumed {
                situation.state.resume();
            }
            assert_eq!(situation.ask(check_loss_streak), expected, "{ends:?}, resumed: {is_resumed}");
        }
    }

    #[test]
    fn limits_of_zero_and_bots_without_limits_reject_nothing() {
        let tight = json!({
            "max_open_trades": 1, "max_trades_per_day": 1, "daily_loss_limit": 1, "daily_profit_target": 1,
            "session_loss_limit": 1, "session_profit_target": 1, "max_loss_streak": 1,
        });
        for check in [
            check_max_open_trades as Check,
            check_max_trades_per_day,
            check_daily_loss_limit,
            check_daily_profit_target,
            check_session_loss_limit,
            check_session_profit_target,
            check_loss_streak,
        ] {
            let mut unlimited = situation(&json!({}));
            end(&mut unlimited, BotId::FIRST, -90_000, Outcome::Lost);
            unlimited.begin(Situation::SYMBOL, IntentStage::Open);
            let mut others = situation(&tight);
            others.proposal.bot = other();
            assert_eq!([unlimited.ask(check), others.ask(check)], [Pass; 2]);
        }
    }
}
