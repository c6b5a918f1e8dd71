//! Proof of the account that short orders trade on, which neither their body nor its answer names.
//!
//! No second order is sent until the venue's record of the first trade has shown it.

use crate::model::TradeRecord;
use crate::report::account_of;
use candlewick_broker::{Account, OpenOrder};
use candlewick_sdk::Millis;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(super) struct AccountProof(Mutex<Known>);

#[derive(Clone, Debug, Default, PartialEq)]
enum Known {
    #[default]
    Nothing,
    /// Order whose trade will prove the account; `id` is `None` until acknowledged.
    Sent {
        at: Millis,
        order: Box<OpenOrder>,
        id: Option<String>,
    },
    Demo,
    Real {
        id: String,
    },
}

/// Tolerated lead of our clock over the venue's request time.
const CLOCK_DIFFERENCE: Millis = Millis::from_seconds(10);

/// Time after sending at which a complete list without the trade proves that it never opened.
const MAX_LAG: Millis = Millis::from_seconds(300);

impl AccountProof {
    pub(super) fn admit(&self, order: &OpenOrder, now: Millis) -> Result<(), String> {
        let mut known = self.known();
        match &*known {
            Known::Demo => Ok(()),
            Known::Nothing => {
                *known = Known::Sent { at: now, order: Box::new(order.clone()), id: None };
                Ok(())
            }
            Known::Sent { id, .. } => {
                let trade = id.as_ref().map_or_else(|| "an order".to_owned(), |id| format!("trade {id}"));
                Err(format!(
                    "broker.open_body = \"short\" does not say on which account a trade is opened: the venue's record of {trade} is \
                     awaited, which shows it"
                ))
            }
            Known::Real { id } => Err(format!(
                "broker.open_body = \"short\" opens on the real account: the venue's record of trade {id} shows it"
            )),
        }
    }

    pub(super) fn withdraw(&self) {
        let mut known = self.known();
        if let Known::Sent { id: None, .. } = *known {
            *known = Known::Nothing;
        }
    }

    pub(super) fn listed_all(&self, began: Millis) {
        let mut known = self.known();
        if matches!(&*known, Known::Sent { at, id: None, .. } if began - *at > MAX_LAG) {
            *known = Known::Nothing;
        }
    }

    pub(super) fn accepted(&self, record: &TradeRecord) {
        if let Known::Sent { id, .. } = &mut *self.known() {
            id.get_or_insert_with(|| record.id.clone());
        }
        self.look_at(record);
    }

    pub(super) fn awaits(&self, wanted: &str) -> bool {
        match &*self.known() {
            Known::Sent { id: Some(id), .. } => id == wanted,
            Known::Sent { id: None, .. } => true,
            Known::Nothing | Known::Demo | Known::Real { .. } => false,
        }
    }

