//! Analysis of a run's trades: metrics, breakdowns, baselines, sensitivity and findings.

mod breakdown;
mod charted;
mod finding;

use candlewick_backtest::Summary;
use candlewick_backtest::metric::{
    DailyProfits, DailyRatios, Drawdown, Expectancy, ProfitFactor, Streaks, WinRates, trade_exposure,
    trades_per_day,
};
use candlewick_engine::{BotSettings, IntentRow, IntentState, SymbolId, TradeBook};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale, Outcome};
use candlewick_statistics::{DirectedTrade, TradeSide, direction_baseline};
use finding::{Facts, VerdictBasis};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

pub use breakdown::{Breakdown, Cell, Dimension, SMALL_CELL_TRADES};
pub(crate) use breakdown::{WEEKDAYS, hours_of_week};
pub use candlewick_search::sensitivity::{Sensitivity, SensitivityCurve, SensitivityPoint, VenueSetting};
pub(crate) use charted::{Bin, BinAlignment, RollingPoint, RollingWinRate, histogram, worst_drawdowns};
pub(crate) use finding::{DecidedTrades, StakingResult, check_implausible_results, check_payout_range};
pub use finding::{
    Finding, FindingKind, Reversals, RunContext, Severity, StaleLongerCandle, assumed_payout_percent,
};

#[derive(Clone, Copy)]
pub struct RunData<'a> {
    pub book: &'a TradeBook,
    pub bots: &'a [BotSettings],
    pub scale: MoneyScale,
    pub balance: Money,
    pub span: &'a Range<Millis>,
    pub prices: Prices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prices {
    /// Prices depend on time only. A trade in the opposite direction would have had the same prices.
    Fair,
    /// A stress setting moved the prices against the direction of the trade.
    Stressed,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    pub metrics: Metrics,
    pub breakdowns: Vec<Breakdown>,
    /// Comparison with other trade directions. `None` without decided trades, or if a stress setting moved the prices.
    pub baselines: Option<Baselines>,
    pub equity: Vec<EquityPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Findings, sorted by descending severity.
    pub findings: Vec<Finding>,
}

impl Analysis {
    /// Computes metrics, breakdowns and baselines. Call `collect_findings` to add the findings.
    pub fn new(trades: &RunData<'_>, summary: &Summary) -> Self {
        let settled = settled_rows(trades.book);
        Self {
            metrics: Metrics::new(trades, &settled, summary),
            breakdowns: Breakdown::build_all(trades.bots, trades.scale, &settled),
            baselines: match trades.prices {
                Prices::Fair => Baselines::from_settled(&settled),
                Prices::Stressed => None,
            },
            equity: EquityPoint::build_curve(&settled, trades.balance, trades.scale, trades.span),
            sensitivity: None,
            findings: Vec::new(),
        }
    }

    pub fn headlines(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|one| one.is_headline()).map(|one| one.text.as_str())
    }

    pub fn collect_findings(
        &mut self,
        trades: &RunData<'_>,
        summary: &Summary,
        (background, is_decided): (RunContext, bool),
    ) {
        let settled = settled_rows(trades.book);
        let non_overlapping = select_disjoint(settled.iter().copied()).len() as u64;
        self.findings = Finding::find_all(&Facts {
            summary,
            metrics: &self.metrics,
            breakdowns: &self.breakdowns,
            sensitivity: self.sensitivity.as_ref(),
            bots: trades.bots,
            scale: trades.scale,
            settled: &settled,
            refusals_since_last_intent: trades.book.refusals_since_last_intent(),
            last_decision_and_span: (
                trades.book.rows().last().map(|row| row.approved.decision_time()),
                trades.span,
            ),
            run_context: background,
            basis: VerdictBasis { disjoint_trades: non_overlapping, is_decided },
        });
    }

    pub fn add_finding(&mut self, finding: Option<Finding>) {
        self.findings.extend(finding);
        self.findings.sort_by_key(|finding| finding.severity);
    }
}

/// Returns settled trades in the order in which their results became known.
pub(crate) fn settled_rows(book: &TradeBook) -> Vec<&IntentRow> {
    let mut settled: Vec<_> = book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
    settled.sort_by_key(|row| (row.settled_at, row.close_time, row.approved.intent()));
    settled
}

/// Metrics of a run. Rates are fractions, money is in the wallet's currency, and times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    pub win_rate: Option<WinRates>,
    pub expectancy: Option<Expectancy>,
    pub profit_factor: ProfitFactor,
    /// Largest drawdown in money; `None` if the balance never fell.
    pub drawdown: Option<DrawdownFigures>,
    pub drawdown_by_percent: Option<DrawdownFigures>,
    pub streaks: Streaks,
    pub daily: DailyRatios,
    pub exposure: Option<f64>,
    pub trades_per_day: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DrawdownFigures {
    pub amount: f64,
    /// Depth of the drawdown in percent of the peak.
    pub percent: f64,
    /// Time of the peak before the drawdown. Equals the start of the run if the initial balance is the peak.
    pub peak_at: Millis,
    pub trough_at: Option<Millis>,
    pub recovered_at: Option<Millis>,
    pub fall_ms: Option<Millis>,
    pub recovery_ms: Option<Millis>,
}

