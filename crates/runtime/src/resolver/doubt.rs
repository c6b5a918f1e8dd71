//! Intents in doubt: their deadlines, and their possible resolutions after a poll of the trade list.

use super::candidate::Window;
use candlewick_broker::{TradeOrder, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{CloseType, ExpirationType, Expiry, Millis, Money, MoneyScale};

/// Maximum time from the end of a request until the venue accepts it. The venue may queue requests.
pub(super) const MAX_ARRIVAL_DELAY: Millis = Millis::from_seconds(30);
/// Maximum time by which a reported request time may precede the actual send time, in addition to clock uncertainty.
pub(super) const TIMESTAMP_TOLERANCE: Millis = Millis::SECOND;

/// Returns the latest possible close of a trade that arrives 30 s after `ended` and opens with the next candle.
pub fn latest_close(ended: Millis, close_type: CloseType) -> Millis {
    ended + MAX_ARRIVAL_DELAY + close_type.duration() * 2
}

pub(crate) fn earliest_close(sent: Millis, expiry: Expiry) -> Millis {
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::NextCandle => {
            sent + expiry.close_type.duration()
        }
        ExpirationType::CandleClose => sent,
    }
}

/// Attempt to open a trade. The order may have been sent, so it may have a trade. All times are venue times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderAttempt {
    pub(crate) intent: IntentId,
    pub(crate) order: TradeOrder,
    pub(crate) stake: Money,
    /// Earliest time at which the request may have been sent.
    pub(crate) sent: Millis,
    /// End of the request, or the time when a crash was detected. [`Millis::MAX`] while the request is in flight.
    pub(crate) ended: Millis,
    pub(crate) latest_expected_close: Millis,
}

impl OrderAttempt {
    pub(crate) fn latest_arrival(&self) -> Millis {
        self.ended + MAX_ARRIVAL_DELAY
    }

    /// Returns the latest possible open time of the trade (see `observed: expiry`).
    pub(crate) fn latest_open(&self) -> Millis {
        let arrival = self.latest_arrival();
        match self.order.expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::CandleClose => {
                arrival.floor_to(Millis::SECOND) + Millis::new(999)
            }
            ExpirationType::NextCandle => {
                let duration = self.order.close_type.duration();
                arrival.floor_to(duration) + duration
            }
        }
    }

    pub(crate) fn deadline(&self, list_lag: Millis) -> Millis {
        self.latest_arrival().max(self.latest_open()) + list_lag
    }

    pub(crate) fn reserved_until(&self, list_lag: Millis) -> Millis {
        self.latest_expected_close + list_lag
    }

    pub(crate) fn arrival_window(&self, uncertainty: Millis) -> Window {
        self.window(uncertainty, self.latest_arrival() + uncertainty)
    }

    pub(crate) fn window(&self, uncertainty: Millis, deadline: Millis) -> Window {
        Window { from: self.sent - uncertainty - TIMESTAMP_TOLERANCE, until: deadline }
    }
}

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
    /// The order counts as not opened, although its trade may still appear within a day.
    NotOpened {
        intent: IntentId,
        reserved_until: Millis,
    },
    /// The operator has to decide. The intent stays in doubt, and the search for its trade continues.
    Escalate {
        intent: IntentId,
        why: EscalationReason,
    },
    /// A trade matches intents that were rejected or not sent. These intents return to doubt, and the run halts.
    Reinstate {
        intents: Vec<IntentId>,
        report: Box<TradeReport>,
    },
    Unexplained {
        report: Box<TradeReport>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EscalationReason {
    #[error("more trades are listed than were ordered: {}", venue_ids.join(", "))]
    TooManyTrades { venue_ids: Vec<String> },
    #[error("fewer trades are listed than were ordered: {}", venue_ids.join(", "))]
    TooFewTrades { venue_ids: Vec<String> },
    #[error("listed trades may match: {}", venue_ids.join(", "))]
    UnclearTrades { venue_ids: Vec<String> },
    #[error(
        "trade {} may belong to order {}, which was declined or not sent: its time, amount and direction match",
        venue_ids.join(", "), format_intents(intents)
    )]
    MayBeRefused { venue_ids: Vec<String>, intents: Vec<IntentId> },
    #[error(
        "no matching trade is listed, but these unexplained trades have the same symbol and time: {}",
        venue_ids.join(", ")
    )]
    OtherTrades { venue_ids: Vec<String> },
    #[error("no matching trade is listed, but {} minor units in the wallet are unexplained", surplus.minor())]
    WalletUnexplained { surplus: Money },
    #[error("no matching trade is listed, and the wallet could not be read")]
    WalletUnknown,
    #[error("no matching trade is listed, and the wallet proves nothing while other results are missing")]
    WalletUnsettled,
    #[error("no matching trade is listed, but the wallet showed that the stake was taken")]
    StakeTaken,
    #[error("the venue's trade list could not be read completely{}", describe_trades(venue_ids))]
    ListUnsteady { venue_ids: Vec<String> },
}

