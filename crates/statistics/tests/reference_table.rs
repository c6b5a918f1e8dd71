//! Every statistic beside the figure of somebody else's library: `cargo test -p candlewick-statistics --test
//! reference_table -- --nocapture` prints the table.

use candlewick_statistics::{
    Bootstrap, RuinQuestion, SharpeSample, Split, Sprt, StakePlan, TradePlan, VariantReturns, VerdictPlan,
    WinRate, benjamini_hochberg, best_of_many, binomial_p_value, break_even, calmar,
    clopper_pearson_interval, deflated_sharpe, expectancy, kelly_fraction, max_drawdown,
    poisson_binomial_p_value, probabilistic_sharpe, probability_of_overfitting, profit_factor, ruin, sharpe,
    sortino, streak_probability, wilson_interval,
};
use std::error::Error;

/// A figure of ours and how far it may be off, relatively: rounding of both sides, or the digits published.
type Figure = (&'static str, f64, f64);

/// The third of the variants in the reference file, as daily returns, and all of them.
fn returns() -> (Vec<f64>, Vec<Vec<f64>>) {
    let rows: Vec<Vec<f64>> = include_str!("../reference/variants.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|number| number.parse().expect("a number")).collect())
        .collect();
    let variants: Vec<Vec<f64>> =
        (0..6).map(|variant| rows.iter().map(|row| row[variant]).collect()).collect();
    (variants[2].iter().map(|value| value / 100.0).collect(), variants)
}

fn figures_of_trades() -> Result<Vec<Figure>, Box<dyn Error>> {
    let (rate, null) = (WinRate::new(580, 420)?, break_even(0.85)?);
    let (wilson, clopper_pearson) = (wilson_interval(rate, 0.95)?, clopper_pearson_interval(rate, 0.95)?);
    let nulls =
        [vec![break_even(0.7)?; 40], vec![break_even(0.8)?; 100], vec![break_even(0.92)?; 60]].concat();
    let p_values = (0..=1_000).map(|won| binomial_p_value(WinRate::new(won, 1_000 - won)?, 0.5));
    let p_values: Vec<f64> = p_values.collect::<Result<_, _>>()?;
    let critical = p_values.partition_point(|p| *p > 0.05) as u64;
    let mut sprt = Sprt::new(VerdictPlan::default());
    (0..12).try_for_each(|_| sprt.on_won(0.85).map(drop))?;
    (0..8).try_for_each(|_| sprt.on_lost(0.85).map(drop))?;
    let plan = |points| TradePlan::new(0.85, points, 0.05, 0.8);
    Ok(vec![
        ("break-even at payout 80", break_even(0.8)?, 1e-15),
        ("break-even at payout 85", null, 1e-15),
        ("break-even at payout 90", break_even(0.9)?, 1e-15),
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
        ("trades for +2 points by the normal formula", plan(2.0)?.by_normal() as f64, 0.0),
        ("trades for +2 points by the exact binomial", plan(2.0)?.by_exact_binomial()? as f64, 0.0),
        ("trades for +5 points by the exact binomial", plan(5.0)?.by_exact_binomial()? as f64, 0.0),
        ("SPRT log ratio after 12 won and 8 lost", sprt.log_ratio(), 1e-12),
        ("Kelly fraction of 60 % at payout 85", kelly_fraction(0.6, 0.85)?, 1e-6),
        ("best of three by Benjamini-Hochberg", benjamini_hochberg(&[0.01, 0.04, 0.03])?[0], 1e-14),
        ("streak of 10 losses in 1000 at 46 %", streak_probability(10, 1_000, 0.46)?, 1e-11),
    ])
}

fn figures_of_money() -> Result<Vec<Figure>, Box<dyn Error>> {
    let fair = RuinQuestion {
        balance: 10,
        minimum_stake: 1,
        win_probability: 0.5,
        payout_fraction: 1.0,
        draw_share: 0.0,
        horizon_trades: 2_000,
    };
    let doubled = RuinQuestion {
        balance: 30,
        win_probability: break_even(0.8)?,
        payout_fraction: 0.8,
        horizon_trades: 200,
        ..fair
    };
    let doubling = StakePlan::Martingale { base: 10, factor: 2.0, levels: 2, most_stake: 20, step: 1 };
    let (daily, variants) = returns();
    let equity: Vec<f64> = std::iter::once(1.0)
        .chain(daily.iter().scan(1.0, |value, daily| {
            *value *= 1.0 + daily;
            Some(*value)
        }))
        .collect();
    let earned = expectancy(&daily)?;
    let sample = SharpeSample::from_returns(&daily)?.ok_or("every day is the same")?;
    let published =
        SharpeSample { sharpe: 2.5 / 250.0_f64.sqrt(), periods: 1_250.0, skewness: -3.0, kurtosis: 10.0 };
    let variants = VariantReturns::new(&variants)?;
    let bootstrap = Bootstrap { block_periods: 1, runs: 10, seed: 1 };
    let split = Split { blocks: 8, purged_periods: 2 };
    Ok(vec![
        (
            "ruin of the fair gambler with 10 within 2000",
            ruin(&fair, &StakePlan::Flat { stake: 1 })?.probability(),
            1e-10,
        ),
        ("ruin of two doubling levels from 30 within 200", ruin(&doubled, &doubling)?.probability(), 1e-10),
        ("deepest fall", max_drawdown(&equity)?.ok_or("it falls")?.share, 1e-12),
        ("expectancy", earned.mean, 1e-12),
        ("standard error of the expectancy", earned.standard_error, 1e-12),
        ("profit factor", profit_factor(&daily)?.ok_or("it loses")?, 1e-12),
        ("Sharpe", sharpe(&daily, 252.0)?.ok_or("it varies")?, 1e-12),
        ("Sortino", sortino(&daily, 252.0)?.ok_or("it loses")?, 1e-12),
        ("Calmar", calmar(&daily, 252.0)?.ok_or("it falls")?, 1e-11),
        ("probabilistic Sharpe", probabilistic_sharpe(sample, 0.0)?, 1e-10),
        ("deflated Sharpe of 20 trials", deflated_sharpe(sample, 20, 0.01)?, 1e-10),
        ("deflated Sharpe as published", deflated_sharpe(published, 100, 0.5 / 250.0)?, 5e-5),
        (
            "probability of overfitting in 8 blocks purged by 2",
            probability_of_overfitting(&variants, split)?.probability,
            1e-12,
        ),
        ("largest statistic of six variants", best_of_many(&variants, bootstrap)?.statistic, 1e-12),
    ])
}

#[test]
fn every_statistic_stands_beside_its_reference_figure() {
    let mut ours = figures_of_trades().unwrap();
    ours.extend(figures_of_money().unwrap());
    println!("{:<52} {:>20} {:>20} {:>9}  reference", "figure", "ours", "reference", "off by");
    let mut lines = include_str!("../reference/figures.csv").lines().skip(1);
    for (figure, found, allowed) in ours {
        let line = lines.next().expect("every figure has a reference");
        let [name, value, source] = line.splitn(3, ',').collect::<Vec<_>>().try_into().unwrap();
        let expected: f64 = value.parse().unwrap();
        let off = (found / expected - 1.0).abs();
        println!("{figure:<52} {found:>20.15} {expected:>20.15} {off:>9.1e}  {source}");
        assert_eq!(figure, name, "the rows stand in the same order");
        assert!(off <= allowed, "{figure}: {found}, not {expected}");
    }
    assert_eq!(lines.next(), None, "a reference without a figure of ours");
}
