//! Money was made by the sizes of the stakes, on trades that lose.

use super::{Finding, FindingKind, Severity};
use candlewick_engine::BotSettings;

/// With fewer trades the mean says nothing: at a payout of 80 % a trade returns 0.8 or -1, so that of 30 is uncertain by a third of the
/// stake either way (1.96 * 0.9 / sqrt(30)), and one more win would often turn its sign.
const LEAST_TRADES: u64 = 30;

/// `return_per_unit` counts each of the `decided` trades the same; `has_earned` is money.
pub(super) fn find(
    return_per_unit: Option<f64>,
    decided: u64,
    has_earned: bool,
    bots: &[BotSettings],
) -> Option<Finding> {
    let is_known = decided >= LEAST_TRADES && has_earned;
    let losing = return_per_unit.filter(|mean| *mean < 0.0 && is_known)?;
    let climbing = bots.iter().filter(|bot| bot.stake.climbs_after_losses());
    let ladders: Vec<&str> = climbing.map(|bot| bot.name.as_str()).collect();
    let who = match ladders[..] {
        [] => "The sizes of the stakes hide".to_owned(),
        [one] => format!("The ladder of {one} hides"),
        _ => format!("The ladders of {} hide", ladders.join(", ")),
    };
    let text = format!(
        "{who} losses: money was made, but each trade returned {:+.2} % of its stake on average. It lasts until a row of losses takes it all.",
        losing * 100.0
    );
    Some(Finding { kind: FindingKind::LadderHidesLosses, severity: Severity::Serious, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_made_on_losing_trades_is_reported_and_an_honest_result_is_not() {
        for (return_per_unit, decided, has_earned, expected) in [
            (Some(-0.05), 30, true, true),
            // Lost 5, won 8 of 10: two trades tell nothing of the next.
            (Some(-0.1), 2, true, false),
            (Some(-0.05), 29, true, false),
            (Some(-0.05), 300, false, false),
            (Some(0.05), 300, true, false),
            (Some(0.05), 300, false, false),
            (None, 0, false, false),
        ] {
            let found = find(return_per_unit, decided, has_earned, &[]);
            assert_eq!(found.is_some(), expected, "{return_per_unit:?} of {decided}");
        }
    }
}
