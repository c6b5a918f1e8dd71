//! Questions of a coordinator at the model venue, step by step: what an adapter promises of their answers, whatever happens
//! on the way.

use crate::lies;
use crate::network::SLOWEST_MS;
use crate::plan::Length;
use crate::prelude::*;
use crate::records;
use candlewick_broker::Candles;
use candlewick_runtime::Ask;

const PAGE: u64 = 100;

pub(crate) struct Asking {
    ask: Ask,
    sent: Millis,
    /// How long its answer takes to come back; none when nothing comes in time.
    back: Option<Millis>,
    is_failing: bool,
    said: Option<(Said, Millis)>,
    listing: Listing,
}

#[derive(Default)]
struct Listing {
    page: u64,
    unreadable: usize,
    repeats: usize,
    trades: BTreeMap<String, TradeReport>,
}

enum Said {
    Failed(BrokerError),
    Candles(Vec<CandleRow>),
    Price(PriceAnswer),
    Trade(Box<TradeReport>),
    Balances(candlewick_broker::Balances),
    Page,
    LastPage(bool),
}

pub(crate) enum Progressed {
    Asking(Box<Asking>, Millis),
    Came(Came),
}

pub(crate) struct Came {
    pub(crate) answer: Answer,
}

impl Asking {
    pub(crate) fn begin(world: &World, ask: Ask, now: Millis) -> (Self, Millis) {
        let listing = Listing { page: 1, ..Listing::default() };
        let mut asking = Self { ask, sent: now, back: None, is_failing: false, said: None, listing };
        let there = asking.draw(world);
        (asking, there)
    }

    fn draw(&mut self, world: &World) -> Millis {
        let habits = &world.plan.habits;
        let mut dice = world.dice();
        let most = if dice.per_mille(habits.slow) { SLOWEST_MS } else { 80 };
        let (there, back) = (Millis::new(dice.skewed(1, most)), Millis::new(dice.skewed(1, most)));
        // An adapter repeats a question that fails.
        self.is_failing = (0..habits.read_attempts).all(|_| dice.per_mille(habits.failing));
        let patience = Millis::new(habits.patience_ms);
        self.back = (there + back <= patience).then_some(back);
        if self.back.is_some() { there } else { patience }
    }

    pub(crate) fn go_on(mut self, world: &World, now: Millis) -> Progressed {
        if let Some((said, at)) = self.said.take() {
            return self.come(world, said, (at, now));
        }
        let said = match self.back {
            None => Said::Failed(unavailable("no answer in time")),
            Some(_) if self.is_failing => Said::Failed(failure(world)),
            Some(_) => self.ask_venue(world),
        };
        let back = self.back.unwrap_or_default();
        self.said = Some((said, world.time.now()));
        Progressed::Asking(Box::new(self), back)
    }

    fn ask_venue(&mut self, world: &World) -> Said {
        match &self.ask {
            Ask::Candles(_, query) => {
                let window = (query.start, query.end);
                Said::Candles(records::candles(world, query.symbol, query.interval, window))
            }
            Ask::Price(_, symbol, at) | Ask::SettlementPrice(symbol, at) => records::last_price(
                world, *symbol, *at,
            )
            .map_or_else(
                || Said::Failed(BrokerError::Malformed { problem: "no time".into(), head: "soon".into() }),
                Said::Price,
            ),
            Ask::Trade(_, id) => said_of(world, id, false),
            Ask::NamedTrade(_, _, id) => said_of(world, id, true),
            Ask::Balances | Ask::BalancesAfterTrades => Said::Balances(records::balances(world)),
            Ask::Trades => self.read_page(world),
            Ask::Subscription(..) => Said::Failed(unavailable("nothing streams")),
            Ask::User => Said::Failed(unavailable("nobody says who the user is")),
            Ask::Settings(_) => Said::Failed(unavailable("nobody reads settings again")),
        }
    }

    fn read_page(&mut self, world: &World) -> Said {
        let (from, until) = world.plan.habits.list_outage;
        let elapsed = world.time.elapsed();
        if from <= elapsed && elapsed < until {
            return Said::Failed(unavailable("the list is down"));
        }
        let page = records::page(world, self.listing.page, PAGE);
        self.listing.unreadable += page.unreadable;
        for row in page.rows {
            self.listing.repeats += usize::from(self.listing.trades.insert(row.id.clone(), row).is_some());
        }
        if page.number < page.last {
            self.listing.page += 1;
            return Said::Page;
        }
        // An adapter knows a whole list by its length; where the venue does not say it, by no row having come twice.
        let truth = world.truth();
        let mut listed = truth.trades.iter().filter(|trade| records::is_listed(world, trade));
        let is_whole = listed.all(|trade| self.listing.trades.contains_key(&trade.id));
        let is_known =
            world.plan.habits.length != Length::Unstated || page.number == 1 || self.listing.repeats == 0;
        Said::LastPage(is_whole && is_known && self.listing.unreadable == 0)
    }

