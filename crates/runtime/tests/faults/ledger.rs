//! Final reckoning of the ledger with the venue's trades: equal to the cent, unless a lie about a trade was reported.

use crate::alarms;
use crate::lies::Term;
use crate::memory_journal::events;
use crate::money_checks::{booked_profit, has_halted_about};
use crate::prelude::*;

pub(crate) fn reckon(world: &World, session: &Session, (book, truth): (&TradeBook, &Truth)) {
    let lines = world.disk().lines.clone();
    let (booked, brought) = (booked(&lines), second_trade_profits(lines.iter()));
    let seconds_open: i64 = session.second_trades().iter().map(|trade| trade.stake.minor()).sum();
    let of_venue = |row: &IntentRow| {
        let trade = book.venue_id(row).and_then(|id| truth.find(id.as_str()));
        trade.map_or(0, |trade| booked_profit(world, row, trade))
    };
    let settled: i64 = book.rows().iter().filter(|row| row.state == IntentState::Settled).map(of_venue).sum();
    let unfinished = book.rows().iter().filter(|row| is_unfinished(row));
    let staked: i64 = unfinished.clone().map(|row| row.approved.stake().minor()).sum::<i64>() + seconds_open;
    let expected = BALANCE + settled + brought + booked - staked;
    let (free, open) = (session.ledger().free_balance().minor(), session.ledger().open_stakes().minor());
    world.require(free == expected, || format!("the ledger has {free}, the venue's trades give {expected}"));
    world.require(open == staked, || format!("{open} at stake instead of {staked}"));
    for row in unfinished {
        let number = row.approved.intent().number();
        let is_asked = |trade: &Trade| {
            world.has_said(|text| text.contains("stays in doubt") && text.contains(&trade.id))
        };
        let is_said = truth.trade_of(number).is_some_and(|trade| is_said(world, trade) || is_asked(trade));
        world.require(is_said, || format!("intent {number} is open without a report"));
    }
    for row in book.rows().iter().filter(|row| row.state == IntentState::Settled) {
        let id = book.venue_id(row).map(|id| id.to_string()).unwrap_or_default();
        let trade = truth.trade_of(row.approved.intent().number()).filter(|trade| trade.id == id);
        let heard = trade.filter(|trade| trade.lie.is_some_and(|lie| lie.is_heard(trade.outcome)));
        let is_right = heard.is_none_or(|trade| is_said(world, trade));
        world.require(is_right, || format!("the lie of {heard:?} was not reported"));
    }
    for trade in truth.trades.iter().filter(|trade| trade.lie == Some(Lie::Takes(Term::Account))) {
        let is_reported = is_said(world, trade) || world.is_far_off();
        world.require(is_reported, || format!("{} was staked on another account without a report", trade.id));
    }
    // A remaining difference is money of foreign or late trades that the wallet showed and no entry booked.
    let difference = session.ledger().wallet_difference().minor();
    check_deposits(world, (book, truth), ([booked, booked + difference], &lines, seconds_open));
}

