//! Rules that refuse every signal of a bot until time or an event changes that.

use super::{Proposal, Rule, Ruling, View};
use super::{
    bot_limits, cooldown, daily_loss_limit, daily_profit_target, halted, in_flight, insufficient_balance,
    loss_streak, max_drawdown, max_trades_per_day, pause, refused_by_venue, session_loss_limit,
    session_profit_target, stake_bounds,
};
use candlewick_sdk::Millis;

/// Returns the time until which every signal of the bot is refused if no event comes first.
/// `Millis::MAX` if only an event can lift the refusal, the time of the proposal if the next signal
/// may be approved.
///
/// The result is certain but not complete: refusals for other reasons, such as trading hours, are
/// ignored.
pub(crate) fn refuses_until(proposal: &Proposal<'_>, view: View<'_>) -> Millis {
    let refuses = |check: super::Check| check(proposal, view) == Ruling::Refuse;
    // Nothing here but an event opens the way again. The usual reason is the first.
    if view.limits.is_full(view.intents, view.counts) || refuses(in_flight::check) {
        return Millis::MAX;
    }
    if refuses(bot_limits::max_open_trades::check) || refuses(bot_limits::loss_streak::check) {
        return Millis::MAX;
    }
    if refuses(halted::check) || refuses(loss_streak::check) {
        return Millis::MAX;
    }
    // Between events a stake stays what it is, unless it depends on the age of a payout.
    let is_stake_fixed = !view.limits.needs_payout(proposal.symbol);
    if is_stake_fixed
        && (refuses(max_drawdown::check)
            || refuses(stake_bounds::check)
            || refuses(insufficient_balance::check))
    {
        return Millis::MAX;
    }
    // A session of hours ends by time, which a Session looks at by itself.
    if refuses(session_profit_target::check) || (is_stake_fixed && refuses(session_loss_limit::check)) {
        return Millis::MAX;
    }
    if refuses(bot_limits::session_profit_target::check)
        || (is_stake_fixed && refuses(bot_limits::session_loss_limit::check))
    {
        return Millis::MAX;
    }
    let mut until = proposal.at;
    if refuses(max_trades_per_day::check)
        || refuses(daily_profit_target::check)
        || refuses(bot_limits::max_trades_per_day::check)
        || refuses(bot_limits::daily_profit_target::check)
        || (is_stake_fixed
            && (refuses(daily_loss_limit::check) || refuses(bot_limits::daily_loss_limit::check)))
    {
        until = view.ledger.day_end();
    }
    if refuses(cooldown::check) {
        until = until.max(view.state.rested_at(proposal.symbol));
    }
    if refuses(pause::check) {
        until = until.max(view.state.paused_until(proposal.bot, proposal.symbol));
    }
    if refuses(refused_by_venue::check) {
        until = until.max(view.state.refused_until(view.limits, proposal.symbol));
    }
    until
}

