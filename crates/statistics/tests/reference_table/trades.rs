//! Figures of won and lost trades.

use super::Figure;
use candlewick_statistics::{
    EdgeTest, EdgeTestPlan, MeanBreakEven, Sprt, StakeWithPayout, TradeOutcome, TradePlan, WinRate,
    benjamini_hochberg, binomial_p_value, break_even, clopper_pearson_interval, kelly_fraction,
    mixed_break_even, poisson_binomial_p_value, runs_test, streak_probability, wilson_interval,
};
use std::error::Error;

pub(crate) fn figures() -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = rates()?;
    figures.extend(sequential()?);
    Ok(figures)
}

fn rates() -> Result<Vec<Figure>, Box<dyn Error>> {
    let (rate, null) = (WinRate::new(580, 420)?, break_even(0.85)?);
    let (wilson, clopper_pearson) = (wilson_interval(rate, 0.95)?, clopper_pearson_interval(rate, 0.95)?);
    let nulls =
        [vec![break_even(0.7)?; 40], vec![break_even(0.8)?; 100], vec![break_even(0.92)?; 60]].concat();
    let p_values = (0..=1_000).map(|won| binomial_p_value(WinRate::new(won, 1_000 - won)?, 0.5));
    let p_values: Vec<f64> = p_values.collect::<Result<_, _>>()?;
    let critical = p_values.partition_point(|p| *p > 0.05) as u64;
    let paid =
        [(10.0, 0.8), (30.0, 0.9)].map(|(stake, payout_fraction)| StakeWithPayout { stake, payout_fraction });
    let mut mean = MeanBreakEven::default();
    [vec![0.8; 40], vec![0.9; 60]].concat().into_iter().try_for_each(|payout| mean.add(payout))?;
    let plan = |points| TradePlan::new(0.85, points, 0.05, 0.8);
    Ok(vec![
        ("break-even at payout 80", break_even(0.8)?, 1e-15),
        ("break-even at payout 85", null, 1e-15),
        ("break-even at payout 90", break_even(0.9)?, 1e-15),
        ("break-even of 10 at payout 80 and 30 at payout 90", mixed_break_even(&paid)?, 1e-14),
        (
            "break-even of 40 trades at payout 80 and 60 at payout 90",
            mean.mean().ok_or("without a trade there is no mean")?,
            1e-14,
        ),
        ("Wilson lower end of 580 in 1000", wilson.lower, 1e-12),
        ("Wilson upper end of 580 in 1000", wilson.upper, 1e-12),
        ("Clopper-Pearson lower end of 580 in 1000", clopper_pearson.lower, 1e-11),
        ("Clopper-Pearson upper end of 580 in 1000", clopper_pearson.upper, 1e-11),
        ("binomial p-value of 580 in 1000 at payout 85", binomial_p_value(rate, null)?, 1e-10),
        ("Poisson-binomial p-value of 120 in 200", poisson_binomial_p_value(120, &nulls)?, 1e-10),
        (
            "worthless bot called significant against 50 %",
            binomial_p_value(WinRate::new(critical, 1_000 - critical)?, null)?,
            1e-10,
        ),
        ("trades for +2 points by the normal formula", plan(2.0)?.approximate_trades_needed() as f64, 0.0),
        ("trades for +2 points by the exact binomial", plan(2.0)?.exact_trades_needed()? as f64, 0.0),
        ("trades for +5 points by the exact binomial", plan(5.0)?.exact_trades_needed()? as f64, 0.0),
    ])
}

fn sequential() -> Result<Vec<Figure>, Box<dyn Error>> {
    let plan = EdgeTestPlan::default();
    let (mut sprt, mut edge) = (Sprt::new(plan), EdgeTest::new(plan));
    for outcome in [vec![TradeOutcome::Won; 12], vec![TradeOutcome::Lost; 8]].concat() {
        if outcome == TradeOutcome::Won {
            sprt.on_win(0.85)?
        } else {
            sprt.on_loss(0.85)?
        };
        let stake = edge.on_open(0.85)?;
        edge.on_settled(stake, outcome);
    }
    let order = [[true, true, true, false, false, false].repeat(6), [true, true, false, false].repeat(3)];
    let runs = runs_test([&order.concat()[..]]).ok_or("too few trades for a runs test")?;
    Ok(vec![
        ("SPRT log ratio after 12 won and 8 lost", sprt.log_ratio(), 1e-12),
        ("Kelly fraction of 60 % at payout 85", kelly_fraction(0.6, 0.85)?, 1e-6),
        ("best of three by Benjamini-Hochberg", benjamini_hochberg(&[0.01, 0.04, 0.03])?[0], 1e-14),
        ("p-value of 18 runs of 24 won and 24 lost", runs.p_value, 1e-10),
        ("streak of 10 losses in 1000 at 46 %", streak_probability(10, 1_000, 0.46)?, 1e-11),
        ("account for an edge after 12 won and 8 lost", edge.edge_account(), 1e-12),
        ("account against an edge after 12 won and 8 lost", edge.mirror_account(), 1e-12),
    ])
}
