//! Checks of all limits: every approved trade is recounted from the rows of all intents.

use crate::delays::delay_of;
use crate::prelude::*;
use crate::trade::candle_close;
use crate::world::Departure;
use candlewick_engine::{RefusalReason, Rejection};
use candlewick_runtime::Funds;

pub(crate) fn check_open(world: &World, approved: &ApprovedTrade, (book, funds): (&TradeBook, Funds)) {
    note_departure(world, approved);
    check_number(world, approved, book);
    check_other_trades(world, approved, book);
    check_cooldown(world, approved, book);
    check_drawdown(world, funds);
    check_day(world, approved, book);
}

fn note_departure(world: &World, approved: &ApprovedTrade) {
    let half_interval = Millis::new(world.plan.bots[approved.bot().index()].interval.length().get() / 2);
    let from = approved.decision_time() + delay_of(world, approved);
    let by = match world.plan.risk.max_signal_delay_ms {
        0 => Millis::MAX,
        most => from + half_interval.min(Millis::new(i64::from(most))),
    };
    let departure = Departure { from, by, has_run_ended: false };
    world.notes.departures.lock().unwrap().insert(approved.intent().number(), departure);
}

fn is_allowed(limit: u32, count: usize) -> bool {
    limit == 0 || count <= limit as usize
}

const fn counts(row: &IntentRow) -> bool {
    !matches!(row.state, IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened)
}

fn check_number(world: &World, approved: &ApprovedTrade, book: &TradeBook) {
    let risk = &world.plan.risk;
    let unfinished = book.rows().iter().filter(|row| is_unfinished(row));
    let count = unfinished.clone().count();
    world.require(is_allowed(risk.max_open_trades, count), || format!("{count} trades open"));
    let here = unfinished.filter(|row| row.approved.symbol() == approved.symbol());
    let here: Vec<_> = here.map(|row| row.state).collect();
    let is_within = is_allowed(risk.max_open_trades_per_symbol, here.len());
    world.require(is_within, || format!("too many trades open on a symbol: {here:?}"));
    let unclear = here.iter().filter(|state| **state != IntentState::Open).count();
    world.require(unclear <= 1, || format!("opened on a symbol in doubt: {here:?}"));
    let since = approved.decision_time() - Millis::HOUR;
    let recent = book.rows().iter().filter(|row| counts(row) && row.approved.decision_time() > since);
    let count = recent.count();
    world.require(is_allowed(risk.max_trades_per_hour, count), || format!("{count} trades in an hour"));
}

fn check_other_trades(world: &World, approved: &ApprovedTrade, book: &TradeBook) {
    let risk = &world.plan.risk;
    let others = book.rows().iter().filter(|row| {
        let other = &row.approved;
        is_unfinished(row) && other.symbol() == approved.symbol() && other.intent() != approved.intent()
    });
    for row in others {
        let is_opposite = row.approved.direction() != approved.direction();
        let intents = (row.approved.intent(), approved.intent());
        world.require(risk.allow_opposite || !is_opposite, || format!("{intents:?} are opposite"));
        let is_same = !is_opposite && nominal_close(world, &row.approved) == nominal_close(world, approved);
        world.require(risk.allow_duplicate || !is_same, || format!("{intents:?} are the same"));
    }
}

fn nominal_close(world: &World, approved: &OrderTerms) -> Millis {
    let (at, expiry) = (approved.decision_time() + delay_of(world, approved), approved.expiry());
    let duration = expiry.close_type.duration();
    let is_of_candle = expiry.expiration_type == ExpirationType::CandleClose;
    if is_of_candle { candle_close(at, duration) } else { at + duration }
}

fn check_cooldown(world: &World, approved: &ApprovedTrade, book: &TradeBook) {
    let cooldown = Millis::from_seconds(i64::from(world.plan.risk.cooldown_after_loss_s));
    let lost = book.rows().iter().filter(|row| row.outcome == Some(Outcome::Lost));
    let last = lost.filter_map(|row| row.settled_at).max();
    let rested = last.is_none_or(|at| cooldown == Millis::ZERO || approved.decision_time() >= at + cooldown);
    world.require(rested, || format!("intent {} came too soon after a loss", approved.intent()));
}

