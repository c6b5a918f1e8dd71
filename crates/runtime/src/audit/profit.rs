//! Checks that the profit of a settled trade matches the stake, agreed payout and outcome.

use crate::coordinator::computed_profit;
use candlewick_engine::IntentId;
use candlewick_sdk::{Money, MoneyScale, Outcome, Payout};

#[derive(Clone, Copy, Debug)]
pub(crate) struct SettledProfit {
    pub(crate) intent: IntentId,
    pub(crate) stake: Money,
    pub(crate) payout: Option<Payout>,
    pub(crate) outcome: Outcome,
    pub(crate) profit: Money,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfitRules {
    pub(crate) scale: MoneyScale,
    pub(crate) max_payout_percent: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProfitMismatch {
    pub(crate) text: String,
    pub(crate) must_halt: bool,
}

/// Allowed rounding difference in a profit, in minor units.
const ROUNDING_TOLERANCE: i64 = 1;

impl SettledProfit {
    pub(crate) fn is_possible(&self, max_payout_percent: u32) -> bool {
        let (profit, stake) = (self.profit.minor(), self.stake.minor());
        match self.outcome {
            Outcome::Won => {
                let most = stake.saturating_mul(i64::from(max_payout_percent));
                profit >= 0 && profit.saturating_mul(100) <= most
            }
            Outcome::Lost => profit <= 0 && profit >= -stake,
            Outcome::Draw | Outcome::Cancelled => profit == 0,
        }
    }

    pub(crate) fn check(&self, rules: ProfitRules) -> Option<ProfitMismatch> {
        let expected = computed_profit(self.outcome, self.stake, self.payout);
        let is_possible = self.is_possible(rules.max_payout_percent);
        let off = expected.map_or(0, |expected| (self.profit - expected).minor().saturating_abs());
        let is_halting = !is_possible || off > ROUNDING_TOLERANCE;
        (is_halting || off > 0).then(|| ProfitMismatch {
            text: self.describe_profit(expected, rules.scale),
            must_halt: is_halting,
        })
    }

    fn describe_profit(&self, expected: Option<Money>, scale: MoneyScale) -> String {
        let Self { intent, outcome, profit, stake, .. } = *self;
        let [profit_text, stake_text] = [profit, stake].map(|money| scale.format(money));
        let sign = if profit.is_positive() { "+" } else { "" };
        let known = format!("trade #{intent} was {outcome} with {sign}{profit_text}");
        match (outcome, expected, self.payout) {
            (Outcome::Draw, ..) => format!("{known}, but a drawn trade returns exactly the stake"),
            (Outcome::Cancelled, ..) => format!("{known}, but a cancelled trade returns exactly the stake"),
            (Outcome::Lost, ..) if profit.is_positive() => format!("{known}, but a lost trade earns nothing"),
            (Outcome::Lost, Some(expected), _) => {
                format!("{known}, but stake and payout give {}", scale.format(expected))
            }
            (_, Some(expected), Some(payout)) => {
                let gross = (profit - stake - expected).minor().saturating_abs() <= ROUNDING_TOLERANCE;
                let hint = if gross { " (this may be the gross amount)" } else { "" };
                let expected = scale.format(expected);
                format!("{known}{hint}, but stake {stake_text} and payout {payout} % give {expected}")
            }
            _ => format!("{known} on a stake of {stake_text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> ProfitRules {
        ProfitRules { scale: MoneyScale::default(), max_payout_percent: 200 }
    }

    fn settled(outcome: Outcome, minor: i64) -> SettledProfit {
        let (stake, profit) = (Money::from_minor(1_025), Money::from_minor(minor));
        SettledProfit { intent: IntentId::new(3), stake, payout: None, outcome, profit }
    }

    #[test]
    fn profit_follows_from_stake_and_agreed_payout() {
        let check = |outcome, profit: i64, payout: Option<u32>| {
            let stake = Money::from_minor(1_000);
            let payout = payout.and_then(|percent| Payout::from_parts(percent * 10_000));
            let wrong = SettledProfit { stake, payout, ..settled(outcome, profit) }.check(rules());
            wrong.map(|wrong| (wrong.must_halt, wrong.text))
        };
        for (outcome, profit, payout, expected) in [
            (Outcome::Won, 850, Some(85), None),
            (Outcome::Won, 849, Some(85), Some((false, "with +8.49, but stake 10.00"))),
            (Outcome::Won, 852, Some(85), Some((true, "with +8.52, but stake 10.00"))),
            (Outcome::Won, 1_850, Some(85), Some((true, "with +18.50 (this may be the gross amount)"))),
            (Outcome::Won, 600, Some(85), Some((true, "with +6.00, but stake 10.00"))),
            (Outcome::Won, 600, None, None),
            (Outcome::Won, 100_000, None, Some((true, "was WON with +1,000.00 on a stake of 10.00"))),
            (Outcome::Lost, -1_000, None, None),
            (Outcome::Lost, -1_500, None, Some((true, "with -15.00, but stake and payout give -10.00"))),
            (Outcome::Lost, -500, Some(85), Some((true, "with -5.00, but stake and payout give -10.00"))),
            (Outcome::Lost, 1_000, None, Some((true, "trade #3 was LOST with +10.00, but"))),
            (Outcome::Cancelled, -1_000, None, Some((true, "trade #3 was CANCELLED with -10.00, but"))),
            (Outcome::Draw, 1, None, Some((true, "trade #3 was DRAW with +0.01, but"))),
        ] {
            let found = check(outcome, profit, payout);
            let (halts, part) = expected.unzip();
            assert_eq!(found.as_ref().map(|(halts, _)| *halts), halts, "{outcome} {profit}");
            assert!(found.is_none_or(|(_, text)| text.contains(part.unwrap())), "{outcome} {profit}");
        }
    }

    #[test]
    fn no_trade_brings_more_than_the_highest_payout_or_costs_more_than_its_stake() {
        for (outcome, profit, expected) in [
            (Outcome::Won, 840, true),
            (Outcome::Won, 2_050, true),
            (Outcome::Won, 2_051, false),
            (Outcome::Won, -1, false),
            (Outcome::Lost, -1_025, true),
            (Outcome::Lost, -500, true),
            (Outcome::Lost, -1_026, false),
            (Outcome::Lost, 840, false),
            (Outcome::Draw, 0, true),
            (Outcome::Draw, 1, false),
            (Outcome::Cancelled, -1_025, false),
        ] {
            assert_eq!(settled(outcome, profit).is_possible(200), expected, "{outcome:?} {profit}");
        }
    }
}
