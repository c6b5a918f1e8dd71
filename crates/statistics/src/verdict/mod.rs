//! Verdict on an edge (shown, ruled out or undecided). The verdict may be checked after every trade.

mod overlap;
mod stake_rule;

pub use overlap::Overlap;

pub(crate) use overlap::ReturnsAtOpen;

use crate::statistics_error::{check_error_rate, check_payout};
use crate::{StatisticsError, TradeOutcome};
use serde::{Deserialize, Deserializer, Serialize};
use stake_rule::{EdgeParts, MirrorParts, max_mirror_payout};

/// Error rates of a verdict, and the edge that it tests. Choose them before the first trade.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeTestPlan {
    alpha: f64,
    beta: f64,
    delta: f64,
    watch_trades: u64,
}

impl EdgeTestPlan {
    const DEFAULT_WATCH_TRADES: u64 = 10_000;

    /// Creates a plan. `alpha` is the maximum probability of a wrong *edge shown*, `beta` that of a wrong *no edge*.
    /// `delta` is the smallest edge worth finding, as a return per unit of stake: 0.04 is four cents per unit.
    pub fn new(alpha: f64, beta: f64, delta: f64) -> Result<Self, StatisticsError> {
        if !(delta > 0.0 && delta <= 1.0) {
            return Err(StatisticsError::NotAnEdge { value: delta });
        }
        let (alpha, beta) = (check_error_rate(alpha)?, check_error_rate(beta)?);
        Ok(Self { alpha, beta, delta, watch_trades: Self::DEFAULT_WATCH_TRADES })
    }

    pub const fn alpha(self) -> f64 {
        self.alpha
    }

    pub const fn beta(self) -> f64 {
        self.beta
    }

    pub const fn delta(self) -> f64 {
        self.delta
    }

    /// Returns the mean number of trades to a false alarm of the [`ChangeDetector`](crate::ChangeDetector), 0 if off.
    pub const fn watch_trades(self) -> u64 {
        self.watch_trades
    }

    #[must_use]
    pub const fn with_watch_trades(self, watch_trades: u64) -> Self {
        Self { watch_trades, ..self }
    }
}

impl Default for EdgeTestPlan {
    /// Returns a plan with error rates of 5 % and an edge of 0.04 per unit (2.2 percentage points at a payout of 85 %).
    fn default() -> Self {
        Self { alpha: 0.05, beta: 0.05, delta: 0.04, watch_trades: Self::DEFAULT_WATCH_TRADES }
    }
}

/// Verdict on an edge. [`Self::EdgeShown`] and [`Self::EdgeRejected`] are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Without an edge, results this good would be too improbable.
    EdgeShown,
    /// With an edge of `delta` or more, results this bad would be too improbable.
    EdgeRejected,
    NotEnoughTrades {
        /// Expected number of further trades until a true edge of `delta` is shown, `None` before the first trade.
        expected_more_trades: Option<u64>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "a trade that is never settled stays lost in both accounts"]
pub struct NotionalStake {
    payout_fraction: f64,
    edge: EdgeParts,
    mirror: MirrorParts,
    mark: ReturnsAtOpen,
}

