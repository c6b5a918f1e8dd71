//! Report of a journal, for a single run or for all runs.

use super::{Caveats, PageParts, Run, RunReport, StakeState};
use crate::analysis::{Prices, RunContext, assumed_payout_percent};
use candlewick_records::{RecordedRuns, TradingMode};
use candlewick_sdk::{CandleSeries, Millis};
use candlewick_search::evidence::EvidenceKind;
use std::ops::Range;
use std::time::Duration;

const NO_SENSITIVITY_REASON: &str = "A live run cannot be repeated. Run `candlewick backtest --sensitivity` with the same \
                                     bots and candles to see the effect of latency, payout, price path and stress.";

pub struct RecordedReport {
    pub report: RunReport,
    part: RecordedRuns,
    candles: Vec<CandleSeries>,
}

impl RecordedReport {
    /// Builds the report. The page shows the `candles`; they may be empty if no page is needed.
    pub fn new(part: RecordedRuns, candles: Vec<CandleSeries>, evidence: EvidenceKind) -> Self {
        Self { report: build_report(&part, evidence), part, candles }
    }

    pub fn page_parts(&self) -> PageParts<'_> {
        PageParts {
            kind: "Report",
            book: &self.part.book,
            session: &self.part.session,
            simulation: &self.part.simulation,
            strategies: &self.part.strategies,
            balance: self.part.balance,
            span: &self.part.span,
            prices: Prices::Fair,
            candles: self.candles.clone(),
            no_sensitivity_reason: NO_SENSITIVITY_REASON,
        }
    }
}

fn build_report(part: &RecordedRuns, evidence: EvidenceKind) -> RunReport {
    // Supplies both payouts, so that a finding can compare the assumed payout with the payout of the venue.
    let background = RunContext {
        assumed_payout_percent: Some(assumed_payout_percent(
            &part.simulation,
            &part.session.bots,
            &part.book,
        )),
        paid_payout_percent: part.delays.median_payout_percent(),
        ..RunContext::default()
    };
    // The embedded venue ends together with the run and returns the stakes of open trades.
    let unsettled = match part.trading {
        None | Some(TradingMode::Sandbox) => StakeState::Returned,
        Some(TradingMode::Demo | TradingMode::Real | TradingMode::Paper) => StakeState::AtVenue,
    };
    RunReport::from_run(Run {
        book: &part.book,
        bots: &part.session.bots,
        scale: part.session.money_scale,
        balance: part.balance,
        final_balance: match unsettled {
            StakeState::Returned => part.ledger.equity(),
            StakeState::AtVenue => part.ledger.free_balance(),
        },
        unsettled_stakes: part.ledger.open_stakes(),
        stake_state: unsettled,
        candles: part.candle_count,
        elapsed: duration(&part.span),
        span: part.span.clone(),
        prices: Prices::Fair,
        data_hash: None,
        journal_hash: None,
        head_hash: Some(part.head_hash.clone()),
        notices: Vec::new(),
        delays: part.delays.lines(),
        audit_findings: part.audit_findings.clone(),
        caveats: Caveats::for_live_run(
            part.trading,
            (&part.simulation, &part.session.bots),
            &part.book,
            evidence,
        ),
        verdicts: part.verdicts.clone(),
        joint_verdict_weight: part.joint_verdict_weight,
        run_context: background,
        sensitivity: None,
        gates: Vec::new(),
        conditions: Vec::new(),
    })
}

fn duration(span: &Range<Millis>) -> Duration {
    Duration::from_millis(u64::try_from((span.end - span.start).get()).unwrap_or_default())
}
