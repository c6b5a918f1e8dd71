//! Determines the account of orders with `open_body = "short"`. Their requests and answers do not name it.
//! No second order is sent until the venue's record of the first trade names the account.

use crate::model::TradeRecord;
use crate::report::read_account;
use candlewick_broker::{Account, TradeOrder};
use candlewick_sdk::Millis;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(super) struct AccountProof(Mutex<ProofState>);

#[derive(Clone, Debug, Default, PartialEq)]
enum ProofState {
    #[default]
    Nothing,
    /// The first order was sent. The record of its trade is pending. `id` is `None` until the answer arrives.
    Sent {
        at: Millis,
        order: Box<TradeOrder>,
        id: Option<String>,
    },
    Demo,
    Real {
        id: String,
    },
}

/// Maximum time by which a record's request time may precede our request, because of clock skew.
const CLOCK_TOLERANCE: Millis = Millis::from_seconds(10);

/// Maximum list lag. A trade that a complete list lacks this long after the request was never opened.
const MAX_LIST_LAG: Millis = Millis::from_seconds(300);

impl AccountProof {
    pub(super) fn admit_order(&self, order: &TradeOrder, now: Millis) -> Result<(), String> {
        let mut known = self.state();
        match &*known {
            ProofState::Demo => Ok(()),
            ProofState::Nothing => {
                *known = ProofState::Sent { at: now, order: Box::new(order.clone()), id: None };
                Ok(())
            }
            ProofState::Sent { id, .. } => {
                let trade = id.as_ref().map_or_else(|| "an order".to_owned(), |id| format!("trade {id}"));
                Err(format!(
                    "orders with broker.open_body = \"short\" do not name the account: wait for the venue's record of {trade}"
                ))
            }
            ProofState::Real { id } => Err(format!(
                "the venue's record of trade {id} shows that broker.open_body = \"short\" uses the real account"
            )),
        }
    }

    pub(super) fn withdraw_order(&self) {
        let mut known = self.state();
        if let ProofState::Sent { id: None, .. } = *known {
            *known = ProofState::Nothing;
        }
    }

    pub(super) fn apply_complete_list(&self, began: Millis) {
        let mut known = self.state();
        if matches!(&*known, ProofState::Sent { at, id: None, .. } if began - *at > MAX_LIST_LAG) {
            *known = ProofState::Nothing;
        }
    }

    pub(super) fn record_accepted_order(&self, record: &TradeRecord) {
        if let ProofState::Sent { id, .. } = &mut *self.state() {
            id.get_or_insert_with(|| record.id.clone());
        }
        self.apply_record(record);
    }

    pub(super) fn awaits_trade(&self, trade_id: &str) -> bool {
        match &*self.state() {
            ProofState::Sent { id: Some(id), .. } => id == trade_id,
            ProofState::Sent { id: None, .. } => true,
            ProofState::Nothing | ProofState::Demo | ProofState::Real { .. } => false,
        }
    }

