//! Requests to the venue, and price subscriptions. Each request has its own task and a deadline.

use crate::adoption;
use crate::coordinator::{Answer, DurableOrder, ReadRequest, RequestId, StreamSupport};
use crate::notice::RequestKind;
use crate::reload::{NewSettings, ReloadInput, SettingsReader};
use candlewick_broker::clock::{Clock, Hold};
use candlewick_broker::{
    AsOf, Broker, BrokerError, DetailLevel, MarketData, OpenOutcome, PriceFeed, PriceTick, Priority, Reply,
    TradeListing, with_intent, with_priority,
};
use candlewick_engine::SymbolId;
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

/// Last-resort deadline for a request, in real time. It is longer than every deadline inside an adapter.
const REQUEST_DEADLINE: Duration = Duration::from_mins(1);
/// Deadline for reading the trade list, in real time. A long history may need many requests.
pub(crate) const LIST_DEADLINE: Duration = Duration::from_mins(30);

/// Deadline for reading the settings. It ends before the sender of the reload order stops waiting.
const SETTINGS_DEADLINE: Duration = Duration::from_secs(8);

#[derive(Clone)]
struct VenuePorts {
    market: Arc<dyn MarketData>,
    broker: Arc<dyn Broker>,
    clock: Arc<dyn Clock>,
    settings: Option<SettingsReader>,
    /// Lock for reading the settings. A read that missed its deadline continues and still holds the lock.
    reading: Arc<Mutex<()>>,
}

pub(crate) struct Requests {
    ports: VenuePorts,
    running: JoinSet<Response>,
    asked: HashMap<Id, (RequestId, Instant)>,
}

pub(crate) struct Response {
    pub(crate) answer: Answer,
    pub(crate) feed: Option<(SymbolId, PriceFeed)>,
    pub(crate) timing: Option<(RequestKind, Duration)>,
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self { answer, feed: None, timing: None }
    }
}

impl Requests {
    pub(crate) fn new(market: Arc<dyn MarketData>, broker: Arc<dyn Broker>, clock: Arc<dyn Clock>) -> Self {
        let ports = VenuePorts { market, broker, clock, settings: None, reading: Arc::default() };
        Self { ports, running: JoinSet::new(), asked: HashMap::new() }
    }