fn check_drawdown(world: &World, funds: Funds) {
    let percent = world.plan.risk.max_drawdown_percent;
    let (peak, free) = (funds.peak.minor(), funds.free.minor());
    let is_within = percent == 0.0 || (peak - free) as f64 <= peak as f64 * percent / 100.0;
    world.require(is_within, || format!("drawdown from {peak} to {free} exceeds the limit"));
}

fn check_day(world: &World, approved: &ApprovedTrade, book: &TradeBook) {
    if world.is_far_off() {
        // After a clock was set back over midnight, the trades of the old day count towards the new one.
        return;
    }
    let risk = &world.plan.risk;
    let day = |at: Millis| at.floor_to(Millis::DAY);
    let today = day(approved.decision_time());
    let counted = book.rows().iter().filter(|row| counts(row) && day(row.approved.decision_time()) == today);
    let count = counted.count();
    world.require(is_allowed(risk.max_trades_per_day, count), || format!("{count} trades in a day"));
    let limit = MoneyScale::default().convert_rounded(risk.daily_loss_limit).unwrap();
    let settled_today = |row: &&IntentRow| row.settled_at.is_some_and(|at| day(at) == today);
    let profit: i64 = book.rows().iter().filter(settled_today).map(|row| row.profit.minor()).sum();
    let disk = world.disk();
    let of_today = disk.lines.iter().filter(|stored| day(stored.line.at) == today);
    let profit = profit + crate::ledger::second_trade_profits(of_today);
    let unfinished = book.rows().iter().filter(|row| is_unfinished(row));
    let stakes: i64 = unfinished.map(|row| row.approved.stake().minor()).sum();
    let is_within = limit == Money::ZERO || profit - stakes >= -limit.minor();
    world.require(is_within, || format!("{profit} today, {stakes} at stake, the limit is {limit:?}"));
}

const FIRST_PAUSE: Millis = Millis::MINUTE;
const MAX_PAUSE: Millis = Millis::HOUR;
const ACCOUNT_REASONS: [RefusalReason; 5] = [
    RefusalReason::TradesPerMinute,
    RefusalReason::TradesPerDay,
    RefusalReason::PendingLimit,
    RefusalReason::InsufficientBalance,
    RefusalReason::AccountRestricted,
];

#[derive(Default)]
pub(crate) struct Refusals {
    entries: BTreeMap<(Option<SymbolId>, RefusalReason), (u32, Millis)>,
}

impl Refusals {
    pub(crate) fn take(&mut self, event: &Event, book: &TradeBook) {
        match &event.kind {
            EventKind::Rejected { intent, rejection: Rejection::Refused { reason, .. } } => {
                let Some(row) = book.row(*intent) else { return };
                let symbol = (!ACCOUNT_REASONS.contains(reason)).then_some(row.approved.symbol());
                let (count, last) = self.entries.entry((symbol, *reason)).or_insert((0, Millis::ZERO));
                *count += u32::from(row.approved.decision_time() >= *last);
                *last = event.at.max(*last);
            }
            EventKind::Opened(opened) | EventKind::Adopted(opened) => {
                let Some(row) = book.row(opened.intent) else { return };
                let (symbol, decided) = (row.approved.symbol(), row.approved.decision_time());
                self.entries.retain(|(refused, _), (_, last)| {
                    *last > decided || refused.is_some_and(|refused| refused != symbol)
                });
            }
            EventKind::Control { control: Control::Resume } => self.entries.clear(),
            _ => {}
        }
    }

    pub(crate) fn check(&self, world: &World, approved: &ApprovedTrade) {
        for ((symbol, reason), (count, last)) in &self.entries {
            let is_meant = symbol.is_none_or(|symbol| symbol == approved.symbol());
            let doubled = FIRST_PAUSE * (1 << (count.max(&1) - 1).min(6));
            let is_over = approved.decision_time() >= *last + doubled.min(MAX_PAUSE);
            let decided = approved.decision_time();
            world.require(!is_meant || is_over, || format!("{decided} follows {reason} {count} of {last}"));
        }
    }
}
