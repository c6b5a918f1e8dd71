//! On which account short orders are opened. The short body cannot say it and its acknowledgement does not, so the venue's own
//! record of the first trade proves it before there is a second.

use crate::model::TradeRecord;
use crate::report::account_of;
use candlewick_broker::Account;
use candlewick_sdk::Millis;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of the account.
#[derive(Debug, Default)]
pub(super) struct AccountProof(Mutex<Known>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Known {
    /// Nothing: one order may be sent.
    #[default]
    Nothing,
    /// One order was sent, and its trade is to prove it; the id is that of the acknowledgement, if one has come.
    Sent { at: Millis, id: Option<String> },
    /// It is play money.
    Demo,
    /// It is real money: the trade with this id shows it.
    Real { id: String },
}

/// A venue's record of a request may be so much older than the request by our clock.
const CLOCK_DIFFERENCE: Millis = Millis::from_seconds(10);

impl AccountProof {
    /// An order is about to be sent at `now`.
    ///
    /// # Errors
    /// Why it may not be.
    pub(super) fn admit(&self, now: Millis) -> Result<(), String> {
        let mut known = self.known();
        match &*known {
            Known::Demo => Ok(()),
            Known::Nothing => {
                *known = Known::Sent { at: now, id: None };
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

    /// The order was not sent, or rejected: it proves nothing.
    pub(super) fn withdraw(&self) {
        let mut known = self.known();
        if let Known::Sent { id: None, .. } = *known {
            *known = Known::Nothing;
        }
    }

    /// The order is this trade.
    pub(super) fn accepted(&self, record: &TradeRecord) {
        if let Known::Sent { id, .. } = &mut *self.known() {
            id.get_or_insert_with(|| record.id.clone());
        }
        self.look_at(record);
    }

    /// Whether the record of this trade is awaited.
    pub(super) fn awaits(&self, wanted: &str) -> bool {
        match &*self.known() {
            Known::Sent { id: Some(id), .. } => id == wanted,
            Known::Sent { id: None, .. } => true,
            Known::Nothing | Known::Demo | Known::Real { .. } => false,
        }
    }

    /// A record of the venue's: it may be that of the trade that proves it.
    pub(super) fn look_at(&self, record: &TradeRecord) {
        let mut known = self.known();
        let Known::Sent { at, id } = &*known else { return };
        // Where the answer was lost: what a token opened since then can only be this.
        let is_since =
            record.request_time.or(record.created_at).is_some_and(|time| time >= *at - CLOCK_DIFFERENCE);
        let is_it =
            id.as_ref().map_or(record.from_api_token == Some(true) && is_since, |id| *id == record.id);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, is_demo: Option<bool>, request_time: i64, from_api_token: bool) -> TradeRecord {
        TradeRecord {
            id: id.to_owned(),
            is_demo,
            request_time: Some(Millis::new(request_time)),
            from_api_token: Some(from_api_token),
            ..TradeRecord::default()
        }
    }

    #[test]
    fn one_order_may_be_sent_until_its_own_record_proves_the_account() {
        let proof = AccountProof::default();
        proof.admit(Millis::HOUR).unwrap();
        let refused = proof.admit(Millis::HOUR).unwrap_err();
        assert!(refused.contains("an order is awaited"), "{refused}");
        proof.withdraw();
        proof.admit(Millis::HOUR).unwrap();
        proof.accepted(&record("01JT", None, 0, true));
        proof.withdraw();
        proof.look_at(&record("01JX", Some(true), Millis::HOUR.get(), true));
        assert!(proof.awaits("01JT") && !proof.awaits("01JX"));
        assert!(proof.admit(Millis::HOUR).unwrap_err().contains("trade 01JT"));
        proof.look_at(&record("01JT", Some(true), 0, true));
        assert_eq!((proof.admit(Millis::HOUR), proof.admit(Millis::HOUR)), (Ok(()), Ok(())));
    }

    #[test]
    fn a_record_of_real_money_ends_it_for_good() {
        let proof = AccountProof::default();
        proof.admit(Millis::HOUR).unwrap();
        proof.accepted(&record("01JT", Some(false), 0, true));
        proof.look_at(&record("01JT", Some(true), 0, true));
        proof.withdraw();
        assert!(proof.admit(Millis::HOUR).unwrap_err().contains("trade 01JT shows it"));
    }

    #[test]
    fn an_order_whose_answer_was_lost_is_proved_by_what_a_token_opened_since() {
        let (proof, sent) = (AccountProof::default(), Millis::HOUR.get());
        proof.admit(Millis::HOUR).unwrap();
        for other in [record("1", Some(true), sent, false), record("2", Some(true), sent - 60_000, true)] {
            proof.look_at(&other);
            assert!(proof.admit(Millis::HOUR).is_err());
        }
        proof.look_at(&record("3", Some(true), sent - 9_000, true));
        assert_eq!(proof.admit(Millis::HOUR), Ok(()));
    }
}
