//! The client of this workspace reads every field that the sandbox writes.

use crate::harness::{NOON, Premises, START, client};
use candlewick_api::HttpBroker;
use candlewick_broker::clock::{Clock, Speed, VirtualClock};
use candlewick_broker::{
    Account, AsOf, Broker, CandleQuery, ClockSkew, DetailLevel, MarketData, OpenOutcome, PriceAnswer,
    RejectionReason, Reply, TradeOrder, TradeProgress, TradeReport,
};
use candlewick_sandbox::Replies;
use candlewick_sdk::{Direction, ExpirationType, Interval, Millis, Outcome};
use rust_decimal::Decimal;
use std::sync::Arc;

async fn open(broker: &HttpBroker, symbol: &str) -> TradeReport {
    match broker.open(&order(symbol), Millis::MAX).await {
        OpenOutcome::Opened(Reply { value, .. }) => *value,
        other => panic!("{other:?}"),
    }
}

fn order(symbol: &str) -> TradeOrder {
    TradeOrder {
        symbol: symbol.parse().unwrap(),
        direction: Direction::Buy,
        amount: Decimal::new(1_250, 2),
        close_type: "01:00".parse().unwrap(),
        expiration_type: ExpirationType::TimeFixed,
        account: Account::Demo,
    }
}

#[tokio::test]
async fn client_reads_every_field() {
    let (sandbox, clock) = Premises::default().running().await;
    let broker = client(&sandbox, &clock, &sandbox.api_key, |_| ());
    assert_eq!(broker.identity().await.unwrap().value.restrictions, [""; 0]);

    let opened = open(&broker, "BTCUSDT").await;
    assert_eq!(opened.request_time, Some(Millis::new(NOON + 2_000)));
    assert_eq!((opened.account, opened.is_opened_with_token), (Some(Account::Demo), Some(true)));
    clock.set(NOON + 70_000);
    let won = TradeProgress::Over(Outcome::Won);
    let short = broker.trade(&opened.id, DetailLevel::Progress).await.unwrap().value;
    assert_eq!((&short.progress, short.profit), (&won, Some(Decimal::TEN)));
    assert_eq!(short.direction, None, "the short projection does not say it");
    let full = broker.trade(&opened.id, DetailLevel::Everything).await.unwrap().value;
    assert_eq!(full.progress, won);
    assert_eq!(full.direction.and_then(|said| said.value().copied()), Some(Direction::Buy));
    let listing = broker.trades().await;
    assert_eq!((listing.is_complete, listing.trades.len(), listing.end_error), (true, 1, None));
    assert_eq!(listing.trades[0].progress, won);
    let balances = broker.balances().await.unwrap();
    assert_eq!(balances.value.demo, Some(Decimal::from(10_010)));
    assert_eq!(balances.skew().map(ClockSkew::min_abs_skew), Some(Millis::ZERO));

    let irregular = "A&B/C D".parse().unwrap();
    let latest = broker.price(&irregular, AsOf::Latest).await.unwrap().value;
    assert_eq!(latest.record().map(|record| record.time), Some(Millis::new(NOON + 69_000)));
    let future = broker.price(&irregular, AsOf::Moment(Millis::new(NOON + 70_001))).await.unwrap();
    assert_eq!(future.value, PriceAnswer::NotYet);
    let query = CandleQuery {
        symbol: "BTCUSDT".parse().unwrap(),
        interval: Interval::MINUTE,
        start: Millis::new(START),
        end: clock.now(),
    };
    let page = broker.candles(&query).await.unwrap().value;
    let counts =
        (page.candles.len(), page.unusable_rows, page.forming_rows, page.out_of_window_candles.len());
    assert_eq!(counts, (31, 0, 1, 0));

    assert!(broker.unrecognised_data().snapshot().is_empty(), "{:?}", broker.unrecognised_data().snapshot());
    sandbox.stop().await;
}

#[tokio::test]
async fn rejection_has_reason_and_arrival_time() {
    let (sandbox, clock) = Premises::default().running().await;
    let broker = client(&sandbox, &clock, &sandbox.api_key, |_| ());
    clock.set(START + 41 * 60_000);
    let OpenOutcome::Rejected(rejection) = broker.open(&order("EURUSD"), Millis::MAX).await else {
        panic!("a gap has no price")
    };
    assert_eq!((rejection.reason, rejection.text.as_str()), (RejectionReason::NoPrice, "Outdated price"));
    assert_eq!(rejection.venue_time, Some(Millis::new(START + 41 * 60_000 + 2_000)));
    let greedy = TradeOrder { amount: Decimal::from(10_001), ..order("BTCUSDT") };
    let OpenOutcome::Rejected(rejection) = broker.open(&greedy, Millis::MAX).await else {
        panic!("the wallet does not cover it")
    };
    assert_eq!(rejection.reason, RejectionReason::InsufficientBalance);
    sandbox.stop().await;
}

#[tokio::test]
async fn in_lock_step_an_order_is_answered_while_time_stands_still() {
    let clock = Arc::new(VirtualClock::new(Millis::new(NOON), Speed::Max));
    let hold = clock.hold();
    let waiting = Premises::with(|settings| settings.replies = Replies::WhenArrived);
    let sandbox = waiting.sandbox_over(Arc::clone(&clock) as Arc<dyn Clock>);
    let sandbox = sandbox.bind(std::future::pending()).await.unwrap();
    let broker = client(&sandbox, &clock, &sandbox.api_key, |_| ());
    let opened = open(&broker, "BTCUSDT").await;
    assert_eq!((clock.now(), opened.request_time), (Millis::new(NOON), Some(Millis::new(NOON + 2_000))));
    let known = Millis::new(NOON + 62_999 + 4_000);
    let (early, late) = (clock.clone(), clock.clone());
    let wait = |clock: Arc<VirtualClock>, at| tokio::spawn(async move { clock.sleep_until(at).await });
    let (early, late) = (wait(early, known - Millis::new(1)), wait(late, known));
    tokio::task::yield_now().await;
    drop(hold);
    let hold = early.await.unwrap();
    let outcome =
        async || broker.trade(&opened.id, DetailLevel::Progress).await.unwrap().value.progress.outcome();
    assert_eq!(outcome().await, None, "a millisecond too early");
    drop(hold);
    let _hold = late.await.unwrap();
    assert_eq!(outcome().await, Some(Outcome::Won));
    sandbox.stop().await;
}
