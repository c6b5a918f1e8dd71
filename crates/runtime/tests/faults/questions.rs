//! Questions of a coordinator at the model venue, step by step, as an adapter promises to answer them.

use crate::lies;
use crate::network::SLOWEST_MS;
use crate::plan::Length;
use crate::prelude::*;
use crate::records;
use crate::stream::subscribed;
use candlewick_broker::Candles;
use candlewick_runtime::ReadRequest;

const PAGE: u64 = 100;

pub(crate) struct PendingRequest {
    ask: ReadRequest,
    sent: Millis,
    back: Option<Millis>,
    is_failing: bool,
    reading: Option<(Reading, Millis)>,
    listing: Listing,
}

#[derive(Default)]
struct Listing {
    page: u64,
    unreadable: usize,
    repeats: usize,
    trades: BTreeMap<String, TradeReport>,
}

enum Reading {
    Failed(BrokerError),
    Candles(Vec<CandleRow>),
    Price(PriceAnswer),
    Trade(Box<TradeReport>),
    Balances(Balances),
    Page,
    LastPage(bool),
}

pub(crate) enum RequestProgress {
    Pending(Box<PendingRequest>, Millis),
    Came(Answer),
}

impl PendingRequest {
    pub(crate) fn begin(world: &World, ask: ReadRequest, now: Millis) -> (Self, Millis) {
        let listing = Listing { page: 1, ..Listing::default() };
        let mut asking = Self { ask, sent: now, back: None, is_failing: false, reading: None, listing };
        let there = asking.draw(world);
        (asking, there)
    }

    fn draw(&mut self, world: &World) -> Millis {
        let habits = &world.plan.habits;
        let mut dice = world.dice();
        let most = if dice.per_mille(habits.slow) { SLOWEST_MS } else { 80 };
        let (there, back) = (Millis::new(dice.skewed(1, most)), Millis::new(dice.skewed(1, most)));
        self.is_failing = (0..habits.read_attempts).all(|_| dice.per_mille(habits.failing));
        let patience = Millis::new(habits.patience_ms);
        self.back = (there + back <= patience).then_some(back);
        if self.back.is_some() { there } else { patience }
    }

    pub(crate) fn go_on(mut self, world: &World, now: Millis) -> RequestProgress {
        if let Some((reading, at)) = self.reading.take() {
            return self.come(world, reading, (at, now));
        }
        let reading = match self.back {
            None => Reading::Failed(unavailable("no answer in time")),
            Some(_) if self.is_failing => Reading::Failed(failure(world)),
            Some(_) => self.ask_venue(world),
        };
        let back = self.back.unwrap_or_default();
        self.reading = Some((reading, world.time.now()));
        RequestProgress::Pending(Box::new(self), back)
    }

    fn ask_venue(&mut self, world: &World) -> Reading {
        match &self.ask {
            ReadRequest::Candles(_, query) => {
                let window = (query.start, query.end);
                Reading::Candles(records::candles(world, query.symbol, query.interval, window))
            }
            ReadRequest::Price(_, symbol, at) | ReadRequest::SettlementPrice(symbol, at) => {
                let price = records::last_price(world, *symbol, *at);
                price.map_or_else(|| Reading::Failed(malformed("no time", "soon")), Reading::Price)
            }
            ReadRequest::Trade(_, id) => said_of(world, id, false),
            ReadRequest::TradeToAdopt(_, _, id) => said_of(world, id, true),
            ReadRequest::Balances | ReadRequest::BalancesAfterTrades => {
                Reading::Balances(records::balances(world))
            }
            ReadRequest::Trades => self.read_page(world),
            ReadRequest::Subscription(..) => Reading::Failed(unavailable("nothing streams")),
            ReadRequest::User => Reading::Failed(unavailable("no user is configured")),
            ReadRequest::Settings(_) => Reading::Failed(unavailable("settings are not reloadable")),
        }
    }

    fn read_page(&mut self, world: &World) -> Reading {
        if world.is_within(world.plan.habits.list_outage) {
            return Reading::Failed(unavailable("the list is down"));
        }
        let page = records::page(world, self.listing.page, PAGE);
        self.listing.unreadable += page.unreadable;
        for row in page.rows {
            self.listing.repeats += usize::from(self.listing.trades.insert(row.id.clone(), row).is_some());
        }
        if page.number < page.last {
            self.listing.page += 1;
            return Reading::Page;
        }
        let truth = world.truth();
        let mut listed = truth.trades.iter().filter(|trade| records::is_listed(world, trade));
        let is_whole = listed.all(|trade| self.listing.trades.contains_key(&trade.id));
        let is_known =
            world.plan.habits.length != Length::Unstated || page.number == 1 || self.listing.repeats == 0;
        Reading::LastPage(is_whole && is_known && self.listing.unreadable == 0)
    }

