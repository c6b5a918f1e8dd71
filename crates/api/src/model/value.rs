//! Enumerated values of the venue that may gain new members (`observed: values`).

use super::fields::Field;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Outcome};
use serde_json::Value;
use std::fmt;

macro_rules! venue_values {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// Anything else, as it came: counted, and never taken for an outcome.
            Unknown(String),
        }

        impl $name {
            /// As the venue writes it.
            pub(crate) fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Unknown(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    _ => Self::Unknown(text.to_owned()),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Field for $name {
            fn from_value(value: &Value) -> Option<Self> {
                value.as_str().map(Self::parse)
            }

            fn unknown(&self) -> Option<&str> {
                match self {
                    Self::Unknown(text) => Some(text),
                    _ => None,
                }
            }
        }
    };
}

venue_values! {
    /// Where a trade stands.
    TradeStatus {
        /// Running.
        Open = "OPEN",
        /// Accepted, its details come later (`observed: opening a trade`).
        Processing = "PROCESSING",
        /// Not begun.
        Pending = "PENDING",
        /// Over.
        Completed = "COMPLETED",
        /// Called off; the stake is returned.
        Cancelled = "CANCELLED",
    }
}

venue_values! {
    /// What came of a trade.
    TradeResult {
        /// Nothing yet.
        Pending = "PENDING",
        /// Nothing yet.
        Hold = "HOLD",
        /// Nothing yet.
        Opened = "OPENED",
        /// Stake and profit return.
        Won = "WON",
        /// The stake is gone.
        Lost = "LOST",
        /// The stake returns.
        Draw = "DRAW",
        /// Called off; the stake returns.
        Cancelled = "CANCELLED",
    }
}

venue_values! {
    /// What a wallet holds.
    WalletType {
        /// Real money.
        Real = "REAL",
        /// Play money.
        Demo = "DEMO",
        /// Money with conditions.
        Bonus = "BONUS",
    }
}

impl WalletType {
    /// Parses case-insensitively, as venues disagree on the case of wallet types.
    fn parse(text: &str) -> Self {
        match Self::from(text.to_ascii_uppercase().as_str()) {
            Self::Unknown(_) => Self::Unknown(text.to_owned()),
            known => known,
        }
    }
}

impl TradeStatus {
    fn parse(text: &str) -> Self {
        Self::from(text)
    }

    pub(crate) const fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

impl TradeResult {
    fn parse(text: &str) -> Self {
        Self::from(text)
    }

    pub(crate) const fn is_final(&self) -> bool {
        self.outcome().is_some()
    }

    pub(crate) const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::Won => Some(Outcome::Won),
            Self::Lost => Some(Outcome::Lost),
            Self::Draw => Some(Outcome::Draw),
            Self::Cancelled => Some(Outcome::Cancelled),
            Self::Pending | Self::Hold | Self::Opened | Self::Unknown(_) => None,
        }
    }
}

impl From<Outcome> for TradeResult {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Won => Self::Won,
            Outcome::Lost => Self::Lost,
            Outcome::Draw => Self::Draw,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tolerant<T> {
    Known(T),
    Unknown(String),
}

impl<T> Tolerant<T> {
    pub(crate) const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    fn unknown_text(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(text) => Some(text),
        }
    }
}

macro_rules! tolerant_field {
    ($name:ty) => {
        impl Field for Tolerant<$name> {
            fn from_value(value: &Value) -> Option<Self> {
                let text = value.as_str()?;
                Some(text.parse().map_or_else(|_| Self::Unknown(text.to_owned()), Self::Known))
            }

            fn unknown(&self) -> Option<&str> {
                self.unknown_text()
            }
        }
    };
}

tolerant_field!(Direction);
tolerant_field!(ExpirationType);
tolerant_field!(CloseType);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_listed_values_are_final() {
        let is_final = |text| (TradeStatus::from(text).is_final(), TradeResult::from(text).is_final());
        for (text, expected) in [
            ("OPEN", (false, false)),
            ("PROCESSING", (false, false)),
            ("PENDING", (false, false)),
            ("HOLD", (false, false)),
            ("OPENED", (false, false)),
            ("COMPLETED", (true, false)),
            ("CANCELLED", (true, true)),
            ("WON", (false, true)),
            ("LOST", (false, true)),
            ("DRAW", (false, true)),
            ("won", (false, false)),
            ("REFUNDED", (false, false)),
        ] {
            assert_eq!(is_final(text), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_value_keeps_its_text() {
        let kind = WalletType::from_value(&json!("LOYALTY")).unwrap();
        assert_eq!(kind.unknown(), Some("LOYALTY"));
        assert_eq!((kind.as_str(), WalletType::from("DEMO").as_str()), ("LOYALTY", "DEMO"));
        assert_eq!(WalletType::from_value(&json!("Demo")), Some(WalletType::Demo));
        let direction = Tolerant::<Direction>::from_value(&json!("UP")).unwrap();
        assert_eq!((direction.known(), direction.unknown()), (None, Some("UP")));
    }
}
