//! Payout of a win.

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::num::NonZeroU32;

/// Profit of a win in percent of the stake, in units of 1/10,000 percent.
///
/// 80 % is 800,000. Serialized as a percentage (80.0). Always above 0, so that `Option<Payout>`
/// needs no extra space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Payout(NonZeroU32);

/// Parse or range error of a [`Payout`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not a payout: use a percent above 0 and at most 1000, with at most four decimals")]
pub struct PayoutError {
    text: String,
}

/// Number of units per percent.
const PARTS: u32 = 10_000;
/// Upper limit of numbers taken for a fraction of the stake.
///
/// No venue pays so few percent.
const MOST_LIKE_A_SHARE: f64 = 2.0;
/// Upper limit against absurd values, far above all payouts seen (60 to 92 %).
const HIGHEST: u32 = 1_000 * PARTS;

impl Payout {
    /// Creates a payout from a percentage with up to four decimals.
    ///
    /// # Errors
    /// [`PayoutError`] if it is not above zero, above 1000, or has more decimals.
    pub fn from_percent(percent: Decimal) -> Result<Self, PayoutError> {
        let parts = percent.checked_mul(Decimal::from(PARTS)).filter(|parts| parts.fract().is_zero());
        parts
            .and_then(|parts| u32::try_from(parts).ok())
            .and_then(Self::from_parts)
            .ok_or_else(|| PayoutError { text: percent.to_string() })
    }

    /// Returns the percentage meant by a fraction: 85 for 0.85 or 1.85.
    ///
    /// 1.85 is a return that includes the stake. `None` if the number may be a percentage, or cannot be a payout.
    pub fn percent_of_share(number: f64) -> Option<f64> {
        let share = if number > 1.0 { number - 1.0 } else { number };
        let percent = (share * 1e6).round() / f64::from(PARTS);
        (number > 0.0 && number <= MOST_LIKE_A_SHARE).then_some(percent)
    }

    /// Returns the percentage meant by a number in another program's file.
    ///
    /// In addition to [`percent_of_share`](Self::percent_of_share) it recognizes returns that
    /// include the stake, such as 185 for 85. `None` if the number may be a percentage.
    pub fn percent_meant_by(number: f64) -> Option<f64> {
        let profit = ((number - 100.0) * 1e6).round() / 1e6;
        Self::percent_of_share(number).or_else(|| (20.0..=100.0).contains(&profit).then_some(profit))
    }

    /// Creates a payout from units of 1/10,000 percent, `None` for 0 and above 1000 %.
    pub fn from_parts(parts: u32) -> Option<Self> {
        NonZeroU32::new(parts).filter(|parts| parts.get() <= HIGHEST).map(Self)
    }

    /// Returns the payout in units of 1/10,000 percent.
    #[inline]
    pub const fn parts(self) -> u32 {
        self.0.get()
    }

    /// Returns the payout as a percentage.
    pub fn to_percent(self) -> f64 {
        f64::from(self.parts()) / f64::from(PARTS)
    }

    /// Returns the payout as a fraction of the stake (0.8 for 80 %): `b` in formulas.
    #[inline]
    pub fn to_fraction(self) -> f64 {
        f64::from(self.parts()) / f64::from(PARTS * 100)
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

    #[test]
    fn percents_convert_exactly() {
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
    fn a_share_is_told_from_a_percent() {
        // 0.85 and 1.85 both pay 85 % of the stake, at 1 and 2 a win earns the stake; 2.01 may be a percent.
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
            assert_eq!(Payout::percent_of_share(number), meant, "{number}");
        }
    }

    #[test]
    fn a_payout_survives_json() {
        let payout: Payout = serde_json::from_str("87.5").unwrap();
        assert_eq!(serde_json::to_string(&payout).unwrap(), "87.5");
    }
}
