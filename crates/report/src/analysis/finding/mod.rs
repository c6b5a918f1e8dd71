//! What a reader must know before believing a result, one finding a file.

mod assumed_payout;
mod data_revised;
mod dies_of_latency;
mod draw_share;
mod gaps;
mod in_sample_only;
mod ladder_hides_losses;
mod many_variants;
mod one_hour_only;
mod too_few_trades;

use super::{Breakdown, Dimension, Metrics, Sensitivity, VenueSetting};
use candlewick_backtest::Summary;
use candlewick_engine::BotSettings;
use candlewick_search::variants::VariantCount;
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
    /// A higher payout is assumed than trades were paid.
    AssumedPayout,
    /// Many variants were tried.
    ManyVariants,
    /// Candles are missing, or trades were called off for it.
    Gaps,
    /// Many trades drew.
    DrawShare,
    /// Stakes that change hide a losing strategy.
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

/// What is known of a run besides its trades.
#[derive(Clone, Copy, Debug, Default)]
pub struct Background {
    /// The payout that the run, or a backtest of it, assumes.
    pub assumed_payout_percent: Option<f64>,
    /// The middle one of the payouts that a venue really paid, where trades of one are known.
    pub seen_payout_percent: Option<f64>,
    /// Candles that are missing between the first and the last, the closed hours of a market left out.
    pub missing_candles: u64,
    /// Values of candles that the venue changed later.
    pub revised_candles: u64,
}

/// Everything that findings are made of.
pub(super) struct Facts<'a> {
    pub(super) summary: &'a Summary,
    pub(super) metrics: &'a Metrics,
    pub(super) breakdowns: &'a [Breakdown],
    pub(super) sensitivity: Option<&'a Sensitivity>,
    pub(super) variants: Option<&'a VariantCount>,
    pub(super) bots: &'a [BotSettings],
    pub(super) background: Background,
}

impl Severity {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serious => "serious",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl Finding {
    /// All that is to be said of a run, the most serious first.
    pub(super) fn all_of(facts: &Facts<'_>) -> Vec<Self> {
        let Facts { summary, metrics, background, variants, .. } = facts;
        let hours = facts.breakdowns.iter().find(|breakdown| breakdown.by == Dimension::Hour);
        let latencies = facts.sensitivity.map_or(&[][..], |all| all.curve(VenueSetting::LatencyMs));
        let no_price = summary.refused.get("NoPrice").copied().unwrap_or_default();
        let expectancy = metrics.expectancy.map(|expectancy| expectancy.return_per_unit);
        let found = [
            too_few_trades::find(metrics.win_rate.as_ref(), summary.won + summary.lost),
            hours.and_then(|hours| one_hour_only::find(&hours.cells)),
            dies_of_latency::find(latencies),
            assumed_payout::find(background.assumed_payout_percent, background.seen_payout_percent),
            variants.and_then(many_variants::find),
            gaps::find(background.missing_candles, summary.cancelled + no_price, summary.trades + no_price),
            draw_share::find(summary.draw, summary.trades),
            ladder_hides_losses::find(expectancy, summary.pnl.is_positive(), facts.bots),
            data_revised::find(background.revised_candles),
            variants.and_then(in_sample_only::find),
        ];
        let mut found: Vec<Self> = found.into_iter().flatten().collect();
        found.sort_by_key(|finding| finding.severity);
        found
    }
}
