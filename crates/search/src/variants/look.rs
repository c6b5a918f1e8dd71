//! A look at candles: what was looked at, and how.

use super::CandleSample;
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What was looked at, and how.
#[derive(Clone, Debug)]
pub struct Look {
    /// How.
    pub kind: LookKind,
    /// What was run, where the same can be run again: the same look then, not another one.
    pub run: Option<String>,
    /// The candles that were chosen.
    pub candles: CandleSample,
    /// Whether somebody chose where they end. Else they end where there are no more, and may grow.
    pub is_cut: bool,
    /// What of them was seen.
    pub span: Range<Millis>,
    /// Whether all that was to be tried is noted with it.
    pub end: LookEnd,
}

/// How a look ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookEnd {
    /// Everything ran.
    #[default]
    Whole,
    /// It was stopped; all that ran is noted.
    Stopped,
}

/// How candles were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookKind {
    /// By a backtest, or nobody knows how.
    #[default]
    Backtest,
    /// By the trials of a sweep.
    Sweep,
    /// By a walk forward, its hold-out left out.
    WalkForward,
    /// By a walk forward that opened its hold-out.
    HoldOut,
    /// By bots that traded a venue which plays past candles.
    Sandbox,
}

impl LookKind {
    /// Whether what came of its trades is that of one run over the whole stretch.
    pub(super) const fn is_plain(self) -> bool {
        matches!(self, Self::Backtest | Self::Sweep)
    }
}

impl Look {
    /// The name of its candles.
    pub(super) fn candles_id(&self) -> String {
        let id = self.candles.id();
        if self.is_cut { format!("{id}-cut") } else { id }
    }
}
