//! Answers of the venue: rows in arbitrary order, repeated, cut short, and behind the truth.

use crate::lies::{self, Place};
use crate::money_lies;
use crate::network::USER;
use crate::plan::{Length, Order};
use crate::prelude::*;
use crate::truth::price;
use candlewick_sdk::Ohlcv;

pub(crate) const UNKNOWN_RESULT: &str = "REVERTED";
const UNKNOWN_FOR: Millis = Millis::from_seconds(5);

pub(crate) fn balances(world: &World) -> Balances {
    let seen = world.time.now() - Millis::new(world.plan.habits.wallet_lag_ms);
    let mut truth = world.truth();
    let demo = Decimal::new(truth.balance_at(seen), 2);
    truth.readings += 1;
    let reading = truth.readings;
    let name = |id: &str, account, type_name: &str| WalletIdentity {
        id: id.to_owned(),
        user: Some(USER.to_owned()),
        account: Some(account),
        type_name: type_name.to_owned(),
        currency: Some("USD".to_owned()),
    };
    let balances = Balances {
        demo: Some(demo),
        real: Some(Decimal::new(77_700, 2)),
        bonus: None,
        wallets: vec![name("w-1", Account::Demo, "DEMO"), name("w-2", Account::Real, "REAL")],
    };
    let shown = world.plan.lies.distort_balances(reading, balances.clone());
    if shown != balances {
        let _ = world.notes.false_wallet_since.set(world.time.now());
    }
    shown
}

pub(crate) struct Page {
    pub(crate) number: u64,
    pub(crate) size: u64,
    pub(crate) last: u64,
    pub(crate) total: Option<u64>,
    pub(crate) count: Option<u64>,
    pub(crate) rows: Vec<TradeReport>,
    pub(crate) unreadable: usize,
}

pub(crate) fn is_listed(world: &World, trade: &Trade) -> bool {
    trade.listed_from <= world.time.now() && !lies::has_vanished(world, trade)
}

pub(crate) fn page(world: &World, number: u64, most: u64) -> Page {
    let habits = &world.plan.habits;
    let truth = world.truth();
    let mut dice = world.dice();
    let mut listed: Vec<&Trade> = truth.trades.iter().filter(|trade| is_listed(world, trade)).collect();
    match habits.order {
        Order::NewestFirst => listed.sort_by_key(|trade| std::cmp::Reverse(trade.request_time)),
        Order::Mixed => {
            listed.sort_by_key(|trade| mix([world.plan.seed, trade.request_time.get() as u64, 3]));
        }
        Order::Restless => {
            let salt = dice.between(0, i64::from(u32::MAX)) as u64;
            listed.sort_by_key(|trade| mix([salt, trade.request_time.get() as u64, trade.stake as u64]));
        }
    }
    let size = habits.page_size.min(most);
    let total = listed.len() as u64;
    let last = total.div_ceil(size).max(1);
    let skipped = (number.saturating_sub(1) * size) as usize;
    let rows: Vec<&Trade> = listed.into_iter().skip(skipped).take(size as usize).collect();
    let mut data: Vec<TradeReport> = rows.iter().map(|trade| row_of_list(world, trade)).collect();
    let count = data.len() as u64;
    let second: Vec<_> =
        rows.iter().zip(&data).filter_map(|(trade, row)| lies::second_row(trade, row)).collect();
    data.extend(second);
    let unreadable = spoil(habits, &mut dice, &mut data);
    let (total, count) = match habits.length {
        Length::Total => (Some(total), Some(count)),
        Length::Count => (Some(count), Some(total)),
        Length::Unstated => (None, None),
    };
    Page { number, size, last, total, count, rows: data, unreadable }
}

fn spoil(habits: &Habits, dice: &mut Dice, data: &mut Vec<TradeReport>) -> usize {
    if data.is_empty() {
        return 0;
    }
    if dice.per_mille(habits.repeated) {
        data.push(data[0].clone());
    }
    if dice.per_mille(habits.unreadable) {
        data.remove(dice.between(0, data.len() as i64 - 1) as usize);
        return 1;
    }
    0
}

pub(crate) fn row_of_list(world: &World, trade: &Trade) -> TradeReport {
    let habits = &world.plan.habits;
    let now = world.time.now();
    let mut row = lies::distort(trade, full_record(habits, trade, now), Place::List, now);
    let word = mix([world.plan.seed, trade.request_time.get() as u64, 11]);
    if ((word % 1_000) as i64) < habits.sparse {
        match (word >> 32) % 3 {
            0 => row.direction = None,
            1 => row.close_type = None,
            _ => row.direction = Some(ReportedValue::Unrecognised("CALL".to_owned())),
        }
    }
    with_known_lie(world, trade, row, true)
}

pub(crate) fn record_by_id(world: &World, trade: &Trade, now: Millis) -> TradeReport {
    let report = lies::distort(trade, full_record(&world.plan.habits, trade, now), Place::ById, now);
    with_known_lie(world, trade, report, false)
}

