//! Exact money amounts, stored as integers in minor units (such as cents).

use crate::text::group_thousands;
use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::iter::Sum;
use std::num::NonZeroU32;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A money amount in minor units, such as cents. The [`MoneyScale`] of the wallet defines the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(i64);

/// Number of decimals of a wallet's amounts. With 2 decimals, one minor unit is 0.01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct MoneyScale(u32);

/// Error for an invalid amount or [`MoneyScale`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// The amount has more decimals than the wallet supports.
    #[error("{amount} has more decimals than the wallet, which has {decimals}")]
    TooManyDecimals {
        /// Rejected amount.
        amount: String,
        /// Number of decimals that the wallet supports.
        decimals: u32,
    },
    /// The amount exceeds the supported range.
    #[error("{amount} is too large: use at most {largest}")]
    TooLarge {
        /// Rejected amount.
        amount: String,
        /// Largest supported amount.
        largest: Decimal,
    },
    /// The scale has more than 8 decimals.
    #[error("a scale of {decimals} decimals is out of range: use 0 to 8")]
    InvalidScale {
        /// Rejected number of decimals.
        decimals: u32,
    },
}

/// Largest accepted amount in minor units, so that sums of many amounts do not overflow.
const MAX_MINOR_UNITS: i64 = 1_000_000_000_000_000;

impl MoneyScale {
    /// Creates a scale with this number of decimals. Fails with [`MoneyError::InvalidScale`] above 8 decimals.
    pub const fn new(decimals: u32) -> Result<Self, MoneyError> {
        if decimals <= 8 { Ok(Self(decimals)) } else { Err(MoneyError::InvalidScale { decimals }) }
    }

    /// Returns the number of decimals.
    pub const fn decimals(self) -> u32 {
        self.0
    }

    /// Converts a decimal amount without rounding. Fails if the amount has too many decimals or is too large.
    pub fn convert_exact(self, amount: Decimal) -> Result<Money, MoneyError> {
        let money = self.convert_rounded(amount)?;
        if self.to_decimal(money) == amount {
            Ok(money)
        } else {
            Err(MoneyError::TooManyDecimals { amount: amount.to_string(), decimals: self.0 })
        }
    }

    /// Converts a decimal amount, rounding half to even. Fails if the amount is too large.
    pub fn convert_rounded(self, amount: Decimal) -> Result<Money, MoneyError> {
        self.convert(amount, RoundingStrategy::MidpointNearestEven)
    }

    /// Converts a decimal amount, rounding towards zero. Fails if the amount is too large.
    pub fn convert_truncated(self, amount: Decimal) -> Result<Money, MoneyError> {
        self.convert(amount, RoundingStrategy::ToZero)
    }

    fn convert(self, amount: Decimal, rounding: RoundingStrategy) -> Result<Money, MoneyError> {
        let error = || {
            let largest = self.to_decimal(Money(MAX_MINOR_UNITS)).normalize();
            MoneyError::TooLarge { amount: amount.to_string(), largest }
        };
        let units = amount.checked_mul(Decimal::from(10_i64.pow(self.0))).ok_or_else(error)?;
        let units = i64::try_from(units.round_dp_with_strategy(0, rounding)).map_err(|_| error())?;
        if units.abs() <= MAX_MINOR_UNITS { Ok(Money(units)) } else { Err(error()) }
    }

    /// Converts a money amount to a decimal number.
    pub fn to_decimal(self, money: Money) -> Decimal {
        Decimal::new(money.0, self.0)
    }

    /// Converts a money amount to a float, for statistics, charts and JSON. Do not use the float to compute amounts.
    pub fn to_f64(self, money: Money) -> f64 {
        money.0 as f64 / 10_f64.powi(self.0.cast_signed())
    }

    /// Formats an amount with all decimals and thousands separators, such as `12,345.60`.
    pub fn format(self, money: Money) -> String {
        group_thousands(&self.to_decimal(money).to_string())
    }
}

impl Default for MoneyScale {
    fn default() -> Self {
        Self(2)
    }
}

