//! Schedules requests for accepted trades until they are final.

use super::cancellations::UnprovenEnd;
use super::missing_trades::Absence;
use candlewick_broker::{Reported, TradeReport};
use candlewick_engine::{IntentId, VenueSymbol};
use candlewick_sdk::{Direction, Millis, Money, Payout};
use std::collections::BTreeMap;

/// Backoff while a trade is not final or a request fails; the last delay repeats.
const PAUSES_MS: [i64; 6] = [1_000, 3_000, 3_000, 5_000, 10_000, 30_000];
/// Maximum correction of the open time by a later record. Beyond it, the record is another trade's.
const OPEN_TIME_CORRECTION: Millis = Millis::MINUTE;
const DETAILS_AFTER: Millis = Millis::SECOND;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenTrade {
    /// Untruncated id of the venue.
    pub(crate) venue_id: String,
    pub(crate) stake: Money,
    pub(crate) close_time: Option<Millis>,
    /// Symbol as first reported. A later record must agree.
    symbol: Option<VenueSymbol>,
    direction: Option<Direction>,
    assumed_close: Millis,
    open_time: Option<Millis>,
    asked: usize,
    pub(super) absence: Option<Absence>,
    pub(super) payout: Option<Payout>,
    pub(super) unproven: Option<UnprovenEnd>,
    is_reported: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tracked {
    pub(crate) venue_id: String,
    pub(crate) stake: Money,
    pub(crate) assumed_close: Millis,
    pub(crate) open_time: Option<Millis>,
    pub(crate) close_time: Option<Millis>,
    pub(crate) symbol: Option<VenueSymbol>,
    pub(crate) direction: Option<Direction>,
    pub(crate) payout: Option<Payout>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistaken {
    pub(crate) news: Option<String>,
    pub(crate) ask_at: Millis,
}

#[derive(Debug)]
pub(crate) struct TradeWatch {
    settle_after: Millis,
    trades: BTreeMap<IntentId, OpenTrade>,
}

impl TradeWatch {
    pub(crate) const fn new(settle_after: Millis) -> Self {
        Self { settle_after, trades: BTreeMap::new() }
    }

    pub(crate) fn begin(&mut self, intent: IntentId, trade: Tracked, now: Millis) -> Millis {
        let Tracked { venue_id, stake, assumed_close, open_time, close_time, symbol, direction, payout } =
            trade;
        let open = OpenTrade {
            venue_id,
            stake,
            close_time,
            symbol,
            direction,
            assumed_close,
            open_time,
            asked: 0,
            absence: None,
            payout,
            unproven: None,
            is_reported: false,
        };
        self.trades.insert(intent, open);
        close_time.map_or(now + DETAILS_AFTER, |close| (close + self.settle_after).max(now))
    }

    pub(crate) fn find(&self, intent: IntentId) -> Option<&OpenTrade> {
        self.trades.get(&intent)
    }

    pub(crate) fn mistaken(
        &mut self,
        intent: IntentId,
        report: &TradeReport,
        now: Millis,
    ) -> Option<Mistaken> {
        let trade = self.trades.get_mut(&intent)?;
        let difference = trade.difference(report)?;
        let news = (!std::mem::replace(&mut trade.is_reported, true)).then_some(difference);
        Some(Mistaken { news, ask_at: trade.pause(now) })
    }

    pub(super) fn find_mut(&mut self, intent: IntentId) -> Option<&mut OpenTrade> {
        self.trades.get_mut(&intent)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (IntentId, &OpenTrade)> {
        self.trades.iter().map(|(intent, trade)| (*intent, trade))
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = (IntentId, &mut OpenTrade)> {
        self.trades.iter_mut().map(|(intent, trade)| (*intent, trade))
    }

    pub(crate) fn take_other(&mut self, intent: IntentId, stake: Money) {
        if let Some(trade) = self.trades.get_mut(&intent) {
            trade.stake = stake;
        }
    }

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
        let assumed = Some(trade.close() + self.settle_after).filter(|at| *at > now);
        let pause = first.unwrap_or_else(|| trade.pause(now));
        Some(assumed.map_or(pause, |assumed| pause.min(assumed)))
    }

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

    pub(crate) fn last_close(&self) -> Option<Millis> {
        self.trades.values().map(OpenTrade::close).max()
    }
}

impl OpenTrade {
    pub(super) fn close(&self) -> Millis {
        self.close_time.unwrap_or(self.assumed_close)
    }

    /// Returns how a record contradicts the known trade. Missing fields are accepted.
    fn difference(&self, report: &TradeReport) -> Option<String> {
        let direction = report.direction.as_ref().and_then(Reported::known);
        // By as much of it as a journal keeps.
        let symbol = report.symbol.as_deref().map(VenueSymbol::truncated);
        if report.id != self.venue_id {
            Some(format!("it is named {}", report.id))
        } else if self.symbol.is_some() && symbol.is_some() && self.symbol != symbol {
            Some(format!("its symbol is {}", report.symbol.as_deref().unwrap_or_default()))
        } else if self.direction.is_some() && direction.is_some() && self.direction.as_ref() != direction {
            Some(format!("its direction is {}", direction.copied()?))
        } else {
            let (known, found) = (self.open_time?, report.open_time?);
            let far = known.abs_diff(found);
            (far > self.open_correction()).then(|| format!("it opened {} s apart from it", far.get() / 1_000))
        }
    }

    /// Returns the allowed correction of the open time.
    ///
    /// A trade that opens with the next candle may first be reported with its request time.
    fn open_correction(&self) -> Millis {
        let lasts = self.open_time.map_or(Millis::ZERO, |open| self.assumed_close - open);
        OPEN_TIME_CORRECTION.max(lasts)
    }

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
        let trade = Tracked {
            venue_id: "01JT".to_owned(),
            stake: Money::ZERO,
            assumed_close: Millis::from_seconds(30),
            open_time: None,
            close_time,
            symbol: Some(VenueSymbol::truncated("BTCUSDT")),
            direction: Some(Direction::Buy),
            payout: None,
        };
        watch.begin(INTENT, trade, Millis::ZERO)
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
    fn a_record_of_another_trade_is_not_believed_and_reported_once() {
        let report = |id: &str| TradeReport::new(id);
        let symbol = |text: &str| TradeReport { symbol: Some(text.to_owned()), ..report("01JT") };
        let direction = |known: Reported<Direction>| TradeReport { direction: Some(known), ..report("01JT") };
        for (record, expected) in [
            (report("01JT"), None),
            (symbol("BTCUSDT"), None),
            (direction(Reported::Known(Direction::Buy)), None),
            (direction(Reported::Unrecognised("CALL".to_owned())), None),
            (report("01JU"), Some("it is named 01JU")),
            (symbol("ETHUSDT"), Some("its symbol is ETHUSDT")),
            (direction(Reported::Known(Direction::Sell)), Some("its direction is SELL")),
        ] {
            let mut watch = watch();
            begin(&mut watch, Some(Millis::MINUTE));
            let first = watch.mistaken(INTENT, &record, Millis::MINUTE);
            assert_eq!(first.as_ref().and_then(|mistaken| mistaken.news.as_deref()), expected, "{record:?}");
            let again = watch.mistaken(INTENT, &record, Millis::MINUTE);
            assert_eq!(again.map(|mistaken| mistaken.news), expected.map(|_| None), "said once");
        }
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
