//! Checks of stakes against the limits before the first trade.
//!
//! All levels of all ladders that may run at once must fit the limits, a Kelly stake needs a
//! limit on the trades that share it, and a run that could never trade is not started.

use crate::risk::{Bound, Limits, RiskSettings};
use crate::stake::{LadderCost, Purse, Stake};
use crate::{BotSettings, EngineError, SessionSettings, StakeSettings};
use candlewick_sdk::{Money, MoneyScale};

/// A notice about a bot's ladder before the first trade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderNotice {
    /// Name of the bot.
    pub bot: String,
    /// Cost of all levels, in the decimals of the wallet.
    pub cost: String,
    /// Largest stake of the ladder.
    pub largest: String,
    /// Full text of the notice.
    pub text: String,
    /// Daily loss limit that may stop the ladder midway.
    pub day: Option<LadderInDay>,
}

/// A daily loss limit and the part of the limit that one full ladder leaves.
/// Once the day has lost more than that, another ladder no longer fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderInDay {
    /// Limit as its setting and amount.
    pub limit: String,
    /// Cost of a full ladder, in the decimals of the wallet.
    pub cost: String,
    /// Maximum loss of the day before the ladder.
    pub room: String,
    /// Whether only the losses of this bot count.
    pub is_own: bool,
}

/// Checks the stakes of all bots against the limits, at a start or reload.
/// The full cost of all ladders must fit balance, daily loss limit, drawdown limit and largest stake. The
/// first stake of each bot must be possible ([`check_first_stakes`]). Open trades must be limited if a bot
/// stakes by Kelly. The error has the figures if they do not fit.
pub fn check_stakes(settings: &SessionSettings) -> Result<Vec<LadderNotice>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = settings.exact_balance()?;
    let mut notices = Vec::new();
    let (mut total, mut together) = (Money::ZERO, Money::ZERO);
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        check_kelly(bot, &limits)?;
        let Some(cost) = Stake::new(&bot.stake, scale, &key)?.ladder_cost() else { continue };
        if !limits.cap_stakes {
            check_largest(cost, (key, balance), (&limits, scale))?;
        }
        // Trades that are open at once may lie on one level, each level as often.
        let at_once = most_at_once(bot, &limits);
        let whole = cost.total.times(at_once);
        check_own_limits(&bot.name, cost.total, balance, (&limits, scale))?;
        total += cost.total;
        together += whole;
        let day = in_day(bot, cost.total, balance, (&limits, settings));
        let (bot, of_one) = (bot.name.clone(), scale.format(cost.total));
        let (cost, largest) = (scale.format(whole), scale.format(cost.largest));
        let each = if at_once == 1 {
            format!("(largest stake {largest})")
        } else {
            format!(
                "in each of the {at_once} trades that may be open at once (of one {of_one}, largest stake {largest}): \
                 max_open_trades_per_symbol = 1 keeps it to one, and else two that lose together climb two levels"
            )
        };
        let text = format!("bot \"{bot}\": its ladder costs {cost} when every level loses {each}");
        notices.push(LadderNotice { bot, cost, largest, text, day });
    }
    let bounds = [
        ("account.initial_balance", Some(balance)),
        ("risk.daily_loss_limit", limits.daily_loss_limit.amount()),
        ("risk.daily_loss_limit_percent", limits.daily_loss_limit.share_of(balance)),
        ("risk.session.loss_limit", limits.session.loss_limit.amount()),
        ("risk.session.loss_limit_percent", limits.session.loss_limit.share_of(balance)),
        ("risk.max_drawdown_percent", limits.drawdown_below(balance)),
    ];
    if let Some((key, bound)) = first_below(&bounds, total) {
        let (total, bound) = (scale.format(total), scale.format(bound));
        return Err(EngineError::setting(
            key,
            format!(
                "all ladders together cost {total}, more than the {bound} that this allows: take fewer levels, a smaller amount, or raise it"
            ),
        ));
    }
    if let (Some((key, bound)), Some(notice)) = (first_below(&bounds, together), notices.last_mut()) {
        let (all, bound) = (scale.format(together), scale.format(bound));
        notice.text = format!(
            "{}; with as many open all ladders together may cost {all}, more than the {bound} of {key}",
            notice.text
        );
    }
    check_first_stakes(settings)?;
    Ok(notices)
}

