//! Stored trades: all trades that the API still reports as open, and the trades that ended most recently.

use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_simulator::{Order, SettledTrade};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

pub(super) struct TradeTable {
    trades: BTreeMap<u64, Trade>,
    by_id: HashMap<String, u64>,
    unseen: BTreeSet<(Millis, u64)>,
    over: VecDeque<u64>,
    max_ended: usize,
}

impl TradeTable {
    pub(super) fn new(max_ended: usize) -> Self {
        let (trades, unseen) = (BTreeMap::new(), BTreeSet::new());
        Self { trades, by_id: HashMap::new(), unseen, over: VecDeque::new(), max_ended }
    }

    pub(super) fn open_count(&self) -> usize {
        self.trades.len() - self.over.len()
    }

    pub(super) fn get(&self, number: u64) -> Option<&Trade> {
        self.trades.get(&number)
    }

    pub(super) fn find(&self, id: &str) -> Option<&Trade> {
        self.get(*self.by_id.get(id)?)
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Trade> {
        self.trades.values().rev()
    }

    pub(super) fn insert(&mut self, trade: Trade) {
        let number = trade.order.number;
        self.by_id.insert(trade.id.clone(), number);
        self.trades.insert(number, trade);
    }

    pub(super) fn record_arrival(&mut self, number: u64, wallet_after: Money) {
        if let Some(trade) = self.trades.get_mut(&number) {
            trade.balance_before = wallet_after + trade.order.stake;
        }
    }

    pub(super) fn settle(&mut self, settled: SettledTrade, lateness: Millis) {
        let Some(trade) = self.trades.get_mut(&settled.number) else { return };
        let shown_from = settled.known_at + lateness;
        trade.state = TradeState::Settled { trade: settled, shown_from };
        // While a trade is not listed yet, its settlement is not visible either.
        self.unseen.insert((shown_from.max(trade.listed_from), settled.number));
    }

    pub(super) fn advance_to(&mut self, now: Millis) {
        while let Some((_, number)) = self.unseen.first().copied().filter(|(from, _)| *from <= now) {
            self.unseen.pop_first();
            self.over.push_back(number);
        }
        while self.over.len() > self.max_ended {
            let forgotten = self.over.pop_front().and_then(|number| self.trades.remove(&number));
            forgotten.and_then(|trade| self.by_id.remove(&trade.id));
        }
    }

    pub(super) fn hidden_payout(&self, now: Millis) -> Money {
        let unseen = self.unseen.iter().filter_map(|(_, number)| self.get(*number));
        unseen.filter_map(|trade| trade.hidden_payout(now)).sum()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Trade {
    pub(super) id: String,
    pub(super) order: Order,
    /// Time at which the order reaches the venue.
    pub(super) request_time: Millis,
    pub(super) open_time: Millis,
    pub(super) open_price: Option<f64>,
    pub(super) close_time: Millis,
    pub(super) payout: Payout,
    pub(super) balance_before: Money,
    pub(super) listed_from: Millis,
    pub(super) state: TradeState,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TradeState {
    Running,
    Settled { trade: SettledTrade, shown_from: Millis },
}

impl Trade {
    pub(super) fn visible_settlement(&self, now: Millis) -> Option<&SettledTrade> {
        match &self.state {
            TradeState::Settled { trade, shown_from } if *shown_from <= now => Some(trade),
            TradeState::Settled { .. } | TradeState::Running => None,
        }
    }

    pub(super) fn hidden_payout(&self, now: Millis) -> Option<Money> {
        match &self.state {
            TradeState::Settled { trade, shown_from } if *shown_from > now => {
                Some(self.order.stake + trade.profit)
            }
            TradeState::Settled { .. } | TradeState::Running => None,
        }
    }

    pub(super) fn status(&self, now: Millis) -> &'static str {
        match self.visible_settlement(now) {
            Some(settled) if settled.outcome == Outcome::Cancelled => "CANCELLED",
            Some(_) => "COMPLETED",
            None if now < self.request_time => "PROCESSING",
            None => "OPEN",
        }
    }

    pub(super) fn result(&self, now: Millis) -> &'static str {
        match self.visible_settlement(now) {
            Some(settled) => settled.outcome.as_str(),
            None if now < self.request_time => "HOLD",
            None => "PENDING",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Direction, ExpirationType, Expiry, Outcome, Payout};
    use candlewick_simulator::Order;

    const STAKE: Money = Money::from_minor(1_000);

    fn trade(number: u64, listed_from: i64) -> Trade {
        let expiry =
            Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::default() };
        let time = Millis::ZERO;
        Trade {
            id: format!("trade {number}"),
            order: Order {
                number,
                symbol: "BTCUSDT".parse().unwrap(),
                direction: Direction::Buy,
                stake: STAKE,
                expiry,
                time,
            },
            request_time: time,
            open_time: time,
            open_price: None,
            close_time: time,
            payout: Payout::from_percent(80.into()).unwrap(),
            balance_before: Money::ZERO,
            listed_from: Millis::new(listed_from),
            state: TradeState::Running,
        }
    }

    fn settle(table: &mut TradeTable, number: u64, (known_at, lateness): (i64, i64)) {
        let (known_at, lateness) = (Millis::new(known_at), Millis::new(lateness));
        let settled = SettledTrade {
            number,
            known_at,
            outcome: Outcome::Lost,
            profit: -STAKE,
            open_price: None,
            close_price: None,
            open_time: Millis::ZERO,
            close_time: known_at,
        };
        table.settle(settled, lateness);
    }

    #[test]
    fn table_retains_only_the_latest_trades() {
        let mut table = TradeTable::new(10);
        for number in 0..10_000 {
            let at = i64::try_from(number).unwrap() * 10;
            table.insert(trade(number, at));
            // The settlement delay is limited, which also limits the number of hidden trades.
            settle(&mut table, number, (at + 5, if number % 7 == 0 { 100 } else { 0 }));
            table.advance_to(Millis::new(at + 5));
            let lengths = [table.trades.len(), table.by_id.len(), table.unseen.len() + table.over.len()];
            assert!(lengths.iter().all(|length| *length <= 10 + 2), "{number}: {lengths:?}");
        }
    }
}
