//! Verdict on a sequence of trades, with supplementary statistics.

use super::is_calendar_time;
use crate::ReportError;
use crate::analysis::Finding;
use crate::run::Caveats;
use crate::shown::EdgeDetectionLine;
use candlewick_backtest::metric::WinRates;
use candlewick_engine::{Judge, JudgedTrade, build_judge, edge_sequence_from_trades, judge_trades};
use candlewick_records::{
    EDGE_NO_LONGER_HELD, EXPLORATORY, EdgeIntervals, edge_threshold, format_utc, no_longer_held_text,
    verdict_name, verdict_text, withheld_verdict_text,
};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{
    AlphaBudget, EdgeTest, EdgeTestPlan, MAX_POISSON_BINOMIAL_TRADES, MeanBreakEven, Sprt, SprtDecision,
    StatisticsError, WinRate, binomial_p_value, break_even, clopper_pearson_interval,
    poisson_binomial_p_value, wilson_interval,
};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct NamedTrade {
    pub bot: String,
    pub trade: JudgedTrade,
    pub money: Option<TradeMoney>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeMoney {
    pub stake: f64,
    pub profit: f64,
    pub decimals: u32,
}

#[derive(Debug, Default, Serialize)]
pub struct Sample {
    /// Bot name; `None` for the verdict on all bots together.
    pub bot: Option<String>,
    #[serde(flatten)]
    pub counts: Counts,
    pub verdict: Option<&'static str>,
    pub about_more_trades: Option<u64>,
    pub account_for: Option<f64>,
    pub threshold_for: Option<f64>,
    pub account_against: Option<f64>,
    pub threshold_against: Option<f64>,
    pub clusters: Option<u64>,
    /// Factor by which overlapping trades increase the variance of the total return.
    pub variance_inflation: Option<f64>,
    pub withheld: Vec<String>,
    pub labels: Vec<&'static str>,
    pub no_longer_held_since: Option<Millis>,
    /// Like `no_longer_held_since`, but a 1-based trade number. Set if the trades have no dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_longer_held_since_trade: Option<u64>,
    pub shown: Option<EdgeDetectionLine>,
    #[serde(flatten)]
    pub intervals: EdgeIntervals,
    pub independent: IndependentFigures,
}

pub(super) fn group_by_bot(trades: &[NamedTrade]) -> Vec<(&str, Vec<&NamedTrade>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<(&str, Vec<&NamedTrade>)> = Vec::new();
    for named in trades {
        let bot = named.bot.as_str();
        let place = *places.entry(bot).or_insert(groups.len());
        if place == groups.len() {
            groups.push((bot, Vec::new()));
        }
        groups[place].1.push(named);
    }
    groups
}

impl Sample {
    /// Computes statistics from counts only, without a verdict. A verdict would need the sequence of trades.
    pub fn from_counts(counts: Counts, payout_fraction: f64) -> Result<Self, ReportError> {
        let independent = IndependentFigures::from_counts(counts, payout_fraction)?;
        Ok(Self { counts, independent, ..Self::default() })
    }

    /// Judges all trades together and, if there are several bots, also each bot. All tests share the error rate alpha.
    pub fn build_all(
        trades: &[NamedTrade],
        plan: EdgeTestPlan,
        (bots, caveats): (usize, &Caveats),
    ) -> Result<Vec<Self>, ReportError> {
        let groups = group_by_bot(trades);
        let bots = bots.max(groups.len());
        let part = AlphaBudget::first_run_share(bots);
        let judged = |bot: Option<&str>, own: &[JudgedTrade]| {
            let judge = build_judge(own, EdgeTest::new(plan).with_weight(part));
            Self::from_trades(bot, own, &judge, caveats)
        };
        let all: Vec<JudgedTrade> = trades.iter().map(|named| named.trade).collect();
        let mut samples = vec![judged(None, &all)?];
        for (bot, own) in groups.iter().filter(|_| bots > 1) {
            let own: Vec<JudgedTrade> = own.iter().map(|named| named.trade).collect();
            samples.push(judged(Some(*bot), &own)?);
        }
        Ok(samples)
    }

    pub fn from_trades(
        bot: Option<&str>,
        trades: &[JudgedTrade],
        judge: &Judge,
        caveats: &Caveats,
    ) -> Result<Self, ReportError> {
        let test = judge.test();
        let ended = trades.iter().filter(|trade| !trade.is_unopened()).filter_map(|trade| trade.ended);
        let outcomes = ended.map(|(_, outcome)| outcome);
        let (mut verdict, withheld) =
            caveats.allowed_verdict(test, outcomes, |test| judge_trades(trades, test));
        let since = judge.no_longer_held_since();
        if since.is_some() && verdict == "edge_shown" {
            verdict = EDGE_NO_LONGER_HELD;
        }
        let trade_number = |since: Millis| trades.iter().filter(|one| one.decided <= since).count() as u64;
        Ok(Self {
            bot: bot.map(str::to_owned),
            counts: Counts::from_trades(trades),
            verdict: Some(verdict),
            about_more_trades: verdict_name(test).1,
            account_for: Some(test.edge_account()),
            threshold_for: edge_threshold(test),
            account_against: Some(test.mirror_account()),
            threshold_against: Some(test.plan().beta().recip()),
            clusters: Some(test.overlap().clusters()),
            variance_inflation: Some(test.overlap().variance_inflation()),
            withheld,
            labels: caveats.labels.clone(),
            no_longer_held_since: since.filter(|since| is_calendar_time(*since)),
            no_longer_held_since_trade: since.filter(|since| !is_calendar_time(*since)).map(trade_number),
            shown: EdgeDetectionLine::from_judged(trades, test),
            intervals: EdgeIntervals::from_sequence(&edge_sequence_from_trades(trades)),
            independent: IndependentFigures::from_trades(trades, test.plan())?,
        })
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let finding = self.shown.filter(|_| self.edge_end_text().is_none())?.finding()?;
        Some(match &self.bot {
            Some(bot) => finding.with_bot(bot),
            None => finding,
        })
    }

    pub(super) fn describe_detection(&self) -> Option<String> {
        self.shown.filter(|_| self.verdict == Some("edge_shown")).map(|shown| shown.describe())
    }

    fn edge_end_text(&self) -> Option<String> {
        let trade = self.no_longer_held_since_trade;
        let trade = trade.map(|trade| format!("trade {trade} (the file has no times)"));
        self.no_longer_held_since.map(format_utc).or(trade)
    }

    pub fn describe(&self) -> String {
        let since = self.edge_end_text();
        let withheld = || withheld_verdict_text(&self.withheld, since.as_deref());
        let withheld = (!self.withheld.is_empty()).then(withheld);
        match (self.verdict, withheld.or_else(|| since.as_deref().map(no_longer_held_text))) {
            (None, _) => "none: the order of the trades is unknown".to_owned(),
            (Some(EXPLORATORY), Some(state)) => format!("exploratory, {state}"),
            (Some(_), Some(state)) => state,
            (Some(verdict), None) => verdict_text(verdict, self.about_more_trades),
        }
    }
}

const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub won: u64,
    pub lost: u64,
    pub draw: u64,
    pub cancelled: u64,
    pub unsettled: u64,
}