fn first_below<'a>(bounds: &[(&'a str, Option<Money>)], cost: Money) -> Option<(&'a str, Money)> {
    bounds.iter().find_map(|(key, bound)| Some((*key, bound.filter(|bound| cost > *bound)?)))
}

fn check_kelly(bot: &BotSettings, limits: &Limits) -> Result<(), EngineError> {
    if !matches!(bot.stake, StakeSettings::Kelly { .. }) || limits.caps_open_trades() {
        return Ok(());
    }
    Err(EngineError::setting(
        "risk.max_open_trades",
        format!(
            "bot \"{}\" stakes by Kelly, a fraction that is shared among the trades that can be open together, and nothing \
             limits these: give max_open_trades or max_open_trades_per_symbol",
            bot.name
        ),
    ))
}

/// Returns the maximum number of open trades of a bot: one per candle until the first has ended,
/// capped by the limits. Signals with a longer expiry of their own may exceed it.
pub(crate) fn most_at_once(bot: &BotSettings, limits: &Limits) -> i64 {
    let delay = bot.entry_delay().unwrap_or_default();
    let lasts = bot.expiry().close_type.duration() + delay;
    // The last is asked for as the first ends, before that is known.
    let asked = lasts.get() / bot.interval.length().get().max(1) + 1;
    let most = limits.most_open_of(&bot.name).and_then(|most| i64::try_from(most).ok());
    most.map_or(asked, |most| asked.min(most)).max(1)
}

fn check_largest(
    cost: LadderCost,
    (key, balance): (String, Money),
    (limits, scale): (&Limits, MoneyScale),
) -> Result<(), EngineError> {
    let free = balance - (cost.total - cost.largest);
    let above = |most: Option<Money>| most.filter(|most| cost.largest > *most).map(|most| scale.format(most));
    let of_amount = above(limits.largest_stake()).map(|most| format!("risk.max_stake = {most}"));
    let of_share = || {
        let most = above(limits.share_of(free).filter(|_| free.is_positive()))?;
        Some(format!("the {most} that risk.max_stake_percent leaves once the levels before it have lost"))
    };
    let Some(bound) = of_amount.or_else(of_share) else { return Ok(()) };
    let problem = format!(
        "the ladder's largest stake is {}, above {bound}: take fewer levels, a smaller factor or a smaller amount",
        scale.format(cost.largest)
    );
    Err(EngineError::setting(key, problem))
}

fn in_day(
    bot: &BotSettings,
    cost: Money,
    balance: Money,
    (limits, settings): (&Limits, &SessionSettings),
) -> Option<LadderInDay> {
    let (risk, scale) = (&settings.risk, settings.money_scale);
    let of_all = &limits.daily_loss_limit;
    let percent = risk.daily_loss_limit_percent;
    let name = &bot.name;
    let own = limits.own_daily_loss_limit(name);
    let own_percent = risk.bots.get(name).map_or(0.0, |own| own.daily_loss_limit_percent);
    let found = [
        ("risk.daily_loss_limit".to_owned(), of_all.amount(), false),
        (
            format!("risk.daily_loss_limit_percent = {percent} of account.initial_balance"),
            of_all.share_of(balance),
            false,
        ),
        (format!("risk.bots.{name}.daily_loss_limit"), own.and_then(Bound::amount), true),
        (
            format!("risk.bots.{name}.daily_loss_limit_percent = {own_percent} of account.initial_balance"),
            own.and_then(|own| own.share_of(balance)),
            true,
        ),
    ];
    let set = found.into_iter().filter_map(|(key, most, is_own)| Some((key, most?, is_own)));
    let (key, most, is_own) = set.min_by_key(|one| one.1)?;
    let is_usual = key == "risk.daily_loss_limit"
        && risk.daily_loss_limit == RiskSettings::default().daily_loss_limit
        && cost.times(2) <= most;
    (!is_usual).then(|| LadderInDay {
        limit: format!("{key} ({})", scale.format(most)),
        cost: scale.format(cost),
        room: scale.format(most - cost),
        is_own,
    })
}

