//! Trades in memory: all unfinished trades and the latest finished ones. Older trades are read from the journal.

use candlewick_engine::{IntentId, IntentRow, IntentState, TradeBook};
use candlewick_records::{IntentOrigin, TradeLine};
use candlewick_sdk::Millis;
use std::collections::{BTreeMap, BTreeSet};

const MAX_RETAINED_TRADES: usize = 1_000;

#[derive(Default)]
pub(crate) struct RetainedTrades {
    pub(crate) book: TradeBook,
    origins: BTreeMap<IntentId, IntentOrigin>,
    unfinished: BTreeSet<IntentId>,
    pub(crate) bot_names: BTreeSet<String>,
    pub(crate) trade_count: usize,
    /// First intent of the complete part of the trade book, which contains every later trade.
    pub(crate) first_intent: u64,
    next_rows: usize,
}

impl RetainedTrades {
    pub(crate) fn new(book: TradeBook, origin: impl Fn(&IntentRow) -> Option<IntentOrigin>) -> Self {
        let mut trades = Self::default();
        for row in book.rows() {
            let intent = row.approved.intent();
            trades.add_trade(intent, origin(row));
            if row.is_finished() {
                trades.mark_finished(intent);
            }
        }
        Self { book, ..trades }
    }

    pub(crate) fn add_trade(&mut self, intent: IntentId, origin: Option<IntentOrigin>) {
        self.trade_count += 1;
        self.unfinished.insert(intent);
        if let Some(origin) = origin {
            if !self.bot_names.contains(&origin.bot) {
                self.bot_names.insert(origin.bot.clone());
            }
            self.origins.insert(intent, origin);
        }
    }

    pub(crate) fn mark_finished(&mut self, intent: IntentId) -> bool {
        self.unfinished.remove(&intent)
    }

    pub(crate) fn reopen(&mut self, intent: IntentId) {
        self.unfinished.insert(intent);
    }

    /// Evicts finished trades, except the latest ones and, for the hourly limits, those of the last hour.
    pub(crate) fn evict_old_trades(&mut self, at: Millis) {
        let rows = self.book.rows();
        if rows.len() < self.next_rows.max(2 * MAX_RETAINED_TRADES) {
            return;
        }
        let last = rows.last().map_or(0, |row| row.approved.intent().number());
        let is_young = |row: &IntentRow| {
            row.approved.intent().number() + MAX_RETAINED_TRADES as u64 > last
                || row.approved.decision_time() > at - Millis::HOUR
        };
        let first = rows.iter().rev().take_while(|row| is_young(row)).last();
        let Some(first) = first.map(|row| row.approved.intent()) else { return };
        // The trade book may lack some recent trades, which exist only in the journal.
        let first = first.max(IntentId::new(self.first_intent));
        self.book.retain_rows(|row| row.approved.intent() >= first || !row.is_finished());
        self.origins.retain(|intent, _| self.book.row(*intent).is_some());
        self.first_intent = first.number();
        let rows = self.book.rows().len();
        self.next_rows = rows + rows / 4;
    }

    pub(crate) fn trade_line(&self, row: &IntentRow) -> Option<TradeLine> {
        Some(TradeLine::new(&self.book, (row, self.origins.get(&row.approved.intent())?)))
    }

    pub(crate) fn bot_name(&self, row: &IntentRow) -> Option<&str> {
        self.origins.get(&row.approved.intent()).map(|origin| origin.bot.as_str())
    }

    /// Returns the unfinished trades, oldest first. Excludes orders that probably did not open a trade.
    pub(crate) fn unfinished_trades(&self) -> impl Iterator<Item = &IntentRow> {
        let rows = self.unfinished.iter().filter_map(|intent| self.book.row(*intent));
        rows.filter(|row| row.state != IntentState::NotOpened)
    }
}
