//! Verifies a trade that the operator assigns to an order.

use crate::RuntimeError;
use crate::coordinator::with_rounded_amount;
use crate::resolver::{MIN_CLOCK_UNCERTAINTY, Match, OrderAttempt, compare_terms, is_deviating_trade};
use crate::runner::LIST_DEADLINE;
use candlewick_broker::{Broker, BrokerError, DetailLevel, TradeOrder, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money, MoneyScale};
use std::fmt::Display;
use std::time::Duration;

pub(crate) const REPORT_TIMEOUT: Duration = Duration::from_secs(8);

/// Requests the venue's report of a trade and checks that it matches the order to which the operator assigned it.
/// The terms may differ if the trade was requested while the order was unanswered (from `sent` to `ended`).
pub async fn verify_adoption(
    broker: &dyn Broker,
    (order, sent, ended): (&TradeOrder, Millis, Millis),
    venue_id: &str,
    scale: MoneyScale,
) -> Result<TradeReport, RuntimeError> {
    let answer =
        match tokio::time::timeout(REPORT_TIMEOUT, broker.trade(venue_id, DetailLevel::Everything)).await {
            Ok(answer) => answer.map(|reply| with_rounded_amount(reply.value, scale)),
            Err(_) => Err(timeout_error()),
        };
    let doubt = OrderAttempt {
        intent: IntentId::new(0),
        order: order.clone(),
        stake: Money::ZERO,
        sent,
        ended,
        latest_expected_close: ended,
    };
    check_report(order, venue_id, answer, |report| is_deviating_trade(&doubt, report, MIN_CLOCK_UNCERTAINTY))
}

pub async fn verify_trade_missing(broker: &dyn Broker, venue_id: &str) -> Result<(), RuntimeError> {
    let unanswered = |source| RuntimeError::Venue { question: format!("trade {venue_id}"), source };
    // Only a complete list proves that the trade does not exist. Reading a long list takes time.
    let ask = async { (broker.trade(venue_id, DetailLevel::ById).await, broker.trades().await) };
    let Ok((answer, listing)) = tokio::time::timeout(LIST_DEADLINE, ask).await else {
        let text = format!("the venue did not send the trade list within {} s", LIST_DEADLINE.as_secs());
        return Err(unanswered(BrokerError::Unavailable { text }));
    };
    let is_listed = listing.trades.iter().any(|report| report.id == venue_id);
    match (answer, listing.end_error) {
        (Ok(_), _) => Err(RuntimeError::TradeKnown { venue_id: venue_id.to_owned() }),
        (Err(BrokerError::NotFound { .. }), None) if is_listed => {
            Err(RuntimeError::TradeKnown { venue_id: venue_id.to_owned() })
        }
        (Err(BrokerError::NotFound { .. }), None) if listing.is_complete => Ok(()),
        (Err(BrokerError::NotFound { .. }), None) => {
            Err(unanswered(BrokerError::Unavailable { text: "the trade list is incomplete".to_owned() }))
        }
        (Err(BrokerError::NotFound { .. }), Some(error)) | (Err(error), _) => Err(unanswered(error)),
    }
}

pub(crate) fn timeout_error() -> BrokerError {
    BrokerError::Unavailable { text: format!("no answer within {} s", REPORT_TIMEOUT.as_secs()) }
}

/// Fails if the report belongs to another trade. Accepts missing fields, because the operator has seen the trade.
pub(crate) fn check_report(
    order: &TradeOrder,
    venue_id: &str,
    answer: Result<TradeReport, BrokerError>,
    may_differ: impl Fn(&TradeReport) -> bool,
) -> Result<TradeReport, RuntimeError> {
    let named = venue_id.to_owned();
    let report = match answer {
        Ok(report) => report,
        Err(BrokerError::NotFound { .. }) => return Err(RuntimeError::UnknownTrade { venue_id: named }),
        Err(source) => {
            return Err(RuntimeError::Venue { question: format!("trade {venue_id}"), source });
        }
    };
    let is_other = compare_terms(order, &report) == Match::Different && !may_differ(&report);
    if report.id != venue_id || is_other {
        let (found, wanted) = (describe_report(&report), describe_order(order));
        return Err(RuntimeError::TradeMismatch { venue_id: named, found, wanted });
    }
    Ok(report)
}

fn describe_order(order: &TradeOrder) -> String {
    let TradeOrder { symbol, direction, amount, close_type, expiration_type, account } = order;
    format!("{direction} {amount} {symbol} for {close_type} ({expiration_type}) on the {account} account")
}

