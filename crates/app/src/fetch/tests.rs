//! Property test: after interrupted downloads, an uninterrupted one completes the series.

use super::{CandleJob, Fetcher, ProgressMeter, SourceMixing, Target, fetch_candles};
use crate::progress::NoProgress;
use async_trait::async_trait;
use candlewick_broker::clock::SystemClock;
use candlewick_broker::{AsOf, BrokerError, CandleQuery, CandleRow, Candles, MarketData, PriceAnswer, Reply};
use candlewick_history::{Catalog, series_hash};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series, Symbol};
use proptest::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const MINUTE: i64 = 60_000;
/// 2026-01-30 20:00 UTC in minutes. The catalog starts a new file on the second day.
const FIRST: i64 = 29_496_720;
const MINUTES: i64 = 4_000;

#[derive(Clone, Copy, Debug)]
enum End {
    LeftAlone,
    Stopped(usize),
    Refused(usize),
    Killed(usize),
}

#[derive(Clone, Debug)]
struct Run {
    from: Option<i64>,
    length: i64,
    now: i64,
    again: bool,
    limit: u64,
    batch: usize,
    end: End,
}

struct Scripted {
    present: Vec<i64>,
    cap: usize,
    keeps_newest: bool,
    now: i64,
    end: End,
    requests: AtomicUsize,
    stop: CancellationToken,
    is_dead: Notify,
}

fn row(minute: i64, now: i64) -> CandleRow {
    let is_forming = (minute + 1) * MINUTE > now;
    let close_price = if is_forming { 1.5 } else { 1.0 + (minute % 7) as f64 };
    let time = Millis::MINUTE * minute;
    let prices = Ohlcv { open: 1.0, high: 9.0, low: 0.5, close: close_price, volume: 0.0 };
    CandleRow { time, prices }
}

#[async_trait]
impl MarketData for Scripted {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        match self.end {
            End::Stopped(at) if number == at => self.stop.cancel(),
            End::Refused(at) if number == at => {
                return Err(BrokerError::Credentials { text: "the key has expired".into() });
            }
            End::Killed(at) if number == at => {
                self.is_dead.notify_one();
                return std::future::pending().await;
            }
            _ => {}
        }
        let is_inside = |minute: &&i64| {
            let time = Millis::MINUTE * **minute;
            (query.start..query.end).contains(&time) && time.get() <= self.now
        };
        let rows = self.present.iter().filter(is_inside).map(|minute| row(*minute, self.now));
        let rows: Vec<CandleRow> = if self.keeps_newest {
            rows.rev().take(self.cap).collect()
        } else {
            rows.take(self.cap).collect()
        };
        let now = Millis::new(self.now);
        Ok(Reply::without_latency(Candles::from_rows(&rows, query, now), now))
    }

    async fn price(&self, _: &Symbol, _: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        Err(BrokerError::NotFound { text: "not requested".into() })
    }
}

fn series() -> Series {
    Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE }
}

fn expected_candles(present: &[i64], now: i64) -> Vec<Candle> {
    let closed = present.iter().filter(|minute| (*minute + 1) * MINUTE <= now);
    let candle = |minute: &i64| {
        let CandleRow { time, prices } = row(*minute, now);
        Candle::new(time, Interval::MINUTE, prices).unwrap()
    };
    closed.map(candle).collect()
}

async fn fetch_once(run: &Run, venue: Arc<Scripted>, catalog: Catalog, kind: &str) -> bool {
    let fetching = Fetcher {
        market: Arc::clone(&venue) as _,
        clock: Arc::new(SystemClock::new()),
        catalog,
        source: "script".into(),
        price_url: "script".into(),
        mixing: SourceMixing::Refused,
        stop: venue.stop.clone(),
        meter: Arc::new(Mutex::new(ProgressMeter { bar: Box::new(NoProgress), done: 0, total: 0 })),
    };
    let from = run.from.map_or(FIRST, |from| FIRST + from);
    let to = if matches!(run.end, End::LeftAlone) { FIRST + MINUTES } else { from + run.length };
    let job = CandleJob {
        target: Target { series: series(), asset_type: kind.into() },
        from: run.from.map(|from| Millis::MINUTE * (FIRST + from)),
        to: Some(Millis::MINUTE * to),
        refetch: run.again,
        limit: run.limit,
        spacing: Duration::ZERO,
        batch: run.batch,
    };
    tokio::select! {
        (_, outcome) = fetch_candles(job, fetching) => outcome.is_ok(),
        () = venue.is_dead.notified() => false,
    }
}

fn run() -> impl Strategy<Value = Run> {
    let end = prop_oneof![
        (0_usize..5).prop_map(End::Stopped),
        (0_usize..5).prop_map(End::Refused),
        (0_usize..5).prop_map(End::Killed),
    ];
    let range = (prop::option::of(0..MINUTES - 50), 1..MINUTES, 0..MINUTES * MINUTE);
    (range, any::<bool>(), 100_u64..1_000, 200_usize..1_500, end).prop_map(
        |((from, length, now), again, limit, batch, end)| Run { from, length, now, again, limit, batch, end },
    )
}

async fn check(runs: &[Run], present: &[i64], (cap, keeps_newest): (usize, bool), kind: &str, folder: &Path) {
    let mut now = 0;
    for run in runs {
        now = now.max(FIRST * MINUTE + run.now);
        let venue = Scripted {
            present: present.to_vec(),
            cap,
            keeps_newest,
            now,
            end: run.end,
            requests: AtomicUsize::new(0),
            stop: CancellationToken::new(),
            is_dead: Notify::new(),
        };
        let went_well = fetch_once(run, Arc::new(venue), Catalog::new(folder), kind).await;
        assert!(went_well || !matches!(run.end, End::LeftAlone));
    }
    let (catalog, expected) = (Catalog::new(folder), expected_candles(present, now));
    assert_eq!(catalog.revisions(series()).unwrap(), []);
    let Some(manifest) = catalog.manifest(series()).unwrap() else {
        assert!(expected.is_empty(), "nothing of {} candles", expected.len());
        return;
    };
    assert_eq!(catalog.read(series()).unwrap().candles().candles(), expected);
    let hash = series_hash(&CandleSeries::new(series(), expected).unwrap());
    assert_eq!(manifest.current_version().unwrap().data_hash, hash.to_hex().as_str());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn uninterrupted_fetch_completes_the_series_after_interrupted_ones(
        mut runs in prop::collection::vec(run(), 0..5),
        last in run(),
        holes in prop::collection::btree_set(0..MINUTES, 0..40),
        closed in (0..MINUTES, 0_i64..3_500),
        cap in 100_usize..1_000,
        keeps_newest in any::<bool>(),
        // The range includes a weekend. This venue may have forex candles on weekends.
        kind in prop::sample::select(vec!["crypto", "forex"]),
    ) {
        runs.push(Run { from: Some(0), again: false, end: End::LeftAlone, ..last });
        let is_open = |minute: &i64| !holes.contains(minute) && !(closed.0..closed.0 + closed.1).contains(minute);
        let present: Vec<i64> = (0..MINUTES).filter(is_open).map(|minute| FIRST + minute).collect();
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(&runs, &present, (cap, keeps_newest), kind, folder.path()));
    }
}
