//! Limits of single bots, in addition to those of the run.

use super::money_limits::Bound;
use super::{Proposal, Ruling, View, refuse_if};
use crate::EngineError;
use crate::settings::is_default;
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A section `[risk.bots.NAME]`: limits of one bot, which hold beside those of the run. 0 turns any of them off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BotLimitSettings {
    /// Most trades of the bot open together.
    pub max_open_trades: u32,
    /// Most trades of the bot in a day.
    pub max_trades_per_day: u32,
    /// No open of the bot that could bring its loss of the day beyond this amount.
    #[schemars(with = "f64")]
    pub daily_loss_limit: Decimal,
    /// The same in percent of the account's equity at the day's beginning; where both are given, the tighter holds.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_loss_limit_percent: f64,
    /// No open of the bot once its settled profit of the day has reached this amount.
    #[schemars(with = "f64")]
    pub daily_profit_target: Decimal,
    /// The same in percent of the account's equity at the day's beginning; where both are given, the lower one counts.
    #[serde(skip_serializing_if = "is_default")]
    pub daily_profit_target_percent: f64,
    /// No open of the bot that could bring its loss of the session (`risk.session.of`) beyond this amount.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "is_default")]
    pub session_loss_limit: Decimal,
    /// The same in percent of the account's equity at the session's beginning; where both are given, the tighter holds.
    #[serde(skip_serializing_if = "is_default")]
    pub session_loss_limit_percent: f64,
    /// No open of the bot once its settled profit of the session has reached this amount.
    #[schemars(with = "f64")]
    #[serde(skip_serializing_if = "is_default")]
    pub session_profit_target: Decimal,
    /// The same in percent of the account's equity at the session's beginning; where both are given, the lower one counts.
    #[serde(skip_serializing_if = "is_default")]
    pub session_profit_target_percent: f64,
    /// No open of the bot after this many losses of its own in a row, until somebody resumes.
    pub max_loss_streak: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BotLimits {
    pub(super) max_open_trades: usize,
    pub(super) max_trades_per_day: u32,
    pub(super) daily_loss_limit: Bound,
    pub(super) daily_profit_target: Bound,
    pub(super) session_loss_limit: Bound,
    pub(super) session_profit_target: Bound,
    pub(super) max_loss_streak: u32,
}

impl BotLimitSettings {
    /// Returns whether the bot has a loss limit or profit target for a session.
    pub fn limits_session(&self) -> bool {
        let amounts = [self.session_loss_limit, self.session_profit_target];
        let percents = [self.session_loss_limit_percent, self.session_profit_target_percent];
        !(amounts.iter().all(is_default) && percents.iter().all(is_default))
    }
}

impl BotLimits {
    pub(super) fn new(
        settings: &BotLimitSettings,
        name: &str,
        scale: MoneyScale,
    ) -> Result<Self, EngineError> {
        let own = settings;
        let bound =
            |(most, share), key: &str| Bound::new(scale, most, share, &format!("risk.bots.{name}.{key}"));
        Ok(Self {
            max_open_trades: settings.max_open_trades as usize,
            max_trades_per_day: settings.max_trades_per_day,
            daily_loss_limit: bound(
                (own.daily_loss_limit, own.daily_loss_limit_percent),
                "daily_loss_limit",
            )?,
            daily_profit_target: bound(
                (own.daily_profit_target, own.daily_profit_target_percent),
                "daily_profit_target",
            )?,
            session_loss_limit: bound(
                (own.session_loss_limit, own.session_loss_limit_percent),
                "session_loss_limit",
            )?,
            session_profit_target: bound(
                (own.session_profit_target, own.session_profit_target_percent),
                "session_profit_target",
            )?,
            max_loss_streak: settings.max_loss_streak,
        })
    }
}

#[inline]
pub(super) fn check_max_open_trades(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_open_trades;
    refuse_if(most > 0 && view.intents.trades_of(proposal.bot) >= most)
}

#[inline]
pub(super) fn check_max_trades_per_day(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_trades_per_day;
    refuse_if(most > 0 && view.state.tally(proposal.bot).trades_today >= most)
}

#[inline]
pub(super) fn check_daily_loss_limit(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let Some(most) = limits.daily_loss_limit.of(view.ledger.day_equity()) else { return Ruling::Pass };
    let profit = view.state.tally(proposal.bot).day_profit;
    refuse_if(profit - view.intents.stakes_of(proposal.bot) - proposal.stake < -most)
}

#[inline]
pub(super) fn check_daily_profit_target(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let enough = limits.daily_profit_target.of(view.ledger.day_equity());
    refuse_if(enough.is_some_and(|enough| view.state.tally(proposal.bot).day_profit >= enough))
}

#[inline]
pub(super) fn check_session_loss_limit(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    if !view.limits.session.is_on {
        return Ruling::Pass;
    }
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let Some(most) = limits.session_loss_limit.of(view.state.session.equity) else { return Ruling::Pass };
    let profit = view.state.tally(proposal.bot).session_profit;
    refuse_if(profit - view.intents.stakes_of(proposal.bot) - proposal.stake < -most)
}

#[inline]
pub(super) fn check_session_profit_target(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    if !view.limits.session.is_on {
        return Ruling::Pass;
    }
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let enough = limits.session_profit_target.of(view.state.session.equity);
    refuse_if(enough.is_some_and(|enough| view.state.tally(proposal.bot).session_profit >= enough))
}

#[inline]
pub(super) fn check_loss_streak(proposal: &Proposal<'_>, view: View<'_>) -> Ruling {
    let Some(limits) = view.limits.of_bot(proposal.bot) else { return Ruling::Pass };
    let most = limits.max_loss_streak;
    refuse_if(most > 0 && view.state.tally(proposal.bot).losses >= most)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::super::{Check, RiskSettings};
    use super::*;
    use crate::BotId;
    use crate::intent::Stage;
    use candlewick_sdk::{Money, Outcome};

    /// A bot with these limits whose trades end so, in minor units, while another one loses all the time.
    fn ask(check: Check, limits: &BotLimitSettings, happen: impl Fn(&mut Situation)) -> Ruling {
        let settings = |risk: &mut RiskSettings| {
            risk.bots.insert("own".to_owned(), limits.clone());
        };
        let mut situation = Situation::with(settings);
        situation.know_bots(&["own", "other"]);
        let other = BotId::new(1).unwrap();
        for _ in 0..9 {
            situation.state.count_bot_trade(other);
            situation.state.count_bot_end(other, Money::from_minor(-100_000), Outcome::Lost);
        }
        happen(&mut situation);
        situation.ask(check)
    }

    fn end(situation: &mut Situation, profit: i64, outcome: Outcome) {
        situation.state.count_bot_trade(BotId::FIRST);
        situation.state.count_bot_end(BotId::FIRST, Money::from_minor(profit), outcome);
    }

    #[test]
    fn trades_open_together_are_those_of_the_bot() {
        let limits = BotLimitSettings { max_open_trades: 2, ..BotLimitSettings::default() };
        for (own, others, expected) in [(1, 5, Ruling::Pass), (2, 0, Ruling::Refuse), (0, 9, Ruling::Pass)] {
            let begin = |situation: &mut Situation| {
                (0..own).for_each(|_| situation.begin(Situation::SYMBOL, Stage::Open));
                situation.proposal.bot = BotId::new(1).unwrap();
                (0..others).for_each(|_| situation.begin(Situation::SYMBOL, Stage::InFlight));
                situation.proposal.bot = BotId::FIRST;
            };
            assert_eq!(ask(check_max_open_trades, &limits, begin), expected, "{own} and {others}");
        }
        let second = |situation: &mut Situation| {
            let id = situation.intents.next;
            situation.begin(Situation::SYMBOL, Stage::Open);
            situation.intents.begin_second(id);
        };
        assert_eq!(ask(check_max_open_trades, &limits, second), Ruling::Refuse);
    }

    #[test]
    fn trades_of_a_day_are_those_of_the_bot_and_of_that_day() {
        let limits = BotLimitSettings { max_trades_per_day: 2, ..BotLimitSettings::default() };
        let trades = |count: usize, is_new_day: bool, taken_back: usize| {
            ask(check_max_trades_per_day, &limits, |situation| {
                let at = situation.proposal.at;
                (0..count).for_each(|_| situation.state.count_bot_trade(BotId::FIRST));
                (0..taken_back).for_each(|_| situation.state.uncount_bot_trade(BotId::FIRST, at));
                if is_new_day {
                    situation.state.open_day(at);
                }
            })
        };
        assert_eq!([trades(1, false, 0), trades(2, false, 0)], [Ruling::Pass, Ruling::Refuse]);
        assert_eq!([trades(2, true, 0), trades(2, false, 1)], [Ruling::Pass, Ruling::Pass]);
    }

    #[test]
    fn losses_of_the_day_open_stakes_and_this_stake_stay_within_the_limit_of_the_bot() {
        // The limit is 50.00, each stake 10.00.
        let limits = BotLimitSettings { daily_loss_limit: Decimal::from(50), ..BotLimitSettings::default() };
        for (lost, open, expected) in [
            (0, 4, Ruling::Pass),
            (0, 5, Ruling::Refuse),
            (4_000, 0, Ruling::Pass),
            (4_001, 0, Ruling::Refuse),
            (2_000, 2, Ruling::Pass),
            (2_001, 2, Ruling::Refuse),
            (-1_000, 5, Ruling::Pass),
        ] {
            let ruling = ask(check_daily_loss_limit, &limits, |situation| {
                end(situation, -lost, Outcome::Lost);
                (0..open).for_each(|_| situation.begin(Situation::SYMBOL, Stage::Open));
            });
            assert_eq!(ruling, expected, "lost {lost}, {open} open");
        }
        let unopened = |situation: &mut Situation| {
            (0..5).for_each(|_| situation.begin(Situation::SYMBOL, Stage::InDoubt));
            let first = situation.intents.unfinished[0].id;
            situation.intents.give_up(first, candlewick_sdk::Millis::MAX);
        };
        assert_eq!(ask(check_daily_loss_limit, &limits, unopened), Ruling::Refuse);
    }

    #[test]
    fn limits_in_percent_are_of_the_account_s_equity_and_count_the_bot_s_own_trades() {
        // 0.5 % of 10,000.00 may be lost, 0.25 % are enough; the stake is 10.00.
        let limits = BotLimitSettings {
            daily_loss_limit_percent: 0.5,
            daily_profit_target_percent: 0.25,
            ..BotLimitSettings::default()
        };
        let ten = BotLimitSettings { daily_profit_target: Decimal::TEN, ..BotLimitSettings::default() };
        for (check, limits, profit, expected) in [
            (check_daily_loss_limit as Check, &limits, -4_000, Ruling::Pass),
            (check_daily_loss_limit, &limits, -4_001, Ruling::Refuse),
            (check_daily_profit_target, &limits, 2_499, Ruling::Pass),
            (check_daily_profit_target, &limits, 2_500, Ruling::Refuse),
            (check_daily_profit_target, &ten, 999, Ruling::Pass),
            (check_daily_profit_target, &ten, 1_000, Ruling::Refuse),
        ] {
            let ruling = ask(check, limits, |situation| end(situation, profit, Outcome::Won));
            assert_eq!(ruling, expected, "{profit}");
        }
    }

    #[test]
    fn a_session_s_stops_count_the_bot_s_own_trades_and_the_tighter_of_amount_and_percent_holds() {
        let limits = BotLimitSettings {
            session_loss_limit: Decimal::from(50),
            // Of 2,000.00.
            session_loss_limit_percent: 2.0,
            session_profit_target: Decimal::from(30),
            session_profit_target_percent: 2.0,
            ..BotLimitSettings::default()
        };
        for (check, profit, open, expected) in [
            (check_session_loss_limit as Check, -3_000, 0, Ruling::Pass),
            (check_session_loss_limit, -3_001, 0, Ruling::Refuse),
            (check_session_loss_limit, -2_000, 1, Ruling::Pass),
            (check_session_loss_limit, -2_001, 1, Ruling::Refuse),
            (check_session_profit_target, 2_999, 0, Ruling::Pass),
            (check_session_profit_target, 3_000, 0, Ruling::Refuse),
        ] {
            let ruling = ask(check, &limits, |situation| {
                let other = BotId::new(1).unwrap();
                situation.state.begin_session((Money::from_minor(200_000), Money::ZERO), None);
                situation.state.earn_in_session(other, Money::from_minor(-90_000));
                situation.state.earn_in_session(BotId::FIRST, Money::from_minor(profit));
                (0..open).for_each(|_| situation.begin(Situation::SYMBOL, Stage::Open));
            });
            assert_eq!(ruling, expected, "{profit}, {open} open");
            let anew = |situation: &mut Situation| {
                situation.state.earn_in_session(BotId::FIRST, Money::from_minor(profit));
                situation.state.begin_session((Money::from_minor(200_000), Money::ZERO), None);
            };
            assert_eq!(ask(check, &limits, anew), Ruling::Pass);
        }
    }

    #[test]
    fn losses_in_a_row_are_those_of_the_bot_and_a_person_begins_them_anew() {
        let limits = BotLimitSettings { max_loss_streak: 2, ..BotLimitSettings::default() };
        let [won, lost, draw] = [Outcome::Won, Outcome::Lost, Outcome::Draw];
        for (ends, is_resumed, expected) in [
            (&[lost][..], false, Ruling::Pass),
            (&[lost, draw, lost], false, Ruling::Refuse),
            (&[lost, won, lost], false, Ruling::Pass),
            (&[lost, lost], true, Ruling::Pass),
        ] {
            let ruling = ask(check_loss_streak, &limits, |situation| {
                for outcome in ends {
                    end(situation, 0, *outcome);
                }
                if is_resumed {
                    situation.state.resume();
                }
            });
            assert_eq!(ruling, expected, "{ends:?}, resumed: {is_resumed}");
        }
    }

    #[test]
    fn limits_of_zero_and_bots_without_limits_are_refused_nothing() {
        let all: [Check; 7] = [
            check_max_open_trades,
            check_max_trades_per_day,
            check_daily_loss_limit,
            check_daily_profit_target,
            check_session_loss_limit,
            check_session_profit_target,
            check_loss_streak,
        ];
        let tight = BotLimitSettings {
            max_open_trades: 1,
            max_trades_per_day: 1,
            daily_loss_limit: Decimal::ONE,
            daily_profit_target: Decimal::ONE,
            session_loss_limit: Decimal::ONE,
            session_profit_target: Decimal::ONE,
            max_loss_streak: 1,
            ..BotLimitSettings::default()
        };
        for check in all {
            let busy = |situation: &mut Situation| {
                end(situation, -90_000, Outcome::Lost);
                situation.begin(Situation::SYMBOL, Stage::Open);
            };
            assert_eq!(ask(check, &BotLimitSettings::default(), busy), Ruling::Pass);
            let others = |situation: &mut Situation| situation.proposal.bot = BotId::new(1).unwrap();
            assert_eq!(ask(check, &tight, others), Ruling::Pass);
        }
    }
}
