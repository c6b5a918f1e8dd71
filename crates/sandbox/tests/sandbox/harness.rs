//! Test harness: a sandbox with simple prices and a manual clock, and requests to it.

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use candlewick_api::{Credentials, HttpBroker, Secret, Settings};
use candlewick_broker::clock::{Clock, Hold};
use candlewick_sandbox::{
    FaultSwitchboard, Replies, RunningSandbox, Sandbox, SandboxInputs, SandboxSettings, build_markets,
};
use candlewick_sdk::{Candle, CandleSeries, Millis, Money, MoneyScale, Ohlcv, Series};
use candlewick_simulator::SimulationSettings;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;
use tower::ServiceExt;

pub(crate) const START: i64 = 1_699_999_200_000;
pub(crate) const NOON: i64 = START + 30 * 60_000;

pub(crate) struct ManualClock {
    time: watch::Sender<i64>,
}

impl ManualClock {
    pub(crate) fn at(time: i64) -> Arc<Self> {
        Arc::new(Self { time: watch::channel(time).0 })
    }

    pub(crate) fn set(&self, time: i64) {
        self.time.send_replace(time);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Millis {
        Millis::new(*self.time.borrow())
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        let mut time = self.time.subscribe();
        time.wait_for(|time| *time >= at.get()).await.expect("the clock lives as long as its sleepers");
        Hold::none()
    }

    fn hold(&self) -> Hold {
        Hold::none()
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

/// Returns candles of `interval` seconds from START on. `open_of` is the open of each, `None` for a gap.
/// Each closes at the next open. High and low are one beyond open and close, and the volume is one per second.
pub(crate) fn candles(
    symbol: &str,
    interval: &str,
    count: i64,
    open_of: impl Fn(f64) -> Option<f64>,
) -> CandleSeries {
    let series = Series { symbol: symbol.parse().unwrap(), interval: interval.parse().unwrap() };
    let length = series.interval.length();
    let minutes = length.get() as f64 / 60_000.0;
    let candle = |index: i64| {
        let open = open_of(index as f64 * minutes)?;
        let close = open_of((index + 1) as f64 * minutes).unwrap_or(open);
        let (high, low) = (open.max(close) + 1.0, open.min(close) - 1.0);
        let numbers = Ohlcv { open, high, low, close, volume: minutes * 60.0 };
        Some(Candle::new(Millis::new(START) + length * index, series.interval, numbers).unwrap())
    };
    CandleSeries::new(series, (0..count).filter_map(candle).collect::<Vec<_>>()).unwrap()
}

/// Returns five pairs over two hours. BTCUSDT starts at 100 and rises by 1 per minute. ETHUSDT starts at
/// 500 and falls by 1 per minute. EURUSD stays at 50 and has no candles in minutes 40 to 44. XRPUSDT is
/// like BTCUSDT, but has minute and second candles. "A&B/C D" is like BTCUSDT.
pub(crate) fn stored() -> Vec<CandleSeries> {
    vec![
        candles("BTCUSDT", "1m", 120, |minute| Some(100.0 + minute)),
        candles("ETHUSDT", "1m", 120, |minute| Some(500.0 - minute)),
        candles("EURUSD", "1m", 120, |minute| Some(50.0).filter(|_| !(40.0..45.0).contains(&minute))),
        candles("XRPUSDT", "1m", 120, |minute| Some(100.0 + minute)),
        candles("XRPUSDT", "1s", 7_200, |minute| Some(100.0 + minute)),
        candles("A&B/C D", "1m", 120, |minute| Some(100.0 + minute)),
    ]
}

pub(crate) struct Premises {
    pub(crate) settings: SandboxSettings,
    pub(crate) simulation: SimulationSettings,
    pub(crate) time: i64,
}

impl Default for Premises {
    fn default() -> Self {
        let settings = SandboxSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            replies: Replies::AtOnce,
            ..SandboxSettings::default()
        };
        Self { settings, simulation: SimulationSettings::default(), time: NOON }
    }
}

impl Premises {
    pub(crate) fn with(change: impl FnOnce(&mut SandboxSettings)) -> Self {
        let mut premises = Self::default();
        change(&mut premises.settings);
        premises
    }

    pub(crate) fn with_faults(profile: &str) -> Self {
        Self::with(|settings| settings.faults = profile.parse().unwrap())
    }

    pub(crate) async fn running(self) -> (RunningSandbox, Arc<ManualClock>) {
        let (sandbox, clock) = self.sandbox();
        (sandbox.bind(std::future::pending()).await.unwrap(), clock)
    }

    pub(crate) fn sandbox(self) -> (Sandbox, Arc<ManualClock>) {
        let clock = ManualClock::at(self.time);
        (self.sandbox_over(Arc::clone(&clock) as Arc<dyn Clock>), clock)
    }

    pub(crate) fn sandbox_over(self, clock: Arc<dyn Clock>) -> Sandbox {
        let series = stored();
        let foundation = SandboxInputs {
            clock,
            markets: build_markets(&series),
            series,
            simulation: self.simulation,
            balance: Money::from_minor(1_000_000),
            scale: MoneyScale::default(),
        };
        Sandbox::new(self.settings, foundation).unwrap()
    }

    pub(crate) fn venue(self) -> TestVenue {
        let (sandbox, clock) = self.sandbox();
        TestVenue { router: sandbox.router(), clock, switchboard: sandbox.switchboard() }
    }
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) fn venue() -> TestVenue {
    Premises::default().venue()
}

pub(crate) fn client<C: Clock + 'static>(
    sandbox: &RunningSandbox,
    clock: &Arc<C>,
    key: &str,
    change: impl FnOnce(&mut Settings),
) -> HttpBroker {
    let mut settings = Settings {
        base_url: sandbox.base_url.clone(),
        price_url: sandbox.base_url.clone(),
        requests_per_second: 0.0,
        ..Settings::default()
    };
    change(&mut settings);
    let (api_token, api_key) = (Secret::new(&sandbox.token).ok(), Secret::new(key).ok());
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    HttpBroker::new(settings, Credentials { api_token, api_key }, clock).unwrap()
}

pub(crate) struct TestVenue {
    pub(crate) router: Router,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) switchboard: Arc<FaultSwitchboard>,
}

pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn fields(&self) -> Vec<String> {
        fields_of(&self.json())
    }
}

pub(crate) fn fields_of(value: &Value) -> Vec<String> {
    value.as_object().unwrap_or_else(|| panic!("not an object: {value}")).keys().cloned().collect()
}

pub(crate) fn sorted(names: &str) -> Vec<String> {
    let mut names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    names.sort();
    names
}

pub(crate) const CREDENTIALS: [(&str, &str); 3] =
    [("api-token", "sandbox-token"), ("api-key", "sandbox-key"), ("x-timestamp", "1700000000000")];

impl TestVenue {
    pub(crate) async fn try_send(&self, request: Request<Body>) -> Option<Answered> {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 24).await.ok()?;
        Some(Answered { status, headers, text: String::from_utf8_lossy(&bytes).into_owned() })
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answered {
        self.try_send(request).await.expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str) -> Answered {
        self.send(request("GET", path, &CREDENTIALS, &Value::Null)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answered {
        self.send(request("POST", path, &CREDENTIALS, &body)).await
    }

    pub(crate) async fn open(&self, symbol: &str, direction: &str) -> Value {
        let answer = self.post("/token/trades/open", body(symbol, direction)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }

    pub(crate) async fn balance(&self) -> f64 {
        let wallets = self.get("/token/wallets").await.json();
        let demo = wallets.as_array().unwrap().iter().find(|wallet| wallet["type"] == "DEMO").unwrap();
        demo["balance"].as_f64().unwrap()
    }

    pub(crate) async fn full_rows(&self) -> Vec<Value> {
        let user = self.get("/token/users/me").await.json()["id"].as_str().unwrap().to_owned();
        let page = self.get(&format!("/token/trades?page=1&pageSize=100&userId={user}")).await.json();
        page["data"].as_array().unwrap().clone()
    }
}

pub(crate) fn body(symbol: &str, direction: &str) -> Value {
    serde_json::json!({
        "isDemo": true, "closeType": "01:00", "direction": direction, "symbol": symbol, "amount": 10.0,
    })
}

/// Returns the error envelope of trade and user endpoints (contract 5, rule 2).
pub(crate) fn envelope(status: u16, path: &str, message: &str, error: &str) -> Value {
    serde_json::json!({
        "statusCode": status,
        "status": "error",
        "timestamp": "2023-11-14T22:30:00.000Z",
        "path": path,
        "data": { "message": message, "error": error, "statusCode": status },
    })
}

/// Returns the error body of the wallet endpoint and the symbol price API (contract 5, rule 3).
pub(crate) fn plain(status: u16, message: &str) -> Value {
    serde_json::json!({ "statusCode": status, "message": message })
}

pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if body.is_null() {
        return request.body(Body::empty()).unwrap();
    }
    request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn assert_holds(value: &Value, expected: &Value) {
    for (field, expected) in expected.as_object().unwrap() {
        assert_eq!(value[field], *expected, "{field} of {value}");
    }
}

pub(crate) fn assert_close(left: &Value, right: f64) {
    let value = left.as_f64().unwrap_or_else(|| panic!("not a number: {left}"));
    assert!((value - right).abs() < 1e-9, "{value} is not {right}");
}
