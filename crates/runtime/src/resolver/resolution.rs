//! What a look at the venue's list brings, and what a person may decide.

use candlewick_broker::TradeReport;
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money, MoneyScale};
use std::fmt;

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolution {
    /// The trade of an intent in doubt was found.
    Adopt { intent: IntentId, report: Box<TradeReport> },
    /// The trade of an intent that was taken as not opened was found: an alarm.
    AdoptLate { intent: IntentId, report: Box<TradeReport> },
    /// There is no trade. It may yet be found within a day.
    NotOpened { intent: IntentId, reserved_until: Millis },
    /// It is not known; said once for each intent, which stays as it is and is looked for on.
    AskPerson { intent: IntentId, why: Why },
    /// A trade was found that has the terms and the moment of intents that the venue rejected, or that were not sent: they
    /// are in doubt again. The run halts.
    Reinstate { intents: Vec<IntentId>, report: Box<TradeReport> },
    /// A trade that no intent explains: an alarm, once for each.
    Unexplained { report: Box<TradeReport> },
}

/// Why a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// More trades than intents that asked for such.
    TooManyTrades { venue_ids: Vec<String> },
    /// Fewer trades than intents that asked for such: whose are they?
    TooFewTrades { venue_ids: Vec<String> },
    /// Trades that may be meant and do not say enough of themselves.
    UnclearTrades { venue_ids: Vec<String> },
    /// A trade that may as well be of an intent that the venue rejected, or that was not sent.
    MayBeRefused { venue_ids: Vec<String>, intents: Vec<IntentId> },
    /// No such trade is listed, but others that the venue may have made of the request.
    OtherTrades { venue_ids: Vec<String> },
    /// No trade is listed, and the wallet holds so much that is not explained.
    WalletUnexplained { surplus: Money },
    /// No trade is listed, and the wallet could not be read.
    WalletUnknown,
    /// No trade is listed, and the venue may have paid for other trades of which it has not said how they ended.
    WalletUnsettled,
    /// No trade is listed, but the wallet has once shown that the stake was taken.
    StakeTaken,
    /// No listing was complete, or no two were alike.
    ListUnsteady { venue_ids: Vec<String> },
}

impl Why {
    /// The trades that may be meant.
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

/// What a person decides about an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// This trade is its trade.
    Adopt { venue_id: String },
    /// It has none.
    NotOpened,
}

/// What follows from a person's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decided {
    /// The intent in doubt is a trade.
    Adopt { venue_id: String },
    /// The intent that was taken as not opened is a trade.
    AdoptLate { venue_id: String },
    /// It is not.
    NotOpened { reserved_until: Millis },
}

/// Why a decision cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecidable {
    /// The intent is not in doubt.
    NotInDoubt,
    /// The trade is another intent's.
    TradeTaken,
}

impl Why {
    /// The reason with its amounts in money.
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
