//! Rules that refuse every signal of a bot at a moment, with their figures and the moment that lifts them.

use super::bot_limits::limit_use::room_of_bot;
use super::limit_use::limit_use;
use super::{Proposal, Quantity, Rule, View, limit_use_of};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale};

/// Longest time ahead in which the end of a refusal is searched.
const SEARCHED: Millis = Millis::new(Millis::DAY.get() * 64);

/// A rule that refuses every signal of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) rule: Rule,
    /// What may still be lost under the limit and the stake that does not fit, of a rule that compares the two.
    pub(crate) room: Option<(Money, Money)>,
    /// What is compared by any other rule, empty if that is no number.
    pub(crate) figures: String,
    /// Venue time that lifts it, `None` if only an event or an operator does.
    pub(crate) until: Option<Millis>,
}

/// Returns every rule that refuses the proposal in both directions, in the order of the rules.
pub(crate) fn refusals(proposal: &Proposal<'_>, view: View<'_>, scale: MoneyScale) -> Vec<Refusal> {
    let refusing = Rule::ALL.into_iter().filter(|rule| refuses(*rule, proposal, view));
    let refusal = |rule| Refusal {
        rule,
        room: room(rule, proposal, view).map(|left| (left, proposal.stake)),
        figures: figures(rule, proposal, view, scale),
        until: end(rule, proposal, view),
    };
    // Limits of the day do not hold any longer once the day is over.
    refusing.map(refusal).filter(|refusal| refusal.until.is_none_or(|until| until > proposal.at)).collect()
}

/// Describes what a rule compares for this proposal, refused or not. Empty if that is no number.
pub(crate) fn figures(rule: Rule, proposal: &Proposal<'_>, view: View<'_>, scale: MoneyScale) -> String {
    let View { limits, state, .. } = view;
    if let Some(left) = room(rule, proposal, view) {
        return format!("stake {}, {} left", scale.format(proposal.stake), scale.format(left));
    }
    match rule {
        Rule::StaleData => {
            let (age, most) = (proposal.received - proposal.last_close, limits.stale_after_intervals);
            format!("last candle closed {} ago, {} allowed", seconds(age), seconds(proposal.interval * most))
        }
        Rule::ClockSkew => {
            let skew =
                Millis::new(i64::try_from(state.skew().abs_diff(Millis::ZERO).get()).unwrap_or(i64::MAX));
            format!("clocks differ by {}, {} allowed", seconds(skew), seconds(limits.max_clock_skew))
        }
        Rule::MinPayout => min_payout_figures(proposal, view),
        Rule::StakeBounds => stake_figures(proposal, view, scale),
        _ => limit_figures(rule, proposal, view, scale),
    }
}

fn refuses(rule: Rule, proposal: &Proposal<'_>, view: View<'_>) -> bool {
    let directions = [Direction::Buy, Direction::Sell];
    directions.into_iter().all(|direction| rule.refuses(&Proposal { direction, ..*proposal }, view))
}

/// Used and largest value of a limit that counts trades, losses or profit.
fn limit_figures(rule: Rule, proposal: &Proposal<'_>, view: View<'_>, scale: MoneyScale) -> String {
    let parts = (view.ledger, view.intents, view.state);
    let all = limit_use(view.limits, parts, proposal.at);
    let own = limit_use_of(proposal.bot, view.limits, parts);
    let used = all.into_iter().chain(own).find(|used| used.rule == rule);
    let text = |quantity| match quantity {
        Quantity::Count(count) => count.to_string(),
        Quantity::Money(amount) => scale.format(amount),
    };
    used.map_or_else(String::new, |used| format!("{} of {}", text(used.used), text(used.most)))
}

fn min_payout_figures(proposal: &Proposal<'_>, view: View<'_>) -> String {
    let Some(least) = view.limits.min_payout(proposal.symbol) else { return String::new() };
    match view.state.payout(proposal.symbol, proposal.at, view.limits.payout_max_age) {
        Some(payout) => format!("pays {payout} %, {least} % required"),
        None => "payout not known yet, another trade finds it out".to_owned(),
    }
}

fn stake_figures(proposal: &Proposal<'_>, view: View<'_>, scale: MoneyScale) -> String {
    let View { limits, ledger, .. } = view;
    let stake = scale.format(proposal.stake);
    if proposal.stake < limits.minimum_stake() {
        return format!("stake {stake}, at least {} required", scale.format(limits.minimum_stake()));
    }
    let most = limits.largest_stake().into_iter().chain(limits.share_of(ledger.free())).min();
    most.map_or_else(
        || format!("stake {stake}"),
        |most| format!("stake {stake}, at most {} allowed", scale.format(most)),
    )
}

/// What may still be lost under a limit that counts the stake as lost; at least zero.
fn room(rule: Rule, proposal: &Proposal<'_>, view: View<'_>) -> Option<Money> {
    let View { limits, ledger, state, .. } = view;
    let left = match rule {
        Rule::DailyLossLimit => {
            limits.daily_loss_limit.of(ledger.day_equity())? + ledger.day_profit() - ledger.open_stakes()
        }
        Rule::SessionLossLimit => {
            let session = state.session();
            limits.session.loss_limit.of(session.equity)? + session.profit - ledger.open_stakes()
        }
        Rule::MaxDrawdown => limits.drawdown_below(ledger.peak())? + ledger.free() - ledger.peak(),
        Rule::InsufficientBalance => ledger.free(),
        rule => room_of_bot(rule, proposal.bot, view)?,
    };
    Some(left.max(Money::ZERO))
}

