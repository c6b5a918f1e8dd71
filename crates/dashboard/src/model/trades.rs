//! The trades that are shown at once: those that are not over and the last ones. Earlier ones are read from the journal when somebody asks.

use candlewick_engine::{IntentId, IntentRow, IntentState, TradeBook};
use candlewick_records::{IntentOrigin, TradeLine};
use candlewick_sdk::Millis;
use std::collections::{BTreeMap, BTreeSet};

/// Intents that are kept at least: the last ones.
const KEPT: usize = 1_000;

/// Trades and requests with where they came from.
#[derive(Default)]
pub(crate) struct KeptTrades {
    pub(crate) book: TradeBook,
    origins: BTreeMap<IntentId, IntentOrigin>,
    /// Those that are not over.
    unfinished: BTreeSet<IntentId>,
    /// Bots that have traded.
    bots: BTreeSet<String>,
    /// All so far.
    count: usize,
    /// From this number on none is missing.
    first: u64,
    /// With how many rows it is worth looking for old ones.
    next_rows: usize,
}

impl KeptTrades {
    /// Those of a book that has all, each with where it came from.
    pub(crate) fn all_of(book: TradeBook, origin: impl Fn(&IntentRow) -> Option<IntentOrigin>) -> Self {
        let mut trades = Self::default();
        for row in book.rows() {
            let intent = row.approved.intent();
            trades.begin(intent, origin(row));
            if row.is_over() {
                trades.end(intent);
            }
        }
        Self { book, ..trades }
    }

    /// So many that the book does not have were decided before this one, by bots of these names.
    pub(crate) fn add_earlier(&mut self, count: usize, first: u64, bots: impl Iterator<Item = String>) {
        self.count += count;
        self.first = first;
        self.bots.extend(bots);
    }

    /// An intent was decided, and the book has it.
    pub(crate) fn begin(&mut self, intent: IntentId, origin: Option<IntentOrigin>) {
        self.count += 1;
        self.unfinished.insert(intent);
        if let Some(origin) = origin {
            if !self.bots.contains(&origin.bot) {
                self.bots.insert(origin.bot.clone());
            }
            self.origins.insert(intent, origin);
        }
    }

    /// An intent is over; whether it was not before.
    pub(crate) fn end(&mut self, intent: IntentId) -> bool {
        self.unfinished.remove(&intent)
    }

    /// An intent that was over is in doubt again.
    pub(crate) fn reopen(&mut self, intent: IntentId) {
        self.unfinished.insert(intent);
    }

    /// Forgets what is over, but the last ones and those of the hour before this moment, which a limit counts.
    pub(crate) fn forget_old(&mut self, at: Millis) {
        let rows = self.book.rows();
        if rows.len() < self.next_rows.max(2 * KEPT) {
            return;
        }
        let last = rows.last().map_or(0, |row| row.approved.intent().number());
        let is_young = |row: &IntentRow| {
            row.approved.intent().number() + KEPT as u64 > last
                || row.approved.decision_time() > at - Millis::HOUR
        };
        let first = rows.iter().rev().take_while(|row| is_young(row)).last();
        let Some(first) = first.map(|row| row.approved.intent()) else { return };
        // Some of the young ones may have been left in the journal.
        let first = first.max(IntentId::new(self.first));
        self.book.keep_rows(|row| row.approved.intent() >= first || !row.is_over());
        let book = &self.book;
        self.origins.retain(|intent, _| book.row(*intent).is_some());
        self.first = first.number();
        let rows = self.book.rows().len();
        self.next_rows = rows + rows / 4;
    }

    /// How many there were so far.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// Those from this number on are all here; 0 where no earlier one is missing.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// A trade as machines read it.
    pub(crate) fn line(&self, row: &IntentRow) -> Option<TradeLine> {
        Some(TradeLine::of(&self.book, (row, self.origins.get(&row.approved.intent())?)))
    }

    /// The name of the bot whose trade this is.
    pub(crate) fn bot_of(&self, row: &IntentRow) -> Option<&str> {
        self.origins.get(&row.approved.intent()).map(|origin| origin.bot.as_str())
    }

    /// Whether a bot of this name has traded.
    pub(crate) fn has_traded(&self, bot: &str) -> bool {
        self.bots.contains(bot)
    }

    /// The trades and requests that are not over, oldest first. What was found not opened is none of them, unless a trade is
    /// found yet.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &IntentRow> {
        let rows = self.unfinished.iter().filter_map(|intent| self.book.row(*intent));
        rows.filter(|row| row.state != IntentState::NotOpened)
    }
}