/// Fixed-sample statistics for independent trades. They are valid only if the sample is evaluated just once.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct IndependentFigures {
    pub assumes: &'static str,
    pub win_rate: Option<f64>,
    pub break_even: Option<f64>,
    pub mean_return: Option<f64>,
    pub wilson_95: Option<[f64; 2]>,
    pub clopper_pearson_95: Option<[f64; 2]>,
    /// One-sided p-value. The null hypothesis is that each trade wins with its own break-even probability.
    pub p_value: Option<f64>,
    /// Result of the sequential test (SPRT): `edge`, `no_edge` or `undecided`; `None` if the trade order is unknown.
    pub sprt: Option<&'static str>,
}

impl Counts {
    pub fn from_trades(trades: &[JudgedTrade]) -> Self {
        let mut counts = Self::default();
        for trade in trades.iter().filter(|trade| !trade.is_unopened()) {
            *match trade.ended {
                Some((_, Outcome::Won)) => &mut counts.won,
                Some((_, Outcome::Lost)) => &mut counts.lost,
                Some((_, Outcome::Draw)) => &mut counts.draw,
                Some((_, Outcome::Cancelled)) => &mut counts.cancelled,
                None => &mut counts.unsettled,
            } += 1;
        }
        counts
    }
}

impl IndependentFigures {
    pub fn from_counts(counts: Counts, payout_fraction: f64) -> Result<Self, StatisticsError> {
        let null = break_even(payout_fraction)?;
        let rate = match WinRate::new(counts.won, counts.lost) {
            Ok(rate) => Some(rate),
            Err(StatisticsError::NoTrades) => None,
            Err(error) => return Err(error),
        };
        let mut figures = Self::from_rate(rate)?;
        figures.break_even = Some(null);
        figures.mean_return = figures.win_rate.map(|rate| rate * (1.0 + payout_fraction) - 1.0);
        figures.p_value = rate.map(|rate| binomial_p_value(rate, null)).transpose()?;
        Ok(figures)
    }

