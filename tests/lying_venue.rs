//! A lying venue on sockets, independent of sandbox and client: it accepts every order, and every trade wins.

use crate::http::{Reply, Request, serve_on};
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const USER: &str = "user-1";
const PAYOUT: f64 = 80.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Reply to an accepted order. An array holds several trades.
    Taken,
    Answer,
    Ended,
    /// Record by id, with the number of earlier requests since its end. Null means not found.
    ById(usize),
    /// Row of the list. An array holds several rows.
    Listed,
    /// Wallets, with the number of requests since the venue gave the result of a trade; 0 before.
    Wallets(usize),
    User,
}

/// Changes a record of a trade, given its 1-based number.
pub(crate) type Tell = fn(Place, usize, &mut Value);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Opening,
    Reading,
}

pub(crate) type Accepts = fn(&str, Purpose) -> bool;

pub(crate) struct LyingVenue {
    pub(crate) url: String,
    books: Arc<Mutex<Books>>,
}

struct Books {
    tell: Tell,
    accepts: Accepts,
    refused: Vec<Purpose>,
    trades: Vec<Trade>,
    demo: f64,
    readings: usize,
    opens: usize,
}

struct Trade {
    number: usize,
    record: Value,
    ends_at: i64,
    has_ended: bool,
    asked: usize,
}

impl LyingVenue {
    pub(crate) fn start(tell: Tell) -> Self {
        Self::start_on(TcpListener::bind("127.0.0.1:0").unwrap(), tell)
    }

    pub(crate) fn start_on(listener: TcpListener, tell: Tell) -> Self {
        let (accepts, refused): (Accepts, _) = (|_, _| true, Vec::new());
        let books = Books { tell, accepts, refused, trades: Vec::new(), demo: 1e4, readings: 0, opens: 0 };
        let books = Arc::new(Mutex::new(books));
        let served = Arc::clone(&books);
        let url = serve_on(listener, move |request| {
            let (status, body) = served.lock().unwrap().answer(&request);
            Reply::new(status, body.to_string())
        });
        Self { url, books }
    }

    pub(crate) fn answer(&self, request: &Request) -> (u16, Value) {
        self.books.lock().unwrap().answer(request)
    }

    pub(crate) fn take(&self, order: &Value) {
        self.books.lock().unwrap().open(order);
    }

    pub(crate) fn accept(&self, accepts: Accepts) {
        self.books.lock().unwrap().accepts = accepts;
    }

    pub(crate) fn opens(&self) -> usize {
        self.books.lock().unwrap().opens
    }

    pub(crate) fn refused(&self, purpose: Purpose) -> usize {
        self.books.lock().unwrap().refused.iter().filter(|refused| **refused == purpose).count()
    }
}

fn now() -> i64 {
    SystemClock::new().now().get()
}

impl Books {
    fn answer(&mut self, request: &Request) -> (u16, Value) {
        self.end_trades();
        let segments: Vec<&str> = request.path.split('/').skip(1).collect();
        let purpose = if request.method == "POST" { Purpose::Opening } else { Purpose::Reading };
        let token = request.header("api-token");
        if segments.first() == Some(&"token") && !(self.accepts)(token, purpose) {
            self.refused.push(purpose);
            return (401, json!({ "statusCode": 401, "message": "Invalid token" }));
        }
        let body = match (request.method.as_str(), segments.as_slice()) {
            ("GET", ["token", "users", "me"]) => {
                let mut user = json!({ "id": USER, "active": true });
                (self.tell)(Place::User, 0, &mut user);
                user
            }
            ("GET", ["token", "wallets"]) => self.wallets(),
            ("POST", ["token", "trades", "open"]) => self.open(&serde_json::from_str(&request.body).unwrap()),
            ("GET", ["token", "trades"]) => self.list(request),
            ("GET", ["token", "trades", id]) => self.by_id(id),
            ("GET", ["symbol-price", "last"]) => price(request),
            ("GET", ["aggregated-prices", "prices"]) => candles(request),
            _ => Value::Null,
        };
        if body.is_null() {
            return (404, json!({ "statusCode": 404, "message": "Not Found" }));
        }
        (200, body)
    }

    fn wallets(&mut self) -> Value {
        let mut wallets = json!([
            { "id": "w-1", "userId": USER, "type": "DEMO", "balance": self.demo },
            { "id": "w-2", "userId": USER, "type": "REAL", "balance": 0 },
        ]);
        self.readings += usize::from(self.trades.iter().any(|trade| trade.asked > 0));
        (self.tell)(Place::Wallets(self.readings), 0, &mut wallets);
        wallets
    }

