//! Checks the stakes against the limits before the first trade.
//!
//! The cost of all ladders that may run at once must be within the limits. A Kelly stake requires a limit on the number
//! of open trades. A run that could never trade does not start.

use crate::risk::Limits;
use crate::stake::{LadderCost, Stake, StakeContext};
use crate::{BotSettings, EngineError, SessionSettings, StakeSettings};
use candlewick_sdk::{Money, MoneyScale};

/// A notice about a bot's ladder, shown before the first trade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderNotice {
    /// Name of the bot.
    pub bot: String,
    /// Sum of the stakes of all levels, formatted with the decimals of the wallet's currency.
    pub cost: String,
    /// Largest stake of the ladder.
    pub largest: String,
    /// Full text of the notice.
    pub text: String,
}

/// Checks the stakes of all bots against the limits, at startup and on reload.
/// The cost of all ladders must be within the balance, the loss limits, the drawdown limit and the maximum stake. The
/// first stake of each bot must be possible ([`check_first_stakes`]). Kelly stakes require a limit on open trades.
pub fn check_stakes(settings: &SessionSettings) -> Result<Vec<LadderNotice>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = settings.exact_balance()?;
    let mut notices = Vec::new();
    let (mut total, mut total_at_once) = (Money::ZERO, Money::ZERO);
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        check_kelly(bot, &limits)?;
        let Some(cost) = Stake::new(&bot.stake, scale, &key)?.ladder_cost() else { continue };
        if !limits.cap_stakes {
            check_largest_stake(cost, (key, balance), (&limits, scale))?;
        }
        // Trades that are open at the same time may all be on the same level.
        let at_once = max_concurrent_trades(bot, &limits);
        let whole = cost.total.times(at_once);
        check_bot_limits(&bot.name, cost.total, balance, (&limits, scale))?;
        total += cost.total;
        total_at_once += whole;
        let (bot, of_one) = (bot.name.clone(), scale.format(cost.total));
        let (cost, largest) = (scale.format(whole), scale.format(cost.largest));
        let costs = if at_once == 1 {
            format!("the ladder costs {cost}, with a largest stake of {largest}")
        } else {
            format!(
                "the ladder costs {of_one}, with a largest stake of {largest}. The {at_once} trades that may be open \
                 at once cost {cost} together. If several trades lose, the ladder climbs several levels. Set \
                 max_open_trades_per_symbol = 1 to prevent this"
            )
        };
        let text = format!("bot \"{bot}\": if every level loses, {costs}");
        notices.push(LadderNotice { bot, cost, largest, text });
    }
    let bounds = [
        ("account.initial_balance", Some(balance)),
        ("risk.daily_loss_limit", limits.daily_loss_limit.amount()),
        ("risk.daily_loss_limit_percent", limits.daily_loss_limit.share_of(balance)),
        ("risk.session.loss_limit", limits.session.loss_limit.amount()),
        ("risk.session.loss_limit_percent", limits.session.loss_limit.share_of(balance)),
        ("risk.max_drawdown_percent", limits.max_drawdown_amount(balance)),
    ];
    if let Some((key, bound)) = find_first_bound_below(&bounds, total) {
        let (total, bound) = (scale.format(total), scale.format(bound));
        return Err(EngineError::setting(
            key,
            format!(
                "full ladders cost {total} in total, above this limit of {bound}. Use fewer levels or smaller amounts, \
                 or raise the limit"
            ),
        ));
    }
    if let (Some((key, bound)), Some(notice)) =
        (find_first_bound_below(&bounds, total_at_once), notices.last_mut())
    {
        let (all, bound) = (scale.format(total_at_once), scale.format(bound));
        notice.text = format!(
            "{}. The ladders of all open trades may cost {all}, more than the {bound} that {key} allows",
            notice.text
        );
    }
    check_first_stakes(settings)?;
    Ok(notices)
}

fn find_first_bound_below<'a>(bounds: &[(&'a str, Option<Money>)], cost: Money) -> Option<(&'a str, Money)> {
    bounds.iter().find_map(|(key, bound)| Some((*key, bound.filter(|bound| cost > *bound)?)))
}

