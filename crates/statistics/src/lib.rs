//! Statistics of trading edges: break-even rates, confidence intervals and tests.
//!
//! A fixed-time trade wins `b` per unit of stake (80 % payout: `b = 0.8`) or loses the unit. A win rate of 50 %
//! therefore loses money, so compare a win rate with [`break_even()`]. Draws and cancellations return the stake. Such
//! trades are not decided: exclude them from all counts.
//!
//! ```
//! use candlewick_statistics::{WinRate, binomial_p_value, break_even, wilson_interval};
//!
//! let rate = WinRate::new(580, 420)?;
//! let needed = break_even(0.85)?;
//! let interval = wilson_interval(rate, 0.95)?;
//! assert!(interval.lower < 0.58 && 0.58 < interval.upper);
//! assert!(binomial_p_value(rate, needed)? < 0.01);
//! # Ok::<(), candlewick_statistics::StatisticsError>(())
//! ```
//!
//! | Question | Answer |
//! |---|---|
//! | Is there an edge, checked after every trade? | [`EdgeTest`], which decides; [`Sprt`] for information |
//! | How do many bots and their restarts share one alpha? | [`AlphaBudget`] |
//! | What are edge and win rate, checked after every trade? | [`ConfidenceSequence`]; [`WinRateLowerBound`] for stakes |
//! | Has an edge ended? | [`ChangeDetector`] |
//! | Could it be luck, checked once? | [`wilson_interval`], [`clopper_pearson_interval`], [`binomial_p_value()`], [`poisson_binomial_p_value`] |
//! | How many trades are needed? | [`TradePlan`] |
//! | How probable is ruin, and what balance avoids it? | [`ruin()`], [`required_balance`], simulated [`simulate_ruin`]; cost of a ladder [`recovery_cost`] |
//! | How much to stake? | [`kelly_fraction`] |
//! | Which of many variants are significant, and is the best one? | [`benjamini_hochberg`], [`best_of_many`], [`probability_of_overfitting`], [`deflated_sharpe`] |
//! | What does a small group of trades say? | [`shrink_to_overall_mean`] |
//! | Do the directions matter? | [`direction_baseline`] |
//! | What did a run earn, and how steadily? | [`expectancy`], [`profit_factor`], [`max_drawdown`], [`longest_streaks`], [`streak_probability`], [`sharpe`], [`sortino`], [`calmar`], [`probabilistic_sharpe`], [`exposure`] |
//! | What is a gate worth, such as trading only after virtual losses? | [`gate_worth()`], with [`TradeGate`] |
//! | Do wins and losses come in random order? | [`runs_test`] |
//! | Do the guarantees hold? | [`TradeStream`], [`VerdictRates`] |
//!
//! The intervals, both p-values, the plans based on them and the SPRT assume independent trades. They are far too
//! optimistic for trades that overlap in time; say so wherever they are displayed. The verdict of [`EdgeTest`] does not
//! assume independence. The examples `promises` and `ruin_trials` measure every guarantee. `docs/statistics.md` has the
//! tables.

mod alpha_budget;
mod binomial;
mod break_even;
mod change_detector;
mod confidence_sequence;
mod direction_baseline;
mod gate_worth;
mod metrics;
mod overfitting;
mod planner;
mod ruin;
mod shrinkage;
mod simulation;
mod sprt;
mod statistics_error;
#[cfg(test)]
mod tests;
mod trade_gate;
mod verdict;
mod win_rate;

pub use alpha_budget::{AlphaBudget, BudgetedBot};
pub use binomial::{MAX_POISSON_BINOMIAL_TRADES, binomial_p_value, poisson_binomial_p_value};
pub use break_even::{MeanBreakEven, StakeWithPayout, break_even, kelly_fraction, mixed_break_even};
pub use change_detector::{ChangeDetector, DetectorStake};
pub use confidence_sequence::{ConfidenceSequence, OpenBets, OpenTrade, WinRateLowerBound};
pub use direction_baseline::{DirectedTrade, DirectionBaseline, TradeSide, direction_baseline};
pub use gate_worth::{GateWorth, GatedTrade, gate_worth};
pub use metrics::{
    Drawdown, Expectancy, OpenPeriod, RunsTest, SharpeSample, StreakTracker, Streaks, calmar,
    deflated_sharpe, expectancy, exposure, longest_streaks, max_drawdown, probabilistic_sharpe,
    profit_factor, runs_test, sharpe, sortino, streak_probability,
};
pub use overfitting::{
    BestOfMany, Bootstrap, MAX_BLOCKS, Overfitting, PeriodReturns, ReturnSource, Split, VariantReturns,
    benjamini_hochberg, best_of_many, probability_of_overfitting,
};
pub use planner::{MAX_PLANNED_TRADES, TradePlan};
pub use ruin::{
    MAX_HORIZON_TRADES, MAX_MONEY, RecoveryGoal, RuinCurve, RuinParameters, StakePlan, recovery_cost,
    required_balance, ruin,
};
pub use shrinkage::{GroupMoments, shrink_to_overall_mean};
pub use simulation::{
    BlockBootstrap, BlockLength, MoneyStop, OversizedStake, PathBatch, RuinTrials, Stops, StreamDependence,
    StreamEvent, TradeStream, VerdictRates, WalletLimits, best_block_length, simulate_ruin,
    simulate_ruin_with_limits,
};
pub use sprt::{Sprt, SprtDecision};
pub use statistics_error::StatisticsError;
pub use trade_gate::{GateDecision, GateOpening, GateRule, GateState, TradeGate};
pub use verdict::{EdgeTest, EdgeTestPlan, NotionalStake, Overlap, Verdict};
pub use win_rate::{
    ConfidenceInterval, MAX_TRADES, TradeOutcome, WinRate, clopper_pearson_interval, wilson_interval,
};
