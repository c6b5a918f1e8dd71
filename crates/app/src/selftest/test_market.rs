//! The markets: what is planted in the candles, and who trades them.

use candlewick_sdk::Payout;
use candlewick_statistics::{EdgeTestPlan, StatisticsError, TradeDependence, TradeStream};

/// Every trade is paid at this, in ten-thousandths of a percent.
const PAYOUT_PARTS: u32 = 850_000;
/// Days of minutes in each path; a trade every second minute, but for the last ones.
pub(super) const DAYS: u32 = 2;
const TRADES_PER_DAY: u64 = 720;

/// Candles that go on as they went with a known probability, and bots that follow them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestMarket {
    /// In words.
    pub name: &'static str,
    /// How probably a candle goes the way of the one before it: what every trade wins with.
    pub chance: f64,
    /// Bots that take the same trade.
    pub bots: usize,
    pub(super) kind: TestMarketKind,
}

/// What the verdict promises of a market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestMarketKind {
    /// No edge, but for the luck of break-even: seldom *edge shown*.
    Null,
    /// An edge of exactly delta: seldom *no edge*.
    Delta,
    /// An edge that is to be found.
    Edge,
    /// Less than break-even, which is to be seen.
    Worse,
}

impl TestMarket {
    /// All of them.
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

    /// How many trades a path is good for, of each bot; the last candles end none.
    pub(super) fn trades(&self) -> u64 {
        u64::from(DAYS) * TRADES_PER_DAY * self.bots as u64
    }

    /// The same trades without candles.
    pub(super) fn stream(&self) -> Result<TradeStream, StatisticsError> {
        let payout_fraction = payout().to_fraction();
        let points = 100.0 * (self.chance - 1.0 / (1.0 + payout_fraction));
        let dependence =
            if self.bots == 1 { TradeDependence::Independent } else { TradeDependence::SameTrade(self.bots) };
        TradeStream::new(dependence, &[payout_fraction], points, 0.0)
    }
}

/// What a win pays.
pub(super) fn payout() -> Payout {
    Payout::from_parts(PAYOUT_PARTS).expect("85 % is a payout")
}
