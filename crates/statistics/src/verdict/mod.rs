//! Has the edge been shown, or ruled out? One rule that may be looked at after every trade.

mod overlap;
mod plan;
mod stake_rule;

pub use overlap::Overlap;
pub use plan::EdgeTestPlan;

use crate::statistics_error::check_payout;
use crate::{StatisticsError, TradeOutcome};
use overlap::OverlapMark;
use stake_rule::SeenReturns;

/// What can be said about an edge. *Shown* and *rejected* are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The trades would be too improbable without an edge.
    EdgeShown,
    /// The trades would be too improbable with an edge of `delta` or more.
    EdgeRejected,
    /// Neither yet.
    NotEnoughTrades {
        /// How many more trades it takes on average to show an edge of `delta`; unknown before the first trade,
        /// because it depends on the payout.
        about_more: Option<u64>,
    },
}

/// What the accounts staked on a trade: hand it back when the trade settles.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a trade that is never settled stays lost in both accounts"]
pub struct NotionalStake {
    payout_fraction: f64,
    edge_stake: f64,
    mirror_stake: f64,
    mark: OverlapMark,
}

/// A verdict that is being formed: it takes each open and each settlement, answers at once and allocates nothing.
///
/// Give it events in the order in which they became known, since the stake of a trade may depend only on what was
/// known at its open. Of an open and a settlement at the same moment, the open comes first.
///
/// ```
/// use candlewick_statistics::{EdgeTest, TradeOutcome, Verdict, EdgeTestPlan};
///
/// let mut test = EdgeTest::new(EdgeTestPlan::default());
/// let first = test.on_open(0.85)?;
/// let second = test.on_open(0.92)?; // overlaps the first
/// assert!(matches!(test.on_settled(first, TradeOutcome::Won), Verdict::NotEnoughTrades { .. }));
/// test.on_settled(second, TradeOutcome::Lost);
/// assert_eq!(test.overlap().clusters(), 1);
/// # Ok::<(), candlewick_statistics::StatisticsError>(())
/// ```
///
/// # The accounts
/// A notional account starts at 1. At each open it stakes a share lambda of itself, its open stakes counted as lost,
/// and at the settlement it receives the stake and that trade's return per unit: `+b`, `-1` or 0. *Edge shown* when
/// it reaches `1 / alpha` while its open stakes are still counted as lost.
///
/// Why that errs with a probability of at most `alpha`, whenever and however often one looks: let no trade have an
/// edge, that is, let the mean of each trade's return, given all that was known at its open, be at most 0. Stop
/// opening at the first moment T at which the account reaches `1 / alpha`. Each stake was known at its open, so that
/// each trade adds at most 0 to the mean, and the account, all trades settled, has a mean of at most 1. At T it is
/// worth at least what is left of it with every open stake lost. So `P(T happens) / alpha <= 1`: Markov's inequality
/// at a stopping time, Ville's inequality with open trades. Nothing is asked of the trades among each other: they may
/// overlap, copy each other, have payouts of their own, or be chosen by what happened before.
///
/// The mirror account bets that the edge is *below* `delta`: per unit it stakes, it receives
/// `(delta - r) / (b - delta)`, at worst -1. If every trade has an edge of `delta` or more, that mean is at most 0 as
/// well, and the account reaches `1 / beta` with a probability of at most `beta`. *Edge rejected* says so: an edge of
/// `delta` or more is ruled out, at error `beta`. (Trades that are cancelled are left out on both sides, which asks
/// that the condition holds for the trade as it would have gone on.)
///
/// # lambda
/// Any rule that uses only what was known at the open keeps the promise. This one stakes for speed: the Kelly fraction
/// of the mean return seen so far, drawn to `delta` (to 0 for the mirror) with the weight of 400 trades, never
/// of less than half of `delta`, divided by the variance inflation of overlap ([`Overlap`]), and at most one quarter.
///
/// # Measured
/// 20,000 paths of 5,000 trades of each kind, looked at after every trade, no edge in any of them (each payout wins exactly
/// its break-even), nominal error 5 %: *edge shown* on 2.9 % of independent trades, 1.9 % and 1.4 % of three and five bots
/// in step, 1.3 to 2.3 % of chains, 3.0 % of mixed payouts, 2.2 to 2.7 % with draws. The SPRT errs on up to 35 % of the
/// same paths, a binomial test after every trade on 36 to 89 %. An edge of five points is shown by half of all paths after
/// 644 trades, one of two points after 3,575. `cargo run --release -p candlewick-statistics --example promises` prints
/// it all; `STATISTICS.md` of the repository has the tables.
///
/// # Sources
/// J. Ville, *Etude critique de la notion de collectif* (1939); G. Shafer, *Testing by Betting*, Journal of the
/// Royal Statistical Society A 184 (2021); I. Waudby-Smith and A. Ramdas, *Estimating Means of Bounded Random
/// Variables by Betting*, Journal of the Royal Statistical Society B 86 (2024), for stakes that follow what was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeTest {
    plan: EdgeTestPlan,
    edge_account: f64,
    mirror_account: f64,
    seen: SeenReturns,
    overlap: Overlap,
    opened: u64,
    sum_of_payouts: f64,
    answer: Answer,
}