fn check_own_limits(
    bot: &str,
    cost: Money,
    balance: Money,
    (limits, scale): (&Limits, MoneyScale),
) -> Result<(), EngineError> {
    let own = [
        ("daily_loss_limit", "day", limits.daily_loss_of(bot, balance)),
        ("session_loss_limit", "session", limits.session_loss_of(bot, balance)),
    ];
    for (limit, span, most) in own {
        let Some(most) = most.filter(|most| cost > *most) else { continue };
        let (cost, most) = (scale.format(cost), scale.format(most));
        let problem = format!(
            "the bot's ladder costs {cost}, more than the {most} that it may lose in a {span}: take fewer levels, a smaller amount, or \
             raise it"
        );
        return Err(EngineError::setting(format!("risk.bots.{bot}.{limit}"), problem));
    }
    Ok(())
}

/// Checks the first stake of each bot against the limits on stakes.
/// A limit that is broken only at the configured balance is returned as a notice, because a live run uses the
/// balance of its wallet. Fails with the figures if no trade of a bot could be opened at any balance.
pub fn check_first_stakes(settings: &SessionSettings) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = settings.exact_balance()?;
    let mut notices = Vec::new();
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        let stake = Stake::new(&bot.stake, scale, &key)?;
        let purse = Purse { free: balance, minimum: limits.minimum_stake, together: 1 };
        let first = limits.step_down(stake.next(purse));
        let cap = limits.stake_cap(balance).filter(|_| limits.cap_stakes);
        let first = cap.map_or(first, |most| first.min(most));
        let broken = broken_limit(first, balance, &limits, scale);
        let own = || own_limit(first, balance, (&bot.name, settings), &limits);
        let Some(broken) = broken.or_else(own) else { continue };
        let (name, stake) = (&bot.name, scale.format(first));
        let BrokenLimit { limit, bound, by_balance } = broken;
        if by_balance || matches!(bot.stake, StakeSettings::Share { .. } | StakeSettings::Kelly { .. }) {
            notices.push(format!(
                "bot \"{name}\": at account.initial_balance = {} its stake is {stake}, and {limit} is {bound}: no trade could be opened",
                scale.format(balance)
            ));
        } else {
            let problem = format!(
                "the stake of bot \"{name}\" is {stake}, and {limit} is {bound}: no trade could ever be opened; change one of the two"
            );
            return Err(EngineError::setting(key, problem));
        }
    }
    Ok(notices)
}

struct BrokenLimit {
    limit: String,
    bound: String,
    by_balance: bool,
}

fn broken_limit(stake: Money, balance: Money, limits: &Limits, scale: MoneyScale) -> Option<BrokenLimit> {
    let broken = |limit: &str, bound: Money, by_balance| BrokenLimit {
        limit: limit.to_owned(),
        bound: scale.format(bound),
        by_balance,
    };
    if stake < limits.minimum_stake {
        return Some(broken("the least, risk.min_stake,", limits.minimum_stake, false));
    }
    let bounds = [
        ("the most, risk.max_stake,", limits.largest_stake(), false),
        ("risk.daily_loss_limit, what a day may lose,", limits.daily_loss_limit.amount(), false),
        ("the most, risk.max_stake_percent of account.initial_balance,", limits.share_of(balance), true),
        (
            "what risk.daily_loss_limit_percent lets account.initial_balance lose in a day",
            limits.daily_loss_limit.share_of(balance),
            true,
        ),
        ("risk.session.loss_limit, what a session may lose,", limits.session.loss_limit.of(balance), true),
        ("account.initial_balance", Some(balance), true),
        (
            "what risk.max_drawdown_percent lets account.initial_balance lose",
            limits.drawdown_below(balance),
            true,
        ),
    ];
    bounds.into_iter().find_map(|(limit, bound, by_balance)| {
        let bound = bound.filter(|bound| stake > *bound)?;
        Some(broken(limit, bound, by_balance))
    })
}

