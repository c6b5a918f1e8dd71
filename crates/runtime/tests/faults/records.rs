//! What the venue's answers look like: rows in no certain order, twice, cut short, and behind the truth.

use crate::dice::{Dice, mix};
use crate::network::USER;
use crate::plan::{Habits, Length, Order};
use crate::truth::{Trade, price};
use crate::wire::{self, Page, PriceQuery};
use crate::world::World;
use candlewick_api::Account;
use candlewick_api::model::{
    CandleQuery, CandleRow, CandleRows, Tolerant, TradePage, TradeQuery, TradeRecord, TradeResult,
    TradeStatus, Wallet, WalletType,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{ExpirationType, Millis, Outcome};
use serde_json::{Value, json};

/// How long a result may be told in words that nobody knows.
const UNKNOWN_FOR: Millis = Millis::from_seconds(5);

/// Two demo wallets and one of real money, as they stood a while ago.
pub(crate) fn wallets(world: &World) -> Vec<Wallet> {
    let seen = world.time.now() - Millis::new(world.plan.habits.wallet_lag_ms);
    let balance = world.truth().balance_at(seen);
    let wallet = |id: &str, wallet_type, minor| Wallet {
        id: id.to_owned(),
        user_id: Some(USER.to_owned()),
        wallet_type,
        balance: Decimal::new(minor, 2),
        created_at: None,
    };
    vec![
        wallet("w-1", WalletType::Demo, balance - 500),
        wallet("w-2", WalletType::Real, 77_700),
        wallet("w-3", WalletType::Demo, 500),
    ]
}

/// A page of the list.
pub(crate) fn page(world: &World, query: &TradeQuery) -> TradePage {
    let (habits, now) = (&world.plan.habits, world.time.now());
    let truth = world.truth();
    let mut dice = world.dice();
    let mut listed: Vec<&Trade> = truth.trades.iter().filter(|trade| trade.listed_from <= now).collect();
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
    let per_page = habits.page_size.min(query.page_size);
    let total = listed.len() as u64;
    let last = total.div_ceil(per_page).max(1);
    let skipped = (query.page.saturating_sub(1) * per_page) as usize;
    let rows = listed.into_iter().skip(skipped).take(per_page as usize);
    let mut data: Vec<TradeRecord> = rows.map(|trade| listed_row(world, trade)).collect();
    let count = data.len() as u64;
    let unreadable = spoil(habits, &mut dice, &mut data);
    TradePage {
        current_page: Some(query.page),
        per_page: Some(per_page),
        last_page: Some(last),
        next_page: (query.page < last).then_some(query.page + 1),
        prev_page: None,
        pages: Some(last),
        total: match habits.length {
            Length::Total => Some(total),
            Length::Count => Some(count),
            Length::Untold => None,
        },
        count: match habits.length {
            Length::Total => Some(count),
            Length::Count => Some(total),
            Length::Untold => None,
        },
        data,
        unreadable,
    }
}

/// A row comes twice in the place of none, or cannot be read.
fn spoil(habits: &Habits, dice: &mut Dice, data: &mut Vec<TradeRecord>) -> usize {
    if data.is_empty() {
        return 0;
    }
    if dice.per_mille(habits.repeated) {
        let row = data[0].clone();
        data.push(row);
    }
    if dice.per_mille(habits.unreadable) {
        data.remove(dice.between(0, data.len() as i64 - 1) as usize);
        return 1;
    }
    0
}

/// What the list says of a trade.
fn listed_row(world: &World, trade: &Trade) -> TradeRecord {
    let habits = &world.plan.habits;
    let mut row = full(habits, trade, world.time.now());
    let word = mix([world.plan.seed, trade.request_time.get() as u64, 11]);
    if (word % 1_000) as i64 >= habits.sparse {
        return row;
    }
    match (word >> 32) % 3 {
        0 => row.direction = None,
        1 => row.close_type = None,
        _ => row.direction = Some(Tolerant::Unknown("CALL".to_owned())),
    }
    row
}

/// What get-by-id says.
pub(crate) fn by_id(world: &World, trade: &Trade) -> TradeRecord {
    let record = full(&world.plan.habits, trade, world.time.now());
    if !world.plan.habits.is_short_by_id {
        return record;
    }
    TradeRecord { id: record.id, status: record.status, symbol: record.symbol, ..TradeRecord::default() }
}

/// What the answer to an open says.
pub(crate) fn reply(world: &World, place: usize) -> Value {
    let truth = world.truth();
    let trade = &truth.trades[place];
    if world.plan.habits.only_acknowledges {
        return json!({ "tradeId": trade.id, "status": "OPEN" });
    }
    wire::trade(&full(&world.plan.habits, trade, trade.request_time))
}

/// The price of a second, or what is none: a second later than asked for, another price, words.
pub(crate) fn last_price(world: &World, query: &PriceQuery) -> Page {
    let now = world.time.now();
    if query.at > now {
        return Page::text("OK");
    }
    let mut dice = world.dice();
    let is_odd = dice.per_mille(world.plan.habits.odd_prices);
    let second = query.at.floor_to(Millis::SECOND);
    // A bar of one second, from the price at its beginning to the one at its end.
    let [open, close] = [second, second + Millis::SECOND].map(|at| price(world.plan.seed, query.symbol, at));
    let record = |second: Millis, factor: f64| {
        Page::ok(&json!({
            "pair": query.symbol.to_string(), "slot": "default", "time": second.get(), "volume": 0,
            "openPrice": open * factor, "closePrice": close * factor,
            "highPrice": open.max(close) * factor, "lowPrice": open.min(close) * factor,
        }))
    };
    if !is_odd {
        return record(second, 1.0);
    }
    match dice.between(0, 5) {
        0 => record(second, 0.0),
        1 => record(second, -1.0),
        2 => record(second, 1_000.0),
        3 => record(second - Millis::HOUR, 1.0),
        4 => record(second + Millis::HOUR, 1.0),
        _ => Page::ok(&json!({ "time": "soon", "closePrice": "NaN" })),
    }
}

fn full(habits: &Habits, trade: &Trade, now: Millis) -> TradeRecord {
    let mut record = TradeRecord {
        id: trade.id.clone(),
        user_id: Some(USER.to_owned()),
        status: Some(TradeStatus::Open),
        result: Some(TradeResult::Pending),
        symbol: Some(trade.order.symbol.to_string()),
        direction: Some(Tolerant::Known(trade.order.direction)),
        expiration_type: Some(Tolerant::Known(match trade.order.expiration_type {
            ExpirationType::Unstated => ExpirationType::TimeFixed,
            stated => stated,
        })),
        close_type: Some(Tolerant::Known(trade.order.close_type)),
        amount: Some(trade.order.amount),
        payout: Some(trade.payout),
        request_time: Some(trade.request_time),
        open_time: Some(trade.open_time),
        open_price: Some(trade.open_price),
        close_time: Some(trade.close_time),
        is_demo: Some(trade.order.account == Account::Demo),
        from_api_token: Some(trade.is_by_token),
        created_at: Some(trade.request_time),
        ..TradeRecord::default()
    };
    if now < trade.settles_at {
        if habits.has_unknown_words && now >= trade.settles_at - UNKNOWN_FOR && now >= trade.close_time {
            record.status = Some(TradeStatus::Unknown("AUDITED".to_owned()));
            record.result = Some(TradeResult::Unknown("REVERTED".to_owned()));
        }
        return record;
    }
    record.status = Some(if trade.outcome == Outcome::Cancelled {
        TradeStatus::Cancelled
    } else {
        TradeStatus::Completed
    });
    record.result = Some(TradeResult::from(trade.outcome));
    record.pnl = Some(Decimal::new(trade.profit, 2));
    record.close_price = Some(trade.close_price);
    record
}

/// Candles of a window, the forming one among them, each a little after its close or never.
pub(crate) fn candles(world: &World, query: &CandleQuery) -> CandleRows {
    let (seed, habits, now) = (world.plan.seed, &world.plan.habits, world.time.now());
    let length = query.interval.length();
    let key = |open: Millis| mix([seed, open.get() as u64, length.get() as u64]);
    let is_there = |open: &Millis| {
        let is_gap = (key(*open) % 1_000) as i64 <= habits.gaps && habits.gaps > 0;
        let lag = Millis::new((key(*open) >> 32) as i64 % 400);
        !is_gap && (now < *open + length || now >= *open + length + lag)
    };
    let first = query.start_time.floor_to(length);
    let opens = std::iter::successors(Some(first), |open| Some(*open + length));
    let window = opens.take_while(|open| *open <= query.end_time.min(now));
    let row = |open: Millis| {
        let price = price(seed, query.symbol, open);
        CandleRow {
            volume: 1.0,
            open_price: price,
            // All prices that there are lie in it.
            high_price: 106.0,
            low_price: 99.0,
            close_price: price + 1.0,
            time: open,
        }
    };
    let mut rows: Vec<CandleRow> = window.filter(is_there).map(row).collect();
    rows.reverse();
    CandleRows { rows, unreadable: 0 }
}