    pub(super) fn look_at(&self, record: &TradeRecord) {
        let mut known = self.known();
        let Known::Sent { at, order, id } = &*known else { return };
        // Where the answer was lost: what a token opened since then, and is as it was ordered.
        let is_since =
            record.request_time.or(record.created_at).is_some_and(|time| time >= *at - CLOCK_DIFFERENCE);
        let may_be = record.from_api_token == Some(true) && is_since && is_as_ordered(record, order);
        let is_it = id.as_ref().map_or(may_be, |id| *id == record.id);
        match account_of(record).filter(|_| is_it) {
            Some(Account::Demo) => *known = Known::Demo,
            Some(Account::Real) => *known = Known::Real { id: record.id.clone() },
            None => {}
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_as_ordered(record: &TradeRecord, order: &OpenOrder) -> bool {
    let direction = record.direction.as_ref().and_then(|direction| direction.known());
    record.symbol.as_deref() == Some(order.symbol.as_str())
        && direction == Some(&order.direction)
        && record.amount == Some(order.amount)
}

#[cfg(test)]
mod tests {
    use super::super::open::tests::order;
    use super::*;
    use candlewick_broker::Reported;
    use candlewick_sdk::Direction;
    use rust_decimal::Decimal;

    fn record(id: &str, is_demo: Option<bool>, request_time: i64, from_api_token: bool) -> TradeRecord {
        TradeRecord {
            id: id.to_owned(),
            is_demo,
            request_time: Some(Millis::new(request_time)),
            from_api_token: Some(from_api_token),
            symbol: Some("BTC/USDT".to_owned()),
            direction: Some(Reported::Known(Direction::Buy)),
            amount: Some(Decimal::TEN),
            ..TradeRecord::default()
        }
    }

    #[test]
    fn one_order_may_be_sent_until_its_own_record_proves_the_account() {
        let proof = AccountProof::default();
        proof.admit(&order(), Millis::HOUR).unwrap();
        let refused = proof.admit(&order(), Millis::HOUR).unwrap_err();
        assert!(refused.contains("an order is awaited"), "{refused}");
        proof.withdraw();
        proof.admit(&order(), Millis::HOUR).unwrap();
        proof.accepted(&record("01JT", None, 0, true));
        proof.withdraw();
        proof.look_at(&record("01JX", Some(true), Millis::HOUR.get(), true));
        assert!(proof.awaits("01JT") && !proof.awaits("01JX"));
        assert!(proof.admit(&order(), Millis::HOUR).unwrap_err().contains("trade 01JT"));
        proof.look_at(&record("01JT", Some(true), 0, true));
        let twice = [proof.admit(&order(), Millis::HOUR), proof.admit(&order(), Millis::HOUR)];
        assert_eq!(twice, [Ok(()), Ok(())]);
    }

    #[test]
    fn a_record_of_real_money_ends_it_for_good() {
        let proof = AccountProof::default();
        proof.admit(&order(), Millis::HOUR).unwrap();
        proof.accepted(&record("01JT", Some(false), 0, true));
        proof.look_at(&record("01JT", Some(true), 0, true));
        proof.withdraw();
        assert!(proof.admit(&order(), Millis::HOUR).unwrap_err().contains("trade 01JT shows it"));
    }

    #[test]
    fn an_order_whose_answer_was_lost_is_proved_by_what_a_token_opened_since() {
        let (proof, sent) = (AccountProof::default(), Millis::HOUR.get());
        proof.admit(&order(), Millis::HOUR).unwrap();
        let another = |id: &str| record(id, Some(true), sent, true);
        for other in [
            record("1", Some(true), sent, false),
            record("2", Some(true), sent - 60_000, true),
            TradeRecord { symbol: Some("ETH/USDT".to_owned()), ..another("4") },
            TradeRecord { direction: Some(Reported::Known(Direction::Sell)), ..another("5") },
            TradeRecord { amount: Some(Decimal::ONE), ..another("6") },
        ] {
            proof.look_at(&other);
            assert!(proof.admit(&order(), Millis::HOUR).is_err());
        }
        proof.look_at(&record("3", Some(true), sent - 9_000, true));
        assert_eq!(proof.admit(&order(), Millis::HOUR), Ok(()));
    }

    #[test]
    fn an_order_of_which_no_list_shows_anything_does_not_stand_in_the_way_for_ever() {
        let (proof, sent) = (AccountProof::default(), Millis::HOUR);
        proof.admit(&order(), sent).unwrap();
        proof.listed_all(sent + Millis::from_seconds(300));
        assert!(proof.admit(&order(), sent).is_err(), "it may yet show");
        proof.listed_all(sent + Millis::from_seconds(301));
        assert_eq!(proof.admit(&order(), sent), Ok(()));
        proof.accepted(&record("01JT", None, 0, true));
        proof.listed_all(sent + Millis::HOUR);
        assert!(proof.admit(&order(), sent).unwrap_err().contains("trade 01JT"));
    }
}