fn check_kelly(bot: &BotSettings, limits: &Limits) -> Result<(), EngineError> {
    if !matches!(bot.stake, StakeSettings::Kelly { .. }) || limits.has_open_trade_cap() {
        return Ok(());
    }
    Err(EngineError::setting(
        "risk.max_open_trades",
        format!(
            "the Kelly stake of bot \"{}\" is divided among the open trades, but their number is not limited. Set \
             max_open_trades or max_open_trades_per_symbol",
            bot.name
        ),
    ))
}

/// Returns the maximum number of open trades of a bot, capped by the limits. Assumes that
/// a bot opens one trade per candle until its first trade has ended. Longer expiries set by signals are not considered.
pub(crate) fn max_concurrent_trades(bot: &BotSettings, limits: &Limits) -> i64 {
    let delay = bot.entry_delay().unwrap_or_default();
    let lasts = bot.expiry().close_type.duration() + delay;
    // The last order is sent when the first trade closes, before its settlement is known.
    let asked = lasts.get() / bot.interval.length().get().max(1) + 1;
    let most = limits.max_open_trades_for(&bot.name).and_then(|most| i64::try_from(most).ok());
    most.map_or(asked, |most| asked.min(most)).max(1)
}

fn check_largest_stake(
    cost: LadderCost,
    (key, balance): (String, Money),
    (limits, scale): (&Limits, MoneyScale),
) -> Result<(), EngineError> {
    let free = balance - (cost.total - cost.largest);
    let above = |most: Option<Money>| most.filter(|most| cost.largest > *most).map(|most| scale.format(most));
    let of_amount = above(limits.largest_stake()).map(|most| format!("risk.max_stake = {most}"));
    let of_share = || {
        let most = above(limits.max_stake_at(free).filter(|_| free.is_positive()))?;
        Some(format!("the {most} that risk.max_stake_percent allows after the lower levels have lost"))
    };
    let Some(bound) = of_amount.or_else(of_share) else { return Ok(()) };
    let problem = format!(
        "the ladder's largest stake of {} is above {bound}. Use fewer levels, a smaller factor or a smaller amount",
        scale.format(cost.largest)
    );
    Err(EngineError::setting(key, problem))
}

fn check_bot_limits(
    bot: &str,
    cost: Money,
    balance: Money,
    (limits, scale): (&Limits, MoneyScale),
) -> Result<(), EngineError> {
    let own = [
        ("daily_loss_limit", "day", limits.max_daily_loss(bot, balance)),
        ("session_loss_limit", "session", limits.max_session_loss(bot, balance)),
    ];
    for (limit, span, most) in own {
        let Some(most) = most.filter(|most| cost > *most) else { continue };
        let (cost, most) = (scale.format(cost), scale.format(most));
        let problem = format!(
            "a full ladder of the bot costs {cost}, above this limit of {most} per {span}. Use fewer levels or a \
             smaller amount, or raise the limit"
        );
        return Err(EngineError::setting(format!("risk.bots.{bot}.{limit}"), problem));
    }
    Ok(())
}

/// Checks the first stake of each bot against the stake limits. Fails if a bot could not trade at any balance. If
/// another balance would help, returns a notice instead, because a live run uses the wallet's balance.
pub fn check_first_stakes(settings: &SessionSettings) -> Result<Vec<String>, EngineError> {
    let scale = settings.money_scale;
    let limits = Limits::new(&settings.risk, scale)?;
    let balance = settings.exact_balance()?;
    let mut notices = Vec::new();
    for (index, bot) in settings.bots.iter().enumerate() {
        let key = format!("bots[{index}].stake");
        let stake = Stake::new(&bot.stake, scale, &key)?;
        let context = StakeContext { free: balance, minimum: limits.minimum_stake, max_open_trades: 1 };
        let first = limits.round_down_to_step(stake.next(context));
        let cap = limits.stake_cap(balance).filter(|_| limits.cap_stakes);
        let first = cap.map_or(first, |most| first.min(most));
        let broken = violated_limit(first, balance, &limits, scale);
        let own = || violated_bot_limit(first, balance, (&bot.name, settings), &limits);
        let Some(broken) = broken.or_else(own) else { continue };
        let (name, stake) = (&bot.name, scale.format(first));
        let ViolatedLimit { limit, bound, uses_balance } = broken;
        if uses_balance || matches!(bot.stake, StakeSettings::Share { .. } | StakeSettings::Kelly { .. }) {
            notices.push(format!(
                "bot \"{name}\" cannot trade at an initial balance of {}: its stake is {stake}, but {limit} is {bound}",
                scale.format(balance)
            ));
        } else {
            let problem = format!(
                "bot \"{name}\" can never trade: its stake is {stake}, but {limit} is {bound}. Change either value"
            );
            return Err(EngineError::setting(key, problem));
        }
    }
    Ok(notices)
}

