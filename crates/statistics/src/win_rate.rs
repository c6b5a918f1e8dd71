//! Trade outcomes, win rates and their confidence intervals.

use crate::{StatisticsError, binomial_p_value};
use statrs::distribution::{ContinuousCDF, Normal};

/// Outcome of a trade. If draws count as losses at your venue, pass [`TradeOutcome::Lost`] for a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeOutcome {
    Won,
    Lost,
    /// The trade ran, and its stake was returned. The return is 0.
    Draw,
    /// The stake was returned and was never at risk. Such a trade is not evidence.
    Cancelled,
}

impl TradeOutcome {
    pub const fn unit_return(self, payout_fraction: f64) -> f64 {
        match self {
            Self::Won => payout_fraction,
            Self::Lost => -1.0,
            Self::Draw | Self::Cancelled => 0.0,
        }
    }
}

/// Maximum number of decided trades. All results are exact up to this number.
pub const MAX_TRADES: u64 = 1_000_000_000;

/// Win rate of at least one decided trade (won or lost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinRate {
    won: u64,
    lost: u64,
}

impl WinRate {
    /// Creates a win rate from the numbers of won and lost trades. Draws and cancelled trades are excluded.
    pub fn new(won: u64, lost: u64) -> Result<Self, StatisticsError> {
        match won.saturating_add(lost) {
            0 => Err(StatisticsError::NoTrades),
            1..=MAX_TRADES => Ok(Self { won, lost }),
            trades => Err(StatisticsError::TooManyTrades { trades, most: MAX_TRADES }),
        }
    }

    pub const fn won(self) -> u64 {
        self.won
    }

    pub const fn decided(self) -> u64 {
        self.won + self.lost
    }

    pub fn to_fraction(self) -> f64 {
        self.won as f64 / self.decided() as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    pub lower: f64,
    pub upper: f64,
}

/// Returns the two-sided Wilson score interval at `confidence` (0.95 for 95 %), assuming independent trades.
///
/// For `k` wins out of `n` and the normal quantile `z` at `(1 + confidence) / 2`, the interval's ends are
/// `(k + z^2 / 2 ± z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)`, without continuity correction.
///
/// Source: E. B. Wilson, *Probable Inference, the Law of Succession, and Statistical Inference* (1927).
pub fn wilson_interval(rate: WinRate, confidence: f64) -> Result<ConfidenceInterval, StatisticsError> {
    let quantile = f64::midpoint(1.0, confidence);
    // If the quantile rounds to 1, z is infinite and there is no interval.
    if !(confidence > 0.0 && quantile < 1.0) {
        return Err(StatisticsError::NotAConfidence { value: confidence });
    }
    let z = Normal::standard().inverse_cdf(quantile);
    let (k, n) = (rate.won() as f64, rate.decided() as f64);
    let spread = z * (k * (n - k) / n + z * z / 4.0).sqrt();
    let upper = (k + z * z / 2.0 + spread) / (n + z * z);
    // The roots' product k^2 / (n (n + z^2)) avoids subtracting near numbers, and is exactly 0 for k = 0.
    let lower = k / (n + z * z) * (k / n) / upper;
    Ok(ConfidenceInterval { lower: lower.min(1.0), upper: upper.min(1.0) })
}

/// Returns the two-sided Clopper-Pearson interval at confidence `level` (0.95 for 95 %), assuming independent trades.
///
/// At the lower end, the probability of at least the observed wins is `(1 - level) / 2`. At the upper end, the
/// probability of at most the observed wins is `(1 - level) / 2`. The coverage is at least `level`. Bisection finds the
/// ends to full double precision. Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934).
pub fn clopper_pearson_interval(rate: WinRate, level: f64) -> Result<ConfidenceInterval, StatisticsError> {
    let tail = (1.0 - level) / 2.0;
    if !(level > 0.0 && tail > 0.0) {
        return Err(StatisticsError::NotAConfidence { value: level });
    }
    let lost = rate.decided() - rate.won();
    let lower = clopper_pearson_lower_end(rate, tail)?;
    // The upper end follows from the lower end by the symmetry between wins and losses.
    let upper = 1.0 - clopper_pearson_lower_end(WinRate::new(lost, rate.won())?, tail)?;
    Ok(ConfidenceInterval { lower, upper })
}

fn clopper_pearson_lower_end(rate: WinRate, tail: f64) -> Result<f64, StatisticsError> {
    if rate.won() == 0 {
        return Ok(0.0);
    }
    let (mut below, mut above) = (0.0_f64, rate.to_fraction());
    // The p-value increases with the win rate. At the observed rate, it exceeds any sensible tail probability.
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
    use crate::tests::{assert_close, rows};

    #[test]
    fn win_rate_requires_a_decided_trade() {
        let rate = WinRate::new(3, 1).unwrap();
        assert_eq!((rate.won(), rate.decided()), (3, 4));
        let too_many = |trades| Err(StatisticsError::TooManyTrades { trades, most: MAX_TRADES });
        for (won, lost, expected) in [
            (3, 1, Ok(0.75)),
            (0, 5, Ok(0.0)),
            (MAX_TRADES, 0, Ok(1.0)),
            (0, 0, Err(StatisticsError::NoTrades)),
            (MAX_TRADES, 1, too_many(MAX_TRADES + 1)),
            (u64::MAX, u64::MAX, too_many(u64::MAX)),
        ] {
            assert_eq!(WinRate::new(won, lost).map(WinRate::to_fraction), expected);
        }
    }

    type Interval = fn(WinRate, f64) -> Result<ConfidenceInterval, StatisticsError>;

    #[test]
    fn intervals_equal_the_reference_figures() {
        let wilson = include_str!("../reference/wilson.csv");
        let exact = include_str!("../reference/clopper_pearson.csv");
        for (file, interval, error) in
            [(wilson, wilson_interval as Interval, 1e-11), (exact, clopper_pearson_interval, 1e-9)]
        {
            for [won, lost, confidence, lower, upper] in rows(file) {
                let found = interval(WinRate::new(won as u64, lost as u64).unwrap(), confidence).unwrap();
                let case = format!("{won} won, {lost} lost at {confidence}");
                assert_close(found.lower, lower, error, &case);
                assert_close(found.upper, upper, error, &case);
            }
        }
    }

    #[test]
    fn interval_reaches_0_without_wins_and_1_without_losses() {
        for interval in [wilson_interval, clopper_pearson_interval] {
            let at = |won, lost| interval(WinRate::new(won, lost).unwrap(), 0.95).unwrap();
            assert_eq!((at(0, 7).lower, at(7, 0).upper), (0.0, 1.0));
        }
    }

    #[test]
    fn rejects_confidence_outside_0_to_1() {
        let rate = WinRate::new(1, 1).unwrap();
        for confidence in [f64::NAN, f64::INFINITY, -0.5, 0.0, 1.0, 95.0] {
            assert!(wilson_interval(rate, confidence).is_err(), "{confidence}");
            assert!(clopper_pearson_interval(rate, confidence).is_err(), "{confidence}");
        }
        assert!(wilson_interval(rate, 1.0 - f64::EPSILON / 2.0).is_err());
    }
}
