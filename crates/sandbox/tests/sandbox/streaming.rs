//! The client of this workspace reads the price stream of the sandbox, with and without faults.

use crate::harness::{ManualClock, NOON, Premises, START, client};
use candlewick_api::HttpBroker;
use candlewick_broker::{AsOf, BrokerError, MarketData, PriceFeed, PriceTick};
use candlewick_sandbox::{Fault, RunningSandbox};
use candlewick_sdk::{Millis, Symbol};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

fn stream_client(sandbox: &RunningSandbox, clock: &Arc<ManualClock>, key: &str) -> HttpBroker {
    client(sandbox, clock, key, |settings| (settings.stream, settings.stream_silence_ms) = (true, 1_000))
}

async fn start(faults: &str) -> (RunningSandbox, Arc<ManualClock>, HttpBroker) {
    let (sandbox, clock) = Premises::with_faults(faults).running().await;
    let broker = stream_client(&sandbox, &clock, &sandbox.api_key);
    (sandbox, clock, broker)
}

fn symbol(name: &str) -> Symbol {
    name.parse().unwrap()
}

async fn subscribe(broker: &HttpBroker, name: &str) -> PriceFeed {
    broker.subscribe(&symbol(name)).await.unwrap().expect("it streams")
}

async fn next(feed: &mut PriceFeed) -> Option<PriceTick> {
    tokio::time::timeout(PATIENCE, feed.next()).await.expect("in time").map(|(tick, _)| tick)
}

async fn pass(span: Duration) {
    tokio::time::pause();
    tokio::time::advance(span).await;
    tokio::time::resume();
}

async fn polled(broker: &HttpBroker, name: &str, tick: PriceTick) -> f64 {
    broker.price(&symbol(name), AsOf::Moment(tick.time)).await.unwrap().value.record().unwrap().prices.close
}

#[tokio::test]
async fn streamed_prices_equal_requested_ones() {
    let (_sandbox, clock, broker) = start("none").await;
    let mut feeds = [subscribe(&broker, "BTCUSDT").await, subscribe(&broker, "A&B/C D").await];
    for second in 0..5_i64 {
        clock.set(NOON + second * 1_000);
        for (feed, name) in feeds.iter_mut().zip(["BTCUSDT", "A&B/C D"]) {
            let tick = next(feed).await.unwrap();
            assert_eq!(tick.time, Millis::new(NOON + second * 1_000 - 1), "{name}");
            assert_eq!(tick.price, polled(&broker, name, tick).await, "{name}");
            assert!((129.0..=133.0).contains(&tick.price), "{name}: {tick:?}");
        }
    }
    assert_eq!((NOON - START) / 60_000, 30);
    assert!(broker.unrecognised_data().snapshot().is_empty(), "everything is understood");
}

#[tokio::test]
async fn faulty_stream_never_yields_old_or_wrong_prices() {
    let (mut sandbox, clock, broker) = start("none").await;
    let mut feed = subscribe(&broker, "BTCUSDT").await;
    assert!(next(&mut feed).await.is_some());
    let faults = "stream-duplicate:0.3,stream-reorder:0.3,stream-garbage:0.2";
    sandbox.switchboard.set_profile(faults.parse().unwrap());
    let faults = [Fault::StreamGarbage, Fault::StreamReorder, Fault::StreamDuplicate];
    let met = |sandbox: &RunningSandbox| faults.map(|fault| sandbox.switchboard.counts().count(fault));
    let mut ticks = 0;
    for second in 1..=200_i64 {
        let ([garbage, reordered, _], now) = (met(&sandbox), NOON + second * 1_000);
        clock.set(now);
        let pushed = sandbox.prices_pushed_until.wait_for(|pushed| *pushed >= Millis::new(now));
        drop(tokio::time::timeout(PATIENCE, pushed).await.expect("in time").unwrap());
        // Corrupted prices are dropped, as are delayed ones, which arrive after a newer one.
        if met(&sandbox)[..2] == [garbage, reordered] {
            let tick = next(&mut feed).await.unwrap();
            assert_eq!(tick.time, Millis::new(now - 1), "one of each second, whatever came before it");
            assert_eq!(tick.price, polled(&broker, "BTCUSDT", tick).await, "{tick:?}");
            ticks += 1;
        }
    }
    assert!(met(&sandbox).iter().all(|count| *count > 5), "{:?}", met(&sandbox));
    assert!(ticks > 50, "{ticks} of 200");
    assert!(!broker.unrecognised_data().snapshot().is_empty(), "garbage is counted");
}

#[tokio::test]
async fn a_stream_that_stalls_ends_within_seconds_and_before_it_begins_is_an_error() {
    let (sandbox, clock, broker) = start("none").await;
    let mut feed = subscribe(&broker, "BTCUSDT").await;
    assert!(next(&mut feed).await.is_some());
    sandbox.switchboard.set_profile("stream-stall:1:60s".parse().unwrap());
    clock.set(NOON + 1_000);
    let before = tokio::time::Instant::now();
    assert_eq!(next(&mut feed).await, None);
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    let failed = subscribe_error(&broker).await;
    assert!(matches!(failed, BrokerError::Unavailable { .. }), "{failed}");
}

async fn has_ended_by_now(feed: &mut PriceFeed) -> bool {
    tokio::select! {
        biased;
        ended = feed.next() => {
            assert!(ended.is_none(), "{ended:?}");
            true
        }
        () = tokio::task::yield_now() => false,
    }
}

async fn subscribe_error(broker: &HttpBroker) -> BrokerError {
    match broker.subscribe(&symbol("BTCUSDT")).await {
        Ok(_) => panic!("it must not stream"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn silent_pair_ends_without_the_others() {
    let (_sandbox, clock, broker) = start("none").await;
    // EURUSD has no candles in minutes 40 to 44.
    clock.set(START + 40 * 60_000);
    let mut feeds = [subscribe(&broker, "EURUSD").await, subscribe(&broker, "BTCUSDT").await];
    assert!(next(&mut feeds[0]).await.is_some());
    assert!(next(&mut feeds[1]).await.is_some());
    let mut has_ended = false;
    for second in 1..=30_i64 {
        clock.set(START + 40 * 60_000 + second * 1_000);
        assert!(next(&mut feeds[1]).await.is_some(), "the other continues");
        // The first feed has no prices, so it ends after one second of silence, checked every half second.
        pass(Duration::from_millis(100)).await;
        has_ended = has_ended || has_ended_by_now(&mut feeds[0]).await;
        assert!(has_ended || second < 20, "it is silent");
    }
    assert!(has_ended);
}

#[tokio::test]
async fn stream_requires_the_key_and_a_known_pair() {
    let (sandbox, clock, broker) = start("none").await;
    let refused = subscribe_error(&stream_client(&sandbox, &clock, "another-key")).await;
    assert!(matches!(&refused, BrokerError::Credentials { .. }), "{refused}");
    assert!(!refused.to_string().contains("another-key"));
    let Err(unknown) = broker.subscribe(&symbol("NOPE")).await else { panic!("no price of it comes") };
    assert!(unknown.to_string().contains("no NOPE price within 1000 ms"), "{unknown}");
}
