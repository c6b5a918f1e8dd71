//! A scripted venue that reports a breach for anything a correct client never does.

use crate::journal::MemoryJournal;
use crate::prelude::*;
use crate::script::since;
use candlewick_broker::{
    Account, Balances, CandleRow, DetailLevel, Identity, PriceRecord, TradeListing, TradeOrder,
};
use candlewick_sdk::Ohlcv;
use std::sync::MutexGuard;

pub(crate) const USER: &str = "user-1";
const MAX_ASKS: usize = 5_000;

pub(crate) struct ScriptedVenue {
    pub(crate) clock: Arc<dyn Clock>,
    /// Journal in which intents must be durable before their request; `None` for a run without a journal.
    pub(crate) journal: Option<MemoryJournal>,
    pub(crate) start: Millis,
    pub(crate) script: Script,
    pub(crate) state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) asks: Vec<(Millis, Ask)>,
    waiting: Vec<Ask>,
    pub(crate) breaches: Vec<String>,
    newest: BTreeMap<Symbol, Millis>,
    opens: usize,
    trades: Vec<OpenScript>,
    ended: Vec<String>,
}

struct Waiting<'a>(&'a ScriptedVenue, Ask);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let place = state.waiting.iter().position(|ask| *ask == self.1);
        place.map(|place| state.waiting.remove(place));
    }
}

fn row(open: Millis) -> CandleRow {
    let price = 100.0 + (open.get() / 60_000 % 7) as f64;
    let prices = Ohlcv { open: price, high: price + 2.0, low: price - 1.0, close: price + 1.0, volume: 1.0 };
    CandleRow { time: open, prices }
}

impl ScriptedVenue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn require(&self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            let text = text();
            self.state().breaches.push(text);
        }
    }

    async fn take(&self, ask: Ask) -> Result<(), BrokerError> {
        let now = self.clock.now();
        let count = {
            let mut state = self.state();
            if state.waiting.contains(&ask) {
                state.breaches.push(format!("{ask:?} asked again before it was answered"));
            }
            state.waiting.push(ask.clone());
            state.asks.push((now, ask.clone()));
            state.asks.len()
        };
        let _waiting = Waiting(self, ask.clone());
        if count > MAX_ASKS {
            self.require(count > MAX_ASKS + 1, || "questions without end".to_owned());
            return std::future::pending().await;
        }
        let answer = match self.script.trouble(&ask, now) {
            None => {
                tokio::task::yield_now().await;
                Ok(())
            }
            Some(Trouble::Slow(span)) => {
                tokio::time::sleep(Duration::from_millis(span.get() as u64)).await;
                Ok(())
            }
            Some(Trouble::Fail(error)) => Err(error),
            Some(Trouble::Hang) => std::future::pending().await,
            Some(Trouble::Panic) => panic!("the client breaks, as scripted"),
        };
        let stood = !self.clock.is_lock_step() || self.clock.now() == now;
        self.require(stood, || format!("the clock moved before {ask:?} was answered"));
        answer
    }

    fn reply<T>(&self, value: T, sent: Millis) -> Reply<T> {
        let received = self.clock.now();
        let date = since(&self.script.ahead, received).map(|lead| (received + lead).floor_to(Millis::SECOND));
        Reply { value, date, sent, received }
    }

    /// Takes the durable, unsent intent of an order: each intent has at most one request.
    fn check_order(&self, order: &TradeOrder) {
        let Some(journal) = &self.journal else { return };
        let (found, is_halted) = {
            let mut record = journal.0.lock().unwrap();
            let durable = record.durable;
            let amount = |units: i64| Decimal::new(units, 2);
            let place = record.unsent.iter().position(|(line, approved)| {
                *line <= durable
                    && approved.direction() == order.direction
                    && amount(approved.stake().minor()) == order.amount
            });
            place.map(|place| record.unsent.remove(place));
            (place.is_some(), record.is_halted)
        };
        self.require(found, || format!("{} opened without a durable intent of its own", order.symbol));
        self.require(!is_halted, || format!("{} opened while stopped", order.symbol));
        self.require(order.account == Account::Demo, || "real money".to_owned());
    }

    fn report_of(&self, id: &str) -> Option<TradeReport> {
        let now = self.clock.now();
        let mut state = self.state();
        let is_it = |trade: &&OpenScript| trade.by_id.first().is_some_and(|(_, report)| report.id == id);
        let report = state.trades.iter().find(is_it).and_then(|trade| since(&trade.by_id, now));
        if state.ended.iter().any(|ended| ended == id) {
            state.breaches.push(format!("trade {id} asked for after its outcome was answered"));
        } else if report.as_ref().is_some_and(|report| report.progress.outcome().is_some()) {
            state.ended.push(id.to_owned());
        }
        report
    }
}

