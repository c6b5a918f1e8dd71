//! Events that a Session handles.

use crate::{IntentId, OrderTerms, OutsideSignal, SeriesId, SymbolId};
use candlewick_sdk::{Candle, Direction, Millis, Money, Outcome, Payout, Price, Text};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// Id that the venue assigns to a trade.
pub type VenueId = Text<63>;

/// Something that happened, such as the close of a candle, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Venue time of the event, which is also the time of the decisions based on it.
    pub at: Millis,
    /// Venue time at which the event arrived, equal to `at` in a backtest.
    /// The difference between `received` and `at` determines lateness and staleness.
    pub received: Millis,
    /// Kind of the event, with its data.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kind of an event, with its data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// Close of a candle.
    Candle {
        /// Series of the candle.
        series: SeriesId,
        /// Closed candle.
        candle: Candle,
        /// Origin of the candle, which decides whether its signals may be traded.
        origin: Origin,
    },
    /// Trade signal for a bot from outside the program.
    OutsideSignal(OutsideSignal),
    /// Latest price of a symbol, rounded to the price grid.
    Price {
        /// Symbol that the price is for.
        symbol: SymbolId,
        /// Latest price.
        price: Price,
    },
    /// Acceptance of an order by the venue, or further details about an accepted trade.
    Opened(OpenedTrade),
    /// Order declined by the venue. The reserved stake is released.
    Rejected {
        /// Intent of the declined order.
        intent: IntentId,
        /// The venue's reason.
        rejection: Rejection,
    },
    /// Failure to send an order. The reserved stake is released.
    NotSent {
        /// Intent of the unsent order.
        intent: IntentId,
    },
    /// Missing or unclear venue reply to an order. Only a lookup at the venue can tell whether a trade exists.
    InDoubt {
        /// Intent of the order.
        intent: IntentId,
    },
    /// Discovery of a venue trade that belongs to an intent in state `InDoubt` or `NotOpened`. The intent becomes open.
    Adopted(OpenedTrade),
    /// Lookup that found no trade for an intent in doubt.
    /// The stake stays reserved for now, because the trade may still appear.
    NotOpened {
        /// Intent without a trade.
        intent: IntentId,
        /// Expiry of the stake reservation.
        reserved_until: Millis,
    },
    /// Discovery of a venue trade for an order that was declined or not sent. The intent is now in doubt, and its
    /// stake is reserved. The event contains the order terms, because a Session forgets such intents.
    Reinstated(OrderTerms),
    /// Final outcome of a trade.
    Settled(TradeSettlement),
    /// Result reported by the operator, for a trade that the venue no longer shows.
    SettledByPerson {
        /// Intent of the trade.
        intent: IntentId,
        /// Reported outcome.
        outcome: Outcome,
        /// Net profit, negative for a loss.
        profit: Money,
    },
    /// Correction of a settled result, after two later readings from the venue agreed on a different result.
    Correction {
        /// Intent of the trade.
        intent: IntentId,
        /// Corrected outcome.
        outcome: Outcome,
        /// Corrected net profit.
        profit: Money,
    },
    /// Duplicate trade that the venue opened for a single order. The stake of the duplicate is also at risk.
    SecondTrade(SecondTrade),
    /// Settlement of a duplicate trade.
    SecondTradeSettled {
        /// Intent whose order opened the duplicate trade.
        intent: IntentId,
        /// Venue's id of the duplicate trade.
        venue_id: VenueId,
        /// Net profit, negative for a loss.
        profit: Money,
    },
    /// Deposit or withdrawal, inferred from a change of the wallet that no trade explains.
    Deposit {
        /// Deposited amount, negative for a withdrawal.
        amount: Money,
    },
    /// Unexplained difference between the wallet balance and the ledger. A shortage counts as a loss.
    WalletDifference {
        /// Wallet balance minus expected balance: negative for a shortage, 0 once the difference is resolved.
        amount: Money,
    },
    /// Reading of the wallet balance, used only for audits. Decisions use the ledger.
    Balance {
        /// Balance of the wallet.
        amount: Money,
    },
    /// Comparison of the local clock with the venue's clock.
    Skew {
        /// Local time minus venue time.
        offset: Millis,
    },
    /// Command from the operator or from the program itself.
    Control {
        /// The command.
        control: Control,
    },
}

impl EventKind {
    /// Returns the intent that the event concerns, if any.
    pub const fn intent(&self) -> Option<IntentId> {
        match self {
            Self::Opened(opened) | Self::Adopted(opened) => Some(opened.intent),
            Self::Reinstated(terms) => Some(terms.intent()),
            Self::Settled(settled) => Some(settled.intent),
            Self::SecondTrade(trade) => Some(trade.intent),
            Self::SecondTradeSettled { intent, .. }
            | Self::SettledByPerson { intent, .. }
            | Self::Correction { intent, .. }
            | Self::Rejected { intent, .. }
            | Self::NotSent { intent }
            | Self::InDoubt { intent }
            | Self::NotOpened { intent, .. } => Some(*intent),
            Self::Candle { .. }
            | Self::OutsideSignal(_)
            | Self::Price { .. }
            | Self::Deposit { .. }
            | Self::WalletDifference { .. }
            | Self::Balance { .. }
            | Self::Skew { .. }
            | Self::Control { .. } => None,
        }
    }
}

