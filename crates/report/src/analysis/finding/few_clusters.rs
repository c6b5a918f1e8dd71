//! Finding: the result depends on few independent trades; overlapping trades share their luck.

use super::{Finding, FindingKind, Severity, VerdictBasis};

/// Minimum number of clusters (Cameron and Miller, *A Practitioner's Guide to Cluster-Robust
/// Inference*, Journal of Human Resources 50, 2015: from below 20 to below 50, depending on how
/// unequal they are).
const FEW: u64 = 30;
/// With fewer trades, the finding about too few trades applies instead.
const FEWEST_TRADES: u64 = 95;

pub(super) fn find(basis: VerdictBasis, decided: u64) -> Option<Finding> {
    let VerdictBasis { apart, is_decided } = basis;
    let is_few = (is_decided || decided >= FEWEST_TRADES) && (1..FEW).contains(&apart);
    let what = if is_decided { "The verdict rests" } else { "These results rest" };
    is_few.then(|| Finding {
        kind: FindingKind::FewClusters,
        severity: Severity::Warning,
        text: format!(
            "{what} on {decided} trades of which only {apart} did not overlap: what overlaps has the same luck. Wait for {FEW} such trades at \
             least."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_trades_apart_are_reported_and_many_or_few_trades_are_not() {
        for (apart, is_decided, decided, expected) in [
            (29, true, 40, true),
            (30, true, 40, false),
            (3, false, 95, true),
            (3, false, 94, false),
            (30, false, 400, false),
            (0, true, 0, false),
        ] {
            let found = find(VerdictBasis { apart, is_decided }, decided);
            assert_eq!(found.is_some(), expected, "{apart} {is_decided} {decided}");
        }
    }
}
