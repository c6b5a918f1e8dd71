//! Ruin under the limits of a run, and its description.

use crate::risk::{BotLimitSettings, RiskSettings, SessionSpan};
use crate::{BotSettings, IfRefused, SessionSettings, StakeRuin, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, MoneyScale, Payout};
use candlewick_statistics::{
    MoneyStop, OversizedStake, StakePlan, StatisticsError, Stops, WalletLimits, simulate_limited_ruin,
};
use std::fmt::Write as _;

const MOST_TOLD: usize = 30;
const MOST_NAMED: usize = 3;

pub(crate) fn limits_of(bot: &BotSettings, settings: &SessionSettings) -> WalletLimits {
    let RiskSettings { session, max_drawdown_percent, max_stake_percent, max_stake, .. } = &settings.risk;
    let risk = &settings.risk;
    let none = BotLimitSettings::default();
    let own = risk.bots.get(&bot.name).unwrap_or(&none);
    let stops = |all: [(Decimal, f64); 2]| -> Vec<MoneyStop> {
        all.into_iter().filter_map(|(amount, percent)| stop(amount, percent, settings.money_scale)).collect()
    };
    let of_session = Stops {
        loss: stops([
            (session.loss_limit, session.loss_limit_percent),
            (own.session_loss_limit, own.session_loss_limit_percent),
        ]),
        profit: stops([
            (session.profit_target, session.profit_target_percent),
            (own.session_profit_target, own.session_profit_target_percent),
        ]),
    };
    let mut rests = Stops {
        loss: stops([
            (risk.daily_loss_limit, risk.daily_loss_limit_percent),
            (own.daily_loss_limit, own.daily_loss_limit_percent),
        ]),
        profit: stops([
            (risk.daily_profit_target, risk.daily_profit_target_percent),
            (own.daily_profit_target, own.daily_profit_target_percent),
        ]),
    };
    let mut ends = Stops::default();
    match session.of {
        SessionSpan::Run => ends = of_session,
        SessionSpan::Hours => {
            rests.loss.extend(of_session.loss);
            rests.profit.extend(of_session.profit);
        }
    }
    let streaks = [risk.max_loss_streak, own.max_loss_streak].into_iter().filter(|most| *most > 0);
    // Other stakes never change, so the start compares them with the limit.
    let may_outgrow = matches!(
        bot.stake,
        StakeSettings::Share { .. } | StakeSettings::Soros { .. } | StakeSettings::Kelly { .. }
    );
    let most_stake = units(*max_stake, settings.money_scale).filter(|_| may_outgrow).unwrap_or_default();
    let restarts = bot.stake.if_refused() == IfRefused::Reset && !bot.stake.enters_without_signal();
    let oversized = match (restarts, risk.cap_stakes) {
        _ if most_stake == 0 && *max_stake_percent == 0.0 => OversizedStake::Refused,
        (true, _) => OversizedStake::Restarts,
        (false, true) => OversizedStake::Capped,
        (false, false) => OversizedStake::Refused,
    };
    WalletLimits {
        rests,
        ends,
        drawdown_fraction: max_drawdown_percent / 100.0,
        loss_streak: streaks.min().unwrap_or_default(),
        stake_fraction: max_stake_percent / 100.0,
        most_stake,
        oversized,
    }
}

fn units(amount: Decimal, scale: MoneyScale) -> Option<u64> {
    scale.exact(amount).ok().and_then(|money| u64::try_from(money.minor()).ok())
}

fn stop(amount: Decimal, percent: f64, scale: MoneyScale) -> Option<MoneyStop> {
    let amount = units(amount, scale).filter(|units| *units > 0);
    let stop = MoneyStop { amount, fraction: percent / 100.0 };
    (stop.amount.is_some() || percent > 0.0).then_some(stop)
}

pub(crate) fn least_payout(known: Payout, bot: &BotSettings, settings: &SessionSettings) -> Payout {
    let risk = &settings.risk;
    let least = risk.min_payout_percent_by_symbol.get(bot.symbol.as_str());
    let least = least.copied().unwrap_or(risk.min_payout_percent);
    Payout::from_parts((least * 1e4).round() as u32).map_or(known, |least| known.max(least))
}