struct ViolatedLimit {
    limit: String,
    bound: String,
    uses_balance: bool,
}

fn violated_limit(stake: Money, balance: Money, limits: &Limits, scale: MoneyScale) -> Option<ViolatedLimit> {
    let broken = |limit: &str, bound: Money, uses_balance| ViolatedLimit {
        limit: limit.to_owned(),
        bound: scale.format(bound),
        uses_balance,
    };
    if stake < limits.minimum_stake {
        return Some(broken("risk.min_stake", limits.minimum_stake, false));
    }
    let bounds = [
        ("risk.max_stake", limits.largest_stake(), false),
        ("risk.daily_loss_limit", limits.daily_loss_limit.amount(), false),
        ("risk.max_stake_percent of account.initial_balance", limits.max_stake_at(balance), true),
        (
            "risk.daily_loss_limit_percent of account.initial_balance",
            limits.daily_loss_limit.share_of(balance),
            true,
        ),
        ("risk.session.loss_limit", limits.session.loss_limit.amount_at(balance), true),
        ("account.initial_balance", Some(balance), true),
        ("risk.max_drawdown_percent of account.initial_balance", limits.max_drawdown_amount(balance), true),
    ];
    bounds.into_iter().find_map(|(limit, bound, uses_balance)| {
        let bound = bound.filter(|bound| stake > *bound)?;
        Some(broken(limit, bound, uses_balance))
    })
}

