//! Finding: the number of variants tried is unknown, so the result is not corrected for it.

use super::{Finding, FindingKind, Severity};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariantsUnknown {
    NotCounted,
    Before,
    Lost(String),
}

pub(super) fn find(unknown: &VariantsUnknown) -> Finding {
    let (severity, text) = match unknown {
        VariantsUnknown::NotCounted => (
            Severity::Warning,
            "Variants unknown: they are not counted ([variants] ledger is empty), so that nothing corrects for how many were tried."
                .to_owned(),
        ),
        VariantsUnknown::Before => (
            Severity::Info,
            "The ledger of variants began with this run: what was tried before it, or counted elsewhere, is unknown to it.".to_owned(),
        ),
        VariantsUnknown::Lost(what) => (
            Severity::Serious,
            format!(
                "Variants unknown: {what}. How many were tried cannot be corrected for: bring the ledger back from a copy, or judge on \
                 candles that come later."
            ),
        ),
    };
    Finding { kind: FindingKind::VariantsUnknown, severity, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_ledger_is_serious_and_a_new_one_is_good_to_know() {
        let severity = |unknown| find(&unknown).severity;
        assert_eq!(severity(VariantsUnknown::Lost("the file is empty".to_owned())), Severity::Serious);
        assert_eq!(severity(VariantsUnknown::NotCounted), Severity::Warning);
        assert_eq!(severity(VariantsUnknown::Before), Severity::Info);
    }
}
