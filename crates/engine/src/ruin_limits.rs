//! Calculates and describes the risk of ruin under the limits of a run.

use crate::risk::{BotLimitSettings, RiskSettings, SessionSpan};
use crate::{BotSettings, IfRefused, SessionSettings, StakeRuin, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, MoneyScale, Payout, group_thousands};
use candlewick_statistics::{
    MoneyStop, OversizedStake, StakePlan, StatisticsError, Stops, WalletLimits, simulate_ruin_with_limits,
};
use std::fmt::Write as _;

const MAX_LISTED_STAKES: usize = 30;
const MAX_NAMED_BOTS: usize = 3;

pub(crate) fn wallet_limits(bot: &BotSettings, settings: &SessionSettings) -> WalletLimits {
    let RiskSettings { session, max_drawdown_percent, max_stake_percent, max_stake, .. } = &settings.risk;
    let risk = &settings.risk;
    let none = BotLimitSettings::default();
    let own = risk.bots.get(&bot.name).unwrap_or(&none);
    let stops = |all: [(Decimal, f64); 2]| -> Vec<MoneyStop> {
        all.into_iter()
            .filter_map(|(amount, percent)| build_money_stop(amount, percent, settings.money_scale))
            .collect()
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
    // Other stakes never change, so the checks at startup have already compared them with the limit.
    let may_outgrow = matches!(
        bot.stake,
        StakeSettings::Share { .. } | StakeSettings::Soros { .. } | StakeSettings::Kelly { .. }
    );
    let most_stake = to_units(*max_stake, settings.money_scale).filter(|_| may_outgrow).unwrap_or_default();
    let restarts = bot.stake.if_refused() == IfRefused::Reset && !bot.stake.enters_without_signal();
    let oversized = match (restarts, risk.cap_stakes) {
        _ if most_stake == 0 && *max_stake_percent == 0.0 => OversizedStake::Refused,
        (true, _) => OversizedStake::Restarts,
        (false, true) => OversizedStake::Capped,
        (false, false) => OversizedStake::Refused,
    };
    WalletLimits {
        period_stops: rests,
        run_stops: ends,
        drawdown_fraction: max_drawdown_percent / 100.0,
        loss_streak: streaks.min().unwrap_or_default(),
        stake_fraction: max_stake_percent / 100.0,
        max_stake: most_stake,
        oversized,
    }
}

fn to_units(amount: Decimal, scale: MoneyScale) -> Option<u64> {
    scale.convert_exact(amount).ok().and_then(|money| u64::try_from(money.minor()).ok())
}

fn build_money_stop(amount: Decimal, percent: f64, scale: MoneyScale) -> Option<MoneyStop> {
    let amount = to_units(amount, scale).filter(|units| *units > 0);
    let stop = MoneyStop { amount, fraction: percent / 100.0 };
    (stop.amount.is_some() || percent > 0.0).then_some(stop)
}

pub(crate) fn lowest_payout(known: Payout, bot: &BotSettings, settings: &SessionSettings) -> Payout {
    let risk = &settings.risk;
    let least = risk.min_payout_percent_by_symbol.get(bot.symbol.as_str());
    let least = least.copied().unwrap_or(risk.min_payout_percent);
    Payout::from_parts((least * 1e4).round() as u32).map_or(known, |least| known.max(least))
}

/// Lists settings that can only block trades. They do not affect the ruin probability over a given number of trades.
pub(crate) fn describe_unsimulated_settings(bot: &BotSettings, risk: &RiskSettings) -> Option<String> {
    let has_own = risk.min_payout_percent_by_symbol.contains_key(bot.symbol.as_str());
    let is_chosen = risk.best_payout_of.iter().any(|name| name == bot.symbol.as_str());
    let parts = [
        (!risk.hours.is_empty(), "trading hours"),
        (
            !risk.pauses.is_empty() || risk.cooldown_after_loss_s > 0 || risk.cooldown_after_losses > 0,
            "pauses",
        ),
        (risk.min_payout_percent > 0.0 || has_own, "minimum payout"),
        (is_chosen, "best payout"),
        (bot.entry_delay_s > 0, "entry delay"),
    ];
    let on: Vec<&str> = parts.into_iter().filter_map(|(is_on, name)| is_on.then_some(name)).collect();
    (!on.is_empty()).then(|| format!("; not simulated (can only block trades): {}", on.join(", ")))
}

#[derive(Default)]
pub(crate) struct StakeList {
    listed: Vec<ListedStake>,
    omitted: usize,
}

struct ListedStake {
    stake: StakeRuin,
    more: String,
    ruin: RuinDescription,
    bots: Vec<String>,
}

impl StakeList {
    pub(crate) fn add(
        &mut self,
        stake: StakeRuin,
        more: &str,
        scale: MoneyScale,
    ) -> Result<(), StatisticsError> {
        let name = stake.bot.clone();
        let stake = StakeRuin { bot: String::new(), ..stake };
        let same = self.listed.iter_mut().find(|listed| listed.stake == stake && listed.more == more);
        if let Some(same) = same {
            same.bots.push(name);
        } else if self.listed.len() < MAX_LISTED_STAKES {
            let ruin = stake.describe(scale)?;
            self.listed.push(ListedStake { stake, more: more.to_owned(), ruin, bots: vec![name] });
        } else {
            self.omitted += 1;
        }
        Ok(())
    }

    pub(crate) fn bots_with_halving_risk(&self) -> usize {
        self.listed
            .iter()
            .filter(|listed| listed.ruin.is_halving_likely)
            .map(|listed| listed.bots.len())
            .sum()
    }

    pub(crate) fn lines(self) -> Vec<String> {
        let omitted = (self.omitted > 0).then(|| {
            format!("{} more bots are not listed. Run `candlewick edge ruin` to see them", self.omitted)
        });
        let line = |ListedStake { more: suffix, ruin, bots, .. }: ListedStake| {
            let text = ruin.text;
            match bots.as_slice() {
                [bot] => format!("bot \"{bot}\": {text}{suffix}"),
                bots => {
                    let shown: Vec<String> =
                        bots.iter().take(MAX_NAMED_BOTS).map(|bot| format!("\"{bot}\"")).collect();
                    let more = bots.len().saturating_sub(MAX_NAMED_BOTS);
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    format!("bots {}{more}, each with the full balance: {text}{suffix}", shown.join(", "))
                }
            }
        };
        self.listed.into_iter().map(line).chain(omitted).collect()
    }
}

const MAX_SIMULATED_TRADES: u64 = 1_000_000;
const MIN_RUNS: u64 = 200;
const SEED: u64 = 1;
/// Warning threshold for the share of simulated runs that halve the balance.
const HALVING_WARNING_SHARE: f64 = 0.5;
/// Probability below which 0.00 % would be displayed.
const MIN_SHOWN_PROBABILITY: f64 = 0.000_05;
const MAX_SHOWN_LEVELS: usize = 8;

pub(crate) struct RuinDescription {
    pub(crate) text: String,
    pub(crate) is_halving_likely: bool,
}

impl StakeRuin {
    pub(crate) fn describe(&self, scale: MoneyScale) -> Result<RuinDescription, StatisticsError> {
        if let Some(text) = self.describe_below_minimum(scale)? {
            return Ok(RuinDescription { text, is_halving_likely: false });
        }
        let subject = match self.plan {
            StakePlan::Flat { stake } => {
                let stake = i64::try_from(stake).unwrap_or(i64::MAX);
                format!("stake {}", scale.format(Money::from_minor(stake)))
            }
            StakePlan::Share { fraction, .. } => format!("stake {} of the balance", format_percent(fraction)),
            StakePlan::Kelly { .. } => "Kelly stake".to_owned(),
            StakePlan::Martingale { .. } | StakePlan::Soros { .. } => {
                describe_ladder(&self.plan.stakes(&self.question)?, scale)
            }
        };
        let (rate, horizon) = (self.assumed_win_rate(), self.question.horizon_trades);
        let by = if self.lower_bound.is_some_and(|bound| bound <= rate) {
            "lower bound from earlier trades"
        } else {
            "break-even"
        };
        let (at_rate, at_half) = (self.probability_at(rate)?, self.probability_at(0.5)?);
        let is_nearly_never = at_rate.max(at_half) < MIN_SHOWN_PROBABILITY;
        let at_win_rate = format!("at a win rate of {} ({by})", format_percent(rate));
        let within =
            format!("{subject}, risk of ruin within {} trades", group_thousands(&horizon.to_string()));
        let mut text = if is_nearly_never {
            format!("{within} below 0.01 % {at_win_rate} and at 50 %")
        } else {
            format!("{within} {} {at_win_rate}, {} at 50 %", format_percent(at_rate), format_percent(at_half))
        };
        let is_share = matches!(self.plan, StakePlan::Share { .. } | StakePlan::Kelly { .. });
        let mut is_likely_halved = false;
        if is_share || self.limits != WalletLimits::default() {
            let runs = (MAX_SIMULATED_TRADES / u64::from(horizon)).max(MIN_RUNS);
            let question = candlewick_statistics::RuinParameters { win_probability: rate, ..self.question };
            let trials = simulate_ruin_with_limits(&question, &self.plan, &self.limits, (SEED, runs))?;
            let ends = [trials.ruined_share(), trials.stopped_share(), trials.reached_target_share()];
            let runs = group_thousands(&runs.to_string());
            let runs = format!("of {runs} simulated runs at a win rate of {}", format_percent(rate));
            if self.limits != WalletLimits::default() {
                let is_never = is_nearly_never && ends == [0.0; 3];
                let results =
                    if is_never { "stopped for good in 0".to_owned() } else { self.describe_shares(ends) };
                let _ = write!(text, "; with {}: {results} {runs}", describe_limits(&self.limits, scale));
            }
            if is_share {
                let halved = trials.halved_share();
                is_likely_halved = halved >= HALVING_WARNING_SHARE;
                let _ = write!(text, "; balance halved in {} {runs}", format_percent(halved));
            }
        }
        Ok(RuinDescription { text, is_halving_likely: is_likely_halved })
    }

    fn describe_shares(&self, [ruined, stopped, reached]: [f64; 3]) -> String {
        let (ruined, stopped) = (format_percent(ruined), format_percent(stopped));
        if self.limits.run_stops.profit.is_empty() {
            return format!("ruined in {ruined}, stopped for good in {stopped}");
        }
        let reached = format_percent(reached);
        format!(
            "ruined in {ruined}, stopped for good in {stopped}, profit target of the run reached in {reached}"
        )
    }
}

fn describe_ladder(stakes: &[u64], scale: MoneyScale) -> String {
    let money = |stake: &u64| scale.format(Money::from_minor(i64::try_from(*stake).unwrap_or(i64::MAX)));
    let shown: Vec<String> = stakes.iter().take(MAX_SHOWN_LEVELS).map(money).collect();
    let more = stakes.len().saturating_sub(MAX_SHOWN_LEVELS);
    let more = if more > 0 { format!(" / {more} more") } else { String::new() };
    format!("ladder {}{more}", shown.join(" / "))
}

pub(crate) fn describe_limits(limits: &WalletLimits, scale: MoneyScale) -> String {
    let WalletLimits {
        period_stops: rests,
        run_stops: ends,
        drawdown_fraction,
        loss_streak,
        stake_fraction,
        max_stake: most_stake,
        oversized,
    } = limits;
    let percent = |fraction: f64| format!("{} %", (fraction * 1e4).round() / 100.0);
    let is_on = |stops: &Stops| !stops.loss.is_empty() || !stops.profit.is_empty();
    let drawdown =
        (*drawdown_fraction > 0.0).then(|| format!("max drawdown {}", percent(*drawdown_fraction)));
    let streak = (*loss_streak > 0).then(|| format!("max {loss_streak} losses in a row"));
    let share = (*stake_fraction > 0.0).then(|| percent(*stake_fraction));
    let amount = i64::try_from(*most_stake).ok().filter(|most| *most > 0).map(Money::from_minor);
    let largest: Vec<String> = share.into_iter().chain(amount.map(|most| scale.format(most))).collect();
    let larger = match oversized {
        OversizedStake::Refused => "",
        OversizedStake::Capped => " (larger stakes are capped)",
        OversizedStake::Restarts => " (larger stakes restart the ladder)",
    };
    let largest = (!largest.is_empty()).then(|| format!("max stake {}{larger}", largest.join(" and ")));
    let run = is_on(ends).then(|| "limits of the run".to_owned());
    let rest = is_on(rests).then(|| "daily or session limits".to_owned());
    let limits: Vec<String> = [drawdown, run, streak, largest, rest].into_iter().flatten().collect();
    limits.join(", ")
}

pub(crate) fn format_percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CooldownScope, PauseCause, PauseScope, PauseSettings, RuinReport, TrackRecord, check_ruin, testing,
    };

    /// Stakes of 10 with a balance of 70, at a payout of 100 % and even odds, over 40 trades.
    fn settings(change: impl Fn(&mut RiskSettings)) -> SessionSettings {
        let free = |risk: &mut RiskSettings| {
            (risk.ruin_horizon_trades, risk.max_drawdown_percent) = (40, 0.0);
            risk.daily_loss_limit = Decimal::ZERO;
            change(risk);
        };
        let bot = testing::bot("a", StakeSettings::Fixed { amount: Decimal::TEN });
        testing::settings(70, free, vec![bot])
    }

    fn line_with(mut settings: SessionSettings, balance: i64) -> String {
        settings.balance = Decimal::from(balance);
        let even = TrackRecord::from_assumed_payout(Payout::from_parts(1_000_000).unwrap());
        check_ruin(&settings, Money::from_minor(balance * 100), &[even]).unwrap().stake_lines.remove(0)
    }

    fn report(settings: &SessionSettings) -> RuinReport {
        let even = TrackRecord::from_assumed_payout(Payout::from_parts(1_000_000).unwrap());
        check_ruin(settings, Money::from_minor(7_000), &vec![even; settings.bots.len()]).unwrap()
    }

    fn line(change: impl Fn(&mut RiskSettings)) -> String {
        report(&settings(change)).stake_lines.remove(0)
    }

    fn percent_behind(line: &str, text: &str) -> f64 {
        let (_, rest) = line.split_once(text).unwrap_or_else(|| panic!("{text}: {line}"));
        rest.split_once(" %").unwrap().0.trim().parse().unwrap()
    }

    #[test]
    fn fixed_stake_matches_gamblers_ruin() {
        // A walk of 40 even steps reaches -7 with 2 P(X <= 16) for X of 40 coins (Feller I, III.7): 0.268187.
        let free = line(|_| ());
        assert_eq!(
            free,
            "bot \"a\": stake 10.00, risk of ruin within 40 trades 26.82 % at a win rate of 50.00 % \
             (break-even), 26.82 % at 50 %"
        );
    }

    #[test]
    fn loss_limit_of_the_run_stops_trading_before_ruin() {
        // Three steps down within 39 trades, before the last one: P(X <= 18) + P(X <= 17) of 39 coins, 63.58 %.
        let stopped = line(|risk| risk.session.loss_limit = Decimal::from(30));
        assert_eq!(percent_behind(&stopped, ": ruined in "), 0.0, "{stopped}");
        let ended = percent_behind(&stopped, "stopped for good in ");
        assert!((ended - 63.58).abs() < 1.0, "{ended}: {stopped}");
        assert!(stopped.contains("; with limits of the run: ruined in "), "{stopped}");
        assert!(stopped.contains(" of 25,000 simulated runs at a win rate of 50.00 %"), "{stopped}");
    }

    #[test]
    fn profit_target_of_the_run_is_not_counted_as_stopped() {
        // Three steps up within 40, with a balance above 40 losses: 63.58 %, like three steps down.
        let line = line_with(settings(|risk| risk.session.profit_target = Decimal::from(30)), 1_000);
        assert_eq!(percent_behind(&line, "stopped for good in "), 0.0, "{line}");
        let reached = percent_behind(&line, "profit target of the run reached in ");
        assert!((reached - 63.58).abs() < 1.0, "{line}");
    }

    /// With a stake of half the balance, L halves the balance, and so does WLL: 62.5 % of three trades.
    #[test]
    fn share_of_the_balance_is_described_with_its_halving_probability() {
        let with = |drawdown| {
            let mut half = settings(|risk| {
                (risk.ruin_horizon_trades, risk.max_drawdown_percent) = (3, drawdown);
            });
            half.bots[0].stake = StakeSettings::Share { percent: 50.0 };
            report(&half)
        };
        let (free, held) = (with(0.0), with(40.0));
        let halved = percent_behind(&free.stake_lines[0], "at 50 %; balance halved in ");
        assert!((halved - 62.5).abs() < 0.3 && free.bots_with_halving_risk == 1, "{free:?}");
        // A stake of half the balance could exceed the drawdown of 40 %, so no trade is opened.
        assert!(
            held.stake_lines[0].contains("; balance halved in 0.00 % of 333,333 simulated runs"),
            "{held:?}"
        );
        assert_eq!(held.bots_with_halving_risk, 0);
    }

    #[test]
    fn daily_limit_as_amount_keeps_the_ruin_and_as_percentage_stops_once_no_stake_fits() {
        let day = line(|risk| risk.daily_loss_limit = Decimal::from(20));
        let ruined = percent_behind(&day, ": ruined in ");
        assert!((ruined - 26.82).abs() < 0.8, "{day}");
        assert_eq!(percent_behind(&day, "stopped for good in "), 0.0, "{day}");
        // Below a balance of 50, 20 % of it does not cover a stake of 10.
        let share = line(|risk| risk.daily_loss_limit_percent = 20.0);
        assert_eq!(percent_behind(&share, ": ruined in "), 0.0, "{share}");
        assert!(percent_behind(&share, "stopped for good in ") > 26.82, "{share}");
    }

    #[test]
    fn limits_include_those_of_the_run_the_bot_and_sessions_of_hours() {
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
            period_stops: Stops {
                loss: vec![MoneyStop { amount: None, fraction: 0.1 }, stop(500), stop(400)],
                profit: vec![stop(700)],
            },
            run_stops: Stops::default(),
            drawdown_fraction: 0.25,
            loss_streak: 3,
            stake_fraction: 0.5,
            max_stake: 0,
            oversized: OversizedStake::Refused,
        };
        assert_eq!(wallet_limits(&settings.bots[0], &settings), expected);
        let text = "max drawdown 25 %, max 3 losses in a row, max stake 50 %, daily or session limits";
        assert_eq!(describe_limits(&expected, settings.money_scale), text);
    }

    #[test]
    fn names_unsimulated_settings_and_uses_the_minimum_payout() {
        let more = line(|risk| {
            let pause = PauseSettings { after: 3, of: PauseCause::Losses, for_s: 60, scope: PauseScope::Bot };
            (risk.pauses, risk.cooldown_scope) = (vec![pause], CooldownScope::All);
            risk.min_payout_percent_by_symbol.insert("BTCUSDT".to_owned(), 150.0);
        });
        let suffix = "; not simulated (can only block trades): pauses, minimum payout";
        assert!(more.ends_with(suffix), "{more}");
        // A payout of 150 % breaks even at a win rate of 40 %.
        assert!(more.contains("at a win rate of 40.00 % (break-even)"), "{more}");
    }

    #[test]
    fn bots_with_same_stake_and_same_unsimulated_settings_share_a_line() {
        let mut all = settings(|_| ());
        for name in ["b", "c", "d", "e", "f"] {
            let bot = BotSettings { name: name.to_owned(), ..all.bots[0].clone() };
            all.bots.push(bot);
        }
        all.bots[2].stake = StakeSettings::Fixed { amount: Decimal::from(20) };
        all.bots[5].entry_delay_s = 2;
        let lines = report(&all).stake_lines;
        let [same, other, delayed] = &lines[..] else { panic!("{lines:?}") };
        assert!(same.starts_with("bots \"a\", \"b\", \"d\" and 1 more, "), "{lines:?}");
        assert!(same.ends_with("at 50 %"), "{lines:?}");
        assert!(other.starts_with("bot \"c\": stake 20.00"), "{lines:?}");
        assert!(delayed.starts_with("bot \"f\""), "{lines:?}");
        assert!(delayed.ends_with("; not simulated (can only block trades): entry delay"), "{lines:?}");
    }
}
