//! Accepted trades that are not final: when each is asked for.

use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;

/// The pause before a trade that is not final, or did not answer, is asked for again; the last one repeats.
const PAUSES_MS: [i64; 6] = [1_000, 3_000, 3_000, 5_000, 10_000, 30_000];
/// How soon a trade is asked for what its open reply left out.
const DETAILS_AFTER: Millis = Millis::SECOND;

/// A trade on its way to its settlement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenTrade {
    /// The venue's identifier, in full.
    pub(crate) venue_id: String,
    pub(crate) stake: Money,
    pub(crate) open_time: Option<Millis>,
    pub(crate) close_time: Option<Millis>,
    asked: usize,
}

/// All of them, by intent.
#[derive(Debug)]
pub(crate) struct TradeWatch {
    settle_after: Millis,
    trades: BTreeMap<IntentId, OpenTrade>,
}

impl TradeWatch {
    pub(crate) const fn new(settle_after: Millis) -> Self {
        Self { settle_after, trades: BTreeMap::new() }
    }

    /// Begins to track a trade at `now`; answers when to ask for it first.
    pub(crate) fn begin(
        &mut self,
        intent: IntentId,
        (venue_id, stake): (String, Money),
        (open_time, close_time): (Option<Millis>, Option<Millis>),
        now: Millis,
    ) -> Millis {
        self.trades.insert(intent, OpenTrade { venue_id, stake, open_time, close_time, asked: 0 });
        self.first_ask(close_time, now)
    }

    pub(crate) fn find(&self, intent: IntentId) -> Option<&OpenTrade> {
        self.trades.get(&intent)
    }

    /// A trade's details came; answers when to ask for its result.
    pub(crate) fn detail(
        &mut self,
        intent: IntentId,
        (open_time, close_time): (Option<Millis>, Option<Millis>),
        now: Millis,
    ) -> Option<Millis> {
        let trade = self.trades.get_mut(&intent)?;
        trade.open_time = open_time.or(trade.open_time);
        trade.close_time = close_time.or(trade.close_time);
        let first = trade.close_time.map(|close| close + self.settle_after).filter(|first| *first > now);
        if first.is_some() {
            trade.asked = 0;
        }
        Some(first.unwrap_or_else(|| trade.pause(now)))
    }

    /// A trade is not final or did not answer; answers when to ask again.
    pub(crate) fn ask_again(&mut self, intent: IntentId, now: Millis) -> Option<Millis> {
        let trade = self.trades.get_mut(&intent)?;
        Some(trade.pause(now))
    }

    pub(crate) fn end(&mut self, intent: IntentId) {
        self.trades.remove(&intent);
    }

    pub(crate) fn len(&self) -> usize {
        self.trades.len()
    }

    /// Until when a stopping run tracks its trades: the last known close + `patience`, or `now` + `patience`
    /// where no close is known.
    pub(crate) fn patience_ends(&self, patience: Millis, now: Millis) -> Millis {
        let closes = self.trades.values().map(|trade| trade.close_time.unwrap_or(now));
        closes.max().unwrap_or(now) + patience
    }

    fn first_ask(&self, close_time: Option<Millis>, now: Millis) -> Millis {
        close_time.map_or(now + DETAILS_AFTER, |close| (close + self.settle_after).max(now))
    }
}

impl OpenTrade {
    fn pause(&mut self, now: Millis) -> Millis {
        let pause = PAUSES_MS[self.asked.min(PAUSES_MS.len() - 1)];
        self.asked += 1;
        now + Millis::new(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTENT: IntentId = IntentId::new(1);

    fn watch() -> TradeWatch {
        TradeWatch::new(Millis::from_seconds(4))
    }

    #[test]
    fn a_trade_is_first_asked_for_after_its_close_and_the_settle_delay() {
        let mut watch = watch();
        let begun = ("id".to_owned(), Money::ZERO);
        let first = watch.begin(INTENT, begun, (None, Some(Millis::MINUTE)), Millis::ZERO);
        assert_eq!(first, Millis::new(64_000));
        let again: Vec<_> = (0..8).filter_map(|_| watch.ask_again(INTENT, first)).collect();
        let pauses: Vec<_> = again.iter().map(|at| (*at - first).get()).collect();
        assert_eq!(pauses, [1_000, 3_000, 3_000, 5_000, 10_000, 30_000, 30_000, 30_000]);
    }

    #[test]
    fn a_trade_without_times_is_asked_for_its_details_first() {
        let mut watch = watch();
        let first = watch.begin(INTENT, ("id".to_owned(), Money::ZERO), (None, None), Millis::ZERO);
        assert_eq!(first, Millis::SECOND);
        let close = Millis::MINUTE;
        assert_eq!(watch.detail(INTENT, (None, Some(close)), first), Some(Millis::new(64_000)));
        assert_eq!(watch.patience_ends(Millis::from_seconds(30), first), Millis::new(90_000));
    }
}
