//! Finding: the run assumes a payout that no known venue pays.

use super::{Finding, FindingKind, Severity};

/// A lower payout was probably meant as a fraction: 0.8 is 0.8 %. Known venues pay 60 to 92 %.
const LEAST: f64 = 20.0;
/// Above this, a win pays more than a loss costs, and a coin toss would earn money.
const MOST: f64 = 100.0;

pub(crate) fn unusual_payout(assumed_percent: Option<f64>) -> Option<Finding> {
    let assumed = assumed_percent.filter(|assumed| !(LEAST..=MOST).contains(assumed))?;
    let why = if assumed > MOST {
        "a coin toss earns money at it, and venues are seen to pay 60 to 92 %"
    } else {
        "venues are seen to pay 60 to 92 %, and payout_percent is in percent: 80, not 0.8"
    };
    Some(Finding {
        kind: FindingKind::UnusualPayout,
        severity: Severity::Serious,
        text: format!("A payout of {assumed:.1} % is assumed: {why}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payout_that_nobody_pays_is_reported_and_a_usual_one_is_not() {
        for (assumed, expected) in [
            (Some(0.8), true),
            (Some(19.9), true),
            (Some(20.0), false),
            (Some(80.0), false),
            (Some(100.0), false),
            (Some(100.1), true),
            (None, false),
        ] {
            assert_eq!(unusual_payout(assumed).is_some(), expected, "{assumed:?}");
        }
        assert!(unusual_payout(Some(0.8)).unwrap().text.contains("0.8 % is assumed"));
    }
}
