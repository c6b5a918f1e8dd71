//! Finding: stake sizes reverse the result, with opposite signs per unit of stake and in money.

use super::{Finding, FindingKind, Severity};
use candlewick_backtest::metric::Expectancy;
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{MoneyScale, Outcome};

/// With fewer trades the mean says nothing. At a payout of 80 % a trade returns 0.8 or -1, so the
/// mean of 30 is uncertain by a third of the stake either way (1.96 * 0.9 / sqrt(30)), and one more
/// win would often change its sign.
const MIN_DECIDED: u64 = 30;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StakedResult {
    pub(crate) decided: u64,
    pub(crate) return_per_unit: f64,
    pub(crate) profit: f64,
    pub(crate) decimals: u32,
    /// With equal stakes, money and units differ only by rounding.
    pub(crate) has_equal_stakes: bool,
}

impl StakedResult {
    pub(crate) fn from_rows(settled: &[&IntentRow], scale: MoneyScale) -> Option<Self> {
        let return_per_unit = Expectancy::of(settled, scale)?.return_per_unit;
        let is_decided = |row: &&&IntentRow| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost));
        let mut stakes = settled.iter().map(|row| row.approved.stake());
        let first = stakes.next();
        Some(Self {
            decided: settled.iter().filter(is_decided).count() as u64,
            return_per_unit,
            profit: scale.to_f64(settled.iter().map(|row| row.profit).sum()),
            decimals: scale.decimals(),
            has_equal_stakes: stakes.all(|stake| Some(stake) == first),
        })
    }

    pub(crate) fn finding(&self, bots: &[&BotSettings]) -> Option<Finding> {
        if self.decided < MIN_DECIDED || self.has_equal_stakes {
            return None;
        }
        let percent = self.return_per_unit * 100.0;
        let profit = format!("{:+.*}", self.decimals as usize, self.profit);
        let (kind, text) = if self.return_per_unit < 0.0 && self.profit > 0.0 {
            let text = format!(
                "{} losses: the account made {profit}, but the mean return of a trade is {percent:+.2} % of its stake. The profit lasts \
                 until a row of losses takes it all.",
                ladders_of(bots)
            );
            (FindingKind::LadderHidesLosses, text)
        } else if self.return_per_unit > 0.0 && self.profit < 0.0 {
            let text = format!(
                "Stakes were larger where trades lost: the account lost {}, although the mean return of a trade is {percent:+.2} % of \
                 its stake. The verdict counts every trade the same and does not cover this staking.",
                profit.trim_start_matches('-')
            );
            (FindingKind::StakesLoseMoney, text)
        } else {
            return None;
        };
        Some(Finding { kind, severity: Severity::Serious, text })
    }
}

fn ladders_of(bots: &[&BotSettings]) -> String {
    let climbing = bots.iter().filter(|bot| bot.stake.climbs_after_losses());
    let ladders: Vec<&str> = climbing.map(|bot| bot.name.as_str()).collect();
    match ladders[..] {
        [] => "The sizes of the stakes hide".to_owned(),
        [one] => format!("The ladder of {one} hides"),
        _ => format!("The ladders of {} hide", ladders.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_signs_of_units_and_money_are_a_finding() {
        use FindingKind::{LadderHidesLosses, StakesLoseMoney};
        for (return_per_unit, decided, profit, has_equal_stakes, expected) in [
            (-0.05, 30, 12.0, false, Some(LadderHidesLosses)),
            (0.08, 30, -52_594.0, false, Some(StakesLoseMoney)),
            // Lost 5, won 8 of 10: two trades tell nothing of the next.
            (-0.1, 2, 3.0, false, None),
            (-0.05, 29, 3.0, false, None),
            (0.05, 29, -3.0, false, None),
            (-0.05, 300, -3.0, false, None),
            (0.05, 300, 3.0, false, None),
            // The rounding of profits to cents is no staking.
            (0.000_01, 300, -0.02, true, None),
            (-0.000_01, 300, 0.02, true, None),
        ] {
            let result = StakedResult { decided, return_per_unit, profit, decimals: 2, has_equal_stakes };
            let found = result.finding(&[]).map(|finding| finding.kind);
            assert_eq!(found, expected, "{return_per_unit} of {decided}, {profit}");
        }
    }

    #[test]
    fn the_loss_in_money_is_stated_beside_the_return_per_unit() {
        let (decided, return_per_unit, profit) = (900, 0.0812, -52_594.0);
        let result = StakedResult { decided, return_per_unit, profit, decimals: 2, has_equal_stakes: false };
        let text = result.finding(&[]).unwrap().text;
        assert!(
            text.starts_with("Stakes were larger where trades lost: the account lost 52594.00"),
            "{text}"
        );
        assert!(text.contains("+8.12 % of its stake"), "{text}");
    }
}
