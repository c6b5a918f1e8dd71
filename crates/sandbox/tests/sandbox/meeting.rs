//! The client of this workspace at the sandbox: what the one writes, the other reads, to the last field.

use crate::harness::{NOON, Premises, START};
use candlewick_api::clock::{Clock, Speed, VirtualClock};
use candlewick_api::model::{CandleQuery, LastPrice, LimitTime, TradeQuery, WalletType};
use candlewick_api::{
    Account, ApiError, Credentials, HttpVenue, OpenBody, OpenOrder, Secret, Settings, Venue, closed_candles,
};
use candlewick_sandbox::{Replies, RunningSandbox};
use candlewick_sdk::{Direction, ExpirationType, Interval, Millis, Outcome};
use rust_decimal::Decimal;
use std::sync::Arc;

fn client(sandbox: &RunningSandbox, clock: Arc<dyn Clock>, change: impl Fn(&mut Settings)) -> HttpVenue {
    let mut settings = Settings {
        base_url: sandbox.base_url.clone(),
        price_url: sandbox.base_url.clone(),
        requests_per_second: 0.0,
        ..Settings::default()
    };
    change(&mut settings);
    let credentials = Credentials {
        api_token: Some(Secret::new(&sandbox.token).unwrap()),
        api_key: Some(Secret::new(&sandbox.api_key).unwrap()),
    };
    HttpVenue::new(settings, credentials, clock).unwrap()
}

fn order(symbol: &str) -> OpenOrder {
    OpenOrder {
        symbol: symbol.parse().unwrap(),
        direction: Direction::Buy,
        amount: Decimal::new(1_250, 2),
        close_type: "01:00".parse().unwrap(),
        expiration_type: ExpirationType::TimeFixed,
        account: Account::Demo,
    }
}

#[tokio::test]
async fn the_client_reads_every_answer_to_the_last_field() {
    let (sandbox, clock) = Premises::default().sandbox();
    let sandbox = sandbox.bind(std::future::pending()).await.unwrap();
    let venue = client(&sandbox, Arc::clone(&clock) as Arc<dyn Clock>, |_| ());
    let user = venue.me().await.unwrap().value.id;

    let opened = venue.open(&order("BTCUSDT"), Millis::MAX).await.unwrap().value;
    assert_eq!(opened.request_time, Some(Millis::new(NOON + 2_000)));
    assert_eq!(opened.wallets[0].balance, Decimal::from(10_000));
    clock.set(NOON + 70_000);
    let short = venue.trade(&opened.id).await.unwrap().value;
    assert_eq!((short.outcome(), short.pnl), (Some(Outcome::Won), Some(Decimal::TEN)));
    for user_id in [None, Some(user)] {
        let page = venue.trades(&TradeQuery { page: 1, page_size: 100, user_id }).await.unwrap().value;
        assert_eq!((page.data.len(), page.unreadable, page.next_page), (1, 0, None));
        assert!(page.data[0].is_final());
    }
    let wallets = venue.wallets().await.unwrap();
    let demo = wallets.value.iter().find(|wallet| wallet.wallet_type == WalletType::Demo).unwrap();
    assert_eq!(demo.balance, Decimal::from(10_010));
    assert_eq!(wallets.skew().map(candlewick_api::Skew::certain), Some(Millis::ZERO));

    let irregular = "A&B/C D".parse().unwrap();
    assert_eq!(venue.default_price(&irregular).await.unwrap().value.time, Millis::new(NOON + 69_000));
    let future = venue.last_price(&irregular, LimitTime::At(Millis::new(NOON + 70_001))).await.unwrap();
    assert_eq!(future.value, LastPrice::Future);
    let query = CandleQuery {
        symbol: "BTCUSDT".parse().unwrap(),
        asset_type: "crypto".to_owned(),
        interval: Interval::MINUTE,
        skip: 0,
        limit: 500,
        start_time: Millis::new(START),
        end_time: clock.now(),
    };
    let rows = venue.candles(&query).await.unwrap().value;
    let closed = closed_candles(&rows, Interval::MINUTE, clock.now());
    assert_eq!((rows.rows.len(), closed.candles.len(), closed.rejected), (32, 31, 0), "one is forming");

    assert!(venue.drift().snapshot().is_empty(), "{:?}", venue.drift().snapshot());
    sandbox.stop().await;
}

