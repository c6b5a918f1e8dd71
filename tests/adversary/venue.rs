//! The venue: routes of both APIs, and lies in messages.

use crate::clock::{iso, now, now_ms};
use crate::http::{Reply, Request, serve};
use crate::lies::{Kind, MarketLie, Place};
use crate::market::{Pair, interval_seconds};
use crate::message_lies::{apply_lies, is_of_records, lie_about_wallets, market_lie, write};
use crate::records::{self, Detail, money};
use crate::world::World;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

pub(crate) struct Credentials {
    pub(crate) token: String,
    pub(crate) key: String,
}

pub(crate) struct Venue {
    state: Arc<State>,
    pub(crate) trading: String,
    pub(crate) prices: String,
}

struct State {
    world: Mutex<World>,
    credentials: Credentials,
    detail: Detail,
    reply_delay: Duration,
}

impl Venue {
    pub(crate) fn start(name: &str, world: World, detail: Detail, reply_delay: Duration) -> Self {
        let secret = |kind: &str| format!("{kind}-{name}-{}", std::process::id());
        let credentials = Credentials { token: secret("token"), key: secret("key") };
        let state = Arc::new(State { world: Mutex::new(world), credentials, detail, reply_delay });
        let (trading, prices) = (Arc::clone(&state), Arc::clone(&state));
        Self {
            trading: serve(move |request| dated(trading.trading(&request))),
            prices: serve(move |request| dated(prices.prices(&request))),
            state,
        }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.state.lock()
    }

    pub(crate) fn credentials(&self) -> &Credentials {
        &self.state.credentials
    }
}

fn refusal(status: u16, message: &str, path: &str) -> Reply {
    let body = json!({
        "statusCode": status, "status": "error", "timestamp": iso(now_ms()), "path": path,
        "data": {"message": message, "error": "Refused", "statusCode": status},
    });
    Reply::new(status, body.to_string())
}

