//! Detection of the end of an edge, with a guaranteed average run length (mean number of trades to a false alarm).

use crate::{StatisticsError, TradeOutcome};
use serde::{Deserialize, Serialize};

/// Bets as fractions of an account. Each is optimal for a mean return 4, 8 or 16 % of the stake below the edge.
const BET_FRACTIONS: [f64; 3] = [0.04, 0.08, 0.16];

type AmountPerBet = [f64; BET_FRACTIONS.len()];

/// Detects the end of an edge of `delta` or more per unit of stake.
///
/// Report opens and settlements in the order in which they became known. Each open has a mark, such as its time. An
/// alarm returns the mark at which the edge probably ended.
///
/// ```
/// use candlewick_statistics::{ChangeDetector, TradeOutcome};
///
/// let mut detector = ChangeDetector::new(0.04, 10_000)?;
/// let mut alarm = None;
/// for trade in 0..2_000 {
///     let outcome = if trade % 3 != 0 && trade < 1_000 { TradeOutcome::Won } else { TradeOutcome::Lost };
///     let stake = detector.on_open(trade, 1.0);
///     alarm = alarm.or(detector.on_settled(stake, outcome, 0.85));
/// }
/// assert!(alarm.is_some_and(|since| (990..=1_000).contains(&since)), "{alarm:?}");
/// # Ok::<(), candlewick_statistics::StatisticsError>(())
/// ```
///
/// # Guarantee
/// Suppose that each trade's mean return, given its payout and everything known at its open, is at least `delta`. The
/// mean number of trades to a false alarm is then at least `mean_trades`, however trades overlap. Won, lost and drawn
/// trades count. Cancelled and open trades do not count.
///
/// # Method
/// An account starts at 0. Each open bets a fraction `lambda` of the account against the edge, which gains
/// `lambda (delta - r)` on a return of `r`. Until the trade settles, `lambda (1 - delta)` counts as lost. Payouts above
/// 100 % reduce the bet. Each counted settlement adds 1. The detector averages three accounts with constant `lambda`,
/// divided by the variance inflation of overlap. It raises the alarm when the mean reaches `mean_trades`.
///
/// While the edge holds, no bet gains on average. Let `N` be the number of trades counted until the alarm. With all
/// open trades settled, the account's mean is at most the mean of `N`. At the alarm, the account is worth at least
/// `mean_trades`, since an open bet returns 0 or more. Therefore the mean of `N` is at least `mean_trades`.
///
/// The end of the edge is estimated, without a guarantee, by an account that restarts at the next open whenever it
/// falls below 1 (CUSUM).
///
/// Sources: A. N. Shiryaev (1963) and S. W. Roberts, Technometrics 8 (1966); J. Shin, A. Ramdas and A. Rinaldo,
/// *E-detectors: a Nonparametric Framework for Sequential Change Detection* (2023).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeDetector {
    delta: f64,
    mean_trades: f64,
    accounts: AmountPerBet,
    restarts: [RestartedAccount; BET_FRACTIONS.len()],
    /// Value of an account after a restart: 0 until the first trade is counted, 1 afterwards.
    beginning: f64,
    alarm: Option<i64>,
}

/// Account that restarts whenever its value falls below 1 (CUSUM). Its last restart estimates when the edge ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct RestartedAccount {
    account: f64,
    number: u32,
    since: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "a trade that is never settled stays lost"]
pub struct DetectorStake {
    bets: AmountPerBet,
    restarted_bets: AmountPerBet,
    numbers: [u32; BET_FRACTIONS.len()],
}

impl ChangeDetector {
    pub fn new(delta: f64, mean_trades: u64) -> Result<Self, StatisticsError> {
        if !(0.0..=1.0).contains(&delta) {
            return Err(StatisticsError::NotAnEdge { value: delta });
        }
        if mean_trades == 0 {
            return Err(StatisticsError::NoTrades);
        }
        let restart = RestartedAccount { account: 0.0, number: 0, since: 0 };
        let restarts = [restart; BET_FRACTIONS.len()];
        Ok(Self {
            delta,
            mean_trades: mean_trades as f64,
            accounts: [0.0; BET_FRACTIONS.len()],
            restarts,
            beginning: 0.0,
            alarm: None,
        })
    }

    /// Records an open and returns its stake. `variance_inflation` comes from [`Overlap`](crate::Overlap).
    pub fn on_open(&mut self, mark: i64, variance_inflation: f64) -> DetectorStake {
        let mut stake = DetectorStake {
            bets: [0.0; BET_FRACTIONS.len()],
            restarted_bets: [0.0; BET_FRACTIONS.len()],
            numbers: [0; BET_FRACTIONS.len()],
        };
        for (index, share) in BET_FRACTIONS.into_iter().enumerate() {
            let lambda = share / variance_inflation;
            stake.bets[index] = self.accounts[index] * lambda;
            self.accounts[index] -= stake.bets[index] * (1.0 - self.delta);
            let restart = &mut self.restarts[index];
            if restart.account < 1.0 {
                let (account, number) = (self.beginning, restart.number.wrapping_add(1));
                *restart = RestartedAccount { account, number, since: mark };
            }
            stake.restarted_bets[index] = restart.account * lambda;
            stake.numbers[index] = restart.number;
        }
        stake
    }

    /// Records the end of a trade that pays the fraction `payout` on a win.
    /// When the alarm is first raised, returns the mark at which the edge probably ended.
    #[expect(clippy::needless_pass_by_value, reason = "a stake settles once")]
    pub fn on_settled(&mut self, stake: DetectorStake, outcome: TradeOutcome, payout: f64) -> Option<i64> {
        let smaller = (1.0 - self.delta) / (payout.max(1.0) - self.delta).max(f64::MIN_POSITIVE);
        let (gain, one) = match outcome {
            TradeOutcome::Cancelled => (0.0, 0.0),
            _ => (smaller * (self.delta - outcome.unit_return(payout)), 1.0),
        };
        self.beginning = self.beginning.max(one);
        for index in 0..BET_FRACTIONS.len() {
            self.accounts[index] += stake.bets[index] * (1.0 - self.delta + gain) + one;
            let restart = &mut self.restarts[index];
            if restart.number == stake.numbers[index] {
                restart.account += stake.restarted_bets[index] * gain;
            }
        }
        if self.alarm.is_none() && self.account() >= self.mean_trades {
            self.alarm = self.estimated_end();
            return self.alarm;
        }
        None
    }

    /// Returns the mean of the three accounts. The detector raises the alarm when the mean reaches `mean_trades`.
    pub fn account(&self) -> f64 {
        self.accounts.iter().sum::<f64>() / BET_FRACTIONS.len() as f64
    }

    pub const fn alarm(&self) -> Option<i64> {
        self.alarm
    }

    fn estimated_end(&self) -> Option<i64> {
        let accounts = self.accounts.iter().zip(&self.restarts);
        accounts.max_by(|a, b| a.0.total_cmp(b.0)).map(|(_, restart)| restart.since)
    }
}

#[cfg(test)]
mod tests;