#[async_trait]
impl Broker for ScriptedVenue {
    async fn balances(&self) -> Result<Reply<Balances>, BrokerError> {
        let sent = self.clock.now();
        self.take(Ask::Balances).await?;
        let balance = since(&self.script.balances, self.clock.now()).unwrap_or(1_000);
        Ok(self
            .reply(Balances { demo: Some(Decimal::from(balance)), real: None, ..Balances::default() }, sent))
    }

    async fn trades(&self) -> TradeListing {
        let began = self.clock.now();
        let asked = self.take(Ask::Trades).await;
        let ended = self.clock.now();
        if let Err(error) = asked {
            return TradeListing { began, ended, end_error: Some(error), ..TradeListing::default() };
        }
        let scripts = self.state().trades.clone();
        let trades = scripts.iter().filter_map(|trade| since(&trade.listed, ended)).collect();
        TradeListing { began, ended, is_complete: true, trades, end_error: None }
    }

    async fn trade(&self, id: &str, detail: DetailLevel) -> Result<Reply<TradeReport>, BrokerError> {
        let sent = self.clock.now();
        self.take(Ask::Trade(id.to_owned())).await?;
        let named = self.script.named.get(id);
        self.require(named.is_some() || detail == DetailLevel::Progress, || {
            format!("details requested for the unknown trade {id}")
        });
        let report = self.report_of(id).or_else(|| named.cloned().flatten());
        self.require(report.is_some() || named.is_some(), || format!("trade {id} is not known here"));
        match report {
            Some(report) => Ok(self.reply(report, sent)),
            None => Err(BrokerError::NotFound { text: id.to_owned() }),
        }
    }

    async fn open(&self, order: &TradeOrder, _leave_by: Millis) -> OpenOutcome {
        let sent = self.clock.now();
        self.check_order(order);
        let script = {
            let mut state = self.state();
            state.opens += 1;
            self.script.opens.get(state.opens - 1).cloned()
        };
        self.require(script.is_some(), || format!("{}: one open more than scripted", order.symbol));
        let Some(script) = script else { return OpenOutcome::NotSent { reason: "not scripted".to_owned() } };
        if !script.by_id.is_empty() {
            self.state().trades.push(script.clone());
        }
        if let Err(error) = self.take(Ask::Open(order.symbol)).await {
            return OpenOutcome::Unknown { reason: error.to_string() };
        }
        script.outcome(|report| self.reply(report, sent))
    }

    async fn identity(&self) -> Result<Reply<Identity>, BrokerError> {
        Ok(self.reply(Identity::default(), self.clock.now()))
    }
}

#[async_trait]
impl MarketData for ScriptedVenue {
    async fn price(&self, pair: &Symbol, as_of: AsOf) -> Result<Reply<PriceAnswer>, BrokerError> {
        let sent = self.clock.now();
        let AsOf::Moment(at) = as_of else { panic!("a price asked for without its moment") };
        self.require(at <= sent, || format!("the price of {at} asked for at {sent}"));
        self.take(Ask::Price(*pair)).await?;
        let record = PriceRecord { time: at, prices: row(at).prices, created_time: None };
        Ok(self.reply(PriceAnswer::Record(record), sent))
    }

    async fn candles(&self, query: &CandleQuery) -> Result<Reply<Candles>, BrokerError> {
        let now = self.clock.now();
        let (symbol, length) = (query.symbol, query.interval.length());
        let newest = self.state().newest.get(&symbol).copied();
        self.require(query.start + length <= now, || {
            format!("{symbol}: the window requested at {now} cannot contain a closed candle")
        });
        self.require(query.end <= now, || format!("{symbol}: future candles requested"));
        // Two answered trades are requested again, to notice later changes.
        let reach = query.start + length * 2;
        let is_news = now == self.start || newest.is_none_or(|newest| reach > newest);
        self.require(is_news, || format!("{symbol}: an answered candle was requested again at {now}"));
        self.take(Ask::Candles(symbol)).await?;
        let answered = self.clock.now();
        let first = query.start.floor_to(length).max(self.start - length * 5);
        let opens = std::iter::successors(Some(first), |open| Some(*open + length));
        let window = opens.take_while(|open| *open <= query.end);
        let there = |open: &Millis| {
            let close = *open + length;
            let lag = self.script.lags.get(&(symbol, close)).copied().unwrap_or(Millis::ZERO);
            // A candle is listed while it forms, but not between its close and the end of its lag.
            *open >= query.start && (answered < close || answered >= close + lag)
        };
        let mut rows: Vec<CandleRow> = window.filter(there).map(row).collect();
        for row in &mut rows {
            if self.script.broken.contains(&(symbol, row.time)) {
                row.prices.low = -1.0;
            }
        }
        let sound = rows.iter().filter(|row| row.prices.low > 0.0).map(|row| row.time);
        let closed = sound.filter(|open| *open + length <= now).max();
        if let Some(closed) = closed.max(newest) {
            self.state().newest.insert(symbol, closed);
        }
        rows.reverse();
        Ok(self.reply(Candles::from_rows(&rows, query, now), now))
    }
}