fn check_deposits(
    world: &World,
    (book, truth): (&TradeBook, &Truth),
    (booked, lines, seconds_open): ([i64; 2], &[StoredLine], i64),
) {
    let is_rebased = world.plan.lies.money.is_some_and(MoneyLies::is_rebased);
    let is_kept = |trade: &Trade| trade.money_lie().is_some() && has_halted_about(world, trade);
    if world.is_far_off() || truth.trades.iter().any(is_kept) || (is_rebased && world.halts() > 0) {
        return;
    }
    let claimed: BTreeSet<String> =
        book.rows().iter().filter_map(|row| book.venue_id(row)).map(|id| id.to_string()).collect();
    let is_claimed = |trade: &Trade| claimed.contains(&trade.id);
    let unclaimed = truth.shown_by(|trade| !is_claimed(trade));
    // A trade claimed later was foreign before, and may be in a deposit booked earlier or in the last one.
    let strange = truth.shown_by(|trade| !is_claimed(trade) || trade.intent.is_none());
    let last = lines.iter().rposition(|stored| stored.line.body.contains("\"deposit\""));
    let later = &lines[last.unwrap_or(0)..];
    let is_claimed_later = |trade: &Trade| {
        let name = format!("\"venue_id\":\"{}\"", trade.id);
        trade.intent.is_none() && later.iter().any(|stored| stored.line.body.contains(&name))
    };
    let unbooked = truth.shown_by(|trade| !is_claimed(trade) || is_claimed_later(trade));
    let real = truth.trades.iter().filter(|trade| is_claimed(trade) && trade.order.account == Account::Real);
    let mut offsets = BTreeSet::from([0]);
    for trade in real {
        offsets.extend(offsets.clone().into_iter().map(|sum| sum - trade.profit));
    }
    // A trade kept open by a lie is still at stake in the ledger, but closed in the wallet.
    for row in book.rows().iter().filter(|row| is_unfinished(row)) {
        let Some(trade) = truth.trade_of(row.approved.intent().number()) else { continue };
        let back = if is_claimed(trade) { trade.stake + trade.profit } else { row.approved.stake().minor() };
        offsets.extend(offsets.clone().into_iter().map(|sum| sum + back));
    }
    // If the wallet follows a list beyond its allowed lag, it lacks the results of our trades.
    if let Some(last) = last.filter(|_| world.plan.lists_late()) {
        let at = lines[last].line.received;
        let shown = at - Millis::new(world.plan.habits.wallet_lag_ms) - READ_AT_MOST;
        for by in truth.not_shown(shown, |trade| is_claimed(trade) && trade.request_time <= at) {
            offsets.extend(offsets.clone().into_iter().map(|sum| sum - by));
        }
    }
    // The last deposit may have been booked before a later second trade was.
    let ends = (0..=lines.len()).filter(|end| *end == 0 || lines[end - 1].line.body.contains("second_trade"));
    let so_far = ends.map(|end| second_trade_profits(lines[..end].iter()));
    let so_far: Vec<i64> = so_far.chain([second_trade_profits(lines.iter()) - seconds_open]).collect();
    let mut sums = booked.iter().flat_map(|booked| so_far.iter().map(move |sum| sum + booked));
    let is_one = |sum: i64| [&unclaimed, &strange, &unbooked].iter().any(|sums| sums.contains(&sum));
    let is_shown = |sum: i64| offsets.iter().any(|offset| is_one(sum - offset));
    let by_strangers = truth.by_strangers;
    world.require(sums.any(is_shown), || format!("{booked:?} booked, by strangers {by_strangers}"));
}

fn is_said(world: &World, trade: &Trade) -> bool {
    let (Some(lie), Some(intent)) = (trade.lie, trade.intent) else { return false };
    let mut names = alarms::about(IntentId::new(intent));
    names.push(format!("{} ", trade.id));
    world.has_said(|text| {
        let is_named = names.iter().any(|name| text.contains(name)) || text.ends_with(&trade.id);
        is_named && lie.report_texts().iter().any(|words| text.contains(words))
    })
}

fn booked(lines: &[StoredLine]) -> i64 {
    let (mut difference, mut sum) = (0, 0);
    for kind in events(lines.iter(), &["\"deposit\"", "\"wallet_difference\"", "\"resume\""]) {
        match kind {
            EventKind::Deposit { amount } => sum += amount.minor(),
            EventKind::WalletDifference { amount } => difference = amount.minor(),
            EventKind::Control { control: Control::Resume } => sum += std::mem::take(&mut difference),
            _ => {}
        }
    }
    sum
}

pub(crate) fn second_trade_profits<'a>(lines: impl Iterator<Item = &'a StoredLine>) -> i64 {
    let profit = |kind: EventKind| match kind {
        EventKind::SecondTradeSettled { profit, .. } => profit.minor(),
        _ => 0,
    };
    events(lines, &["\"second_trade_settled\""]).map(profit).sum()
}
