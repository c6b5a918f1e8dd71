//! Finding: too few trades for a reliable win rate.

use super::{Finding, FindingKind, Severity};
use candlewick_backtest::metric::WinRates;

/// Half-width of the confidence interval: reached below about 95 trades.
const SERIOUS: f64 = 0.10;
/// Half-width of the confidence interval: reached below about 380 trades.
const WARNING: f64 = 0.05;

pub(super) fn find(rates: Option<&WinRates>, decided: u64) -> Option<Finding> {
    let finding = |severity, text| Some(Finding { kind: FindingKind::TooFewTrades, severity, text });
    let Some(rates) = rates else {
        let text = "No trade was won or lost: there is nothing to judge.".to_owned();
        return finding(Severity::Serious, text);
    };
    let uncertainty = rates.uncertainty();
    let severity = match uncertainty {
        wide if wide > SERIOUS => Severity::Serious,
        wide if wide > WARNING => Severity::Warning,
        _ => return None,
    };
    let points = uncertainty * 100.0;
    let text = format!(
        "Too few trades: {decided} that were won or lost leave the win rate uncertain by {points:.1} points either way."
    );
    finding(severity, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(half_width: f64, expected: Option<Severity>) {
        let wilson = [0.5 - half_width, 0.5 + half_width];
        let rates = WinRates {
            rate: 0.5,
            assumes: WinRates::ASSUMES,
            wilson,
            clopper_pearson: wilson,
            break_even: None,
            above_break_even: None,
            break_even_by_money: None,
        };
        assert_eq!(find(Some(&rates), 90).map(|finding| finding.severity), expected, "{half_width}");
    }

    #[test]
    fn few_trades_are_reported_and_many_are_not() {
        check(0.16, Some(Severity::Serious));
        check(0.08, Some(Severity::Warning));
        check(0.04, None);
        assert_eq!(find(None, 0).map(|finding| finding.severity), Some(Severity::Serious));
    }
}