/// Venue time at which the rule stops refusing if no event comes first.
fn end(rule: Rule, proposal: &Proposal<'_>, view: View<'_>) -> Option<Millis> {
    let View { limits, ledger, state, .. } = view;
    match rule {
        Rule::MaxTradesPerDay
        | Rule::BotMaxTradesPerDay
        | Rule::DailyLossLimit
        | Rule::BotDailyLossLimit
        | Rule::DailyProfitTarget
        | Rule::BotDailyProfitTarget => Some(ledger.day_end()),
        Rule::SessionLossLimit
        | Rule::SessionProfitTarget
        | Rule::BotSessionLossLimit
        | Rule::BotSessionProfitTarget => limits.session.is_of_hours().then(|| state.session().end()),
        Rule::OutsideHours => limits.hours.iter().filter_map(|window| window.next_start(proposal.at)).min(),
        Rule::Blackout => {
            let spans = limits.blackouts.get(proposal.symbol.index())?;
            spans.iter().map(|(_, to)| *to).find(|to| *to > proposal.at)
        }
        // More time only makes these worse, or changes nothing.
        rule if rule.waits_for_event() => None,
        rule => search_end(rule, proposal, view),
    }
}

/// Finds the moment at which a rule stops refusing by the rule itself, to the millisecond.
fn search_end(rule: Rule, proposal: &Proposal<'_>, view: View<'_>) -> Option<Millis> {
    let is_refused = |at: Millis| {
        let later = Proposal { at, received: at, last_close: at, nominal_close: at, ..*proposal };
        refuses(rule, &later, view)
    };
    let (mut refused, mut ahead) = (proposal.at, Millis::SECOND);
    while ahead <= SEARCHED && is_refused(proposal.at + ahead) {
        refused = proposal.at + ahead;
        ahead = ahead * 2;
    }
    let mut free = Some(proposal.at + ahead).filter(|_| ahead <= SEARCHED)?;
    while free - refused > Millis::new(1) {
        let middle = Millis::new(refused.get() + (free - refused).get() / 2);
        if is_refused(middle) { refused = middle } else { free = middle }
    }
    Some(free)
}

/// A length with as many decimals as it has, at most three: `2.031 s`.
fn seconds(length: Millis) -> String {
    let ms = length.get().max(0);
    let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::super::{PauseCause, PauseScope, PauseSettings, RiskSettings};
    use super::*;
    use crate::intent::Stage;
    use candlewick_sdk::Outcome;
    use candlewick_sdk::rust_decimal::Decimal;

    const DAY_END: Millis = Millis::new(1_767_571_200_000 + 86_400_000);

    fn found(situation: &Situation) -> Vec<(Rule, String, Option<Millis>)> {
        let all = refusals(&situation.proposal, situation.view(), MoneyScale::default());
        all.into_iter().map(|refusal| (refusal.rule, refusal.figures, refusal.until)).collect()
    }

    fn situation(change: impl Fn(&mut RiskSettings)) -> Situation {
        let mut situation = Situation::with(change);
        situation.ledger.open_day(DAY_END);
        situation
    }

    #[test]
    fn finds_nothing_where_a_signal_would_pass() {
        assert_eq!(found(&situation(|_| {})), []);
    }

    #[test]
    fn names_each_rule_with_its_figures_and_its_end() {
        // 98.00 of 100.00 are lost and the stake is 10.00.
        let mut today = situation(|_| {});
        today.lose(Money::from_minor(9_800));
        assert_eq!(
            found(&today),
            [(Rule::DailyLossLimit, "stake 10.00, 2.00 left".to_owned(), Some(DAY_END))]
        );
        let dear = situation(|risk| risk.max_stake = Decimal::new(950, 2));
        let figures = "stake 10.00, at most 9.50 allowed".to_owned();
        assert_eq!(found(&dear), [(Rule::StakeBounds, figures, None)]);
        let mut skewed = situation(|_| {});
        skewed.state.record_skew(Millis::new(-2_031));
        let figures = "clocks differ by 2.031 s, 2 s allowed".to_owned();
        assert_eq!(found(&skewed), [(Rule::ClockSkew, figures, None)]);
        let mut open = situation(|risk| risk.max_open_trades_per_symbol = 0);
        (0..3).for_each(|_| open.begin(Situation::SYMBOL, Stage::Open));
        // A trade in either direction refuses its opposite only.
        assert_eq!(found(&open), [(Rule::MaxOpenTrades, "3 of 3".to_owned(), None)]);
    }

    #[test]
    fn finds_the_end_of_a_rest_by_asking_its_rule() {
        let pause = PauseSettings { after: 1, of: PauseCause::Losses, for_s: 75, scope: PauseScope::All };
        let mut resting = situation(|risk| {
            (risk.pauses, risk.cooldown_after_loss_s) = (vec![pause.clone()], 3_601);
        });
        let at = resting.proposal.at;
        let whose = (resting.proposal.bot, Situation::SYMBOL);
        resting.state.count_pauses(&resting.limits, whose, Outcome::Lost, (at, DAY_END));
        resting.state.cool_down(&resting.limits, Situation::SYMBOL, at, 1);
        let ends: Vec<_> = found(&resting).into_iter().map(|(rule, _, until)| (rule, until)).collect();
        assert_eq!(
            ends,
            [
                (Rule::Cooldown, Some(at + Millis::from_seconds(3_601))),
                (Rule::Pause, Some(at + Millis::from_seconds(75))),
            ]
        );
    }

    #[test]
    fn a_limit_of_a_day_that_is_over_refuses_nothing() {
        let mut situation = situation(|_| {});
        situation.lose(Money::from_minor(9_800));
        situation.proposal.at = DAY_END;
        situation.proposal.received = DAY_END;
        situation.proposal.last_close = DAY_END;
        assert_eq!(found(&situation), []);
    }
}
