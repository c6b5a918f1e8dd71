//! Description of a stake's risk of ruin.

use crate::StakeRuin;
use candlewick_sdk::{Money, MoneyScale};
use candlewick_statistics::{
    OversizedStake, StakePlan, StatisticsError, Stops, WalletLimits, simulate_limited_ruin,
};
use std::fmt::Write as _;

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

fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}