    fn come(mut self, world: &World, reading: Reading, (at, now): (Millis, Millis)) -> RequestProgress {
        if let Reading::Page = reading {
            let there = self.draw(world);
            return RequestProgress::Pending(Box::new(self), there);
        }
        let date = world.plan.habits.has_dates.then(|| at.floor_to(Millis::SECOND));
        let reply = Reply { value: (), date, sent: self.sent, received: now };
        RequestProgress::Came(match (self.ask, reading) {
            (ReadRequest::Candles(series, query), Reading::Candles(rows)) => {
                Answer::Candles(series, Ok(reply.map(|()| Candles::from_rows(&rows, &query, now))))
            }
            (ReadRequest::Candles(series, _), reading) => Answer::Candles(series, Err(reading.error())),
            (ReadRequest::Price(symbol, _, at), Reading::Price(price)) => {
                Answer::Price(symbol, at, Ok(reply.map(|()| price)))
            }
            (ReadRequest::Price(symbol, _, at), reading) => Answer::Price(symbol, at, Err(reading.error())),
            (ReadRequest::SettlementPrice(..), Reading::Price(price)) => {
                Answer::SettlementPrice(Ok(reply.map(|()| price)))
            }
            (ReadRequest::SettlementPrice(..), reading) => Answer::SettlementPrice(Err(reading.error())),
            (ReadRequest::Trade(intent, _), Reading::Trade(report)) => {
                Answer::Trade(intent, Ok(Box::new(reply.map(|()| *report))))
            }
            (ReadRequest::Trade(intent, _), reading) => Answer::Trade(intent, Err(reading.error())),
            (ReadRequest::TradeToAdopt(order, ..), Reading::Trade(report)) => {
                Answer::TradeToAdopt(order, Ok(Box::new(reply.map(|()| *report))))
            }
            (ReadRequest::TradeToAdopt(order, ..), reading) => {
                Answer::TradeToAdopt(order, Err(reading.error()))
            }
            (ReadRequest::Balances, Reading::Balances(shown)) => Answer::Balances(Ok(reply.map(|()| shown))),
            (ReadRequest::Balances, reading) => Answer::Balances(Err(reading.error())),
            (ReadRequest::BalancesAfterTrades, Reading::Balances(shown)) => {
                Answer::BalancesAfterTrades(Ok(reply.map(|()| shown)))
            }
            (ReadRequest::BalancesAfterTrades, reading) => Answer::BalancesAfterTrades(Err(reading.error())),
            (ReadRequest::User, reading) => Answer::User(Err(reading.error())),
            (ReadRequest::Trades, reading) => Answer::Trades(TradeListing {
                began: self.sent,
                ended: now,
                is_complete: matches!(reading, Reading::LastPage(true)),
                trades: self.listing.trades.into_values().collect(),
                end_error: if let Reading::Failed(error) = reading { Some(error) } else { None },
            }),
            (ReadRequest::Subscription(id, name), _) => Answer::Subscription(id, subscribed(world, name)),
            (ReadRequest::Settings(_), _) => Answer::Settings(Err("settings are not reloadable".to_owned())),
        })
    }
}

impl Reading {
    fn error(self) -> BrokerError {
        if let Self::Failed(error) = self { error } else { unavailable("another answer") }
    }
}

fn said_of(world: &World, id: &str, is_all: bool) -> Reading {
    let truth = world.truth();
    let Some(trade) = truth.find(id).filter(|trade| !lies::has_vanished(world, trade)) else {
        return Reading::Failed(BrokerError::NotFound { text: id.to_owned() });
    };
    let now = world.time.now();
    if trade.lie == Some(Lie::NotFoundById) {
        return if trade.listed_from <= now {
            Reading::Trade(Box::new(records::row_of_list(world, trade)))
        } else {
            Reading::Failed(BrokerError::NotFound { text: id.to_owned() })
        };
    }
    let report = records::record_by_id(world, trade, now);
    let is_over = report.progress.outcome().is_some();
    if !world.plan.habits.is_short_by_id || (trade.listed_from <= now && (is_all || is_over)) {
        return Reading::Trade(Box::new(report));
    }
    let progress = if is_over { TradeProgress::OverWithoutOutcome } else { report.progress };
    Reading::Trade(Box::new(TradeReport { progress, symbol: report.symbol, ..TradeReport::new(report.id) }))
}

fn failure(world: &World) -> BrokerError {
    match world.dice().between(0, 3) {
        0 => unavailable("connection reset"),
        1 => BrokerError::RateLimited { text: "slower".to_owned(), retry_after: None },
        2 => malformed("no JSON", "<html>"),
        _ => BrokerError::Credentials { text: "not now".to_owned() },
    }
}

fn unavailable(text: &str) -> BrokerError {
    BrokerError::Unavailable { text: text.to_owned() }
}

fn malformed(problem: &str, head: &str) -> BrokerError {
    BrokerError::Malformed { problem: problem.to_owned(), head: head.to_owned() }
}