fn own_limit(
    stake: Money,
    balance: Money,
    (bot, settings): (&str, &SessionSettings),
    limits: &Limits,
) -> Option<BrokenLimit> {
    let own = settings.risk.bots.get(bot)?;
    let scale = settings.money_scale;
    let bounds = [
        ("daily_loss_limit", "a day", own.daily_loss_limit, limits.daily_loss_of(bot, balance)),
        ("session_loss_limit", "a session", own.session_loss_limit, limits.session_loss_of(bot, balance)),
    ];
    bounds.into_iter().find_map(|(key, span, amount, bound)| {
        let bound = bound.filter(|bound| stake > *bound)?;
        // The amount holds at any balance, a percentage at this one.
        let amount = scale.exact(amount).ok().filter(|amount| amount.is_positive() && stake > *amount);
        let key = if amount.is_some() { key.to_owned() } else { format!("{key}_percent") };
        let limit = format!("risk.bots.{bot}.{key}, what {span} of this bot may lose,");
        let shown = scale.format(amount.unwrap_or(bound));
        Some(BrokenLimit { limit, bound: shown, by_balance: amount.is_none() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BotLimitSettings, testing};
    use Expected::{AtThisBalance, Never, Sound};
    use candlewick_sdk::rust_decimal::Decimal;

    fn check(bots: usize, amount: i64, change: impl Fn(&mut RiskSettings), expected: Result<usize, &str>) {
        // 1 + 2 + 4 = 7 times the amount, the largest 4 times.
        let stake = testing::martingale(Decimal::from(amount), 3);
        check_stake(bots, &stake, change, expected);
    }

    fn check_stake(
        bots: usize,
        stake: &StakeSettings,
        change: impl Fn(&mut RiskSettings),
        expected: Result<usize, &str>,
    ) {
        let bot = |index: usize| testing::bot(&format!("bot-{index}"), stake.clone());
        let settings = testing::settings(10_000, change, (0..bots).map(bot).collect());
        match (check_stakes(&settings), expected) {
            (Ok(notices), Ok(count)) => assert_eq!(notices.len(), count),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (answer, _) => panic!("{answer:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_kelly_stake_needs_a_limit_of_the_trades_that_it_is_shared_among() {
        let bound = crate::KellyBound::default();
        let kelly = StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 100, bound };
        for (all, per_symbol, is_fine) in [(0, 0, false), (3, 0, true), (0, 2, true), (3, 1, true)] {
            let caps = |risk: &mut RiskSettings| {
                (risk.max_open_trades, risk.max_open_trades_per_symbol) = (all, per_symbol);
            };
            let expected = if is_fine { Ok(0) } else { Err("risk.max_open_trades: bot \"bot-0\"") };
            check_stake(1, &kelly, caps, expected);
        }
        let none = |risk: &mut RiskSettings| {
            (risk.max_open_trades, risk.max_open_trades_per_symbol) = (0, 0);
        };
        check(1, 10, none, Ok(1));
    }

    #[test]
    fn trades_that_may_be_open_at_once_cost_a_ladder_each() {
        // 1 + 2 + 4 = 7 for each of them: a trade of five minutes is followed by five more of 1m before its end is known.
        let told = |lasts: &str, delay: i64, change: fn(&mut RiskSettings)| {
            let mut bot = testing::bot("bot-0", testing::martingale(Decimal::ONE, 3));
            (bot.interval, bot.close_type) = ("1m".parse().unwrap(), lasts.parse().unwrap());
            bot.entry_delay_s = delay;
            let uncapped = |risk: &mut RiskSettings| {
                (risk.max_open_trades, risk.max_open_trades_per_symbol) = (0, 0);
                change(risk);
            };
            let settings = testing::settings(10_000, uncapped, vec![bot]);
            check_stakes(&settings).map(|notices| notices[0].clone()).map_err(|error| error.to_string())
        };
        let cost = |lasts: &str, delay: i64, change: fn(&mut RiskSettings)| {
            told(lasts, delay, change).map(|notice| notice.cost)
        };
        for (lasts, delay, expected) in
            [("05:00", 0, "42.00"), ("01:00", 0, "14.00"), ("00:30", 0, "7.00"), ("00:30", 30, "14.00")]
        {
            assert_eq!(cost(lasts, delay, |_| {}).as_deref(), Ok(expected), "{lasts} {delay}");
        }
        assert_eq!(cost("05:00", 0, |risk| risk.max_open_trades = 4).as_deref(), Ok("28.00"));
        assert_eq!(cost("05:00", 0, |risk| risk.max_open_trades_per_symbol = 1).as_deref(), Ok("7.00"));
        let three = |risk: &mut RiskSettings| own(|limits| limits.max_open_trades = 3)(risk);
        assert_eq!(cost("05:00", 0, three).as_deref(), Ok("21.00"));
        let day = told("05:00", 0, |risk| risk.daily_loss_limit = Decimal::from(41)).unwrap();
        let words = "may cost 42.00, more than the 41.00 of risk.daily_loss_limit";
        assert!(day.text.contains(words), "{}", day.text);
        let fits = told("05:00", 0, |risk| risk.daily_loss_limit = Decimal::from(42)).unwrap();
        assert!(!fits.text.contains("more than"), "{}", fits.text);
        let one = told("05:00", 0, |risk| risk.daily_loss_limit = Decimal::from(6)).unwrap_err();
        assert!(one.contains("all ladders together cost 7.00, more than the 6.00"), "{one}");
    }

    #[test]
    fn ladders_that_do_not_fit_together_are_refused_with_the_figures() {
        check(1, 10, |_| {}, Ok(1));
        let words = "risk.daily_loss_limit: all ladders together cost 140.00, more than the 100.00";
        check(2, 10, |_| {}, Err(words));
        check(1, 300, |risk| risk.daily_loss_limit = Decimal::ZERO, Err("risk.max_drawdown_percent"));
        let words = "risk.daily_loss_limit_percent: all ladders together cost 70.00, more than the 69.00";
        check(1, 10, |risk| risk.daily_loss_limit_percent = 0.69, Err(words));
        check(1, 10, |risk| risk.daily_loss_limit_percent = 0.7, Ok(1));
        let words = "risk.session.loss_limit: all ladders together cost 70.00, more than the 69.00";
        check(1, 10, |risk| risk.session.loss_limit = Decimal::from(69), Err(words));
        let session = |risk: &mut RiskSettings| {
            (risk.session.loss_limit, risk.session.loss_limit_percent) = (Decimal::from(80), 0.69);
        };
        let words = "risk.session.loss_limit_percent: all ladders together cost 70.00, more than the 69.00";
        check(1, 10, session, Err(words));
        let day = |most: i64| own(move |limits| limits.daily_loss_limit = Decimal::from(most));
        let words = "risk.bots.bot-0.daily_loss_limit: the bot's ladder costs 70.00, more than the 69.00";
        check(1, 10, day(69), Err(words));
        check(1, 10, day(70), Ok(1));
        let in_session = |percent: f64| own(move |limits| limits.session_loss_limit_percent = percent);
        let words = "risk.bots.bot-0.session_loss_limit: the bot's ladder costs 70.00, more than the 69.00 that it may lose in a session";
        check(1, 10, in_session(0.69), Err(words));
        check(1, 10, in_session(0.7), Ok(1));
        let words = "largest stake is 40.00, above risk.max_stake = 39.00";
        check(1, 10, |risk| risk.max_stake = Decimal::from(39), Err(words));
        // Before the level of 400.00, 100.00 and 200.00 are lost: of 9,700.00, 4.2 % are 407.40 and 4.1 % are 397.70.
        let with_share = |percent: f64| {
            move |risk: &mut RiskSettings| {
                (risk.daily_loss_limit, risk.max_stake_percent) = (Decimal::ZERO, percent);
            }
        };
        check(1, 100, with_share(4.2), Ok(1));
        let words = "largest stake is 400.00, above the 397.70 that risk.max_stake_percent leaves";
        check(1, 100, with_share(4.1), Err(words));
    }

    /// Has the first bot keep to limits of its own.
    fn own(change: impl Fn(&mut BotLimitSettings)) -> impl Fn(&mut RiskSettings) {
        move |risk: &mut RiskSettings| change(risk.bots.entry("bot-0".to_owned()).or_default())
    }

    #[derive(Clone, Copy, Debug)]
    enum Expected {
        Sound,
        AtThisBalance(&'static str),
        Never(&'static str),
    }

    fn first(stake: StakeSettings, change: impl Fn(&mut RiskSettings), expected: Expected) {
        let free = |risk: &mut RiskSettings| {
            (risk.daily_loss_limit, risk.max_drawdown_percent) = (Decimal::ZERO, 0.0);
            change(risk);
        };
        let settings = testing::settings(1_000, free, vec![testing::bot("bot-0", stake)]);
        let answer = check_first_stakes(&settings).map_err(|error| error.to_string());
        let (answer, expected) = match (answer, expected) {
            (Ok(notices), Sound) => return assert!(notices.is_empty(), "{notices:?}"),
            (Ok(notices), AtThisBalance(part)) => (notices.concat(), part),
            (Err(problem), Never(part)) => (problem, part),
            (answer, _) => panic!("{answer:?} instead of {expected:?}"),
        };
        assert!(answer.contains(expected), "{answer}");
    }

    fn fixed(amount: i64) -> StakeSettings {
        StakeSettings::Fixed { amount: Decimal::from(amount) }
    }

    #[test]
    fn a_stake_that_every_limit_lets_through_is_sound() {
        first(fixed(10), |_| {}, Sound);
        first(fixed(1_000), |_| {}, Sound);
        first(fixed(100), |risk| risk.daily_loss_limit = Decimal::from(100), Sound);
        first(StakeSettings::Share { percent: 0.1 }, |_| {}, Sound);
    }

    #[test]
    fn a_stake_that_no_trade_could_have_is_named_with_the_limit() {
        let least = "is 10.00, and the least, risk.min_stake, is 11.00";
        first(fixed(10), |risk| risk.min_stake = Decimal::from(11), Never(least));
        first(fixed(10), |risk| risk.max_stake = Decimal::from(9), Never("risk.max_stake, is 9.00"));
        first(fixed(10), |risk| risk.daily_loss_limit = Decimal::from(9), Never("risk.daily_loss_limit"));
    }

    #[test]
    fn a_share_that_no_trade_could_have_is_named_with_the_balance_and_the_limit() {
        let least =
            "at account.initial_balance = 1000.00 its stake is 0.50, and the least, risk.min_stake, is 1.00";
        first(StakeSettings::Share { percent: 0.05 }, |_| {}, AtThisBalance(least));
        let day = |risk: &mut RiskSettings| risk.daily_loss_limit = Decimal::from(10);
        let most =
            "is 20.00, and risk.daily_loss_limit, what a day may lose, is 10.00: no trade could be opened";
        first(StakeSettings::Share { percent: 2.0 }, day, AtThisBalance(most));
        first(StakeSettings::Share { percent: 1.0 }, day, Sound);
    }

    #[test]
    fn a_stake_above_the_bot_s_own_limits_is_named_with_them() {
        let day = |most: i64| own(move |limits| limits.daily_loss_limit = Decimal::from(most));
        let words =
            "is 10.00, and risk.bots.bot-0.daily_loss_limit, what a day of this bot may lose, is 5.00";
        first(fixed(10), day(5), Never(words));
        first(fixed(10), day(10), Sound);
        let session = own(|limits| limits.session_loss_limit = Decimal::from(9));
        first(fixed(10), session, Never("risk.bots.bot-0.session_loss_limit, what a session"));
        // Of 1,000, 0.9 % are 9: another balance would mend it.
        let percent = own(|limits| limits.daily_loss_limit_percent = 0.9);
        let words = "risk.bots.bot-0.daily_loss_limit_percent, what a day of this bot may lose, is 9.00";
        first(fixed(10), percent, AtThisBalance(words));
        let other = |risk: &mut RiskSettings| {
            let day = BotLimitSettings { daily_loss_limit: Decimal::from(5), ..BotLimitSettings::default() };
            risk.bots.insert("eth".to_owned(), day);
        };
        first(fixed(10), other, Sound);
    }

    #[test]
    fn what_another_balance_would_mend_is_a_notice() {
        let share = "account.initial_balance, is 9.00";
        first(fixed(10), |risk| risk.max_stake_percent = 0.9, AtThisBalance(share));
        first(fixed(1_001), |_| {}, AtThisBalance("account.initial_balance is 1000.00"));
        let drawdown = "account.initial_balance lose is 9.00";
        first(fixed(10), |risk| risk.max_drawdown_percent = 0.9, AtThisBalance(drawdown));
    }
}