/// The answer that latches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Open,
    Shown,
    Rejected,
}

impl EdgeTest {
    /// Both accounts at 1, no trade seen.
    pub const fn new(plan: EdgeTestPlan) -> Self {
        Self {
            plan,
            edge_account: 1.0,
            mirror_account: 1.0,
            seen: SeenReturns::new(),
            overlap: Overlap::new(),
            opened: 0,
            sum_of_payouts: 0.0,
            answer: Answer::Open,
        }
    }

    /// A trade was opened at `payout_fraction` (0.85 for 85 %): the accounts stake on it, and count that as lost.
    /// Once there is a verdict they stake no more.
    ///
    /// # Errors
    /// [`StatisticsError::NotAPayout`] unless `payout_fraction` is finite and above 0; nothing has changed then.
    #[inline]
    pub fn on_open(&mut self, payout_fraction: f64) -> Result<NotionalStake, StatisticsError> {
        let b = check_payout(payout_fraction)?;
        let (edge_share, mirror_share) = match self.answer {
            Answer::Open => (
                self.seen.edge_share(self.plan, b, &self.overlap),
                self.seen.mirror_share(self.plan, b, &self.overlap),
            ),
            Answer::Shown | Answer::Rejected => (0.0, 0.0),
        };
        let (edge_stake, mirror_stake) = (self.edge_account * edge_share, self.mirror_account * mirror_share);
        self.edge_account -= edge_stake;
        self.mirror_account -= mirror_stake;
        self.opened += 1;
        self.sum_of_payouts += b;
        Ok(NotionalStake { payout_fraction: b, edge_stake, mirror_stake, mark: self.overlap.on_open() })
    }

    /// A trade ended: its stakes come back with its return, and the verdict as it stands now is the answer.
    pub fn on_settled(&mut self, stake: NotionalStake, outcome: TradeOutcome) -> Verdict {
        let payout_fraction = stake.payout_fraction;
        self.on_settled_paying(stake, outcome, payout_fraction)
    }

    /// As [`on_settled`](Self::on_settled), of a trade that opened at another payout than was staked on: a venue names it
    /// with its answer only. One above that leaves the trade out, as if it had been cancelled, since the mirror account
    /// could lose more than its stake; both are known before the trade's outcome is.
    pub fn on_settled_paying(
        &mut self,
        stake: NotionalStake,
        outcome: TradeOutcome,
        payout_fraction: f64,
    ) -> Verdict {
        self.settle(stake, outcome, payout_fraction);
        self.verdict()
    }

    /// As [`on_settled_paying`](Self::on_settled_paying), without saying what is missing to a verdict, which costs more
    /// than all the rest: for loops that ask [`is_final`](Self::is_final).
    #[expect(clippy::needless_pass_by_value, reason = "a stake settles once")]
    pub fn settle(&mut self, stake: NotionalStake, outcome: TradeOutcome, payout_fraction: f64) {
        let NotionalStake { payout_fraction: b, edge_stake, mirror_stake, mark } = stake;
        let outcome = if payout_fraction > b { TradeOutcome::Cancelled } else { outcome };
        let trade_return = outcome.to_return(payout_fraction);
        self.overlap.on_settled(mark, trade_return);
        if outcome == TradeOutcome::Cancelled {
            self.edge_account += edge_stake;
            self.mirror_account += mirror_stake;
            return;
        }
        self.seen.on_settled(trade_return);
        self.edge_account += edge_stake * (1.0 + trade_return);
        if mirror_stake > 0.0 {
            let delta = self.plan.delta();
            self.mirror_account += mirror_stake * (1.0 + (delta - trade_return) / (b - delta));
        }
        if self.answer == Answer::Open {
            self.answer = self.answer_of_accounts();
        }
    }

    /// Whether the verdict has latched: it stays what it is.
    pub const fn is_final(&self) -> bool {
        match self.answer {
            Answer::Open => false,
            Answer::Shown | Answer::Rejected => true,
        }
    }

