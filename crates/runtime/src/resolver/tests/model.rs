//! Test venue whose trade list lags, shuffles, repeats and shifts, and a resolver run against it.

use super::testing;
use crate::resolver::{
    ClaimedTrades, LagMeter, OrderAttempt, Resolution, Resolver, ResolverContext, WalletView,
};
use candlewick_broker::{Account, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Direction, Millis, Money};
use std::collections::{BTreeMap, BTreeSet};

const LIST_LAG: Millis = Millis::from_seconds(120);
const START: Money = Money::from_minor(10_000_000);
const PAGE_TIME: Millis = Millis::new(300);
const PAGE_SIZE: usize = 3;
const MAX_PAGES: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Doubted,
    Answered,
    Stranger,
    Hand,
    RealMoney,
}

#[derive(Clone, Debug)]
pub(super) struct Requested {
    pub(super) owner: Owner,
    pub(super) is_departure: bool,
    pub(super) stake: i64,
    pub(super) direction: Direction,
    pub(super) sent: i64,
    pub(super) takes: i64,
    /// Acceptance delay and list lag in milliseconds. `None` if the venue refuses the request.
    pub(super) accepted: Option<(i64, i64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub(super) says_length: bool,
    pub(super) shuffles: bool,
    pub(super) repeats_one_in: u64,
    pub(super) fails_one_in: u64,
    pub(super) wallet_lag: i64,
    pub(super) seed: u64,
}

pub(super) struct Run {
    requested: Vec<Requested>,
    habits: Habits,
    resolver: Resolver,
    claimed: ClaimedTrades,
    released: BTreeMap<IntentId, Millis>,
    begun: BTreeSet<IntentId>,
    draws: u64,
    pub(super) resolutions: Vec<(Millis, Resolution)>,
}

impl Requested {
    pub(super) fn doubt(&self, place: usize) -> OrderAttempt {
        let mut doubt = testing::doubt(place as u64 + 1);
        doubt.order.amount = Decimal::new(self.stake, 2);
        doubt.order.direction = self.direction;
        doubt.stake = Money::from_minor(self.stake);
        doubt.sent = Millis::new(self.sent);
        doubt.ended = Millis::new(self.sent + self.takes);
        doubt.latest_expected_close = doubt.latest_open() + Millis::MINUTE;
        doubt
    }

    fn row(&self, place: usize) -> Option<(TradeReport, Millis)> {
        let (arrived_after, lag) = self.accepted?;
        let at = Millis::new(self.sent + arrived_after);
        let order = self.doubt(place).order;
        let report = TradeReport {
            amount: Some(Decimal::new(self.taken(), 2)),
            direction: Some(candlewick_broker::ReportedValue::Known(order.direction)),
            is_opened_with_token: Some(self.owner != Owner::Hand),
            account: Some(if self.owner == Owner::RealMoney { Account::Real } else { Account::Demo }),
            ..testing::report(&name(place), at)
        };
        Some((report, at + Millis::new(lag)))
    }

    fn taken(&self) -> i64 {
        self.stake * if self.is_departure { 5 } else { 1 }
    }

    fn is_ours(&self) -> bool {
        matches!(self.owner, Owner::Doubted | Owner::Answered)
    }
}

pub(super) fn name(place: usize) -> String {
    format!("trade-{place:03}")
}

impl Run {
    pub(super) fn new(requested: Vec<Requested>, habits: Habits, until: Millis) -> Self {
        let resolver = Resolver::new(Account::Demo, Millis::ZERO, LagMeter::new(LIST_LAG));
        let (claimed, released, begun) = (ClaimedTrades::default(), BTreeMap::new(), BTreeSet::new());
        let resolutions = Vec::new();
        let mut run = Self { requested, habits, resolver, claimed, released, begun, draws: 0, resolutions };
        let mut now = Millis::ZERO;
        while now < until {
            run.take_answers(now);
            now = match (run.resolver.next_poll(), run.next_end(now)) {
                (Some(look), _) if look <= now => run.look(now),
                (None, None) => break,
                (look, end) => look.unwrap_or(Millis::MAX).min(end.unwrap_or(Millis::MAX)),
            };
        }
        run
    }

    fn take_answers(&mut self, now: Millis) {
        for (place, requested) in self.requested.iter().enumerate().filter(|(_, one)| one.is_ours()) {
            let doubt = requested.doubt(place);
            if doubt.ended > now || !self.begun.insert(doubt.intent) {
                continue;
            }
            match (requested.owner, requested.accepted) {
                (Owner::Doubted, _) => self.resolver.begin(doubt, now),
                (_, Some(_)) => self.claimed.insert(name(place)),
                (_, None) => drop(self.released.insert(doubt.intent, now)),
            }
        }
    }

    fn next_end(&self, now: Millis) -> Option<Millis> {
        let ours = self.requested.iter().filter(|requested| requested.is_ours());
        ours.map(|requested| Millis::new(requested.sent + requested.takes)).filter(|ended| *ended > now).min()
    }

