//! Finds the rules that currently reject every signal of a bot, and the time at which each rule is lifted.

use super::freshness::format_seconds;
use super::limit_use::{bot_limit_usage, limit_usage, remaining_bot_loss};
use super::{
    Check, Proposal, Quantity, RiskView, Rule, Ruling, bot_limits, check_halted, money_limits, open_trades,
    pauses, session_limits, venue_refusals,
};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale};

const MAX_SEARCH_SPAN: Millis = Millis::new(Millis::DAY.get() * 64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) rule: Rule,
    /// Remaining amount and the stake that exceeds this amount, `None` for rules that do not compare amounts.
    pub(crate) remaining_and_stake: Option<(Money, Money)>,
    pub(crate) figures: String,
    /// Venue time at which the rule is lifted, `None` if only an event or the operator can lift it.
    pub(crate) until: Option<Millis>,
    /// Whether the rule may be lifted when open trades settle, because open stakes count as lost.
    pub(crate) waits_for_trades: bool,
}

pub(crate) fn refusals(proposal: &Proposal<'_>, view: RiskView<'_>, scale: MoneyScale) -> Vec<Refusal> {
    let refusing = Rule::ALL.into_iter().filter(|rule| refuses_both_directions(*rule, proposal, view));
    let refusal = |rule| {
        let remaining = remaining_amount(rule, proposal, view);
        Refusal {
            rule,
            remaining_and_stake: remaining.map(|left| (left.max(Money::ZERO), proposal.stake)),
            figures: describe_refusal(rule, proposal, view, scale),
            until: find_refusal_end(rule, proposal, view),
            waits_for_trades: remaining
                .is_some_and(|left| left + pending_stakes(rule, proposal, view) >= proposal.stake),
        }
    };
    // Daily limits no longer apply once the day is over.
    refusing.map(refusal).filter(|refusal| refusal.until.is_none_or(|until| until > proposal.at)).collect()
}

pub(crate) fn describe_refusal(
    rule: Rule,
    proposal: &Proposal<'_>,
    view: RiskView<'_>,
    scale: MoneyScale,
) -> String {
    let RiskView { limits, state, .. } = view;
    if let Some(left) = remaining_amount(rule, proposal, view) {
        return format!(
            "stake {}, {} left",
            scale.format(proposal.stake),
            scale.format(left.max(Money::ZERO))
        );
    }
    match rule {
        Rule::StaleData => {
            let (age, most) = (proposal.received - proposal.last_close, limits.stale_after_intervals);
            format!(
                "last candle closed {} s ago, the limit is {} s",
                format_seconds(age),
                format_seconds(proposal.interval * most)
            )
        }
        Rule::ClockSkew => {
            let skew = state.skew.abs_diff(Millis::ZERO);
            format!(
                "clocks differ by {} s, the limit is {} s",
                format_seconds(skew),
                format_seconds(limits.max_clock_skew)
            )
        }
        Rule::MinPayout => describe_min_payout(proposal, view),
        Rule::StakeBounds => describe_stake_bounds(proposal, view, scale),
        _ => describe_limit_usage(rule, proposal, view, scale),
    }
}

fn refuses_both_directions(rule: Rule, proposal: &Proposal<'_>, view: RiskView<'_>) -> bool {
    let directions = [Direction::Buy, Direction::Sell];
    directions.into_iter().all(|direction| rule.refuses(&Proposal { direction, ..*proposal }, view))
}

fn describe_limit_usage(
    rule: Rule,
    proposal: &Proposal<'_>,
    view: RiskView<'_>,
    scale: MoneyScale,
) -> String {
    let parts = (view.ledger, view.intents, view.state);
    let all = limit_usage(view.limits, parts, proposal.at);
    let own = bot_limit_usage(proposal.bot, view.limits, parts);
    let used = all.into_iter().chain(own).find(|used| used.rule == rule);
    let text = |quantity| match quantity {
        Quantity::Count(count) => count.to_string(),
        Quantity::Money(amount) => scale.format(amount),
    };
    used.map_or_else(String::new, |used| format!("{} of {}", text(used.used), text(used.limit)))
}

