//! Finding: candles are missing, with the effect on trades.

use super::{Finding, FindingKind, Severity};
use candlewick_records::counted;

/// Share of trades above which an edge is not credible.
const SERIOUS: f64 = 0.01;

/// `touched` of `asked` trades could not be opened or were cancelled because a price was missing.
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
    let trades = format!("{touched} of {asked} trades ({:.1} %)", share * 100.0);
    let text = if missing == 0 {
        format!(
            "{trades} found no price: they would have opened or closed while the market was closed, or after the last candle. No \
             candle of its open hours is missing."
        )
    } else {
        let candles = counted(missing, "candle is", "candles are");
        format!(
            "The data has gaps: {candles} missing in hours in which the market was open, and {trades} found no price."
        )
    };
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

    #[test]
    fn a_trade_without_a_price_is_explained_where_no_candle_is_missing() {
        let text = |missing| find(missing, 1, 703).unwrap().text;
        let reason = "1 of 703 trades (0.1 %) found no price: they would have opened or closed while the market was closed";
        assert!(text(0).starts_with(reason), "{}", text(0));
        let expected = "1 candle is missing in hours in which the market was open, and 1 of 703 trades (0.1 %) found no price.";
        assert!(text(1).ends_with(expected), "{}", text(1));
    }
}
