//! Ground truth of the venue: accepted trades, their outcomes, the wallet. Nothing here fails or lags.

use crate::money_lies;
use crate::prelude::*;
pub(crate) use crate::trade::{Request, Revision, Sender, Trade, Twin, price};
use crate::trade::{end_of, moments, to_minor};

const ID_PREFIX: &str = "trade-";

struct Change {
    shown_from: Millis,
    by: i64,
    trade: usize,
    is_hidden: bool,
}

struct Arrival {
    request: Request,
    payout: i64,
    is_rejected: bool,
    settles_late: Millis,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestState {
    Underway,
    Rejected,
    Accepted(usize),
}

pub(crate) struct Accounts<'a> {
    pub(crate) settled: &'a BTreeSet<u64>,
    pub(crate) open: &'a BTreeSet<u64>,
    pub(crate) reported: &'a BTreeSet<String>,
}

#[derive(Default)]
pub(crate) struct Truth {
    pub(crate) readings: u64,
    pub(crate) trades: Vec<Trade>,
    unsettled: BTreeSet<(Millis, usize)>,
    revisions: BTreeSet<(Millis, usize)>,
    by_intent: BTreeMap<u64, usize>,
    arrivals: BTreeMap<(Millis, u64), Arrival>,
    pub(crate) states: BTreeMap<u64, RequestState>,
    tickets: u64,
    moved: i64,
    changes: Vec<Change>,
    pub(crate) by_strangers: i64,
    pub(crate) posted: BTreeMap<u64, TradeOrder>,
    pub(crate) followed: BTreeSet<u64>,
}

impl Truth {
    pub(crate) fn order_of(&self, intent: u64) -> Option<TradeOrder> {
        self.posted.get(&intent).cloned()
    }

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

    /// Handles a process that ended with a request in flight: the request arrives by this moment, or never.
    pub(crate) fn abandon(&mut self, ticket: u64, survives: bool, by: Millis) {
        let is_it = |(at, number): &&(Millis, u64)| *number == ticket && (!survives || *at > by);
        let late = self.arrivals.keys().find(is_it).copied();
        if let Some(arrival) = late.and_then(|late| self.arrivals.remove(&late)).filter(|_| survives) {
            self.arrivals.insert((by, ticket), arrival);
        }
    }

    pub(crate) fn advance(&mut self, plan: &Plan, now: Millis) {
        loop {
            if let Some((at, place)) = self.revisions.first().copied().filter(|(at, _)| *at <= now) {
                self.revisions.remove(&(at, place));
                self.revise(place);
            }
            let arrival = self.arrivals.first_key_value().map(|((at, _), _)| *at);
            let end = self.unsettled.first().copied();
            let is_first = |at: Millis| at <= now && end.is_none_or(|(settles, _)| at < settles);
            match end {
                _ if arrival.is_some_and(is_first) => self.arrive(plan),
                Some((at, place)) if at <= now => self.settle(place),
                _ => return,
            }
        }
    }