/// Sequential test for an edge. Computes a [`Verdict`] from opens and settlements, without allocating memory.
///
/// Report events in the order in which they became known. Report a settlement before a simultaneous open.
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
/// A notional account starts at 1. Each open stakes a fraction of the account. The settlement returns the stake plus
/// the trade's return per unit of stake: `+b` for a win, `-1` for a loss, or 0. The verdict is *edge shown* when the
/// account reaches `1 / alpha`. Open stakes count as lost.
///
/// The probability of a wrong *edge shown* is at most `alpha`, however often the verdict is checked. Proof: let each
/// trade's mean return, given everything known at its open, be at most 0. Trades then never increase the account's
/// mean, so with all trades settled the mean is at most 1. Stop when the account first reaches `1 / alpha`; the account
/// is then worth at least its value with every open stake lost (Ville's inequality). The proof allows trades that
/// overlap, copy each other, have different payouts, or are chosen by what happened before.
///
/// The mirror account bets that the edge is *below* `delta`. For a return `r`, it receives `(delta - r) / (B - delta)`
/// per unit of stake. `B` is the largest of 1, the payout at the open and the payout in the answer, so a trade loses at
/// most its stake. At `1 / beta`, the verdict is *no edge*: an edge of `delta` or more is ruled out. If payouts exceed
/// 100 %, the mean return must also be conditional on the payout in the answer. Both accounts exclude cancelled trades.
///
/// A strategy that breaks even on average may have recognizable good and bad regimes. It has an edge during a good
/// regime, and the account may show it. *Shown* does not guarantee anything about future trades.
///
/// # Stakes
/// Any fraction known at the open keeps the guarantee; these fractions are chosen for speed. The edge account has four
/// parts. They stake the Kelly fractions `e / b`, at most 0.35, for edges `e` of 1.1, 1.99, 3.59 and 6.5 `delta`. The
/// mirror account has two parts, for edges 1.1 and 3 `delta` below `delta`. Fractions are divided by
/// `1 + (2 pairs + 10 open) / (squares + 10)`, with the sums of [`Overlap`] and the number of open trades. If a win
/// would exceed the goal, all parts stake less, so that the win just reaches the goal.
///
/// At payout 85, edges of +2, +3, +5, +8, +12 points need a median of 3,491, 1,605, 560, 213, 102 trades to *shown*.
/// A bettor who knows the edge needs 2,853, 1,296, 449, 180 and 81. `docs/statistics.md` has the tables.
///
/// Sources: J. Ville (1939); G. Shafer, *Testing by Betting* (2021); I. Waudby-Smith and A. Ramdas, *Estimating
/// Means of Bounded Random Variables by Betting* (2024); T. Cover, *Universal Portfolios* (1991), for the parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EdgeTest {
    plan: EdgeTestPlan,
    weight: f64,
    /// Account value at which the edge is shown. Infinite (null in JSON) for a weight of 0.
    #[serde(deserialize_with = "null_as_infinite")]
    goal: f64,
    edge: EdgeParts,
    mirror: MirrorParts,
    /// Minimum value of the edge account so far, updated when a trade opens. At most 1.
    edge_minimum: f64,
    settled: u64,
    draws: u64,
    overlap: Overlap,
    opened: u64,
    sum_of_payouts: f64,
    answer: TestState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TestState {
    Open,
    Shown,
    Rejected,
}

impl EdgeTest {
    pub const fn new(plan: EdgeTestPlan) -> Self {
        Self {
            plan,
            weight: 1.0,
            goal: 1.0 / plan.alpha(),
            edge: EdgeParts::INITIAL,
            mirror: MirrorParts::INITIAL,
            edge_minimum: 1.0,
            settled: 0,
            draws: 0,
            overlap: Overlap::new(),
            opened: 0,
            sum_of_payouts: 0.0,
            answer: TestState::Open,
        }
    }

    /// Records an open at `payout_fraction` (0.85 for 85 %) and places the stakes of both accounts.
    /// Stakes nothing after a final verdict. Changes nothing if it returns an error (invalid payout).
    #[inline]
    pub fn on_open(&mut self, payout_fraction: f64) -> Result<NotionalStake, StatisticsError> {
        let b = check_payout(payout_fraction)?;
        let (edge, mirror) = if self.is_final() {
            (EdgeParts::NONE, MirrorParts::NONE)
        } else {
            let (delta, part) = (self.plan.delta(), self.overlap.stake_factor());
            let held = self.edge.total();
            if held < self.edge_minimum {
                self.edge_minimum = held;
            }
            (self.edge.bet((delta, b), part, (held, self.goal)), self.mirror.bet((delta, b), part))
        };
        self.opened += 1;
        self.sum_of_payouts += b;
        Ok(NotionalStake { payout_fraction: b, edge, mirror, mark: self.overlap.on_open() })
    }

    pub fn on_settled(&mut self, stake: NotionalStake, outcome: TradeOutcome) -> Verdict {
        let payout_fraction = stake.payout_fraction;
        self.on_settled_with_payout(stake, outcome, payout_fraction)
    }

    /// Like [`on_settled`](Self::on_settled), but with a payout that became known only with the venue's answer.
    pub fn on_settled_with_payout(
        &mut self,
        stake: NotionalStake,
        outcome: TradeOutcome,
        payout_fraction: f64,
    ) -> Verdict {
        self.settle(stake, outcome, payout_fraction);
        self.verdict()
    }

