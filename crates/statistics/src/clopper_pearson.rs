//! Clopper-Pearson interval of a win rate, whose coverage is never below the nominal one.

use crate::{ConfidenceInterval, StatisticsError, WinRate, binomial_p_value};

/// Returns the two-sided Clopper-Pearson interval at `confidence` (0.95 for 95 %).
///
/// At the lower end, so many wins or more have a probability of `(1 - confidence) / 2`; at the
/// upper end, so many or fewer. The coverage is at least `confidence`, and larger for few trades,
/// where that of [`crate::wilson_interval`] is about nominal. It assumes independent trades.
///
/// Source: C. J. Clopper and E. S. Pearson, *The Use of Confidence or Fiducial Limits Illustrated
/// in the Case of the Binomial*, Biometrika 26 (1934). The ends are found by bisection on
/// [`crate::binomial_p_value()`], to full double precision.
pub fn clopper_pearson_interval(
    rate: WinRate,
    confidence: f64,
) -> Result<ConfidenceInterval, StatisticsError> {
    let tail = (1.0 - confidence) / 2.0;
    if !(confidence > 0.0 && tail > 0.0) {
        return Err(StatisticsError::NotAConfidence { value: confidence });
    }
    let lost = rate.decided() - rate.won();
    let lower = lower_end(rate, tail)?;
    // So many or fewer wins are so many or more losses.
    let upper = 1.0 - lower_end(WinRate::new(lost, rate.won())?, tail)?;
    Ok(ConfidenceInterval { lower, upper })
}

fn lower_end(rate: WinRate, tail: f64) -> Result<f64, StatisticsError> {
    if rate.won() == 0 {
        return Ok(0.0);
    }
    let (mut below, mut above) = (0.0_f64, rate.to_fraction());
    // The p-value rises with the rate; at the rate seen it is above any tail that makes sense.
    for _ in 0..1_100 {
        let middle = below.midpoint(above);
        if middle == below || middle == above {
            break;
        }
        if binomial_p_value(rate, middle)? < tail {
            below = middle;
        } else {
            above = middle;
        }
    }
    Ok(above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, rows};

    #[test]
    fn intervals_equal_the_reference_figures() {
        for [won, lost, confidence, lower, upper] in rows(include_str!("../reference/clopper_pearson.csv")) {
            let rate = WinRate::new(won as u64, lost as u64).unwrap();
            let found = clopper_pearson_interval(rate, confidence).unwrap();
            let case = format!("{won} won, {lost} lost at {confidence}");
            assert_close(found.lower, lower, 1e-9, &case);
            assert_close(found.upper, upper, 1e-9, &case);
        }
    }

    #[test]
    fn all_lost_and_all_won_have_the_ends_of_the_hand() {
        let at = |won, lost| clopper_pearson_interval(WinRate::new(won, lost).unwrap(), 0.95).unwrap();
        assert_eq!((at(0, 5).lower, at(5, 0).upper), (0.0, 1.0));
        // Five losses in a row have 2.5 % at q^5 = 0.025.
        assert!((at(0, 5).upper - (1.0 - 0.025_f64.powf(0.2))).abs() < 1e-12);
    }

    #[test]
    fn it_covers_the_true_rate_at_least_as_often_as_promised() {
        // Coverage is exact: the counts whose interval holds the rate, by the probability of the count.
        for (trades, rate) in [(10, 0.54), (30, 0.05), (100, 0.54), (200, 0.9)] {
            let holds = |won: &u64| {
                let counts = WinRate::new(*won, trades - won).unwrap();
                let found = clopper_pearson_interval(counts, 0.95).unwrap();
                (found.lower..=found.upper).contains(&rate)
            };
            let density = |won| crate::binomial_density::binomial_density(won, trades, rate);
            let covered: f64 = (0..=trades).filter(holds).map(density).sum();
            assert!(covered >= 0.95, "{rate} of {trades}: {covered}");
        }
    }

    #[test]
    fn a_confidence_outside_0_to_1_is_refused() {
        let rate = WinRate::new(1, 1).unwrap();
        for confidence in [f64::NAN, f64::INFINITY, -0.5, 0.0, 1.0, 95.0] {
            assert!(clopper_pearson_interval(rate, confidence).is_err(), "{confidence}");
        }
    }
}