    pub fn from_trades(trades: &[JudgedTrade], plan: EdgeTestPlan) -> Result<Self, StatisticsError> {
        let mut decided: Vec<_> = trades.iter().filter_map(decided_result).collect();
        decided.sort_by_key(|(at, ..)| *at);
        let won = decided.iter().filter(|(_, is_won, _)| *is_won).count() as u64;
        let rate = WinRate::new(won, decided.len() as u64 - won).ok();
        let mut figures = Self::from_rate(rate)?;
        let payouts: Option<Vec<_>> = decided.iter().map(|(.., one)| one.map(Payout::to_fraction)).collect();
        if let (Some(payouts), Some(rate)) = (payouts, rate) {
            let mut needed = MeanBreakEven::default();
            payouts.iter().try_for_each(|payout| needed.add(*payout))?;
            figures.break_even = needed.mean();
            let returned = |(won, payout): (bool, f64)| if won { payout } else { -1.0 };
            let outcomes = || decided.iter().map(|(_, is_won, _)| *is_won).zip(payouts.iter().copied());
            figures.mean_return = Some(outcomes().map(returned).sum::<f64>() / decided.len() as f64);
            figures.p_value = p_value(rate, &payouts)?;
            figures.sprt = Some(sprt(plan, outcomes()));
        }
        Ok(figures)
    }

    fn from_rate(rate: Option<WinRate>) -> Result<Self, StatisticsError> {
        let wilson = rate.map(|rate| wilson_interval(rate, CONFIDENCE)).transpose()?;
        let exact = rate.map(|rate| clopper_pearson_interval(rate, CONFIDENCE)).transpose()?;
        Ok(Self {
            assumes: WinRates::ASSUMPTIONS,
            win_rate: rate.map(WinRate::to_fraction),
            wilson_95: wilson.map(|interval| [interval.lower, interval.upper]),
            clopper_pearson_95: exact.map(|interval| [interval.lower, interval.upper]),
            ..Self::default()
        })
    }
}

fn decided_result(trade: &JudgedTrade) -> Option<(candlewick_sdk::Millis, bool, Option<Payout>)> {
    match trade.ended? {
        (at, Outcome::Won) => Some((at, true, trade.payout)),
        (at, Outcome::Lost) => Some((at, false, trade.payout)),
        (_, Outcome::Draw | Outcome::Cancelled) => None,
    }
}

/// Returns the p-value against break-even; `None` if payouts differ and there are too many trades for an exact test.
fn p_value(rate: WinRate, payouts: &[f64]) -> Result<Option<f64>, StatisticsError> {
    let nulls = payouts.iter().map(|payout| break_even(*payout)).collect::<Result<Vec<_>, _>>()?;
    let is_one_payout = nulls.windows(2).all(|pair| pair[0].to_bits() == pair[1].to_bits());
    match nulls.first() {
        Some(null) if is_one_payout => binomial_p_value(rate, *null).map(Some),
        Some(_) if nulls.len() <= MAX_POISSON_BINOMIAL_TRADES => {
            poisson_binomial_p_value(rate.won(), &nulls).map(Some)
        }
        _ => Ok(None),
    }
}

