//! What really happened at the venue: accepted trades, their ends, the wallet. Nothing here fails or lags.

use crate::dice::{Dice, mix};
use crate::lies::{Lie, Lies};
use crate::plan::{BALANCE, Habits, Plan, Withholding};
use crate::world::World;
use candlewick_broker::{Account, OpenOrder};
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::rust_decimal::{Decimal, RoundingStrategy};
use candlewick_sdk::{Direction, ExpirationType, Millis, Outcome, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// Trades are named by this and their number, from 1.
const ID_PREFIX: &str = "trade-";

/// Who asks for a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// We, for an intent.
    Intent(u64),
    /// Another program with a token.
    Program,
    /// A person at the venue's own pages.
    Person,
    /// The venue, which makes another trade of an intent's one request.
    Venue(u64),
}

/// An accepted trade.
#[derive(Clone, Debug)]
pub(crate) struct Trade {
    pub(crate) id: String,
    /// The intent whose request it came from; none of a stranger's.
    pub(crate) intent: Option<u64>,
    /// The intent of whose one request the venue made it as well, by a lie.
    pub(crate) second_of: Option<u64>,
    /// What the venue took.
    pub(crate) order: OpenOrder,
    /// What the venue does or says of it that is not so.
    pub(crate) lie: Option<Lie>,
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
    /// From when on its money is in the wallet.
    pub(crate) settles_at: Millis,
    /// From when on anybody says how it ended.
    pub(crate) told_at: Millis,
    /// From when on it is listed.
    pub(crate) listed_from: Millis,
    /// Whether a token asked for it, or a person at the venue's own pages.
    pub(crate) is_by_token: bool,
    /// Whether a person who was asked about an intent has seen it.
    pub(crate) is_shown: bool,
    pub(crate) is_settled: bool,
    /// Whether it passed, as another program's, for what the venue took of a request of ours.
    pub(crate) is_taken_for_ours: bool,
}

/// A request that leaves.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) sender: Sender,
    pub(crate) order: OpenOrder,
    /// How long before its arrival the venue stamps it.
    pub(crate) stamped_ago: Millis,
    /// From when on its trade is listed, unless that is before its arrival.
    pub(crate) listed_from: Millis,
    /// Another program asks for the same as soon as this is accepted.
    pub(crate) twin: Option<Twin>,
    /// Whether a second trade of it could be known as such: its answer arrives, and nobody looks for another trade.
    pub(crate) is_clear: bool,
}

/// A trade of another program, equal to ours in every respect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twin {
    /// How long after ours it is asked for.
    pub(crate) after: Millis,
    /// How long before ours it is listed.
    pub(crate) listed_before: Millis,
}

/// A request on its way.
struct Arrival {
    request: Request,
    payout: i64,
    is_rejected: bool,
    /// How late its result is.
    settles_late: Millis,
}

/// What became of a request that has arrived.
#[derive(Clone, Debug)]
pub(crate) enum RequestState {
    /// Not yet there.
    Underway,
    Rejected,
    /// The place of its trade.
    Accepted(usize),
}

/// What is known of the trades in a run, or by a journal.
pub(crate) struct Accounts<'a> {
    pub(crate) settled: &'a BTreeSet<u64>,
    /// Intents whose trades are open.
    pub(crate) open: &'a BTreeSet<u64>,
    /// Trades that were reported as explained by no intent.
    pub(crate) reported: &'a BTreeSet<String>,
}

/// All of it.
pub(crate) struct Truth {
    seed: u64,
    lies: Lies,
    is_short_by_id: bool,
    /// For how long a trade's money is in the wallet before anybody says how it ended.
    told_late: Millis,
    called_off_one_in: u64,
    /// How often the wallets were read.
    readings: u64,
    pub(crate) trades: Vec<Trade>,
    /// The places of those that are not settled, by when they are.
    unsettled: BTreeSet<(Millis, usize)>,
    /// The place of the trade of each intent that has one.
    by_intent: BTreeMap<u64, usize>,
    arrivals: BTreeMap<(Millis, u64), Arrival>,
    states: BTreeMap<u64, RequestState>,
    tickets: u64,
    /// What is in the wallet, in minor units.
    balance: i64,
    /// What the wallet's changes were, from when on it shows them, and of which trade they are.
    changes: Vec<(Millis, i64, usize)>,
    /// Whether the wallet shows a trade no sooner than the list does.
    is_wallet_listed: bool,
    /// What strangers' trades did to the wallet so far.
    pub(crate) by_strangers: i64,
    /// What was asked for by intents whose request has left, each once.
    posted: BTreeMap<u64, OpenOrder>,
    /// Intents that others have followed.
    followed: BTreeSet<u64>,
}

