//! Simulated trades of the answers, so that a strategy receives settlements.

use crate::{
    BotContext, Candle, Direction, Millis, Money, Outcome, Settlement, Signal, Strategy, compare_prices,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;

const STAKE: Money = Money::from_minor(1_000);
const PROFIT: Money = Money::from_minor(800);

/// Open trades by the candle at whose close they end.
///
/// A trade enters at the next candle's open.
pub(super) struct Trades {
    length: Millis,
    usual: Millis,
    open: BTreeMap<usize, Vec<Trade>>,
}

struct Trade {
    direction: Direction,
    decision_time: Millis,
    entry: usize,
}

impl Trades {
    pub(super) fn new(bot: &BotContext) -> Self {
        let (length, usual) = (bot.interval.length(), bot.expiry.close_type.duration());
        Self { length, usual, open: BTreeMap::new() }
    }

    pub(super) fn open(&mut self, candle: usize, signal: &Signal, decision_time: Millis) {
        let duration = signal.expiry.map_or(self.usual, |expiry| expiry.close_type.duration());
        let candles = usize::try_from(duration.get() / self.length.get()).unwrap_or(1).max(1);
        let trade = Trade { direction: signal.direction, decision_time, entry: candle + 1 };
        self.open.entry(candle + candles).or_default().push(trade);
    }

    pub(super) fn settle(&mut self, candles: &[Candle], last: usize, strategy: &mut dyn Strategy) {
        while let Some(due) = self.open.first_entry().filter(|due| *due.key() <= last) {
            for trade in due.remove() {
                let Some(entry) = candles.get(trade.entry) else { continue };
                if strategy.wants_settlements() {
                    strategy.on_settled(&trade.end(entry.open(), candles[last].close()));
                }
            }
        }
    }
}

impl Trade {
    fn end(&self, entry: f64, exit: f64) -> Settlement {
        let (outcome, profit) = match (compare_prices(exit, entry), self.direction) {
            (Ordering::Equal, _) => (Outcome::Draw, Money::ZERO),
            (Ordering::Greater, Direction::Buy) | (Ordering::Less, Direction::Sell) => (Outcome::Won, PROFIT),
            (Ordering::Greater, Direction::Sell) | (Ordering::Less, Direction::Buy) => {
                (Outcome::Lost, Money::ZERO - STAKE)
            }
        };
        Settlement { direction: self.direction, decision_time: self.decision_time, outcome, profit }
    }
}
