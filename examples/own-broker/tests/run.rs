//! Sessions with the broker open and settle trades, with polled and with streamed prices.

#![allow(clippy::unwrap_used, reason = "helper functions of tests")]

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
fn session_on_polled_prices_settles_trades() {
    check("sine", CONFIG);
}

#[test]
fn session_on_streamed_prices_decides_between_candles() {
    let config = CONFIG.replace("rsi-reversal", "price-turns").replace("params = { period = 5 }\n", "");
    let decided = check("sine-stream", &config);
    assert!(decided.iter().any(|at| at % 60_000 != 0), "no trade between candles: {decided:?}");
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
fn unknown_broker_is_reported_with_the_known_ones() {
    let text = refused("cosine", CONFIG);
    assert!(text.contains("cosine") && text.contains("sine-stream"), "{text}");
}

#[test]
fn failed_connection_is_reported_with_its_reason() {
    let text = refused("sine", &CONFIG.replace("SINE", "COSINE"));
    assert!(text.contains("there is no symbol COSINE, only SINE"), "{text}");
}

#[tokio::test]
async fn only_the_streamed_market_streams() {
    let (config, symbol) = (Config::default(), "SINE".parse().unwrap());
    assert!(polled(&config).unwrap().market.subscribe(&symbol).await.unwrap().is_none());
    let streamed: std::sync::Arc<dyn MarketData> = streamed(&config).unwrap().market;
    let mut feed = streamed.subscribe(&symbol).await.unwrap().expect("it streams");
    let ((first, held), then) = (feed.next().await.unwrap(), feed.next());
    drop(held);
    let (second, _) = then.await.unwrap();
    assert_eq!((second.time - first.time).get(), 1_000);
}
