//! Analysis of a run's trades: metrics, breakdowns, baselines, sensitivity and findings.
//!
//! An [`Analysis`] is plain data that serializes. [`Analysis::of`] makes it from trade rows only,
//! of a backtest or a live run. A [`Sensitivity`] repeats the run, so it is made where strategies
//! can be built again.

mod apart;
mod baselines;
mod breakdown;
mod dimension;
mod drawdowns;
mod equity;
mod finding;
mod histogram;
mod metrics;
mod rolling;

pub use baselines::Baselines;
pub use breakdown::{Breakdown, Cell, SMALL_CELL_TRADES};
pub use candlewick_search::sensitivity::{Curve, Sensitivity, SensitivityPoint, VenueSetting};
pub use dimension::Dimension;
pub use equity::{EquityPoint, MAX_EQUITY_POINTS};
pub use finding::{
    Background, Finding, FindingKind, Reversals, Severity, StaleLonger, VariantsUnknown,
    assumed_payout_percent,
};
pub use metrics::{DrawdownFigures, Metrics};

pub(crate) use breakdown::hours_of_week;
pub(crate) use drawdowns::worst_drawdowns;
pub(crate) use finding::{DecidedTrades, StakedResult, too_good, unusual_payout};
pub(crate) use histogram::{Bin, Bins, histogram};
pub(crate) use rolling::RollingWinRate;

use candlewick_backtest::Summary;
use candlewick_engine::{BotSettings, IntentRow, IntentState, TradeBook};
use candlewick_sdk::{Millis, Money, MoneyScale};
use candlewick_search::variants::VariantCount;
use finding::{Facts, VerdictBasis};
use serde::Serialize;
use std::ops::Range;

#[derive(Clone, Copy)]
pub struct Trades<'a> {
    pub book: &'a TradeBook,
    pub bots: &'a [BotSettings],
    pub scale: MoneyScale,
    pub balance: Money,
    /// First to last moment: the candles of a backtest, the time of a live run.
    pub span: &'a Range<Millis>,
    pub prices: Prices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prices {
    /// Prices depend on time only: the opposite direction would have had the same.
    Fair,
    /// Stress moved the prices against the direction of the trade.
    Stressed,
}

/// Complete analysis. Its keys are those of the JSON of `backtest` and `report`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    pub metrics: Metrics,
    pub breakdowns: Vec<Breakdown>,
    /// `None` without a decided trade or under stress.
    pub baselines: Option<Baselines>,
    pub equity: Vec<EquityPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variants: Option<VariantCount>,
    #[serde(skip)]
    pub variants_unknown: Option<VariantsUnknown>,
    /// Most serious first.
    pub findings: Vec<Finding>,
}

impl Analysis {
    /// Analyzes a run. Call [`count_variants`](Self::count_variants) and then
    /// [`conclude`](Self::conclude) to add what needs more than trades.
    pub fn of(trades: &Trades<'_>, summary: &Summary) -> Self {
        let settled = settled_rows(trades.book);
        Self {
            metrics: Metrics::of(trades, &settled, summary),
            breakdowns: Breakdown::all_of(trades.bots, trades.scale, &settled),
            baselines: match trades.prices {
                Prices::Fair => Baselines::of(&settled),
                Prices::Stressed => None,
            },
            equity: EquityPoint::curve(&settled, trades.balance, trades.scale, trades.span),
            sensitivity: None,
            variants: None,
            variants_unknown: None,
            findings: Vec::new(),
        }
    }

    pub fn headlines(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|one| one.is_headline()).map(|one| one.text.as_str())
    }

    pub fn count_variants(&mut self, variants: VariantCount) {
        self.metrics.daily.deflate(variants.count, variants.variance_of_sharpe);
        self.variants = Some(variants);
    }

    pub fn conclude(
        &mut self,
        trades: &Trades<'_>,
        summary: &Summary,
        (background, is_decided): (Background, bool),
    ) {
        let settled = settled_rows(trades.book);
        let apart = apart::apart(settled.iter().copied()).len() as u64;
        self.findings = Finding::all_of(&Facts {
            summary,
            metrics: &self.metrics,
            breakdowns: &self.breakdowns,
            sensitivity: self.sensitivity.as_ref(),
            variants: self.variants.as_ref(),
            variants_unknown: self.variants_unknown.as_ref(),
            bots: trades.bots,
            scale: trades.scale,
            settled: &settled,
            refused_since_last: trades.book.refused_since_last(),
            last_open: (trades.book.rows().last().map(|row| row.approved.decision_time()), trades.span),
            background,
            basis: VerdictBasis { apart, is_decided },
        });
    }

    pub fn add_finding(&mut self, finding: Option<Finding>) {
        self.findings.extend(finding);
        self.findings.sort_by_key(|finding| finding.severity);
    }
}

/// Returns settled trades in the order in which their results became known.
pub(crate) fn settled_rows(book: &TradeBook) -> Vec<&IntentRow> {
    let mut settled: Vec<&IntentRow> =
        book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
    settled.sort_by_key(|row| (row.settled_at, row.close_time, row.approved.intent()));
    settled
}
