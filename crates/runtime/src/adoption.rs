//! A person's word that a trade is an intent's, held against the venue's own record of that trade.

use crate::RuntimeError;
use crate::request::find_in_list;
use crate::resolver::{Likeness, account_of, compare_terms};
use candlewick_api::model::{Tolerant, TradeRecord};
use candlewick_api::{Account, ApiError, OpenOrder, Reply, Venue};
use std::fmt::Display;
use std::time::Duration;

/// A person waits for the answer to each of the two questions.
const PATIENCE: Duration = Duration::from_secs(4);

/// The record of the trade that is to be an intent's. The venue's short projection does not tell what was asked for: the
/// list of the user does.
///
/// # Errors
/// [`RuntimeError::NameTrade`] when the venue has no such trade, [`RuntimeError::NameOtherTrade`] when it is not what the
/// intent asked for, [`RuntimeError::Venue`] when the venue does not say.
pub async fn confirm_adoption(
    venue: &dyn Venue,
    order: &OpenOrder,
    (venue_id, user_id): (&str, &str),
) -> Result<TradeRecord, RuntimeError> {
    let named = venue_id.to_owned();
    let mut record = match in_time(venue.trade(venue_id)).await {
        Ok(record) => record,
        Err(ApiError::NotFound { .. }) => return Err(RuntimeError::NameTrade { venue_id: named }),
        Err(source) => {
            return Err(RuntimeError::Venue { question: format!("what is trade {venue_id}"), source });
        }
    };
    if compare_terms(order, &record) == Likeness::Unclear {
        let listed = in_time(find_in_list(venue, venue_id, user_id.to_owned())).await;
        record = listed.unwrap_or(record);
    }
    // What it leaves out, a person has seen elsewhere.
    let is_other = record.id != venue_id || compare_terms(order, &record) == Likeness::Other;
    if is_other {
        let (found, wanted) = (describe_record(&record), describe_order(order));
        return Err(RuntimeError::NameOtherTrade { venue_id: named, found, wanted });
    }
    Ok(record)
}

async fn in_time(
    question: impl Future<Output = Result<Reply<TradeRecord>, ApiError>>,
) -> Result<TradeRecord, ApiError> {
    match tokio::time::timeout(PATIENCE, question).await {
        Ok(answer) => answer.map(|reply| reply.value),
        Err(_) => Err(ApiError::Unavailable { text: format!("no answer within {} s", PATIENCE.as_secs()) }),
    }
}

fn describe_order(order: &OpenOrder) -> String {
    let OpenOrder { symbol, direction, amount, close_type, expiration_type, account } = order;
    let money = name_of(*account);
    format!("{direction} {amount} {symbol} for {close_type} {expiration_type} with {money} money")
}

fn describe_record(record: &TradeRecord) -> String {
    fn word<T: Display>(value: Option<&Tolerant<T>>) -> String {
        match value {
            Some(Tolerant::Known(value)) => value.to_string(),
            Some(Tolerant::Unknown(text)) => text.clone(),
            None => "?".to_owned(),
        }
    }
    let direction = word(record.direction.as_ref());
    let (close_type, expiration) = (word(record.close_type.as_ref()), word(record.expiration_type.as_ref()));
    let amount = record.amount.map_or_else(|| "?".to_owned(), |amount| amount.normalize().to_string());
    let symbol = record.symbol.as_deref().unwrap_or("?");
    let money = account_of(record).map_or("unknown", name_of);
    let id = &record.id;
    format!("trade {id}, {direction} {amount} {symbol} for {close_type} {expiration} with {money} money")
}

const fn name_of(account: Account) -> &'static str {
    match account {
        Account::Demo => "play",
        Account::Real => "real",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::order_of_tests;
    use candlewick_api::MockVenue;
    use candlewick_api::model::TradePage;
    use candlewick_sdk::{Direction, Millis};

    async fn check(answer: Result<TradeRecord, ApiError>, expected: Result<&str, &str>) {
        check_named("01JT", answer, expected).await;
    }

    async fn check_named(id: &str, answer: Result<TradeRecord, ApiError>, expected: Result<&str, &str>) {
        let mut venue = MockVenue::new();
        venue.expect_trade().returning(move |_| answer.clone().map(|record| Reply::at(record, Millis::ZERO)));
        venue
            .expect_trades()
            .returning(|_| Ok(Reply::at(TradePage { data: listed(), ..TradePage::default() }, Millis::ZERO)));
        let confirmed = confirm_adoption(&venue, &order_of_tests(), (id, "user")).await;
        let told = confirmed.map(|record| record.id).map_err(|error| error.to_string());
        match (told, expected) {
            (Ok(id), Ok(expected)) => assert_eq!(id, expected),
            (Err(text), Err(part)) => assert!(text.contains(part), "{text}"),
            (told, _) => panic!("{told:?}"),
        }
    }

    /// The full projection of a trade that is another.
    fn listed() -> Vec<TradeRecord> {
        vec![record("01JV", Some(order_of_tests().direction.opposite()))]
    }

    fn record(id: &str, direction: Option<Direction>) -> TradeRecord {
        let direction = direction.map(Tolerant::Known);
        TradeRecord { id: id.to_owned(), direction, ..TradeRecord::default() }
    }

    #[tokio::test]
    async fn a_trade_that_does_not_exist_or_is_another_is_not_adopted() {
        let text = || "01JT".to_owned();
        let wanted = order_of_tests().direction;
        check(Ok(record("01JT", Some(wanted))), Ok("01JT")).await;
        check(Ok(record("01JT", None)), Ok("01JT")).await;
        check(Ok(record("01JT", Some(wanted.opposite()))), Err("and asked for was BUY 10 BTCUSDT")).await;
        check(Ok(record("01JU", Some(wanted))), Err("trade 01JT is trade 01JU, BUY ? ?")).await;
        // Get-by-id does not tell, and the list does.
        check_named("01JV", Ok(record("01JV", None)), Err("trade 01JV is trade 01JV, SELL ? ?")).await;
        check(Err(ApiError::NotFound { text: text() }), Err("the venue has no trade 01JT")).await;
        check(Err(ApiError::Unavailable { text: text() }), Err("did not answer \"what is trade 01JT\""))
            .await;
    }
}
