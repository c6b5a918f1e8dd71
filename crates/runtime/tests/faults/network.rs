//! The network: the truth behind a transport that loses, delays and garbles bytes.

use crate::body::{self, moment, parsed};
use crate::lies;
use crate::others;
use crate::prelude::*;
use crate::records;
use crate::world::MAX_QUESTIONS;
use candlewick_api::{Purpose, RawResponse, Transport, TransportError};
use candlewick_broker::current_intent;
use reqwest::header::DATE;
use reqwest::{Method, Url};
use std::time::UNIX_EPOCH;

pub(crate) const USER: &str = "user-1";
pub(crate) const WITHHELD_MS: i64 = 120_000;
/// Maximum time that a request may stay queued after its client has gone (the rules of opening).
pub(crate) const MAX_QUEUE_TIME: Millis = Millis::from_seconds(29);
pub(crate) const SLOWEST_MS: i64 = 7_500;

pub(crate) struct ModelNetwork {
    pub(crate) world: Arc<World>,
    pub(crate) clock: Arc<OffClock>,
}

struct Flight {
    world: Arc<World>,
    ticket: u64,
    survives: bool,
    is_answered: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) is_unsent: bool,
    pub(crate) is_lost: bool,
    pub(crate) is_unanswered: bool,
    pub(crate) survives: bool,
    pub(crate) underway: Millis,
    pub(crate) answer: Millis,
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.is_answered {
            let by = self.world.time.now() + MAX_QUEUE_TIME;
            self.world.truth().abandon(self.ticket, self.survives, by);
        }
    }
}

impl Way {
    pub(crate) fn draw(habits: &Habits, dice: &mut Dice) -> Self {
        let underway = if dice.per_mille(habits.late) {
            dice.between(1, habits.patience_ms + MAX_QUEUE_TIME.get())
        } else if habits.is_slow_to_open {
            dice.between(1, habits.patience_ms)
        } else {
            dice.skewed(1, 900)
        };
        Self {
            is_unsent: dice.per_mille(habits.unsent),
            is_lost: dice.per_mille(habits.lost),
            is_unanswered: dice.per_mille(habits.unanswered),
            survives: dice.one_in(2),
            underway: Millis::new(underway),
            answer: Millis::new(dice.skewed(1, 2_000)),
        }
    }

    fn is_doubtful(&self, patience: Millis) -> bool {
        self.is_lost || self.is_unanswered || self.underway + self.answer > patience
    }
}

impl ModelNetwork {
    async fn pass(&self, span: Millis) {
        if span > Millis::ZERO {
            self.world.time.sleep_until(self.world.time.now() + span).await;
        }
    }

    async fn ask(&self, url: &Url, patience: Millis) -> Result<RawResponse, TransportError> {
        if self.world.count("questions", 1) > MAX_QUESTIONS {
            self.world.require(false, || "questions without end".to_owned());
            return std::future::pending().await;
        }
        let (there, back, is_failing) = {
            let habits = &self.world.plan.habits;
            let mut dice = self.world.dice();
            let most = if dice.per_mille(habits.slow) { SLOWEST_MS } else { 80 };
            let (there, back) = (Millis::new(dice.skewed(1, most)), Millis::new(dice.skewed(1, most)));
            (there, back, dice.per_mille(habits.failing))
        };
        self.pass(there.min(patience)).await;
        let answered =
            if is_failing { body::failed_reading(&mut self.world.dice()) } else { Ok(self.answer(url)) };
        let answered = answered.map(|answer| self.dated(answer));
        self.pass(back.min(patience - there)).await;
        if there + back > patience {
            return Err(TransportError::Lost("no answer in time".to_owned()));
        }
        answered
    }

