//! What the trades of a run show: figures, results by hour, symbol and the like, baselines, what the settings matter, and
//! what a reader must know before believing any of it.
//!
//! An [`Analysis`] is plain data that serialises; [`Analysis::of`] makes it from trade rows alone, of a backtest as of a
//! live run. What needs the run to be repeated is a [`Sensitivity`], made where strategies can be built anew.

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

/// The trades of a run and what they need to be understood.
#[derive(Clone, Copy)]
pub struct Trades<'a> {
    /// All intents and refusals.
    pub book: &'a TradeBook,
    /// The bots, in their order.
    pub bots: &'a [BotSettings],
    /// The wallet's scale.
    pub scale: MoneyScale,
    /// The balance at the start.
    pub balance: Money,
    /// From the first moment to the last: a backtest's candles, a live run's time.
    pub span: &'a Range<Millis>,
    /// Whether each trade's prices would have been those of the opposite direction as well.
    pub prices: Prices,
}

/// What the prices of a trade depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prices {
    /// On time alone: the other direction would have had the same.
    Fair,
    /// On the direction, too: stress moved them against it.
    Stressed,
}

/// Everything that trades show. The keys are those of the JSON of `backtest` and `report`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The figures.
    pub metrics: Metrics,
    /// Results by hour, weekday, symbol and so on.
    pub breakdowns: Vec<Breakdown>,
    /// What other directions would have earned; nothing without a decided trade or under stress.
    pub baselines: Option<Baselines>,
    /// The balance along the way, at most [`MAX_EQUITY_POINTS`] of its points.
    pub equity: Vec<EquityPoint>,
    /// What the settings matter; only where the run was repeated for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// How many variants were tried, and what is left of the p-value; nothing where they are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variants: Option<VariantCount>,
    /// Why there may be more of them.
    #[serde(skip)]
    pub variants_unknown: Option<VariantsUnknown>,
    /// What a reader must know, the most serious first.
    pub findings: Vec<Finding>,
}

impl Analysis {
    /// Of a run whose summary is known. What needs more than trades is added by [`count_variants`](Self::count_variants) and
    /// [`conclude`](Self::conclude), in this order.
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

    /// Findings that are printed before the verdict, because the verdict misleads without them.
    pub fn headlines(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|one| one.is_headline()).map(|one| one.text.as_str())
    }

    /// Corrects for the number of variants that were tried.
    pub fn count_variants(&mut self, variants: VariantCount) {
        self.metrics.daily.deflate(variants.count, variants.variance_of_sharpe);
        self.variants = Some(variants);
    }

    /// Finds what a reader must know, by all that is known by now.
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

    /// Adds what the verdict itself says, in the place of its severity.
    pub fn add_finding(&mut self, finding: Option<Finding>) {
        self.findings.extend(finding);
        self.findings.sort_by_key(|finding| finding.severity);
    }
}

/// Settled trades in the order in which they became known.
pub(crate) fn settled_rows(book: &TradeBook) -> Vec<&IntentRow> {
    let mut settled: Vec<&IntentRow> =
        book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
    settled.sort_by_key(|row| (row.settled_at, row.close_time, row.approved.intent()));
    settled
}