fn dated(reply: Reply) -> Reply {
    Reply { head: now().format("Date: %a, %d %b %Y %H:%M:%S GMT\r\n").to_string(), ..reply }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn trading(&self, request: &Request) -> Reply {
        if request.header("api-token") != self.credentials.token {
            self.lock().complaints.push(format!("no valid api-token for {}", request.path));
            return refusal(401, "Invalid token", &request.path);
        }
        let sent = request.header("x-timestamp").parse::<i64>().ok();
        if sent.is_none_or(|sent| (now_ms() - sent).abs() > 60_000) {
            self.lock().complaints.push(format!("no fresh x-timestamp for {}", request.path));
            return refusal(400, "x-timestamp expired", &request.path);
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/token/wallets") => self.wallets(),
            ("GET", "/token/users/me") => self.user(),
            ("GET", "/token/trades") => self.list(request),
            ("POST", "/token/trades/open") => self.open(request),
            ("GET", path) => match path.strip_prefix("/token/trades/") {
                Some(id) => self.detail(id),
                None => refusal(404, "Not Found", path),
            },
            _ => refusal(404, "Not Found", &request.path),
        }
    }

    fn open(&self, request: &Request) -> Reply {
        let mut world = self.lock();
        let Some(order) = world.receive(&request.body) else {
            world.complaints.push(format!("an order that cannot be read: {}", request.body));
            return refusal(400, "Bad Request", &request.path);
        };
        let lies = world.lies_about(order);
        let refuse = |status, message: &str| {
            refusal(status, &message.replace("TOKEN", &self.credentials.token), &request.path)
        };
        for (index, kind) in &lies {
            let (status, message) = match kind {
                Kind::Refusal { status, message } => (*status, *message),
                Kind::Banned => (403, "User is banned"),
                _ => continue,
            };
            world.count(*index);
            return refuse(status, message);
        }
        let older = lies.iter().find_map(|(index, kind)| match kind {
            Kind::OlderTrade { age_s, is_taken } => Some((*index, *age_s, *is_taken)),
            _ => None,
        });
        let taken = older.is_none_or(|(_, _, is_taken)| is_taken).then(|| world.take(order));
        let existing = older.map(|(index, age_s, _)| {
            world.count(index);
            world.invent_older(order, age_s)
        });
        let trade = existing.or(taken).expect("an order makes a trade or names an older one");
        let mut record = records::full_record(&world.trades[trade]);
        apply_lies(&mut world, trade, Place::Reply, &mut record);
        for (index, kind) in lies {
            match kind {
                Kind::RefusalThatTook { status, message, .. } => {
                    world.count(index);
                    return refuse(status, message);
                }
                Kind::ReplyLost => {
                    world.count(index);
                    return Reply { is_truncated: true, ..Reply::new(200, record.to_string()) };
                }
                _ => {}
            }
        }
        Reply { delay: self.reply_delay, ..Reply::new(200, write(&mut world, Place::Reply, &record)) }
    }

    fn detail(&self, id: &str) -> Reply {
        let (mut world, now) = (self.lock(), now_ms());
        let Some(trade) = world.trades.iter().position(|trade| trade.id == id) else {
            return refusal(404, "Trade not found", &format!("/token/trades/{id}"));
        };
        let mut record = records::record(&world.trades[trade], Some(self.detail), now);
        apply_lies(&mut world, trade, Place::Detail, &mut record);
        Reply::new(200, write(&mut world, Place::Detail, &record))
    }

    fn list(&self, request: &Request) -> Reply {
        let (mut world, now) = (self.lock(), now_ms());
        let number = |name, default| request.number(name).map_or(default, |number| number.max(1) as usize);
        let (page, size) = (number("page", 1), number("pageSize", 10));
        let is_full = !request.parameter("userId").is_empty();
        let mut listed: Vec<usize> = (0..world.trades.len()).collect();
        listed.retain(|trade| world.trades[*trade].listed_from <= now);
        listed.sort_by_key(|trade| std::cmp::Reverse(world.trades[*trade].terms.at));
        let total = listed.len();
        let pages = total.div_ceil(size).max(1);
        let mut items = Vec::new();
        for trade in listed.into_iter().skip((page - 1) * size).take(size) {
            let mut record = records::record(&world.trades[trade], None, now);
            apply_lies(&mut world, trade, Place::List, &mut record);
            if !is_full {
                let fields = ["id", "symbol", "userId", "amount", "status", "createdAt"];
                record = fields.iter().map(|name| ((*name).to_owned(), record[*name].clone())).collect();
            }
            items.push(record);
        }
        let next = if page < pages { json!(page + 1) } else { Value::Null };
        let previous = if page > 1 { json!(page - 1) } else { Value::Null };
        let envelope = json!({
            "currentPage": page, "perPage": size, "lastPage": pages, "nextPage": next, "prevPage": previous,
            "pages": pages, "total": total, "count": items.len(), "data": items,
        });
        Reply::new(200, write(&mut world, Place::List, &envelope))
    }

    fn user(&self) -> Reply {
        let mut world = self.lock();
        let orders = world.orders.len();
        let ban = world.lies_about(orders).into_iter().find(|(_, kind)| *kind == Kind::Banned);
        if let Some((index, _)) = ban {
            world.count(index);
        }
        Reply::new(200, records::user(ban.is_some()).to_string())
    }

    fn wallets(&self) -> Reply {
        let (mut world, now) = (self.lock(), now_ms());
        let reading = world.wallet_readings;
        world.wallet_readings += 1;
        let demo = world.wallet(now);
        let mut wallets = records::wallets(demo);
        let mut text = None;
        for (index, kind) in world.lies_about(reading) {
            match kind {
                Kind::Wallets(lie) => {
                    world.count(index);
                    text = Some(lie_about_wallets(lie, &mut wallets, demo));
                }
                Kind::Movement(cents) => {
                    world.count(index);
                    world.movements.push((now, cents));
                    wallets[0]["balance"] = json!(money(demo + cents));
                }
                _ => {}
            }
        }
        Reply::new(200, text.unwrap_or_else(|| wallets.to_string()))
    }

    fn prices(&self, request: &Request) -> Reply {
        if request.header("api-key") != self.credentials.key {
            self.lock().complaints.push(format!("no valid api-key for {}", request.path));
            return refusal(401, "Unauthorized", &request.path);
        }
        let asked = request.path.strip_prefix("/symbol-price/default/");
        let Some(pair) = Pair::find(asked.unwrap_or(request.parameter("pair"))) else {
            return refusal(404, "trading pair not found", &request.path);
        };
        if request.path == "/aggregated-prices/prices" {
            let (from, to) = (request.number("startTime"), request.number("endTime"));
            let (Some(from), Some(to), Some(seconds)) =
                (from, to, interval_seconds(request.parameter("interval")))
            else {
                return refusal(400, "startTime, endTime and interval are required", &request.path);
            };
            return self.candles(pair, seconds, (from, to));
        }
        let (mut world, now) = (self.lock(), now_ms());
        let until = request.number("limitTime").unwrap_or(now);
        if until > now {
            return Reply::new(200, "OK".to_owned());
        }
        let mut record = world.market.record(pair, until, now);
        if let Some((index, MarketLie::RecordsMoved(by))) = market_lie(&world, is_of_records) {
            world.count(index);
            record["time"] = json!(record["time"].as_i64().unwrap_or_default() + by);
        }
        Reply::new(200, record.to_string())
    }

    fn candles(&self, pair: &Pair, seconds: i64, span: (i64, i64)) -> Reply {
        let (mut world, now) = (self.lock(), now_ms());
        let lie = market_lie(&world, |lie| !is_of_records(lie));
        let mut candles = match lie {
            // The longer candles that contain the span.
            Some((_, MarketLie::CandlesOf(longer))) => {
                let begin = span.0.div_euclid(longer * 1000) * longer * 1000;
                world.market.candles(pair, longer, (begin, span.1), i64::MAX / 2)
            }
            _ => world.market.candles(pair, seconds, span, now),
        };
        if let Some((index, lie)) = lie {
            world.count(index);
            for candle in &mut candles {
                if let MarketLie::CandlesMoved(by) = lie {
                    candle["time"] = json!(candle["time"].as_i64().unwrap_or_default() + by);
                }
            }
        }
        Reply::new(200, Value::Array(candles).to_string())
    }
}
