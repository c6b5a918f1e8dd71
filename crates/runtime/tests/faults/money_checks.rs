//! Checks of the lies about money in `money_lies.rs`, against the venue's truth.

use crate::memory_journal::events;
use crate::money_lies::{FirstWord, bookable, is_by_status, is_marked};
use crate::prelude::*;
use crate::trade::to_minor;

const NOTICE_DELAY: Millis = Millis::from_seconds(600);
const MAX_SETTLE_DELAY: Millis = Millis::from_seconds(1_200);

const MAX_LIST_WAIT: Millis = Millis::from_seconds(60);

const LARGE_DEPOSIT: i64 = 50_000;

pub(crate) fn has_halted_about(world: &World, trade: &Trade) -> bool {
    let Some(intent) = trade.intent else { return false };
    let is_halt = |text: &str| text.starts_with("halted: ") || text.starts_with(crate::alarms::WHILE_HALTED);
    world.has_said(|text| is_halt(text) && names_trade(text, intent, &trade.id))
}

pub(crate) fn names_trade(text: &str, intent: u64, id: &str) -> bool {
    let has_number = |prefix: &str| {
        let name = format!("{prefix}{intent}");
        text.match_indices(&name).any(|(at, _)| {
            let next = text[at + name.len()..].chars().next();
            next.is_none_or(|next| !next.is_ascii_digit())
        })
    };
    has_number("intent ") || has_number("#") || text.contains(id)
}

pub(crate) fn check_day_loss(world: &World, approved: &ApprovedTrade, began: Millis) {
    let (now, plan) = (world.time.now(), &world.plan);
    let limit = to_minor(plan.risk.daily_loss_limit);
    let has_outage = plan.habits.list_outage != (Millis::ZERO, Millis::ZERO);
    let is_one_day = plan.epoch.floor_to(Millis::DAY) == now.floor_to(Millis::DAY);
    let is_checked = limit > 0 && plan.lies.money.is_some() && !has_outage && is_one_day;
    if !is_checked || world.is_far_off() || now - began < NOTICE_DELAY {
        return;
    }
    let truth = world.truth();
    let ours = truth.trades.iter().filter(|trade| trade.intent.is_some());
    let brought: i64 = ours.map(|trade| least_loss(world, trade, now - NOTICE_DELAY)).sum();
    let stake = approved.stake().minor();
    world.require(brought - stake >= -limit, || format!("{brought} in the wallet today, then {approved:?}"));
}

fn least_loss(world: &World, trade: &Trade, noticed: Millis) -> i64 {
    let shown_from = trade.settles_at.max(Millis::new(world.notes.unclear_until.load(Relaxed)));
    // A shortage cannot be found in a false balance; one noticed earlier stays lost.
    let is_in_time = |since: &Millis| trade.settles_at + NOTICE_DELAY <= *since;
    let is_shown = shown_from <= noticed && world.notes.false_wallet_since.get().is_none_or(is_in_time);
    let hidden = if is_shown { trade.withheld.0 + trade.withheld.1 } else { 0 };
    let former = trade.former.map(|(_, profit)| profit);
    let bookable = trade.money_lie().and_then(|lie| bookable(lie, trade));
    let results = [Some(trade.profit), former, bookable.map(|(_, profit)| profit)];
    let most = results.into_iter().flatten().max().unwrap_or_default();
    let last_told = trade.revision.map_or(trade.told_at, |revision| revision.at.max(trade.told_at));
    if last_told <= noticed && !has_halted_about(world, trade) { trade.profit - hidden } else { most.max(0) }
}

pub(crate) fn is_bookable(world: &World, trade: &Trade, booked: (Outcome, i64)) -> bool {
    let is_by_list =
        matches!(trade.lie, Some(Lie::ListedOtherwise | Lie::ListedTwice)) && is_by_status(trade);
    let is_listed = is_by_list && trade.outcome == Outcome::Cancelled && booked == (Outcome::Draw, 0);
    let lie = trade.money_lie();
    let is_said = lie.and_then(|lie| bookable(lie, trade)) == Some(booked);
    // The result is in the list, which is waited for. If the list is unreadable, the result is corrected later.
    let is_prompt = trade.listed_from <= trade.told_at && world.plan.habits.list_lag_ms == 0;
    let is_in_list = is_by_status(trade) && is_prompt && world.time.now() - trade.told_at < MAX_LIST_WAIT;
    let is_first_word = lie == Some(MoneyLie::FirstSays(FirstWord::Cancelled))
        && booked == (Outcome::Cancelled, 0)
        && !is_in_list;
    is_said || is_first_word || is_listed || trade.former == Some(booked)
}