/// Origin of a candle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A candle that has just closed. Signals on this candle may be traded.
    Live,
    /// A candle fetched later, for warm-up or after an outage.
    /// Strategies process the candle, but their signals are not traded.
    Backfill,
}

/// An accepted trade. Fields missing from the reply are `None` and may follow in a later event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenedTrade {
    /// Intent whose order the venue accepted.
    pub intent: IntentId,
    /// Venue's id of the trade, `None` in simulations.
    pub venue_id: Option<VenueId>,
    /// Open time of the trade.
    pub open_time: Option<Millis>,
    /// Open price of the trade.
    pub open_price: Option<f64>,
    /// Scheduled close time.
    pub close_time: Option<Millis>,
    /// Payout of a win.
    pub payout: Option<Payout>,
    /// Terms that the venue accepted, `None` if they match the order or were already reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<VenueTerms>,
}

/// A duplicate trade. The venue seems to have opened two trades for a single order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondTrade {
    /// Intent whose order opened the duplicate trade.
    pub intent: IntentId,
    /// Venue's id of the duplicate trade.
    pub venue_id: VenueId,
    /// Stake of the duplicate trade.
    pub stake: Money,
}

/// The settlement of a trade. Fields missing from the venue's report are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TradeSettlement {
    /// Intent of the settled trade.
    pub intent: IntentId,
    /// Outcome of the trade.
    pub outcome: Outcome,
    /// Net profit, negative for a loss.
    pub profit: Money,
    /// Open time of the trade.
    pub open_time: Option<Millis>,
    /// Open price of the trade.
    pub open_price: Option<f64>,
    /// Close time of the trade.
    pub close_time: Option<Millis>,
    /// Close price of the trade.
    pub close_price: Option<f64>,
    /// Payout of a win.
    pub payout: Option<Payout>,
}

impl TradeSettlement {
    /// Creates a settlement reported by an operator, without times and prices.
    pub const fn from_operator(intent: IntentId, outcome: Outcome, profit: Money) -> Self {
        Self {
            intent,
            outcome,
            profit,
            open_time: None,
            open_price: None,
            close_time: None,
            close_price: None,
            payout: None,
        }
    }
}

/// The venue's reason for declining an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The venue has no price at the moment.
    NoPrice,
    /// The wallet does not cover the stake.
    InsufficientBalance,
    /// Any other reason, with the venue's message. Does not start a pause.
    /// Used for invalid credentials, by simulators and in journals of earlier versions.
    Other(Text<79>),
    /// A reason given by a real venue. Starts a pause (rule `RefusedByVenue`).
    Refused {
        /// Category of the reason.
        reason: RefusalReason,
        /// The venue's message.
        text: Text<79>,
    },
}

impl Rejection {
    /// Returns whether the venue declined the order because the wallet does not cover the stake.
    pub const fn is_insufficient_balance(&self) -> bool {
        matches!(
            self,
            Self::InsufficientBalance | Self::Refused { reason: RefusalReason::InsufficientBalance, .. }
        )
    }
}

impl Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrice => f.write_str("no price at the moment"),
            Self::InsufficientBalance => f.write_str("the wallet does not cover the stake"),
            Self::Other(words) | Self::Refused { text: words, .. } => f.write_str(words.as_str()),
        }
    }
}

/// Verdict on whether a bot has an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeVerdict {
    /// Not decided yet: more trades are needed.
    #[default]
    Open,
    /// The trades so far have shown an edge.
    Shown,
    /// An edge of `delta` or more is ruled out.
    Rejected,
    /// An edge was shown, but later trades no longer support an edge of `delta` or more.
    /// The edge has ended, or it was smaller from the start.
    NoLongerHeld,
}

impl EdgeVerdict {
    /// Returns whether the verdict stops the bot from trading if verdicts are enforced.
    pub const fn forbids_trades(self) -> bool {
        matches!(self, Self::Rejected | Self::NoLongerHeld)
    }
}

/// Commands from the operator or the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Rejects new trades until `Resume`.
    Halt,
    /// Allows new trades again and resets the equity peak and the loss streak.
    Resume,
    /// Rejects new trades until `Continue`, for example while the journal cannot be written.
    Suspend,
    /// Ends a suspension.
    Continue,
    /// Applies the reloaded limits from this point on.
    Reload,
}