    /// Like [`on_settled_with_payout`](Self::on_settled_with_payout), but does not compute the (slow) [`Verdict`].
    #[expect(clippy::needless_pass_by_value, reason = "a stake settles once")]
    pub fn settle(&mut self, stake: NotionalStake, outcome: TradeOutcome, payout_fraction: f64) {
        let NotionalStake { payout_fraction: b, edge, mirror, mark } = stake;
        let trade_return = outcome.unit_return(payout_fraction);
        self.overlap.on_settled(mark, trade_return);
        if outcome == TradeOutcome::Cancelled {
            self.edge.return_stake(&edge, 1.0);
            self.mirror.return_stake(&mirror, 1.0);
            return;
        }
        self.settled += 1;
        self.draws += u64::from(outcome == TradeOutcome::Draw);
        self.edge.return_stake(&edge, 1.0 + trade_return);
        let delta = self.plan.delta();
        if b > delta {
            let at_risk = max_mirror_payout(b).max(payout_fraction) - delta;
            self.mirror.return_stake(&mirror, 1.0 + (delta - trade_return) / at_risk);
        }
        if self.answer == TestState::Open {
            self.answer = self.evaluate_accounts();
        }
    }

    pub const fn is_final(&self) -> bool {
        match self.answer {
            TestState::Open => false,
            TestState::Shown | TestState::Rejected => true,
        }
    }

    fn evaluate_accounts(&self) -> TestState {
        if self.edge.total() >= self.goal {
            TestState::Shown
        } else if self.mirror.total() * self.plan.beta() >= 1.0 {
            TestState::Rejected
        } else {
            TestState::Open
        }
    }

    /// Returns the value of the edge account at which the edge is shown: `1 / (alpha x weight)`.
    pub const fn goal(&self) -> f64 {
        self.goal
    }

    /// Sets the share of alpha that this test gets from the [`AlphaBudget`](crate::AlphaBudget), initially 1.
    /// After a final verdict, weight and goal do not change.
    pub fn set_weight(&mut self, weight: f64) {
        if !self.is_final() {
            self.weight = weight;
            self.goal = 1.0 / (self.plan.alpha() * weight);
        }
    }

    #[must_use]
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.set_weight(weight);
        self
    }

    pub const fn weight(&self) -> f64 {
        self.weight
    }

    pub fn verdict(&self) -> Verdict {
        match self.answer {
            TestState::Open => {
                Verdict::NotEnoughTrades { expected_more_trades: self.expected_trades_to_goal() }
            }
            TestState::Shown => Verdict::EdgeShown,
            TestState::Rejected => Verdict::EdgeRejected,
        }
    }

    pub const fn plan(&self) -> EdgeTestPlan {
        self.plan
    }

    /// Returns the value of the account that bets on an edge, with open stakes counted as lost.
    pub fn edge_account(&self) -> f64 {
        self.edge.total()
    }

    /// Returns the minimum value of the edge account so far, at most 1.
    pub fn edge_account_minimum(&self) -> f64 {
        self.edge_account().min(self.edge_minimum)
    }

    /// Returns the value of the account that bets against an edge of `delta`, with open stakes counted as lost.
    pub fn mirror_account(&self) -> f64 {
        self.mirror.total()
    }

    /// Returns the number of trades won, lost or drawn.
    pub const fn settled(&self) -> u64 {
        self.settled
    }

    pub const fn overlap(&self) -> &Overlap {
        &self.overlap
    }

    /// Returns the expected number of trades until the edge account reaches its goal, by Wald's identity.
    /// Assumes a true edge of `delta`, and that payouts, overlap and share of draws remain as observed so far.
    fn expected_trades_to_goal(&self) -> Option<u64> {
        if self.opened == 0 {
            return None;
        }
        let (b, delta) = (self.sum_of_payouts / self.opened as f64, self.plan.delta());
        let win_probability = ((1.0 + delta) / (1.0 + b)).min(1.0);
        let share = (delta / b).min(0.25);
        let growth = win_probability * (share * b).ln_1p() + (1.0 - win_probability) * (-share).ln_1p();
        let decided =
            if self.settled == 0 { 1.0 } else { (self.settled - self.draws) as f64 / self.settled as f64 };
        let trades =
            (self.goal / self.edge_account()).ln() / growth * self.overlap.variance_inflation() / decided;
        trades.is_finite().then(|| trades.ceil().max(1.0) as u64)
    }
}

fn null_as_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

