//! Finding: the venue changed candles after they had been seen.

use super::{Finding, FindingKind, Severity};

pub(super) fn find(revised: u64) -> Option<Finding> {
    (revised > 0).then(|| Finding {
        kind: FindingKind::DataRevised,
        severity: Severity::Warning,
        text: format!(
            "{revised} values of these candles were revised after they were first seen. The run uses those seen first, as a live bot \
             would; `candlewick data check` says which."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revised_data_is_reported_and_steady_data_is_not() {
        assert!(find(3).is_some_and(|finding| finding.text.starts_with("3 values")));
        assert_eq!(find(0), None);
    }
}