impl Trade {
    /// Whether this trade of another program has passed for one of ours, which is of its pair and account then.
    pub(crate) fn passes_for(&self, ours: &Self) -> bool {
        let (order, asked) = (&self.order, &ours.order);
        self.is_taken_for_ours && order.symbol == asked.symbol && order.account == asked.account
    }

    /// Whether nobody can have asked for it but another program, while ours was in use.
    pub(crate) fn is_alarming(&self, since: Millis) -> bool {
        let is_theirs = self.intent.is_none() && self.is_by_token && self.order.account == Account::Demo;
        is_theirs && !self.is_shown && self.request_time >= since
    }

    /// Whether the venue took it, unlike what was asked for, from the real wallet.
    pub(crate) fn is_of_real_money(&self) -> bool {
        self.lie.is_some_and(Lie::is_unlike_asked) && self.order.account == Account::Real
    }

    /// Whether it is settled for the program too, or was reported if it is another's, or another passed for it.
    fn is_accounted_for(
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
            // One of before the journal, as our clock took it, is nobody's (see `reckon`).
            Some(intent) => accounts.settled.contains(&intent) || is_reported || self.request_time < since,
            None => !self.is_alarming(since) || is_reported || self.is_taken_for_ours,
        }
    }
}

impl Request {
    /// One that is stamped when it arrives and listed at once.
    pub(crate) const fn new(sender: Sender, order: OpenOrder) -> Self {
        let (stamped_ago, listed_from) = (Millis::ZERO, Millis::ZERO);
        Self { sender, order, stamped_ago, listed_from, twin: None, is_clear: false }
    }

    const fn intent(&self) -> Option<u64> {
        match self.sender {
            Sender::Intent(number) => Some(number),
            Sender::Program | Sender::Person | Sender::Venue(_) => None,
        }
    }
}

