//! The same over sockets: scripted servers that answer over HTTP, and whose answers get lost on the way.

use super::Download;
use super::model::{Dice, FIRST, Server, any_server};
use super::properties::{all, candles, minutes, settings, truth};
use crate::clock::SystemClock;
use crate::model::{CandleQuery, CandleRow};
use crate::{Credentials, HttpVenue, Secret, Settings};
use candlewick_sdk::{Interval, Millis, Symbol};
use chrono::DateTime;
use proptest::prelude::*;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// What becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Arrives,
    /// A refusal comes in its place.
    Refused(u16),
    /// The connection ends in the middle of it.
    CutOff,
    /// The connection ends before it.
    Lost,
}

fn fate() -> impl Strategy<Value = Fate> {
    use Fate::{Arrives, CutOff, Lost, Refused};
    prop::sample::select(vec![Arrives, Arrives, Arrives, Refused(500), Refused(503), CutOff, Lost])
}

/// Serves until it is dropped. The answers meet the fates in turn, and then from the first again.
async fn serve(listener: TcpListener, server: Server, fates: Vec<Fate>) {
    let (mut dice, mut number) = (Dice(server.seed), 0);
    while let Ok((mut stream, _)) = listener.accept().await {
        while let Some(query) = read_query(&mut stream).await {
            let fate = fates[number % fates.len()];
            number += 1;
            let text = match fate {
                Fate::Refused(status) => http(&server, status, "no"),
                Fate::Arrives | Fate::CutOff | Fate::Lost => {
                    http(&server, 200, &json(&server.answer(&query, &mut dice)))
                }
            };
            let sent = match fate {
                Fate::Arrives | Fate::Refused(_) => text.len(),
                Fate::CutOff => text.len() - 1,
                Fate::Lost => 0,
            };
            if stream.write_all(&text.as_bytes()[..sent]).await.is_err() || sent < text.len() {
                break;
            }
        }
    }
}

fn json(rows: &[CandleRow]) -> String {
    serde_json::to_string(rows).unwrap()
}

/// An answer, dated by the server's clock.
fn http(server: &Server, status: u16, body: &str) -> String {
    let now = DateTime::from_timestamp_millis(server.now).unwrap();
    let date = now.format("%a, %d %b %Y %H:%M:%S GMT");
    format!("HTTP/1.1 {status} Told\r\nDate: {date}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The question of the next request; none when the connection ends.
async fn read_query(stream: &mut TcpStream) -> Option<CandleQuery> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let text = String::from_utf8(head).unwrap();
    let url = Url::parse("http://venue").unwrap().join(text.split(' ').nth(1)?).unwrap();
    assert_eq!(url.path(), "/aggregated-prices/prices");
    let told = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let number = |name: &str| told(name).parse::<i64>().unwrap();
    Some(CandleQuery {
        symbol: Symbol::new(&told("pair")).unwrap(),
        asset_type: told("type"),
        interval: told("interval").parse::<Interval>().unwrap(),
        skip: number("skip") as u64,
        limit: number("limit") as u64,
        start_time: Millis::new(number("startTime")),
        end_time: Millis::new(number("endTime")),
    })
}

fn venue(address: &str) -> HttpVenue {
    let settings = Settings {
        price_url: address.to_owned(),
        requests_per_second: 0.0,
        retry_pause_ms: 1,
        read_attempts: 10,
        ..Settings::default()
    };
    let credentials = Credentials { api_token: None, api_key: Secret::new("key").ok() };
    HttpVenue::new(settings, credentials, Arc::new(SystemClock::new())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn over_sockets_that_lose_answers_the_downloaded_series_is_the_true_one(
        server in any_server(), limit in 7_u64..40, start in -5_i64..30, length in 0_i64..70,
        fates in prop::collection::vec(fate(), 1..8),
    ) {
        // The caller's clock is that of the world, far ahead: only a date tells it what has closed.
        let server = Server { is_dated: true, ..server };
        let fates = [fates, vec![Fate::Arrives]].concat();
        let range = FIRST + start..FIRST + start + length;
        let expected = truth(&server, &range);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let windows = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(serve(listener, server, fates));
            all(Download::new(Arc::new(venue(&address)), settings(limit), vec![minutes(range)])).await
        });
        prop_assert_eq!(candles(&windows.unwrap()), expected);
    }
}