/// A trading pair in the venue's notation.
pub type VenueSymbol = Text<31>;

/// Terms that the venue accepted and that differ from the order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VenueTerms {
    /// Traded pair, `None` if it is the pair in the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<VenueSymbol>,
    /// Direction of the trade.
    pub direction: Direction,
    /// Stake of the trade.
    pub stake: Money,
}

impl VenueTerms {
    /// Returns whether the symbol or direction differs from the order. Such a trade is not evidence about the strategy.
    pub(crate) fn differs_from_order(&self, direction: Direction) -> bool {
        self.symbol.is_some() || self.direction != direction
    }
}

/// Categories of the reasons for which venues decline orders.
/// Journal hashes contain the number of a category, so it must never change. New categories get the next free number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// Any other reason.
    Other = 0,
    /// The symbol cannot be traded at the moment.
    SymbolInactive = 1,
    /// The price of the symbol is outdated or missing.
    OutdatedPrice = 2,
    /// Too many trades within a minute or another short period.
    TradesPerMinute = 3,
    /// Too many trades per day.
    TradesPerDay = 4,
    /// Too many open or pending trades.
    PendingLimit = 5,
    /// The wallet does not cover the stake.
    InsufficientBalance = 6,
    /// The stake is below the venue's minimum.
    AmountBelowMinimum = 7,
    /// The stake is above the venue's maximum.
    AmountAboveMaximum = 8,
    /// The account is not allowed to trade.
    AccountRestricted = 9,
}

impl RefusalReason {
    /// All reasons.
    pub const ALL: [Self; 10] = [
        Self::Other,
        Self::SymbolInactive,
        Self::OutdatedPrice,
        Self::TradesPerMinute,
        Self::TradesPerDay,
        Self::PendingLimit,
        Self::InsufficientBalance,
        Self::AmountBelowMinimum,
        Self::AmountAboveMaximum,
        Self::AccountRestricted,
    ];

    /// Returns whether the reason applies to the whole account rather than one symbol.
    pub const fn applies_to_account(self) -> bool {
        matches!(
            self,
            Self::TradesPerMinute
                | Self::TradesPerDay
                | Self::PendingLimit
                | Self::InsufficientBalance
                | Self::AccountRestricted
        )
    }

    /// Returns a short description, such as `symbol not active`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Other => "other reason",
            Self::SymbolInactive => "symbol not active",
            Self::OutdatedPrice => "outdated price",
            Self::TradesPerMinute => "too many trades per minute",
            Self::TradesPerDay => "too many trades per day",
            Self::PendingLimit => "too many pending trades",
            Self::InsufficientBalance => "insufficient balance",
            Self::AmountBelowMinimum => "amount below the venue's minimum",
            Self::AmountAboveMaximum => "amount above the venue's maximum",
            Self::AccountRestricted => "account restricted",
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// An active halt, during which no trades are opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// Venue time of the halt, `None` if the journal does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// Reason given by the operator or the program, empty if none was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Halt {
    /// Prefix of the text of an alarm that records a halt in the journal.
    pub const ALARM_PREFIX: &'static str = "halted: ";

    /// Parses a halt from the text of an alarm raised at `at`. Returns `None` for other alarms.
    pub fn from_alarm_text(alarm: &str, at: Millis) -> Option<Self> {
        let reason = alarm.strip_prefix(Self::ALARM_PREFIX)?;
        Some(Self { at: Some(at), reason: reason.to_owned() })
    }

    /// Parses a halt from a journal note. Returns `None` for other notes.
    pub fn from_note(body: &str, at: Millis) -> Option<Self> {
        // Skip the many long notes about other topics.
        let note = Some(body).filter(|body| body.starts_with("{\"alarm\":"))?;
        let note: serde_json::Value = serde_json::from_str(note).ok()?;
        Self::from_alarm_text(note.get("alarm")?.as_str()?, at)
    }

    /// Returns the text of the alarm that records this halt in the journal.
    pub fn to_alarm(&self) -> String {
        format!("{}{}", Self::ALARM_PREFIX, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_only_notes_of_a_halt() {
        let at = Millis::new(7);
        let halt = Halt { at: Some(at), reason: "news at \"noon\"".to_owned() };
        let note = |alarm: &str| serde_json::json!({ "alarm": alarm }).to_string();
        assert_eq!(Halt::from_note(&note(&halt.to_alarm()), at), Some(halt));
        let silent = Halt { at: Some(at), ..Halt::default() };
        assert_eq!(Halt::from_note(&note(&silent.to_alarm()), at), Some(silent));
        assert_eq!(Halt::from_note(&note("the wallet was halted: no"), at), None);
        for other in ["", "{\"alarm\":7}", "{\"audit\":\"halted: x\"}"] {
            assert_eq!(Halt::from_note(other, at), None, "{other}");
        }
    }
}
