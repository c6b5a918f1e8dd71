//! Trading pairs.

use crate::{Text, is_hidden};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Name of a trading pair, exactly as the venue writes it.
///
/// 1 to 31 bytes, without surrounding white space and invisible characters ([`is_hidden`]).
/// Irregular names exist (`observed: values`), so nothing else is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Symbol(Text<31>);

/// Parse error of a [`Symbol`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is not a symbol: use 1 to 31 bytes without control or invisible characters or outer white space"
)]
pub struct SymbolError {
    text: String,
}

impl Symbol {
    /// Validates a name and creates the symbol.
    ///
    /// # Errors
    /// [`SymbolError`] if the name is empty, too long, padded, or contains invisible characters.
    pub fn new(text: &str) -> Result<Self, SymbolError> {
        let sound = !text.is_empty() && text.trim() == text && !text.chars().any(is_hidden);
        let error = || SymbolError { text: text.chars().take(64).collect() };
        if sound { Text::new(text).map(Self).ok_or_else(error) } else { Err(error()) }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Symbol {
    type Err = SymbolError;
    fn from_str(text: &str) -> Result<Self, SymbolError> {
        Self::new(text)
    }
}

impl TryFrom<String> for Symbol {
    type Error = SymbolError;
    fn try_from(text: String) -> Result<Self, SymbolError> {
        Self::new(&text)
    }
}

impl From<Symbol> for String {
    fn from(symbol: Symbol) -> Self {
        symbol.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_names_are_symbols_and_broken_ones_are_not() {
        for name in ["BTCUSDT", "EURUSD.OTC", "1000PEPE/USDT", "Gold & Co"] {
            assert_eq!(Symbol::new(name).map(|s| s.to_string()), Ok(name.to_owned()));
        }
        for name in
            ["", " BTC", "A\nB", "BTC\u{202e}USDT", "BTC\u{200b}", "THIS-NAME-IS-LONGER-THAN-31-BYTES"]
        {
            assert!(Symbol::new(name).is_err(), "{name:?}");
        }
    }
}
