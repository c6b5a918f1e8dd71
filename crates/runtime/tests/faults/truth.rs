//! What really happened at the venue: accepted trades, their ends, the wallet. Nothing here fails or lags.

use crate::dice::{Dice, mix};
use crate::plan::{BALANCE, Plan};
use candlewick_api::OpenOrder;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::rust_decimal::{Decimal, RoundingStrategy};
use candlewick_sdk::{ExpirationType, Millis, Outcome, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// What other programs with a token stake; people at the venue's own pages stake anything.
pub(crate) const STRANGE_AMOUNT: Decimal = Decimal::from_parts(3, 0, 0, false, 0);

/// An accepted trade.
#[derive(Clone, Debug)]
pub(crate) struct Trade {
    pub(crate) id: String,
    /// The intent whose request it came from; none of a stranger's.
    pub(crate) intent: Option<u64>,
    pub(crate) order: OpenOrder,
    /// In minor units.
    pub(crate) stake: i64,
    pub(crate) payout: Decimal,
    pub(crate) request_time: Millis,
    pub(crate) open_time: Millis,
    pub(crate) close_time: Millis,
    pub(crate) open_price: f64,
    pub(crate) close_price: f64,
    pub(crate) outcome: Outcome,
    /// In minor units.
    pub(crate) profit: i64,
    /// From when on its result is known, and its money is in the wallet.
    pub(crate) settles_at: Millis,
    /// From when on it is listed.
    pub(crate) listed_from: Millis,
    /// Whether a token asked for it, or a person at the venue's own pages.
    pub(crate) is_by_token: bool,
    is_settled: bool,
}

/// A request on its way.
struct Arrival {
    intent: Option<u64>,
    is_by_token: bool,
    order: OpenOrder,
    payout: i64,
    is_refused: bool,
    /// How long the list keeps it back, and how late its result is.
    lags: (i64, i64),
}

/// What became of a request that has arrived.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// Not yet there.
    Underway,
    Refused,
    /// The place of its trade.
    Accepted(usize),
}

/// All of it.
pub(crate) struct Truth {
    seed: u64,
    pub(crate) trades: Vec<Trade>,
    arrivals: BTreeMap<(Millis, u64), Arrival>,
    fates: BTreeMap<u64, Fate>,
    tickets: u64,
    /// Balances by moment, in minor units.
    history: Vec<(Millis, i64)>,
    /// What strangers' trades did to the wallet so far.
    pub(crate) by_strangers: i64,
    /// Intents whose request has left, each once.
    posted: BTreeSet<u64>,
}

impl Trade {
    /// Whether nobody can have asked for it but another program, while ours was in use.
    pub(crate) fn is_alarming(&self, since: Millis) -> bool {
        self.intent.is_none() && self.is_by_token && self.request_time >= since
    }
}

