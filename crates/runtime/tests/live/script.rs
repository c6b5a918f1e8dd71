//! The scripted behaviour of the venue.

use crate::prelude::*;
use candlewick_broker::TradeProgress;
use candlewick_sdk::Payout;
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ask {
    Candles(Symbol),
    Price(Symbol),
    Trade(String),
    Trades,
    Balances,
    Open(Symbol),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    Candles(Symbol),
    Prices,
    Trades,
    Balances,
    Opens(Symbol),
}

impl Which {
    fn takes(self, ask: &Ask) -> bool {
        match (self, ask) {
            (Self::Candles(own), Ask::Candles(asked)) | (Self::Opens(own), Ask::Open(asked)) => own == *asked,
            (Self::All, _)
            | (Self::Prices, Ask::Price(_))
            | (Self::Trades, Ask::Trade(_) | Ask::Trades)
            | (Self::Balances, Ask::Balances) => true,
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trouble {
    Slow(Millis),
    Hang,
    Fail(BrokerError),
    Panic,
}

#[derive(Clone, Debug)]
pub(crate) struct OpenScript {
    pub(crate) answer: Result<TradeReport, OpenOutcome>,
    pub(crate) by_id: Vec<(Millis, TradeReport)>,
    pub(crate) listed: Vec<(Millis, TradeReport)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) spells: Vec<(Which, Range<Millis>, Trouble)>,
    pub(crate) lags: BTreeMap<(Symbol, Millis), Millis>,
    pub(crate) opens: VecDeque<OpenScript>,
    pub(crate) balances: Vec<(Millis, i64)>,
    /// Lead of the venue's `Date` from each moment on; earlier answers have no date.
    pub(crate) ahead: Vec<(Millis, Millis)>,
    pub(crate) broken: Vec<(Symbol, Millis)>,
    pub(crate) named: BTreeMap<String, Option<TradeReport>>,
}

impl Script {
    pub(crate) fn trouble(&self, ask: &Ask, now: Millis) -> Option<Trouble> {
        let spell = self.spells.iter().find(|(which, span, _)| which.takes(ask) && span.contains(&now));
        spell.map(|(.., trouble)| trouble.clone())
    }
}

pub(crate) fn since<T: Clone>(list: &[(Millis, T)], now: Millis) -> Option<T> {
    list.iter().rev().find(|(from, _)| *from <= now).map(|(_, value)| value.clone())
}

pub(crate) fn unavailable() -> BrokerError {
    BrokerError::Unavailable { text: "down".to_owned() }
}

pub(crate) fn unknown() -> OpenOutcome {
    OpenOutcome::Unknown { reason: "lost".to_owned() }
}

pub(crate) fn not_sent() -> OpenOutcome {
    OpenOutcome::NotSent { reason: "no line".to_owned() }
}

pub(crate) fn running(id: &str, open: Millis, close: Millis) -> TradeReport {
    TradeReport {
        open_time: Some(open),
        open_price: Some(100.0),
        close_time: Some(close),
        payout: Payout::from_parts(800_000),
        ..TradeReport::new(id)
    }
}

impl OpenScript {
    pub(crate) fn accepted(id: &str, open: Millis, close: Millis) -> Self {
        let report = running(id, open, close);
        let always = vec![(Millis::ZERO, report.clone())];
        Self { answer: Ok(report), by_id: always.clone(), listed: always }
    }

    pub(crate) fn acknowledged(id: &str) -> Self {
        let always = vec![(Millis::ZERO, TradeReport::new(id))];
        Self { answer: Ok(TradeReport::new(id)), by_id: always.clone(), listed: always }
    }

    pub(crate) fn failed(outcome: OpenOutcome) -> Self {
        Self { answer: Err(outcome), by_id: Vec::new(), listed: Vec::new() }
    }

    pub(crate) fn arriving(mut self, at: Millis) -> Self {
        if let Ok(report) = &mut self.answer {
            report.request_time = Some(at);
        }
        self
    }

    pub(crate) fn then(mut self, at: Millis, change: impl FnOnce(&mut TradeReport)) -> Self {
        let (_, mut report) = self.by_id.last().cloned().unwrap();
        change(&mut report);
        self.by_id.push((at, report));
        self
    }

    pub(crate) fn ending(self, at: Millis, outcome: Outcome, profit: i64) -> Self {
        self.then(at, |report| end(report, outcome, profit))
    }

    pub(crate) fn outcome(
        &self,
        reply: impl FnOnce(Box<TradeReport>) -> Reply<Box<TradeReport>>,
    ) -> OpenOutcome {
        match &self.answer {
            Ok(report) => OpenOutcome::Opened(reply(Box::new(report.clone()))),
            Err(outcome) => outcome.clone(),
        }
    }
}

pub(crate) fn end(report: &mut TradeReport, outcome: Outcome, profit: i64) {
    report.progress = TradeProgress::Over(outcome);
    report.profit = Some(Decimal::from(profit));
    report.close_price = Some(101.0);
}