    fn arrive(&mut self, plan: &Plan) {
        let Some(((at, ticket), arrival)) = self.arrivals.pop_first() else { return };
        let Arrival { request, payout, is_rejected, settles_late } = arrival;
        let intent = request.intent();
        let is_alone = intent.is_some() && request.twin.is_none();
        let lie = plan.lies.about(ticket, plan.habits.is_short_by_id).filter(|_| is_alone);
        let lie = lie.filter(|lie| *lie != Lie::OpensTwice || request.is_clear);
        let is_tellable = |lie: MoneyLie| lie.is_tellable(&request.order, &plan.habits);
        let lie = lie.filter(|lie| lie.money_lie().is_none_or(is_tellable));
        let order = lie.map_or_else(|| request.order.clone(), |lie| lie.accepted_order(&request.order));
        let stake = to_minor(order.amount);
        if intent.is_some() && (is_rejected || self.balance() < stake) {
            self.states.insert(ticket, RequestState::Rejected);
            return;
        }
        self.states.insert(ticket, RequestState::Accepted(self.trades.len()));
        let listed_from = request.listed_from.max(at);
        let mut send_another = |after: Millis, listed_from, sender| {
            let request = Request { listed_from, ..Request::new(sender, request.order.clone()) };
            self.tickets += 1;
            let arrival = Arrival { request, payout, is_rejected: false, settles_late };
            self.arrivals.insert((at + after, self.tickets), arrival);
        };
        if let Some(twin) = request.twin {
            send_another(twin.after, listed_from - twin.listed_before, Sender::Program);
        }
        if let (Some(Lie::OpensTwice), Some(intent)) = (lie, intent) {
            send_another(Millis::new(1), listed_from, Sender::Venue(intent));
        }
        let payout = Decimal::from(lie.map_or(payout, |lie| lie.paid(payout)));
        let (open_time, close_time) = moments(&order, at);
        let prices = [open_time, close_time].map(|moment| price(plan.seed, order.symbol, moment));
        let is_called_off = mix([plan.seed, ticket, 7]).is_multiple_of(plan.called_off_one_in);
        let end = end_of(&order, payout, prices, is_called_off);
        let (outcome, profit) = lie.map_or(end, |lie| lie.ended(end, stake));
        let told_at = close_time + settles_late + plan.told_late;
        let of_money = lie.and_then(Lie::money_lie);
        let revision = of_money.and_then(|lie| lie.revision(outcome, (stake, payout), told_at));
        let withheld = of_money.map(|lie| lie.withheld((outcome, profit), stake)).unwrap_or_default();
        let follows_list = plan.habits.withholding == Withholding::Both;
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
            revision,
            former: None,
            withheld,
            settles_at: close_time + settles_late,
            told_at,
            listed_from,
            wallet_from: if follows_list { listed_from } else { Millis::ZERO },
            is_by_token: request.sender != Sender::Person,
            is_shown: false,
            is_settled: false,
            is_taken_for_ours: false,
            order,
        };
        self.change_balance(at, -stake, (&trade, self.trades.len()));
        self.withhold(at, withheld.0, (&trade, self.trades.len()));
        self.unsettled.insert((trade.settles_at, self.trades.len()));
        if let Some(intent) = intent {
            self.by_intent.entry(intent).or_insert(self.trades.len());
        }
        self.trades.push(trade);
        if of_money == Some(MoneyLie::AnswersOldTrade) {
            self.add_old_trade(plan.epoch);
        }
    }

    fn add_old_trade(&mut self, epoch: Millis) {
        let Some(last) = self.trades.last() else { return };
        let since = last.request_time - (epoch - money_lies::OLD);
        let old = Trade {
            id: format!("{ID_PREFIX}{:04}", self.trades.len() + 1),
            intent: None,
            lie: None,
            revision: None,
            withheld: (0, 0),
            request_time: last.request_time - since,
            open_time: last.open_time - since,
            close_time: last.close_time - since,
            settles_at: last.settles_at - since,
            told_at: last.told_at - since,
            listed_from: Millis::ZERO,
            is_settled: true,
            ..last.clone()
        };
        self.trades.push(old);
    }

    fn revise(&mut self, place: usize) {
        let trade = &mut self.trades[place];
        let Some(revision) = trade.revision else { return };
        let former = (trade.outcome, trade.profit);
        (trade.outcome, trade.profit) = (revision.outcome, revision.profit);
        trade.former = Some(former);
        let trade = trade.clone();
        self.change_balance(revision.at, revision.profit - former.1, (&trade, place));
    }

    fn settle(&mut self, place: usize) {
        let trade = &mut self.trades[place];
        trade.is_settled = true;
        self.unsettled.remove(&(trade.settles_at, place));
        let trade = trade.clone();
        self.change_balance(trade.settles_at, trade.stake + trade.profit, (&trade, place));
        self.withhold(trade.settles_at, trade.withheld.1, (&trade, place));
        self.revisions.extend(trade.revision.map(|revision| (revision.at, place)));
    }

    fn withhold(&mut self, at: Millis, amount: i64, (trade, place): (&Trade, usize)) {
        if amount != 0 {
            self.moved -= amount;
            let shown_from = at.max(trade.wallet_from);
            self.changes.push(Change { shown_from, by: -amount, trade: place, is_hidden: true });
        }
    }

    pub(crate) fn hidden(&self) -> i64 {
        self.changes.iter().filter(|change| change.is_hidden).map(|change| change.by).sum()
    }

    fn change_balance(&mut self, at: Millis, by: i64, (trade, place): (&Trade, usize)) {
        if trade.order.account == Account::Real {
            return;
        }
        let shown_from = at.max(trade.wallet_from);
        if trade.intent.is_none() {
            self.by_strangers += by;
        }
        self.moved += by;
        self.changes.push(Change { shown_from, by, trade: place, is_hidden: false });
    }

    pub(crate) fn shown_by(&self, is_one: impl Fn(&Trade) -> bool) -> BTreeSet<i64> {
        let is_meant = |change: &&Change| change.is_hidden || is_one(&self.trades[change.trade]);
        let mut changes: Vec<_> = self.changes.iter().filter(is_meant).collect();
        changes.sort_by_key(|change| change.shown_from);
        let mut shown = 0;
        let sums = changes.iter().map(|change| {
            shown += change.by;
            shown
        });
        sums.chain([0]).collect()
    }

    pub(crate) fn not_shown(&self, at: Millis, is_one: impl Fn(&Trade) -> bool) -> Vec<i64> {
        let changes = self.changes.iter().filter(|change| change.shown_from > at && !change.is_hidden);
        changes.filter(|change| is_one(&self.trades[change.trade])).map(|change| change.by).collect()
    }

    pub(crate) const fn balance(&self) -> i64 {
        BALANCE + self.moved
    }

    pub(crate) fn balance_at(&self, at: Millis) -> i64 {
        let shown = self.changes.iter().filter(|change| change.shown_from <= at);
        BALANCE + shown.map(|change| change.by).sum::<i64>()
    }

    pub(crate) fn show(&mut self, intent: u64) {
        let Some(order) = self.posted.get(&intent) else { return };
        for trade in self.trades.iter_mut().filter(|trade| trade.order.symbol == order.symbol) {
            trade.is_shown = true;
        }
    }

    pub(crate) fn take_for_ours(&mut self, id: &str) {
        for trade in self.trades.iter_mut().filter(|trade| trade.id == id) {
            trade.is_taken_for_ours = true;
        }
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Trade> {
        let number: usize = id.strip_prefix(ID_PREFIX)?.parse().ok()?;
        self.trades.get(number.checked_sub(1)?).filter(|trade| trade.id == id)
    }

    pub(crate) fn trade_of(&self, intent: u64) -> Option<&Trade> {
        self.by_intent.get(&intent).map(|place| &self.trades[*place])
    }

    pub(crate) fn is_underway(&self, intent: u64) -> bool {
        self.arrivals.values().any(|arrival| arrival.request.intent() == Some(intent))
    }

    pub(crate) fn unaccounted(&self, world: &World, accounts: &Accounts<'_>) -> Vec<&Trade> {
        let since = world.journal_began();
        let disk = world.disk();
        let is_passed_for = |trade: &Trade| {
            let known = trade.intent.and_then(|intent| disk.answered.get(&intent));
            known.is_some_and(|id| self.find(id).is_some_and(|other| other.is_taken_for_ours))
        };
        let is_named = |trade: &Trade| {
            let is_told = || world.has_said(|text| text.contains(&format!("trade {} ", trade.id)));
            trade.is_of_real_money() && (world.is_far_off() || is_told())
        };
        let is_missing = |trade: &&Trade| {
            !trade.is_accounted_for(accounts, (is_passed_for(trade), is_named(trade)), since)
        };
        self.trades.iter().filter(is_missing).collect()
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.arrivals.is_empty() && self.unsettled.is_empty() && self.revisions.is_empty()
    }
}