    pub(super) fn apply_record(&self, record: &TradeRecord) {
        let mut known = self.state();
        let ProofState::Sent { at, order, id } = &*known else { return };
        // If the venue did not answer, every matching trade that an API token opened since the request counts.
        let is_since =
            record.request_time.or(record.created_at).is_some_and(|time| time >= *at - CLOCK_TOLERANCE);
        let may_be = record.from_api_token == Some(true) && is_since && matches_order(record, order);
        let is_match = id.as_ref().map_or(may_be, |id| *id == record.id);
        match read_account(record).filter(|_| is_match) {
            Some(Account::Demo) => *known = ProofState::Demo,
            Some(Account::Real) => *known = ProofState::Real { id: record.id.clone() },
            None => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, ProofState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn matches_order(record: &TradeRecord, order: &TradeOrder) -> bool {
    let direction = record.direction.as_ref().and_then(|direction| direction.value());
    record.symbol.as_deref() == Some(order.symbol.as_str())
        && direction == Some(&order.direction)
        && record.amount == Some(order.amount)
}

#[cfg(test)]
mod tests {
    use super::super::open::tests::order;
    use super::*;
    use candlewick_broker::ReportedValue;
    use candlewick_sdk::Direction;
    use rust_decimal::Decimal;

    fn record(id: &str, is_demo: Option<bool>, request_time: i64, from_api_token: bool) -> TradeRecord {
        TradeRecord {
            id: id.to_owned(),
            is_demo,
            request_time: Some(Millis::new(request_time)),
            from_api_token: Some(from_api_token),
            symbol: Some("BTC/USDT".to_owned()),
            direction: Some(ReportedValue::Known(Direction::Buy)),
            amount: Some(Decimal::TEN),
            ..TradeRecord::default()
        }
    }

    #[test]
    fn admits_one_order_until_its_record_proves_the_account() {
        let proof = AccountProof::default();
        proof.admit_order(&order(), Millis::HOUR).unwrap();
        let refused = proof.admit_order(&order(), Millis::HOUR).unwrap_err();
        assert!(refused.contains("record of an order"), "{refused}");
        proof.withdraw_order();
        proof.admit_order(&order(), Millis::HOUR).unwrap();
        proof.record_accepted_order(&record("01JT", None, 0, true));
        proof.withdraw_order();
        proof.apply_record(&record("01JX", Some(true), Millis::HOUR.get(), true));
        assert!(proof.awaits_trade("01JT") && !proof.awaits_trade("01JX"));
        assert!(proof.admit_order(&order(), Millis::HOUR).unwrap_err().contains("trade 01JT"));
        proof.apply_record(&record("01JT", Some(true), 0, true));
        let twice = [proof.admit_order(&order(), Millis::HOUR), proof.admit_order(&order(), Millis::HOUR)];
        assert_eq!(twice, [Ok(()), Ok(())]);
    }

    #[test]
    fn record_on_the_real_account_blocks_further_orders() {
        let proof = AccountProof::default();
        proof.admit_order(&order(), Millis::HOUR).unwrap();
        proof.record_accepted_order(&record("01JT", Some(false), 0, true));
        proof.apply_record(&record("01JT", Some(true), 0, true));
        proof.withdraw_order();
        assert!(proof.admit_order(&order(), Millis::HOUR).unwrap_err().contains("trade 01JT shows"));
    }

    #[test]
    fn lost_answer_is_proved_by_a_matching_token_trade() {
        let (proof, sent) = (AccountProof::default(), Millis::HOUR.get());
        proof.admit_order(&order(), Millis::HOUR).unwrap();
        let another = |id: &str| record(id, Some(true), sent, true);
        for other in [
            record("1", Some(true), sent, false),
            record("2", Some(true), sent - 60_000, true),
            TradeRecord { symbol: Some("ETH/USDT".to_owned()), ..another("4") },
            TradeRecord { direction: Some(ReportedValue::Known(Direction::Sell)), ..another("5") },
            TradeRecord { amount: Some(Decimal::ONE), ..another("6") },
        ] {
            proof.apply_record(&other);
            assert!(proof.admit_order(&order(), Millis::HOUR).is_err());
        }
        proof.apply_record(&record("3", Some(true), sent - 9_000, true));
        assert_eq!(proof.admit_order(&order(), Millis::HOUR), Ok(()));
    }

    #[test]
    fn unlisted_order_stops_blocking_after_the_list_lag() {
        let (proof, sent) = (AccountProof::default(), Millis::HOUR);
        proof.admit_order(&order(), sent).unwrap();
        proof.apply_complete_list(sent + Millis::from_seconds(300));
        assert!(proof.admit_order(&order(), sent).is_err(), "it may yet show");
        proof.apply_complete_list(sent + Millis::from_seconds(301));
        assert_eq!(proof.admit_order(&order(), sent), Ok(()));
        proof.record_accepted_order(&record("01JT", None, 0, true));
        proof.apply_complete_list(sent + Millis::HOUR);
        assert!(proof.admit_order(&order(), sent).unwrap_err().contains("trade 01JT"));
    }
}
