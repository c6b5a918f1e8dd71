//! Markets that are known by name: what kind they are and how their prices look.

use candlewick_sdk::Symbol;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The kind of a market (`observed: values`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetType {
    /// Trades all week.
    Crypto,
    /// Currencies: closed from Friday to Sunday, 22:00 UTC.
    Forex,
    /// The venue's own prices: all week.
    Otc,
}

/// Why a text is not an [`AssetType`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not an asset type: use crypto, forex or otc")]
pub struct ParseAssetTypeError {
    text: String,
}

/// How the prices of a market look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownMarket {
    /// Its kind.
    pub asset_type: AssetType,
    /// The step of its prices.
    pub tick: f64,
    /// A price that it might have, to start generated candles from.
    pub usual_price: f64,
    /// The standard deviation of its one-minute moves, as a fraction of the price.
    pub volatility: f64,
}

const CRYPTO: KnownMarket =
    KnownMarket { asset_type: AssetType::Crypto, tick: 0.01, usual_price: 100.0, volatility: 0.000_6 };
const FOREX: KnownMarket =
    KnownMarket { asset_type: AssetType::Forex, tick: 0.000_01, usual_price: 1.0, volatility: 0.000_1 };

/// Rounded figures of the public markets; nothing depends on their being up to date.
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

/// How names of pairs end that are priced all week: the venue's own way, and those of others.
const OTC_SUFFIXES: [&str; 3] = [".OTC", "-OTC", "_OTC"];
const CURRENCIES: [&str; 10] = ["USD", "EUR", "GBP", "JPY", "CHF", "AUD", "CAD", "NZD", "SEK", "NOK"];

/// The market of a well-known symbol; `EURUSD.OTC` is that of `EURUSD`, all week.
///
/// An unknown symbol has no tick that could be guessed: its prices are then not rounded.
pub fn known_market(symbol: Symbol) -> Option<KnownMarket> {
    let name = symbol.as_str();
    let plain = OTC_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let (_, market) = MARKETS.iter().find(|(known, _)| *known == plain)?;
    Some(KnownMarket { asset_type: asset_type_of(symbol), ..*market })
}

/// The kind of a market, known or not, by its name: the suffix `.OTC` (or `-OTC`, `_OTC`), a pair of currencies, else crypto.
pub fn asset_type_of(symbol: Symbol) -> AssetType {
    let name = symbol.as_str();
    if OTC_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
        return AssetType::Otc;
    }
    let pair = name.split_at_checked(3).filter(|(base, _)| CURRENCIES.contains(base));
    match pair {
        Some((_, quote)) if CURRENCIES.contains(&quote) => AssetType::Forex,
        _ => AssetType::Crypto,
    }
}

impl AssetType {
    /// As the venue writes it (`observed: values`).
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
    type Err = ParseAssetTypeError;
    fn from_str(text: &str) -> Result<Self, ParseAssetTypeError> {
        match text {
            "crypto" => Ok(Self::Crypto),
            "forex" => Ok(Self::Forex),
            "otc" => Ok(Self::Otc),
            _ => Err(ParseAssetTypeError { text: text.chars().take(32).collect() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_the_kind_and_perhaps_the_tick() {
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
            assert_eq!(asset_type_of(symbol), kind, "{name}");
            assert_eq!(known_market(symbol).map(|market| market.tick), tick, "{name}");
        }
    }

    #[test]
    fn asset_types_read_back() {
        for kind in [AssetType::Crypto, AssetType::Forex, AssetType::Otc] {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("Forex".parse::<AssetType>().is_err());
    }
}
