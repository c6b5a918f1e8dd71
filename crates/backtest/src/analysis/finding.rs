//! What a reader must know before believing a result.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The result is not what it seems.
    Serious,
    /// The result may not be what it seems.
    Warning,
    /// Good to know.
    Info,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The win rate is uncertain for want of trades.
    TooFewTrades,
    /// The profit is that of one hour of the day.
    OneHourOnly,
    /// A little latency takes the profit.
    DiesOfLatency,
    /// Backtests assume a higher payout than trades were paid.
    AssumedPayout,
    /// Many variants were tried.
    ManyVariants,
    /// Candles are missing, or trades were called off for it.
    Gaps,
    /// Many trades drew.
    DrawShare,
    /// Stakes that grow after losses hide a losing strategy.
    LadderHidesLosses,
    /// The venue changed candles after the fact.
    DataRevised,
    /// No candle of the run was unseen when its variant was chosen.
    InSampleOnly,
}

/// Something that a reader must know, in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// One or two sentences with the figures.
    pub text: String,
}
