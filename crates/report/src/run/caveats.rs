//! Caveats of a run: reasons for withholding the verdict, assumptions, and the kind of evidence.

use crate::figure::describe_high_payout;
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_records::{EXPLORATORY, PRACTICE, TradingMode, verdict_name};
use candlewick_sdk::Outcome;
use candlewick_search::evidence::EvidenceKind;
use candlewick_simulator::SimulationSettings;
use candlewick_statistics::{EdgeTest, Verdict};

/// Maximum share of trades that data gaps may cancel before the verdict is withheld.
const MAX_CANCELLED_SHARE: f64 = 0.01;

// Stored documents and pages contain these labels, so the labels must not change. [`caveat_text`] rewords them.
const ASSUMED_PAYOUT: &str = "on assumed payout";
const HYPOTHESIS: &str = "hypothesis";
/// Label in files of earlier versions. It is ignored.
const UNCOUNTED: &str = "variants not counted";
const OPERATOR_SETTLED: &str = "trades settled by a person left out";
const LABELS: [&str; 3] = [ASSUMED_PAYOUT, HYPOTHESIS, OPERATOR_SETTLED];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caveats {
    pub withholding_reasons: Vec<String>,
    pub labels: Vec<&'static str>,
    pub evidence: EvidenceKind,
}

#[derive(Clone, Copy, Debug)]
pub struct ReplayBasis {
    pub may_have_coarse_candles: bool,
    pub has_venue_prices: bool,
    pub has_simulated_latency: bool,
}

impl Caveats {
    /// Builds the caveats of a replay. Payouts are always assumed, because candles do not contain payouts.
    pub fn for_replay(
        basis: ReplayBasis,
        simulation: &SimulationSettings,
        bots: &[BotSettings],
        evidence: EvidenceKind,
    ) -> Self {
        let mut withholding = Vec::new();
        if basis.may_have_coarse_candles {
            withholding.push("expiries may be shorter than the candles".to_owned());
        }
        withholding.extend(optimistic_settings(simulation, bots));
        withholding.extend(basis.has_simulated_latency.then(|| median_latency_reason(simulation)).flatten());
        let mut labels = vec![ASSUMED_PAYOUT];
        if !basis.has_venue_prices {
            labels.push(HYPOTHESIS);
        }
        Self { withholding_reasons: withholding, labels, evidence }
    }

    /// Withholds the verdict if data gaps cancelled or rejected more than 1 % of a replay's trades.
    pub fn add_gap_reason(&mut self, book: &TradeBook) {
        let no_price = book.refusal_counts().get("NoPrice").copied().unwrap_or_default();
        let ended = book.rows().iter().filter_map(|row| row.outcome);
        let (cancelled, all) = ended.fold((0, 0), |(cancelled, all), outcome| {
            (cancelled + u64::from(outcome == Outcome::Cancelled), all + 1)
        });
        let share_of = |touched: u64, trades: u64| touched as f64 / trades.max(1) as f64;
        let share = share_of(cancelled + no_price, all + no_price);
        // `cancelled_reason` already reports cancellations whose cause is not a missing price.
        if share > MAX_CANCELLED_SHARE && share_of(cancelled, all) <= MAX_CANCELLED_SHARE {
            self.withholding_reasons.push(format!(
                "{:.1} % of the trades had no entry price or were cancelled because of data gaps",
                share * 100.0
            ));
        }
    }

    /// Builds the caveats of a live run. Trades whose result an operator entered do not count as evidence, and trades
    /// on the sandbox are never more than exploratory.
    pub fn for_live_run(
        trading: Option<TradingMode>,
        (simulation, bots): (&SimulationSettings, &[BotSettings]),
        book: &TradeBook,
        evidence: EvidenceKind,
    ) -> Self {
        let (mut labels, evidence) = match trading {
            None | Some(TradingMode::Demo | TradingMode::Real) => (vec![], evidence),
            Some(TradingMode::Paper) => (vec![ASSUMED_PAYOUT], evidence),
            Some(TradingMode::Sandbox) => (vec![ASSUMED_PAYOUT, HYPOTHESIS], EvidenceKind::default()),
        };
        let is_simulated = !labels.is_empty();
        if book.rows().iter().any(|row| book.is_settled_by_operator(row.approved.intent())) {
            labels.push(OPERATOR_SETTLED);
        }
        let reasons = if is_simulated { optimistic_settings(simulation, bots) } else { Vec::new() };
        Self { withholding_reasons: reasons, labels, evidence }
    }
}

