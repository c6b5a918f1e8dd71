//! Number of symbols that fit a request limit, compared with the prediction of [`RequestDemand`].

use crate::prelude::*;
use crate::stage::{Signaller, bot_of, parts, symbol};
use candlewick_api::{
    Body, Credentials, HttpBroker, Purpose, RawResponse, Secret, Settings, Transport, TransportError,
};
use candlewick_broker::clock::Hold;
use candlewick_broker::{PriceFeed, PriceTick};
use candlewick_runtime::RequestDemand;
use reqwest::header::HeaderMap;
use reqwest::{Request, StatusCode};
use serde_json::{Value, json};
use std::collections::HashMap;
use tokio::sync::mpsc;

const CLOSES: usize = 3;
const LAG: Millis = Millis::new(300);
const ROUND_TRIP: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Prices {
    Unwanted,
    Polled,
    Streamed,
}

struct Streaming {
    client: Arc<HttpBroker>,
    clock: SystemClock,
}

#[async_trait]
impl MarketData for Streaming {
    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        self.client.candles(query).await
    }

    async fn price(&self, symbol: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        self.client.price(symbol, as_of).await
    }

    async fn subscribe(&self, _: &Symbol) -> Result<Option<PriceFeed>, BrokerError> {
        let (sender, feed) = PriceFeed::channel(16);
        let clock = self.clock.clone();
        tokio::spawn(async move {
            loop {
                let second = clock.now().floor_to(Millis::SECOND) + Millis::SECOND;
                clock.sleep_until(second + LAG).await;
                if !sender.send(PriceTick { time: second - Millis::new(1), price: 100.0 }, Hold::none()) {
                    return;
                }
            }
        });
        Ok(Some(feed))
    }
}

struct Venue {
    clock: SystemClock,
    trades: Mutex<HashMap<String, (Value, Millis)>>,
}

fn candle(time: i64) -> Value {
    json!({
        "time": time, "openPrice": 100.0, "highPrice": 100.0, "lowPrice": 100.0, "closePrice": 100.0, "volume": 1.0,
    })
}

impl Venue {
    fn candles(&self, request: &Request) -> Value {
        let query: HashMap<_, _> = request.url().query_pairs().collect();
        let at = |key: &str| Millis::new(query[key].parse().unwrap());
        let (first, last) = (at("startTime").floor_to(Millis::MINUTE), at("endTime"));
        let opens = std::iter::successors(Some(first), |open| Some(*open + Millis::MINUTE));
        let is_there = |open: &Millis| *open <= last && *open + Millis::MINUTE + LAG <= self.clock.now();
        opens.take_while(is_there).map(|open| candle(open.get())).collect()
    }

    fn open(&self, request: &Request) -> Value {
        let body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
        let mut trades = self.trades.lock().unwrap();
        let id = format!("01JT{}", trades.len());
        let now = self.clock.now();
        let opens = now.floor_to(Millis::SECOND) + Millis::new(999);
        let closes = opens + Millis::MINUTE;
        let trade = json!({
            "id": id, "isDemo": true, "fromApiToken": true, "symbol": body["symbol"], "amount": body["amount"],
            "direction": body["direction"], "closeType": body["closeType"], "expirationType": "TIME_FIXED", "payout": 80,
            "requestTime": now.get(), "openTime": opens.get(), "openPrice": 100.0, "closeTime": closes.get(),
            "result": "PENDING", "status": "OPEN", "pnl": 0,
        });
        trades.insert(id, (trade.clone(), closes));
        trade
    }

    fn trade(&self, id: &str) -> Value {
        let (mut trade, closes) = self.trades.lock().unwrap()[id].clone();
        if self.clock.now() > closes {
            trade["status"] = json!("COMPLETED");
            trade["result"] = json!("DRAW");
            trade["closePrice"] = json!(100.0);
        }
        trade
    }
}

#[async_trait]
impl Transport for Venue {
    async fn send(&self, _: Purpose, request: Request, _: usize) -> Result<RawResponse, TransportError> {
        tokio::time::sleep(ROUND_TRIP / 2).await;
        let path = request.url().path().to_owned();
        let answer = match path.as_str() {
            "/aggregated-prices/prices" => self.candles(&request),
            "/token/trades/open" => self.open(&request),
            "/token/wallets" => json!([{"id": "w", "userId": "u", "type": "DEMO", "balance": 1_000_000}]),
            "/token/users/me" => json!({"id": "u", "active": true}),
            "/token/trades" => json!({"lastPage": 1, "data": []}),
            "/symbol-price/last" => {
                let query: HashMap<_, _> = request.url().query_pairs().collect();
                let mut price = candle(query["limitTime"].parse().unwrap());
                price["pair"] = json!(query["pair"]);
                price
            }
            other => self.trade(other.rsplit('/').next().unwrap()),
        };
        tokio::time::sleep(ROUND_TRIP / 2).await;
        let body = Body::Whole(answer.to_string().into_bytes());
        Ok(RawResponse { status: StatusCode::OK, headers: HeaderMap::new(), body })
    }
}

