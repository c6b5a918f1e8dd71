//! Compares every statistic with a reference figure from another library or publication.
//! `cargo test -p candlewick-statistics --test reference_table -- --nocapture` prints the table.

mod money;
mod trades;
mod variants;

use std::collections::BTreeSet;

/// Name of a figure, our value, and the relative tolerance for rounding, published digits or chance.
type Figure = (&'static str, f64, f64);

/// Reference figures: our function, its name, the figure and its source.
const REFERENCE: &str = include_str!("../../reference/figures.csv");

/// Items of the crate without figures: inputs, outputs and random numbers, which have their own tests.
const NO_FIGURES: &str = "\
    AlphaBudget BestOfMany BlockBootstrap BlockLength Bootstrap BudgetedBot ConfidenceInterval \
    DirectedTrade DirectionBaseline Drawdown Expectancy GateDecision GateOpening GateRule GateState \
    GateWorth GatedTrade GroupMoments MAX_BLOCKS MAX_HORIZON_TRADES MAX_POISSON_BINOMIAL_TRADES MAX_MONEY \
    MAX_PLANNED_TRADES MAX_TRADES MoneyStop NotionalStake OpenBets OpenPeriod OpenTrade Overfitting \
    OversizedStake PathBatch RecoveryGoal RuinCurve RuinParameters RuinTrials RunsTest SharpeSample Split \
    SprtDecision StakePlan StakeWithPayout StatisticsError Stops StreakTracker Streaks StreamEvent \
    StreamDependence TradeGate TradeOutcome TradeSide TradeStream VariantReturns ReturnSource PeriodReturns WalletLimits DetectorStake";
/// Items without reference figures: `examples/promises` and the test `promises` measure those valid
/// after every trade. Gate worth, ruin under limits and block length have their own tests.
const MEASURED: &str = "\
    ChangeDetector ConfidenceSequence EdgeTestPlan WinRateLowerBound Verdict VerdictRates WinRate \
    best_block_length gate_worth simulate_ruin_with_limits";

#[test]
fn statistics_equal_their_reference_figures() {
    let mut ours = trades::figures().unwrap();
    ours.extend(variants::figures().unwrap());
    ours.extend(money::figures().unwrap());
    println!("{:<56} {:>20} {:>20} {:>9}  reference", "figure", "ours", "reference", "off by");
    let mut lines = REFERENCE.lines().skip(1);
    for (figure, found, allowed) in ours {
        let line = lines.next().expect("every figure has a reference");
        let [_, name, value, source] = line.splitn(4, ',').collect::<Vec<_>>().try_into().unwrap();
        let expected: f64 = value.parse().unwrap();
        let off = (found / expected - 1.0).abs();
        println!("{figure:<56} {found:>20.15} {expected:>20.15} {off:>9.1e}  {source}");
        assert_eq!(figure, name, "the rows have the same order");
        assert!(off <= allowed, "{figure}: {found}, not {expected}");
        assert!(!source.is_empty(), "{figure}: the source is missing");
    }
    assert_eq!(lines.next(), None, "a reference without a figure of ours");
}

#[test]
fn no_statistic_is_without_a_reference_figure() {
    let library = include_str!("../../src/lib.rs");
    let exports = library.split("pub use ").skip(1).filter_map(|export| export.split(';').next());
    let names = |export: &'static str| {
        let (_, names) = export.split_once("::").expect("a module and what it offers");
        names.trim_matches(['{', '}']).split(',').map(str::trim).filter(|name| !name.is_empty())
    };
    let offered: BTreeSet<&str> = exports.flat_map(names).collect();
    let mut known: BTreeSet<&str> =
        REFERENCE.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert!(known.iter().all(|function| offered.contains(function)), "a reference of nothing: {known:?}");
    known.extend(NO_FIGURES.split_whitespace());
    known.extend(MEASURED.split_whitespace());
    assert_eq!(offered, known, "what is offered, and what has a reference figure or is none");
}