fn describe_min_payout(proposal: &Proposal<'_>, view: RiskView<'_>) -> String {
    let Some(least) = view.limits.min_payout(proposal.symbol) else { return String::new() };
    match view.state.payout(proposal.symbol, proposal.at, view.limits.payout_max_age) {
        Some(payout) => format!("the payout {payout} % is below the minimum of {least} %"),
        None => "the payout is unknown until a pending trade reports it".to_owned(),
    }
}

fn describe_stake_bounds(proposal: &Proposal<'_>, view: RiskView<'_>, scale: MoneyScale) -> String {
    let RiskView { limits, ledger, .. } = view;
    let stake = scale.format(proposal.stake);
    if proposal.stake < limits.minimum_stake {
        return format!("the stake {stake} is below the minimum of {}", scale.format(limits.minimum_stake));
    }
    let most =
        limits.largest_stake().into_iter().chain(limits.max_stake_at(ledger.available_balance())).min();
    most.map_or_else(
        || format!("stake {stake}"),
        |most| format!("the stake {stake} is above the maximum of {}", scale.format(most)),
    )
}

/// Returns the amount that may still be staked under the rule, negative if its limit is already exceeded.
fn remaining_amount(rule: Rule, proposal: &Proposal<'_>, view: RiskView<'_>) -> Option<Money> {
    let RiskView { limits, ledger, state, .. } = view;
    Some(match rule {
        Rule::DailyLossLimit => {
            limits.daily_loss_limit.amount_at(ledger.day_equity())? + ledger.day_result()
                - ledger.open_stakes()
        }
        Rule::SessionLossLimit => {
            let session = state.session;
            let result = session.result(ledger.shortage());
            limits.session.loss_limit.amount_at(session.equity)? + result - ledger.open_stakes()
        }
        Rule::MaxDrawdown => {
            limits.max_drawdown_amount(ledger.peak_equity())? + ledger.available_balance()
                - ledger.peak_equity()
        }
        Rule::InsufficientBalance => ledger.available_balance(),
        rule => remaining_bot_loss(rule, proposal.bot, view)?,
    })
}

fn pending_stakes(rule: Rule, proposal: &Proposal<'_>, view: RiskView<'_>) -> Money {
    match rule {
        Rule::BotDailyLossLimit | Rule::BotSessionLossLimit => view.intents.bot_total_stake(proposal.bot),
        _ => view.ledger.open_stakes(),
    }
}

fn find_refusal_end(rule: Rule, proposal: &Proposal<'_>, view: RiskView<'_>) -> Option<Millis> {
    let RiskView { limits, ledger, state, .. } = view;
    match rule {
        Rule::MaxTradesPerDay
        | Rule::BotMaxTradesPerDay
        | Rule::DailyLossLimit
        | Rule::BotDailyLossLimit
        | Rule::DailyProfitTarget
        | Rule::BotDailyProfitTarget => Some(ledger.day_end),
        Rule::SessionLossLimit
        | Rule::SessionProfitTarget
        | Rule::BotSessionLossLimit
        | Rule::BotSessionProfitTarget => limits.session.is_per_trading_window().then(|| state.session.end()),
        Rule::OutsideHours => limits.hours.iter().filter_map(|window| window.next_start(proposal.at)).min(),
        Rule::Blackout => {
            let spans = limits.blackouts.get(proposal.symbol.index())?;
            spans.iter().map(|(_, to)| *to).find(|to| *to > proposal.at)
        }
        // The passage of time does not lift these rules.
        rule if rule.ends_by_event() => None,
        rule => bisect_refusal_end(rule, proposal, view),
    }
}