impl TryFrom<u32> for MoneyScale {
    type Error = MoneyError;
    fn try_from(decimals: u32) -> Result<Self, MoneyError> {
        Self::new(decimals)
    }
}

impl From<MoneyScale> for u32 {
    fn from(scale: MoneyScale) -> Self {
        scale.0
    }
}

/// Assumed relative error of a factor, over ten times the error of 64 multiplications (about 7e-15).
const MAX_RELATIVE_ERROR: f64 = 1e-13;
/// Maximum correction of a rounding error, in minor units. Too small to round up a true fraction, such as 0.99.
const MAX_ABSOLUTE_ERROR: f64 = 1e-3;

impl Money {
    /// Amount of zero.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from minor units.
    pub const fn from_minor(units: i64) -> Self {
        Self(units)
    }

    /// Returns the amount in minor units.
    #[inline]
    pub const fn minor(self) -> i64 {
        self.0
    }

    /// Returns the profit of a won trade with this stake: stake x payout percentage / 100 (docs/domain.md).
    /// Rounds half to even, to a whole number of minor units.
    #[inline]
    #[must_use]
    pub fn profit_at(self, payout: Payout) -> Self {
        const FULL_PAYOUT: i64 = 1_000_000; // A payout of 100 %, in units of 1/10,000 percent.
        // Nearly every product fits into 64 bits, where division by a constant compiles to a multiplication.
        let Some(product) = self.0.checked_mul(i64::from(payout.parts())) else {
            return self.profit_at_i128(payout);
        };
        let (quotient, rest) = (product.div_euclid(FULL_PAYOUT), product.rem_euclid(FULL_PAYOUT));
        let up = rest * 2 > FULL_PAYOUT || (rest * 2 == FULL_PAYOUT && quotient % 2 != 0);
        Self(quotient + i64::from(up))
    }

    #[cold]
    fn profit_at_i128(self, payout: Payout) -> Self {
        const FULL_PAYOUT: i128 = 1_000_000;
        let product = i128::from(self.0) * i128::from(payout.parts());
        let (quotient, rest) = (product.div_euclid(FULL_PAYOUT), product.rem_euclid(FULL_PAYOUT));
        let up = rest * 2 > FULL_PAYOUT || (rest * 2 == FULL_PAYOUT && quotient % 2 != 0);
        Self(i64::try_from(quotient + i128::from(up)).unwrap_or(i64::MAX))
    }

    /// Multiplies the amount by an integer. The result saturates.
    #[must_use]
    pub const fn times(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Multiplies the amount by a factor and rounds down (towards minus infinity). The product with NaN is zero.
    /// Floating-point errors are corrected: 1.00 times 2.3 is 2.30, although 100.0 * 2.3 is 229.99999999999997.
    #[must_use]
    pub fn mul_rounded_down(self, factor: f64) -> Self {
        let inexact = self.0 as f64 * factor;
        let product = inexact + (inexact.abs() * MAX_RELATIVE_ERROR).min(MAX_ABSOLUTE_ERROR);
        // Rounded down without a call to `floor` (`performance: arithmetic`).
        let towards_zero = product as i64;
        Self(towards_zero.saturating_sub(i64::from(towards_zero as f64 > product)))
    }

    /// Rounds the amount down to a multiple of `step`. A step of zero leaves the amount unchanged.
    #[must_use]
    pub const fn floor_to(self, step: Self) -> Self {
        // Most steps are 1, and a division is slow.
        if step.0 <= 1 { self } else { Self(self.0 - self.0.rem_euclid(step.0)) }
    }

    /// Returns whether the amount is greater than zero.
    #[inline]
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }
}

