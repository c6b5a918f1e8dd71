//! Findings: reasons to doubt the result of a run.

mod limits;
mod parameters;
mod trades;
mod venue;

use super::{Breakdown, Dimension, Metrics, Sensitivity, VenueSetting};
use candlewick_backtest::Summary;
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{Interval, Millis, MoneyScale, Staleness, Symbol};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) use trades::{DecidedTrades, StakingResult, check_implausible_results};
pub(crate) use venue::check_payout_range;
pub use venue::{Reversals, assumed_payout_percent};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Serious,
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
    Gaps,
    BidAskBounce,
    ManyNumbers,
    StaleLongerCandles,
    DrawShare,
    NoPriceStep,
    LadderHidesLosses,
    StakesLoseMoney,
    DataRevised,
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

/// Facts about the data and the venue of a run, on which its findings are based.
#[derive(Clone, Debug, Default)]
pub struct RunContext {
    pub assumed_payout_percent: Option<f64>,
    /// Median payout in percent that the venue actually paid; `None` if unknown.
    pub paid_payout_percent: Option<f64>,
    /// Number of candles missing between the first and last candle. Closed market hours do not count as missing.
    pub missing_candles: u64,
    /// Number of candles in the bots' series after the last trade decision; `None` if the run has no candles.
    pub untraded_candles: Option<u64>,
    pub revised_candles: u64,
    pub candle_tick_sizes: BTreeMap<Symbol, f64>,
    pub reversals: Vec<Reversals>,
    /// Number of numeric values in the rule of each bot, in bot order. A bot without a rule counts as 0.
    pub rule_parameter_counts: Vec<usize>,
    pub stale_longer_candles: Vec<StaleLongerCandle>,
}

#[derive(Clone, Debug)]
pub struct StaleLongerCandle {
    pub bot: String,
    pub interval: Interval,
    pub staleness: Staleness,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct VerdictBasis {
    pub(super) disjoint_trades: u64,
    pub(super) is_decided: bool,
}

pub(super) struct Facts<'a> {
    pub(super) summary: &'a Summary,
    pub(super) metrics: &'a Metrics,
    pub(super) breakdowns: &'a [Breakdown],
    pub(super) sensitivity: Option<&'a Sensitivity>,
    pub(super) bots: &'a [BotSettings],
    pub(super) scale: MoneyScale,
    pub(super) settled: &'a [&'a IntentRow],
    pub(super) refusals_since_last_intent: BTreeMap<&'static str, u64>,
    /// Time of the last trade decision (`None` if there was no trade), and the time range of the run.
    pub(super) last_decision_and_span: (Option<Millis>, &'a Range<Millis>),
    pub(super) run_context: RunContext,
    pub(super) basis: VerdictBasis,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        ["serious", "warning", "info"][self as usize]
    }
}

impl FindingKind {
    const fn is_headline(self) -> bool {
        matches!(
            self,
            Self::RefusedByOneRule | Self::HaltedEarly | Self::LadderHidesLosses | Self::StakesLoseMoney
        )
    }

    pub(crate) fn to_finding(self, severity: Severity, text: impl Into<String>) -> Finding {
        Finding { kind: self, severity, text: text.into() }
    }

    pub(crate) fn serious(self, text: impl Into<String>) -> Finding {
        self.to_finding(Severity::Serious, text)
    }

    pub(crate) fn warning(self, text: impl Into<String>) -> Finding {
        self.to_finding(Severity::Warning, text)
    }
}

impl Finding {
    pub(crate) fn is_headline(&self) -> bool {
        self.severity == Severity::Serious && self.kind.is_headline()
    }

    /// Renders all findings below a common heading; returns an empty string if there are no findings.
    pub(crate) fn render_all(findings: &[Self]) -> String {
        let lines = findings.iter().map(|one| format!(" {:<8} {}\n", one.severity.as_str(), one.text));
        let lines = lines.collect::<Vec<_>>().concat();
        if lines.is_empty() { lines } else { format!("\nfindings\n{lines}") }
    }

    #[must_use]
    pub(crate) fn with_bot(mut self, bot: &str) -> Self {
        self.text = format!("{bot}: {}", self.text);
        self
    }

    pub(super) fn find_all(facts: &Facts<'_>) -> Vec<Self> {
        let Facts { summary, metrics, run_context, .. } = facts;
        let hours = facts.breakdowns.iter().find(|breakdown| breakdown.by == Dimension::Hour);
        let latencies = facts.sensitivity.map_or(&[][..], |all| all.curve(VenueSetting::LatencyMs));
        let no_price = summary.refused.get("NoPrice").copied().unwrap_or_default();
        let decided = summary.won + summary.lost;
        let staked = StakingResult::from_rows(facts.settled, facts.scale);
        let bots: Vec<&BotSettings> = facts.bots.iter().collect();
        let traded = DecidedTrades {
            won: summary.won,
            lost: summary.lost,
            longest_losing_streak: summary.longest_losing_streak,
            profit_factor: metrics.profit_factor.of_returns,
            disjoint_trades: facts.basis.disjoint_trades,
        };
        let found = [
            staked.and_then(|staked| staked.finding(&bots)),
            limits::check_refusals_by_rule(summary),
            limits::check_early_halt(
                &facts.refusals_since_last_intent,
                run_context.untraded_candles,
                facts.last_decision_and_span,
            ),
            check_implausible_results(&traded),
            trades::check_trade_count(metrics.win_rate.as_ref(), decided),
            trades::check_cluster_count(facts.basis, decided),
            trades::check_streaks(facts.settled, facts.bots),
            hours.and_then(|hours| trades::check_hour_concentration(&hours.cells)),
            trades::latency_finding(latencies),
            venue::check_assumed_payout(run_context.assumed_payout_percent, run_context.paid_payout_percent),
            check_payout_range(run_context.assumed_payout_percent),
            venue::check_gaps(
                run_context.missing_candles,
                summary.cancelled + no_price,
                summary.trades + no_price,
            ),
            venue::check_bid_ask_bounce(&run_context.reversals),
            parameters::check_parameter_counts(&run_context.rule_parameter_counts, facts.settled, facts.bots),
            venue::check_staleness(&run_context.stale_longer_candles),
            venue::check_draws(summary.draw, summary.trades),
            venue::check_tick_sizes(facts.settled, facts.bots, &run_context.candle_tick_sizes),
            venue::check_data_revisions(run_context.revised_candles),
        ];
        let mut found: Vec<Self> = found.into_iter().flatten().collect();
        found.sort_by_key(|finding| finding.severity);
        found
    }
}
