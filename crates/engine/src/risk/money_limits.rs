//! Rules on losses, profits, drawdown, stakes and the balance. Open trades count as lost.

use super::limits::{parse_amount, parse_percent};
use super::{Proposal, RiskView, Ruling, refuse_if};
use crate::EngineError;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::{Money, MoneyScale};

/// A limit given as an amount, a percentage or both. Zero means that the amount or the percentage is not set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AmountOrPercent {
    amount: Money,
    parts: i64,
}

const PARTS_PER_PERCENT: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);

const PARTS_PER_WHOLE: i128 = 100_000_000;

impl AmountOrPercent {
    pub(super) fn new(scale: MoneyScale, most: Decimal, share: f64, key: &str) -> Result<Self, EngineError> {
        parse_percent(share, &format!("{key}_percent"))?;
        // Use the decimal value as written, because 0.7 has no exact binary representation.
        let parts =
            Decimal::try_from(share).ok().and_then(|share| (share * PARTS_PER_PERCENT).round().to_i64());
        Ok(Self { amount: parse_amount(scale, most, key)?, parts: parts.unwrap_or(0) })
    }

    pub(crate) fn amount(&self) -> Option<Money> {
        self.amount.is_positive().then_some(self.amount)
    }

    /// Converts the percentage of `equity` to an amount, rounded down to the smallest unit. `None` if it is not set.
    pub(crate) fn share_of(&self, equity: Money) -> Option<Money> {
        let part = || i128::from(equity.max(Money::ZERO).minor()) * i128::from(self.parts) / PARTS_PER_WHOLE;
        (self.parts > 0).then(|| Money::from_minor(i64::try_from(part()).unwrap_or(i64::MAX)))
    }

    #[inline]
    pub(crate) fn amount_at(&self, equity: Money) -> Option<Money> {
        match (self.amount(), self.share_of(equity)) {
            (Some(amount), Some(share)) => Some(amount.min(share)),
            (amount, share) => amount.or(share),
        }
    }
}

pub(super) fn check_daily_loss_limit(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let Some(limit) = view.limits.daily_loss_limit.amount_at(view.ledger.day_equity()) else {
        return Ruling::Pass;
    };
    let worst = view.ledger.day_result() - view.ledger.open_stakes() - proposal.stake;
    refuse_if(worst < -limit)
}

pub(super) fn check_daily_profit_target(_proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let target = view.limits.daily_profit_target.amount_at(view.ledger.day_equity());
    refuse_if(target.is_some_and(|target| view.ledger.day_profit() >= target))
}

#[inline]
pub(super) fn check_max_drawdown(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let peak = view.ledger.peak_equity();
    // The available balance already excludes the stakes of open trades.
    let worst = view.ledger.available_balance() - proposal.stake;
    refuse_if(view.limits.is_drawdown_exceeded(peak - worst, peak))
}

pub(super) fn check_loss_streak(_proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let most = view.limits.max_loss_streak;
    refuse_if(most > 0 && view.ledger.loss_streak() >= most)
}

#[inline]
pub(super) fn check_stake_bounds(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    let limits = view.limits;
    refuse_if(
        proposal.stake < limits.minimum_stake
            || limits.largest_stake().is_some_and(|most| proposal.stake > most)
            || (limits.max_stake_fraction > 0.0
                && proposal.stake
                    > view.ledger.available_balance().mul_rounded_down(limits.max_stake_fraction)),
    )
}

pub(super) fn check_insufficient_balance(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(proposal.stake > view.ledger.available_balance())
}

#[cfg(test)]
mod tests {
    use super::super::Check;
    use super::super::testing::Situation;
    use super::*;
    use Ruling::{Pass, Refuse};
    use candlewick_sdk::Outcome;
    use proptest::prelude::*;
    use serde_json::json;

    fn bound(amount: i64, percent: f64) -> AmountOrPercent {
        AmountOrPercent::new(MoneyScale::default(), Decimal::new(amount, 2), percent, "risk.limit").unwrap()
    }

    #[test]
    fn lower_of_amount_and_percent_applies_and_zero_disables_it() {
        // Amount in cents, percent, equity in cents, limit in cents.
        for (amount, percent, equity, expected) in [
            (0, 0.0, 100_000, None),
            (5_000, 0.0, 100_000, Some(5_000)),
            (0, 3.0, 100_000, Some(3_000)),
            (5_000, 3.0, 100_000, Some(3_000)),
            (2_000, 3.0, 100_000, Some(2_000)),
            (0, 3.0, 99, Some(2)),
            // 0.7 % is exact to the smallest unit.
            (0, 0.7, 1_000_000, Some(7_000)),
            (0, 3.0, -500, Some(0)),
        ] {
            let limit = bound(amount, percent).amount_at(Money::from_minor(equity));
            assert_eq!(limit, expected.map(Money::from_minor), "{amount} {percent} {equity}");
        }
    }

    #[test]
    fn invalid_percentage_error_names_its_key() {
        for percent in [-0.1, 100.1, f64::NAN] {
            let error = AmountOrPercent::new(MoneyScale::default(), Decimal::ZERO, percent, "risk.limit")
                .unwrap_err();
            assert!(error.to_string().starts_with("risk.limit_percent: "), "{error}");
        }
    }