fn format_intents(intents: &[IntentId]) -> String {
    intents.iter().map(|intent| format!("#{intent}")).collect::<Vec<_>>().join(", ")
}

fn describe_trades(venue_ids: &[String]) -> String {
    if venue_ids.is_empty() {
        return String::new();
    }
    format!("; listed trades that may match: {}", venue_ids.join(", "))
}

impl EscalationReason {
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

    pub(crate) fn describe(&self, scale: MoneyScale) -> String {
        match self {
            Self::WalletUnexplained { surplus } => {
                let surplus = scale.format(*surplus);
                format!("no matching trade is listed, but {surplus} in the wallet is unexplained")
            }
            _ => self.to_string(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResolutionError {
    NotInDoubt,
    TradeTaken,
}

impl ResolutionError {
    pub(crate) fn describe(self, intent: IntentId) -> String {
        match self {
            Self::NotInDoubt => format!("trade #{intent} is not in doubt"),
            Self::TradeTaken => format!(
                "the given trade belongs to another order. If the venue opened no trade for #{intent}, use `--not-opened`"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;

    const LAG: Millis = Millis::from_seconds(120);

    fn check(expiration_type: ExpirationType, ended: i64, (latest_open, deadline): (i64, i64)) {
        let mut doubt = testing::doubt(1);
        doubt.order.expiration_type = expiration_type;
        doubt.order.close_type = "05:00".parse().unwrap();
        doubt.ended = Millis::new(ended);
        let found = (doubt.latest_open().get(), doubt.deadline(LAG).get());
        assert_eq!(found, (latest_open, deadline), "{expiration_type:?} ended at {ended}");
    }

    #[test]
    fn deadline_is_the_latest_open_plus_list_lag() {
        check(ExpirationType::Unstated, 10_000, (40_999, 160_999));
        check(ExpirationType::TimeFixed, 10_500, (40_999, 160_999));
        check(ExpirationType::CandleClose, 10_999, (40_999, 160_999));
        // After 40.5 s, the next candle of five minutes begins at 300 s. After exactly 300 s, it begins at 600 s.
        check(ExpirationType::NextCandle, 10_500, (300_000, 420_000));
        check(ExpirationType::NextCandle, 269_999, (300_000, 420_000));
        check(ExpirationType::NextCandle, 270_000, (600_000, 720_000));
    }

    #[test]
    fn arrival_window_spans_sending_to_deadline() {
        // The request was sent at 100 s and ended at 110 s. The trade closes at 201 s at the latest.
        let doubt = testing::doubt(1);
        let (uncertainty, until) = (Millis::new(300), Millis::new(199_000));
        assert_eq!(doubt.window(uncertainty, until), Window { from: Millis::new(98_700), until });
        let span = Window { from: Millis::new(98_700), until: Millis::new(140_300) };
        assert_eq!(doubt.arrival_window(uncertainty), span);
        assert_eq!(doubt.reserved_until(LAG), Millis::new(321_000));
        let latest = latest_close(Millis::from_seconds(110), "05:00".parse().unwrap());
        assert_eq!(latest, Millis::from_seconds(110 + 30 + 600));
        let in_flight = OrderAttempt { ended: Millis::MAX, ..doubt };
        assert_eq!(in_flight.deadline(LAG), Millis::MAX);
    }

    #[test]
    fn escalation_names_the_trades() {
        let venue_ids = vec!["01A".to_owned(), "01B".to_owned()];
        for why in [
            EscalationReason::TooManyTrades { venue_ids: venue_ids.clone() },
            EscalationReason::ListUnsteady { venue_ids },
        ] {
            assert!(why.to_string().ends_with(": 01A, 01B"), "{why}");
        }
    }
}