fn with_known_lie(world: &World, trade: &Trade, mut report: TradeReport, is_row: bool) -> TradeReport {
    let lie = trade.money_lie().filter(|_| world.disk().knows(trade));
    if lie.is_some_and(|lie| money_lies::change_known(lie, trade, &mut report, is_row)) {
        world.notes.false_records.lock().unwrap().entry(trade.id.clone()).or_insert(world.time.now());
    }
    report
}

pub(crate) fn opened(world: &World, place: usize) -> TradeReport {
    let truth = world.truth();
    let record = |trade: &Trade| {
        if world.plan.habits.only_acknowledges {
            return TradeReport::new(trade.id.as_str());
        }
        let now = trade.request_time;
        lies::distort(trade, full_record(&world.plan.habits, trade, now), Place::Answer, now)
    };
    lies::answer(world, &truth, &truth.trades[place], record)
}

pub(crate) fn last_price(world: &World, symbol: Symbol, at: Millis) -> Option<PriceAnswer> {
    if at > world.time.now() {
        return Some(PriceAnswer::NotYet);
    }
    let mut dice = world.dice();
    let is_odd = dice.per_mille(world.plan.habits.odd_prices);
    let second = at.floor_to(Millis::SECOND);
    let [open, close] = [second, second + Millis::SECOND].map(|at| price(world.plan.seed, symbol, at));
    let record = |time: Millis, factor: f64| {
        let prices = Ohlcv {
            open: open * factor,
            high: open.max(close) * factor,
            low: open.min(close) * factor,
            close: close * factor,
            volume: 0.0,
        };
        Some(PriceAnswer::Record(PriceRecord { time, prices, created_time: None }))
    };
    if let Some(offset) = world.plan.lies.money.and_then(|lies| lies.price_offset(second)) {
        return record(second + offset, money_lies::STALE_FACTOR);
    }
    if !is_odd {
        return record(second, 1.0);
    }
    match dice.between(0, 5) {
        0 => record(second, 0.0),
        1 => record(second, -1.0),
        2 => record(second, 1_000.0),
        3 => record(second - Millis::HOUR, 1.0),
        4 => record(second + Millis::HOUR, 1.0),
        _ => None,
    }
}

fn full_record(habits: &Habits, trade: &Trade, now: Millis) -> TradeReport {
    let mut report = TradeReport {
        symbol: Some(trade.order.symbol.to_string()),
        direction: Some(ReportedValue::Known(trade.order.direction)),
        expiration_type: Some(ReportedValue::Known(match trade.order.expiration_type {
            ExpirationType::Unstated => ExpirationType::TimeFixed,
            stated => stated,
        })),
        close_type: Some(ReportedValue::Known(trade.order.close_type)),
        amount: Some(trade.order.amount),
        payout: Payout::from_percent(trade.payout).ok(),
        request_time: Some(trade.request_time),
        open_time: Some(trade.open_time),
        open_price: Some(trade.open_price),
        close_time: Some(trade.close_time),
        account: Some(trade.order.account),
        is_opened_with_token: Some(trade.is_by_token),
        created_time: Some(trade.request_time),
        ..TradeReport::new(trade.id.as_str())
    };
    if now < trade.told_at {
        if habits.has_unknown_words && now >= trade.told_at - UNKNOWN_FOR && now >= trade.close_time {
            report.progress = TradeProgress::Unrecognised(UNKNOWN_RESULT.to_owned());
        }
        return report;
    }
    report.progress = TradeProgress::Over(trade.outcome);
    report.is_outcome_from_status = trade.outcome == Outcome::Cancelled && money_lies::is_by_status(trade);
    report.profit = (trade.outcome != Outcome::Cancelled).then(|| Decimal::new(trade.profit, 2));
    report.close_price = Some(trade.close_price);
    report
}

pub(crate) fn candles(
    world: &World,
    symbol: Symbol,
    interval: Interval,
    (start, end): (Millis, Millis),
) -> Vec<CandleRow> {
    let (seed, habits, now) = (world.plan.seed, &world.plan.habits, world.time.now());
    let length = interval.length();
    let key = |open: Millis| mix([seed, open.get() as u64, length.get() as u64]);
    let is_there = |open: &Millis| {
        let is_gap = (key(*open) % 1_000) as i64 <= habits.gaps && habits.gaps > 0;
        let lag = Millis::new((key(*open) >> 32) as i64 % 400);
        !is_gap && (now < *open + length || now >= *open + length + lag)
    };
    let opens = std::iter::successors(Some(start.floor_to(length)), |open| Some(*open + length));
    let window = opens.take_while(|open| *open <= end.min(now));
    let row = |open: Millis| {
        let price = price(seed, symbol, open);
        let prices = Ohlcv { open: price, high: 106.0, low: 99.0, close: price + 1.0, volume: 1.0 };
        CandleRow { time: open, prices }
    };
    window.filter(is_there).map(row).collect()
}
