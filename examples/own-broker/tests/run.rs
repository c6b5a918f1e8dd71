//! A session with the broker opens trades and settles them, whether its prices are asked for or stream.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

use candlewick_broker::MarketData;
use candlewick_cli::Config;
use own_broker::{polled, streamed};
use std::process::Command;

const CONFIG: &str = "[[bots]]\nname = \"waves\"\nsymbol = \"SINE\"\ninterval = \"1m\"\n\
    strategy = \"rsi-reversal\"\nclose_type = \"05:00\"\nparams = { period = 5 }\n";

fn check(broker: &str, config: &str) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bots.toml"), config).unwrap();
    let trades = folder.path().join("trades.csv");
    let output = Command::new(env!("CARGO_BIN_EXE_own-broker"))
        .args(["live", "--broker", broker, "--config", "bots.toml", "--trades", "trades.csv"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    let rows = std::fs::read_to_string(trades).unwrap();
    let settled = rows.lines().skip(1).filter(|row| row.contains(",WON,") || row.contains(",LOST,")).count();
    assert!(settled >= 10 && settled == rows.lines().count() - 1, "{rows}\n{text}");
    let place = rows.lines().next().unwrap().split(',').position(|name| name == "decision_time").unwrap();
    rows.lines().skip(1).map(|row| row.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_session_on_polled_prices_opens_and_settles_trades() {
    check("sine", CONFIG);
}

#[test]
fn a_session_on_prices_that_only_stream_decides_between_candles() {
    let config = CONFIG.replace("rsi-reversal", "price-turns").replace("params = { period = 5 }\n", "");
    let decided = check("sine-stream", &config);
    assert!(decided.iter().any(|at| at % 60_000 != 0), "none between candles: {decided:?}");
}

fn refused(broker: &str, config: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bots.toml"), config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_own-broker"))
        .args(["live", "--broker", broker, "--config", "bots.toml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{text}");
    text
}

#[test]
fn a_broker_that_does_not_exist_is_named_with_those_that_do() {
    let text = refused("cosine", CONFIG);
    assert!(text.contains("cosine") && text.contains("sine-stream"), "{text}");
}

#[test]
fn a_broker_that_cannot_be_connected_to_says_why() {
    let text = refused("sine", &CONFIG.replace("SINE", "COSINE"));
    assert!(text.contains("there is no COSINE, only SINE"), "{text}");
}

#[tokio::test]
async fn one_market_streams_and_the_other_is_asked() {
    let (config, symbol) = (Config::default(), "SINE".parse().unwrap());
    assert!(polled(&config).unwrap().market.subscribe(&symbol).await.unwrap().is_none());
    let streamed: std::sync::Arc<dyn MarketData> = streamed(&config).unwrap().market;
    let mut feed = streamed.subscribe(&symbol).await.unwrap().expect("it streams");
    let ((first, held), then) = (feed.next().await.unwrap(), feed.next());
    drop(held);
    let (second, _) = then.await.unwrap();
    assert_eq!((second.time - first.time).get(), 1_000);
}