pub(crate) fn check_settled_in_time(world: &World, trade: &Trade, began: Millis) {
    let habits = &world.plan.habits;
    let has_outage = [habits.list_outage, habits.journal_outage].iter().any(|(from, until)| from != until);
    let waited = world.time.now() - trade.told_at.max(began);
    let is_late = trade.money_lie() == Some(MoneyLie::ClosesLate) && waited > MAX_SETTLE_DELAY;
    world.require(!is_late || has_outage, || format!("{} settled {waited} ms late", trade.id));
}

pub(crate) fn large_deposit(world: &World, amount: Money) -> Option<Money> {
    (world.plan.lies.money.is_some() && amount.minor().abs() > LARGE_DEPOSIT).then_some(amount)
}

pub(crate) fn booked_profit(world: &World, row: &IntentRow, trade: &Trade) -> i64 {
    let is_of_money = trade.money_lie().is_some();
    let is_excused = is_of_money && trade.profit != row.profit.minor() && has_halted_about(world, trade);
    if is_excused { row.profit.minor() } else { trade.profit }
}

pub(crate) fn is_misbooked(world: &World, trade: &Trade, booked: (Outcome, i64)) -> bool {
    let Some(lie) = trade.money_lie() else { return false };
    let is_doubtful = lie == MoneyLie::MarksReverted && is_marked(trade, world.time.now());
    (is_doubtful || booked != (trade.outcome, trade.profit)) && !has_halted_about(world, trade)
}

pub(crate) fn has_misbooked(
    world: &World,
    truth: &Truth,
    mut booked: impl Iterator<Item = (u64, (Outcome, i64))>,
) -> bool {
    booked.any(|(intent, end)| truth.trade_of(intent).is_some_and(|trade| is_misbooked(world, trade, end)))
}

