//! Monte Carlo simulation of ruin, optionally under wallet limits.

use super::Dice;
use crate::ruin::scale_rounding_down;
use crate::{RuinParameters, StakePlan, StatisticsError, kelly_fraction};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuinTrials {
    pub paths: u64,
    pub ruined: u64,
    /// Number of paths that a limit stopped permanently before ruin.
    pub stopped: u64,
    /// Number of paths that reached the run's profit target before ruin or a permanent stop.
    pub reached_target: u64,
    /// Number of paths whose balance fell to half of the initial balance or less, even if it recovered later.
    pub halved: u64,
}

/// Loss limit or profit target: an amount in the smallest unit of money, a fraction of the balance at the start of the
/// limit's period, or the smaller of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoneyStop {
    pub amount: Option<u64>,
    /// Fraction of the balance at the start of the period, 0 if disabled.
    pub fraction: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stops {
    /// Loss limits. A trade is not placed if its loss could exceed a limit.
    pub loss: Vec<MoneyStop>,
    /// Profit targets. After a target is reached, no further trade is placed.
    pub profit: Vec<MoneyStop>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WalletLimits {
    /// Limits per day or session. Such a limit stops trading only until the next day or session.
    pub period_stops: Stops,
    pub run_stops: Stops,
    /// Maximum drawdown that the loss of a trade may cause, as a fraction of the peak. 0 means no limit.
    pub drawdown_fraction: f64,
    /// Number of consecutive losses after which no more trades are placed. 0 means no limit.
    pub loss_streak: u32,
    /// Maximum stake as a fraction of the balance. 0 means no limit.
    pub stake_fraction: f64,
    /// Maximum stake in the smallest unit of money. 0 means no limit.
    pub max_stake: u64,
    pub oversized: OversizedStake,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OversizedStake {
    #[default]
    Refused,
    Capped,
    Restarts,
}

impl MoneyStop {
    fn limit(self, balance: u64) -> Option<u64> {
        let share = (self.fraction > 0.0).then(|| scale_rounding_down(balance, self.fraction));
        [self.amount, share].into_iter().flatten().min()
    }
}

#[derive(Clone, Copy)]
struct StopPeriod {
    began: u64,
    balance: u64,
}

impl Stops {
    fn allows(&self, span: StopPeriod, stake: u64) -> bool {
        let worst = span.balance.saturating_sub(stake);
        let is_lost =
            Self::min_limit(&self.loss, span).is_some_and(|most| span.began.saturating_sub(worst) > most);
        !is_lost && !self.has_reached_target(span)
    }

    fn has_reached_target(&self, span: StopPeriod) -> bool {
        let target = Self::min_limit(&self.profit, span);
        target.is_some_and(|most| span.balance >= span.began.saturating_add(most))
    }

    fn min_limit(stops: &[MoneyStop], span: StopPeriod) -> Option<u64> {
        stops.iter().filter_map(|stop| stop.limit(span.began)).min()
    }
}

struct Wallet {
    first: u64,
    balance: u64,
    peak: u64,
    /// Balance at the start of the current day or session.
    day: u64,
    losses: u32,
}

impl WalletLimits {
    fn largest_stake(&self, balance: u64) -> u64 {
        let share = (self.stake_fraction > 0.0).then(|| scale_rounding_down(balance, self.stake_fraction));
        let amount = (self.max_stake > 0).then_some(self.max_stake);
        [share, amount].into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    /// Returns whether the stake can be placed now or in the next period. If it cannot, the path stops permanently.
    fn allows(&self, wallet: &mut Wallet, stake: u64) -> bool {
        let Wallet { first, balance, peak, .. } = *wallet;
        let is_beyond =
            |part: u64, fraction: f64, whole: u64| fraction > 0.0 && part as f64 > whole as f64 * fraction;
        if (self.loss_streak > 0 && wallet.losses >= self.loss_streak)
            || is_beyond(peak - balance.saturating_sub(stake).min(peak), self.drawdown_fraction, peak)
            || is_beyond(stake, self.stake_fraction, balance)
            || (self.max_stake > 0 && stake > self.max_stake)
            || !self.run_stops.allows(StopPeriod { began: first, balance }, stake)
        {
            return false;
        }
        if self.period_stops.allows(StopPeriod { began: wallet.day, balance }, stake) {
            return true;
        }
        wallet.day = balance;
        self.period_stops.allows(StopPeriod { began: balance, balance }, stake)
    }

    fn has_reached_run_target(&self, wallet: &Wallet) -> bool {
        let span = StopPeriod { began: wallet.first, balance: wallet.balance };
        self.run_stops.has_reached_target(span)
    }
}

impl RuinTrials {
    pub fn ruined_share(self) -> f64 {
        self.ruined as f64 / self.paths as f64
    }

    pub fn stopped_share(self) -> f64 {
        self.stopped as f64 / self.paths as f64
    }

    pub fn reached_target_share(self) -> f64 {
        self.reached_target as f64 / self.paths as f64
    }

    pub fn halved_share(self) -> f64 {
        self.halved as f64 / self.paths as f64
    }

    /// Returns the distance between the share of ruined paths and `probability`, in standard errors.
    pub fn standard_errors_from(self, probability: f64) -> f64 {
        let variance = probability * (1.0 - probability) / self.paths as f64;
        (self.ruined_share() - probability).abs() / variance.sqrt()
    }
}

/// Simulates ruin trade by trade, in whole units of money. An independent check of the exact [`crate::ruin()`].
pub fn simulate_ruin(
    question: &RuinParameters,
    plan: &StakePlan,
    seed: u64,
    paths: u64,
) -> Result<RuinTrials, StatisticsError> {
    simulate_ruin_with_limits(question, plan, &WalletLimits::default(), (seed, paths))
}

/// Simulates ruin under wallet limits.
///
/// A path ends at the horizon, at ruin, at a profit target of the run, or when a limit of the run rejects a stake.
/// If a limit per day or session rejects a stake, the next day or session begins and the stake is retried. A path also
/// ends if the retry is rejected.
pub fn simulate_ruin_with_limits(
    question: &RuinParameters,
    plan: &StakePlan,
    limits: &WalletLimits,
    (seed, paths): (u64, u64),
) -> Result<RuinTrials, StatisticsError> {
    question.check()?;
    plan.check()?;
    let stakes = plan.stakes(question)?;
    let share = staked_share(plan, question)?;
    let is_placed = |stake: u64, balance: u64| stake >= question.minimum_stake && stake <= balance;
    let end_of = |path: u64| {
        let mut dice = Dice::new(seed, path);
        let first = question.balance;
        let (mut wallet, mut level) =
            (Wallet { first, balance: first, peak: first, day: first, losses: 0 }, 0);
        let mut lowest = first;
        for _ in 0..question.horizon_trades {
            if limits.has_reached_run_target(&wallet) {
                return (PathEnd::Reached, lowest);
            }
            let mut stake = next_stake(plan, &stakes, level, share, wallet.balance);
            let most = limits.largest_stake(wallet.balance);
            match limits.oversized {
                OversizedStake::Capped if stake > most => stake = most - most % stake_step(plan),
                OversizedStake::Restarts if stake > most && level > 0 => {
                    level = 0;
                    stake = next_stake(plan, &stakes, level, share, wallet.balance);
                }
                OversizedStake::Refused | OversizedStake::Capped | OversizedStake::Restarts => {}
            }
            if !is_placed(stake, wallet.balance) {
                return (PathEnd::Ruined, lowest);
            }
            if !limits.allows(&mut wallet, stake) {
                return (PathEnd::Stopped, lowest);
            }
            if question.draw_share > 0.0 && dice.random_bool(question.draw_share) {
                continue;
            }
            let is_won = dice.random_bool(question.win_probability);
            let Wallet { balance, .. } = wallet;
            wallet.balance = if is_won { balance + question.profit(stake) } else { balance - stake };
            lowest = lowest.min(wallet.balance);
            wallet.losses = if is_won { 0 } else { wallet.losses + 1 };
            wallet.peak = wallet.peak.max(wallet.balance);
            level = next_level(plan, level, is_won);
        }
        if limits.has_reached_run_target(&wallet) {
            return (PathEnd::Reached, lowest);
        }
        // The last trade may have left too little money for another trade.
        let next = next_stake(plan, &stakes, level, share, wallet.balance);
        (if is_placed(next, wallet.balance) { PathEnd::Alive } else { PathEnd::Ruined }, lowest)
    };
    // A plan that never stakes anything cannot be ruined.
    let never_stakes = share == 0.0 && stakes.is_empty() && !matches!(plan, StakePlan::Flat { .. });
    let paths_to_play = if never_stakes { 0 } else { paths };
    let mut trials = RuinTrials { paths, ruined: 0, stopped: 0, reached_target: 0, halved: 0 };
    for path in 0..paths_to_play {
        let (end, lowest) = end_of(path);
        trials.halved += u64::from(lowest <= question.balance / 2);
        match end {
            PathEnd::Ruined => trials.ruined += 1,
            PathEnd::Stopped => trials.stopped += 1,
            PathEnd::Reached => trials.reached_target += 1,
            PathEnd::Alive => {}
        }
    }
    Ok(trials)
}

/// Returns the fraction of the balance that the plan stakes, 0 if it stakes fixed amounts.
fn staked_share(plan: &StakePlan, question: &RuinParameters) -> Result<f64, StatisticsError> {
    Ok(match *plan {
        StakePlan::Flat { .. } | StakePlan::Martingale { .. } | StakePlan::Soros { .. } => 0.0,
        StakePlan::Share { fraction, .. } => fraction,
        StakePlan::Kelly { fraction, believed_win_probability, .. } => {
            fraction * kelly_fraction(believed_win_probability, question.payout_fraction)?
        }
    })
}

enum PathEnd {
    Alive,
    Ruined,
    Stopped,
    Reached,
}

fn next_stake(plan: &StakePlan, stakes: &[u64], level: usize, share: f64, balance: u64) -> u64 {
    match *plan {
        StakePlan::Flat { stake } => stake,
        StakePlan::Share { step, .. } | StakePlan::Kelly { step, .. } => {
            scale_rounding_down(balance, share) / step * step
        }
        StakePlan::Martingale { .. } | StakePlan::Soros { .. } => stakes[level],
    }
}

const fn stake_step(plan: &StakePlan) -> u64 {
    match *plan {
        StakePlan::Flat { .. } => 1,
        StakePlan::Share { step, .. }
        | StakePlan::Kelly { step, .. }
        | StakePlan::Martingale { step, .. }
        | StakePlan::Soros { step, .. } => step,
    }
}

const fn next_level(plan: &StakePlan, level: usize, is_won: bool) -> usize {
    match *plan {
        StakePlan::Flat { .. } | StakePlan::Share { .. } | StakePlan::Kelly { .. } => 0,
        StakePlan::Martingale { levels, .. } => {
            if is_won {
                0
            } else {
                (level + 1) % levels as usize
            }
        }
        StakePlan::Soros { wins, .. } => {
            if is_won {
                (level + 1) % (wins as usize + 1)
            } else {
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_MONEY, ruin};

    /// Question at payout 85 with a minimum stake of 1.00, in cents.
    fn question(balance: u64, win_probability: f64, draw_share: f64, horizon_trades: u32) -> RuinParameters {
        let (minimum_stake, payout_fraction) = (100, 0.85);
        RuinParameters {
            balance,
            minimum_stake,
            win_probability,
            payout_fraction,
            draw_share,
            horizon_trades,
        }
    }

    #[test]
    fn chains_agree_with_trials_within_three_standard_errors() {
        let flat = StakePlan::Flat { stake: 5_000 };
        let ladder = |factor, levels, most_stake| StakePlan::Martingale {
            base: 1_000,
            factor,
            levels,
            most_stake,
            step: 1,
        };
        let soros = |base, wins| StakePlan::Soros { base, wins, most_stake: MAX_MONEY, step: 1 };
        let double = ladder(2.0, 5, 20_000);
        let share = StakePlan::Share { fraction: 0.1, step: 1 };
        let kelly = StakePlan::Kelly { fraction: 0.5, believed_win_probability: 0.7, step: 1 };
        for (plan, question) in [
            (flat, question(50_000, 0.5, 0.0, 200)),
            (flat, question(50_000, 0.5, 0.2, 200)),
            (double, question(60_000, 0.5, 0.0, 300)),
            (double, question(60_000, 0.54, 0.1, 300)),
            (ladder(2.0, 7, 6_000), question(40_000, 0.54, 0.0, 300)),
            (ladder(2.176, 4, 100_000), question(50_000, 0.5, 0.0, 200)),
            (soros(6_000, 3), question(60_000, 0.5, 0.0, 100)),
            // The balance spans many cents of the lattice, and some questions span many trades.
            (soros(1_000, 10), question(200_000, 0.5, 0.0, 1_000)),
            (soros(1_000, 10), question(200_000, 0.54, 0.0, 1_000)),
            (soros(1_000, 3), question(150_000, 0.54, 0.0, 3_000)),
            (ladder(2.0, 4, 20_000), question(100_000, 0.54, 0.0, 3_000)),
            (share, question(20_000, 0.5, 0.0, 250)),
            (kelly, question(5_000, 0.54, 0.0, 250)),
        ] {
            let chain = ruin(&question, &plan).unwrap();
            let trials = simulate_ruin(&question, &plan, 5, 4_000).unwrap();
            let (probability, share) = (chain.probability(), trials.ruined_share());
            assert!((0.02..0.98).contains(&probability), "{plan:?}: {probability} proves nothing");
            // The chain has its own error, from rounded fractions of the balance and coarse lattices.
            let allowed = chain.error() + 3.0 * (probability * (1.0 - probability) / 4_000.0).sqrt();
            assert!((probability - share).abs() <= allowed, "{plan:?}: {probability}, not {share}");
        }
    }

    #[test]
    fn rounds_shares_down_to_the_step() {
        // A tenth of 123.45 is 12.34, or 12.00 in steps of one. A tenth of less than 10 is rounded to 0.
        let plan = StakePlan::Share { fraction: 0.1, step: 100 };
        for (balance, expected) in [(12_345, 1_200), (12_999, 1_200), (13_000, 1_300), (999, 0)] {
            assert_eq!(next_stake(&plan, &[], 0, 0.1, balance), expected, "{balance}");
        }
    }

    #[test]
    fn sixty_of_a_hundred_are_two_standard_errors_from_one_half() {
        let trials = RuinTrials { paths: 100, ruined: 60, stopped: 0, reached_target: 0, halved: 0 };
        // sqrt(0.5 x 0.5 / 100) = 0.05, and sqrt(0.8 x 0.2 / 100) = 0.04.
        for (probability, expected) in [(0.5, 2.0), (0.8, 5.0), (0.6, 0.0)] {
            let found = trials.standard_errors_from(probability);
            assert!((found - expected).abs() < 1e-12, "{probability}: {found}");
        }
    }

    const EVEN: RuinParameters = RuinParameters {
        balance: 100,
        minimum_stake: 1,
        win_probability: 0.5,
        payout_fraction: 1.0,
        draw_share: 0.0,
        horizon_trades: 100_000,
    };

    fn shares(question: &RuinParameters, plan: &StakePlan, limits: &WalletLimits) -> [f64; 2] {
        let trials = simulate_ruin_with_limits(question, plan, limits, (11, 4_000)).unwrap();
        [trials.ruined_share(), trials.stopped_share()]
    }

    const fn stop(amount: u64) -> MoneyStop {
        MoneyStop { amount: Some(amount), fraction: 0.0 }
    }

    #[test]
    fn target_probability_agrees_with_gamblers_ruin() {
        // The balance is 4 stakes, with ruin at 0 and a stop at 10. In an even game, the probability of ruin is 1 - 4 /
        // 10. For p = 0.45, it is ((q/p)^10 - (q/p)^4) / ((q/p)^10 - 1) (Feller I, XIV.2).
        let flat = StakePlan::Flat { stake: 10 };
        let question = RuinParameters { balance: 40, minimum_stake: 10, horizon_trades: 10_000, ..EVEN };
        let limits = WalletLimits {
            run_stops: Stops { loss: Vec::new(), profit: vec![stop(60)] },
            ..WalletLimits::default()
        };
        let odds: f64 = 0.55 / 0.45;
        for (win_probability, expected) in
            [(0.5, 0.6_f64), (0.45, (odds.powi(10) - odds.powi(4)) / (odds.powi(10) - 1.0))]
        {
            let question = RuinParameters { win_probability, ..question };
            let trials = simulate_ruin_with_limits(&question, &flat, &limits, (11, 4_000)).unwrap();
            let (ruined, reached) = (trials.ruined_share(), trials.reached_target_share());
            let error = (expected * (1.0 - expected) / 4_000.0).sqrt();
            assert!((ruined - expected).abs() < 3.0 * error, "{win_probability}: {ruined}, not {expected}");
            assert!((ruined + reached - 1.0).abs() < 1e-9, "one of the two comes");
            assert_eq!(trials.stopped, 0, "reaching a target is not a stop");
        }
    }

    #[test]
    fn limits_agree_with_hand_computation() {
        // Two trades of 10 from 100, at even odds: each of the four paths has a probability of 1/4.
        let flat = StakePlan::Flat { stake: 10 };
        let question = RuinParameters { horizon_trades: 2, ..EVEN };
        let ends = |loss: &[MoneyStop], profit: &[MoneyStop]| WalletLimits {
            run_stops: Stops { loss: loss.to_vec(), profit: profit.to_vec() },
            ..WalletLimits::default()
        };
        let fraction = |fraction| MoneyStop { amount: None, fraction };
        let off = WalletLimits::default();
        for (limits, expected) in [
            // A second loss would bring the total loss to 20, above the limit of 19.
            (ends(&[stop(19)], &[]), 0.5),
            (ends(&[stop(20)], &[]), 0.0),
            (ends(&[fraction(0.19)], &[]), 0.5),
            // The tightest limit applies: of several limits, and of amount and fraction.
            (ends(&[stop(50), stop(19)], &[]), 0.5),
            (ends(&[MoneyStop { amount: Some(50), fraction: 0.19 }], &[]), 0.5),
            (ends(&[stop(9)], &[]), 1.0),
            // Reaching a target is a success and is counted separately.
            (ends(&[], &[stop(10)]), 0.0),
            // A fall from 100 to 80 is 20 %. A fall from 110 to 100, after a win, is only 9.1 %.
            (WalletLimits { drawdown_fraction: 0.19, ..off.clone() }, 0.5),
            (WalletLimits { drawdown_fraction: 0.20, ..off.clone() }, 0.0),
            (WalletLimits { loss_streak: 1, ..off.clone() }, 0.5),
            (WalletLimits { loss_streak: 2, ..off.clone() }, 0.0),
            // A stake of 10 is more than 11 % of 90, but less than 11 % of 100 and of 110.
            (WalletLimits { stake_fraction: 0.11, ..off.clone() }, 0.5),
            (WalletLimits { stake_fraction: 0.12, ..off }, 0.0),
        ] {
            let [ruined, stopped] = shares(&question, &flat, &limits);
            assert_eq!(ruined, 0.0, "{limits:?}");
            assert!((stopped - expected).abs() < 3.0 * 0.0079 + f64::EPSILON, "{limits:?}: {stopped}");
        }
    }

    #[test]
    fn soros_above_maximum_stake_stops_caps_or_restarts() {
        // At even odds, the stakes are 10, 20 and 40. A limit of 25 rejects the third, which only the path WW reaches.
        let plan = StakePlan::Soros { base: 10, wins: 2, most_stake: MAX_MONEY, step: 1 };
        let question = RuinParameters { horizon_trades: 3, balance: 1_000, ..EVEN };
        let with = |oversized| {
            let limits = WalletLimits { max_stake: 25, oversized, ..WalletLimits::default() };
            shares(&question, &plan, &limits)
        };
        let [ruined, stopped] = with(OversizedStake::Refused);
        assert_eq!(ruined, 0.0);
        assert!((stopped - 0.25).abs() < 3.0 * 0.0069, "{stopped}");
        assert_eq!(with(OversizedStake::Capped), [0.0, 0.0]);
        assert_eq!(with(OversizedStake::Restarts), [0.0, 0.0]);
        // The stake x replaces 40. After three wins from 10, the final balance of 10 + 10 + 20 + x shows x.
        let poor = RuinParameters { balance: 10, horizon_trades: 3, win_probability: 1.0, ..EVEN };
        let reached = |oversized, target: u64| {
            let ends = Stops { loss: Vec::new(), profit: vec![stop(target)] };
            let limits =
                WalletLimits { max_stake: 25, oversized, run_stops: ends, ..WalletLimits::default() };
            simulate_ruin_with_limits(&poor, &plan, &limits, (11, 10)).unwrap().reached_target
        };
        assert_eq!([reached(OversizedStake::Capped, 55), reached(OversizedStake::Capped, 56)], [10, 0]);
        assert_eq!([reached(OversizedStake::Restarts, 40), reached(OversizedStake::Restarts, 41)], [10, 0]);
    }

    #[test]
    fn halved_share_agrees_with_hand_computation() {
        // L has a probability of 1/2. WLL passes 1.5, 0.75 and 0.375. In three even trades, the total is 1/2 + 1/8.
        let plan = StakePlan::Share { fraction: 0.5, step: 1 };
        let question = RuinParameters { horizon_trades: 3, balance: 100_000, ..EVEN };
        let halved = |limits: &WalletLimits| {
            simulate_ruin_with_limits(&question, &plan, limits, (11, 4_000)).unwrap().halved_share()
        };
        let free = halved(&WalletLimits::default());
        assert!((free - 0.625).abs() < 3.0 * 0.0077, "{free}");
        // No trade is opened that could reduce the balance by more than 40 %.
        assert_eq!(halved(&WalletLimits { drawdown_fraction: 0.4, ..WalletLimits::default() }), 0.0);
    }

    #[test]
    fn daily_stops_do_not_change_ruin_while_stakes_fit() {
        let flat = StakePlan::Flat { stake: 10 };
        let question = RuinParameters { horizon_trades: 400, win_probability: 0.48, ..EVEN };
        let rests = |loss: MoneyStop, profit: MoneyStop| WalletLimits {
            period_stops: Stops { loss: vec![loss], profit: vec![profit] },
            ..WalletLimits::default()
        };
        // With fixed stakes, the same paths are ruined.
        let free = shares(&question, &flat, &WalletLimits::default());
        assert_eq!(shares(&question, &flat, &rests(stop(20), stop(10))), free);
        assert!(free[0] > 0.5 && free[1] == 0.0, "{free:?}");
        // With a daily loss limit of 20 %, no stake of 10 fits below 50, so paths are stopped there instead of ruined.
        let share = MoneyStop { amount: None, fraction: 0.2 };
        let [ruined, stopped] = shares(&question, &flat, &rests(share, stop(10)));
        assert!(ruined == 0.0 && stopped > free[0], "{ruined} {stopped}");
    }
}
