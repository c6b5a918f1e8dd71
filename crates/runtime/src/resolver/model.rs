//! A little venue with a trade list that lags, shuffles, repeats and shifts, and a run of the resolver against it.

use super::testing;
use super::{Doubt, Known, LagMeter, Listing, ListingBuilder, Resolution, Resolver, WalletView};
use candlewick_api::Account;
use candlewick_api::model::{TradePage, TradeQuery, TradeRecord};
use candlewick_engine::IntentId;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Direction, Millis, Money};
use std::collections::{BTreeMap, BTreeSet};

/// The setting `list_lag_ms`.
pub(super) const LIST_LAG: Millis = Millis::from_seconds(120);
/// What the wallet holds at first.
const START: Money = Money::from_minor(10_000_000);
/// How long the venue takes for a page.
const PAGE_TIME: Millis = Millis::new(300);
const PAGE_SIZE: u64 = 3;

/// Who asked for a trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// We, and the answer was lost.
    Doubted,
    /// We, and the answer came.
    Answered,
    /// Another program with a token of ours.
    Stranger,
    /// A person.
    Hand,
    /// We, on the other account.
    RealMoney,
}

/// A request and what really became of it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) owner: Owner,
    /// Equal for equal orders; the stake is part of it.
    pub(super) stake: i64,
    pub(super) direction: Direction,
    pub(super) sent: i64,
    pub(super) takes: i64,
    /// How long after its sending the venue accepted it, and how long the list kept the trade back.
    pub(super) accepted: Option<(i64, i64)>,
}

/// Which figure of a page is the length of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Total,
    Count,
    Untold,
}

/// How the list behaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub(super) length: Length,
    /// In no order, or the newest first.
    pub(super) shuffles: bool,
    /// One page in so many repeats a row; 0 for none.
    pub(super) repeats_one_in: u64,
    /// One page in so many fails; 0 for none.
    pub(super) fails_one_in: u64,
    /// How long the wallet lags behind an acceptance.
    pub(super) wallet_lag: i64,
    pub(super) seed: u64,
}

/// A run in time.
pub(super) struct Run {
    told: Vec<Told>,
    habits: Habits,
    resolver: Resolver,
    claimed: BTreeSet<String>,
    /// Stakes that the ledger gave back, and when.
    released: BTreeMap<IntentId, Millis>,
    begun: BTreeSet<IntentId>,
    draws: u64,
    pub(super) resolutions: Vec<(Millis, Resolution)>,
}

impl Told {
    pub(super) fn doubt(&self, place: usize) -> Doubt {
        let mut doubt = testing::doubt(place as u64 + 1);
        doubt.order.amount = Decimal::new(self.stake, 2);
        doubt.order.direction = self.direction;
        doubt.stake = Money::from_minor(self.stake);
        doubt.sent = Millis::new(self.sent);
        doubt.ended = Millis::new(self.sent + self.takes);
        doubt.expected_close_latest = doubt.latest_open() + Millis::MINUTE;
        doubt
    }

    /// The venue's record, and from when on it is listed.
    fn row(&self, place: usize) -> Option<(TradeRecord, Millis)> {
        let (arrived_after, lag) = self.accepted?;
        let at = Millis::new(self.sent + arrived_after);
        let order = self.doubt(place).order;
        let record = TradeRecord {
            amount: Some(order.amount),
            direction: Some(candlewick_api::model::Tolerant::Known(order.direction)),
            from_api_token: Some(self.owner != Owner::Hand),
            is_demo: Some(self.owner != Owner::RealMoney),
            ..testing::record(&name(place), at)
        };
        Some((record, at + Millis::new(lag)))
    }

    fn is_ours(&self) -> bool {
        matches!(self.owner, Owner::Doubted | Owner::Answered)
    }
}

/// The venue's identifier of a request's trade.
pub(super) fn name(place: usize) -> String {
    format!("trade-{place:03}")
}

impl Run {
    /// Runs until nothing more is looked for, or the time is over.
    pub(super) fn new(told: Vec<Told>, habits: Habits, until: Millis) -> Self {
        let resolver = Resolver::new(Account::Demo, Millis::ZERO, LagMeter::new(LIST_LAG));
        let (claimed, released, begun) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        let resolutions = Vec::new();
        let mut run = Self { told, habits, resolver, claimed, released, begun, draws: 0, resolutions };
        let mut now = Millis::ZERO;
        while now < until {
            run.hear_answers(now);
            now = match (run.resolver.next_look(), run.next_end(now)) {
                (Some(look), _) if look <= now => run.look(now),
                (None, None) => break,
                (look, end) => look.unwrap_or(Millis::MAX).min(end.unwrap_or(Millis::MAX)),
            };
        }
        run
    }