impl From<EdgeTestPlan> for EdgeTest {
    fn from(plan: EdgeTestPlan) -> Self {
        Self::new(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_invalid_plans() {
        assert_eq!(EdgeTestPlan::new(0.05, 0.05, 0.04), Ok(EdgeTestPlan::default()));
        let plan = EdgeTestPlan::new(0.01, 0.02, 0.03).unwrap().with_watch_trades(7);
        assert_eq!((plan.alpha(), plan.beta(), plan.delta(), plan.watch_trades()), (0.01, 0.02, 0.03, 7));
        for wrong in [0.0, 1.1, f64::NAN] {
            for (alpha, beta, delta) in [(wrong, 0.05, 0.04), (0.05, wrong, 0.04), (0.05, 0.05, wrong)] {
                assert!(EdgeTestPlan::new(alpha, beta, delta).is_err(), "{alpha} {beta} {delta}");
            }
        }
        assert!(EdgeTestPlan::new(1.0, 0.05, 0.04).is_err());
    }

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
    fn goal_is_inverse_to_the_share_of_alpha() {
        let shown_after = |weight| {
            let mut test = EdgeTest::new(EdgeTestPlan::default()).with_weight(weight);
            assert_eq!(test.goal(), 20.0 / weight);
            let trades = settle_all(&mut test, 0.85, std::iter::repeat_n(TradeOutcome::Won, 200));
            assert_eq!((test.verdict(), test.edge_account_minimum()), (Verdict::EdgeShown, 1.0));
            // The last win brings the account exactly to the goal.
            let reached = test.edge_account() * weight / 20.0;
            assert!((1.0..1.000_001).contains(&reached), "{reached}");
            test.set_weight(1e-9);
            assert_eq!((test.verdict(), test.weight()), (Verdict::EdgeShown, weight), "it stays");
            trades
        };
        let (all, half) = (shown_after(1.0), shown_after(0.5));
        assert!(all < half && half < shown_after(0.02), "{all} {half}");
        let mut test = EdgeTest::new(EdgeTestPlan::default()).with_weight(0.0);
        settle_all(&mut test, 0.85, std::iter::repeat_n(TradeOutcome::Won, 200));
        assert_eq!(test.verdict(), Verdict::NotEnoughTrades { expected_more_trades: None });
    }

    #[test]
    fn forecast_agrees_with_hand_computation() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        for payout in [0.8, 0.9, 0.85] {
            let stake = test.on_open(payout).unwrap();
            test.on_settled(stake, TradeOutcome::Cancelled);
        }
        // At 0.85, an edge of 0.04 wins 0.562162 of trades and stakes 0.047059. The mean growth 0.562162 ln 1.04 +
        // 0.437838 ln 0.952941 is 0.000943697 per trade, and ln 20 is 2.995732.
        assert_eq!(test.verdict(), Verdict::NotEnoughTrades { expected_more_trades: Some(3175) });
        // The account's value so far counts, and overlapping trades add less: two wins of 0.85 give 1 + 1.445 / 11.445.
        for stake in [0; 2].map(|_| test.on_open(0.85).unwrap()) {
            test.on_settled(stake, TradeOutcome::Won);
        }
        let trades = (20.0 / test.edge_account()).ln() / 0.000_943_696_868_6 * (1.0 + 1.445 / 11.445);
        let expected_more_trades = Some(trades.ceil() as u64);
        assert_eq!(test.verdict(), Verdict::NotEnoughTrades { expected_more_trades });
    }

    #[test]
    fn draws_double_the_forecast() {
        let missing = |outcomes: &[TradeOutcome]| {
            let mut test = EdgeTest::new(EdgeTestPlan::default());
            settle_all(&mut test, 0.85, outcomes.iter().copied());
            let Verdict::NotEnoughTrades { expected_more_trades: about_more } = test.verdict() else {
                panic!("{test:?}")
            };
            about_more.unwrap()
        };
        let (won, halves) = ([TradeOutcome::Won; 8], [TradeOutcome::Won, TradeOutcome::Draw].repeat(8));
        assert!((2 * missing(&won) - 1..=2 * missing(&won)).contains(&missing(&halves)));
    }

    #[test]
    fn invalid_payout_changes_nothing() {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        let before = test.clone();
        for payout in [0.0, -0.8, f64::NAN, f64::INFINITY] {
            assert!(test.on_open(payout).is_err(), "{payout}");
        }
        assert_eq!(test, before);
        assert_eq!(test.verdict(), Verdict::NotEnoughTrades { expected_more_trades: None });
    }
}
