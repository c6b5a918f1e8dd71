//! Conversion of the venue's rejections for the session.

use candlewick_broker::RejectionReason;
use candlewick_engine::{RefusalReason, Rejection};
use candlewick_sdk::Text;

pub(super) fn rejection_of(answer: &candlewick_broker::Rejection) -> Rejection {
    let text = Text::truncated(&answer.text);
    let reason = match answer.reason {
        // As in a backtest, where an honest gap in the prices starts no pause.
        RejectionReason::NoPrice => return Rejection::NoPrice,
        // A refused token suspends all opens by itself.
        RejectionReason::Credentials => return Rejection::Other(text),
        RejectionReason::InsufficientBalance => RefusalReason::InsufficientBalance,
        RejectionReason::SymbolInactive => RefusalReason::SymbolInactive,
        RejectionReason::OutdatedPrice => RefusalReason::OutdatedPrice,
        RejectionReason::TradesPerMinute => RefusalReason::TradesPerMinute,
        RejectionReason::TradesPerDay => RefusalReason::TradesPerDay,
        RejectionReason::PendingLimit => RefusalReason::PendingLimit,
        RejectionReason::AmountBelowMinimum => RefusalReason::AmountBelowMinimum,
        RejectionReason::AmountAboveMaximum => RefusalReason::AmountAboveMaximum,
        RejectionReason::AccountRestricted => RefusalReason::AccountRestricted,
        RejectionReason::Other => RefusalReason::Other,
    };
    Rejection::Refused { reason, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_is_known_by_its_reason_and_not_by_its_words() {
        let words = Text::truncated("no price, no balance");
        let refused = |reason| Rejection::Refused { reason, text: words };
        for (reason, expected) in [
            (RejectionReason::NoPrice, Rejection::NoPrice),
            (RejectionReason::Credentials, Rejection::Other(words)),
            (RejectionReason::InsufficientBalance, refused(RefusalReason::InsufficientBalance)),
            (RejectionReason::PendingLimit, refused(RefusalReason::PendingLimit)),
            (RejectionReason::Other, refused(RefusalReason::Other)),
        ] {
            let text = "no price, no balance".to_owned();
            assert_eq!(
                rejection_of(&candlewick_broker::Rejection { reason, text, venue_time: None }),
                expected
            );
        }
    }
}