/// Names the settings that only skip trades, whatever their outcome. They do not affect the ruin
/// probability within a number of trades.
pub(crate) fn left_out(bot: &BotSettings, risk: &RiskSettings) -> Option<String> {
    let has_own = risk.min_payout_percent_by_symbol.contains_key(bot.symbol.as_str());
    let is_chosen = risk.best_payout_of.iter().any(|name| name == bot.symbol.as_str());
    let parts = [
        (!risk.hours.is_empty(), "trading hours"),
        (
            !risk.pauses.is_empty() || risk.cooldown_after_loss_s > 0 || risk.cooldown_after_losses > 0,
            "pauses",
        ),
        (risk.min_payout_percent > 0.0 || has_own, "least payout"),
        (is_chosen, "choice by payout"),
        (bot.entry_delay_s > 0, "entry delay"),
    ];
    let on: Vec<&str> = parts.into_iter().filter_map(|(is_on, name)| is_on.then_some(name)).collect();
    (!on.is_empty()).then(|| format!("; not reckoned, as they only leave trades out: {}", on.join(", ")))
}

#[derive(Default)]
pub(crate) struct ToldStakes {
    told: Vec<ToldStake>,
    left_out: usize,
}

struct ToldStake {
    stake: StakeRuin,
    more: String,
    words: RuinWords,
    names: Vec<String>,
}

impl ToldStakes {
    pub(crate) fn add(
        &mut self,
        stake: StakeRuin,
        more: &str,
        scale: MoneyScale,
    ) -> Result<(), StatisticsError> {
        let name = stake.bot.clone();
        let stake = StakeRuin { bot: String::new(), ..stake };
        let known = self.told.iter_mut().find(|known| known.stake == stake && known.more == more);
        if let Some(known) = known {
            known.names.push(name);
        } else if self.told.len() < MOST_TOLD {
            let words = stake.words(scale)?;
            self.told.push(ToldStake { stake, more: more.to_owned(), words, names: vec![name] });
        } else {
            self.left_out += 1;
        }
        Ok(())
    }

    pub(crate) fn halved(&self) -> usize {
        self.told.iter().filter(|told| told.words.is_halved).map(|told| told.names.len()).sum()
    }

    pub(crate) fn lines(self) -> Vec<String> {
        let left_out = (self.left_out > 0).then(|| {
            format!(
                "{} more bots have stakes of their own: `candlewick edge ruin` shows theirs",
                self.left_out
            )
        });
        let line =
            |ToldStake { more: behind, words: RuinWords { text: words, .. }, names, .. }: ToldStake| {
                match names.as_slice() {
                    [name] => format!("bot \"{name}\": {words}{behind}"),
                    names => {
                        let shown: Vec<String> =
                            names.iter().take(MOST_NAMED).map(|name| format!("\"{name}\"")).collect();
                        let more = names.len().saturating_sub(MOST_NAMED);
                        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                        format!(
                            "bots {}{more}, each with the whole balance: {words}{behind}",
                            shown.join(", ")
                        )
                    }
                }
            };
        self.told.into_iter().map(line).chain(left_out).collect()
    }
}

const MOST_TRADES: u64 = 1_000_000;
const FEWEST_RUNS: u64 = 200;
const SEED: u64 = 1;
/// Share of simulated runs with a halved balance from which a stake is no longer called sound.
const MOST_HALVED: f64 = 0.5;
/// Probability below which 0.00 % would be shown.
const NEARLY_NEVER: f64 = 0.000_05;
const MOST_LEVELS: usize = 8;

pub(crate) struct RuinWords {
    pub(crate) text: String,
    pub(crate) is_halved: bool,
}

