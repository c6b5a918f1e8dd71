//! Money was made by the sizes of the stakes, on trades that lose.

use super::{Finding, FindingKind, Severity};
use candlewick_engine::BotSettings;

/// `return_per_unit` counts every trade the same; `has_earned` is money.
pub(super) fn find(return_per_unit: Option<f64>, has_earned: bool, bots: &[BotSettings]) -> Option<Finding> {
    let losing = return_per_unit.filter(|mean| *mean < 0.0 && has_earned)?;
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
        for (return_per_unit, has_earned, expected) in [
            (Some(-0.05), true, true),
            (Some(-0.05), false, false),
            (Some(0.05), true, false),
            (Some(0.05), false, false),
            (None, false, false),
        ] {
            assert_eq!(find(return_per_unit, has_earned, &[]).is_some(), expected, "{return_per_unit:?}");
        }
    }
}
