//! Required reports: an answer unlike the order, or impossible, is reported, and halts the run if money differs.

use crate::lies::WRONG_PROFIT;
use crate::prelude::*;

const MAX_AHEAD: Millis = Millis::from_seconds(6 * 3_600);
const MAX_AGE: Millis = Millis::from_seconds(72 * 3_600);
const MAX_LIST_LAG: Millis = Millis::from_seconds(605);
const MAX_OFFSET: Millis = Millis::from_seconds(240);
const MAX_SEARCH: Millis = Millis::from_seconds(23 * 3_600);
const TOLERANCE: Millis = Millis::from_seconds(90);
const FROZEN_CLOCK_SLACK: Millis = Millis::from_seconds(300);
const MAX_PAYOUT: f64 = 200.0;
const MAX_STAKES: i64 = 2;

pub(crate) const WHILE_HALTED: &str = "known while halted: ";
const IDENTITY_TERMS: [&str; 2] = ["symbol is", "direction is"];

#[derive(Debug)]
pub(crate) struct Due {
    names: Vec<String>,
    words: Vec<&'static str>,
    is_halting: bool,
}

impl Due {
    fn new(names: Vec<String>, words: &[&'static str], is_halting: bool) -> Self {
        Self { names, words: words.to_vec(), is_halting }
    }

    fn about_trade(id: &str, words: &'static str, is_halting: bool) -> Self {
        Self::new(vec![format!("trade {id} ")], &[words], is_halting)
    }
}

#[derive(Default)]
pub(crate) struct Alarms {
    listing: Option<TradeListing>,
}

impl Alarms {
    pub(crate) fn due(&mut self, world: &World, got: &Answer, (book, now): (&TradeBook, Millis)) -> Vec<Due> {
        match got {
            Answer::Open(intent, OpenOutcome::Opened(reply)) => {
                let Some(asked) = world.truth().order_of(intent.number()) else { return Vec::new() };
                let id = &reply.value.id;
                let is_it = |row: &&IntentRow| book.venue_id(row).is_some_and(|known| known.as_str() == id);
                let owner = book.rows().iter().find(is_it).map(|row| row.approved.intent());
                let of_another = owner.is_some_and(|owner| owner != *intent);
                let in_doubt = format!("trade #{intent} is in doubt");
                let second = format!("the venue has a second one, {id}");
                if of_another || world.has_said(|text| text.ends_with(&second)) {
                    return vec![Due::new(vec![in_doubt], &["which belongs to another order"], false)];
                }
                if is_of_another_time(world, &reply.value, now) {
                    let names = vec![in_doubt, format!("trade #{intent} ({id}) and")];
                    return vec![Due::new(names, &["implausible", "requestTime is frozen"], false)];
                }
                let mut due = due_for_terms(*intent, &asked, &reply.value);
                due.extend(due_for_times(&reply.value, now));
                due
            }
            Answer::Trade(intent, Ok(reply)) => due_for_record(world, *intent, &reply.value, (book, now)),
            Answer::Trades(listing) if listing.end_error.is_none() => {
                self.listing = Some(listing.clone());
                Vec::new()
            }
            Answer::Trades(listing) => due_for_list(world, listing, (book, now)),
            Answer::BalancesAfterTrades(_) => {
                let listing = self.listing.take();
                listing.map(|listing| due_for_list(world, &listing, (book, now))).unwrap_or_default()
            }
            Answer::Balances(Ok(reply)) => due_for_balances(&reply.value),
            _ => Vec::new(),
        }
    }
}

pub(crate) fn check(world: &World, due: &[Due], is_halted: bool) {
    for Due { names, words, is_halting } in due {
        let is_about = |text: &str| names.iter().any(|name| text.contains(name));
        let is_said = world.has_said(|text| is_about(text) && words.iter().any(|words| text.contains(words)));
        world.require(is_said, || format!("no report of {words:?} about {names:?}"));
        let is_known = |text: &str| text.starts_with("halted: ") || text.starts_with(WHILE_HALTED);
        let is_halted = is_halted || world.has_said(|text| is_known(text) && is_about(text));
        if *is_halting && is_halted {
            world.note_said(&format!("{WHILE_HALTED}{}", names.join(" ")));
        }
        world.require(!is_halting || is_halted, || format!("not halted by {words:?} of {names:?}"));
    }
}

pub(crate) fn about(intent: IntentId) -> Vec<String> {
    let kinds = ["intent ", "trade #"];
    kinds.iter().flat_map(|kind| [format!("{kind}{intent} "), format!("{kind}{intent}:")]).collect()
}

fn due_for_terms(intent: IntentId, asked: &TradeOrder, report: &TradeReport) -> Vec<Due> {
    let is_other = |differs: Option<bool>| differs == Some(true);
    let direction = report.direction.as_ref().and_then(ReportedValue::value);
    let duration = report.close_type.as_ref().and_then(ReportedValue::value);
    [
        (is_other(report.amount.map(|amount| amount != asked.amount)), "amount is"),
        (is_other(report.symbol.as_ref().map(|symbol| symbol != asked.symbol.as_str())), "symbol is"),
        (is_other(direction.map(|direction| *direction != asked.direction)), "direction is"),
        (is_other(report.account.map(|account| account != asked.account)), "was staked on the"),
        (report.invalid_payout.is_some(), "has a payout of"),
        (report.payout.is_some_and(|payout| payout.to_percent() > MAX_PAYOUT), "has a payout of"),
        (is_other(duration.map(|duration| *duration != asked.close_type)), "duration is"),
    ]
    .into_iter()
    .filter(|(is_other, ..)| *is_other)
    .map(|(_, words)| Due::new(about(intent), &[words], true))
    .collect()
}

fn is_of_another_time(world: &World, report: &TradeReport, now: Millis) -> bool {
    // A frozen request time may have been mistaken for the venue's clock.
    let is_frozen = |lies: MoneyLies| lies.has_kind(MoneyLie::RepeatsRequestTime);
    let slack = if world.plan.lies.money.is_some_and(is_frozen) { FROZEN_CLOCK_SLACK } else { Millis::ZERO };
    let tolerance = TOLERANCE + slack + world.max_visible_offset() * 3;
    let times = [report.request_time, report.created_time, report.open_time];
    times.into_iter().flatten().any(|at| at.abs_diff(now) > tolerance)
}

fn due_for_times(report: &TradeReport, now: Millis) -> Vec<Due> {
    let times = [report.open_time, report.close_time];
    let is_bad = times.into_iter().flatten().any(|at| at > now + MAX_AHEAD || at < now - MAX_AGE);
    is_bad.then(|| Due::about_trade(&report.id, "implausible", false)).into_iter().collect()
}

fn due_for_record(
    world: &World,
    intent: IntentId,
    report: &TradeReport,
    (book, now): (&TradeBook, Millis),
) -> Vec<Due> {
    let truth = world.truth();
    let tracked = book.row(intent).filter(|row| row.state == IntentState::Open);
    let id = tracked.and_then(|row| book.venue_id(row));
    let (Some(asked), Some(id)) = (truth.order_of(intent.number()), id) else { return Vec::new() };
    let mut due = due_for_times(report, now);
    if report.id != id.as_str() {
        due.push(Due::new(about(intent), &["describes another trade"], false));
        return due;
    }
    let terms = due_for_terms(intent, &asked, report);
    let words = terms.iter().flat_map(|due| &due.words).copied();
    let another: Vec<_> = words.filter(|words| IDENTITY_TERMS.contains(words)).collect();
    let is_another = !another.is_empty();
    if is_another {
        due.push(Due::new(about(intent), &another, false));
    }
    let Some(outcome) = report.progress.outcome().filter(|_| !is_another) else { return due };
    due.extend(terms);
    if let (Some(profit), Some(trade)) = (report.profit, truth.find(id.as_str())) {
        let payout = tracked.and_then(|row| row.payout).or(report.payout);
        let payout = payout.map_or(trade.payout, |own| Decimal::from_f64_retain(own.to_percent()).unwrap());
        due.extend(due_for_result((intent, payout), (outcome, profit), trade));
    }
    due
}

fn due_for_result(
    (intent, payout): (IntentId, Decimal),
    (outcome, profit): (Outcome, Decimal),
    trade: &Trade,
) -> Vec<Due> {
    let profit = MoneyScale::default().convert_rounded(profit).map_or(i64::MAX, Money::minor);
    let is_possible = match outcome {
        Outcome::Won => (0..=trade.stake * MAX_STAKES).contains(&profit),
        Outcome::Lost => (-trade.stake..=0).contains(&profit),
        Outcome::Draw | Outcome::Cancelled => profit == 0,
    };
    let expected = trade.order.amount * payout / Decimal::ONE_HUNDRED;
    let expected = MoneyScale::default().convert_rounded(expected).map_or(i64::MAX, Money::minor);
    let is_inexact = outcome == Outcome::Won && is_possible && profit != expected;
    let impossible = (!is_possible).then(|| Due::new(about(intent), &WRONG_PROFIT, true));
    let inexact = is_inexact.then(|| Due::new(about(intent), &[" give "], (profit - expected).abs() > 1));
    impossible.into_iter().chain(inexact).collect()
}

fn due_for_list(world: &World, listing: &TradeListing, (book, now): (&TradeBook, Millis)) -> Vec<Due> {
    let mut due = due_for_rows(listing, book);
    due.extend(due_for_real_money(world, listing, (book, now)));
    due
}

/// Real-money trades that the list reveals after a lost reply, unless the clock was far off.
fn due_for_real_money(world: &World, listing: &TradeListing, (book, now): (&TradeBook, Millis)) -> Vec<Due> {
    let truth = world.truth();
    let is_looked_for = |row: &IntentRow| match row.state {
        IntentState::InDoubt => true,
        IntentState::NotOpened => now - row.approved.decision_time() < MAX_SEARCH,
        _ => false,
    };
    let is_due = |report: &&TradeReport| {
        let trade = truth.find(&report.id).filter(|trade| trade.is_of_real_money());
        let intent = trade.and_then(|trade| trade.intent).map(IntentId::new);
        intent.and_then(|intent| book.row(intent)).is_some_and(is_looked_for)
    };
    let listed = listing.trades.iter().filter(|_| !world.is_far_off()).filter(is_due);
    listed.map(|report| Due::about_trade(&report.id, "the ledger does not contain the trade", true)).collect()
}

fn due_for_rows(listing: &TradeListing, book: &TradeBook) -> Vec<Due> {
    let is_bad = |report: &&TradeReport| {
        let mut times = [report.request_time, report.open_time, report.close_time].into_iter().flatten();
        times.any(|at| at > listing.ended + Millis::DAY * 3 || at < Millis::ZERO)
    };
    let bad = listing.trades.iter().filter(is_bad);
    let mut due: Vec<Due> = bad.map(|report| Due::about_trade(&report.id, "implausible", false)).collect();
    for row in book.rows() {
        let (Some(outcome), Some(at), Some(id)) = (row.outcome, row.settled_at, book.venue_id(row)) else {
            continue;
        };
        let Some(report) = listing.trades.iter().find(|report| report.id == id.as_str()) else { continue };
        let differs = match report.progress.outcome() {
            Some(listed) => {
                let profit =
                    report.profit.and_then(|profit| MoneyScale::default().convert_rounded(profit).ok());
                listed != outcome || profit.is_some_and(|profit| profit != row.profit)
            }
            None => {
                report.progress == TradeProgress::Running && listing.began - at > MAX_LIST_LAG + MAX_OFFSET
            }
        };
        if differs {
            due.push(Due::new(about(row.approved.intent()), &["was booked as"], false));
        }
    }
    due
}

fn due_for_balances(balances: &Balances) -> Vec<Due> {
    let words = match balances.demo {
        None => "shows no demo wallet",
        Some(demo) if demo < Decimal::ZERO => "the demo wallet holds -",
        Some(_) => return Vec::new(),
    };
    vec![Due::new(vec!["demo wallet".to_owned()], &[words], false)]
}