    fn answer_of_accounts(&self) -> Answer {
        if self.edge_account >= 1.0 / self.plan.alpha() {
            Answer::Shown
        } else if self.mirror_account >= 1.0 / self.plan.beta() {
            Answer::Rejected
        } else {
            Answer::Open
        }
    }

    /// The verdict as it stands.
    pub fn verdict(&self) -> Verdict {
        match self.answer {
            Answer::Open => Verdict::NotEnoughTrades { about_more: self.trades_to_go() },
            Answer::Shown => Verdict::EdgeShown,
            Answer::Rejected => Verdict::EdgeRejected,
        }
    }

    /// The plan that was fixed before the first trade.
    pub const fn plan(&self) -> EdgeTestPlan {
        self.plan
    }

    /// The account that bets on an edge, open stakes counted as lost: it starts at 1.
    pub const fn edge_account(&self) -> f64 {
        self.edge_account
    }

    /// The account that bets against an edge of `delta`, open stakes counted as lost: it starts at 1.
    pub const fn mirror_account(&self) -> f64 {
        self.mirror_account
    }

    /// Trades that were won, lost or drawn.
    pub const fn settled(&self) -> u64 {
        self.seen.count()
    }

    /// How the trades overlapped.
    pub const fn overlap(&self) -> &Overlap {
        &self.overlap
    }

    /// The mean number of trades until the edge account reaches its goal, if the true edge is `delta`, the payout that
    /// of the trades so far on average, and overlap and draws go on as they did: what is missing from the goal over
    /// the mean growth of the account per trade, in logarithms (Wald's identity).
    fn trades_to_go(&self) -> Option<u64> {
        if self.opened == 0 {
            return None;
        }
        let (b, delta) = (self.sum_of_payouts / self.opened as f64, self.plan.delta());
        let win_probability = ((1.0 + delta) / (1.0 + b)).min(1.0);
        let share = (delta / b).min(0.25);
        let growth = win_probability * (share * b).ln_1p() + (1.0 - win_probability) * (-share).ln_1p();
        let growth = growth * self.seen.decided_share() / self.overlap.variance_inflation();
        let missing = -(self.plan.alpha() * self.edge_account).ln();
        Some((missing / growth).ceil().max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathRange, TradeDependence, TradeStream, VerdictRates};

    fn assert_accounts(test: &EdgeTest, edge: f64, mirror: f64) {
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let (found_edge, found_mirror) = (test.edge_account(), test.mirror_account());
        assert!(close(found_edge, edge), "edge account {found_edge}, not {edge}");
        assert!(close(found_mirror, mirror), "mirror account {found_mirror}, not {mirror}");
    }

    /// One trade after another at one payout, until they end or a verdict falls; how many were settled.
    fn settle_all(test: &mut EdgeTest, payout: f64, outcomes: impl IntoIterator<Item = TradeOutcome>) -> u64 {
        for outcome in outcomes {
            let stake = test.on_open(payout).unwrap();
            if !matches!(test.on_settled(stake, outcome), Verdict::NotEnoughTrades { .. }) {
                break;
            }
        }
        test.settled()
    }

    #[test]
    fn accounts_follow_two_overlapping_trades_by_hand() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        // At payout 80, lambda is 0.04 / 0.8 = 0.05, and 0.04 / 1.04 = 1/26 for the mirror.
        let first = test.on_open(0.8).unwrap();
        assert_accounts(&test, 0.95, 25.0 / 26.0);
        let second = test.on_open(0.8).unwrap();
        assert_accounts(&test, 0.95 * 0.95, 25.0 / 26.0 * 25.0 / 26.0);
        test.on_settled(second, TradeOutcome::Won);
        // The second staked 0.0475 and gets 1.8 times that; its mirror, 25/676, loses all.
        assert_accounts(&test, 0.9025 + 0.0475 * 1.8, 625.0 / 676.0);
        test.on_settled(first, TradeOutcome::Lost);
        // The mirror gets (0.04 + 1) / 0.76 for each 1/26 it staked, and that back.
        assert_accounts(&test, 0.988, 625.0 / 676.0 + (1.0 + 1.04 / 0.76) / 26.0);
        assert_eq!((test.settled(), test.overlap().clusters()), (2, 1));
    }