    fn open(&mut self, order: &Value) -> Value {
        let (number, at) = (self.trades.len() + 1, now());
        self.opens += 1;
        let length = order["closeType"].as_str().unwrap().split(':');
        let seconds = length.fold(0, |sum, part| sum * 60 + part.parse::<i64>().unwrap());
        let ends_at = at + seconds * 1_000;
        let mut taken = json!({
            "id": format!("trade-{number}"), "userId": USER, "status": "OPEN", "result": "PENDING",
            "symbol": order["symbol"], "direction": order["direction"], "amount": order["amount"],
            "closeType": order["closeType"], "isDemo": order["isDemo"],
            "expirationType": order.get("expirationType").cloned().unwrap_or_else(|| json!("TIME_FIXED")),
            "fromApiToken": true, "payout": PAYOUT, "pnl": 0, "attemptsToClose": 0,
            "requestTime": at, "openTime": at, "openPrice": 100.0, "closePrice": 0,
            "closeTime": ends_at, "createdAt": at,
        });
        (self.tell)(Place::Taken, number, &mut taken);
        let all = if let Value::Array(all) = taken { all } else { vec![taken] };
        for record in all {
            if record["isDemo"] == true {
                self.demo -= record["amount"].as_f64().unwrap();
            }
            let number = self.trades.len() + 1;
            self.trades.push(Trade { number, record, ends_at, has_ended: false, asked: 0 });
        }
        let mut answer = self.trades[number - 1].record.clone();
        (self.tell)(Place::Answer, number, &mut answer);
        answer
    }

    fn end_trades(&mut self) {
        for trade in &mut self.trades {
            if trade.has_ended || trade.ends_at > now() {
                continue;
            }
            trade.has_ended = true;
            let record = &mut trade.record;
            let amount = record["amount"].as_f64().unwrap();
            let price = if record["direction"] == "BUY" { 101.0 } else { 99.0 };
            (record["status"], record["result"]) = (json!("COMPLETED"), json!("WON"));
            (record["closePrice"], record["pnl"]) = (json!(price), json!(amount * PAYOUT / 100.0));
            (self.tell)(Place::Ended, trade.number, record);
            if record["isDemo"] == true {
                self.demo += amount + record["pnl"].as_f64().unwrap();
            }
        }
    }

    fn by_id(&mut self, id: &str) -> Value {
        let Some(trade) = self.trades.iter_mut().find(|trade| trade.record["id"] == id) else {
            return Value::Null;
        };
        let mut record = trade.record.clone();
        (self.tell)(Place::ById(trade.asked), trade.number, &mut record);
        trade.asked += usize::from(trade.has_ended);
        record
    }

    fn list(&self, request: &Request) -> Value {
        let mut rows = Vec::new();
        for trade in self.trades.iter().rev() {
            let mut row = trade.record.clone();
            (self.tell)(Place::Listed, trade.number, &mut row);
            if let Value::Array(several) = row { rows.extend(several) } else { rows.push(row) }
        }
        let size = request.number("pageSize").unwrap();
        let total = rows.len();
        json!({
            "currentPage": 1, "perPage": size, "lastPage": 1, "nextPage": null, "prevPage": null, "pages": 1,
            "total": total, "count": total, "data": rows,
        })
    }
}

fn price(request: &Request) -> Value {
    let at = request.number("limitTime").unwrap_or_else(now);
    if at > now() {
        return json!("OK");
    }
    json!({
        "id": "p-1", "slot": "default", "pair": request.parameter("pair"), "type": "crypto",
        "time": at / 1_000 * 1_000, "volume": 0,
        "openPrice": 100, "closePrice": 100, "highPrice": 120, "lowPrice": 80,
    })
}

fn candles(request: &Request) -> Value {
    let (start, end) = (request.number("startTime").unwrap(), request.number("endTime").unwrap());
    let first = start.div_euclid(1_000) + i64::from(start.rem_euclid(1_000) > 0);
    let last = (end / 1_000).min(now() / 1_000 - 1);
    let price = |second: i64| 100 + (second * second).rem_euclid(7);
    let rows = (first..=last).map(|second| {
        let (open, close) = (price(second), price(second + 1));
        json!({
            "time": second * 1_000, "volume": 1, "openPrice": open, "closePrice": close,
            "highPrice": open.max(close), "lowPrice": open.min(close),
        })
    });
    rows.collect()
}
