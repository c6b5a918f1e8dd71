//! Finding: the profit depends on orders that arrive faster than usual.

use super::super::SensitivityPoint;
use super::{Finding, FindingKind, Severity};

/// Usual latency: a profit that disappears within it is not attainable.
const USUAL_MS: f64 = 1_000.0;

/// `latencies` are ascending, and empty unless the run was repeated.
pub(super) fn find(latencies: &[SensitivityPoint]) -> Option<Finding> {
    let known = |point: &SensitivityPoint| Some((point.value?, point.return_per_unit?));
    let (_, at_once) = latencies.first().and_then(known).filter(|(at, gain)| *at == 0.0 && *gain > 0.0)?;
    let (dead_at, left) = latencies.iter().filter_map(known).find(|(_, gain)| *gain <= 0.0)?;
    let severity = if dead_at <= USUAL_MS { Severity::Serious } else { Severity::Warning };
    let text = format!(
        "The profit dies of latency: {:+.2} % of the stake for each trade without any, {:+.2} % at {dead_at:.0} ms.",
        at_once * 100.0,
        left * 100.0
    );
    Some(Finding { kind: FindingKind::DiesOfLatency, severity, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(returns: &[(f64, f64)], expected: Option<Severity>) {
        let point = |(value, return_per_unit): &(f64, f64)| SensitivityPoint {
            label: String::new(),
            value: Some(*value),
            is_own: false,
            trades: 100,
            win_rate: None,
            break_even: None,
            return_per_unit: Some(*return_per_unit),
            pnl: 0.0,
        };
        let points: Vec<SensitivityPoint> = returns.iter().map(point).collect();
        assert_eq!(find(&points).map(|finding| finding.severity), expected, "{returns:?}");
    }

    #[test]
    fn a_profit_that_a_second_takes_is_reported_and_one_that_lasts_is_not() {
        check(&[(0.0, 0.1), (1_000.0, -0.01), (2_000.0, -0.02)], Some(Severity::Serious));
        check(&[(0.0, 0.1), (1_000.0, 0.05), (3_000.0, 0.0)], Some(Severity::Warning));
        check(&[(0.0, 0.1), (1_000.0, 0.1), (5_000.0, 0.02)], None);
        // What never lived does not die, and without repeats nothing is known.
        check(&[(0.0, -0.1), (1_000.0, -0.2)], None);
        check(&[], None);
    }
}
