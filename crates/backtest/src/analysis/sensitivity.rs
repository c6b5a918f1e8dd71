//! How much of a result hangs on the settings of the venue: the same run, repeated with others.

use serde::Serialize;

/// The same run on other settings, one changed at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// By what a setting was changed, and what became of the run.
    pub curves: Vec<Curve>,
    /// The payout at which the mean return per unit of stake is 0, between two of the payouts that were tried; nothing
    /// when it is on one side of 0 at all of them.
    pub break_even_payout_percent: Option<f64>,
}

/// One setting, in several values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// `latency_ms`, `payout_percent`, `path` or `stress`.
    pub setting: &'static str,
    /// Its values, ascending where they are numbers.
    pub points: Vec<SensitivityPoint>,
}

/// What became of the run on one value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityPoint {
    /// The value as people read it.
    pub label: String,
    /// The value, where it is a number.
    pub value: Option<f64>,
    /// Whether it is the one of the run itself.
    pub is_own: bool,
    /// Settled trades.
    pub trades: u64,
    /// `won / (won + lost)`.
    pub win_rate: Option<f64>,
    /// The rate at which the trades would have earned nothing.
    pub break_even: Option<f64>,
    /// The mean return per unit of stake.
    pub return_per_unit: Option<f64>,
    /// Profit in money.
    pub pnl: f64,
}
