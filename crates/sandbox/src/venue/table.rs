//! The table of trades: all that are not over for whoever asks, and the last of those that are.

use super::trade::{Ending, Trade};
use candlewick_sdk::{Millis, Money};
use candlewick_simulator::SettledTrade;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What the venue remembers. A trade is forgotten once so many others were seen to be over after it: then it is nowhere, as
/// one that never was.
pub(super) struct TradeTable {
    /// By the number of the order.
    trades: BTreeMap<u64, Trade>,
    by_id: HashMap<String, u64>,
    /// Settled, and not yet seen to be, with the moment from which they are.
    unseen: BTreeSet<(Millis, u64)>,
    /// Seen to be over, the first one in front.
    over: VecDeque<u64>,
    /// How many of those are kept.
    keep: usize,
}

impl TradeTable {
    pub(super) fn new(keep: usize) -> Self {
        let (trades, unseen) = (BTreeMap::new(), BTreeSet::new());
        Self { trades, by_id: HashMap::new(), unseen, over: VecDeque::new(), keep }
    }

    /// How many are not over, or not yet seen to be.
    pub(super) fn open(&self) -> usize {
        self.trades.len() - self.over.len()
    }

    /// The trade of this order.
    pub(super) fn get(&self, number: u64) -> Option<&Trade> {
        self.trades.get(&number)
    }

    /// The trade with this identifier.
    pub(super) fn find(&self, id: &str) -> Option<&Trade> {
        self.get(*self.by_id.get(id)?)
    }

    /// From the last order back.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Trade> {
        self.trades.values().rev()
    }

    pub(super) fn insert(&mut self, trade: Trade) {
        let number = trade.order.number;
        self.by_id.insert(trade.id.clone(), number);
        self.trades.insert(number, trade);
    }

    /// What the wallet held when the order arrived.
    pub(super) fn arrive(&mut self, number: u64, wallet_after: Money) {
        if let Some(trade) = self.trades.get_mut(&number) {
            trade.balance_before = wallet_after + trade.order.stake;
        }
    }

    /// The trade is over at the venue; so much later this is shown.
    pub(super) fn settle(&mut self, settled: SettledTrade, lateness: Millis) {
        let Some(trade) = self.trades.get_mut(&settled.number) else { return };
        let shown_from = settled.known_at + lateness;
        trade.ending = Ending::Settled { trade: settled, shown_from };
        // One that is not in the list yet was seen by nobody.
        self.unseen.insert((shown_from.max(trade.listed_from), settled.number));
    }

    /// What can be seen by `now` is; and what is too old by that is forgotten.
    pub(super) fn pass_until(&mut self, now: Millis) {
        while let Some((_, number)) = self.unseen.first().copied().filter(|(from, _)| *from <= now) {
            self.unseen.pop_first();
            self.over.push_back(number);
        }
        while self.over.len() > self.keep {
            let forgotten = self.over.pop_front().and_then(|number| self.trades.remove(&number));
            forgotten.and_then(|trade| self.by_id.remove(&trade.id));
        }
    }

    /// What settlements that are not shown yet have already brought to the wallet.
    pub(super) fn hidden_return(&self, now: Millis) -> Money {
        let unseen = self.unseen.iter().filter_map(|(_, number)| self.get(*number));
        unseen.filter_map(|trade| trade.hidden_return(now)).sum()
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
            ending: Ending::Running,
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

    fn kept(table: &TradeTable) -> Vec<u64> {
        table.newest_first().map(|trade| trade.order.number).collect()
    }

    #[test]
    fn nothing_that_is_open_or_not_seen_to_be_over_is_forgotten() {
        let mut table = TradeTable::new(1);
        // The third is listed late, the fourth settled late; the first stays open.
        for (number, listed_from) in [(1, 0), (2, 0), (3, 500), (4, 0), (5, 0), (6, 0)] {
            table.insert(trade(number, listed_from));
        }
        for (number, settlement) in
            [(2, (100, 0)), (3, (110, 0)), (4, (120, 300)), (5, (130, 0)), (6, (140, 0))]
        {
            settle(&mut table, number, settlement);
        }
        for (now, expected, open) in [
            (99, vec![6, 5, 4, 3, 2, 1], 6),
            (139, vec![6, 5, 4, 3, 1], 4),
            (140, vec![6, 4, 3, 1], 3),
            (419, vec![6, 4, 3, 1], 3),
            (420, vec![4, 3, 1], 2),
            (500, vec![3, 1], 1),
        ] {
            table.pass_until(Millis::new(now));
            assert_eq!((kept(&table), table.open()), (expected, open), "{now}");
        }
        assert!(table.find("trade 3").is_some() && table.find("trade 2").is_none());
    }

    #[test]
    fn a_table_of_many_trades_holds_no_more_than_the_last_ones() {
        let mut table = TradeTable::new(10);
        for number in 0..10_000 {
            let at = i64::try_from(number).unwrap() * 10;
            table.insert(trade(number, at));
            // Some of them late: at most as many are open as fit into the longest lateness.
            settle(&mut table, number, (at + 5, if number % 7 == 0 { 100 } else { 0 }));
            table.pass_until(Millis::new(at + 5));
            let lengths = [table.trades.len(), table.by_id.len(), table.unseen.len() + table.over.len()];
            assert!(lengths.iter().all(|length| *length <= 10 + 2), "{number}: {lengths:?}");
        }
    }
}