fn risk() -> RiskSettings {
    RiskSettings {
        max_open_trades: 0,
        max_open_trades_per_symbol: 0,
        max_trades_per_day: 0,
        daily_loss_limit: Decimal::ZERO,
        max_drawdown_percent: 0.0,
        allow_duplicate: true,
        ..RiskSettings::default()
    }
}

fn bots(count: usize) -> Vec<BotSettings> {
    (0..count).map(|number| bot_of(number, symbol(&format!("S{number}")))).collect()
}

fn demand(symbols: usize, prices: Prices) -> RequestDemand {
    let wants = vec![prices != Prices::Unwanted; symbols];
    let demand = RequestDemand::new(&RuntimeSettings::default(), &risk(), &bots(symbols), &wants);
    demand.with_stream(prices == Prices::Streamed)
}

async fn trade(symbols: usize, per_second: f64, prices: Prices) -> (usize, usize) {
    let clock = SystemClock::new();
    let start = clock.now().floor_to(Millis::MINUTE) + Millis::MINUTE;
    clock.sleep_until(start).await;
    let settings = Settings { requests_per_second: per_second, ..Settings::default() };
    let secret = |text| Secret::new(text).ok();
    let credentials = Credentials { api_token: secret("t"), api_key: secret("k") };
    let venue = Arc::new(Venue { clock: clock.clone(), trades: Mutex::default() });
    let client =
        Arc::new(HttpBroker::with_transport(venue, settings, credentials, Arc::new(clock.clone())).unwrap());
    let closes: Vec<_> = (1..=CLOSES as i64).map(|close| start + Millis::MINUTE * close).collect();
    let strategies = (0..symbols).map(|_| Box::new(Signaller(closes.clone())) as Box<dyn Strategy>).collect();
    let (watcher, mut notices) = NoticeSender::channel(100_000, NoticeFilter::Everything);
    let at = (&client, Arc::new(clock.clone()) as Arc<dyn Clock>);
    let mut parts = parts(at, ("u", 1_000_000), (risk(), bots(symbols)), strategies, vec![watcher]);
    parts.settings.watch_prices = demand(symbols, prices).has_room_for_display_prices(per_second);
    parts.wants_prices.fill(prices != Prices::Unwanted);
    (parts.unrecognised, parts.token) = (client.unrecognised_data(), client.token_state());
    if prices == Prices::Streamed {
        parts.market = Arc::new(Streaming { client: Arc::clone(&client), clock: clock.clone() });
    }
    let runner = Runner::new(parts);
    let (stop, stops) = mpsc::channel(4);
    let (_orders, ordered) = mpsc::channel(1);
    let end = start + Millis::MINUTE * CLOSES as i64 + Millis::from_seconds(30);
    let stopping = tokio::spawn(async move {
        clock.sleep_until(end).await;
        for _ in 0..2 {
            stop.send(StopReason::Interrupted).await.unwrap();
        }
    });
    Box::pin(runner.run(stops, ordered)).await.unwrap();
    stopping.await.unwrap();
    let (mut opened, mut lost) = (0, 0);
    while let Some(received) = notices.try_next() {
        assert_eq!(received.missed, 0);
        if let Notice::Handled { event, actions, .. } = received.notice {
            opened += usize::from(matches!(event.kind, EventKind::Opened(_)));
            lost += usize::from(matches!(event.kind, EventKind::NotSent { .. }));
            lost += actions.iter().filter(|action| matches!(action, Action::Refuse(_))).count();
        }
    }
    (opened, lost)
}

async fn frontier(per_second: f64, prices: Prices) -> usize {
    let (mut full, mut beyond) = (0, 64);
    while full + 1 < beyond {
        let symbols = usize::midpoint(full, beyond);
        let traded = trade(symbols, per_second, prices).await;
        *(if traded == (symbols * CLOSES, 0) { &mut full } else { &mut beyond }) = symbols;
    }
    full
}

#[tokio::test(start_paused = true)]
async fn warning_starts_when_signals_are_lost() {
    for per_second in [1.0, 2.0, 5.0, 10.0] {
        let found = frontier(per_second, Prices::Unwanted).await;
        let is_short =
            |symbols: usize| demand(symbols, Prices::Unwanted).describe_shortage(per_second).is_some();
        let warned = (1..1_000).find(|symbols| is_short(*symbols)).unwrap();
        assert_eq!(warned, found + 1, "at {per_second} requests a second {found} symbols are traded in full");
    }
}

#[tokio::test(start_paused = true)]
async fn overloaded_run_trades_as_time_allows_and_prices_never_delay_an_open() {
    let none = frontier(5.0, Prices::Unwanted).await;
    let (opened, lost) = trade(20, 5.0, Prices::Unwanted).await;
    assert!(opened >= none * CLOSES && opened + lost == 20 * CLOSES, "{opened} opened, {lost} lost");
    assert_eq!(frontier(5.0, Prices::Polled).await, none);
    assert_eq!(frontier(5.0, Prices::Streamed).await, none);
    let needed = |prices| demand(none, prices).needed_rate(5.0);
    assert!(needed(Prices::Streamed) < needed(Prices::Polled), "streamed prices need no requests");
}