fn bisect_refusal_end(rule: Rule, proposal: &Proposal<'_>, view: RiskView<'_>) -> Option<Millis> {
    let is_refused = |at: Millis| {
        let later = Proposal { at, received: at, last_close: at, nominal_close: at, ..*proposal };
        refuses_both_directions(rule, &later, view)
    };
    let (mut refused, mut ahead) = (proposal.at, Millis::SECOND);
    while ahead <= MAX_SEARCH_SPAN && is_refused(proposal.at + ahead) {
        refused = proposal.at + ahead;
        ahead = ahead * 2;
    }
    let mut free = Some(proposal.at + ahead).filter(|_| ahead <= MAX_SEARCH_SPAN)?;
    while free - refused > Millis::new(1) {
        let middle = Millis::new(refused.get() + (free - refused).get() / 2);
        if is_refused(middle) { refused = middle } else { free = middle }
    }
    Some(free)
}

/// Returns the earliest time at which a signal of the bot may pass the rules if no event occurs until then.
/// Returns `proposal.at` if the next signal may pass, and `Millis::MAX` if only an event can lift a rule.
/// Some rules, such as trading hours, are ignored, so the actual time may be later.
pub(crate) fn refused_until(proposal: &Proposal<'_>, view: RiskView<'_>) -> Millis {
    let refuses = |check: Check| check(proposal, view) == Ruling::Refuse;
    // Only an event lifts the following rules. The most frequent rule is first.
    if view.limits.is_open_trade_cap_reached(view.intents, view.counts)
        || refuses(open_trades::check_in_flight)
    {
        return Millis::MAX;
    }
    if refuses(bot_limits::check_max_open_trades) || refuses(bot_limits::check_loss_streak) {
        return Millis::MAX;
    }
    if refuses(check_halted) || refuses(money_limits::check_loss_streak) {
        return Millis::MAX;
    }
    // A stake does not change between events, unless it depends on the age of a payout.
    let is_stake_fixed = !view.limits.needs_payout(proposal.symbol);
    if is_stake_fixed
        && (refuses(money_limits::check_max_drawdown)
            || refuses(money_limits::check_stake_bounds)
            || refuses(money_limits::check_insufficient_balance))
    {
        return Millis::MAX;
    }
    // The Session itself checks for the end of a session of trading hours.
    if refuses(session_limits::check_session_profit_target)
        || (is_stake_fixed && refuses(session_limits::check_session_loss_limit))
    {
        return Millis::MAX;
    }
    if refuses(bot_limits::check_session_profit_target)
        || (is_stake_fixed && refuses(bot_limits::check_session_loss_limit))
    {
        return Millis::MAX;
    }
    let mut until = proposal.at;
    if refuses(open_trades::check_max_trades_per_day)
        || refuses(money_limits::check_daily_profit_target)
        || refuses(bot_limits::check_max_trades_per_day)
        || refuses(bot_limits::check_daily_profit_target)
        || (is_stake_fixed
            && (refuses(money_limits::check_daily_loss_limit) || refuses(bot_limits::check_daily_loss_limit)))
    {
        until = view.ledger.day_end;
    }
    if refuses(pauses::check_cooldown) {
        until = until.max(view.state.cooldown_end(proposal.symbol));
    }
    if refuses(pauses::check_pause) {
        until = until.max(view.state.paused_until(proposal.bot, proposal.symbol));
    }
    if refuses(venue_refusals::check_refused_by_venue) {
        until = until.max(view.state.refusal_pause_end(view.limits, proposal.symbol));
    }
    until
}

