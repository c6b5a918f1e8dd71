//! Requests and trades of the venue, and the rules by which trades end.

use crate::prelude::*;
use candlewick_sdk::rust_decimal::RoundingStrategy;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Intent(u64),
    Program,
    Person,
    Venue(u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Trade {
    pub(crate) id: String,
    pub(crate) intent: Option<u64>,
    pub(crate) second_of: Option<u64>,
    pub(crate) order: TradeOrder,
    pub(crate) lie: Option<Lie>,
    pub(crate) stake: i64,
    pub(crate) payout: Decimal,
    pub(crate) request_time: Millis,
    pub(crate) open_time: Millis,
    pub(crate) close_time: Millis,
    pub(crate) open_price: f64,
    pub(crate) close_price: f64,
    pub(crate) outcome: Outcome,
    pub(crate) profit: i64,
    pub(crate) revision: Option<Revision>,
    pub(crate) former: Option<(Outcome, i64)>,
    pub(crate) withheld: (i64, i64),
    pub(crate) settles_at: Millis,
    pub(crate) told_at: Millis,
    pub(crate) listed_from: Millis,
    /// Time from which the wallet shows the effect of the trade, apart from its lag.
    pub(crate) wallet_from: Millis,
    pub(crate) is_by_token: bool,
    pub(crate) is_shown: bool,
    pub(crate) is_settled: bool,
    pub(crate) is_taken_for_ours: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Revision {
    pub(crate) at: Millis,
    pub(crate) outcome: Outcome,
    pub(crate) profit: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) sender: Sender,
    pub(crate) order: TradeOrder,
    pub(crate) stamped_ago: Millis,
    pub(crate) listed_from: Millis,
    pub(crate) twin: Option<Twin>,
    /// Whether a second trade of it can be identified: its answer arrives, and no search for another trade is running.
    pub(crate) is_clear: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Twin {
    pub(crate) after: Millis,
    pub(crate) listed_before: Millis,
}

impl Trade {
    pub(crate) fn passes_for(&self, ours: &Self) -> bool {
        self.is_taken_for_ours && is_of_pair(&self.order, &ours.order)
    }

    pub(crate) fn is_alarming(&self, since: Millis) -> bool {
        let is_theirs = self.intent.is_none() && self.is_by_token && self.order.account == Account::Demo;
        is_theirs && !self.is_shown && self.request_time >= since
    }

    pub(crate) fn money_lie(&self) -> Option<MoneyLie> {
        self.lie.and_then(Lie::money_lie)
    }

    pub(crate) fn is_of_real_money(&self) -> bool {
        self.lie.is_some_and(Lie::is_unlike_asked) && self.order.account == Account::Real
    }

    pub(crate) fn is_accounted_for(
        &self,
        accounts: &Accounts<'_>,
        (is_passed_for, is_named): (bool, bool),
        since: Millis,
    ) -> bool {
        let is_reported = accounts.reported.contains(&self.id);
        match self.intent {
            Some(_) if self.is_of_real_money() => is_named || self.request_time < since,
            Some(_) if is_passed_for => is_reported || self.request_time < since,
            Some(intent) if self.lie.is_some_and(Lie::may_stay_open) && accounts.open.contains(&intent) => {
                true
            }
            // A trade made before the journal, by our clock, counts as foreign (see `reckon`).
            Some(intent) => accounts.settled.contains(&intent) || is_reported || self.request_time < since,
            None => !self.is_alarming(since) || is_reported || self.is_taken_for_ours,
        }
    }
}

pub(crate) fn is_of_pair(order: &TradeOrder, asked: &TradeOrder) -> bool {
    order.symbol == asked.symbol && order.account == asked.account
}

pub(crate) fn candle_close(at: Millis, duration: Millis) -> Millis {
    let close = at.floor_to(duration) + duration;
    let cutoff = if duration >= Millis::MINUTE { Millis::from_seconds(30) } else { Millis::ZERO };
    if close - at <= cutoff { close + duration } else { close }
}

impl Request {
    pub(crate) const fn new(sender: Sender, order: TradeOrder) -> Self {
        let (stamped_ago, listed_from) = (Millis::ZERO, Millis::ZERO);
        Self { sender, order, stamped_ago, listed_from, twin: None, is_clear: false }
    }

    pub(crate) const fn intent(&self) -> Option<u64> {
        if let Sender::Intent(number) = self.sender { Some(number) } else { None }
    }
}

pub(crate) fn moments(order: &TradeOrder, at: Millis) -> (Millis, Millis) {
    let duration = order.close_type.duration();
    let open = at.floor_to(Millis::SECOND) + Millis::new(999);
    let close = match order.expiration_type {
        ExpirationType::CandleClose => candle_close(open, duration),
        ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::NextCandle => open + duration,
    };
    (open, close)
}

pub(crate) fn end_of(order: &TradeOrder, payout: Decimal, prices: [f64; 2], is_void: bool) -> (Outcome, i64) {
    let [open_price, close_price] = prices;
    let outcome = match order.direction {
        _ if is_void => Outcome::Cancelled,
        _ if open_price == close_price => Outcome::Draw,
        Direction::Buy if close_price > open_price => Outcome::Won,
        Direction::Sell if close_price < open_price => Outcome::Won,
        Direction::Buy | Direction::Sell => Outcome::Lost,
    };
    let profit = match outcome {
        Outcome::Won => {
            let exact = order.amount * payout / Decimal::ONE_HUNDRED;
            to_minor(exact.round_dp_with_strategy(2, RoundingStrategy::MidpointNearestEven))
        }
        Outcome::Lost => -to_minor(order.amount),
        Outcome::Draw | Outcome::Cancelled => 0,
    };
    (outcome, profit)
}

pub(crate) fn price(seed: u64, symbol: Symbol, at: Millis) -> f64 {
    let key = symbol.as_str().bytes().fold(0, |key, byte| key * 31 + u64::from(byte));
    100.0 + (mix([seed, key, at.floor_to(Millis::SECOND).get() as u64]) % 5) as f64
}

pub(crate) fn to_minor(amount: Decimal) -> i64 {
    (amount * Decimal::ONE_HUNDRED).to_i64().unwrap_or(0)
}
