//! Accepted trades that are not final: when each is asked for.

use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;

/// The pause before a trade that is not final, or did not answer, is asked for again; the last one repeats.
const PAUSES_MS: [i64; 6] = [1_000, 3_000, 3_000, 5_000, 10_000, 30_000];
/// How soon a trade is asked for what the answer to its open left out.
const DETAILS_AFTER: Millis = Millis::SECOND;

/// A trade on its way to its settlement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenTrade {
    /// The venue's identifier, in full.
    pub(crate) venue_id: String,
    pub(crate) stake: Money,
    pub(crate) close_time: Option<Millis>,
    /// When it is taken to close while the venue does not say.
    assumed_close: Millis,
    asked: usize,
}

/// What is known of a trade when it is first tracked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tracked {
    /// The venue's identifier, in full.
    pub(crate) venue_id: String,
    pub(crate) stake: Money,
    pub(crate) duration: Millis,
    /// When it closes, where the venue has said so.
    pub(crate) close_time: Option<Millis>,
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
    pub(crate) fn begin(&mut self, intent: IntentId, trade: Tracked, now: Millis) -> Millis {
        let Tracked { venue_id, stake, duration, close_time } = trade;
        let assumed_close = now + duration;
        self.trades.insert(intent, OpenTrade { venue_id, stake, close_time, assumed_close, asked: 0 });
        close_time.map_or(now + DETAILS_AFTER, |close| (close + self.settle_after).max(now))
    }

    pub(crate) fn find(&self, intent: IntentId) -> Option<&OpenTrade> {
        self.trades.get(&intent)
    }

    /// A trade is not final, and its close time may be news; answers when to ask for its result.
    pub(crate) fn detail(
        &mut self,
        intent: IntentId,
        close_time: Option<Millis>,
        now: Millis,
    ) -> Option<Millis> {
        let trade = self.trades.get_mut(&intent)?;
        trade.close_time = close_time.or(trade.close_time);
        let first = trade.close_time.map(|close| close + self.settle_after).filter(|first| *first > now);
        if first.is_some() {
            trade.asked = 0;
        }
        Some(first.unwrap_or_else(|| trade.pause(now)))
    }

    /// A trade did not answer; answers when to ask again.
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

    /// When the last of them closes, as far as is known.
    pub(crate) fn last_close(&self) -> Option<Millis> {
        self.trades.values().map(|trade| trade.close_time.unwrap_or(trade.assumed_close)).max()
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

    /// A trade of 30 seconds, begun at 0.
    fn begin(watch: &mut TradeWatch, close_time: Option<Millis>) -> Millis {
        let (venue_id, duration) = ("01JT".to_owned(), Millis::from_seconds(30));
        watch.begin(INTENT, Tracked { venue_id, stake: Money::ZERO, duration, close_time }, Millis::ZERO)
    }

    #[test]
    fn a_trade_is_first_asked_for_after_its_close_and_the_settle_delay() {
        let mut watch = watch();
        let first = begin(&mut watch, Some(Millis::MINUTE));
        assert_eq!(first, Millis::new(64_000));
        let again: Vec<_> = (0..8).filter_map(|_| watch.ask_again(INTENT, first)).collect();
        let pauses: Vec<_> = again.iter().map(|at| (*at - first).get()).collect();
        assert_eq!(pauses, [1_000, 3_000, 3_000, 5_000, 10_000, 30_000, 30_000, 30_000]);
    }

    #[test]
    fn a_trade_without_times_is_asked_for_its_details_first() {
        let mut watch = watch();
        let first = begin(&mut watch, None);
        assert_eq!((first, watch.last_close()), (Millis::SECOND, Some(Millis::new(30_000))));
        assert_eq!(watch.detail(INTENT, Some(Millis::MINUTE), first), Some(Millis::new(64_000)));
        assert_eq!(watch.last_close(), Some(Millis::MINUTE));
    }
}
