//! A look at candles: a run that has seen them.

use super::CandleSample;
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct Look {
    pub kind: LookKind,
    /// Id of a repeatable run. Another look with the same id counts as the same look.
    pub run: Option<String>,
    pub candles: CandleSample,
    /// Whether the end of the candles was chosen; otherwise they may grow.
    pub is_cut: bool,
    pub span: Range<Millis>,
    pub end: LookEnd,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookEnd {
    #[default]
    Whole,
    Stopped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookKind {
    /// Backtest, or unknown.
    #[default]
    Backtest,
    Sweep,
    /// Walk-forward run without its hold-out.
    WalkForward,
    HoldOut,
    Sandbox,
}

impl LookKind {
    /// Returns whether its trade results come from one run over the whole stretch.
    pub(super) const fn is_plain(self) -> bool {
        matches!(self, Self::Backtest | Self::Sweep)
    }
}

impl Look {
    pub(super) fn candles_id(&self) -> String {
        let id = self.candles.id();
        if self.is_cut { format!("{id}-cut") } else { id }
    }
}
