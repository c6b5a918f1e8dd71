//! Properties of known markets: asset type, tick size, usual price and volatility.

use crate::error::{ParseChoiceError, parse_choice};
use candlewick_sdk::{CURRENCIES, OTC_SUFFIXES, Symbol, TradingWeek};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Asset types in the venue's responses (see `observed: values`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetType {
    Crypto,
    /// Currency pairs. The market is closed from Friday 22:00 to Sunday 22:00 UTC.
    Forex,
    /// Over-the-counter symbols, which the venue itself prices. The market is open all week.
    Otc,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownMarket {
    pub asset_type: AssetType,
    pub tick: f64,
    pub usual_price: f64,
    /// Standard deviation of one-minute moves, as a fraction of the price.
    pub volatility: f64,
}

const CRYPTO: KnownMarket =
    KnownMarket { asset_type: AssetType::Crypto, tick: 0.01, usual_price: 100.0, volatility: 0.000_6 };
const FOREX: KnownMarket =
    KnownMarket { asset_type: AssetType::Forex, tick: 0.000_01, usual_price: 1.0, volatility: 0.000_1 };

/// Approximate properties of public markets. Prices may be outdated.
const MARKETS: [(&str, KnownMarket); 8] = [
    ("BTCUSDT", KnownMarket { usual_price: 95_000.0, volatility: 0.000_5, ..CRYPTO }),
    ("ETHUSDT", KnownMarket { usual_price: 3_300.0, ..CRYPTO }),
    ("SOLUSDT", KnownMarket { usual_price: 150.0, volatility: 0.000_8, ..CRYPTO }),
    ("EURUSD", KnownMarket { usual_price: 1.17, volatility: 0.000_08, ..FOREX }),
    ("GBPUSD", KnownMarket { usual_price: 1.34, volatility: 0.000_09, ..FOREX }),
    ("USDJPY", KnownMarket { tick: 0.001, usual_price: 150.0, ..FOREX }),
    ("AUDUSD", KnownMarket { usual_price: 0.66, ..FOREX }),
    ("USDCAD", KnownMarket { usual_price: 1.39, volatility: 0.000_08, ..FOREX }),
];

const EXOTIC_CURRENCIES: [&str; 20] = [
    "BRL", "CLP", "CNH", "CNY", "COP", "CZK", "DKK", "HKD", "HUF", "IDR", "ILS", "INR", "KRW", "MXN", "PLN",
    "RUB", "SGD", "THB", "TRY", "ZAR",
];
/// Codes of coins and metals. [`currency_pair`] tries them before currencies, because `FDUSD` ends in `USD`.
const COIN_AND_METAL_CODES: [&str; 14] =
    ["USDT", "USDC", "FDUSD", "BUSD", "TUSD", "BTC", "ETH", "BNB", "SOL", "XRP", "XAU", "XAG", "XPT", "XPD"];

/// Returns the properties of a known market. `EURUSD.OTC` has those of `EURUSD`, but is open all week.
pub fn known_market(symbol: Symbol) -> Option<KnownMarket> {
    let name = symbol.as_str();
    let plain = OTC_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let (_, market) = MARKETS.iter().find(|(known, _)| *known == plain)?;
    Some(KnownMarket { asset_type: expected_asset_type(symbol), ..*market })
}

/// Derives the asset type from a symbol: OTC for a suffix such as `.OTC`, forex for currencies, else crypto.
pub fn expected_asset_type(symbol: Symbol) -> AssetType {
    let name = symbol.as_str();
    if OTC_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
        return AssetType::Otc;
    }
    match TradingWeek::for_symbol(symbol) {
        TradingWeek::Currencies => AssetType::Forex,
        TradingWeek::Always => AssetType::Crypto,
    }
}

fn is_currency(code: &str) -> bool {
    CURRENCIES.contains(&code) || EXOTIC_CURRENCIES.contains(&code)
}

pub fn is_known_asset_code(code: &str) -> bool {
    is_currency(code) || COIN_AND_METAL_CODES.contains(&code)
}

/// Splits a pair (`EUR/USD`, `EURUSD.OTC`, `eurusd`) into upper-case base and quote.
pub fn currency_pair(symbol: Symbol) -> Option<(String, String)> {
    let name = symbol.as_str().to_uppercase();
    let name = OTC_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    let pair = |base: &str, quote: &str| Some((base.to_owned(), quote.to_owned()));
    if let Some((base, quote)) = name.split_once(['/', '-', '_']) {
        return if is_known_asset_code(quote) { pair(base, quote) } else { None };
    }
    let is_code =
        |part: &str| (2..=10).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let codes = COIN_AND_METAL_CODES.iter().chain(&CURRENCIES).chain(&EXOTIC_CURRENCIES);
    let quote = codes.copied().find(|code| name.strip_suffix(code).is_some_and(is_code))?;
    pair(name.strip_suffix(quote)?, quote)
}

pub fn is_currency_pair(symbol: Symbol) -> bool {
    currency_pair(symbol).is_some_and(|(base, quote)| is_currency(&base) && is_currency(&quote))
}

impl AssetType {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crypto => "crypto",
            Self::Forex => "forex",
            Self::Otc => "otc",
        }
    }
}

impl fmt::Display for AssetType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for AssetType {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        let choices = [Self::Crypto, Self::Forex, Self::Otc].map(|kind| (kind.as_str(), kind));
        parse_choice(text, &choices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_asset_type_and_known_tick_from_the_symbol() {
        for (name, kind, tick) in [
            ("BTCUSDT", AssetType::Crypto, Some(0.01)),
            ("EURUSD", AssetType::Forex, Some(0.000_01)),
            ("USDJPY", AssetType::Forex, Some(0.001)),
            ("EURUSD.OTC", AssetType::Otc, Some(0.000_01)),
            ("EURUSD-OTC", AssetType::Otc, Some(0.000_01)),
            ("EURGBP", AssetType::Forex, None),
            ("USDC", AssetType::Crypto, None),
            ("ETHBTC", AssetType::Crypto, None),
            ("Gold.OTC", AssetType::Otc, None),
            ("é€", AssetType::Crypto, None),
        ] {
            let symbol = Symbol::new(name).unwrap();
            assert_eq!(expected_asset_type(symbol), kind, "{name}");
            assert_eq!(known_market(symbol).map(|market| market.tick), tick, "{name}");
        }
    }

    #[test]
    fn splits_pairs_into_base_and_quote() {
        for (name, expected, of_currencies) in [
            ("EURUSD", Some(("EUR", "USD")), true),
            ("eur/usd", Some(("EUR", "USD")), true),
            ("GBPJPY_OTC", Some(("GBP", "JPY")), true),
            ("USDMXN", Some(("USD", "MXN")), true),
            ("BTCUSDT", Some(("BTC", "USDT")), false),
            ("BTCUSD", Some(("BTC", "USD")), false),
            ("1000PEPE/USDT", Some(("1000PEPE", "USDT")), false),
            ("XAUUSD", Some(("XAU", "USD")), false),
            ("ETHBTC", Some(("ETH", "BTC")), false),
            ("USDC", None, false),
            ("USD", None, false),
            ("US500", None, false),
            ("BRK.B", None, false),
            ("Gold.OTC", None, false),
            ("é€", None, false),
        ] {
            let symbol = Symbol::new(name).unwrap();
            let expected = expected.map(|(base, quote)| (base.to_owned(), quote.to_owned()));
            assert_eq!(currency_pair(symbol), expected, "{name}");
            assert_eq!(is_currency_pair(symbol), of_currencies, "{name}");
        }
    }
}