/// Returns the rule that stops the bot for good once no trade is pending: neither time nor the
/// market lifts it, only an operator or a deposit.
pub(crate) fn stopped_by(proposal: &Proposal<'_>, view: View<'_>) -> Option<Rule> {
    let refuses = |check: super::Check| check(proposal, view) == Ruling::Refuse;
    let found = |check, rule| refuses(check).then_some(rule);
    let of_run = |check, rule| view.limits.session.is_of_runs().then(|| found(check, rule)).flatten();
    found(loss_streak::check, Rule::LossStreak)
        .or_else(|| found(bot_limits::loss_streak::check, Rule::BotLossStreak))
        .or_else(|| of_run(session_profit_target::check, Rule::SessionProfitTarget))
        .or_else(|| of_run(session_loss_limit::check, Rule::SessionLossLimit))
        .or_else(|| of_run(bot_limits::session_profit_target::check, Rule::BotSessionProfitTarget))
        .or_else(|| of_run(bot_limits::session_loss_limit::check, Rule::BotSessionLossLimit))
        .or_else(|| found(max_drawdown::check, Rule::MaxDrawdown))
        .or_else(|| found(insufficient_balance::check, Rule::InsufficientBalance))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::super::{PauseCause, PauseScope, PauseSettings, RiskSettings, order_terms};
    use super::*;
    use crate::intent::Stage;
    use candlewick_sdk::rust_decimal::Decimal;
    use candlewick_sdk::{Direction, Money, Outcome};

    const DAY_END: Millis = Millis::new(1_767_571_200_000 + 86_400_000);

    /// The answer, and that whatever is signalled before it is refused.
    fn check(settings: impl Fn(&mut RiskSettings), happen: impl Fn(&mut Situation), expected: Millis) {
        let mut situation = Situation::with(settings);
        situation.ledger.open_day(DAY_END);
        happen(&mut situation);
        let (proposal, view) = (situation.proposal, situation.view());
        let until = refuses_until(&proposal, view);
        assert_eq!(until, expected);
        let last = until.min(DAY_END) - Millis::new(1);
        for at in [proposal.at, proposal.at + (last - proposal.at).floor_to(Millis::SECOND), last] {
            for direction in [Direction::Buy, Direction::Sell] {
                let later = Proposal { at, received: at, last_close: at, direction, ..proposal };
                let is_refused = order_terms(&later, view).is_err();
                assert_eq!(is_refused, at < until, "{direction} at {at} of {until}");
            }
        }
    }

    #[test]
    fn nothing_stands_where_nothing_is_wrong() {
        let situation = Situation::default();
        assert_eq!(refuses_until(&situation.proposal, situation.view()), situation.proposal.at);
    }

    #[test]
    fn what_only_an_event_changes_stands_until_one_comes() {
        check(|_| {}, |situation| situation.begin(Situation::SYMBOL, Stage::Open), Millis::MAX);
        check(|_| {}, |situation| situation.begin(Situation::SYMBOL, Stage::InFlight), Millis::MAX);
        check(|_| {}, |situation| situation.state.halt(), Millis::MAX);
        check(
            |rules| rules.max_loss_streak = 1,
            |situation| situation.ledger.count_outcome(Outcome::Lost),
            Millis::MAX,
        );
        let open = |rules: &mut RiskSettings| rules.daily_loss_limit = Decimal::ZERO;
        check(open, |situation| situation.lose(Money::from_minor(200_000)), Millis::MAX);
        check(|rules| rules.max_stake = Decimal::ONE, |_| {}, Millis::MAX);
    }

    #[test]
    fn what_only_a_person_lifts_stops_a_bot_and_what_a_new_day_lifts_does_not() {
        let check = |settings: &dyn Fn(&mut RiskSettings), lost: i64, expected: Option<Rule>| {
            let mut situation = Situation::with(settings);
            situation.lose(Money::from_minor(lost));
            situation.ledger.count_outcome(Outcome::Lost);
            assert_eq!(stopped_by(&situation.proposal, situation.view()), expected, "{lost}");
        };
        let all_off = |rules: &mut RiskSettings| {
            (rules.daily_loss_limit, rules.max_drawdown_percent) = (Decimal::ZERO, 0.0);
        };
        check(&|_| {}, 100, None);
        check(&|rules| rules.max_loss_streak = 1, 100, Some(Rule::LossStreak));
        check(&|rules| rules.max_loss_streak = 2, 100, None);
        // The daily limit of 100.00 is used up; tomorrow it is not.
        check(&|_| {}, 10_000, None);
        // 20 % of 10,000.00 leave no room for a stake of 10.00 after a loss of 1,990.01.
        check(&|_| {}, 199_000, None);
        check(&|_| {}, 199_001, Some(Rule::MaxDrawdown));
        check(&all_off, 999_000, None);
        check(&all_off, 999_001, Some(Rule::InsufficientBalance));
    }

    #[test]
    fn what_a_new_day_or_a_rest_changes_stands_until_then() {
        check(|_| {}, |situation| situation.lose(Money::from_minor(9_500)), DAY_END);
        let target = |rules: &mut RiskSettings| rules.daily_profit_target = Decimal::ONE;
        check(target, |situation| situation.lose(Money::from_minor(-100)), DAY_END);
        let rest = |rules: &mut RiskSettings| rules.cooldown_after_loss_s = 90;
        let lose = |situation: &mut Situation| {
            let at = situation.proposal.at;
            situation.state.cool_down(&situation.limits, Situation::SYMBOL, at, 1);
        };
        check(rest, lose, Situation::default().proposal.at + Millis::from_seconds(90));
        let pause = |for_s: u32| {
            move |rules: &mut RiskSettings| {
                let (of, scope) = (PauseCause::Losses, PauseScope::Bot);
                rules.pauses = vec![PauseSettings { after: 1, of, for_s, scope }];
            }
        };
        let lose = |situation: &mut Situation| {
            let (whose, at) = ((situation.proposal.bot, Situation::SYMBOL), situation.proposal.at);
            situation.state.count_pauses(&situation.limits, whose, Outcome::Lost, (at, DAY_END));
        };
        check(pause(75), lose, Situation::default().proposal.at + Millis::from_seconds(75));
        check(pause(0), lose, DAY_END);
    }

    #[test]
    fn a_stake_that_the_age_of_a_payout_changes_is_not_taken_for_fixed() {
        let rules = |rules: &mut RiskSettings| {
            (rules.min_payout_percent, rules.max_stake) = (50.0, Decimal::ONE);
        };
        let situation = Situation::with(rules);
        assert_eq!(refuses_until(&situation.proposal, situation.view()), situation.proposal.at);
    }
}