    fn come(mut self, world: &World, said: Said, (at, now): (Millis, Millis)) -> Progressed {
        let date = world.plan.habits.has_dates.then(|| at.floor_to(Millis::SECOND));
        let sent = self.sent;
        macro_rules! reply {
            ($value:expr) => {
                Ok(Reply { value: $value, date, sent, received: now })
            };
        }
        if let Said::Page = said {
            let there = self.draw(world);
            return Progressed::Asking(Box::new(self), there);
        }
        let failed = if let Said::Failed(error) = &said { Some(error.clone()) } else { None };
        let answer = match &self.ask {
            Ask::Candles(series, query) => Answer::Candles(
                *series,
                match said {
                    Said::Candles(rows) => reply!(Candles::of_rows(&rows, query, now)),
                    _ => failed.map_or_else(other_answer, Err),
                },
            ),
            Ask::Price(symbol, _, moment) => Answer::Price(
                *symbol,
                *moment,
                match said {
                    Said::Price(price) => reply!(price),
                    _ => failed.map_or_else(other_answer, Err),
                },
            ),
            Ask::SettlementPrice(..) => Answer::SettlementPrice(match said {
                Said::Price(price) => reply!(price),
                _ => failed.map_or_else(other_answer, Err),
            }),
            Ask::Trade(intent, _) => Answer::Trade(
                *intent,
                match said {
                    Said::Trade(report) => reply!(*report).map(Box::new),
                    _ => failed.map_or_else(other_answer, Err),
                },
            ),
            Ask::NamedTrade(order, ..) => Answer::NamedTrade(
                *order,
                match said {
                    Said::Trade(report) => reply!(*report).map(Box::new),
                    _ => failed.map_or_else(other_answer, Err),
                },
            ),
            Ask::Balances => Answer::Balances(match said {
                Said::Balances(balances) => reply!(balances),
                _ => failed.map_or_else(other_answer, Err),
            }),
            Ask::User => Answer::User(failed.map_or_else(other_answer, Err)),
            Ask::BalancesAfterTrades => Answer::BalancesAfterTrades(match said {
                Said::Balances(balances) => reply!(balances),
                _ => failed.map_or_else(other_answer, Err),
            }),
            Ask::Trades => Answer::Trades(TradeListing {
                began: sent,
                ended: now,
                is_complete: matches!(said, Said::LastPage(true)),
                trades: std::mem::take(&mut self.listing.trades).into_values().collect(),
                ended_early: failed,
            }),
            Ask::Subscription(symbol, name) => {
                Answer::Subscription(*symbol, crate::stream::subscribed(world, *name))
            }
            Ask::Settings(_) => Answer::Settings(Err("nobody reads settings again".to_owned())),
        };
        Progressed::Came(Came { answer })
    }
}

/// What is known of a trade by its identifier. Where the venue says little of a trade alone, its adapter looks into the list.
fn said_of(world: &World, id: &str, is_all: bool) -> Said {
    let truth = world.truth();
    let Some(trade) = truth.find(id).filter(|trade| !lies::has_vanished(world, trade)) else {
        return Said::Failed(BrokerError::NotFound { text: id.to_owned() });
    };
    let now = world.time.now();
    if trade.lie == Some(Lie::NotFoundById) {
        // Its adapter looks for it in the list.
        return if trade.listed_from <= now {
            Said::Trade(Box::new(records::row_of_list(world, trade)))
        } else {
            Said::Failed(BrokerError::NotFound { text: id.to_owned() })
        };
    }
    let report = records::alone(world, trade, now);
    let is_over = report.progress.outcome().is_some();
    if !world.plan.habits.is_short_by_id || (trade.listed_from <= now && (is_all || is_over)) {
        return Said::Trade(Box::new(report));
    }
    let progress = if is_over { Progress::OverUnreported } else { report.progress };
    Said::Trade(Box::new(TradeReport { progress, symbol: report.symbol, ..TradeReport::new(report.id) }))
}

fn other_answer<T>() -> Result<T, BrokerError> {
    Err(unavailable("another answer"))
}

fn failure(world: &World) -> BrokerError {
    match world.dice().between(0, 3) {
        0 => unavailable("connection reset"),
        1 => BrokerError::RateLimited { text: "slower".to_owned(), retry_after: None },
        2 => BrokerError::Malformed { problem: "no JSON".to_owned(), head: "<html>".to_owned() },
        _ => BrokerError::Credentials { text: "not now".to_owned() },
    }
}

fn unavailable(text: &str) -> BrokerError {
    BrokerError::Unavailable { text: text.to_owned() }
}
