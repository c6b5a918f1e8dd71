//! Finding: the whole profit comes from one hour of the day.

use super::super::Cell;
use super::{Finding, FindingKind, Severity};

const FEWEST_HOURS: usize = 3;

pub(super) fn find(hours: &[Cell]) -> Option<Finding> {
    let total: f64 = hours.iter().map(|cell| cell.total_return).sum();
    let best = hours.iter().max_by(|one, two| one.total_return.total_cmp(&two.total_return))?;
    let rest = total - best.total_return;
    let is_alone = hours.len() >= FEWEST_HOURS && total > 0.0 && rest <= 0.0;
    is_alone.then(|| {
        let Cell { label, trades, .. } = best;
        let text = format!(
            "The profit is that of one hour: from {label} UTC on {trades} trades returned {:+.1} stakes, the other {} hours {rest:+.1}.",
            best.total_return,
            hours.len() - 1
        );
        Finding { kind: FindingKind::OneHourOnly, severity: Severity::Warning, text }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(returns: &[f64], expected: bool) {
        let cell = |total_return: &f64| Cell {
            label: "09:00".to_owned(),
            trades: 40,
            won: 20,
            lost: 20,
            win_rate: Some(0.5),
            break_even: None,
            return_per_unit: None,
            shrunk_return: None,
            total_return: *total_return,
            is_small: false,
            pnl: 0.0,
        };
        let hours: Vec<Cell> = returns.iter().map(cell).collect();
        assert_eq!(find(&hours).is_some(), expected, "{returns:?}");
    }

    #[test]
    fn a_profit_of_one_hour_is_reported_and_one_of_several_is_not() {
        check(&[9.0, -2.0, -3.0], true);
        check(&[9.0, 1.0, 0.5], false);
        // A loss is no profit, and one hour has no other beside it.
        check(&[2.0, -2.0, -3.0], false);
        check(&[9.0], false);
        check(&[], false);
    }
}
