//! Watches whether a shown edge still exists.

use crate::IntentId;
use candlewick_sdk::Millis;
use candlewick_statistics::{ChangeDetector, EdgeTestPlan, TradeOutcome, WatchStake};
use serde::{Deserialize, Serialize};

/// Change detection over the trades decided after *edge shown*, for the end of an edge of `delta`
/// or more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EdgeWatch {
    detector: ChangeDetector,
    open: Vec<(IntentId, WatchStake)>,
}

impl EdgeWatch {
    /// Creates the watch of a plan, `None` if the plan watches nothing.
    pub(crate) fn new(plan: EdgeTestPlan, watch_trades: u64) -> Option<Self> {
        let detector = ChangeDetector::new(plan.delta(), watch_trades).ok()?;
        Some(Self { detector, open: Vec::new() })
    }

    pub(crate) fn on_decided(&mut self, intent: IntentId, at: Millis, variance_inflation: f64) {
        if self.detector.alarm().is_none() {
            self.open.push((intent, self.detector.on_open(at.get(), variance_inflation)));
        }
    }

    /// Records the end of a trade. Trades opened before the watch began are ignored.
    pub(crate) fn on_settled(&mut self, intent: IntentId, outcome: TradeOutcome, payout_fraction: f64) {
        let Some(place) = self.open.iter().position(|(open, _)| *open == intent) else { return };
        let (_, stake) = self.open.swap_remove(place);
        let _ = self.detector.on_settled(stake, outcome, payout_fraction);
    }

    pub(crate) fn no_longer_held_since(&self) -> Option<Millis> {
        self.detector.alarm().map(Millis::new)
    }
}
