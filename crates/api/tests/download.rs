//! Downloads over sockets: scripted servers that answer over HTTP, and whose answers get lost on the way.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

use candlewick_api::{Credentials, HttpBroker, Secret, Settings};
use candlewick_broker::clock::SystemClock;
use candlewick_broker::testing::{Dice, FIRST_MINUTE as FIRST, Server, any_server};
use candlewick_broker::{BrokerError, CandleRow, Download, DownloadSettings};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use chrono::DateTime;
use proptest::prelude::*;
use serde_json::json;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Arrives,
    Refused(u16),
    CutOff,
    Lost,
}

fn end() -> impl Strategy<Value = End> {
    use End::{Arrives, CutOff, Lost, Refused};
    prop::sample::select(vec![Arrives, Arrives, Arrives, Refused(500), Refused(503), CutOff, Lost])
}

/// Serves until it is dropped. The answers end so in turn, and then from the first again.
async fn serve(listener: TcpListener, server: Server, ends: Vec<End>) {
    let (mut dice, mut number) = (Dice::new(server.seed), 0);
    while let Ok((mut stream, _)) = listener.accept().await {
        while let Some((question, limit)) = read_question(&mut stream).await {
            let end = ends[number % ends.len()];
            number += 1;
            let text = match end {
                End::Refused(status) => http(&server, status, "no"),
                End::Arrives | End::CutOff | End::Lost => {
                    http(&server, 200, &rows(&server.answer(question, limit, &mut dice)))
                }
            };
            let sent = match end {
                End::Arrives | End::Refused(_) => text.len(),
                End::CutOff => text.len() - 1,
                End::Lost => 0,
            };
            if stream.write_all(&text.as_bytes()[..sent]).await.is_err() || sent < text.len() {
                break;
            }
        }
    }
}

fn rows(rows: &[CandleRow]) -> String {
    let row = |row: &CandleRow| {
        let prices = row.prices;
        json!({
            "volume": prices.volume, "openPrice": prices.open, "closePrice": prices.close,
            "highPrice": prices.high, "lowPrice": prices.low, "time": row.time.get(),
        })
    };
    serde_json::Value::from(rows.iter().map(row).collect::<Vec<_>>()).to_string()
}

fn http(server: &Server, status: u16, body: &str) -> String {
    let now = DateTime::from_timestamp_millis(server.now).unwrap();
    let date = now.format("%a, %d %b %Y %H:%M:%S GMT");
    format!("HTTP/1.1 {status} Status\r\nDate: {date}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The window of the next request and its limit; none when the connection ends.
async fn read_question(stream: &mut TcpStream) -> Option<((Millis, Millis), usize)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let text = String::from_utf8(head).unwrap();
    let url = Url::parse("http://venue").unwrap().join(text.split(' ').nth(1)?).unwrap();
    assert_eq!(url.path(), "/aggregated-prices/prices");
    let number =
        |name: &str| -> i64 { url.query_pairs().find(|(key, _)| key == name).unwrap().1.parse().unwrap() };
    let window = (Millis::new(number("startTime")), Millis::new(number("endTime")));
    Some((window, number("limit").unsigned_abs() as usize))
}

fn truth(server: &Server, range: &Range<i64>) -> Vec<Candle> {
    let has_closed = |minute: &i64| (minute + 1) * 60_000 <= server.now;
    let inside = server.present.iter().copied().filter(|minute| range.contains(minute)).filter(has_closed);
    let candle = |row: CandleRow| Candle::new(row.time, Interval::MINUTE, row.prices).ok();
    inside.filter_map(|minute| candle(server.row(minute))).collect()
}

async fn all(mut download: Download) -> Result<Vec<Candle>, BrokerError> {
    let mut candles = Vec::new();
    while let Some(window) = download.next().await? {
        candles.extend(window.candles);
    }
    Ok(candles)
}

fn broker(address: &str) -> HttpBroker {
    let settings = Settings {
        price_url: address.to_owned(),
        requests_per_second: 0.0,
        retry_pause_ms: 1,
        read_attempts: 10,
        ..Settings::default()
    };
    let credentials = Credentials { api_token: None, api_key: Secret::new("key").ok() };
    HttpBroker::new(settings, credentials, Arc::new(SystemClock::new())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn over_sockets_that_lose_answers_the_downloaded_series_is_the_true_one(
        server in any_server(), limit in 7_u64..40, start in -5_i64..30, length in 0_i64..70,
        ends in prop::collection::vec(end(), 1..8),
    ) {
        // The caller's clock is that of the world, far ahead: only a date tells it what has closed.
        let server = Server { is_dated: true, ..server };
        let ends = [ends, vec![End::Arrives]].concat();
        let range = FIRST + start..FIRST + start + length;
        let expected = truth(&server, &range);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(serve(listener, server, ends));
            let settings = DownloadSettings {
                symbol: Symbol::new("BTCUSDT").unwrap(),
                interval: Interval::MINUTE,
                limit,
                spacing: Duration::ZERO,
            };
            let range = Millis::MINUTE * range.start..Millis::MINUTE * range.end;
            all(Download::new(Arc::new(broker(&address)), settings, vec![range])).await
        });
        prop_assert_eq!(found.unwrap(), expected);
    }
}
