//! Money limits: an amount, a percentage of an equity, or the tighter of both.

use super::limits::{amount, percent};
use crate::EngineError;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::{Money, MoneyScale};

/// An amount and a percentage. Zero disables either.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bound {
    amount: Money,
    /// Millionths of a percent.
    parts: i64,
}

const MILLION: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);

const WHOLE: i128 = 100_000_000;

impl Bound {
    pub(super) fn new(scale: MoneyScale, most: Decimal, share: f64, key: &str) -> Result<Self, EngineError> {
        percent(share, &format!("{key}_percent"))?;
        // As it is written: 0.7 is seven tenths, which no fraction of binary digits is.
        let parts = Decimal::try_from(share).ok().and_then(|share| (share * MILLION).round().to_i64());
        Ok(Self { amount: amount(scale, most, key)?, parts: parts.unwrap_or(0) })
    }

    pub(crate) fn amount(&self) -> Option<Money> {
        self.amount.is_positive().then_some(self.amount)
    }

    /// Returns the share of an equity, rounded down to the smallest unit, `None` without a
    /// percentage.
    pub(crate) fn share_of(&self, equity: Money) -> Option<Money> {
        let part = || i128::from(equity.max(Money::ZERO).minor()) * i128::from(self.parts) / WHOLE;
        (self.parts > 0).then(|| Money::from_minor(i64::try_from(part()).unwrap_or(i64::MAX)))
    }

    #[inline]
    pub(crate) fn of(&self, equity: Money) -> Option<Money> {
        match (self.amount(), self.share_of(equity)) {
            (Some(amount), Some(share)) => Some(amount.min(share)),
            (amount, share) => amount.or(share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bound(amount: i64, percent: f64) -> Bound {
        Bound::new(MoneyScale::default(), Decimal::new(amount, 2), percent, "risk.limit").unwrap()
    }

    #[test]
    fn the_tighter_of_amount_and_percent_holds_and_zero_is_none() {
        // Amount in cents, percent, equity in cents, limit in cents.
        for (amount, percent, equity, expected) in [
            (0, 0.0, 100_000, None),
            (5_000, 0.0, 100_000, Some(5_000)),
            (0, 3.0, 100_000, Some(3_000)),
            (5_000, 3.0, 100_000, Some(3_000)),
            (2_000, 3.0, 100_000, Some(2_000)),
            (0, 3.0, 99, Some(2)),
            // Seven tenths of a percent are that, to the unit.
            (0, 0.7, 1_000_000, Some(7_000)),
            (0, 3.0, -500, Some(0)),
        ] {
            let limit = bound(amount, percent).of(Money::from_minor(equity));
            assert_eq!(limit, expected.map(Money::from_minor), "{amount} {percent} {equity}");
        }
    }

    #[test]
    fn what_is_no_percent_is_refused_by_the_name_of_its_setting() {
        for percent in [-0.1, 100.1, f64::NAN] {
            let error = Bound::new(MoneyScale::default(), Decimal::ZERO, percent, "risk.limit").unwrap_err();
            assert!(error.to_string().starts_with("risk.limit_percent: "), "{error}");
        }
    }

    proptest! {
        /// Against whole numbers alone.
        #[test]
        fn a_share_is_its_part_rounded_down_to_the_unit(
            equity in 0_i64..1_000_000_000_000,
            hundredths in 1_u32..10_000,
        ) {
            let share = bound(0, f64::from(hundredths) / 100.0).of(Money::from_minor(equity)).unwrap().minor();
            let exact = i128::from(equity) * i128::from(hundredths) / 10_000;
            prop_assert_eq!(i128::from(share), exact);
        }
    }
}