/// Runs the sequential probability ratio test. Skips trades on which even a win rate of 100 % would not reach the edge.
fn sprt(plan: EdgeTestPlan, outcomes: impl Iterator<Item = (bool, f64)>) -> &'static str {
    let mut sprt = Sprt::new(plan);
    for (is_won, payout) in outcomes {
        let _ = if is_won { sprt.on_win(payout) } else { sprt.on_loss(payout) };
    }
    match sprt.decision() {
        SprtDecision::Edge => "edge",
        SprtDecision::NoEdge => "no_edge",
        SprtDecision::Undecided => "undecided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::SymbolId;
    use candlewick_search::evidence::{EvidenceKind, day_of};

    fn trade(second: i64, outcome: Option<Outcome>, percent: u32) -> JudgedTrade {
        let (decided, payout) = (Millis::from_seconds(second), Payout::from_parts(percent * 10_000));
        let ended = outcome.map(|outcome| (decided + Millis::MINUTE, outcome));
        JudgedTrade { symbol: SymbolId::FIRST, decided, answered: None, payout, ended, sequence: None }
    }

    #[test]
    fn no_trades_yield_no_figures() {
        let none = IndependentFigures::from_counts(Counts::default(), 0.85).unwrap();
        assert_eq!((none.win_rate, none.p_value, none.wilson_95), (None, None, None));
        let none = IndependentFigures::from_trades(&[], EdgeTestPlan::default()).unwrap();
        assert_eq!((none.win_rate, none.break_even, none.sprt), (None, None, None));
    }

    #[test]
    fn tests_mixed_payouts_against_their_own_break_even() {
        let trades = [trade(0, Some(Outcome::Won), 60), trade(60, Some(Outcome::Won), 100)];
        let found = IndependentFigures::from_trades(&trades, EdgeTestPlan::default()).unwrap();
        // Probability that both trades win by chance: 1 / 1.6 x 1 / 2.
        assert!((found.p_value.unwrap() - 0.3125).abs() < 1e-12, "{found:?}");
        assert!((found.mean_return.unwrap() - 0.8).abs() < 1e-12);
        assert!((found.break_even.unwrap() - 0.5625).abs() < 1e-12);
        assert_eq!(found.sprt, Some("undecided"));
    }

    fn judged_sample(evidence: EvidenceKind, won_and_lost: (i64, i64)) -> Sample {
        let outcomes = [(won_and_lost.0, Outcome::Won), (won_and_lost.1, Outcome::Lost)];
        let outcomes = outcomes.into_iter().flat_map(|(count, outcome)| (0..count).map(move |_| outcome));
        let trades: Vec<JudgedTrade> =
            (0..).zip(outcomes).map(|(place, outcome)| trade(place * 60, Some(outcome), 85)).collect();
        let judge = build_judge(&trades, EdgeTestPlan::default());
        let caveats = Caveats { evidence, ..Caveats::default() };
        Sample::from_trades(None, &trades, &judge, &caveats).unwrap()
    }

    #[test]
    fn exploratory_trades_never_show_an_edge() {
        let (day, until) = (day_of(Millis::ZERO), day_of(Millis::DAY));
        for (evidence, expected) in [
            (EvidenceKind::Practice, "practice"),
            (EvidenceKind::default(), "exploratory"),
            (EvidenceKind::Exploratory { until: Some(until), run: Some(18) }, "exploratory"),
            (EvidenceKind::Confirmed { test: 1, from: day, until }, "edge_shown"),
            (EvidenceKind::Live { weight: 1.0 }, "edge_shown"),
        ] {
            let sample = judged_sample(evidence.clone(), (200, 0));
            assert!(sample.account_for >= sample.threshold_for, "{sample:?}");
            assert_eq!(sample.verdict, Some(expected), "{evidence:?}");
            assert_eq!(sample.describe_detection().is_some(), expected == "edge_shown", "{evidence:?}");
            let rejected = judged_sample(evidence, (0, 200));
            assert_eq!(rejected.verdict, Some("edge_rejected"));
        }
    }

    #[test]
    fn smaller_share_of_the_live_error_rate_withholds_an_edge_until_its_own_threshold() {
        let shown = |weight, won| judged_sample(EvidenceKind::Live { weight }, (won, 0));
        let needed = (1..500).find(|won| shown(1.0, *won).verdict == Some("edge_shown")).unwrap();
        let withheld = shown(0.5, needed);
        assert_eq!(withheld.verdict, Some("not_enough_trades"));
        assert!(withheld.withheld[0].contains("a share of 0.5 of the live error rate"), "{withheld:?}");
        let more = shown(0.5, 2 * needed);
        assert_eq!((more.verdict, more.withheld), (Some("edge_shown"), vec![]));
    }

    #[test]
    fn counts_trades_by_outcome() {
        let ends =
            [Some(Outcome::Won), Some(Outcome::Lost), Some(Outcome::Draw), Some(Outcome::Cancelled), None];
        let trades: Vec<_> = (0..).zip(ends).map(|(place, end)| trade(place * 60, end, 80)).collect();
        let counts = Counts { won: 1, lost: 1, draw: 1, cancelled: 1, unsettled: 1 };
        assert_eq!(Counts::from_trades(&trades), counts);
    }
}
