//! Stake ladders that continue with the next candle.
//!
//! After a trade that was not won, the bot trades again in the same direction without a signal from its strategy.

use candlewick_sdk::{Direction, Expiry, Millis, Reason, Signal};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reentry {
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry: Option<Expiry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<DueEntry>,
    /// Whether the candle close of the next entry has passed. Not stored, because runs are restored without candles.
    #[serde(skip)]
    has_passed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DueEntry {
    direction: Direction,
    /// Time at which the end of the previous trade became known.
    since: Millis,
    /// 1-based level of the ladder.
    level: u32,
}

impl Reentry {
    #[inline]
    pub(crate) fn on_decided(&mut self, expiry: Expiry) {
        (self.expiry, self.due) = (Some(expiry), None);
    }

    pub(crate) fn on_ended(&mut self, direction: Direction, since: Millis, level: u32) {
        self.due = (level > 1).then_some(DueEntry { direction, since, level });
        self.has_passed = false;
    }

    pub(crate) const fn is_waiting(&self) -> bool {
        self.due.is_some()
    }

    #[inline]
    pub(crate) const fn is_due(&self) -> bool {
        self.due.is_some() && !self.has_passed
    }

    /// Returns the time at which the next entry counts as missed, because its candle has closed without a trade.
    /// The result depends only on times, because runs are restored without candles.
    pub(crate) fn missed_at(&self, interval: Millis) -> Option<Millis> {
        let DueEntry { since, .. } = self.due?;
        let closed = since.floor_to(interval);
        let own = if closed == since { closed } else { closed + interval };
        Some(own + Millis::new(1))
    }

    /// Returns the ladder's signal at the first candle close after the previous trade is known to have ended.
    /// `None` if this close is at least one interval after that time. The ladder then waits for a strategy signal.
    pub(crate) fn on_close(&mut self, close: Millis, interval: Millis) -> Option<Signal> {
        let due = self.due.filter(|due| close >= due.since && !self.has_passed)?;
        self.has_passed = true;
        let reason = Reason::new("ladder: again with the next candle").with("level", f64::from(due.level));
        let signal = Signal { expiry: self.expiry, ..Signal::with_reason(due.direction, reason) };
        (close < due.since + interval).then_some(signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::ExpirationType;

    const MINUTE: Millis = Millis::MINUTE;

    /// Checks at which of these 1m closes (in seconds) a bot enters again after a trade ended at 100 s.
    fn check(level: u32, closes: &[i64], expected: Option<i64>) {
        let mut reentry = Reentry::default();
        reentry.on_ended(Direction::Sell, Millis::from_seconds(100), level);
        let mut entered = closes.iter().filter(|close| {
            let signal = reentry.on_close(Millis::from_seconds(**close), MINUTE);
            assert!(signal.iter().all(|signal| signal.direction == Direction::Sell));
            signal.is_some()
        });
        assert_eq!(entered.next().copied(), expected, "level {level}, {closes:?}");
        assert_eq!(entered.next(), None, "once");
    }

    #[test]
    fn enters_on_first_close_within_an_interval_after_the_settlement() {
        check(2, &[60, 120, 180], Some(120));
        check(2, &[100, 160], Some(100));
        check(3, &[40, 99, 159], Some(159));
        check(2, &[60, 160, 220], None);
        check(1, &[120], None);
    }

    #[test]
    fn trade_approved_in_the_meantime_continues_the_ladder() {
        let mut reentry = Reentry::default();
        reentry.on_ended(Direction::Buy, Millis::from_seconds(100), 2);
        let half =
            Expiry { close_type: "00:30".parse().unwrap(), expiration_type: ExpirationType::CandleClose };
        reentry.on_decided(half);
        assert_eq!(reentry.on_close(Millis::from_seconds(120), MINUTE), None);
        reentry.on_ended(Direction::Sell, Millis::from_seconds(160), 3);
        let signal = reentry.on_close(Millis::from_seconds(180), MINUTE).unwrap();
        assert_eq!((signal.direction, signal.expiry), (Direction::Sell, Some(half)));
        assert_eq!(signal.reason.to_string(), "ladder: again with the next candle level=3");
    }

    #[test]
    fn entry_is_missed_once_its_candle_has_closed() {
        let missed = |since: i64, at: i64| {
            let mut reentry = Reentry::default();
            reentry.on_ended(Direction::Buy, Millis::from_seconds(since), 2);
            reentry.missed_at(MINUTE).unwrap() <= Millis::from_seconds(at)
        };
        for (since, at, expected) in
            [(100, 110, false), (100, 120, false), (100, 121, true), (120, 120, false), (120, 121, true)]
        {
            assert_eq!(missed(since, at), expected, "{since} {at}");
        }
        let mut reentry = Reentry::default();
        reentry.on_ended(Direction::Buy, Millis::from_seconds(100), 1);
        assert_eq!(reentry.missed_at(MINUTE), None, "the first level does not wait for a candle");
        let mut reentry = Reentry::default();
        reentry.on_ended(Direction::Buy, Millis::from_seconds(100), 2);
        reentry.on_ended(Direction::Sell, Millis::from_seconds(110), 1);
        assert_eq!(reentry.on_close(Millis::from_seconds(120), MINUTE), None, "the later end decides");
    }
}
