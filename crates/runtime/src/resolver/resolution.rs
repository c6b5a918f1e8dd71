//! Results of polling the trade list, and the decisions an operator can make.

use candlewick_broker::TradeReport;
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money, MoneyScale};
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    Adopt {
        intent: IntentId,
        report: Box<TradeReport>,
    },
    AdoptLate {
        intent: IntentId,
        report: Box<TradeReport>,
    },
    /// The order opened no trade. The trade may still appear within a day.
    NotOpened {
        intent: IntentId,
        reserved_until: Millis,
    },
    /// Unclear. The intent stays in doubt, and the search continues.
    ///
    /// Reported once per intent.
    AskPerson {
        intent: IntentId,
        why: Why,
    },
    /// A trade matches intents that were rejected or never sent.
    ///
    /// They are in doubt again and the run halts.
    Reinstate {
        intents: Vec<IntentId>,
        report: Box<TradeReport>,
    },
    Unexplained {
        report: Box<TradeReport>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    TooManyTrades { venue_ids: Vec<String> },
    TooFewTrades { venue_ids: Vec<String> },
    UnclearTrades { venue_ids: Vec<String> },
    MayBeRefused { venue_ids: Vec<String>, intents: Vec<IntentId> },
    OtherTrades { venue_ids: Vec<String> },
    WalletUnexplained { surplus: Money },
    WalletUnknown,
    WalletUnsettled,
    StakeTaken,
    ListUnsteady { venue_ids: Vec<String> },
}

impl Why {
    pub(crate) fn venue_ids(&self) -> &[String] {
        match self {
            Self::TooManyTrades { venue_ids }
            | Self::TooFewTrades { venue_ids }
            | Self::UnclearTrades { venue_ids }
            | Self::OtherTrades { venue_ids }
            | Self::MayBeRefused { venue_ids, .. }
            | Self::ListUnsteady { venue_ids } => venue_ids,
            Self::WalletUnexplained { .. }
            | Self::WalletUnknown
            | Self::WalletUnsettled
            | Self::StakeTaken => &[],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Adopt { venue_id: String },
    NotOpened,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decided {
    Adopt { venue_id: String },
    AdoptLate { venue_id: String },
    NotOpened { reserved_until: Millis },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecidable {
    NotInDoubt,
    TradeTaken,
}

impl Why {
    pub(crate) fn describe(&self, scale: MoneyScale) -> String {
        match self {
            Self::WalletUnexplained { surplus } => {
                let surplus = scale.format(*surplus);
                format!("no such trade is listed, and {surplus} in the wallet are not explained by that")
            }
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyTrades { venue_ids } => {
                write!(f, "more trades are listed than were asked for: {}", venue_ids.join(", "))
            }
            Self::TooFewTrades { venue_ids } => {
                write!(f, "fewer trades are listed than were asked for: {}", venue_ids.join(", "))
            }
            Self::UnclearTrades { venue_ids } => {
                write!(f, "trades are listed that may be meant: {}", venue_ids.join(", "))
            }
            Self::MayBeRefused { venue_ids, intents } => {
                let names: Vec<String> = intents.iter().map(|intent| format!("#{intent}")).collect();
                let orders = names.join(", ");
                write!(
                    f,
                    "trade {} may as well be trade {orders}, which the venue had rejected or did not get: same second, \
                     amount and direction",
                    venue_ids.join(", ")
                )
            }
            Self::OtherTrades { venue_ids } => write!(
                f,
                "no such trade is listed, but others of that pair and moment that nobody is known to have asked for: {}",
                venue_ids.join(", ")
            ),
            Self::WalletUnexplained { surplus } => write!(
                f,
                "no such trade is listed, and {} minor units in the wallet are not explained by that",
                surplus.minor()
            ),
            Self::WalletUnknown => f.write_str("no such trade is listed, and the wallet could not be read"),
            Self::StakeTaken => {
                f.write_str("no such trade is listed, but the wallet has shown that its stake was taken")
            }
            Self::WalletUnsettled => f.write_str(
                "no such trade is listed, and the wallet proves nothing while it is not known how other trades ended",
            ),
            Self::ListUnsteady { venue_ids } => {
                f.write_str("the venue's trade list could not be read completely")?;
                if venue_ids.is_empty() {
                    return Ok(());
                }
                write!(f, "; what it shows and may be meant: {}", venue_ids.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_which_trades_are_meant() {
        let why = Why::TooManyTrades { venue_ids: vec!["01A".to_owned(), "01B".to_owned()] };
        assert_eq!(why.to_string(), "more trades are listed than were asked for: 01A, 01B");
        let unsteady = |ids: &[&str]| {
            Why::ListUnsteady { venue_ids: ids.iter().map(ToString::to_string).collect() }.to_string()
        };
        assert_eq!(unsteady(&[]), "the venue's trade list could not be read completely");
        assert_eq!(
            unsteady(&["01A", "01B"]),
            "the venue's trade list could not be read completely; what it shows and may be meant: 01A, 01B"
        );
    }
}