fn describe_report(report: &TradeReport) -> String {
    fn or_unknown<T: Display>(value: Option<&T>) -> String {
        value.map_or_else(|| "?".to_owned(), ToString::to_string)
    }
    let TradeReport { id, symbol, direction, close_type, expiration_type, .. } = report;
    let amount = report.amount.map(|amount| amount.normalize());
    let account = report.account.map_or_else(|| "an unknown".to_owned(), |account| format!("the {account}"));
    format!(
        "trade {id}, {} {} {} for {} ({}) on {account} account",
        or_unknown(direction.as_ref()),
        or_unknown(amount.as_ref()),
        or_unknown(symbol.as_ref()),
        or_unknown(close_type.as_ref()),
        or_unknown(expiration_type.as_ref()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::{order_of_tests, report_of_tests};
    use candlewick_broker::{Account, MockBroker, Reply, ReportedValue};
    use candlewick_sdk::Direction;

    const SENT: Millis = Millis::from_seconds(1_000);

    async fn check(answer: Result<TradeReport, BrokerError>, refusal: Option<&str>) {
        let mut broker = MockBroker::new();
        broker
            .expect_trade()
            .withf(|_, detail| *detail == DetailLevel::Everything)
            .returning(move |_, _| answer.clone().map(|report| Reply::without_latency(report, Millis::ZERO)));
        let (order, scale) = (order_of_tests(), MoneyScale::new(2).unwrap());
        match (verify_adoption(&broker, (&order, SENT, SENT), "01JT", scale).await, refusal) {
            (Ok(report), None) => assert_eq!(report.id, "01JT"),
            (Err(error), Some(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[tokio::test]
    async fn rejects_adoption_of_missing_or_different_trades() {
        let text = || "01JT".to_owned();
        let direction = |direction| Some(ReportedValue::Known(direction));
        let bare = || TradeReport::new("01JT");
        check(Ok(TradeReport { direction: direction(Direction::Buy), ..bare() }), None).await;
        check(Ok(bare()), None).await;
        let other = Some("but ordered was BUY 10 BTCUSDT");
        check(Ok(TradeReport { direction: direction(Direction::Sell), ..bare() }), other).await;
        check(Ok(TradeReport::new("01JU")), Some("trade 01JT is trade 01JU")).await;
        let later = SENT + Millis::HOUR;
        let amount = |amount: &str, at| TradeReport {
            amount: Some(amount.parse().unwrap()),
            ..report_of_tests("01JT", at)
        };
        check(Ok(amount("10.000000000000001", later)), None).await;
        check(Ok(amount("10.01", later)), other).await;
        check(Ok(amount("50", SENT)), None).await;
        check(Ok(amount("50", later)), other).await;
        let real = TradeReport { account: Some(Account::Real), ..amount("50", SENT) };
        check(Ok(real), Some("on the real account, but ordered was BUY 10 BTCUSDT")).await;
        check(Err(BrokerError::NotFound { text: text() }), Some("the venue has no trade 01JT")).await;
        check(Err(BrokerError::Unavailable { text: text() }), Some("did not answer")).await;
    }

    struct Slow;

    #[async_trait::async_trait]
    impl Broker for Slow {
        async fn open(&self, _: &TradeOrder, _: Millis) -> candlewick_broker::OpenOutcome {
            std::future::pending().await
        }
        async fn trade(&self, _: &str, _: DetailLevel) -> Result<Reply<TradeReport>, BrokerError> {
            tokio::time::sleep(Duration::from_mins(5)).await;
            Err(BrokerError::NotFound { text: "none".to_owned() })
        }
        async fn trades(&self) -> candlewick_broker::TradeListing {
            tokio::time::sleep(Duration::from_mins(5)).await;
            candlewick_broker::TradeListing { is_complete: true, ..Default::default() }
        }
        async fn balances(&self) -> Result<Reply<candlewick_broker::Balances>, BrokerError> {
            std::future::pending().await
        }
        async fn identity(&self) -> Result<Reply<candlewick_broker::Identity>, BrokerError> {
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn reads_a_long_list_but_limits_the_wait_for_a_trade() {
        let missing = verify_trade_missing(&Slow, "01JT").await;
        assert!(missing.is_ok(), "{missing:?}");
        let scale = MoneyScale::new(2).unwrap();
        let confirmed = verify_adoption(&Slow, (&order_of_tests(), SENT, SENT), "01JT", scale).await;
        assert!(matches!(confirmed, Err(RuntimeError::Venue { .. })), "{confirmed:?}");
    }
}