impl Truth {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            seed: plan.seed,
            lies: plan.lies,
            is_short_by_id: plan.habits.is_short_by_id,
            told_late: plan.told_late,
            called_off_one_in: plan.called_off_one_in,
            readings: 0,
            trades: Vec::new(),
            unsettled: BTreeSet::new(),
            by_intent: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            states: BTreeMap::new(),
            tickets: 0,
            balance: BALANCE,
            changes: Vec::new(),
            is_wallet_listed: plan.habits.withholding == Withholding::Both,
            by_strangers: 0,
            posted: BTreeMap::new(),
            followed: BTreeSet::new(),
        }
    }

    /// Notes that an intent's request leaves; false when it has left before.
    pub(crate) fn post(&mut self, intent: u64, order: &OpenOrder) -> bool {
        self.posted.insert(intent, order.clone()).is_none()
    }

    /// What an intent's request asked for; none when it never left.
    pub(crate) fn order_of(&self, intent: u64) -> Option<OpenOrder> {
        self.posted.get(&intent).cloned()
    }

    /// Whether a trade like this was asked for since a moment.
    pub(crate) fn has_since(&self, order: &OpenOrder, since: Millis) -> bool {
        self.trades.iter().rev().any(|trade| trade.request_time >= since && trade.order == *order)
    }

    /// Notes that others follow an intent; false when they have already.
    pub(crate) fn follow(&mut self, intent: u64) -> bool {
        self.followed.insert(intent)
    }

    /// A request is sent and will arrive at a moment; answers its ticket.
    pub(crate) fn send(&mut self, at: Millis, request: Request, habits: &Habits, dice: &mut Dice) -> u64 {
        let cut = if habits.cuts_payouts { dice.pick(&[0, 0, 5, 22]) } else { 0 };
        let arrival = Arrival {
            payout: 85 - cut,
            is_rejected: request.intent().is_some() && dice.per_mille(habits.rejected),
            settles_late: Millis::new(dice.between(0, habits.settle_late_ms)),
            request,
        };
        self.tickets += 1;
        self.arrivals.insert((at, self.tickets), arrival);
        self.states.insert(self.tickets, RequestState::Underway);
        self.tickets
    }

    /// The process ended while a request was on its way: it never arrives.
    pub(crate) fn lose(&mut self, ticket: u64) {
        self.arrivals.retain(|(_, number), _| *number != ticket);
    }

    /// The process ended while a request was on its way: it arrives by then.
    pub(crate) fn hasten(&mut self, ticket: u64, by: Millis) {
        let late = self.arrivals.keys().find(|(at, number)| *number == ticket && *at > by).copied();
        if let Some(arrival) = late.and_then(|late| self.arrivals.remove(&late)) {
            self.arrivals.insert((by, ticket), arrival);
        }
    }

    pub(crate) fn state_of(&self, ticket: u64) -> RequestState {
        self.states[&ticket].clone()
    }

    /// Lets happen what has happened by `now`.
    pub(crate) fn advance(&mut self, now: Millis) {
        loop {
            let arrival = self.arrivals.first_key_value().map(|((at, _), _)| *at);
            let end = self.unsettled.first().copied();
            match (arrival, end) {
                (Some(at), end) if at <= now && end.is_none_or(|(settles, _)| at < settles) => self.arrive(),
                (_, Some((at, place))) if at <= now => self.settle(place),
                _ => return,
            }
        }
    }

    fn arrive(&mut self) {
        let Some(((at, ticket), arrival)) = self.arrivals.pop_first() else { return };
        let Arrival { request, payout, is_rejected, settles_late } = arrival;
        let intent = request.intent();
        let is_alone = intent.is_some() && request.twin.is_none();
        let lie = Some(()).filter(|()| is_alone).and_then(|()| self.lies.about(ticket, self.is_short_by_id));
        let lie = lie.filter(|lie| *lie != Lie::OpensTwice || request.is_clear);
        let order = lie.map_or_else(|| request.order.clone(), |lie| lie.taken(&request.order));
        let stake = to_minor(order.amount);
        if intent.is_some() && (is_rejected || self.balance < stake) {
            self.states.insert(ticket, RequestState::Rejected);
            return;
        }
        self.states.insert(ticket, RequestState::Accepted(self.trades.len()));
        let listed_from = request.listed_from.max(at);
        if let Some(twin) = request.twin {
            let listed_from = listed_from - twin.listed_before;
            let request = Request { listed_from, ..Request::new(Sender::Program, request.order.clone()) };
            self.tickets += 1;
            let arrival = Arrival { request, payout, is_rejected: false, settles_late };
            self.arrivals.insert((at + twin.after, self.tickets), arrival);
        }
        if let (Some(Lie::OpensTwice), Some(intent)) = (lie, intent) {
            let request =
                Request { listed_from, ..Request::new(Sender::Venue(intent), request.order.clone()) };
            self.tickets += 1;
            let arrival = Arrival { request, payout, is_rejected: false, settles_late };
            self.arrivals.insert((at + Millis::new(1), self.tickets), arrival);
        }
        let payout = Decimal::from(lie.map_or(payout, |lie| lie.paid(payout)));
        let (open_time, close_time) = moments(&order, at);
        let prices = [open_time, close_time].map(|moment| price(self.seed, order.symbol, moment));
        let is_called_off = mix([self.seed, ticket, 7]).is_multiple_of(self.called_off_one_in);
        let end = end_of(&order, payout, prices, is_called_off);
        let (outcome, profit) = lie.map_or(end, |lie| lie.ended(end, stake));
        let trade = Trade {
            id: format!("{ID_PREFIX}{:04}", self.trades.len() + 1),
            intent,
            second_of: if let Sender::Venue(intent) = request.sender { Some(intent) } else { None },
            lie,
            stake,
            payout,
            request_time: at - request.stamped_ago,
            open_time,
            close_time,
            open_price: prices[0],
            close_price: prices[1],
            outcome,
            profit,
            settles_at: close_time + settles_late,
            told_at: close_time + settles_late + self.told_late,
            listed_from,
            is_by_token: request.sender != Sender::Person,
            is_shown: false,
            is_settled: false,
            is_taken_for_ours: false,
            order,
        };
        self.change_balance(at, -stake, (&trade, self.trades.len()));
        self.unsettled.insert((trade.settles_at, self.trades.len()));
        if let Some(intent) = intent {
            self.by_intent.entry(intent).or_insert(self.trades.len());
        }
        self.trades.push(trade);
    }

    fn settle(&mut self, place: usize) {
        let trade = &mut self.trades[place];
        trade.is_settled = true;
        self.unsettled.remove(&(trade.settles_at, place));
        let trade = trade.clone();
        self.change_balance(trade.settles_at, trade.stake + trade.profit, (&trade, place));
    }

    fn change_balance(&mut self, at: Millis, by: i64, (trade, place): (&Trade, usize)) {
        if trade.order.account == Account::Real {
            return;
        }
        let shown_from = self.shown_from(at, trade);
        if trade.intent.is_none() {
            self.by_strangers += by;
        }
        self.balance += by;
        self.changes.push((shown_from, by, place));
    }

    /// From when on the wallet shows what a trade did at a moment, unless it lags besides.
    fn shown_from(&self, at: Millis, trade: &Trade) -> Millis {
        if self.is_wallet_listed { at.max(trade.listed_from) } else { at }
    }

    /// From when on the wallet lacks a trade's stake, unless it lags besides.
    pub(crate) fn staked_from(&self, trade: &Trade) -> Millis {
        self.shown_from(trade.request_time, trade)
    }

    /// All that the wallet ever showed as what some trades did.
    pub(crate) fn shown_by(&self, is_one: impl Fn(&Trade) -> bool) -> BTreeSet<i64> {
        let mut changes: Vec<_> =
            self.changes.iter().filter(|(.., place)| is_one(&self.trades[*place])).collect();
        changes.sort_by_key(|(shown_from, ..)| *shown_from);
        let mut shown = 0;
        let sums = changes.iter().map(|(_, by, _)| {
            shown += by;
            shown
        });
        sums.chain([0]).collect()
    }

    /// What some trades did that the wallet showed only after a moment.
    pub(crate) fn not_shown(&self, at: Millis, is_one: impl Fn(&Trade) -> bool) -> Vec<i64> {
        let changes = self.changes.iter().filter(|(since, ..)| *since > at);
        changes.filter(|(.., place)| is_one(&self.trades[*place])).map(|(_, by, _)| *by).collect()
    }

    /// Another reading of the wallets; its number.
    pub(crate) const fn next_reading(&mut self) -> u64 {
        self.readings += 1;
        self.readings
    }

    /// What the wallet showed at a moment.
    pub(crate) fn balance_at(&self, at: Millis) -> i64 {
        BALANCE + self.changes.iter().filter(|(since, ..)| *since <= at).map(|(_, by, _)| by).sum::<i64>()
    }

    /// A person who was asked about an intent sees what there is on its symbol.
    pub(crate) fn show(&mut self, intent: u64) {
        let Some(order) = self.posted.get(&intent) else { return };
        for trade in self.trades.iter_mut().filter(|trade| trade.order.symbol == order.symbol) {
            trade.is_shown = true;
        }
    }

    /// A trade of another program passes for what was taken of a request of ours.
    pub(crate) fn take_for_ours(&mut self, id: &str) {
        for trade in self.trades.iter_mut().filter(|trade| trade.id == id) {
            trade.is_taken_for_ours = true;
        }
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Trade> {
        let number: usize = id.strip_prefix(ID_PREFIX)?.parse().ok()?;
        self.trades.get(number.checked_sub(1)?).filter(|trade| trade.id == id)
    }

    pub(crate) fn of_intent(&self, intent: u64) -> Option<&Trade> {
        self.by_intent.get(&intent).map(|place| &self.trades[*place])
    }

    /// Whether an intent's request may still arrive.
    pub(crate) fn is_underway(&self, intent: u64) -> bool {
        self.arrivals.values().any(|arrival| arrival.request.intent() == Some(intent))
    }

    /// Trades of intents that are not settled for the program, and those of other programs that were not reported.
    pub(crate) fn unaccounted(&self, world: &World, accounts: &Accounts<'_>) -> Vec<&Trade> {
        let since = world.journal_began();
        let disk = world.disk();
        // Another program's trade is the intent's, as the program knows it.
        let is_passed_for = |trade: &Trade| {
            let known = trade.intent.and_then(|intent| disk.answered.get(&intent));
            known.is_some_and(|id| self.find(id).is_some_and(|other| other.is_taken_for_ours))
        };
        // By a clock that was far off nobody can know whose it was.
        let is_named = |trade: &Trade| {
            let is_told = || world.has_said(|text| text.contains(&format!("trade {} ", trade.id)));
            trade.is_of_real_money() && (world.is_far_off() || is_told())
        };
        let is_missing = |trade: &&Trade| {
            !trade.is_accounted_for(accounts, (is_passed_for(trade), is_named(trade)), since)
        };
        self.trades.iter().filter(is_missing).collect()
    }

    /// Whether nothing is on its way or open.
    pub(crate) fn is_quiet(&self) -> bool {
        self.arrivals.is_empty() && self.unsettled.is_empty()
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

/// How a trade ends, and with what profit in minor units.
fn end_of(order: &OpenOrder, payout: Decimal, prices: [f64; 2], is_called_off: bool) -> (Outcome, i64) {
    let [open_price, close_price] = prices;
    let outcome = match order.direction {
        _ if is_called_off => Outcome::Cancelled,
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

/// Five prices, so that draws happen.
pub(crate) fn price(seed: u64, symbol: Symbol, at: Millis) -> f64 {
    let key = symbol.as_str().bytes().fold(0, |key, byte| key * 31 + u64::from(byte));
    100.0 + (mix([seed, key, at.floor_to(Millis::SECOND).get() as u64]) % 5) as f64
}

fn to_minor(amount: Decimal) -> i64 {
    (amount * Decimal::ONE_HUNDRED).to_i64().unwrap_or(0)
}
