//! A result with its prices, in words.

/// A result with the prices that it came from.
pub(super) fn prices(result: &str, open: Option<f64>, close: Option<f64>) -> String {
    let price = |price: Option<f64>| price.map_or("?".to_owned(), |price| price.to_string());
    format!("{result} {} to {}", price(open), price(close))
}
