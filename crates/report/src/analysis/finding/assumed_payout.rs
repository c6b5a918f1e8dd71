//! Finding: the run assumes a higher payout than the venue paid.

use super::{Finding, FindingKind, Severity};
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_sdk::Payout;
use candlewick_simulator::SimulationSettings;

/// In points of payout: about half a point of break-even.
const SERIOUS: f64 = 2.0;

/// Returns the median assumed payout of the trades in percent, because each symbol may have its
/// own. Without a trade, returns the default payout.
pub fn assumed_payout_percent(
    simulation: &SimulationSettings,
    bots: &[BotSettings],
    book: &TradeBook,
) -> f64 {
    let traded = book.rows().iter().filter_map(|row| bots.get(row.approved.bot().index()));
    let mut assumed: Vec<Payout> = traded.map(|bot| simulation.payout_of(bot.symbol)).collect();
    assumed.sort_unstable();
    assumed.get(assumed.len() / 2).copied().unwrap_or(simulation.payout_percent).to_percent()
}

pub(super) fn find(assumed_percent: Option<f64>, seen_percent: Option<f64>) -> Option<Finding> {
    let (assumed, seen) = (assumed_percent?, seen_percent?);
    let above = assumed - seen;
    let severity = if above > SERIOUS { Severity::Serious } else { Severity::Warning };
    // Payouts have four decimals.
    (above > 1e-4).then(|| Finding {
        kind: FindingKind::AssumedPayout,
        severity,
        text: format!(
            "A payout of {assumed:.1} % is assumed, but the venue paid {seen:.1} % (the middle one of its trades): results there will be lower."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payout_above_the_one_seen_is_reported_and_one_at_or_below_it_is_not() {
        for (assumed, seen, expected) in [
            (Some(85.0), Some(80.0), Some(Severity::Serious)),
            (Some(81.0), Some(80.0), Some(Severity::Warning)),
            (Some(80.0), Some(80.0), None),
            (Some(80.0), Some(88.0), None),
            (Some(80.0), None, None),
            (None, Some(80.0), None),
        ] {
            assert_eq!(find(assumed, seen).map(|finding| finding.severity), expected, "{assumed:?} {seen:?}");
        }
    }
}