impl StakeRuin {
    pub(crate) fn words(&self, scale: MoneyScale) -> Result<RuinWords, StatisticsError> {
        if let Some(text) = self.below_least(scale)? {
            return Ok(RuinWords { text, is_halved: false });
        }
        let what = match self.plan {
            StakePlan::Flat { stake } => {
                let stake = i64::try_from(stake).unwrap_or(i64::MAX);
                format!("its stake of {}", scale.format(Money::from_minor(stake)))
            }
            StakePlan::Share { fraction, .. } => format!("its stake of {} of the balance", percent(fraction)),
            StakePlan::Kelly { .. } => "its Kelly stake".to_owned(),
            StakePlan::Martingale { .. } | StakePlan::Soros { .. } => {
                ladder_words(&self.plan.stakes(&self.question)?, scale)
            }
        };
        let (rate, horizon) = (self.decisive_rate(), self.question.horizon_trades);
        let by = if self.lower_bound.is_some_and(|bound| bound <= rate) {
            "the lower bound of its trades"
        } else {
            "break-even"
        };
        let (at_rate, at_half) = (self.at(rate)?, self.at(0.5)?);
        let is_nearly_never = at_rate.max(at_half) < NEARLY_NEVER;
        let within = format!("{what} is ruined within {horizon} trades with a probability");
        let mut words = if is_nearly_never {
            format!("{within} below 0.01 % if it wins {} ({by}) and if it wins 50 %", percent(rate))
        } else {
            let (at_rate, at_half) = (percent(at_rate), percent(at_half));
            format!("{within} of {at_rate} if it wins {} ({by}), of {at_half} if it wins 50 %", percent(rate))
        };
        let is_share = matches!(self.plan, StakePlan::Share { .. } | StakePlan::Kelly { .. });
        let mut is_halved = false;
        if is_share || self.limits != WalletLimits::default() {
            let runs = (MOST_TRADES / u64::from(horizon)).max(FEWEST_RUNS);
            let question = candlewick_statistics::RuinQuestion { win_probability: rate, ..self.question };
            let trials = simulate_limited_ruin(&question, &self.plan, &self.limits, (SEED, runs))?;
            let ends = [trials.share(), trials.stopped_share(), trials.reached_share()];
            let runs = format!("{runs} simulated runs at {}", percent(rate));
            if self.limits != WalletLimits::default() {
                let is_never = is_nearly_never && ends == [0.0; 3];
                let how =
                    if is_never { format!("none of {runs} ended for good") } else { self.ends(ends, &runs) };
                let _ = write!(words, "; held to {}, {how}", limit_words(&self.limits, scale));
            }
            if is_share {
                let halved = trials.halved_share();
                is_halved = halved >= MOST_HALVED;
                let _ = write!(words, "; in {} of {runs} its balance falls to half or less", percent(halved));
            }
        }
        Ok(RuinWords { text: words, is_halved })
    }

    fn ends(&self, [ruined, stopped, reached]: [f64; 3], runs: &str) -> String {
        let (ruined, stopped) = (percent(ruined), percent(stopped));
        if self.limits.ends.profit.is_empty() {
            return format!(
                "it is ruined in {ruined}, and its trading ends for good before that in {stopped} ({runs})"
            );
        }
        format!(
            "it is ruined in {ruined}, its trading ends for good before that in {stopped}, and it reaches the profit target of the run, \
             a good end, in {} ({runs})",
            percent(reached)
        )
    }
}

