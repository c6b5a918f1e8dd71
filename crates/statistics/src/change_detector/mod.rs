//! Detection of the end of an edge, with a stated mean number of trades between false alarms.

use crate::{StatisticsError, TradeOutcome};
use serde::{Deserialize, Serialize};

/// Bet fractions before division by the variance inflation of overlap.
///
/// They are Kelly fractions of falls below the edge by 4, 8 and 16 percent of the stake, at a
/// variance of 1.
const BETS: [f64; 3] = [0.04, 0.08, 0.16];

type PerBet = [f64; BETS.len()];

/// Watches trades for the end of an edge of `delta` or more per unit of stake.
///
/// Hand it opens and settlements in the order in which they became known; each open has a mark, such as its time, by
/// which the detector says where the edge seems to have ended.
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
/// # What it promises
/// While every trade has an edge of `delta` or more, given all that was known at its open and what the venue said that it
/// pays, the mean number of trades to a false alarm is at least `mean_trades`, however trades overlap. Counted are trades that
/// were won, lost or drawn by then: what was cancelled, or has not settled, is none. (Trades that are cancelled are left out
/// on both sides, which asks that the condition holds for the trade as it would have gone on.)
///
/// # How, and why
/// An account begins at 0. Each open stakes a share of the account, its open stakes counted as lost, against the edge: a bet of
/// `lambda` of the account gains `lambda (delta - r)` of it, and `lambda (1 - delta)`, which a win that pays 100 % costs, counts as
/// lost until the trade settles (a payout above 100 % makes the bet as much smaller). Each settlement gives the bet back, and
/// then, unless the trade was cancelled, adds 1, which trades that are open already have no part of. Three accounts of constant
/// `lambda`, divided by the variance inflation of overlap, are averaged; the alarm comes when the mean reaches `mean_trades`.
///
/// While the edge holds, no bet gains on average. Let `N` be the number of trades that counted by the alarm. What the account
/// would hold if every trade that was opened by then had settled, without the ones still to be added, is `N` plus what the bets gain;
/// whether a trade is opened before the alarm, and what is bet on it, is known at its open, so that the mean of this is at most
/// that of `N`. An open stake returns 0 or more, so that it is at least what the account holds at the alarm with all open stakes
/// lost: `mean_trades`. Hence the mean of `N` is at least `mean_trades`. (Stop at `n` opens or the alarm, whichever comes first,
/// and let `n` grow: the account is never below 0. If an alarm may never come while trades go on to count, the mean of `N` is
/// infinite anyway.)
///
/// That is the statistic of Shiryaev and Roberts as an e-detector: the sum, over all trades, of an account that began with 1 at
/// the end of that trade. Where the edge ended is said by the account that carries most of the sum, the CUSUM's: it begins anew
/// at the next open whenever it has fallen below 1. This is an estimate, and has no promise.
///
/// # Sources
/// A. N. Shiryaev, *On Optimum Methods in Quickest Detection Problems* (1963); S. W. Roberts, *A Comparison of Some Control
/// Chart Procedures*, Technometrics 8 (1966); J. Shin, A. Ramdas and A. Rinaldo, *E-detectors: a Nonparametric Framework for
/// Sequential Change Detection*, New England Journal of Statistics in Data Science 2 (2023).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeDetector {
    delta: f64,
    mean_trades: f64,
    accounts: PerBet,
    restarts: [Restart; BETS.len()],
    /// Initial value of a restarted account: 0 before the first counted trade, then 1.
    beginning: f64,
    alarm: Option<i64>,
}

/// The single account that carries most of the sum, from its last restart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Restart {
    /// Open stakes counted at cost.
    account: f64,
    number: u32,
    since: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "a trade that is never settled stays lost"]
pub struct WatchStake {
    bets: PerBet,
    restarted_bets: PerBet,
    numbers: [u32; BETS.len()],
}

impl ChangeDetector {
    pub fn new(delta: f64, mean_trades: u64) -> Result<Self, StatisticsError> {
        if !(0.0..=1.0).contains(&delta) {
            return Err(StatisticsError::NotAnEdge { value: delta });
        }
        if mean_trades == 0 {
            return Err(StatisticsError::NoTrades);
        }
        let restart = Restart { account: 0.0, number: 0, since: 0 };
        let restarts = [restart; BETS.len()];
        Ok(Self {
            delta,
            mean_trades: mean_trades as f64,
            accounts: [0.0; BETS.len()],
            restarts,
            beginning: 0.0,
            alarm: None,
        })
    }

    /// Records an open and returns its stake.
    ///
    /// `mark` identifies the trade; `variance_inflation` is that of [`Overlap`](crate::Overlap) at
    /// the open.
    pub fn on_open(&mut self, mark: i64, variance_inflation: f64) -> WatchStake {
        let mut stake = WatchStake {
            bets: [0.0; BETS.len()],
            restarted_bets: [0.0; BETS.len()],
            numbers: [0; BETS.len()],
        };
        for (index, share) in BETS.into_iter().enumerate() {
            let lambda = share / variance_inflation;
            stake.bets[index] = self.accounts[index] * lambda;
            self.accounts[index] -= stake.bets[index] * (1.0 - self.delta);
            let restart = &mut self.restarts[index];
            if restart.account < 1.0 {
                let (account, number) = (self.beginning, restart.number.wrapping_add(1));
                *restart = Restart { account, number, since: mark };
            }
            stake.restarted_bets[index] = restart.account * lambda;
            stake.numbers[index] = restart.number;
        }
        stake
    }

    /// Records the end of a trade that pays `payout_fraction` on a win.
    ///
    /// If this trade raises the alarm, returns the mark of the trade with which the edge seems to
    /// have ended. The alarm is raised only once.
    #[expect(clippy::needless_pass_by_value, reason = "a stake settles once")]
    pub fn on_settled(
        &mut self,
        stake: WatchStake,
        outcome: TradeOutcome,
        payout_fraction: f64,
    ) -> Option<i64> {
        let smaller = (1.0 - self.delta) / (payout_fraction.max(1.0) - self.delta).max(f64::MIN_POSITIVE);
        let (gain, one) = match outcome {
            TradeOutcome::Cancelled => (0.0, 0.0),
            _ => (smaller * (self.delta - outcome.to_return(payout_fraction)), 1.0),
        };
        self.beginning = self.beginning.max(one);
        for index in 0..BETS.len() {
            self.accounts[index] += stake.bets[index] * (1.0 - self.delta + gain) + one;
            let restart = &mut self.restarts[index];
            if restart.number == stake.numbers[index] {
                restart.account += stake.restarted_bets[index] * gain;
            }
        }
        if self.alarm.is_none() && self.account() >= self.mean_trades {
            self.alarm = self.since();
            return self.alarm;
        }
        None
    }

    /// Returns the mean of the accounts, with open stakes counted as lost.
    ///
    /// The alarm is raised at `mean_trades`.
    pub fn account(&self) -> f64 {
        self.accounts.iter().sum::<f64>() / BETS.len() as f64
    }

    pub const fn alarm(&self) -> Option<i64> {
        self.alarm
    }

    fn since(&self) -> Option<i64> {
        let accounts = self.accounts.iter().zip(&self.restarts);
        accounts.max_by(|a, b| a.0.total_cmp(b.0)).map(|(_, restart)| restart.since)
    }
}

#[cfg(test)]
mod tests;