impl Add for Money {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Money {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Money {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Neg for Money {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// Profit of a won trade as a percentage of the stake, stored in units of 1/10,000 percent (80 % is 800,000).
/// The serialized form is a percentage, such as 80.0. A payout is never 0, so `Option<Payout>` has the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Payout(NonZeroU32);

/// Error for a number that is not a [`Payout`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not a payout: use a percentage above 0, at most 1000, with up to four decimals")]
pub struct PayoutError {
    text: String,
}

const PARTS_PER_PERCENT: u32 = 10_000;
/// Largest number that is interpreted as a fraction of the stake. Payout percentages are always higher.
const MAX_PAYOUT_FRACTION: f64 = 2.0;
/// Maximum payout (1000 %) in units of 1/10,000 percent. Observed payouts are 60 to 92 %.
const MAX_PAYOUT_PARTS: u32 = 1_000 * PARTS_PER_PERCENT;

impl Payout {
    /// Creates a payout from a percentage in (0, 1000] with up to four decimals. Fails for other percentages.
    pub fn from_percent(percent: Decimal) -> Result<Self, PayoutError> {
        let parts = percent.checked_mul(Decimal::from(PARTS_PER_PERCENT)).filter(|p| p.fract().is_zero());
        parts
            .and_then(|parts| u32::try_from(parts).ok())
            .and_then(Self::from_parts)
            .ok_or_else(|| PayoutError { text: percent.to_string() })
    }

    /// Converts a payout given as a fraction of the stake to a percentage, such as 0.85 to 85.
    ///
    /// A return that includes the stake, such as 1.85, is also converted to 85. `None` if the number is not positive,
    /// or may already be a percentage.
    pub fn percent_from_fraction(number: f64) -> Option<f64> {
        let share = if number > 1.0 { number - 1.0 } else { number };
        let percent = (share * 1e6).round() / f64::from(PARTS_PER_PERCENT);
        (number > 0.0 && number <= MAX_PAYOUT_FRACTION).then_some(percent)
    }

    /// Guesses the payout percentage from a number in another program's file.
    ///
    /// Like [`percent_from_fraction`](Self::percent_from_fraction), but also converts a percentage that includes the
    /// stake, such as 185 to 85. `None` if the number may already be a payout percentage.
    pub fn guess_percent(number: f64) -> Option<f64> {
        let profit = ((number - 100.0) * 1e6).round() / 1e6;
        Self::percent_from_fraction(number).or_else(|| (20.0..=100.0).contains(&profit).then_some(profit))
    }

    /// Creates a payout from units of 1/10,000 percent. Returns `None` for 0 and for more than 1000 %.
    pub fn from_parts(parts: u32) -> Option<Self> {
        NonZeroU32::new(parts).filter(|parts| parts.get() <= MAX_PAYOUT_PARTS).map(Self)
    }

    /// Returns the payout in units of 1/10,000 percent.
    #[inline]
    pub const fn parts(self) -> u32 {
        self.0.get()
    }

    /// Returns the payout as a percentage.
    pub fn to_percent(self) -> f64 {
        f64::from(self.parts()) / f64::from(PARTS_PER_PERCENT)
    }

    /// Returns the payout as a fraction of the stake (0.8 for 80 %), called `b` in formulas.
    #[inline]
    pub fn to_fraction(self) -> f64 {
        f64::from(self.parts()) / f64::from(PARTS_PER_PERCENT * 100)
    }
}

impl fmt::Display for Payout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_percent())
    }
}

impl Serialize for Payout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_percent())
    }
}