/// Returns the rule that stops the bot until the operator resumes or deposits money. Assumes that no trade is pending.
pub(crate) fn stopping_rule(proposal: &Proposal<'_>, view: RiskView<'_>) -> Option<Rule> {
    let refuses = |check: Check| check(proposal, view) == Ruling::Refuse;
    let found = |check, rule| refuses(check).then_some(rule);
    let of_run = |check, rule| view.limits.session.is_per_run().then(|| found(check, rule)).flatten();
    found(money_limits::check_loss_streak, Rule::LossStreak)
        .or_else(|| found(bot_limits::check_loss_streak, Rule::BotLossStreak))
        .or_else(|| of_run(session_limits::check_session_profit_target, Rule::SessionProfitTarget))
        .or_else(|| of_run(session_limits::check_session_loss_limit, Rule::SessionLossLimit))
        .or_else(|| of_run(bot_limits::check_session_profit_target, Rule::BotSessionProfitTarget))
        .or_else(|| of_run(bot_limits::check_session_loss_limit, Rule::BotSessionLossLimit))
        .or_else(|| found(money_limits::check_max_drawdown, Rule::MaxDrawdown))
        .or_else(|| found(money_limits::check_insufficient_balance, Rule::InsufficientBalance))
}

#[cfg(test)]
mod tests {
    use super::super::order_terms;
    use super::super::testing::Situation;
    use super::*;
    use crate::intent::IntentStage;
    use candlewick_sdk::Outcome;
    use serde_json::{Value, json};

    type Happen = fn(&mut Situation);

    const AT: Millis = Millis::new(1_767_571_260_000);
    const DAY_END: Millis = Millis::new(1_767_571_200_000 + 86_400_000);

    fn situation(settings: &Value) -> Situation {
        let mut situation = Situation::from_json(settings);
        situation.ledger.open_day(DAY_END);
        situation
    }

    fn pause(for_s: u32) -> Value {
        json!({ "pauses": [{ "after": 1, "of": "losses", "for_s": for_s }], "cooldown_after_loss_s": 0 })
    }

    fn lose_trade(now: &mut Situation) {
        now.end((now.proposal.bot, Situation::SYMBOL), Outcome::Lost, (AT, DAY_END));
        now.state.cool_down(&now.limits, Situation::SYMBOL, AT, 1);
    }

    fn found(situation: &Situation) -> Vec<(Rule, String, Option<Millis>)> {
        let all = refusals(&situation.proposal, situation.view(), MoneyScale::default());
        let is_refused = |direction| {
            let proposal = Proposal { direction, ..situation.proposal };
            order_terms(&proposal, situation.view()).is_err()
        };
        let is_stopped = is_refused(Direction::Buy) && is_refused(Direction::Sell);
        assert_eq!(is_stopped, !all.is_empty(), "{all:?}");
        assert!(
            all.iter().all(|one| one.remaining_and_stake.is_none_or(|(left, stake)| left < stake)),
            "{all:?}"
        );
        all.into_iter().map(|refusal| (refusal.rule, refusal.figures, refusal.until)).collect()
    }

    #[test]
    fn describes_each_rule_with_its_figures_and_end() {
        let quiet: Happen = |_| {};
        for (settings, happen, expected) in [
            (json!({}), quiet, None),
            // 98.00 of 100.00 are lost and the stake is 10.00.
            (
                json!({}),
                |now| now.lose(Money::from_minor(9_800)),
                Some((Rule::DailyLossLimit, "stake 10.00, 2.00 left", Some(DAY_END))),
            ),
            (
                json!({ "max_stake": 9.5 }),
                quiet,
                Some((Rule::StakeBounds, "the stake 10.00 is above the maximum of 9.50", None)),
            ),
            (
                json!({}),
                |now| now.state.skew = Millis::new(-2_031),
                Some((Rule::ClockSkew, "clocks differ by 2.031 s, the limit is 2 s", None)),
            ),
            (
                json!({ "max_open_trades_per_symbol": 0 }),
                |now| (0..3).for_each(|_| now.begin(Situation::SYMBOL, IntentStage::Open)),
                Some((Rule::MaxOpenTrades, "3 of 3", None)),
            ),
        ] {
            let mut now = situation(&settings);
            happen(&mut now);
            let expected = expected.map(|(rule, figures, until)| (rule, figures.to_owned(), until));
            assert_eq!(found(&now), expected.into_iter().collect::<Vec<_>>(), "{settings}");
        }
    }

