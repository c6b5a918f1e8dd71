//! Finding: many trades drew, because prices hardly move or their steps are coarse.

use super::{Finding, FindingKind, Severity};

const SERIOUS: f64 = 0.20;
const WARNING: f64 = 0.05;

pub(super) fn find(drawn: u64, trades: u64) -> Option<Finding> {
    let share = drawn as f64 / trades.max(1) as f64;
    let severity = match share {
        large if large > SERIOUS => Severity::Serious,
        large if large > WARNING => Severity::Warning,
        _ => return None,
    };
    let step = if severity == Severity::Serious {
        " A step in [simulation.ticks] that is coarser than the venue's own makes such draws."
    } else {
        ""
    };
    let text = format!(
        "{:.1} % of the trades drew: where a draw is a loss, they all would have lost (draw = \"loss\" shows it).{step}",
        share * 100.0
    );
    Some(Finding { kind: FindingKind::DrawShare, severity, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_draws_are_reported_and_few_are_not() {
        for (drawn, trades, expected) in [
            (21, 100, Some(Severity::Serious)),
            (6, 100, Some(Severity::Warning)),
            (5, 100, None),
            (0, 0, None),
        ] {
            let found = find(drawn, trades);
            assert_eq!(found.as_ref().map(|finding| finding.severity), expected, "{drawn} of {trades}");
            let names_step = found.is_some_and(|finding| finding.text.contains("[simulation.ticks]"));
            assert_eq!(names_step, expected == Some(Severity::Serious));
        }
    }
}