impl Metrics {
    pub(super) fn new(trades: &RunData<'_>, settled: &[&IntentRow], summary: &Summary) -> Self {
        let mut days = DailyProfits::new(trades.span);
        settled
            .iter()
            .filter_map(|row| Some((row.settled_at?, row.profit)))
            .for_each(|(at, profit)| days.add_profit(at, profit));
        let fall = |deepest| DrawdownFigures::new(deepest, trades.span.start, trades.scale);
        Self {
            win_rate: WinRates::from_summary(summary),
            expectancy: Expectancy::new(settled, trades.scale),
            profit_factor: ProfitFactor::from_settled(settled),
            drawdown: fall(&summary.max_drawdown),
            drawdown_by_percent: fall(&summary.max_drawdown_by_percent),
            streaks: Streaks::from_summary(summary),
            daily: DailyRatios::new(days.profits(), trades.balance),
            exposure: trade_exposure(settled, trades.span),
            trades_per_day: trades_per_day(settled.len(), trades.span),
        }
    }
}

impl DrawdownFigures {
    pub(super) fn new(deepest: &Drawdown, start: Millis, scale: MoneyScale) -> Option<Self> {
        let peak_at = deepest.peak_at.unwrap_or(start);
        deepest.amount.is_positive().then(|| Self {
            amount: scale.to_f64(deepest.amount),
            percent: deepest.percent,
            peak_at,
            trough_at: deepest.trough_at,
            recovered_at: deepest.recovered_at,
            fall_ms: deepest.trough_at.map(|trough| trough - peak_at),
            recovery_ms: deepest.trough_at.zip(deepest.recovered_at).map(|(trough, back)| back - trough),
        })
    }
}

pub const MAX_EQUITY_POINTS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EquityPoint {
    pub at: Millis,
    pub balance: f64,
}

impl EquityPoint {
    /// Returns the balance at the start, after every n-th settled trade and after the last trade.
    pub(super) fn build_curve(
        settled: &[&IntentRow],
        balance: Money,
        scale: MoneyScale,
        span: &Range<Millis>,
    ) -> Vec<Self> {
        let start = Self { at: span.start, balance: scale.to_f64(balance) };
        let step = settled.len().div_ceil(MAX_EQUITY_POINTS - 1).max(1);
        let mut now = balance;
        let mut curve = vec![start];
        for (number, row) in (1..).zip(settled) {
            now += row.profit;
            if number % step == 0 || number == settled.len() {
                curve.push(Self { at: row.settled_at.unwrap_or(span.end), balance: scale.to_f64(now) });
            }
        }
        curve
    }
}

/// Maximum total work of the shifted runs: number of trades multiplied by number of runs.
const SHIFTED_TRADES_BUDGET: usize = 2_000_000;
/// Minimum and maximum number of shifted runs. Fewer runs give no useful p-value, and more runs do not improve it.
const SHIFTED_RUN_LIMITS: std::ops::RangeInclusive<usize> = 99..=999;
const SEED: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baselines {
    pub own: f64,
    /// Mean return of the shifted runs. Each run rotates the trade directions within each symbol.
    #[serde(rename = "shifted")]
    pub shifted_directions: f64,
    pub always_buy: f64,
    pub always_sell: f64,
    /// Probability that a shifted run returns at least `own`; `None` if over 95 % of trades have the same direction.
    pub p_value: Option<f64>,
    pub runs: u32,
}

impl Baselines {
    pub(super) fn from_settled(settled: &[&IntentRow]) -> Option<Self> {
        let mut by_symbol: BTreeMap<SymbolId, Vec<DirectedTrade>> = BTreeMap::new();
        for row in settled {
            if let Some(trade) = to_directed_trade(row) {
                by_symbol.entry(row.approved.symbol()).or_default().push(trade);
            }
        }
        let by_symbol: Vec<Vec<DirectedTrade>> = by_symbol.into_values().collect();
        let count: usize = by_symbol.iter().map(Vec::len).sum();
        let runs = (SHIFTED_TRADES_BUDGET / count.max(1))
            .clamp(*SHIFTED_RUN_LIMITS.start(), *SHIFTED_RUN_LIMITS.end()) as u32;
        let found = direction_baseline(&by_symbol, runs, SEED).ok()?;
        Some(Self {
            own: found.actual_mean,
            shifted_directions: found.shifted_mean,
            always_buy: found.always_buy_mean,
            always_sell: found.always_sell_mean,
            p_value: found.p_value,
            runs,
        })
    }
}

/// Returns the trade's result in both directions. If equal prices count as a loss, both directions may lose.
fn to_directed_trade(row: &IntentRow) -> Option<DirectedTrade> {
    let payout = row.payout?.to_fraction();
    let (own, other) = match row.outcome? {
        Outcome::Won => (payout, -1.0),
        Outcome::Lost if row.open_price == row.close_price => (-1.0, -1.0),
        Outcome::Lost => (-1.0, payout),
        Outcome::Draw => (0.0, 0.0),
        Outcome::Cancelled => return None,
    };
    Some(match row.approved.direction() {
        Direction::Buy => DirectedTrade { side: TradeSide::Buy, buy_return: own, sell_return: other },
        Direction::Sell => DirectedTrade { side: TradeSide::Sell, buy_return: other, sell_return: own },
    })
}

/// Selects the largest possible set of non-overlapping trades. Always picks the trade that closes first.
pub(super) fn select_disjoint<'a>(settled: impl IntoIterator<Item = &'a IntentRow>) -> Vec<&'a IntentRow> {
    let span = |row: &IntentRow| {
        let open = row.open_time.unwrap_or(row.approved.decision_time());
        (row.close_time.or(row.settled_at).unwrap_or(open), open)
    };
    let mut rows: Vec<&IntentRow> = settled.into_iter().collect();
    rows.sort_by_key(|row| (span(row), row.approved.intent()));
    let mut free_at = Millis::ZERO;
    rows.retain(|row| {
        let (close, open) = span(row);
        let is_apart = open >= free_at;
        if is_apart {
            free_at = close;
        }
        is_apart
    });
    rows
}
