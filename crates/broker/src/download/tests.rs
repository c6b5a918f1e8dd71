//! Property tests: for any paging of a server, a download is correct or fails.

mod server;

use super::{Download, DownloadSettings, DownloadedWindow};
use crate::{BrokerError, CandleRow, Candles, MarketData, MockMarketData, Reply};
use candlewick_sdk::{Candle, Interval, Millis, Symbol};
use proptest::prelude::*;
use server::{Cut, FIRST_MINUTE as FIRST, MINUTES, Order, Server, any_server};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn settings(limit: u64) -> DownloadSettings {
    DownloadSettings {
        symbol: Symbol::new("BTCUSDT").unwrap(),
        interval: Interval::MINUTE,
        candles_per_request: limit,
        spacing: Duration::ZERO,
    }
}

fn minutes(range: Range<i64>) -> Range<Millis> {
    Millis::MINUTE * range.start..Millis::MINUTE * range.end
}

async fn all(mut download: Download) -> Result<Vec<DownloadedWindow>, BrokerError> {
    let mut windows = Vec::new();
    while let Some(window) = download.next().await? {
        windows.push(window);
    }
    Ok(windows)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

fn candles(windows: &[DownloadedWindow]) -> Vec<Candle> {
    windows.iter().flat_map(|window| window.candles.iter().copied()).collect()
}

fn truth(server: &Server, range: &Range<i64>) -> Vec<Candle> {
    let has_closed = |minute: &i64| (minute + 1) * 60_000 <= server.now;
    let candle = |row: CandleRow| Candle::new(row.time, Interval::MINUTE, row.prices).ok();
    let inside = server.present.iter().copied().filter(|minute| range.contains(minute)).filter(has_closed);
    inside.filter_map(|minute| candle(server.row(minute))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn downloads_the_true_series(
        server in any_server(), limit in 7_u64..40, start in -5_i64..30, length in 0_i64..70,
    ) {
        let range = FIRST + start..FIRST + start + length;
        let expected = truth(&server, &range);
        let (market, questions) = server.market();
        let download = Download::new(market, settings(limit), vec![minutes(range)]);
        let windows = run(all(download)).unwrap();
        prop_assert_eq!(candles(&windows), expected);
        let counted: u64 = windows.iter().map(|window| window.requests).sum();
        let questions = questions.lock().unwrap();
        let asked = questions.len();
        prop_assert!(asked as i64 <= 3 * (MINUTES + 20), "{} requests", asked);
        prop_assert!((counted as usize..=counted as usize + 1).contains(&asked), "one request may be a probe");
        prop_assert_eq!(questions.iter().collect::<HashSet<_>>().len(), asked, "a request was repeated");
    }
}

fn plain(present: impl Iterator<Item = i64>) -> Server {
    Server {
        present: present.collect(),
        now: (FIRST + 100_000) * 60_000,
        caller_ahead: 0,
        is_dated: true,
        cap: 1_000,
        order: Order::Ascending,
        cut: Cut::Oldest,
        includes_start: true,
        includes_end: true,
        overlap: 0,
        longest: i64::MAX,
        copies: 1,
        sends_forming: true,
        unsound: Vec::new(),
        seed: 1,
    }
}

fn check_requests(server: Server, limit: u64, range: Range<i64>, candles_there: usize, expected: usize) {
    let (market, questions) = server.market();
    let download = Download::new(market, settings(limit), vec![minutes(range)]);
    let windows = run(all(download)).unwrap();
    assert_eq!((candles(&windows).len(), questions.lock().unwrap().len()), (candles_there, expected));
}

#[test]
fn requests_each_window_once_and_detects_silent_limits_once() {
    check_requests(plain(FIRST..FIRST + 10_000), 1_000, FIRST..FIRST + 10_000, 10_000, 10);
    for cut in [Cut::Oldest, Cut::Newest] {
        // Two or three answers for the first window. After that, windows are as long as answers.
        for (cap, longest, requests) in [(500, i64::MAX, 2 + 4), (1_000, 400, 8)] {
            let server = Server { cap, cut, longest, ..plain(FIRST..FIRST + 3_000) };
            check_requests(server, 1_000, FIRST..FIRST + 3_000, 3_000, requests);
        }
    }
}

#[test]
fn closed_days_cost_few_requests() {
    // Four days with candles from 1:00 to 23:00, then an empty month.
    let days = (0..4).flat_map(|day| (60..1_380).map(move |minute| FIRST + day * 1_440 + minute));
    let server = plain(days);
    let total = server.present.len();
    let (market, questions) = server.market();
    let download = Download::new(market, settings(1_000), vec![minutes(FIRST..FIRST + 50_000)]);
    let windows = run(all(download)).unwrap();
    assert_eq!(candles(&windows).len(), total);
    assert!(windows.windows(2).all(|pair| pair[0].window.end == pair[1].window.start));
    let questions = questions.lock().unwrap();
    assert!(questions.len() <= 25, "{} requests", questions.len());
    assert_eq!(questions.iter().collect::<HashSet<_>>().len(), questions.len());
}

fn market_of(
    answer: impl Fn(usize) -> Result<Vec<CandleRow>, BrokerError> + Send + 'static,
) -> (Arc<dyn MarketData>, Arc<AtomicUsize>) {
    let (mut mock, count) = (MockMarketData::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    mock.expect_candles().returning(move |query| {
        let rows = answer(counted.fetch_add(1, Ordering::Relaxed))?;
        let now = minutes(0..FIRST + 500_000).end;
        Ok(Reply::without_latency(Candles::from_rows(&rows, query, now), now))
    });
    (Arc::new(mock), count)
}

fn page(minutes: impl Iterator<Item = i64>) -> Vec<CandleRow> {
    let server = plain(std::iter::empty());
    minutes.map(|minute| server.row(minute)).collect()
}

#[test]
fn rejects_server_that_ignores_the_window() {
    for (first, count) in [(10, 1), (10, 2), (10, 100), (-500, 7), (5_000, 1_000)] {
        for length in [50, 100_000] {
            let (market, requests) = market_of(move |_| Ok(page(FIRST + first..FIRST + first + count)));
            let download = Download::new(market, settings(1_000), vec![minutes(FIRST..FIRST + length)]);
            let outcome = run(all(download));
            if outcome.is_ok() {
                assert_eq!((first, count, length), (10, 100, 50));
            }
            let problem = outcome.unwrap_err().to_string();
            assert!(problem.contains("for any window"), "{problem}");
            let asked = requests.load(Ordering::Relaxed);
            assert!(asked <= 10, "{asked} requests for {count} rows at {first}");
        }
    }
}

#[test]
fn rejects_answer_with_only_unreadable_rows() {
    let mut market = MockMarketData::new();
    let unreadable = Candles { unusable_rows: 3, ..Candles::default() };
    market
        .expect_candles()
        .returning(move |_| Ok(Reply::without_latency(unreadable.clone(), Millis::DAY * 30_000)));
    let download = Download::new(Arc::new(market), settings(1_000), vec![minutes(FIRST..FIRST + 10)]);
    let problem = run(all(download)).unwrap_err().to_string();
    assert!(problem.contains("all 3 rows are unreadable"), "{problem}");
}

fn unavailable() -> BrokerError {
    BrokerError::Unavailable { text: "reset".into() }
}

fn limited(seconds: u64) -> BrokerError {
    BrokerError::RateLimited { text: "slow".into(), retry_after: Some(Duration::from_secs(seconds)) }
}

fn missing() -> BrokerError {
    BrokerError::NotFound { text: "pair".into() }
}

#[test]
fn retries_failures_after_the_first_answer_within_limits() {
    let check =
        |trouble: fn(usize) -> Option<BrokerError>, expected: Result<usize, BrokerError>, asked: usize| {
            let (market, requests) = market_of(move |number| match trouble(number) {
                Some(error) => Err(error),
                None => Ok(page(FIRST..FIRST + 20)),
            });
            let download = Download::new(market, settings(10), vec![minutes(FIRST..FIRST + 20)]);
            let outcome = run(all(download)).map(|windows| candles(&windows).len());
            assert_eq!((outcome, requests.load(Ordering::Relaxed)), (expected, asked));
        };
    check(|_| None, Ok(20), 2);
    check(|number| (number == 1 || number == 2).then(unavailable), Ok(20), 4);
    check(|number| (number > 0).then(unavailable), Err(unavailable()), 9);
    check(|_| Some(unavailable()), Err(unavailable()), 1);
    check(|number| (number == 0).then(|| limited(60)), Ok(20), 3);
    check(|_| Some(limited(301)), Err(limited(301)), 1);
    check(|number| (number == 1).then(missing), Err(missing()), 2);
}

#[test]
fn requests_keep_their_spacing() {
    let (market, questions) = plain(FIRST..FIRST + 50).market();
    let settings = DownloadSettings { spacing: Duration::from_secs(1), ..settings(10) };
    let download = Download::new(market, settings, vec![minutes(FIRST..FIRST + 50)]);
    let took = run(async {
        let start = tokio::time::Instant::now();
        all(download).await.unwrap();
        start.elapsed()
    });
    assert_eq!((took, questions.lock().unwrap().len()), (Duration::from_secs(4), 5));
}