    /// Requests that have ended are answered, or in doubt.
    fn hear_answers(&mut self, now: Millis) {
        for (place, told) in self.told.iter().enumerate().filter(|(_, told)| told.is_ours()) {
            let doubt = told.doubt(place);
            if doubt.ended > now || !self.begun.insert(doubt.intent) {
                continue;
            }
            match (told.owner, told.accepted) {
                (Owner::Doubted, _) => self.resolver.begin(doubt, now),
                (_, Some(_)) => drop(self.claimed.insert(name(place))),
                (_, None) => drop(self.released.insert(doubt.intent, now)),
            }
        }
    }

    fn next_end(&self, now: Millis) -> Option<Millis> {
        let ours = self.told.iter().filter(|told| told.is_ours());
        ours.map(|told| Millis::new(told.sent + told.takes)).filter(|ended| *ended > now).min()
    }

    /// A look at the list; answers when it ends.
    fn look(&mut self, began: Millis) -> Millis {
        self.resolver.begin_look(began);
        let (listing, now) = self.read_list(began);
        self.hear_answers(now);
        let in_flight: Vec<Doubt> = self
            .told
            .iter()
            .enumerate()
            .filter(|(_, told)| {
                told.is_ours() && told.sent <= now.get() && told.sent + told.takes > now.get()
            })
            .map(|(place, told)| Doubt { ended: Millis::MAX, ..told.doubt(place) })
            .collect();
        let reserved = self.released.iter().filter(|(_, until)| now < **until).map(|(intent, _)| *intent);
        let known = Known {
            claimed: &self.claimed.clone(),
            in_flight: &in_flight,
            reserved: &reserved.collect(),
            wallet: Some(self.wallet(now)),
            uncertainty: Millis::ZERO,
        };
        for resolution in self.resolver.take_listing(&listing, &known, now) {
            match &resolution {
                Resolution::Adopt { record, .. } | Resolution::AdoptLate { record, .. } => {
                    self.claimed.insert(record.id.clone());
                }
                Resolution::NotOpened { intent, reserved_until } => {
                    self.released.insert(*intent, *reserved_until);
                }
                Resolution::AskPerson { .. } | Resolution::Unexplained { .. } => {}
            }
            if let Resolution::AdoptLate { intent, .. } = &resolution {
                self.released.remove(intent);
            }
            self.resolutions.push((now, resolution));
        }
        now
    }

    fn read_list(&mut self, began: Millis) -> (Listing, Millis) {
        let mut builder = ListingBuilder::with_pages("user".to_owned(), (PAGE_SIZE, 50), began);
        let mut now = began;
        while let Some(query) = builder.query().cloned() {
            now += PAGE_TIME;
            if self.draw(self.habits.fails_one_in) {
                break;
            }
            builder.take(self.page(&query, now));
        }
        (builder.finish(now), now.max(began + PAGE_TIME))
    }

    fn page(&mut self, query: &TradeQuery, now: Millis) -> TradePage {
        let rows = self.told.iter().enumerate().filter_map(|(place, told)| told.row(place));
        let mut rows: Vec<TradeRecord> =
            rows.filter(|(_, listed)| *listed <= now).map(|(record, _)| record).collect();
        let seed = self.habits.seed;
        if self.habits.shuffles {
            rows.sort_by_key(|row| row.id.bytes().fold(seed, |word, byte| scramble(word ^ u64::from(byte))));
        } else {
            rows.sort_by_key(|row| std::cmp::Reverse((row.request_time, row.id.clone())));
        }
        let length = rows.len() as u64;
        let from = ((query.page - 1) * PAGE_SIZE) as usize;
        let mut data: Vec<_> = rows.into_iter().skip(from).take(PAGE_SIZE as usize).collect();
        if self.draw(self.habits.repeats_one_in) {
            data.extend(data.first().cloned());
        }
        let here = Some(data.len() as u64);
        let (total, count) = match self.habits.length {
            Length::Total => (Some(length), here),
            Length::Count => (here, Some(length)),
            Length::Untold => (here, here),
        };
        TradePage { total, count, data, ..TradePage::default() }
    }

    /// Every trade of ours loses, so the wallet shows the stakes alone.
    fn wallet(&self, now: Millis) -> WalletView {
        let (mut balance, mut free) = (START, START);
        for (place, told) in self.told.iter().enumerate() {
            let stake = Money::from_minor(told.stake);
            let intent = IntentId::new(place as u64 + 1);
            let taken =
                told.accepted.map(|(arrived_after, _)| told.sent + arrived_after + self.habits.wallet_lag);
            if told.owner != Owner::RealMoney && taken.is_some_and(|taken| taken <= now.get()) {
                balance -= stake;
            }
            let is_released = self.released.get(&intent).is_some_and(|at| *at <= now);
            if told.is_ours() && told.sent <= now.get() && !is_released {
                free -= stake;
            }
        }
        WalletView { balance, explained_without_doubts: free }
    }

    fn draw(&mut self, one_in: u64) -> bool {
        self.draws += 1;
        one_in > 0 && scramble(self.habits.seed ^ self.draws).is_multiple_of(one_in)
    }
}

/// The mixing step of splitmix64.
fn scramble(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
