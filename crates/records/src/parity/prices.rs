//! Text of a result with its prices.

use candlewick_sdk::price_text;

pub(super) fn prices(result: &str, open: Option<f64>, close: Option<f64>) -> String {
    let price = |price: Option<f64>| price.map_or("?".to_owned(), price_text);
    format!("{result} {} to {}", price(open), price(close))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_the_digits_that_say_something() {
        assert_eq!(prices("WON", Some(1.576_093_999_999_999_9), Some(93_663.5)), "WON 1.576094 to 93663.5");
        assert_eq!(prices("OPEN", Some(1.25), None), "OPEN 1.25 to ?");
    }
}
