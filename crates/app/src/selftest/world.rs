//! The worlds: what is planted in the candles, and who trades them.

use candlewick_sdk::Payout;
use candlewick_statistics::{Arrangement, StatisticsError, TradeStream, VerdictPlan};

/// Every trade is paid at this, in ten-thousandths of a percent.
const PAYOUT_PARTS: u32 = 850_000;
/// Days of minutes in each path; a trade every second minute, but for the last ones.
pub(super) const DAYS: u32 = 2;
const TRADES_PER_DAY: u64 = 720;

/// Candles that go on as they went with a known probability, and bots that follow them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// In words.
    pub name: &'static str,
    /// How probably a candle goes the way of the one before it: what every trade wins with.
    pub chance: f64,
    /// Bots that take the same trade.
    pub bots: usize,
    pub(super) kind: WorldKind,
}

/// What the verdict promises of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorldKind {
    /// No edge, but for the luck of break-even: seldom *edge shown*.
    Null,
    /// An edge of exactly delta: seldom *edge rejected*.
    Delta,
    /// An edge that is to be found.
    Edge,
    /// Less than break-even, which is to be seen.
    Worse,
}

impl World {
    /// All of them.
    pub(super) fn all() -> [Self; 5] {
        let (payout_fraction, delta) = (payout().to_fraction(), VerdictPlan::default().delta());
        let even = 1.0 / (1.0 + payout_fraction);
        let world = |name, chance, bots, kind| Self { name, chance, bots, kind };
        [
            world("exactly break-even", even, 1, WorldKind::Null),
            world("exactly break-even, three bots in step", even, 3, WorldKind::Null),
            world("an edge of exactly delta", (1.0 + delta) / (1.0 + payout_fraction), 1, WorldKind::Delta),
            world("five points above break-even", even + 0.05, 1, WorldKind::Edge),
            world("a coin", 0.5, 1, WorldKind::Worse),
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
        let arrangement =
            if self.bots == 1 { Arrangement::OneAfterAnother } else { Arrangement::InStep(self.bots) };
        TradeStream::new(arrangement, &[payout_fraction], points, 0.0)
    }
}

/// What a win pays.
pub(super) fn payout() -> Payout {
    Payout::from_parts(PAYOUT_PARTS).expect("85 % is a payout")
}
