//! What a trade's record says about its end.

use crate::trade_watch::OpenTrade;
use candlewick_api::model::{TradeRecord, TradeStatus};
use candlewick_engine::{IntentId, Settled};
use candlewick_sdk::{MoneyScale, Outcome, Payout};

/// What a record says.
#[derive(Debug, PartialEq)]
pub(crate) enum Reading {
    /// The trade has ended so.
    Final(Settled),
    /// It has ended, but the projection does not say how: the list by user does.
    EndedSomehow,
    /// It has not ended.
    NotFinal,
}

/// Reads a record. A result that is not known is not final, and never a win or a loss.
pub(crate) fn read(record: &TradeRecord, intent: IntentId, trade: &OpenTrade, scale: MoneyScale) -> Reading {
    let Some(outcome) = record.outcome() else {
        let ended = record.result.is_none() && record.status == Some(TradeStatus::Completed);
        return if ended { Reading::EndedSomehow } else { Reading::NotFinal };
    };
    let payout = record.payout.and_then(|percent| Payout::from_percent(percent).ok());
    // The venue's figure is the truth; where it is missing, the rule of the outcome gives it.
    let told = record.pnl.and_then(|pnl| scale.rounded(pnl).ok());
    let profit = match (told, outcome) {
        (Some(profit), _) => profit,
        (None, Outcome::Lost) => -trade.stake,
        (None, Outcome::Draw | Outcome::Cancelled) => candlewick_sdk::Money::ZERO,
        (None, Outcome::Won) => match payout {
            Some(payout) => trade.stake.profit_at(payout),
            None => return Reading::EndedSomehow,
        },
    };
    Reading::Final(Settled {
        intent,
        outcome,
        profit,
        open_time: record.open_time,
        open_price: record.open_price,
        close_time: record.close_time,
        close_price: record.close_price,
        payout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trade_watch::TradeWatch;
    use candlewick_api::OpenReply;
    use candlewick_api::model::TradeResult;
    use candlewick_sdk::rust_decimal::Decimal;
    use candlewick_sdk::{Millis, Money};

    fn check(change: impl Fn(&mut TradeRecord), expected: Option<(Outcome, i64)>) -> Reading {
        let mut watch = TradeWatch::new(Millis::ZERO);
        let intent = IntentId::new(1);
        let terms = (Money::from_minor(1_000), Millis::MINUTE);
        watch.begin(intent, &OpenReply::default(), terms, Millis::ZERO);
        let mut record = TradeRecord::default();
        change(&mut record);
        let reading = read(&record, intent, watch.find(intent).unwrap(), MoneyScale::default());
        let told = match &reading {
            Reading::Final(settled) => Some((settled.outcome, settled.profit.minor())),
            Reading::EndedSomehow | Reading::NotFinal => None,
        };
        assert_eq!(told, expected);
        reading
    }

    #[test]
    fn the_venues_profit_is_the_truth_and_its_absence_is_filled_by_rule() {
        check(
            |record| {
                record.result = Some(TradeResult::Won);
                record.pnl = Some(Decimal::new(799, 2));
            },
            Some((Outcome::Won, 799)),
        );
        check(
            |record| {
                record.result = Some(TradeResult::Won);
                record.payout = Some(Decimal::from(80));
            },
            Some((Outcome::Won, 800)),
        );
        check(|record| record.result = Some(TradeResult::Lost), Some((Outcome::Lost, -1_000)));
        check(|record| record.status = Some(TradeStatus::Cancelled), Some((Outcome::Cancelled, 0)));
    }

    #[test]
    fn an_unknown_result_is_never_a_win_or_a_loss() {
        let unknown = check(
            |record| {
                record.result = Some(TradeResult::Unknown("REVERTED".into()));
                record.status = Some(TradeStatus::Completed);
            },
            None,
        );
        assert_eq!(unknown, Reading::NotFinal);
    }

    #[test]
    fn a_short_projection_that_is_completed_sends_to_the_list() {
        assert_eq!(check(|record| record.status = Some(TradeStatus::Completed), None), Reading::EndedSomehow);
        assert_eq!(check(|record| record.result = Some(TradeResult::Won), None), Reading::EndedSomehow);
        assert_eq!(check(|record| record.status = Some(TradeStatus::Open), None), Reading::NotFinal);
    }
}
