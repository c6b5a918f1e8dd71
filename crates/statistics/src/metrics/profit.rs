//! Expectancy, profit factor and exposure.

use super::sharpe::mean_and_deviation;
use crate::StatisticsError;
use crate::statistics_error::check_numbers;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectancy {
    pub mean: f64,
    /// Standard error `s / sqrt(n)`, assuming independent trades.
    pub standard_error: f64,
}

/// Returns the mean trade result and its standard error, computed with the sample deviation (`n - 1`).
/// To draw conclusions about an edge, pass returns per unit of stake.
pub fn expectancy(results: &[f64]) -> Result<Expectancy, StatisticsError> {
    check_numbers("results", results, 2)?;
    let (mean, deviation) = mean_and_deviation(results);
    Ok(Expectancy { mean, standard_error: deviation / (results.len() as f64).sqrt() })
}

/// Returns the profit factor `sum(r, r > 0) / -sum(r, r < 0)`, `None` without a loss. 1 is break-even.
pub fn profit_factor(results: &[f64]) -> Result<Option<f64>, StatisticsError> {
    check_numbers("results", results, 1)?;
    let won: f64 = results.iter().filter(|result| **result > 0.0).sum();
    let lost: f64 = results.iter().filter(|result| **result < 0.0).sum();
    Ok((lost < 0.0).then(|| won / -lost))
}

/// Half-open time span of a trade, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPeriod {
    pub from_ms: i64,
    pub until_ms: i64,
}

/// Returns the share of `span` during which at least one trade was open.
pub fn exposure(trades: &[OpenPeriod], span: OpenPeriod) -> Result<f64, StatisticsError> {
    if span.until_ms <= span.from_ms {
        return Err(StatisticsError::TooFew { what: "milliseconds of the span", found: 0, needed: 1 });
    }
    let mut times: Vec<OpenPeriod> = trades
        .iter()
        .map(|time| OpenPeriod {
            from_ms: time.from_ms.max(span.from_ms),
            until_ms: time.until_ms.min(span.until_ms),
        })
        .collect();
    times.sort_unstable_by_key(|time| time.from_ms);
    let (mut open_ms, mut covered_until) = (0_u64, span.from_ms);
    for time in times {
        let from = time.from_ms.max(covered_until);
        if time.until_ms > from {
            open_ms += time.until_ms.abs_diff(from);
            covered_until = time.until_ms;
        }
    }
    Ok(open_ms as f64 / span.until_ms.abs_diff(span.from_ms) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profit_factor_compares_profits_with_losses() {
        for (results, expected) in [
            (&[0.85, -1.0, 0.85, -1.0, 0.0] as &[f64], Some(0.85)),
            (&[3.0, -1.0], Some(3.0)),
            (&[-1.0, -1.0], Some(0.0)),
            (&[1.0, 0.0], None),
        ] {
            assert_eq!(profit_factor(results), Ok(expected), "{results:?}");
        }
        assert!(profit_factor(&[]).is_err() && profit_factor(&[f64::NAN]).is_err());
        assert!(expectancy(&[1.0]).is_err() && expectancy(&[1.0, f64::INFINITY]).is_err());
    }

    const fn time(from_ms: i64, until_ms: i64) -> OpenPeriod {
        OpenPeriod { from_ms, until_ms }
    }

    #[test]
    fn overlap_counts_once_and_the_outside_not_at_all() {
        for (trades, expected) in [
            (&[] as &[OpenPeriod], 0.0),
            (&[time(0, 50)], 0.5),
            (&[time(10, 30), time(20, 40)], 0.3),
            (&[time(20, 30), time(10, 60), time(55, 60)], 0.5),
            (&[time(-50, 10), time(90, 500), time(300, 400)], 0.2),
            (&[time(i64::MIN, i64::MAX)], 1.0),
            (&[time(30, 30), time(40, 20)], 0.0),
        ] {
            assert_eq!(exposure(trades, time(0, 100)), Ok(expected), "{trades:?}");
        }
        assert!(exposure(&[], time(5, 5)).is_err());
    }
}