    fn answer(&self, url: &Url) -> RawResponse {
        let world = &self.world;
        match url.path_segments().into_iter().flatten().collect::<Vec<_>>().as_slice() {
            ["token", "wallets"] => body::ok(&body::wallets(&records::balances(world))),
            ["token", "users", "me"] => body::ok(&json!({ "id": USER })),
            ["token", "trades"] => {
                let is_own = body::word(url, "userId").as_deref() == Some(USER);
                world.require(is_own, || "the list asked for without its user".to_owned());
                if world.is_within(world.plan.habits.list_outage) {
                    return body::failed(StatusCode::BAD_GATEWAY, "the list is down");
                }
                let page = records::page(world, parsed(url, "page"), parsed(url, "pageSize"));
                body::ok(&body::page(&page))
            }
            ["token", "trades", id] => match world.truth().find(id) {
                Some(trade) if trade.lie != Some(Lie::NotFoundById) && !lies::has_vanished(world, trade) => {
                    let report = records::record_by_id(world, trade, world.time.now());
                    let is_short = world.plan.habits.is_short_by_id;
                    body::ok(&if is_short { body::short_record(&report) } else { body::full_record(&report) })
                }
                _ => body::failed(StatusCode::NOT_FOUND, "no such trade"),
            },
            ["symbol-price", "last"] => {
                let symbol = parsed(url, "pair");
                match records::last_price(world, symbol, moment(url, "limitTime")) {
                    Some(PriceAnswer::Record(record)) => body::ok(&body::price(symbol, &record)),
                    Some(PriceAnswer::NotYet) => body::complete_answer(StatusCode::OK, "OK"),
                    None => body::ok(&json!({ "time": "soon", "closePrice": "NaN" })),
                }
            }
            ["aggregated-prices", "prices"] => {
                let _: (String, u64, u64) = (parsed(url, "type"), parsed(url, "skip"), parsed(url, "limit"));
                let window = (moment(url, "startTime"), moment(url, "endTime"));
                let rows = records::candles(world, parsed(url, "pair"), parsed(url, "interval"), window);
                body::ok(&body::candles(&rows))
            }
            _ => {
                world.require(false, || format!("unknown request: {url}"));
                body::failed(StatusCode::NOT_FOUND, "no such page")
            }
        }
    }

    fn dated(&self, mut answer: RawResponse) -> RawResponse {
        if self.world.plan.habits.has_dates {
            let now = Duration::from_millis(self.world.time.now().get() as u64);
            answer.headers.insert(DATE, httpdate::fmt_http_date(UNIX_EPOCH + now).parse().unwrap());
        }
        answer
    }

    pub(crate) fn request(
        &self,
        intent: Option<u64>,
        order: &TradeOrder,
        way: &Way,
        wait: Millis,
    ) -> Request {
        let (habits, now) = (&self.world.plan.habits, self.world.time.now());
        let sender = intent.map_or(Sender::Program, Sender::Intent);
        let is_doubtful = way.is_doubtful(wait);
        let mut dice = self.world.dice();
        let promised_ms = 30_000 + i64::from(self.world.plan.settings.list_lag_ms);
        let ends_after = if way.is_lost { wait } else { wait.min(way.underway + way.answer) };
        let allowed = now + ends_after + Millis::new(promised_ms);
        let listed_from = match habits.withholding {
            Withholding::Both if is_doubtful => allowed + Millis::new(dice.between(-4_000, 6_000)),
            Withholding::List if is_doubtful => allowed + Millis::new(dice.between(0, WITHHELD_MS)),
            _ => now + way.underway + Millis::new(dice.between(0, habits.list_lag_ms)),
        };
        drop(dice);
        let twin = if is_doubtful { others::join(&self.world, intent, order, false) } else { None };
        let is_clear = !is_doubtful && self.world.disk().unclear.keys().all(|other| Some(*other) == intent);
        Request { listed_from, twin, is_clear, ..Request::new(sender, order.clone()) }
    }