    pub(crate) fn set_settings_reader(&mut self, reader: SettingsReader) {
        self.ports.settings = Some(reader);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub(crate) fn start_request(&mut self, question: ReadRequest, priority: Priority) {
        let id = question.id();
        let task = self.running.spawn(with_priority(priority, perform_request(self.ports.clone(), question)));
        self.asked.insert(task.id(), (id, Instant::now()));
    }

    pub(crate) fn start_open(&mut self, open: DurableOrder) {
        let id = RequestId::Open(open.intent());
        let task = self.running.spawn(send_open(Arc::clone(&self.ports.broker), open));
        self.asked.insert(task.id(), (id, Instant::now()));
    }

    pub(crate) async fn next(&mut self) -> Option<Response> {
        loop {
            let done = self.running.join_next_with_id().await?;
            if let Some(response) = self.finish_task(done) {
                return Some(response);
            }
        }
    }

    pub(crate) fn try_next(&mut self) -> Option<Response> {
        loop {
            let done = self.running.try_join_next_with_id()?;
            if let Some(response) = self.finish_task(done) {
                return Some(response);
            }
        }
    }

    fn finish_task(&mut self, done: Result<(Id, Response), JoinError>) -> Option<Response> {
        let task = done.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let (id, since) = self.asked.remove(&task)?;
        let response = match done {
            Ok((_, response)) => response,
            Err(error) => Answer::from_failure(id, self.ports.clock.now(), error.to_string()).into(),
        };
        let took = RequestKind::from_request(id).map(|question| (question, since.elapsed()));
        Some(Response { timing: took, ..response })
    }
}

async fn perform_request(ports: VenuePorts, question: ReadRequest) -> Response {
    let VenuePorts { market, broker, clock, settings, reading } = ports;
    match question {
        ReadRequest::Candles(series, query) => {
            Answer::Candles(series, within_deadline(market.candles(&query)).await).into()
        }
        ReadRequest::Price(id, symbol, at) => {
            let answer = within_deadline(market.price(&symbol, AsOf::Moment(at))).await;
            Answer::Price(id, at, answer).into()
        }
        ReadRequest::Subscription(id, symbol) => {
            let subscribed = tokio::time::timeout(REQUEST_DEADLINE, market.subscribe(&symbol)).await;
            match subscribed.unwrap_or_else(|_| Err(timeout_error())) {
                Ok(Some(feed)) => {
                    let answer = Answer::Subscription(id, Ok(StreamSupport::Yes));
                    Response { feed: Some((id, feed)), ..answer.into() }
                }
                Ok(None) => Answer::Subscription(id, Ok(StreamSupport::No)).into(),
                Err(error) => Answer::Subscription(id, Err(error)).into(),
            }
        }
        ReadRequest::Trade(intent, venue_id) => {
            let trade = broker.trade(&venue_id, DetailLevel::Progress);
            let answer = within_deadline(with_intent(intent.number(), trade)).await;
            Answer::Trade(intent, answer.map(Box::new)).into()
        }
        ReadRequest::Trades => {
            let began = clock.now();
            match tokio::time::timeout(LIST_DEADLINE, broker.trades()).await {
                Ok(listing) => Answer::Trades(listing).into(),
                Err(_) => Answer::Trades(TradeListing {
                    began,
                    ended: clock.now(),
                    end_error: Some(timeout_error()),
                    ..TradeListing::default()
                })
                .into(),
            }
        }
        ReadRequest::BalancesAfterTrades => {
            Answer::BalancesAfterTrades(within_deadline(broker.balances()).await).into()
        }
        ReadRequest::User => Answer::User(within_deadline(broker.identity()).await).into(),
        ReadRequest::Balances => Answer::Balances(within_deadline(broker.balances()).await).into(),
        ReadRequest::SettlementPrice(symbol, at) => {
            let answer = within_deadline(market.price(&symbol, AsOf::Moment(at))).await;
            Answer::SettlementPrice(answer).into()
        }
        ReadRequest::TradeToAdopt(order, intent, venue_id) => {
            let trade = with_intent(intent.number(), broker.trade(&venue_id, DetailLevel::Everything));
            let answer = tokio::time::timeout(adoption::REPORT_TIMEOUT, trade).await;
            let answer = answer.unwrap_or_else(|_| Err(adoption::timeout_error()));
            Answer::TradeToAdopt(order, answer.map(Box::new)).into()
        }
        ReadRequest::Settings(standing) => {
            Answer::Settings(read_settings(settings, reading, *standing).await).into()
        }
    }
}

/// Reads the settings in a separate thread with a deadline, because the disk may not respond.
async fn read_settings(
    reader: Option<SettingsReader>,
    reading: Arc<Mutex<()>>,
    standing: ReloadInput,
) -> Result<Box<NewSettings>, String> {
    let Some(reader) = reader else {
        return Err("this run cannot reload its configuration. Restart the run".to_owned());
    };
    let Ok(permit) = reading.try_lock_owned() else {
        return Err("a previous reload is still running. Check that its files can be read".to_owned());
    };
    let read = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        reader(&standing)
    });
    match tokio::time::timeout(SETTINGS_DEADLINE, read).await {
        Ok(Ok(read)) => read.map(Box::new),
        Ok(Err(error)) => Err(format!("reading the settings failed: {error}")),
        Err(_) => Err(format!("the settings could not be read within {} s", SETTINGS_DEADLINE.as_secs())),
    }
}

/// Sends an order at most once, and not after its deadline. Without an answer in time, the outcome is unknown.
async fn send_open(broker: Arc<dyn Broker>, open: DurableOrder) -> Response {
    let intent = open.intent();
    let opening = with_intent(intent.number(), broker.open(open.order(), open.send_deadline()));
    let outcome = tokio::time::timeout(REQUEST_DEADLINE, opening).await;
    let unknown = |_| OpenOutcome::Unknown { reason: "the venue did not answer in time".to_owned() };
    Answer::Open(intent, outcome.unwrap_or_else(unknown)).into()
}