fn ladder_words(stakes: &[u64], scale: MoneyScale) -> String {
    let money = |stake: &u64| scale.format(Money::from_minor(i64::try_from(*stake).unwrap_or(i64::MAX)));
    let shown: Vec<String> = stakes.iter().take(MOST_LEVELS).map(money).collect();
    let more = stakes.len().saturating_sub(MOST_LEVELS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("its ladder of {}{more}", shown.join(", "))
}

pub(crate) fn limit_words(limits: &WalletLimits, scale: MoneyScale) -> String {
    let WalletLimits { rests, ends, drawdown_fraction, loss_streak, stake_fraction, most_stake, oversized } =
        limits;
    let is_on = |stops: &Stops| !stops.loss.is_empty() || !stops.profit.is_empty();
    let drawdown =
        (*drawdown_fraction > 0.0).then(|| format!("a drawdown of {}", percent(*drawdown_fraction)));
    let streak = (*loss_streak > 0).then(|| format!("{loss_streak} losses in a row"));
    let share = (*stake_fraction > 0.0).then(|| percent(*stake_fraction));
    let amount = i64::try_from(*most_stake).ok().filter(|most| *most > 0).map(Money::from_minor);
    let largest: Vec<String> = share.into_iter().chain(amount.map(|most| scale.format(most))).collect();
    let larger = match oversized {
        OversizedStake::Refused => "",
        OversizedStake::Capped => " (larger ones are capped)",
        OversizedStake::Restarts => " (larger ones restart the ladder)",
    };
    let largest =
        (!largest.is_empty()).then(|| format!("stakes of at most {}{larger}", largest.join(" and ")));
    let run = is_on(ends).then(|| "stops of the run".to_owned());
    let rest = is_on(rests).then(|| "stops of the day or of hours".to_owned());
    let words: Vec<String> = [drawdown, run, streak, largest, rest].into_iter().flatten().collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}

pub(crate) fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CooldownScope, PauseCause, PauseScope, PauseSettings, RuinReport, TradeRecord, check_ruin, testing,
    };

    /// Stakes of 10 from 70, at a payout of 100 % and so at even odds, over 40 trades.
    fn settings(change: impl Fn(&mut RiskSettings)) -> SessionSettings {
        let free = |risk: &mut RiskSettings| {
            (risk.ruin_horizon_trades, risk.max_drawdown_percent) = (40, 0.0);
            risk.daily_loss_limit = Decimal::ZERO;
            change(risk);
        };
        let bot = testing::bot("a", StakeSettings::Fixed { amount: Decimal::TEN });
        testing::settings(70, free, vec![bot])
    }

    /// The words of the first stake, of another balance.
    fn line_with(mut settings: SessionSettings, balance: i64) -> String {
        settings.balance = Decimal::from(balance);
        let even = TradeRecord::assumed(Payout::from_parts(1_000_000).unwrap());
        check_ruin(&settings, Money::from_minor(balance * 100), &[even]).unwrap().stakes.remove(0)
    }

    fn report(settings: &SessionSettings) -> RuinReport {
        let even = TradeRecord::assumed(Payout::from_parts(1_000_000).unwrap());
        check_ruin(settings, Money::from_minor(7_000), &vec![even; settings.bots.len()]).unwrap()
    }

    fn line(change: impl Fn(&mut RiskSettings)) -> String {
        report(&settings(change)).stakes.remove(0)
    }

    /// The percent behind some words.
    fn percent_behind(line: &str, words: &str) -> f64 {
        let (_, rest) = line.split_once(words).unwrap_or_else(|| panic!("{words}: {line}"));
        rest.split_once(" %").unwrap().0.trim().parse().unwrap()
    }

    #[test]
    fn a_fixed_stake_has_the_ruin_of_the_gambler() {
        // Of 40 even steps one of 7 down comes with 2 P(X <= 16) for X of 40 coins (Feller I, III.7): 0.268187.
        let free = line(|_| ());
        assert_eq!(
            free,
            "bot \"a\": its stake of 10.00 is ruined within 40 trades with a probability of 26.82 % if it wins 50.00 % (break-even), of 26.82 % if \
             it wins 50 %"
        );
    }

    #[test]
    fn a_stop_of_the_run_keeps_the_wallet_and_ends_the_trading() {
        // A loss of 30 is three steps down within 39, before the last trade: P(X <= 18) + P(X <= 17) of 39 coins, 63.58 %.
        let stopped = line(|risk| risk.session.loss_limit = Decimal::from(30));
        assert_eq!(percent_behind(&stopped, "it is ruined in "), 0.0, "{stopped}");
        let ended = percent_behind(&stopped, "for good before that in ");
        assert!((ended - 63.58).abs() < 1.0, "{ended}: {stopped}");
        assert!(stopped.contains("; held to stops of the run, it is ruined in "), "{stopped}");
        assert!(stopped.contains("(25000 simulated runs at 50.00 %)"), "{stopped}");
    }

    #[test]
    fn a_profit_target_of_the_run_is_a_good_end_and_no_stop() {
        // Three steps up within 40, from a balance that 40 losses do not take: 63.58 %, as three steps down.
        let words = line_with(settings(|risk| risk.session.profit_target = Decimal::from(30)), 1_000);
        assert_eq!(percent_behind(&words, "for good before that in "), 0.0, "{words}");
        let reached = percent_behind(&words, "the profit target of the run, a good end, in ");
        assert!((reached - 63.58).abs() < 1.0, "{words}");
    }

    /// L halves a share of half, and so does WLL: 62.5 % of three even trades.
    #[test]
    fn a_share_of_the_balance_is_told_with_how_often_it_falls_to_half() {
        let with = |drawdown| {
            let mut half = settings(|risk| {
                (risk.ruin_horizon_trades, risk.max_drawdown_percent) = (3, drawdown);
            });
            half.bots[0].stake = StakeSettings::Share { percent: 50.0 };
            report(&half)
        };
        let (free, held) = (with(0.0), with(40.0));
        let halved = percent_behind(&free.stakes[0], "if it wins 50 %; in ");
        assert!((halved - 62.5).abs() < 0.3 && free.halved == 1, "{free:?}");
        // A stake of half may bring it further down than 40 %: none is opened.
        assert!(held.stakes[0].contains("; in 0.00 % of 333333 simulated runs"), "{held:?}");
        assert_eq!(held.halved, 0);
    }

    #[test]
    fn a_stop_of_the_day_in_money_changes_no_ruin_and_one_in_percent_ends_where_no_stake_fits() {
        let day = line(|risk| risk.daily_loss_limit = Decimal::from(20));
        let ruined = percent_behind(&day, "it is ruined in ");
        assert!((ruined - 26.82).abs() < 0.8, "{day}");
        assert_eq!(percent_behind(&day, "for good before that in "), 0.0, "{day}");
        // A fifth of less than 50 is less than a stake of 10.
        let share = line(|risk| risk.daily_loss_limit_percent = 20.0);
        assert_eq!(percent_behind(&share, "it is ruined in "), 0.0, "{share}");
        assert!(percent_behind(&share, "for good before that in ") > 26.82, "{share}");
    }

    #[test]
    fn limits_of_all_bots_and_of_one_and_sessions_of_hours_are_all_taken() {
        let stop = |amount: u64| MoneyStop { amount: Some(amount), fraction: 0.0 };
        let settings = settings(|risk| {
            (risk.session.of, risk.session.loss_limit) = (SessionSpan::Hours, Decimal::from(5));
            (risk.max_loss_streak, risk.max_drawdown_percent, risk.max_stake_percent) = (9, 25.0, 50.0);
            risk.daily_profit_target = Decimal::from(7);
            let own = BotLimitSettings {
                session_loss_limit: Decimal::from(4),
                max_loss_streak: 3,
                daily_loss_limit_percent: 10.0,
                ..BotLimitSettings::default()
            };
            risk.bots.insert("a".to_owned(), own);
            let other = BotLimitSettings { max_loss_streak: 1, ..BotLimitSettings::default() };
            risk.bots.insert("b".to_owned(), other);
        });
        let expected = WalletLimits {
            rests: Stops {
                loss: vec![MoneyStop { amount: None, fraction: 0.1 }, stop(500), stop(400)],
                profit: vec![stop(700)],
            },
            ends: Stops::default(),
            drawdown_fraction: 0.25,
            loss_streak: 3,
            stake_fraction: 0.5,
            most_stake: 0,
            oversized: OversizedStake::Refused,
        };
        assert_eq!(limits_of(&settings.bots[0], &settings), expected);
        let words = "a drawdown of 25.00 %, 3 losses in a row, stakes of at most 50.00 % and stops of the day or of hours";
        assert_eq!(limit_words(&expected, settings.money_scale), words);
    }

    #[test]
    fn what_leaves_trades_out_is_named_and_a_least_payout_is_the_one_that_is_reckoned_with() {
        let more = line(|risk| {
            let pause = PauseSettings { after: 3, of: PauseCause::Losses, for_s: 60, scope: PauseScope::Bot };
            (risk.pauses, risk.cooldown_scope) = (vec![pause], CooldownScope::All);
            risk.min_payout_percent_by_symbol.insert("BTCUSDT".to_owned(), 150.0);
        });
        let words = "; not reckoned, as they only leave trades out: pauses, least payout";
        assert!(more.ends_with(words), "{more}");
        // At 150 % a win breaks even at 40 %.
        assert!(more.contains("if it wins 40.00 % (break-even)"), "{more}");
    }

    #[test]
    fn bots_of_one_stake_and_of_what_leaves_out_trades_are_told_in_one_line() {
        let mut all = settings(|_| ());
        for name in ["b", "c", "d", "e", "f"] {
            let bot = BotSettings { name: name.to_owned(), ..all.bots[0].clone() };
            all.bots.push(bot);
        }
        all.bots[2].stake = StakeSettings::Fixed { amount: Decimal::from(20) };
        all.bots[5].entry_delay_s = 2;
        let lines = report(&all).stakes;
        let [same, other, delayed] = &lines[..] else { panic!("{lines:?}") };
        assert!(same.starts_with("bots \"a\", \"b\", \"d\" and 1 more, "), "{lines:?}");
        assert!(same.ends_with("if it wins 50 %"), "{lines:?}");
        assert!(other.starts_with("bot \"c\": its stake of 20.00"), "{lines:?}");
        assert!(delayed.starts_with("bot \"f\""), "{lines:?}");
        assert!(delayed.ends_with("; not reckoned, as they only leave trades out: entry delay"), "{lines:?}");
    }
}
