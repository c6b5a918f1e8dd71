//! Figures of the reference variants: their signs as trades, groups of results, and open times.

use super::Figure;
use candlewick_statistics::{
    DirectedTrade, EdgeTest, EdgeTestPlan, GroupMoments, OpenPeriod, TradeOutcome, TradeSide,
    direction_baseline, exposure, longest_streaks, shrink_to_overall_mean,
};
use std::error::Error;

pub(crate) fn returns() -> Vec<Vec<f64>> {
    let rows: Vec<Vec<f64>> = include_str!("../../reference/variants.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|number| number.parse().expect("a number")).collect())
        .collect();
    (0..6).map(|variant| rows.iter().map(|row| row[variant]).collect()).collect()
}

pub(crate) fn figures() -> Result<Vec<Figure>, Box<dyn Error>> {
    let variants = returns();
    let outcome = |value: &f64| if *value > 0.0 { TradeOutcome::Won } else { TradeOutcome::Lost };
    let streaks = longest_streaks(variants[0].iter().map(outcome));
    let side = |value: &f64| if *value > 0.0 { TradeSide::Buy } else { TradeSide::Sell };
    let directed = |(own, went): (&f64, &f64)| {
        let (buy_return, sell_return) =
            if side(went) == TradeSide::Buy { (0.85, -1.0) } else { (-1.0, 0.85) };
        DirectedTrade { side: side(own), buy_return, sell_return }
    };
    let trades: Vec<DirectedTrade> = variants[0].iter().zip(&variants[1]).map(directed).collect();
    let baseline = direction_baseline(&[trades], 40_000, 1)?;
    let groups = [(40, 20), (5, 20), (4, 1)].map(|(won, lost)| {
        let mut group = GroupMoments::default();
        (0..won).for_each(|_| group.add(0.85));
        (0..lost).for_each(|_| group.add(-1.0));
        group
    });
    let drawn = shrink_to_overall_mean(&groups)?;
    let drawn = |group: usize| drawn[group].ok_or("the group has trades");
    let time = |(from_ms, until_ms): (i64, i64)| OpenPeriod { from_ms, until_ms };
    let open = [(10, 50), (40, 70), (90, 120)].map(time);
    Ok(vec![
        ("variance inflation of three in step", inflation_of_three(&variants[0])?, 1e-12),
        ("longest row of wins in 97", f64::from(streaks.won), 0.0),
        ("longest row of losses in 97", f64::from(streaks.lost), 0.0),
        ("return of 97 directions as they were", baseline.actual_mean, 1e-12),
        ("return of 97 directions always BUY", baseline.always_buy_mean, 1e-12),
        // Four standard errors of 40,000 shifts.
        ("p-value of 97 directions", baseline.p_value.ok_or("both directions occur")?, 0.021),
        ("mean of sixty among 90 drawn to the whole", drawn(0)?, 1e-12),
        ("mean of twenty-five among 90 drawn to the whole", drawn(1)?, 1e-12),
        ("mean of five among 90 drawn to the whole", drawn(2)?, 1e-12),
        ("share of time with a trade open", exposure(&open, time((0, 100)))?, 1e-15),
    ])
}

fn inflation_of_three(signs: &[f64]) -> Result<f64, Box<dyn Error>> {
    let mut test = EdgeTest::new(EdgeTestPlan::new(1e-12, 1e-12, 0.04)?);
    for sign in signs {
        let outcome = if *sign > 0.0 { TradeOutcome::Won } else { TradeOutcome::Lost };
        let stakes = [test.on_open(1.0)?, test.on_open(1.0)?, test.on_open(1.0)?];
        for stake in stakes {
            test.on_settled(stake, outcome);
        }
    }
    Ok(test.overlap().variance_inflation())
}