pub(crate) async fn within_deadline<T>(
    question: impl Future<Output = Result<Reply<T>, BrokerError>>,
) -> Result<Reply<T>, BrokerError> {
    tokio::time::timeout(REQUEST_DEADLINE, question).await.unwrap_or_else(|_| Err(timeout_error()))
}

fn timeout_error() -> BrokerError {
    BrokerError::Unavailable { text: "the venue did not answer in time".to_owned() }
}

#[derive(Default)]
pub(crate) struct Feeds(Vec<(SymbolId, PriceFeed)>);

impl Feeds {
    pub(crate) fn add(&mut self, feed: (SymbolId, PriceFeed)) {
        self.0.push(feed);
    }

    pub(crate) fn dropped_prices(&self) -> u64 {
        self.0.iter().map(|(_, feed)| feed.dropped_prices()).sum()
    }

    /// Returns the next price of any symbol, or `None` if the symbol's feed has ended.
    /// The `Hold` has stopped the clock since the price was sent. Never returns if there are no feeds. Cancel-safe.
    pub(crate) async fn next(&mut self) -> (SymbolId, Option<(PriceTick, Hold)>) {
        let (place, tick) = poll_fn(|context| {
            for (place, (_, feed)) in self.0.iter_mut().enumerate() {
                if let Poll::Ready(tick) = pin!(feed.next()).poll(context) {
                    return Poll::Ready((place, tick));
                }
            }
            Poll::Pending
        })
        .await;
        let symbol = self.0[place].0;
        if tick.is_none() {
            self.0.swap_remove(place);
        }
        (symbol, tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Millis, Money};
    use std::sync::mpsc;

    #[tokio::test(start_paused = true)]
    async fn hanging_reload_times_out_and_blocks_the_next() {
        let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let (release, released) = mpsc::channel::<()>();
        let released = std::sync::Mutex::new(released);
        let reader: SettingsReader = Arc::new(move |_| {
            began.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
            Err("read to its end".to_owned())
        });
        let reading = Arc::new(Mutex::new(()));
        let standing = || ReloadInput {
            free_balance: Money::ZERO,
            payouts: Vec::new(),
            rows: Vec::new(),
            forgotten_trades: 0,
        };
        let read =
            || tokio::spawn(read_settings(Some(Arc::clone(&reader)), Arc::clone(&reading), standing()));
        let problem = |read: Result<Result<Box<NewSettings>, String>, JoinError>| read.unwrap().unwrap_err();
        let late = read();
        begun.recv().await.unwrap();
        tokio::time::advance(SETTINGS_DEADLINE + Duration::from_millis(1)).await;
        assert_eq!(problem(late.await), "the settings could not be read within 8 s");
        assert!(problem(read().await).starts_with("a previous reload is still running"));
        release.send(()).unwrap();
        drop(reading.lock().await);
        release.send(()).unwrap();
        assert_eq!(problem(read().await), "read to its end");
        begun.recv().await.unwrap();
        assert!(begun.try_recv().is_err());
    }

    async fn next(feeds: &mut Feeds) -> (SymbolId, Option<PriceTick>) {
        let (symbol, next) = feeds.next().await;
        (symbol, next.map(|(tick, _)| tick))
    }

    #[tokio::test]
    async fn delivers_prices_of_all_feeds_and_each_end_once() {
        let tick = |time| PriceTick { time: Millis::new(time), price: 1.0 };
        let (first, second) = (SymbolId::FIRST, SymbolId::new(1).unwrap());
        let (sender, feed) = PriceFeed::channel(4);
        let (other_sender, other_feed) = PriceFeed::channel(4);
        let mut feeds = Feeds::default();
        feeds.add((first, feed));
        feeds.add((second, other_feed));
        other_sender.send(tick(1), Hold::none());
        assert_eq!(next(&mut feeds).await, (second, Some(tick(1))));
        drop(other_sender);
        assert_eq!(next(&mut feeds).await, (second, None));
        sender.send(tick(2), Hold::none());
        assert_eq!(next(&mut feeds).await, (first, Some(tick(2))));
    }
}
