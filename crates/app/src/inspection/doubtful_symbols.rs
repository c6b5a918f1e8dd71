//! Symbols as people and other programs write them, and not as venues name them.

use candlewick_sdk::Symbol;

/// What another program puts behind a pair.
const ENDINGS: [&str; 2] = ["=X", ".FX"];

/// What is to be known of a name that is none of a venue's.
pub(crate) fn doubtful_symbol(symbol: Symbol) -> Option<String> {
    let name = symbol.as_str();
    // A chart names its source: FX:GBPUSD.
    let own = name.rsplit(':').next().unwrap_or(name);
    let own = ENDINGS.iter().find_map(|ending| own.strip_suffix(ending)).unwrap_or(own);
    let plain = own.replace('/', "").to_uppercase();
    (plain != name && !plain.is_empty()).then(|| {
        format!(
            "the symbol {name}: candles and prices are asked for by this very name; a venue that writes pairs as most do has {plain}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_venue_has_is_answered_with_that_of_most() {
        for (name, own) in [
            ("gbpusd", "GBPUSD"),
            ("FX:GBPUSD", "GBPUSD"),
            ("OANDA:eur/usd", "EURUSD"),
            ("GBP/USD", "GBPUSD"),
            ("GBPUSD=X", "GBPUSD"),
        ] {
            let told = doubtful_symbol(Symbol::new(name).unwrap()).unwrap();
            assert!(
                told.starts_with(&format!("the symbol {name}: ")) && told.ends_with(&format!(" has {own}")),
                "{told}"
            );
        }
        for name in ["GBPUSD", "BTCUSDT", "EURUSD-OTC", "US500", "BRK.B"] {
            assert_eq!(doubtful_symbol(Symbol::new(name).unwrap()), None, "{name}");
        }
    }
}