    pub(crate) fn check_post(&self, intent: Option<u64>, order: &TradeOrder) -> Option<u64> {
        self.world.require(intent.is_some(), || "an open that no intent asked for".to_owned());
        let number = intent?;
        let is_first = self.world.truth().posted.insert(number, order.clone()).is_none();
        self.world.require(is_first, || format!("intent {number} was sent twice"));
        let is_durable = self.world.disk().intents.contains(&number);
        self.world.require(is_durable, || format!("intent {number} was sent before it was durable"));
        let departure = self.world.notes.departures.lock().unwrap()[&number];
        self.world.require(!departure.has_run_ended, || format!("intent {number} was sent by a later run"));
        // After a clock was set back, any moment may be an earlier one.
        let is_early = self.clock.now() < departure.from && self.world.plan.habits.clock_jumps == 0;
        self.world.require(!is_early, || format!("intent {number} was sent before its delay was over"));
        let late = self.clock.now() - departure.by;
        self.world.require(late <= Millis::ZERO, || format!("intent {number} was sent {late} ms too late"));
        intent
    }

    fn reply(&self, place: usize) -> serde_json::Value {
        let report = records::opened(&self.world, place);
        if self.world.plan.habits.only_acknowledges {
            return json!({ "tradeId": report.id, "status": "OPEN" });
        }
        body::full_record(&report)
    }

    pub(crate) fn draw_way(&self, order: &TradeOrder) -> Way {
        let just_now = self.world.time.now() - Millis::from_seconds(3);
        let is_like = |trade: &Trade| trade.request_time >= just_now && trade.order == *order;
        let is_repeated = self.world.truth().trades.iter().rev().any(is_like);
        let mut way = Way::draw(&self.world.plan.habits, &mut self.world.dice());
        way.is_lost |= is_repeated && self.world.dice().one_in(2);
        way
    }

    async fn post(&self, order: &TradeOrder, patience: Millis) -> Result<RawResponse, TransportError> {
        let intent = self.check_post(current_intent(), order);
        let lost = || Err(TransportError::Lost("as it happens".to_owned()));
        let unsent = || Err(TransportError::NotConnected("as it happens".to_owned()));
        let habits = &self.world.plan.habits;
        let way = self.draw_way(order);
        self.world.log(|| format!("posted {intent:?} {way:?}"));
        if way.is_unsent {
            return unsent();
        }
        if way.is_lost {
            others::join(&self.world, intent, order, true);
            self.pass(patience).await;
            return lost();
        }
        let request = self.request(intent, order, &way, patience);
        let arrival = self.world.time.now() + way.underway;
        let ticket = self.world.truth().send(arrival, request, habits, &mut self.world.dice());
        let (world, survives) = (Arc::clone(&self.world), way.survives);
        let mut flight = Flight { world, ticket, survives, is_answered: false };
        self.pass(way.underway.min(patience)).await;
        if way.underway >= patience {
            flight.is_answered = true;
            return lost();
        }
        let state = self.world.truth().states[&ticket];
        let answered = match state {
            RequestState::Underway => return lost(),
            _ if way.is_unanswered => body::failed_open(&mut self.world.dice()),
            RequestState::Rejected => Ok(body::rejection(&mut self.world.dice())),
            RequestState::Accepted(place) => {
                let denial = lies::denial_of(&self.world.truth().trades[place]);
                match denial {
                    Some(MoneyLie::UnsentTaken) => unsent(),
                    Some(_) => Ok(body::rejection(&mut self.world.dice())),
                    None => Ok(body::ok(&self.reply(place))),
                }
            }
        };
        let answered = answered.map(|answer| self.dated(answer));
        self.pass(way.answer.min(patience - way.underway)).await;
        flight.is_answered = true;
        if way.underway + way.answer > patience { lost() } else { answered }
    }
}

#[async_trait]
impl Transport for ModelNetwork {
    async fn send(
        &self,
        purpose: Purpose,
        request: reqwest::Request,
        _limit_bytes: usize,
    ) -> Result<RawResponse, TransportError> {
        let patience = Millis::new(request.timeout().unwrap().as_millis() as i64);
        let is_post = *request.method() == Method::POST;
        self.world.require(is_post == (purpose == Purpose::Open), || "asked by the wrong client".to_owned());
        if purpose == Purpose::Read {
            return self.ask(request.url(), patience).await;
        }
        let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
        self.post(&body::read_order(body), patience).await
    }
}
