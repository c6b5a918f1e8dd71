//! Money figures: ruin, drawdown, daily ratios, and the corrected best of many.

use super::Figure;
use super::variants::returns;
use candlewick_statistics::{
    Bootstrap, RecoveryGoal, RuinParameters, SharpeSample, Split, StakePlan, VariantReturns, best_of_many,
    break_even, calmar, deflated_sharpe, expectancy, max_drawdown, probabilistic_sharpe,
    probability_of_overfitting, profit_factor, recovery_cost, required_balance, ruin, sharpe, simulate_ruin,
    sortino,
};
use std::error::Error;

pub(crate) fn figures() -> Result<Vec<Figure>, Box<dyn Error>> {
    let mut figures = ruins()?;
    figures.extend(ratios()?);
    Ok(figures)
}

fn ruins() -> Result<Vec<Figure>, Box<dyn Error>> {
    let fair = RuinParameters {
        balance: 10,
        minimum_stake: 1,
        win_probability: 0.5,
        payout_fraction: 1.0,
        draw_share: 0.0,
        horizon_trades: 2_000,
    };
    let doubled = RuinParameters {
        balance: 30,
        win_probability: break_even(0.8)?,
        payout_fraction: 0.8,
        horizon_trades: 200,
        ..fair
    };
    let doubling = StakePlan::Martingale { base: 10, factor: 2.0, levels: 2, most_stake: 20, step: 1 };
    let drawing = RuinParameters {
        balance: 200_000,
        minimum_stake: 100,
        payout_fraction: 0.85,
        draw_share: 0.02,
        horizon_trades: 300,
        ..fair
    };
    let six = StakePlan::Martingale { base: 1_000, factor: 2.0, levels: 6, most_stake: 1_000_000, step: 1 };
    let flat = StakePlan::Flat { stake: 1 };
    let skilled = ruin(&RuinParameters { win_probability: 0.55, ..fair }, &flat)?;
    let enough = required_balance(&RuinParameters { win_probability: 0.6, ..fair }, &flat, 0.01)?;
    let short = RuinParameters { horizon_trades: 200, ..fair };
    Ok(vec![
        ("ruin of the fair gambler with 10 within 2000", ruin(&fair, &flat)?.probability(), 1e-10),
        ("ruin of two doubling levels from 30 within 200", ruin(&doubled, &doubling)?.probability(), 1e-10),
        (
            "ruin of six doubling levels from 2000 with 2 % draws within 300",
            ruin(&drawing, &six)?.probability(),
            1e-10,
        ),
        (
            "mean trades to ruin of a gambler at 55 %",
            skilled.mean_trades_until_ruin().ok_or("some are ruined")?,
            1e-10,
        ),
        (
            "trades to a ruin of 10 % of a gambler at 55 %",
            f64::from(skilled.trades_until_risk(0.1).ok_or("more are ruined")?),
            0.0,
        ),
        ("balance for a ruin of 1 % of a gambler at 60 %", enough.ok_or("some is enough")? as f64, 0.0),
        // Four standard errors of 20,000 paths.
        (
            "share of fair gamblers with 10 ruined within 200",
            simulate_ruin(&short, &flat, 1, 20_000)?.ruined_share(),
            0.03,
        ),
        (
            "six levels that win back losses and profit at payout 85",
            recovery_cost(0.85, 6, RecoveryGoal::LossesAndProfit)?,
            1e-14,
        ),
        (
            "six levels that win back losses at payout 85",
            recovery_cost(0.85, 6, RecoveryGoal::Losses)?,
            1e-14,
        ),
    ])
}

fn ratios() -> Result<Vec<Figure>, Box<dyn Error>> {
    let variants = returns();
    let daily: Vec<f64> = variants[2].iter().map(|value| value / 100.0).collect();
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
    let best = best_of_many(&variants, Bootstrap { block_periods: 1, draws: 20_000, seed: 1 })?;
    let split = Split { blocks: 8, purged_periods: 2 };
    Ok(vec![
        ("max. drawdown", max_drawdown(&equity)?.ok_or("it falls")?.share, 1e-12),
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
        ("largest statistic of six variants", best.statistic, 1e-12),
        // Four standard errors of 20,000 draws.
        ("p-value of the best of six variants", best.p_value, 0.05),
    ])
}