    proptest! {
        #[test]
        fn share_is_rounded_down_to_the_smallest_unit(
            equity in 0_i64..1_000_000_000_000,
            hundredths in 1_u32..10_000,
        ) {
            let share = bound(0, f64::from(hundredths) / 100.0).amount_at(Money::from_minor(equity)).unwrap().minor();
            let exact = i128::from(equity) * i128::from(hundredths) / 10_000;
            prop_assert_eq!(i128::from(share), exact);
        }
    }

    #[test]
    fn limits_count_losses_open_stakes_and_this_stake() {
        // Percentages refer to 10,000.00, or to 15,000.00 after a deposit of 5,000.00.
        let (day, day_share) = (json!({}), json!({ "daily_loss_limit": 0, "daily_loss_limit_percent": 2.0 }));
        let [target, target_share] =
            [json!({ "daily_profit_target": 50 }), json!({ "daily_profit_target_percent": 1.5 })];
        let bounds = json!({ "min_stake": 5, "max_stake": 50 });
        let share = json!({ "min_stake": 5, "max_stake": 50, "max_stake_percent": 0.3 });
        for (check, settings, [deposit, lost, open, stake], expected) in [
            (check_daily_loss_limit as Check, &day, [0, 0, 0, 1_000], Pass),
            (check_daily_loss_limit, &day, [0, 9_000, 0, 1_000], Pass),
            (check_daily_loss_limit, &day, [0, 9_001, 0, 1_000], Refuse),
            (check_daily_loss_limit, &day, [0, 4_000, 5_000, 1_000], Pass),
            (check_daily_loss_limit, &day, [0, 4_000, 5_001, 1_000], Refuse),
            (check_daily_loss_limit, &json!({ "daily_loss_limit": 0 }), [0, 900_000, 0, 1_000], Pass),
            (check_daily_loss_limit, &day_share, [0, 19_000, 0, 1_000], Pass),
            (check_daily_loss_limit, &day_share, [0, 19_001, 0, 1_000], Refuse),
            (check_daily_loss_limit, &day_share, [500_000, 29_000, 0, 1_000], Pass),
            (check_daily_loss_limit, &day_share, [500_000, 29_001, 0, 1_000], Refuse),
            (check_daily_profit_target, &target, [0, -4_999, 0, 1_000], Pass),
            (check_daily_profit_target, &target, [0, -5_000, 0, 1_000], Refuse),
            (check_daily_profit_target, &target_share, [0, -14_999, 0, 1_000], Pass),
            (check_daily_profit_target, &target_share, [0, -15_000, 0, 1_000], Refuse),
            // 20 % of the peak.
            (check_max_drawdown, &day, [0, 199_000, 0, 1_000], Pass),
            (check_max_drawdown, &day, [0, 199_001, 0, 1_000], Refuse),
            (check_max_drawdown, &day, [0, 99_000, 100_001, 1_000], Refuse),
            (check_stake_bounds, &bounds, [0, 0, 0, 499], Refuse),
            (check_stake_bounds, &bounds, [0, 0, 0, 500], Pass),
            (check_stake_bounds, &bounds, [0, 0, 0, 5_000], Pass),
            (check_stake_bounds, &bounds, [0, 0, 0, 5_001], Refuse),
            (check_stake_bounds, &share, [0, 0, 0, 3_000], Pass),
            (check_stake_bounds, &share, [0, 0, 0, 3_001], Refuse),
            (check_stake_bounds, &json!({ "min_stake": 0 }), [0, 0, 0, 0], Refuse),
        ] {
            let mut situation = Situation::from_json(settings);
            situation.ledger.deposit(Money::from_minor(deposit));
            situation.lose(Money::from_minor(lost));
            situation.ledger.reserve(Money::from_minor(open));
            situation.proposal.stake = Money::from_minor(stake);
            let ruling = situation.ask(check);
            assert_eq!(
                ruling, expected,
                "{settings}: deposit {deposit}, lost {lost}, open {open}, stake {stake}"
            );
        }
    }

    proptest! {
        #[test]
        fn drawdown_fast_path_matches_the_exact_comparison(
            percent in prop_oneof![Just(0.0), Just(12.5), Just(50.0), Just(100.0), 0.0..100.0],
            peak in prop_oneof![-1_000_000_i64..1_000_000, any::<i64>()],
            share in 0.0..1.2,
            offset in -1_i64..=1,
        ) {
            let situation = Situation::with(|risk| risk.max_drawdown_percent = percent);
            let fall = Money::from_minor(((peak as f64 * share) as i64).saturating_add(offset));
            let peak = Money::from_minor(peak);
            let expected = percent > 0.0 && fall > peak.mul_rounded_down(percent / 100.0);
            prop_assert_eq!(situation.limits.is_drawdown_exceeded(fall, peak), expected);
        }
    }

    #[test]
    fn win_ends_the_streak() {
        let mut situation = Situation::with(|risk| risk.max_loss_streak = 2);
        for (outcome, expected) in [(Outcome::Lost, Pass), (Outcome::Lost, Refuse), (Outcome::Won, Pass)] {
            situation.ledger.count_outcome(outcome);
            assert_eq!(situation.ask(check_loss_streak), expected);
        }
    }
}
