//! Resamples streamed prices to the price grid, with the same result as polling.

use candlewick_broker::PriceTick;
use candlewick_sdk::Millis;
use std::collections::VecDeque;

const KEPT: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct PriceStream {
    awaited: Option<Millis>,
    ticks: VecDeque<PriceTick>,
}

impl PriceStream {
    pub(crate) fn take(&mut self, tick: PriceTick) {
        let is_newest = self.ticks.back().is_none_or(|last| last.time <= tick.time);
        if !is_newest || !tick.price.is_finite() || tick.price <= 0.0 {
            return;
        }
        if self.ticks.len() == KEPT {
            self.ticks.pop_front();
        }
        self.ticks.push_back(tick);
    }

    pub(crate) fn await_grid(&mut self, at: Millis) {
        self.awaited = Some(at);
    }

    /// Returns the awaited grid time with the newest price up to it.
    ///
    /// Requires a later price, or the end of the wait, because an earlier price might still arrive.
    pub(crate) fn settle(&mut self, is_over: bool) -> Option<(Millis, Option<PriceTick>)> {
        let at = self.awaited?;
        let is_passed = self.ticks.back().is_some_and(|last| last.time > at);
        if !is_passed && !is_over {
            return None;
        }
        self.awaited = None;
        let newest = self.ticks.iter().rposition(|tick| tick.time <= at);
        let newest = newest.map(|place| {
            self.ticks.drain(..place);
            self.ticks[0]
        });
        Some((at, newest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(time: i64, price: f64) -> PriceTick {
        PriceTick { time: Millis::new(time), price }
    }

    #[test]
    fn a_moment_has_the_newest_price_at_or_before_it() {
        let mut stream = PriceStream::default();
        for one in [tick(900, 1.0), tick(1_000, 2.0), tick(1_000, 2.5), tick(950, 9.0), tick(990, f64::NAN)] {
            stream.take(one);
        }
        assert_eq!(stream.settle(true), None, "nothing is waited for");
        stream.await_grid(Millis::new(1_000));
        assert_eq!(stream.settle(false), None, "another of this moment may come");
        stream.take(tick(1_001, 3.0));
        assert_eq!(stream.settle(false), Some((Millis::new(1_000), Some(tick(1_000, 2.5)))));
        stream.await_grid(Millis::new(2_000));
        assert_eq!(stream.settle(true), Some((Millis::new(2_000), Some(tick(1_001, 3.0)))));
        // A quiet market keeps its price.
        stream.await_grid(Millis::new(3_000));
        assert_eq!(stream.settle(true), Some((Millis::new(3_000), Some(tick(1_001, 3.0)))));
    }

    #[test]
    fn a_price_after_the_moment_is_not_its_own() {
        let mut stream = PriceStream::default();
        stream.await_grid(Millis::new(1_000));
        stream.take(tick(1_500, 3.0));
        assert_eq!(stream.settle(false), Some((Millis::new(1_000), None)));
    }

    #[test]
    fn a_flood_between_two_moments_is_bounded() {
        let mut stream = PriceStream::default();
        for number in 0..5_000 {
            stream.take(tick(number, 1.0 + number as f64));
        }
        assert_eq!(stream.ticks.len(), KEPT);
    }
}