impl<'de> Deserialize<'de> for Payout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_percent(<Decimal as Deserialize>::deserialize(deserializer)?)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payout(percent: &str) -> Payout {
        Payout::from_percent(percent.parse().unwrap()).unwrap()
    }

    #[test]
    fn profit_is_rounded_half_to_even() {
        // Worked by hand: 0.25 x 70 % = 0.175 -> 0.18 (even), 0.25 x 50 % = 0.125 -> 0.12 (even).
        for (stake, percent, profit) in
            [(1_000, "80", 800), (25, "70", 18), (25, "50", 12), (1, "49", 0), (1, "51", 1), (333, "63", 210)]
        {
            assert_eq!(Money::from_minor(stake).profit_at(payout(percent)), Money::from_minor(profit));
        }
    }

    #[test]
    fn exact_conversion_rejects_lost_decimals() {
        let cents = MoneyScale::default();
        assert_eq!(cents.convert_exact("12.50".parse().unwrap()), Ok(Money::from_minor(1_250)));
        assert!(matches!(
            cents.convert_exact("0.001".parse().unwrap()),
            Err(MoneyError::TooManyDecimals { .. })
        ));
        assert!(matches!(cents.convert_rounded(Decimal::MAX), Err(MoneyError::TooLarge { .. })));
        let error = cents.convert_rounded(Decimal::from(1_000_000_000_000_000_i64)).unwrap_err().to_string();
        assert!(error.ends_with("use at most 10000000000000"), "{error}");
        assert!(cents.convert_rounded(Decimal::from(10_000_000_000_000_i64)).is_ok());
        assert_eq!(cents.convert_truncated("0.019".parse().unwrap()), Ok(Money::from_minor(1)));
        assert_eq!(cents.format(Money::from_minor(-5)), "-0.05");
    }

    #[test]
    fn scaling_agrees_with_integer_arithmetic() {
        for units in [10_000_i64, 12_345, 99_900, 1_000_000_007, -10_000] {
            for hundredths in 0..=10_000 {
                let fraction = hundredths as f64 / 100.0 / 100.0;
                let share = Money::from_minor(units).mul_rounded_down(fraction).minor();
                assert_eq!(share, (units * hundredths).div_euclid(10_000), "{units} {hundredths}");
            }
        }
    }

    proptest! {
        #[test]
        fn profit_agrees_with_decimal_arithmetic(
            stake in prop_oneof![0_i64..1_000_000_000, 0_i64..i64::MAX / 10],
            parts in 1_u32..10_000_000,
        ) {
            let payout = Payout::from_parts(parts).unwrap();
            let exact = Decimal::from(stake) * Decimal::new(i64::from(parts), 6);
            let expected = exact.round_dp_with_strategy(0, RoundingStrategy::MidpointNearestEven);
            prop_assert_eq!(Decimal::from(Money::from_minor(stake).profit_at(payout).minor()), expected);
        }

        #[test]
        fn amounts_round_trip_through_decimals(units in -MAX_MINOR_UNITS..MAX_MINOR_UNITS, decimals in 0_u32..=8) {
            let scale = MoneyScale::new(decimals).unwrap();
            let money = Money::from_minor(units);
            prop_assert_eq!(scale.convert_exact(scale.to_decimal(money)), Ok(money));
        }

        #[test]
        fn floor_to_is_a_multiple_and_not_above(units in 0_i64..1_000_000, step in 1_i64..5_000) {
            let floored = Money::from_minor(units).floor_to(Money::from_minor(step));
            prop_assert_eq!(floored.minor() % step, 0);
            prop_assert!(floored.minor() <= units && units - floored.minor() < step);
        }
    }

    #[test]
    fn converts_percentages_exactly() {
        for (text, parts) in
            [("80", Some(800_000)), ("63.5", Some(635_000)), ("0.0001", Some(1)), ("1000", Some(10_000_000))]
        {
            assert_eq!(Payout::from_percent(text.parse().unwrap()).ok().map(Payout::parts), parts);
        }
        for text in ["0", "-5", "1000.1", "80.00001", "79228162514264337593543950335"] {
            assert!(Payout::from_percent(text.parse().unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn distinguishes_fractions_from_percentages() {
        // 0.85 and 1.85 both mean 85 % of the stake. 1 and 2 mean 100 %. 2.01 may be a percentage.
        for (number, meant) in [
            (0.85, Some(85.0)),
            (1.85, Some(85.0)),
            (0.855, Some(85.5)),
            (1.0, Some(100.0)),
            (2.0, Some(100.0)),
            (2.01, None),
            (85.0, None),
            (0.0, None),
            (-0.85, None),
            (f64::NAN, None),
        ] {
            assert_eq!(Payout::percent_from_fraction(number), meant, "{number}");
        }
    }
}