#[tokio::test]
async fn the_other_ways_to_open_are_read_too() {
    let (sandbox, clock) = Premises::default().sandbox();
    let sandbox = sandbox.bind(std::future::pending()).await.unwrap();
    let short = client(&sandbox, Arc::clone(&clock) as Arc<dyn Clock>, |settings| {
        settings.open_body = OpenBody::Short;
    });
    let acknowledged = short.open(&order("BTCUSDT"), Millis::MAX).await.unwrap().value;
    assert_eq!((acknowledged.open_time, acknowledged.open_price), (None, None));
    let late = client(&sandbox, Arc::clone(&clock) as Arc<dyn Clock>, |settings| {
        settings.open_path = "/token/trades/open-async".to_owned();
    });
    let processing = late.open(&order("BTCUSDT"), Millis::MAX).await.unwrap().value;
    assert_eq!((processing.open_time, processing.open_price), (Some(Millis::new(NOON + 2_999)), None));
    for venue in [short, late] {
        assert!(venue.drift().snapshot().is_empty(), "{:?}", venue.drift().snapshot());
    }
    sandbox.stop().await;
}

#[tokio::test]
async fn a_refusal_is_certain_and_tells_when_the_order_arrived() {
    let (sandbox, clock) = Premises::default().sandbox();
    let sandbox = sandbox.bind(std::future::pending()).await.unwrap();
    let venue = client(&sandbox, Arc::clone(&clock) as Arc<dyn Clock>, |_| ());
    clock.set(START + 41 * 60_000);
    let Err(ApiError::Rejected { status, text, venue_time }) =
        venue.open(&order("EURUSD"), Millis::MAX).await
    else {
        panic!("a gap has no price")
    };
    assert_eq!((status, text.as_str()), (400, "Outdated price"));
    assert_eq!(venue_time, Some(Millis::new(START + 41 * 60_000 + 2_000)));
    sandbox.stop().await;
}

#[tokio::test]
async fn in_lock_step_an_order_is_answered_while_time_stands_still() {
    let clock = Arc::new(VirtualClock::new(Millis::new(NOON), Speed::Max));
    let hold = clock.hold();
    let mut premises = Premises::default();
    premises.settings.replies = Replies::WhenArrived;
    let sandbox = premises.sandbox_over(Arc::clone(&clock) as Arc<dyn Clock>);
    let sandbox = sandbox.bind(std::future::pending()).await.unwrap();
    let venue = client(&sandbox, Arc::clone(&clock) as Arc<dyn Clock>, |_| ());
    let opened = venue.open(&order("BTCUSDT"), Millis::MAX).await.unwrap().value;
    assert_eq!((clock.now(), opened.request_time), (Millis::new(NOON), Some(Millis::new(NOON + 2_000))));
    let known = Millis::new(NOON + 62_999 + 4_000);
    let (early, late) = (clock.clone(), clock.clone());
    let wait = |clock: Arc<VirtualClock>, at| tokio::spawn(async move { clock.sleep_until(at).await });
    let (early, late) = (wait(early, known - Millis::new(1)), wait(late, known));
    tokio::task::yield_now().await;
    drop(hold);
    let hold = early.await.unwrap();
    assert_eq!(venue.trade(&opened.id).await.unwrap().value.outcome(), None, "a millisecond too early");
    drop(hold);
    let _hold = late.await.unwrap();
    assert_eq!(venue.trade(&opened.id).await.unwrap().value.outcome(), Some(Outcome::Won));
    sandbox.stop().await;
}
