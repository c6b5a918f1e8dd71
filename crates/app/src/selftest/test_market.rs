//! Test markets: the edge planted in the candles and the bots that trade it.

use candlewick_sdk::Payout;
use candlewick_statistics::{EdgeTestPlan, StatisticsError, TradeDependence, TradeStream};

/// Payout of every trade, in ten-thousandths of a percent.
const PAYOUT_PARTS: u32 = 850_000;
/// Days of one-minute candles per path, with a trade every second minute.
pub(super) const DAYS: u32 = 2;
const TRADES_PER_DAY: u64 = 720;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestMarket {
    pub name: &'static str,
    /// Probability that a candle moves in the direction of the previous one, and so of a win.
    pub chance: f64,
    pub bots: usize,
    pub(super) kind: TestMarketKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestMarketKind {
    /// Wins exactly at break-even: *edge shown* must be rare.
    Null,
    /// An edge of exactly delta: *no edge* must be rare.
    Delta,
    Edge,
    Worse,
}

impl TestMarket {
    pub(super) fn all() -> [Self; 5] {
        let (payout_fraction, delta) = (payout().to_fraction(), EdgeTestPlan::default().delta());
        let even = 1.0 / (1.0 + payout_fraction);
        let market = |name, chance, bots, kind| Self { name, chance, bots, kind };
        [
            market("exactly break-even", even, 1, TestMarketKind::Null),
            market("exactly break-even, three bots in step", even, 3, TestMarketKind::Null),
            market(
                "an edge of exactly delta",
                (1.0 + delta) / (1.0 + payout_fraction),
                1,
                TestMarketKind::Delta,
            ),
            market("five points above break-even", even + 0.05, 1, TestMarketKind::Edge),
            market("a coin", 0.5, 1, TestMarketKind::Worse),
        ]
    }

    pub(super) fn trades(&self) -> u64 {
        u64::from(DAYS) * TRADES_PER_DAY * self.bots as u64
    }

    pub(super) fn stream(&self) -> Result<TradeStream, StatisticsError> {
        let payout_fraction = payout().to_fraction();
        let points = 100.0 * (self.chance - 1.0 / (1.0 + payout_fraction));
        let dependence =
            if self.bots == 1 { TradeDependence::Independent } else { TradeDependence::SameTrade(self.bots) };
        TradeStream::new(dependence, &[payout_fraction], points, 0.0)
    }
}

pub(super) fn payout() -> Payout {
    Payout::from_parts(PAYOUT_PARTS).expect("85 % is a payout")
}
