//! Caveats of a run: reasons for withholding the verdict, assumptions, and the number of variants tried.

use crate::analysis::Metrics;
use crate::figure::describe_high_payout;
use candlewick_backtest::Summary;
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_records::TradingMode;
use candlewick_sdk::Outcome;
use candlewick_search::variants::{
    LedgerSummary, Look, Variant, VariantCount, VariantLedger, VariantNote, trades_hash,
    trades_hash_of_closed,
};
use candlewick_simulator::SimulationSettings;
use candlewick_statistics::{EdgeTest, Verdict};
use std::io;

/// Maximum share of trades that data gaps may cancel before the verdict is withheld.
const MAX_CANCELLED_SHARE: f64 = 0.01;

// Stored documents and pages contain these labels, so the labels must not change. [`caveat_text`] rewords them.
const ASSUMED_PAYOUT: &str = "on assumed payout";
const HYPOTHESIS: &str = "hypothesis";
const UNCOUNTED: &str = "variants not counted";
const OPERATOR_SETTLED: &str = "trades settled by a person left out";
const PAST_CANDLES: &str =
    "the sandbox replays past candles, but only backtests count the variants tried on these candles";
const LABELS: [&str; 4] = [ASSUMED_PAYOUT, HYPOTHESIS, UNCOUNTED, OPERATOR_SETTLED];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caveats {
    pub withholding_reasons: Vec<String>,
    pub labels: Vec<&'static str>,
    /// Number of variants tried, including this run. The value 0 means that variants are not counted.
    pub variants: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct ReplayBasis {
    pub may_have_coarse_candles: bool,
    pub has_venue_prices: bool,
    pub has_simulated_latency: bool,
}

impl Caveats {
    /// Builds the caveats of a replay. Payouts are always assumed, because candles do not contain payouts.
    pub fn for_replay(basis: ReplayBasis, simulation: &SimulationSettings, bots: &[BotSettings]) -> Self {
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
        Self { withholding_reasons: withholding, labels, ..Self::default() }
    }

    pub fn set_variant_count(&mut self, variants: u64, unknown: Option<&str>) {
        self.variants = variants;
        self.withholding_reasons.extend(unknown.map(|why| format!("variants unknown: {why}")));
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

    pub fn mark_variants_uncounted(&mut self) {
        self.labels.push(UNCOUNTED);
    }

    /// Builds the caveats of a live run. Trades whose result an operator entered do not count as evidence.
    pub fn for_live_run(
        trading: Option<TradingMode>,
        (simulation, bots): (&SimulationSettings, &[BotSettings]),
        book: &TradeBook,
    ) -> Self {
        let of_simulated = |labels| Self {
            withholding_reasons: optimistic_settings(simulation, bots),
            labels,
            ..Self::default()
        };
        let mut caveats = match trading {
            None | Some(TradingMode::Demo | TradingMode::Real) => Self::default(),
            Some(TradingMode::Paper) => of_simulated(vec![ASSUMED_PAYOUT]),
            Some(TradingMode::Sandbox) => {
                let mut caveats = of_simulated(vec![ASSUMED_PAYOUT, HYPOTHESIS]);
                caveats.withholding_reasons.push(PAST_CANDLES.to_owned());
                caveats
            }
        };
        if book.rows().iter().any(|row| book.is_settled_by_operator(row.approved.intent())) {
            caveats.labels.push(OPERATOR_SETTLED);
        }
        caveats
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
        UNCOUNTED => "variants are not counted",
        OPERATOR_SETTLED => "manually settled trades are excluded",
        other => other,
    }
}

impl Caveats {
    /// Restores caveats from a file. An unknown label becomes a reason for withholding the verdict.
    pub(crate) fn from_label_names(mut withholding: Vec<String>, named: Vec<String>, variants: u64) -> Self {
        let mut labels = Vec::new();
        for name in named {
            match LABELS.into_iter().find(|label| *label == name) {
                Some(label) => labels.push(label),
                None => withholding.push(name),
            }
        }
        Self { withholding_reasons: withholding, labels, variants }
    }

    /// Returns all reasons for withholding the verdict. `judge_again` runs a stricter test on the same trades.
    pub(crate) fn reasons_to_withhold(
        &self,
        test: &EdgeTest,
        ended: impl Iterator<Item = Outcome>,
        judge_again: impl FnOnce(EdgeTest) -> EdgeTest,
    ) -> Vec<String> {
        let mut reasons = self.withholding_reasons.clone();
        reasons.extend(cancelled_reason(ended));
        reasons.extend(luck_reason(test, self.variants, judge_again));
        reasons
    }
}

/// Returns a reason for withholding the verdict if the edge does not survive a Bonferroni correction for `variants`.
fn luck_reason(test: &EdgeTest, variants: u64, judge: impl FnOnce(EdgeTest) -> EdgeTest) -> Option<String> {
    if variants < 2 {
        return None;
    }
    let corrected = EdgeTest::new(test.plan()).with_weight(test.weight() / variants as f64);
    (judge(corrected).verdict() != Verdict::EdgeShown)
        .then(|| format!("the best of {variants} variants may do this well by luck"))
}

fn cancelled_reason(ended: impl Iterator<Item = Outcome>) -> Option<String> {
    let outcomes: Vec<Outcome> = ended.collect();
    let cancelled = outcomes.iter().filter(|outcome| **outcome == Outcome::Cancelled).count();
    let share = cancelled as f64 / outcomes.len().max(1) as f64;
    (share > MAX_CANCELLED_SHARE)
        .then(|| format!("{:.1} % of the trades were cancelled because of data gaps", share * 100.0))
}

pub struct VariantCounter {
    pub ledger: VariantLedger,
    pub tried_variants: Vec<Variant>,
    pub look: Look,
}

impl VariantCounter {
    pub(super) fn count(
        &self,
        book: &TradeBook,
        summary: &Summary,
        metrics: &Metrics,
    ) -> io::Result<VariantCount> {
        // Figures of several bots combined do not describe any single bot.
        let is_single = self.tried_variants.len() == 1;
        let note = |tried: &Variant| VariantNote {
            variant: tried.clone(),
            p_value: summary.p_value.filter(|_| is_single),
            daily_sharpe: metrics.daily.daily_sharpe().filter(|_| is_single),
            trades_hash: Some(trades_hash(book, &tried.bots, &self.look.span)),
        };
        let notes: Vec<VariantNote> = self.tried_variants.iter().map(note).collect();
        let mut noted = self.ledger.record_variants(&notes, &self.look)?;
        if self.record_rewritten_variants(&noted, &notes, book)? {
            noted = self.ledger.record_variants(&notes, &self.look)?;
        }
        Ok(VariantCount::new(&noted, &notes, &self.look))
    }

    /// Records variants whose code has changed, so that their trades differ from an earlier run on the same candles.
    fn record_rewritten_variants(
        &self,
        noted: &LedgerSummary,
        notes: &[VariantNote],
        book: &TradeBook,
    ) -> io::Result<bool> {
        let mut is_any = false;
        for note in notes {
            for span in noted.earlier_run_spans(note, &self.look) {
                let trades = Some(trades_hash_of_closed(book, &note.variant.bots, &span));
                let then = VariantNote {
                    variant: note.variant.clone(),
                    p_value: None,
                    daily_sharpe: None,
                    trades_hash: trades,
                };
                if !noted.has_variant(&then, &span) {
                    self.ledger.record_variants(&[then], &Look { span, ..self.look.clone() })?;
                    is_any = true;
                }
            }
        }
        Ok(is_any)
    }

    pub(super) fn describe_failure(&self, error: &io::Error) -> String {
        let place = self.ledger.path().display();
        format!(
            "this variant is not counted: {place}: {error}. Set [variants] ledger to another file, or to \"\" to count no variants"
        )
    }
}