impl Truth {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            seed: plan.seed,
            trades: Vec::new(),
            arrivals: BTreeMap::new(),
            fates: BTreeMap::new(),
            tickets: 0,
            history: vec![(Millis::ZERO, BALANCE)],
            by_strangers: 0,
            posted: BTreeSet::new(),
        }
    }

    /// Notes that an intent's request leaves; false when it has left before.
    pub(crate) fn post(&mut self, intent: u64) -> bool {
        self.posted.insert(intent)
    }

    /// A request is sent and will arrive at a moment; answers its ticket.
    pub(crate) fn send(
        &mut self,
        at: Millis,
        intent: Option<u64>,
        order: &OpenOrder,
        plan: &Plan,
        dice: &mut Dice,
    ) -> u64 {
        let habits = &plan.habits;
        let cut = if habits.cuts_payouts { dice.pick(&[0, 0, 5, 22]) } else { 0 };
        let arrival = Arrival {
            intent,
            is_by_token: intent.is_some() || order.amount == STRANGE_AMOUNT,
            order: order.clone(),
            payout: 85 - cut,
            is_refused: intent.is_some() && dice.per_mille(habits.refused),
            lags: (dice.between(0, habits.list_lag_ms), dice.between(0, habits.settle_late_ms)),
        };
        self.tickets += 1;
        self.arrivals.insert((at, self.tickets), arrival);
        self.fates.insert(self.tickets, Fate::Underway);
        self.tickets
    }

    /// The process ended while a request was on its way: it never arrives.
    pub(crate) fn lose(&mut self, ticket: u64) {
        self.arrivals.retain(|(_, number), _| *number != ticket);
    }

    pub(crate) fn fate(&self, ticket: u64) -> Fate {
        self.fates[&ticket].clone()
    }

    /// Lets happen what has happened by `now`.
    pub(crate) fn advance(&mut self, now: Millis) {
        loop {
            let arrival = self.arrivals.first_key_value().map(|((at, _), _)| *at);
            let open = self.trades.iter().enumerate().filter(|(_, trade)| !trade.is_settled);
            let end = open.map(|(place, trade)| (trade.settles_at, place)).min();
            match (arrival, end) {
                (Some(at), end) if at <= now && end.is_none_or(|(settles, _)| at < settles) => self.arrive(),
                (_, Some((at, place))) if at <= now => self.settle(place),
                _ => return,
            }
        }
    }

    fn arrive(&mut self) {
        let Some(((at, ticket), arrival)) = self.arrivals.pop_first() else { return };
        let stake = to_minor(arrival.order.amount);
        if arrival.is_refused || self.balance() < stake {
            self.fates.insert(ticket, Fate::Refused);
            return;
        }
        self.fates.insert(ticket, Fate::Accepted(self.trades.len()));
        let (open_time, close_time) = moments(&arrival.order, at);
        let [open_price, close_price] =
            [open_time, close_time].map(|moment| price(self.seed, arrival.order.symbol, moment));
        let is_called_off = mix([self.seed, ticket, 7]).is_multiple_of(40);
        let outcome = match arrival.order.direction {
            _ if is_called_off => Outcome::Cancelled,
            _ if open_price == close_price => Outcome::Draw,
            candlewick_sdk::Direction::Buy if close_price > open_price => Outcome::Won,
            candlewick_sdk::Direction::Sell if close_price < open_price => Outcome::Won,
            _ => Outcome::Lost,
        };
        let payout = Decimal::from(arrival.payout);
        let profit = match outcome {
            Outcome::Won => {
                let exact = arrival.order.amount * payout / Decimal::ONE_HUNDRED;
                to_minor(exact.round_dp_with_strategy(2, RoundingStrategy::MidpointNearestEven))
            }
            Outcome::Lost => -stake,
            Outcome::Draw | Outcome::Cancelled => 0,
        };
        self.change_balance(at, -stake, arrival.intent);
        self.trades.push(Trade {
            id: format!("trade-{:04}", self.trades.len() + 1),
            intent: arrival.intent,
            order: arrival.order,
            stake,
            payout,
            request_time: at,
            open_time,
            close_time,
            open_price,
            close_price,
            outcome,
            profit,
            settles_at: close_time + Millis::new(arrival.lags.1),
            listed_from: at + Millis::new(arrival.lags.0),
            is_by_token: arrival.is_by_token,
            is_settled: false,
        });
    }

    fn settle(&mut self, place: usize) {
        let trade = &mut self.trades[place];
        trade.is_settled = true;
        let (at, back, intent) = (trade.settles_at, trade.stake + trade.profit, trade.intent);
        self.change_balance(at, back, intent);
    }

    fn change_balance(&mut self, at: Millis, by: i64, intent: Option<u64>) {
        if intent.is_none() {
            self.by_strangers += by;
        }
        self.history.push((at, self.balance() + by));
    }

    pub(crate) fn balance(&self) -> i64 {
        self.history.last().map_or(0, |(_, balance)| *balance)
    }

    /// What the wallet held at a moment.
    pub(crate) fn balance_at(&self, at: Millis) -> i64 {
        let past = self.history.iter().rev().find(|(since, _)| *since <= at);
        past.or(self.history.first()).map_or(0, |(_, balance)| *balance)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Trade> {
        self.trades.iter().find(|trade| trade.id == id)
    }

    pub(crate) fn of_intent(&self, intent: u64) -> Option<&Trade> {
        self.trades.iter().find(|trade| trade.intent == Some(intent))
    }

    /// Whether an intent's request may still arrive.
    pub(crate) fn is_underway(&self, intent: u64) -> bool {
        self.arrivals.values().any(|arrival| arrival.intent == Some(intent))
    }

    /// Whether the trades of all intents are settled for the program too, and those of other programs reported.
    pub(crate) fn is_all_told(
        &self,
        settled: &BTreeSet<u64>,
        reported: &BTreeSet<String>,
        since: Millis,
    ) -> bool {
        self.trades.iter().all(|trade| match trade.intent {
            // One of before the journal, as our clock took it, is nobody's (see `reckon`).
            Some(intent) => {
                settled.contains(&intent) || reported.contains(&trade.id) || trade.request_time < since
            }
            None => !trade.is_alarming(since) || reported.contains(&trade.id),
        })
    }

    /// Whether nothing is on its way or open.
    pub(crate) fn is_quiet(&self) -> bool {
        self.arrivals.is_empty() && self.trades.iter().all(|trade| trade.is_settled)
    }
}

/// When a trade opens and closes (`observed: expiry`).
fn moments(order: &OpenOrder, at: Millis) -> (Millis, Millis) {
    let duration = order.close_type.duration();
    let open = at.floor_to(Millis::SECOND) + Millis::new(999);
    let close = match order.expiration_type {
        ExpirationType::CandleClose => {
            let close = open.floor_to(duration) + duration;
            let cutoff = if duration >= Millis::MINUTE { Millis::from_seconds(30) } else { Millis::ZERO };
            if close - open <= cutoff { close + duration } else { close }
        }
        ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::NextCandle => open + duration,
    };
    (open, close)
}

/// Five prices, so that draws happen.
pub(crate) fn price(seed: u64, symbol: Symbol, at: Millis) -> f64 {
    let key = symbol.as_str().bytes().fold(0, |key, byte| key * 31 + u64::from(byte));
    100.0 + (mix([seed, key, at.floor_to(Millis::SECOND).get() as u64]) % 5) as f64
}

fn to_minor(amount: Decimal) -> i64 {
    (amount * Decimal::ONE_HUNDRED).to_i64().unwrap_or(0)
}
