//! What the venue will do, written down before the run.

use candlewick_api::model::{TradeRecord, TradeResult, TradeStatus};
use candlewick_api::{ApiError, OpenReply};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Payout, Symbol};
use std::collections::{BTreeMap, VecDeque};

/// A kind of question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ask {
    Candles(Symbol),
    Price(Symbol),
    Trade(String),
    List(u64),
    Wallets,
    Open(Symbol),
}

/// Which questions something happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    Candles(Symbol),
    Prices,
    Trades,
    Wallets,
    Opens(Symbol),
}

impl Which {
    fn takes(self, ask: &Ask) -> bool {
        match (self, ask) {
            (Self::Candles(symbol), Ask::Candles(asked)) | (Self::Opens(symbol), Ask::Open(asked)) => {
                symbol == *asked
            }
            (Self::All, _)
            | (Self::Prices, Ask::Price(_))
            | (Self::Trades, Ask::Trade(_) | Ask::List(_))
            | (Self::Wallets, Ask::Wallets) => true,
            _ => false,
        }
    }
}

/// What happens to a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trouble {
    /// It is answered so much later.
    Slow(Millis),
    /// It is never answered.
    Hang,
    /// It fails at once.
    Fail(ApiError),
    /// The client's own code breaks.
    Panic,
}

/// Trouble of some questions asked from a moment on and before another.
#[derive(Clone, Debug)]
pub(crate) struct Spell {
    pub(crate) which: Which,
    pub(crate) from: Millis,
    pub(crate) to: Millis,
    pub(crate) trouble: Trouble,
}

/// What comes of the next open.
#[derive(Clone, Debug)]
pub(crate) struct OpenScript {
    pub(crate) answer: Result<OpenReply, ApiError>,
    /// What get-by-id says from each moment on.
    pub(crate) by_id: Vec<(Millis, TradeRecord)>,
    /// What the list by user says from each moment on, and on which page.
    pub(crate) listed: (u64, Vec<(Millis, TradeRecord)>),
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) spells: Vec<Spell>,
    /// How long after its close a candle is there; at once unless said otherwise.
    pub(crate) lags: BTreeMap<(Symbol, Millis), Millis>,
    pub(crate) opens: VecDeque<OpenScript>,
    /// Balance of the demo wallet from each moment on.
    pub(crate) balances: Vec<(Millis, i64)>,
    /// How far the venue's `Date` is ahead from each moment on; answers before the first have none.
    pub(crate) ahead: Vec<(Millis, Millis)>,
    /// Rows that the venue cannot produce as candles.
    pub(crate) broken: Vec<(Symbol, Millis)>,
    /// What get-by-id says of identifiers that a person may name; none is a venue without such a trade.
    pub(crate) named: BTreeMap<String, Option<TradeRecord>>,
}

impl Script {
    pub(crate) fn trouble(&self, ask: &Ask, now: Millis) -> Option<Trouble> {
        let spell = |spell: &&Spell| spell.which.takes(ask) && spell.from <= now && now < spell.to;
        self.spells.iter().find(spell).map(|spell| spell.trouble.clone())
    }
}

/// The last entry of a list by moments that is not later than `now`.
pub(crate) fn since<T: Clone>(list: &[(Millis, T)], now: Millis) -> Option<T> {
    list.iter().rev().find(|(from, _)| *from <= now).map(|(_, value)| value.clone())
}

pub(crate) fn unavailable() -> ApiError {
    ApiError::Unavailable { text: "down".to_owned() }
}

/// A record of the full projection that has not ended.
pub(crate) fn running(id: &str, open: Millis, close: Millis) -> TradeRecord {
    TradeRecord {
        id: id.to_owned(),
        status: Some(TradeStatus::Open),
        result: Some(TradeResult::Pending),
        open_time: Some(open),
        open_price: Some(100.0),
        close_time: Some(close),
        payout: Some(Decimal::from(80)),
        ..TradeRecord::default()
    }
}

/// The short projection, which never says how a trade ended.
pub(crate) fn short(id: &str, status: TradeStatus) -> TradeRecord {
    TradeRecord { id: id.to_owned(), status: Some(status), ..TradeRecord::default() }
}

impl OpenScript {
    /// Accepted, with all times in the reply; still running for get-by-id and the list.
    pub(crate) fn accepted(id: &str, open: Millis, close: Millis) -> Self {
        let reply = OpenReply {
            id: id.to_owned(),
            open_time: Some(open),
            open_price: Some(100.0),
            close_time: Some(close),
            payout: Payout::from_parts(800_000),
            ..OpenReply::default()
        };
        let record = running(id, open, close);
        let always = vec![(Millis::ZERO, record)];
        Self { answer: Ok(reply), by_id: always.clone(), listed: (1, always) }
    }

    /// Accepted with an identifier and nothing else.
    pub(crate) fn acknowledged(id: &str) -> Self {
        let reply = OpenReply { id: id.to_owned(), ..OpenReply::default() };
        let always = vec![(Millis::ZERO, short(id, TradeStatus::Open))];
        Self { answer: Ok(reply), by_id: always.clone(), listed: (1, always) }
    }

    /// Not accepted.
    pub(crate) fn failed(error: ApiError) -> Self {
        Self { answer: Err(error), by_id: Vec::new(), listed: (1, Vec::new()) }
    }

    /// The venue says when the request reached it.
    pub(crate) fn arriving(mut self, at: Millis) -> Self {
        if let Ok(reply) = &mut self.answer {
            reply.request_time = Some(at);
        }
        self
    }

    /// Get-by-id changes at a moment.
    pub(crate) fn then(mut self, at: Millis, change: impl FnOnce(&mut TradeRecord)) -> Self {
        let (_, mut record) = self.by_id.last().cloned().unwrap();
        change(&mut record);
        self.by_id.push((at, record));
        self
    }

    /// The list by user changes at a moment.
    pub(crate) fn then_listed(mut self, at: Millis, change: impl FnOnce(&mut TradeRecord)) -> Self {
        let (_, mut record) = self.listed.1.last().cloned().unwrap();
        change(&mut record);
        self.listed.1.push((at, record));
        self
    }

    pub(crate) fn on_page(mut self, page: u64) -> Self {
        self.listed.0 = page;
        self
    }

    /// Get-by-id has the outcome from a moment on.
    pub(crate) fn ending(self, at: Millis, result: TradeResult, pnl: i64) -> Self {
        self.then(at, |record| end(record, result, pnl))
    }
}

/// Writes an outcome into a record.
pub(crate) fn end(record: &mut TradeRecord, result: TradeResult, pnl: i64) {
    record.status = Some(TradeStatus::Completed);
    record.result = Some(result);
    record.pnl = Some(Decimal::from(pnl));
    record.close_price = Some(101.0);
}
