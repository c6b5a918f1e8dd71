//! Maximum drawdown and Calmar ratio.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawdown {
    pub depth: f64,
    /// Depth as a fraction of the peak, infinite if the peak is 0 or negative.
    pub share: f64,
    pub peak_at: usize,
    pub trough_at: usize,
    pub recovered_at: Option<usize>,
}

impl Drawdown {
    pub const fn fall_periods(&self) -> usize {
        self.trough_at - self.peak_at
    }

    pub fn recovery_periods(&self) -> Option<usize> {
        self.recovered_at.map(|at| at - self.trough_at)
    }
}

/// Returns the largest drawdown relative to its peak (the first if several are equal). `None` if the curve never falls.
/// At time `t`, the drawdown is `(P_t - E_t) / P_t`, where `E_t` is the equity and `P_t` the highest equity up to `t`.
pub fn max_drawdown(equity: &[f64]) -> Result<Option<Drawdown>, StatisticsError> {
    check_numbers("equity", equity, 1)?;
    let mut peak_at = 0;
    let mut deepest: Option<Drawdown> = None;
    for (at, &value) in equity.iter().enumerate() {
        let peak = equity[peak_at];
        if value >= peak {
            peak_at = at;
            continue;
        }
        let share = if peak > 0.0 { (peak - value) / peak } else { f64::INFINITY };
        let depth = peak - value;
        let is_deeper = |old: Drawdown| share > old.share || (share == old.share && depth > old.depth);
        if deepest.is_none_or(is_deeper) {
            deepest = Some(Drawdown { depth, share, peak_at, trough_at: at, recovered_at: None });
        }
    }
    Ok(deepest.map(|drawdown| {
        let after = equity[drawdown.trough_at..].iter().position(|value| *value >= equity[drawdown.peak_at]);
        Drawdown { recovered_at: after.map(|steps| drawdown.trough_at + steps), ..drawdown }
    }))
}

/// Returns the Calmar ratio of compounded daily returns, `None` if the curve never falls.
///
/// The ratio is `((end / start)^(days_per_year / n) - 1) / max drawdown`, with the drawdown as a fraction of its peak.
///
/// Source: T. W. Young, *Calmar Ratio: A Smoother Tool*, Futures 20 (1991).
pub fn calmar(daily_returns: &[f64], days_per_year: f64) -> Result<Option<f64>, StatisticsError> {
    check_numbers("daily returns", daily_returns, 1)?;
    if let Some(value) = daily_returns.iter().find(|daily| **daily <= -1.0) {
        return Err(StatisticsError::NotANumberFor { what: "daily return", value: *value });
    }
    let mut equity = vec![1.0];
    equity.extend(daily_returns.iter().scan(1.0, |value, daily| {
        *value *= 1.0 + daily;
        Some(*value)
    }));
    let years = daily_returns.len() as f64 / days_per_year;
    let growth = equity[daily_returns.len()].powf(1.0 / years) - 1.0;
    Ok(max_drawdown(&equity)?.map(|drawdown| growth / drawdown.share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(equity: &[f64], expected: Option<(f64, usize, usize, Option<usize>)>) {
        let found = max_drawdown(equity).unwrap();
        assert_eq!(found.map(|d| (d.share, d.peak_at, d.trough_at, d.recovered_at)), expected, "{equity:?}");
    }

    #[test]
    fn finds_max_drawdown_with_fall_and_recovery() {
        check(&[1.0, 2.0, 3.0], None);
        check(&[100.0, 50.0, 100.0, 80.0], Some((0.5, 0, 1, Some(2))));
        check(&[100.0, 80.0, 100.0, 120.0, 110.0, 60.0, 90.0], Some((0.5, 3, 5, None)));
        check(&[10.0, 5.0, 100.0, 60.0], Some((0.5, 0, 1, Some(2))));
        // The later of two equal highs is the peak. The first of two equal falls counts.
        check(&[10.0, 10.0, 5.0, 10.0], Some((0.5, 1, 2, Some(3))));
        check(&[100.0, 50.0, 100.0, 50.0], Some((0.5, 0, 1, Some(2))));
        // As a fraction, every fall from a negative peak is infinite. The depths are 1, 3 and 2, then twice 1.
        check(&[-1.0, -2.0], Some((f64::INFINITY, 0, 1, None)));
        check(&[-1.0, -2.0, -4.0, -3.0], Some((f64::INFINITY, 0, 2, None)));
        check(&[-1.0, -2.0, -2.0], Some((f64::INFINITY, 0, 1, None)));
        // Peak at index 1, trough at index 3, recovery at index 7.
        let found = max_drawdown(&[8.0, 9.0, 6.0, 4.0, 7.0, 5.0, 8.0, 9.0]).unwrap().unwrap();
        assert_eq!((found.depth, found.fall_periods(), found.recovery_periods()), (5.0, 2, Some(4)));
        assert!(max_drawdown(&[]).is_err() && max_drawdown(&[1.0, f64::NAN]).is_err());
    }

    #[test]
    fn calmar_divides_annual_growth_by_max_drawdown() {
        // 1, 2, 1, 4: a fall of one half. A year of three days has fourfold growth, a year of 1.5 days twofold growth.
        assert!((calmar(&[1.0, -0.5, 3.0], 3.0).unwrap().unwrap() - 6.0).abs() < 1e-12);
        assert!((calmar(&[1.0, -0.5, 3.0], 1.5).unwrap().unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(calmar(&[0.1, 0.0], 252.0), Ok(None));
        assert!(calmar(&[], 252.0).is_err() && calmar(&[-1.0], 252.0).is_err());
    }
}