fn violated_bot_limit(
    stake: Money,
    balance: Money,
    (bot, settings): (&str, &SessionSettings),
    limits: &Limits,
) -> Option<ViolatedLimit> {
    let own = settings.risk.bots.get(bot)?;
    let scale = settings.money_scale;
    let bounds = [
        ("daily_loss_limit", own.daily_loss_limit, limits.max_daily_loss(bot, balance)),
        ("session_loss_limit", own.session_loss_limit, limits.max_session_loss(bot, balance)),
    ];
    bounds.into_iter().find_map(|(key, amount, bound)| {
        let bound = bound.filter(|bound| stake > *bound)?;
        // An amount applies at any balance, a percentage only at the given balance.
        let amount =
            scale.convert_exact(amount).ok().filter(|amount| amount.is_positive() && stake > *amount);
        let key = if amount.is_some() { key.to_owned() } else { format!("{key}_percent") };
        let limit = format!("risk.bots.{bot}.{key}");
        let shown = scale.format(amount.unwrap_or(bound));
        Some(ViolatedLimit { limit, bound: shown, uses_balance: amount.is_none() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RiskSettings, testing};
    use candlewick_sdk::rust_decimal::Decimal;
    use serde_json::{Value, json};

    fn own(limits: &Value) -> Value {
        json!({ "bots": { "bot-0": limits } })
    }

    fn check(bots: usize, stake: &StakeSettings, keys: &Value) -> Result<Vec<LadderNotice>, String> {
        let bot = |index: usize| testing::bot(&format!("bot-{index}"), stake.clone());
        let settings = testing::settings(10_000, testing::with_keys(keys), (0..bots).map(bot).collect());
        check_stakes(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn kelly_stake_needs_a_limit_on_open_trades() {
        let bound = crate::KellyBound::default();
        let kelly = StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 100, bound };
        let ladder = testing::martingale(Decimal::TEN, 3);
        for (all, per_symbol, is_fine) in [(0, 0, false), (3, 0, true), (0, 2, true), (3, 1, true)] {
            let caps = json!({ "max_open_trades": all, "max_open_trades_per_symbol": per_symbol });
            let found = check(1, &kelly, &caps);
            assert_eq!(found.is_ok(), is_fine, "{caps}");
            assert!(found.is_ok_and(|notices| notices.is_empty()) || !is_fine);
            assert_eq!(check(1, &ladder, &caps).map(|notices| notices.len()), Ok(1));
        }
    }

    #[test]
    fn each_concurrent_trade_costs_a_full_ladder() {
        // 1 + 2 + 4 = 7 each. On 1m candles, five more trades may follow before the end of a 5 min trade is known.
        for (lasts, delay, keys, expected) in [
            ("05:00", 0, json!({}), Ok(("42.00", false))),
            ("01:00", 0, json!({}), Ok(("14.00", false))),
            ("00:30", 0, json!({}), Ok(("7.00", false))),
            ("00:30", 30, json!({}), Ok(("14.00", false))),
            ("05:00", 0, json!({ "max_open_trades": 4 }), Ok(("28.00", false))),
            ("05:00", 0, json!({ "max_open_trades_per_symbol": 1 }), Ok(("7.00", false))),
            ("05:00", 0, own(&json!({ "max_open_trades": 3 })), Ok(("21.00", false))),
            ("05:00", 0, json!({ "daily_loss_limit": 42 }), Ok(("42.00", false))),
            ("05:00", 0, json!({ "daily_loss_limit": 41 }), Ok(("42.00", true))),
            (
                "05:00",
                0,
                json!({ "daily_loss_limit": 6 }),
                Err("cost 7.00 in total, above this limit of 6.00"),
            ),
        ] {
            let mut bot = testing::bot("bot-0", testing::martingale(Decimal::ONE, 3));
            (bot.close_type, bot.entry_delay_s) = (lasts.parse().unwrap(), delay);
            let uncapped = |risk: &mut RiskSettings| {
                (risk.max_open_trades, risk.max_open_trades_per_symbol) = (0, 0);
                testing::with_keys(&keys)(risk);
            };
            let found = check_stakes(&testing::settings(10_000, uncapped, vec![bot]));
            match (found.map_err(|error| error.to_string()), expected) {
                (Ok(notices), Ok((cost, is_beyond_the_day))) => {
                    assert_eq!(notices[0].cost, cost, "{lasts} {delay} {keys}");
                    assert_eq!(notices[0].text.contains("more than the 41.00"), is_beyond_the_day, "{keys}");
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                (found, _) => panic!("{keys}: {found:?}"),
            }
        }
    }

    #[test]
    fn rejects_ladders_above_a_limit_with_their_figures() {
        let by = |key| Some([key, "70.00", "69.00"]);
        // 1 + 2 + 4 = 7 times the amount. The largest stake is 4 times the amount.
        for (bots, amount, keys, expected) in [
            (1, 10, json!({}), None),
            (2, 10, json!({}), Some(["risk.daily_loss_limit:", "140.00", "100.00"])),
            (1, 300, json!({ "daily_loss_limit": 0 }), Some(["risk.max_drawdown_percent:", "", ""])),
            (1, 10, json!({ "daily_loss_limit_percent": 0.69 }), by("risk.daily_loss_limit_percent:")),
            (1, 10, json!({ "daily_loss_limit_percent": 0.7 }), None),
            (1, 10, json!({ "session": { "loss_limit": 69 } }), by("risk.session.loss_limit:")),
            (
                1,
                10,
                json!({ "session": { "loss_limit": 80, "loss_limit_percent": 0.69 } }),
                by("risk.session.loss_limit_percent:"),
            ),
            (1, 10, own(&json!({ "daily_loss_limit": 69 })), by("risk.bots.bot-0.daily_loss_limit:")),
            (1, 10, own(&json!({ "daily_loss_limit": 70 })), None),
            (
                1,
                10,
                own(&json!({ "session_loss_limit_percent": 0.69 })),
                by("risk.bots.bot-0.session_loss_limit:"),
            ),
            (1, 10, own(&json!({ "session_loss_limit_percent": 0.7 })), None),
            (1, 10, json!({ "max_stake": 39 }), Some(["risk.max_stake", "40.00", "39.00"])),
            // 300.00 are lost before the level of 400.00. 4.2 % of 9,700.00 is 407.40, 4.1 % is 397.70.
            (1, 100, json!({ "daily_loss_limit": 0, "max_stake_percent": 4.2 }), None),
            (
                1,
                100,
                json!({ "daily_loss_limit": 0, "max_stake_percent": 4.1 }),
                Some(["risk.max_stake_percent", "400.00", "397.70"]),
            ),
        ] {
            let stake = testing::martingale(Decimal::from(amount), 3);
            match (check(bots, &stake, &keys), expected) {
                (Ok(notices), None) => assert_eq!(notices.len(), 1, "{keys}"),
                (Err(error), Some(parts)) => {
                    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
                }
                (found, _) => panic!("{found:?} instead of {expected:?}"),
            }
        }
    }

    fn check_first(stake: StakeSettings, keys: &Value) -> Result<Vec<String>, String> {
        let change = |risk: &mut RiskSettings| {
            (risk.daily_loss_limit, risk.max_drawdown_percent) = (Decimal::ZERO, 0.0);
            testing::with_keys(keys)(risk);
        };
        let settings = testing::settings(1_000, change, vec![testing::bot("bot-0", stake)]);
        check_first_stakes(&settings).map_err(|error| error.to_string())
    }

    fn fixed(amount: i64) -> StakeSettings {
        StakeSettings::Fixed { amount: Decimal::from(amount) }
    }

    fn share(percent: f64) -> StakeSettings {
        StakeSettings::Share { percent }
    }

    #[test]
    fn accepts_a_stake_within_all_limits() {
        for (stake, keys) in [
            (fixed(10), json!({})),
            (fixed(1_000), json!({})),
            (fixed(100), json!({ "daily_loss_limit": 100 })),
            (share(0.1), json!({})),
            (share(1.0), json!({ "daily_loss_limit": 10 })),
            (fixed(10), own(&json!({ "daily_loss_limit": 10 }))),
            (fixed(10), json!({ "bots": { "eth": { "daily_loss_limit": 5 } } })),
        ] {
            assert_eq!(check_first(stake, &keys), Ok(Vec::new()), "{keys}");
        }
    }

    #[test]
    fn impossible_stake_is_an_error_or_a_notice_if_another_balance_would_fix_it() {
        let day = |most: i64| own(&json!({ "daily_loss_limit": most }));
        for (stake, keys, is_notice, parts) in [
            (fixed(10), json!({ "min_stake": 11 }), false, ["risk.min_stake is", "10.00", "11.00"]),
            (fixed(10), json!({ "max_stake": 9 }), false, ["risk.max_stake is", "10.00", "9.00"]),
            (
                fixed(10),
                json!({ "daily_loss_limit": 9 }),
                false,
                ["risk.daily_loss_limit is", "10.00", "9.00"],
            ),
            (fixed(10), day(5), false, ["risk.bots.bot-0.daily_loss_limit is", "10.00", "5.00"]),
            (
                fixed(10),
                own(&json!({ "session_loss_limit": 9 })),
                false,
                ["risk.bots.bot-0.session_loss_limit is", "10.00", "9.00"],
            ),
            (share(0.05), json!({}), true, ["risk.min_stake is", "0.50", "1.00"]),
            (share(2.0), json!({ "daily_loss_limit": 10 }), true, ["daily_loss_limit is", "20.00", "10.00"]),
            (
                fixed(10),
                own(&json!({ "daily_loss_limit_percent": 0.9 })),
                true,
                ["risk.bots.bot-0.daily_loss_limit_percent is", "10.00", "9.00"],
            ),
            (fixed(10), json!({ "max_stake_percent": 0.9 }), true, ["max_stake_percent", "10.00", "9.00"]),
            (fixed(1_001), json!({}), true, ["account.initial_balance is", "1,001.00", "1,000.00"]),
            (fixed(10), json!({ "max_drawdown_percent": 0.9 }), true, ["max_drawdown", "10.00", "9.00"]),
        ] {
            let found = check_first(stake, &keys);
            assert_eq!(found.is_ok(), is_notice, "{keys}: {found:?}");
            let text = found.map_or_else(|problem| problem, |notices| notices.concat());
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
    }
}