fn optimistic_settings(simulation: &SimulationSettings, bots: &[BotSettings]) -> Vec<String> {
    let payouts = bots.iter().map(|bot| simulation.payout_of(bot.symbol));
    latency_reason(simulation).into_iter().chain(describe_high_payout(payouts, "assumed")).collect()
}

fn latency_reason(simulation: &SimulationSettings) -> Option<String> {
    let (latency, usual) = (simulation.latency_ms, SimulationSettings::default().latency_ms);
    (simulation.recorded_latency.is_none() && latency < usual)
        .then(|| format!("the latency of {latency} ms is below the default of {usual} ms"))
}

fn median_latency_reason(simulation: &SimulationSettings) -> Option<String> {
    let usual = SimulationSettings::default().latency_ms;
    let median = simulation.recorded_latency.as_ref()?.median();
    (median < usual).then(|| {
        format!("the median latency of the simulated venue ({median} ms) is below the default of {usual} ms")
    })
}

pub(crate) fn caveat_text(label: &str) -> &str {
    match label {
        ASSUMED_PAYOUT => "the payout is assumed",
        HYPOTHESIS => "the candles are not from your venue",
        OPERATOR_SETTLED => "manually settled trades are excluded",
        other => other,
    }
}

impl Caveats {
    /// Restores caveats from a file. An unknown label becomes a reason for withholding the verdict.
    pub(crate) fn from_label_names(mut withholding: Vec<String>, named: Vec<String>) -> Self {
        let mut labels = Vec::new();
        for name in named.into_iter().filter(|name| name != UNCOUNTED) {
            match LABELS.into_iter().find(|label| *label == name) {
                Some(label) => labels.push(label),
                None => withholding.push(name),
            }
        }
        Self { withholding_reasons: withholding, labels, evidence: EvidenceKind::default() }
    }

    /// Returns the verdict that the evidence allows, and the reasons for withholding a shown edge.
    /// `judge_again` runs a stricter test on the same trades.
    pub(crate) fn allowed_verdict(
        &self,
        test: &EdgeTest,
        ended: impl Iterator<Item = Outcome>,
        judge_again: impl FnOnce(EdgeTest) -> EdgeTest,
    ) -> (&'static str, Vec<String>) {
        let mut reasons = Vec::new();
        if test.verdict() == Verdict::EdgeShown {
            reasons.clone_from(&self.withholding_reasons);
            reasons.extend(cancelled_reason(ended));
            reasons.extend(self.share_reason(test, judge_again));
        }
        let name = match (verdict_name(test).0, &self.evidence) {
            ("edge_rejected", _) => "edge_rejected",
            (_, EvidenceKind::Practice) => PRACTICE,
            (_, EvidenceKind::Exploratory { .. }) => EXPLORATORY,
            _ if !reasons.is_empty() => "not_enough_trades",
            (name, EvidenceKind::Confirmed { .. } | EvidenceKind::Live { .. }) => name,
        };
        (name, reasons)
    }

    /// Returns a reason for withholding the verdict if the edge is not shown at the journal's share of alpha.
    fn share_reason(&self, test: &EdgeTest, judge: impl FnOnce(EdgeTest) -> EdgeTest) -> Option<String> {
        let EvidenceKind::Live { weight } = self.evidence else { return None };
        let stricter = EdgeTest::new(test.plan()).with_weight(test.weight() * weight);
        (weight < 1.0 && judge(stricter).verdict() != Verdict::EdgeShown).then(|| {
            let share = (weight * 1e4).round() / 1e4;
            format!("the evidence ledger leaves this journal a share of {share} of the live error rate")
        })
    }
}

pub(crate) fn cancelled_reason(ended: impl Iterator<Item = Outcome>) -> Option<String> {
    let outcomes: Vec<Outcome> = ended.collect();
    let cancelled = outcomes.iter().filter(|outcome| **outcome == Outcome::Cancelled).count();
    let share = cancelled as f64 / outcomes.len().max(1) as f64;
    (share > MAX_CANCELLED_SHARE)
        .then(|| format!("{:.1} % of the trades were cancelled because of data gaps", share * 100.0))
}
