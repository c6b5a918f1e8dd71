//! A price at a moment.

use crate::Millis;
use serde::{Deserialize, Serialize};

/// The latest price of a symbol at a moment of venue time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The moment the price belongs to.
    pub time: Millis,
    /// The price, above zero.
    pub value: f64,
}

/// Digits of a price that people are shown, at least.
const DIGITS: i32 = 8;

/// A price as people read it: eight digits, or two decimals where those are more, without zeros at the end. What binary fractions
/// leave of decimal ones is not shown. Journals and JSON have the number itself.
///
/// ```
/// # use candlewick_sdk::price_text;
/// assert_eq!(price_text(93663.52500000001), "93663.525");
/// assert_eq!(price_text(1.1701), "1.1701");
/// ```
pub fn price_text(price: f64) -> String {
    let magnitude = if price == 0.0 { 0 } else { price.abs().log10().floor() as i32 };
    let decimals = (DIGITS - 1).saturating_sub(magnitude).clamp(2, 18) as usize;
    let text = format!("{price:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_the_digits_that_say_something() {
        for (price, expected) in [
            (93_663.525_000_000_01, "93663.525"),
            (93_663.487_166_666_67, "93663.487"),
            (100.0, "100"),
            (1.1701, "1.1701"),
            (1.170_123_46, "1.1701235"),
            (0.000_012_345_678_9, "0.000012345679"),
            (1_234_567_891.239, "1234567891.24"),
            (0.1 + 0.2, "0.3"),
            (9.999_999_999, "10"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(price_text(price), expected);
        }
    }
}