    #[test]
    fn a_trade_that_pays_less_than_was_staked_on_earns_less_and_one_that_pays_more_is_left_out() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        let stake = test.on_open(0.8).unwrap();
        // 0.05 of the account, and 1/26 of the mirror: the one earns half, the other loses (0.5 - 0.04) / 0.76.
        test.on_settled_paying(stake, TradeOutcome::Won, 0.5);
        assert_accounts(&test, 0.95 + 0.05 * 1.5, 25.0 / 26.0 + (1.0 - 0.46 / 0.76) / 26.0);
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        let stake = test.on_open(0.8).unwrap();
        test.on_settled_paying(stake, TradeOutcome::Won, 0.81);
        assert_accounts(&test, 1.0, 1.0);
        assert_eq!(test.settled(), 0);
    }

    #[test]
    fn a_draw_is_a_trade_without_a_return_and_a_cancelled_one_is_none() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        let cancelled = test.on_open(0.8).unwrap();
        test.on_settled(cancelled, TradeOutcome::Cancelled);
        assert_accounts(&test, 1.0, 1.0);
        assert_eq!(test.settled(), 0);
        let drawn = test.on_open(0.8).unwrap();
        test.on_settled(drawn, TradeOutcome::Draw);
        // Nothing for the account; 0.04 short of delta for the mirror: (1 / 26) x 0.04 / 0.76.
        assert_accounts(&test, 1.0, 1.0 + 0.04 / 0.76 / 26.0);
        assert_eq!(test.settled(), 1);
    }

    #[test]
    fn an_open_stake_counts_as_lost_until_it_settles() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        settle_all(&mut test, 0.85, [TradeOutcome::Won; 10]);
        let before = test.edge_account();
        let stake = test.on_open(0.85).unwrap();
        let open = test.edge_account();
        assert!(open < before);
        test.on_settled(stake, TradeOutcome::Lost);
        assert_eq!(test.edge_account(), open);
    }

    #[test]
    fn a_verdict_stays_whatever_follows() {
        for (first, then, expected) in [
            (TradeOutcome::Won, TradeOutcome::Lost, Verdict::EdgeShown),
            (TradeOutcome::Lost, TradeOutcome::Won, Verdict::EdgeRejected),
        ] {
            let mut test = EdgeTest::new(EdgeTestPlan::default());
            assert!(settle_all(&mut test, 0.85, [first; 200]) < 60);
            assert_eq!(test.verdict(), expected);
            let (edge, mirror) = (test.edge_account(), test.mirror_account());
            for _ in 0..500 {
                settle_all(&mut test, 0.85, [then]);
            }
            assert_eq!(test.verdict(), expected);
            assert_accounts(&test, edge, mirror);
        }
    }

    #[test]
    fn a_smaller_error_takes_more_trades() {
        let trades = |alpha| {
            let mut test = EdgeTest::new(EdgeTestPlan::new(alpha, 0.05, 0.04).unwrap());
            settle_all(&mut test, 0.85, [TradeOutcome::Won; 500])
        };
        assert!(trades(0.2) < trades(0.05) && trades(0.05) < trades(0.001));
    }

    #[test]
    fn a_payout_that_is_none_is_refused_and_changes_nothing() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        let before = test.clone();
        for payout in [0.0, -0.8, f64::NAN, f64::INFINITY] {
            assert!(test.on_open(payout).is_err(), "{payout}");
        }
        assert_eq!(test, before);
        assert_eq!(test.verdict(), Verdict::NotEnoughTrades { about_more: None });
    }

    #[test]
    fn the_forecast_is_about_the_mean_of_the_trials() {
        let plan = EdgeTestPlan::new(0.05, 0.05, 0.12).unwrap();
        let mut test = EdgeTest::new(plan);
        let _open = test.on_open(0.85).unwrap();
        let Verdict::NotEnoughTrades { about_more: Some(forecast) } = test.verdict() else {
            panic!("a forecast: {:?}", test.verdict());
        };
        // The same plan on trades with an edge of exactly delta, the few that are rejected left out.
        let stream = TradeStream::new(TradeDependence::Independent, &[0.85], 12.0 / 1.85, 0.0).unwrap();
        let range = PathRange { seed: 3, first_path: 0, paths: 1_000, trades: 5_000 };
        let rates = VerdictRates::simulate(plan, &stream, range);
        let quantiles: Vec<f64> = (1..200)
            .filter_map(|i| rates.trades_to_show(f64::from(i) / 200.0))
            .map(|trades| trades as f64)
            .collect();
        let mean = quantiles.iter().sum::<f64>() / quantiles.len() as f64;
        assert!((forecast as f64 / mean - 1.0).abs() < 0.25, "forecast {forecast}, mean {mean}");
    }
}