    #[test]
    fn finds_end_of_a_pause_by_checking_its_rule() {
        let mut settings = pause(75);
        settings["cooldown_after_loss_s"] = json!(3_601);
        let mut resting = situation(&settings);
        lose_trade(&mut resting);
        let ends: Vec<_> = found(&resting).into_iter().map(|(rule, _, until)| (rule, until)).collect();
        let [long, short] = [3_601, 75].map(|seconds| Some(AT + Millis::from_seconds(seconds)));
        assert_eq!(ends, [(Rule::Cooldown, long), (Rule::Pause, short)]);
    }

    #[test]
    fn daily_loss_limit_waits_for_open_trades_and_ends_with_its_day() {
        // 85.00 are lost and 10.00 open, so 5.00 are left, or 15.00 if the trade wins.
        for (lost, open, waits) in
            [(8_500, 1_000, true), (9_500, 0, false), (9_100, 500, false), (12_000, 1_000, false)]
        {
            let mut situation = situation(&json!({}));
            situation.lose(Money::from_minor(lost));
            situation.ledger.reserve(Money::from_minor(open));
            let find = |now: &Situation| {
                let all = refusals(&now.proposal, now.view(), MoneyScale::default());
                all.iter().map(|one| (one.rule, one.waits_for_trades)).collect::<Vec<_>>()
            };
            assert_eq!(find(&situation), [(Rule::DailyLossLimit, waits)], "{lost} lost, {open} open");
            situation.move_to(DAY_END);
            assert_eq!(find(&situation), []);
        }
    }

    #[test]
    fn money_missing_from_the_wallet_counts_in_the_figures() {
        let off = json!({ "daily_loss_limit": 0, "max_drawdown_percent": 0.0 });
        let session =
            json!({ "daily_loss_limit": 0, "max_drawdown_percent": 0.0, "session": { "loss_limit": 100 } });
        let drawdown = json!({ "daily_loss_limit": 0 });
        let share = json!({ "daily_loss_limit": 0, "max_drawdown_percent": 0.0, "max_stake_percent": 0.1 });
        let above = "the stake 10.00 is above the maximum of 9.99";
        for (settings, lost, missing, expected) in [
            // 60.00 are lost and 35.00 missing of the limit of 100.00.
            (json!({}), 6_000, 3_500, (Rule::DailyLossLimit, "stake 10.00, 5.00 left")),
            (session, 6_000, 3_500, (Rule::SessionLossLimit, "stake 10.00, 5.00 left")),
            // 20 % of 10,000.00 may be lost.
            (drawdown, 150_000, 49_500, (Rule::MaxDrawdown, "stake 10.00, 5.00 left")),
            (off, 600_000, 399_500, (Rule::InsufficientBalance, "stake 10.00, 5.00 left")),
            // 0.1 % of 9,999.00 is 9.99.
            (share, 0, 100, (Rule::StakeBounds, above)),
        ] {
            let mut now = situation(&settings);
            now.lose(Money::from_minor(lost));
            now.state.session.profit = Money::from_minor(-lost);
            now.ledger.record_wallet_difference(Money::from_minor(-missing));
            let all: Vec<_> = found(&now).into_iter().map(|(rule, figures, _)| (rule, figures)).collect();
            assert_eq!(all, [(expected.0, expected.1.to_owned())], "{settings}");
        }
    }

