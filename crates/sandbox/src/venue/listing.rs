//! Pages of trades (contract 2.5, 4.1 endpoint 2).

use super::Venue;
use super::trade::Trade;
use crate::body::{TradeListing, TradePage};
use crate::chance::{Chance, Subject};
use candlewick_sdk::Millis;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest {
    /// 1-based.
    pub(crate) page: u64,
    pub(crate) page_size: u64,
    pub(crate) user_id: Option<String>,
}

/// Order of rows (contract 4.1: not shown).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrder {
    NewestFirst,
    /// Unordered, different per request within a page.
    ///
    /// Each page repeats the last row of the previous one. Reading all pages still shows every row,
    /// unless a new trade shifts them meanwhile.
    Shuffled {
        draw: u64,
    },
}

impl Venue {
    pub(crate) fn page(&mut self, request: &PageRequest, order: RowOrder, now: Millis) -> TradePage {
        self.pass_until(now);
        let of_trader = request.user_id.as_ref().is_none_or(|user| *user == self.account.user_id);
        let mut rows: Vec<&Trade> =
            self.trades.newest_first().filter(|trade| of_trader && trade.listed_from <= now).collect();
        let total = rows.len() as u64;
        let mut stride = request.page_size;
        if let RowOrder::Shuffled { .. } = order {
            rows.sort_by_key(|trade| self.chance.word(Subject::RowOrder, [trade.order.number, 0], 0));
            stride = (stride - 1).max(1);
        }
        let pages = match order {
            RowOrder::NewestFirst => total.div_ceil(stride),
            RowOrder::Shuffled { .. } => total.saturating_sub(request.page_size).div_ceil(stride) + 1,
        };
        let last_page = pages.max(1);
        let from = usize::try_from((request.page - 1).saturating_mul(stride)).unwrap_or(usize::MAX);
        let size = usize::try_from(request.page_size).unwrap_or(usize::MAX);
        let mut rows: Vec<&Trade> = rows.into_iter().skip(from).take(size).collect();
        if let RowOrder::Shuffled { draw } = order {
            shuffle(&mut rows, self.chance, draw);
        }
        TradePage {
            current_page: request.page,
            per_page: request.page_size,
            last_page,
            next_page: (request.page < last_page).then(|| request.page + 1),
            prev_page: (request.page > 1).then(|| (request.page - 1).min(last_page)),
            pages: last_page,
            total,
            count: rows.len() as u64,
            data: match request.user_id {
                Some(_) => TradeListing::Full(rows.iter().map(|trade| self.full_trade(trade, now)).collect()),
                None => TradeListing::Items(rows.iter().map(|trade| self.list_item(trade, now)).collect()),
            },
        }
    }
}

impl TradePage {
    pub(crate) fn duplicate_row(&mut self) {
        self.count += match &mut self.data {
            TradeListing::Items(rows) => repeat_first(rows),
            TradeListing::Full(rows) => repeat_first(rows),
        };
    }
}

fn repeat_first<T: Clone>(rows: &mut Vec<T>) -> u64 {
    let Some(first) = rows.first().cloned() else { return 0 };
    rows.push(first);
    1
}

fn shuffle<T>(rows: &mut [T], chance: Chance, draw: u64) {
    for last in (1..rows.len()).rev() {
        let word = chance.word(Subject::PageOrder, [draw, 0], last as u64);
        rows.swap(last, (word % (last as u64 + 1)) as usize);
    }
}
