//! Candles are missing, and what that does to trades.

use super::{Finding, FindingKind, Severity};

/// The share of trades above which an edge is not believed.
const SERIOUS: f64 = 0.01;

/// `touched` trades of `asked` could not be opened or were called off for want of a price.
pub(super) fn find(missing: u64, touched: u64, asked: u64) -> Option<Finding> {
    if missing == 0 && touched == 0 {
        return None;
    }
    let share = touched as f64 / asked.max(1) as f64;
    let severity = match share {
        0.0 => Severity::Info,
        few if few <= SERIOUS => Severity::Warning,
        _ => Severity::Serious,
    };
    let (begins, closed) = match missing {
        0 => (
            "No candle is missing".to_owned(),
            ", which usually is where the market was closed or the data ends",
        ),
        _ => (
            format!("The data has gaps: {missing} candles are missing in hours in which the market was open"),
            "",
        ),
    };
    let text =
        format!("{begins}, and {touched} of {asked} trades ({:.1} %) found no price{closed}.", share * 100.0);
    Some(Finding { kind: FindingKind::Gaps, severity, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_reported_by_what_they_touched_and_whole_data_is_not() {
        for (missing, touched, asked, expected) in [
            (0, 0, 500, None),
            (12, 0, 500, Some(Severity::Info)),
            (12, 5, 500, Some(Severity::Warning)),
            (12, 6, 500, Some(Severity::Serious)),
            (0, 1, 1, Some(Severity::Serious)),
            (3, 0, 0, Some(Severity::Info)),
        ] {
            let found = find(missing, touched, asked).map(|finding| finding.severity);
            assert_eq!(found, expected, "{missing} {touched} {asked}");
        }
    }
}