pub(crate) fn reckon(world: &World, ledger: &Ledger, (book, truth): (&TradeBook, &Truth)) {
    let agrees = book.rows().iter().any(is_unfinished) || WalletCheck::new(ledger).agrees(world, truth);
    let held = truth.balance();
    world.require(agrees, || format!("the wallet holds {held}, the ledger {:?}", WalletCheck::new(ledger)));
    if world.plan.lies.money.is_none() {
        return;
    }
    for row in book.rows().iter().filter(|row| row.state == IntentState::Settled) {
        let Some(trade) = truth.trade_of(row.approved.intent().number()) else { continue };
        let Some(lie) = trade.money_lie() else { continue };
        let booked = row.outcome.map(|outcome| (outcome, row.profit.minor()));
        let is_wrong = booked.is_some_and(|booked| is_misbooked(world, trade, booked));
        world.require(!is_wrong, || format!("{trade:?} is booked as {booked:?} without a halt"));
        check_reported(world, row, (lie, trade));
    }
    let has_shown = |lies: MoneyLies| lies.has_shown_false_wallet(truth.readings);
    let has_halted = world.halts() > 0 || !world.plan.lies.money.is_some_and(has_shown);
    world.require(has_halted, || "the wallet was false, and no run halted".to_owned());
    let hidden = truth.hidden();
    let is_said = hidden == 0 || world.has_said(|text| text.contains("wallet"));
    world.require(is_said, || format!("the wallet lacks {} without a report", -hidden));
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WalletCheck {
    free: i64,
    difference: i64,
    since: Millis,
}

impl WalletCheck {
    pub(crate) const fn new(ledger: &Ledger) -> Self {
        let (free, difference) = (ledger.free_balance().minor(), ledger.wallet_difference().minor());
        Self { free, difference, since: Millis::ZERO }
    }

    pub(crate) const fn take(&mut self, kind: &EventKind, free: Money, now: Millis) {
        self.free = free.minor();
        match kind {
            EventKind::WalletDifference { amount } => (self.difference, self.since) = (amount.minor(), now),
            EventKind::Control { control: Control::Resume } => self.difference = 0,
            _ => {}
        }
    }

    pub(crate) fn is_confirmed(self, world: &World, truth: &Truth) -> bool {
        self.agrees(world, truth) && world.time.now() - self.since > CONFIRMATION_DELAY
    }

    pub(crate) fn agrees(self, world: &World, truth: &Truth) -> bool {
        let has_false_wallet = world.plan.lies.money.is_some_and(MoneyLies::has_false_wallet);
        has_false_wallet || self.free + self.difference == truth.balance()
    }
}

const CONFIRMATION_DELAY: Millis = Millis::from_seconds(60);

fn check_reported(world: &World, row: &IntentRow, (lie, trade): (MoneyLie, &Trade)) {
    let has_halted = || has_halted_about(world, trade);
    let has_said = |words: &str| {
        let intent = row.approved.intent().number();
        world.has_said(|text| names_trade(text, intent, &trade.id) && text.contains(words))
    };
    let is_won = trade.outcome == Outcome::Won;
    let is_hidden = !world.has_shown_false_record(&trade.id);
    let is_reported = match lie {
        MoneyLie::RefusesTaken | MoneyLie::UnsentTaken => !is_denied(world, row) || has_halted(),
        MoneyLie::ReportsGross => !is_won || has_halted(),
        // A trade whose open became known after its end has had only one payout.
        MoneyLie::CutsPayout if knows_payout(world, row, trade) => {
            let booked = row.payout.map(Payout::to_percent);
            let is_kept = booked.is_none_or(|booked| Decimal::from_f64_retain(booked) == Some(trade.payout));
            world.require(is_kept, || format!("{trade:?} is booked at {booked:?} %"));
            !is_won || has_halted()
        }
        MoneyLie::StakesMore if matches!(trade.outcome, Outcome::Won | Outcome::Lost) => {
            let counted = row.approved.stake().minor();
            world.require(counted == trade.stake, || format!("{counted} counts of {trade:?}"));
            has_halted()
        }
        MoneyLie::NamesFee => has_halted(),
        MoneyLie::RecordedReal | MoneyLie::ListedReal => is_hidden || has_halted(),
        MoneyLie::ListedOpposite => is_hidden || has_said("direction"),
        _ => true,
    };
    let may_be_lost = matches!(lie, MoneyLie::RecordedReal | MoneyLie::ListedReal | MoneyLie::ListedOpposite);
    let habits = &world.plan.habits;
    let has_outage = [habits.list_outage, habits.journal_outage].iter().any(|(from, until)| from != until);
    let is_heard_ill =
        habits.failing + habits.lost + habits.unanswered + habits.unreadable + habits.slow > 0 || has_outage;
    let is_reported = is_reported || (may_be_lost && is_heard_ill);
    world.require(is_reported, || format!("{} had the lie {lie:?} without a report", trade.id));
}

fn knows_payout(world: &World, row: &IntentRow, trade: &Trade) -> bool {
    let (intent, agreed) = (row.approved.intent(), Payout::from_percent(trade.payout).ok());
    let is_it = |kind: EventKind| match kind {
        EventKind::Opened(opened) | EventKind::Adopted(opened) => {
            opened.intent == intent && opened.payout.is_some() && opened.payout == agreed
        }
        _ => false,
    };
    events(world.disk().lines.iter(), &["\"opened\"", "\"adopted\""]).any(is_it)
}

fn is_denied(world: &World, row: &IntentRow) -> bool {
    let is_it = |kind: EventKind| kind.intent() == Some(row.approved.intent());
    let is_denial = |kind: &EventKind| matches!(kind, EventKind::Rejected { .. } | EventKind::NotSent { .. });
    events(world.disk().lines.iter(), &["\"rejected\"", "\"not_sent\""]).filter(is_denial).any(is_it)
}