    fn look(&mut self, began: Millis) -> Millis {
        self.resolver.begin_poll(began);
        let (listing, now) = self.read_list(began);
        self.take_answers(now);
        let (mut in_flight, mut answered) = (Vec::new(), Vec::new());
        for (place, requested) in self.requested.iter().enumerate() {
            let (doubt, is_over) = (requested.doubt(place), requested.sent + requested.takes <= now.get());
            let is_found = || self.resolutions.iter().any(|(_, found)| is_adoption_of(found, place));
            if is_over && (requested.owner == Owner::Answered || is_found()) {
                answered.push(doubt);
            } else if !is_over && requested.is_ours() && requested.sent <= now.get() {
                in_flight.push(OrderAttempt { ended: Millis::MAX, ..doubt });
            }
        }
        let reserved = self.released.iter().filter(|(_, until)| now < **until).map(|(intent, _)| *intent);
        let known = ResolverContext {
            refused: &[],
            claimed: &self.claimed.clone(),
            in_flight: &in_flight,
            answered: &answered,
            reserved: &reserved.collect(),
            has_unknown_payment: false,
            is_ledger_stable: false,
            wallet: Some(self.wallet(now)),
            uncertainty: Millis::ZERO,
        };
        for resolution in self.resolver.take_listing(&listing, &known, now) {
            match &resolution {
                Resolution::Adopt { report, .. } | Resolution::AdoptLate { report, .. } => {
                    self.claimed.insert(report.id.clone());
                }
                Resolution::NotOpened { intent, reserved_until } => {
                    self.released.insert(*intent, *reserved_until);
                }
                _ => {}
            }
            if let Resolution::AdoptLate { intent, .. } = &resolution {
                self.released.remove(intent);
            }
            self.resolutions.push((now, resolution));
        }
        now
    }

    fn read_list(&mut self, began: Millis) -> (TradeListing, Millis) {
        let mut trades = BTreeMap::new();
        let (mut now, mut has_end, mut has_repeats) = (began, false, false);
        for page in 0..MAX_PAGES {
            now += PAGE_TIME;
            if self.draw(self.habits.fails_one_in) {
                break;
            }
            has_repeats |= self.draw(self.habits.repeats_one_in);
            let rows: Vec<_> = self.rows(now).into_iter().skip(page * PAGE_SIZE).take(PAGE_SIZE).collect();
            has_end = rows.len() < PAGE_SIZE;
            trades.extend(rows.into_iter().map(|row| (row.id.clone(), row)));
            if has_end {
                break;
            }
        }
        let is_whole = self.rows(now).iter().all(|row| trades.contains_key(&row.id));
        let is_complete = has_end && is_whole && (self.habits.says_length || !has_repeats);
        let trades = trades.into_values().collect();
        let ended = now.max(began + PAGE_TIME);
        (TradeListing { began, ended, is_complete, trades, end_error: None }, ended)
    }

    fn rows(&self, now: Millis) -> Vec<TradeReport> {
        let rows = self.requested.iter().enumerate().filter_map(|(place, requested)| requested.row(place));
        let mut rows: Vec<TradeReport> =
            rows.filter(|(_, listed)| *listed <= now).map(|(report, _)| report).collect();
        let seed = self.habits.seed;
        if self.habits.shuffles {
            rows.sort_by_key(|row| row.id.bytes().fold(seed, |word, byte| scramble(word ^ u64::from(byte))));
        } else {
            rows.sort_by_key(|row| std::cmp::Reverse((row.request_time, row.id.clone())));
        }
        rows
    }

    /// Returns the wallet. All our trades lose, so the wallet only ever loses the stakes.
    fn wallet(&self, now: Millis) -> WalletView {
        let (mut balance, mut free) = (START, START);
        for (place, requested) in self.requested.iter().enumerate() {
            let stake = Money::from_minor(requested.stake);
            let intent = IntentId::new(place as u64 + 1);
            let shown_after = requested.sent + self.habits.wallet_lag;
            let taken = requested.accepted.map(|(arrived_after, _)| shown_after + arrived_after);
            if requested.owner != Owner::RealMoney && taken.is_some_and(|taken| taken <= now.get()) {
                balance -= Money::from_minor(requested.taken());
            }
            let is_released = self.released.get(&intent).is_some_and(|at| *at <= now);
            if requested.is_ours() && requested.sent <= now.get() && !is_released {
                let is_known = self.claimed.contains(&name(place));
                free -= if is_known { Money::from_minor(requested.taken()) } else { stake };
            }
        }
        WalletView { balance, expected_balance: free }
    }

    fn draw(&mut self, one_in: u64) -> bool {
        self.draws += 1;
        one_in > 0 && scramble(self.habits.seed ^ self.draws).is_multiple_of(one_in)
    }
}

fn is_adoption_of(resolution: &Resolution, place: usize) -> bool {
    let of = IntentId::new(place as u64 + 1);
    match resolution {
        Resolution::Adopt { intent, .. } | Resolution::AdoptLate { intent, .. } => *intent == of,
        _ => false,
    }
}

fn scramble(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
