//! Prices with their time, comparison and formatting.

use crate::Millis;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The latest price of a symbol at a point in venue time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Time of the price.
    pub time: Millis,
    /// Price, above zero.
    pub value: f64,
}

/// Maximum difference of equal prices, as a share of the larger one.
///
/// Interpolation leaves errors of about 1e-15 of a price. A tick of any market is far above 1e-12.
const PRICE_TOLERANCE: f64 = 1e-12;

/// Compares two prices. Every rule that decides a trade by its prices uses this order.
///
/// Prices that differ by at most 1e-12 of the larger one are equal, so that rounding errors of binary fractions
/// never win or lose a trade (`domain 3`).
///
/// ```
/// # use candlewick_sdk::compare_prices;
/// # use std::cmp::Ordering;
/// assert_eq!(compare_prices(1.3490380000000002, 1.349038), Ordering::Equal);
/// assert_eq!(compare_prices(1.34904, 1.34903), Ordering::Greater);
/// ```
#[inline]
pub fn compare_prices(price: f64, other: f64) -> Ordering {
    if (price - other).abs() <= PRICE_TOLERANCE * price.abs().max(other.abs()) {
        return Ordering::Equal;
    }
    price.total_cmp(&other)
}

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
    fn prices_within_rounding_errors_are_equal() {
        for (price, other, expected) in [
            (1.349_038_000_000_000_2, 1.349_038, Ordering::Equal),
            (0.1 + 0.2, 0.3, Ordering::Equal),
            (94_669.972_000_000_01, 94_669.972, Ordering::Equal),
            (1.5, 1.5, Ordering::Equal),
            (0.0, 0.0, Ordering::Equal),
            (100_000.000_001, 100_000.0, Ordering::Greater),
            (0.000_012_34, 0.000_012_35, Ordering::Less),
            (1.000_000_000_002, 1.0, Ordering::Greater),
            (1.0, 1.000_000_000_002, Ordering::Less),
        ] {
            assert_eq!(compare_prices(price, other), expected, "{price} {other}");
            assert_eq!(compare_prices(other, price), expected.reverse(), "{other} {price}");
        }
    }

    /// Prices inside of candles against the same prices in whole numbers of a 60th of a tick.
    #[test]
    fn interpolated_prices_compare_like_exact_fractions() {
        let path = |open: i64, close: i64, second: i64| {
            let [from, to] = [open, close].map(|ticks| ticks as f64 / 100_000.0);
            (from + (to - from) * second as f64 / 60.0, open * 60 + (close - open) * second)
        };
        let ends = (0..8).map(|number| (134_900 + number * 3, 134_912 - number * 5 % 7));
        let prices: Vec<(f64, i64)> = ends
            .flat_map(|(open, close)| (0..60).step_by(3).map(move |second| path(open, close, second)))
            .collect();
        let mut noisy = 0;
        for (price, exact) in &prices {
            for (other, other_exact) in &prices {
                assert_eq!(compare_prices(*price, *other), exact.cmp(other_exact), "{price} {other}");
                noisy += usize::from(exact == other_exact && price != other);
            }
        }
        assert!(noisy > 0, "no two of these prices differ by rounding errors only");
    }

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