    #[test]
    fn hours_and_blackouts_have_an_end() {
        let mut closed = situation(&json!({ "hours": [{ "from": "08:00", "to": "17:00" }] }));
        // 2026-01-05 18:00: the next window begins at 08:00 of the next day.
        let at = DAY_END - Millis::HOUR * 6;
        closed.move_to(at);
        closed.proposal.nominal_close = at;
        let morning = DAY_END + Millis::HOUR * 8;
        assert_eq!(found(&closed), [(Rule::OutsideHours, String::new(), Some(morning))]);
        let minute = Millis::MINUTE;
        let spans = [(at - minute, at + minute), (morning, DAY_END * 2)]
            .map(|(from, to)| json!({ "from": from.get(), "to": to.get(), "symbols": [], "reason": "" }));
        let blackouts = json!({ "file": "news.csv", "hash": "ab", "spans": spans });
        let mut news = situation(&json!({ "blackouts": blackouts }));
        news.know_symbols(&["BTCUSDT"]);
        news.move_to(at);
        assert_eq!(found(&news), [(Rule::Blackout, String::new(), Some(at + minute))]);
    }

    #[test]
    fn refuses_until_an_event_a_new_day_or_the_end_of_a_pause() {
        let quiet: Happen = |_| {};
        for (settings, happen, expected) in [
            (json!({ "max_stake": 1 }), quiet, Millis::MAX),
            (json!({}), |now| now.begin(Situation::SYMBOL, IntentStage::Open), Millis::MAX),
            (json!({}), |now| now.begin(Situation::SYMBOL, IntentStage::InFlight), Millis::MAX),
            (json!({}), |now| now.state.halted = true, Millis::MAX),
            (json!({ "max_loss_streak": 1 }), |now| now.ledger.count_outcome(Outcome::Lost), Millis::MAX),
            (json!({ "daily_loss_limit": 0 }), |now| now.lose(Money::from_minor(200_000)), Millis::MAX),
            (json!({}), |now| now.lose(Money::from_minor(9_500)), DAY_END),
            (json!({ "daily_profit_target": 1 }), |now| now.lose(Money::from_minor(-100)), DAY_END),
            (json!({ "cooldown_after_loss_s": 90 }), lose_trade, AT + Millis::from_seconds(90)),
            (pause(75), lose_trade, AT + Millis::from_seconds(75)),
            (pause(0), lose_trade, DAY_END),
        ] {
            let mut situation = situation(&settings);
            happen(&mut situation);
            let (proposal, view) = (situation.proposal, situation.view());
            let until = refused_until(&proposal, view);
            assert_eq!(until, expected, "{settings}");
            let last = until.min(DAY_END) - Millis::new(1);
            for at in [AT, AT + (last - AT).floor_to(Millis::SECOND), last] {
                for direction in [Direction::Buy, Direction::Sell] {
                    let later = Proposal { at, received: at, last_close: at, direction, ..proposal };
                    let is_refused = order_terms(&later, view).is_err();
                    assert_eq!(is_refused, at < until, "{direction} at {at} of {until}");
                }
            }
        }
        for settings in [json!({}), json!({ "min_payout_percent": 50.0, "max_stake": 1 })] {
            let situation = situation(&settings);
            assert_eq!(refused_until(&situation.proposal, situation.view()), AT);
        }
    }

    #[test]
    fn rules_for_an_operator_stop_a_bot_but_daily_limits_do_not() {
        let all_off = json!({ "daily_loss_limit": 0, "max_drawdown_percent": 0.0 });
        for (settings, lost, expected) in [
            (&json!({}), 100, None),
            (&json!({ "max_loss_streak": 1 }), 100, Some(Rule::LossStreak)),
            (&json!({ "max_loss_streak": 2 }), 100, None),
            // The daily limit of 100.00 is exhausted only today.
            (&json!({}), 10_000, None),
            // 20 % of 10,000.00 leaves no room for a stake of 10.00 after a loss of 1,990.01.
            (&json!({}), 199_000, None),
            (&json!({}), 199_001, Some(Rule::MaxDrawdown)),
            (&all_off, 999_000, None),
            (&all_off, 999_001, Some(Rule::InsufficientBalance)),
        ] {
            let mut situation = Situation::from_json(settings);
            situation.lose(Money::from_minor(lost));
            situation.ledger.count_outcome(Outcome::Lost);
            assert_eq!(stopping_rule(&situation.proposal, situation.view()), expected, "{settings} {lost}");
        }
    }
}
