//! Findings: reasons to doubt a result, one kind per file.

mod assumed_payout;
mod bounce;
mod data_revised;
mod dies_of_latency;
mod draw_share;
mod few_clusters;
mod gaps;
mod halted_early;
mod in_sample_only;
mod many_numbers;
mod many_variants;
mod no_price_step;
mod one_hour_only;
mod refused_by_one_rule;
mod regimes;
mod staked_result;
mod stale_longer_candles;
mod too_few_trades;
mod too_good;
mod unusual_payout;
mod variants_unknown;

use super::{Breakdown, Dimension, Metrics, Sensitivity, VenueSetting};
pub use assumed_payout::assumed_payout_percent;
pub use bounce::Reversals;
use candlewick_backtest::Summary;
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{Interval, Millis, MoneyScale, Staleness, Symbol};
use candlewick_search::variants::VariantCount;
use serde::Serialize;
pub(crate) use staked_result::StakedResult;
use std::collections::BTreeMap;
use std::ops::Range;
pub(crate) use too_good::{DecidedTrades, too_good};
pub(crate) use unusual_payout::unusual_payout;
pub use variants_unknown::VariantsUnknown;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The result is misleading.
    Serious,
    /// The result may be misleading.
    Warning,
    Info,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    RefusedByOneRule,
    HaltedEarly,
    EdgeDidNotLast,
    TooGood,
    TooFewTrades,
    FewClusters,
    Regimes,
    OneHourOnly,
    DiesOfLatency,
    AssumedPayout,
    UnusualPayout,
    ManyVariants,
    VariantsUnknown,
    Gaps,
    BidAskBounce,
    ManyNumbers,
    StaleLongerCandles,
    DrawShare,
    NoPriceStep,
    LadderHidesLosses,
    StakesLoseMoney,
    DataRevised,
    InSampleOnly,
    NoTimes,
    SortedByResult,
    RepeatedRows,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    pub text: String,
}

#[derive(Clone, Debug, Default)]
pub struct Background {
    pub assumed_payout_percent: Option<f64>,
    /// Median payout that a venue really paid; `None` if no such trades are known.
    pub seen_payout_percent: Option<f64>,
    /// Missing candles between the first and the last, without the closed hours of a market.
    pub missing_candles: u64,
    /// Candles of the bots' series that closed after the last decision; `None` if no candles are
    /// available.
    pub untraded_candles: Option<u64>,
    pub revised_candles: u64,
    pub unset_steps: BTreeMap<Symbol, f64>,
    pub reversals: Vec<Reversals>,
    /// Count of numbers in each bot's rule, in the order of the bots; 0 without a rule.
    pub rule_numbers: Vec<usize>,
    pub stale_longer: Vec<StaleLonger>,
}

#[derive(Clone, Debug)]
pub struct StaleLonger {
    pub bot: String,
    pub interval: Interval,
    pub staleness: Staleness,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct VerdictBasis {
    /// Trades that were never open at the same time.
    pub(super) apart: u64,
    pub(super) is_decided: bool,
}

pub(super) struct Facts<'a> {
    pub(super) summary: &'a Summary,
    pub(super) metrics: &'a Metrics,
    pub(super) breakdowns: &'a [Breakdown],
    pub(super) sensitivity: Option<&'a Sensitivity>,
    pub(super) variants: Option<&'a VariantCount>,
    pub(super) variants_unknown: Option<&'a VariantsUnknown>,
    pub(super) bots: &'a [BotSettings],
    pub(super) scale: MoneyScale,
    pub(super) settled: &'a [&'a IntentRow],
    pub(super) refused_since_last: BTreeMap<&'static str, u64>,
    /// Time of the last decision, and the time span of the run.
    pub(super) last_open: (Option<Millis>, &'a Range<Millis>),
    pub(super) background: Background,
    pub(super) basis: VerdictBasis,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Serious => "serious",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl FindingKind {
    const fn is_headline(self) -> bool {
        matches!(
            self,
            Self::RefusedByOneRule | Self::HaltedEarly | Self::LadderHidesLosses | Self::StakesLoseMoney
        )
    }
}

impl Finding {
    pub(crate) fn is_headline(&self) -> bool {
        self.severity == Severity::Serious && self.kind.is_headline()
    }

    #[must_use]
    pub(crate) fn of_bot(mut self, bot: &str) -> Self {
        self.text = format!("{bot}: {}", self.text);
        self
    }

    pub(super) fn all_of(facts: &Facts<'_>) -> Vec<Self> {
        let Facts { summary, metrics, background, variants, .. } = facts;
        let hours = facts.breakdowns.iter().find(|breakdown| breakdown.by == Dimension::Hour);
        let latencies = facts.sensitivity.map_or(&[][..], |all| all.curve(VenueSetting::LatencyMs));
        let no_price = summary.refused.get("NoPrice").copied().unwrap_or_default();
        let decided = summary.won + summary.lost;
        let staked = StakedResult::from_rows(facts.settled, facts.scale);
        let bots: Vec<&BotSettings> = facts.bots.iter().collect();
        let traded = DecidedTrades {
            won: summary.won,
            lost: summary.lost,
            longest_losing_streak: summary.longest_losing_streak,
            profit_factor: metrics.profit_factor.of_returns,
            apart: facts.basis.apart,
        };
        let found = [
            staked.and_then(|staked| staked.finding(&bots)),
            refused_by_one_rule::find(summary),
            halted_early::find(&facts.refused_since_last, background.untraded_candles, facts.last_open),
            too_good(&traded),
            too_few_trades::find(metrics.win_rate.as_ref(), decided),
            few_clusters::find(facts.basis, decided),
            regimes::find(facts.settled, facts.bots),
            hours.and_then(|hours| one_hour_only::find(&hours.cells)),
            dies_of_latency::find(latencies),
            assumed_payout::find(background.assumed_payout_percent, background.seen_payout_percent),
            unusual_payout(background.assumed_payout_percent),
            variants.and_then(many_variants::find),
            facts.variants_unknown.map(variants_unknown::find),
            gaps::find(background.missing_candles, summary.cancelled + no_price, summary.trades + no_price),
            bounce::find(&background.reversals),
            many_numbers::find(&background.rule_numbers, facts.settled, facts.bots),
            stale_longer_candles::find(&background.stale_longer),
            draw_share::find(summary.draw, summary.trades),
            no_price_step::find(facts.settled, facts.bots, &background.unset_steps),
            data_revised::find(background.revised_candles),
            variants.and_then(in_sample_only::find),
        ];
        let mut found: Vec<Self> = found.into_iter().flatten().collect();
        found.sort_by_key(|finding| finding.severity);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_backtest::metric::Drawdown;
    use candlewick_sdk::Money;

    /// Of a run of which only this is known.
    pub(super) fn summary(won: u64, lost: u64) -> Summary {
        Summary {
            trades: won + lost,
            won,
            lost,
            draw: 0,
            cancelled: 0,
            unsettled: 0,
            refused: BTreeMap::new(),
            pnl: Money::ZERO,
            win_rate: None,
            break_even: None,
            break_even_by_money: None,
            p_value: None,
            max_drawdown: Drawdown::default(),
            max_drawdown_by_percent: Drawdown::default(),
            longest_winning_streak: 0,
            longest_losing_streak: 0,
        }
    }
}
