//! Lower bound of latency: a bare request of the same HTTP library, and a bare commit.

#[path = "../../../journal/benches/commit/bare.rs"]
mod bare;

use crate::server::Server;
use crate::{Pace, WARM_UP};
use bare::BareTable;
use reqwest::{Client, ClientBuilder, redirect, retry};
use std::path::Path;
use std::time::{Duration, Instant};

const BODY: &str = r#"{"isDemo":true,"closeType":"01:00","direction":"BUY","symbol":"BTCUSDT","amount":10}"#;

#[derive(Default)]
pub(crate) struct Floor {
    pub(crate) back_to_back: Posts,
    pub(crate) kept: Posts,
    pub(crate) fresh: Posts,
    pub(crate) commit: Times,
}

#[derive(Default)]
pub(crate) struct Posts {
    pub(crate) first_byte: Times,
    pub(crate) answer: Times,
}

impl Floor {
    pub(crate) async fn post_back_to_back(&mut self, server: &Server, count: usize) {
        let client = base().build().unwrap();
        for number in 0..count + WARM_UP {
            let posts = (number >= WARM_UP).then_some(&mut self.back_to_back);
            post(server, &client, posts).await;
        }
    }

    pub(crate) async fn accompany(&mut self, server: &Server, file: &Path, pace: Pace) {
        let fresh = base().retry(retry::never()).http1_only().pool_max_idle_per_host(0);
        let (kept, fresh) = (base().build().unwrap(), fresh.build().unwrap());
        let mut table = BareTable::create(&format!("sqlite:{}?mode=rwc", file.display())).await;
        for number in 0..pace.count + WARM_UP {
            let is_warm = number >= WARM_UP;
            let candle = pace.began + pace.minute * number as u32;
            tokio::time::sleep_until((candle + pace.minute / 4).into()).await;
            post(server, &kept, is_warm.then_some(&mut self.kept)).await;
            tokio::time::sleep_until((candle + pace.minute / 2).into()).await;
            let time = table.commit((1_700_000_000_000, 1_700_000_000_005), BODY).await;
            self.commit.0.extend(is_warm.then_some(time));
            tokio::time::sleep_until((candle + pace.minute * 3 / 4).into()).await;
            post(server, &fresh, is_warm.then_some(&mut self.fresh)).await;
        }
    }
}

fn base() -> ClientBuilder {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().redirect(redirect::Policy::none()).no_proxy().timeout(Duration::from_secs(5))
}

async fn post(server: &Server, client: &Client, into: Option<&mut Posts>) {
    let url = format!("{}/token/trades/open", server.address);
    let begun = Instant::now();
    let request = client.post(&url).header("content-type", "application/json").header("api-token", "token");
    let answer = request.body(BODY).send().await.unwrap().bytes().await.unwrap();
    let ended = begun.elapsed();
    let arrivals = server.take_arrivals();
    assert_eq!((arrivals.len(), answer.is_empty()), (1, false));
    if let Some(posts) = into {
        posts.first_byte.0.push(arrivals[0] - begun);
        posts.answer.0.push(ended);
    }
}

#[derive(Default)]
pub(crate) struct Times(pub(crate) Vec<Duration>);

impl Times {
    pub(crate) fn at(&self, share: f64) -> f64 {
        let mut times = self.0.clone();
        times.sort_unstable();
        let place = (times.len().saturating_sub(1) as f64 * share) as usize;
        times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }

    pub(crate) fn median(&self) -> f64 {
        self.at(0.5)
    }
}
