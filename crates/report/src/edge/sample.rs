//! Verdict on a sequence of trades, with supplementary statistics.

use super::{Counts, IndependentFigures, is_date};
use crate::analysis::Finding;
use crate::error::ReportError;
use crate::run::Caveats;
use crate::shown::ShownLine;
use candlewick_engine::{Judge, JudgedTrade, edge_sequence_of, judge_of, judge_trades};
use candlewick_records::{
    EdgeIntervals, NO_LONGER_HELD, no_longer_held_words, threshold, utc, verdict_name, verdict_words,
    withheld_words,
};
use candlewick_sdk::Millis;
use candlewick_statistics::{AlphaBudget, EdgeTest, EdgeTestPlan, Verdict};
use serde::Serialize;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct NamedTrade {
    pub bot: String,
    pub trade: JudgedTrade,
    pub money: Option<TradeMoney>,
}

/// Stake and profit as floats, for statistics only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeMoney {
    pub stake: f64,
    pub profit: f64,
    pub decimals: u32,
}

#[derive(Debug, Serialize)]
pub struct Sample {
    /// `None` for all bots together.
    pub bot: Option<String>,
    #[serde(flatten)]
    pub counts: Counts,
    /// `edge_shown`, `edge_rejected`, `edge_no_longer_held` or `not_enough_trades`; `None` if the
    /// order of the trades is unknown.
    pub verdict: Option<&'static str>,
    /// Approximate number of trades still needed to show an edge of the size tested for.
    pub about_more_trades: Option<u64>,
    /// Value of the account that bets on an edge; starts at 1.
    pub account_for: Option<f64>,
    /// `1 / (alpha x weight)`, because all bots share one alpha; `None` without a weight.
    pub threshold_for: Option<f64>,
    /// Value of the account that bets against an edge; starts at 1.
    pub account_against: Option<f64>,
    /// `1 / beta`.
    pub threshold_against: Option<f64>,
    pub clusters: Option<u64>,
    /// Factor by which overlap inflates the variance of the sum of returns.
    pub variance_inflation: Option<f64>,
    pub withheld: Vec<String>,
    pub labels: Vec<&'static str>,
    /// First decision from which a shown edge of `delta` is no longer supported: it ended, or was
    /// smaller all along. `None` while it holds or if it was never shown.
    pub no_longer_held_since: Option<Millis>,
    /// Like `no_longer_held_since`, as the 1-based number of a trade, for trades without dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_longer_held_since_trade: Option<u64>,
    pub shown: Option<ShownLine>,
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
    /// Bare counts have no order, so there is no account to follow.
    pub fn of_counts(counts: Counts, payout_fraction: f64) -> Result<Self, ReportError> {
        Ok(Self {
            bot: None,
            counts,
            verdict: None,
            about_more_trades: None,
            account_for: None,
            threshold_for: None,
            account_against: None,
            threshold_against: None,
            clusters: None,
            variance_inflation: None,
            withheld: Vec::new(),
            labels: Vec::new(),
            no_longer_held_since: None,
            no_longer_held_since_trade: None,
            shown: None,
            intervals: EdgeIntervals::default(),
            independent: IndependentFigures::of_counts(counts, payout_fraction)?,
        })
    }

    /// Judges all trades together and, with several bots, each bot in the order of first trades.
    ///
    /// `bots` is the number of bots that share alpha, if known: some may have no trade.
    pub fn all_of(
        trades: &[NamedTrade],
        plan: EdgeTestPlan,
        (bots, caveats): (usize, &Caveats),
    ) -> Result<Vec<Self>, ReportError> {
        let groups = group_by_bot(trades);
        let bots = bots.max(groups.len());
        let part = AlphaBudget::part_of_first_run(bots);
        let judged = |bot: Option<&str>, own: &[JudgedTrade]| {
            let judge = judge_of(own, EdgeTest::new(plan).weighing(part));
            Self::of_trades(bot, own, &judge, caveats)
        };
        let all: Vec<JudgedTrade> = trades.iter().map(|named| named.trade).collect();
        let mut samples = vec![judged(None, &all)?];
        for (bot, own) in groups.iter().filter(|_| bots > 1) {
            let own: Vec<JudgedTrade> = own.iter().map(|named| named.trade).collect();
            samples.push(judged(Some(*bot), &own)?);
        }
        Ok(samples)
    }

    pub fn of_trades(
        bot: Option<&str>,
        trades: &[JudgedTrade],
        judge: &Judge,
        caveats: &Caveats,
    ) -> Result<Self, ReportError> {
        let test = judge.test();
        let (mut verdict, about_more_trades) = verdict_name(test);
        let mut withheld = Vec::new();
        if test.verdict() == Verdict::EdgeShown {
            let ended = trades.iter().filter(|trade| !trade.was_none()).filter_map(|trade| trade.ended);
            let outcomes = ended.map(|(_, outcome)| outcome);
            withheld = caveats.reasons_to_withhold(test, outcomes, |test| judge_trades(trades, test));
        }
        let since = judge.no_longer_held_since();
        if !withheld.is_empty() {
            verdict = "not_enough_trades";
        } else if since.is_some() {
            verdict = NO_LONGER_HELD;
        }
        let trade_number =
            |since: Millis| trades.iter().filter(|trade| trade.decided <= since).count() as u64;
        Ok(Self {
            bot: bot.map(str::to_owned),
            counts: Counts::of(trades),
            verdict: Some(verdict),
            about_more_trades,
            account_for: Some(test.edge_account()),
            threshold_for: threshold(test),
            account_against: Some(test.mirror_account()),
            threshold_against: Some(test.plan().beta().recip()),
            clusters: Some(test.overlap().clusters()),
            variance_inflation: Some(test.overlap().variance_inflation()),
            withheld,
            labels: caveats.labels.clone(),
            no_longer_held_since: since.filter(|since| is_date(*since)),
            no_longer_held_since_trade: since.filter(|since| !is_date(*since)).map(trade_number),
            shown: ShownLine::of_judged(trades, test),
            intervals: EdgeIntervals::of(&edge_sequence_of(trades)),
            independent: IndependentFigures::of_trades(trades, test.plan())?,
        })
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let finding = self.shown.filter(|_| self.ended_words().is_none())?.finding()?;
        Some(match &self.bot {
            Some(bot) => finding.of_bot(bot),
            None => finding,
        })
    }

    pub(super) fn shown_words(&self) -> Option<String> {
        let is_said = self.withheld.is_empty() && self.ended_words().is_none();
        self.shown.filter(|_| is_said).map(|shown| shown.words())
    }

    fn ended_words(&self) -> Option<String> {
        let trade = self.no_longer_held_since_trade.map(|trade| format!("trade {trade}"));
        self.no_longer_held_since.map(utc).or(trade)
    }

    pub fn words(&self) -> String {
        if !self.withheld.is_empty() {
            return withheld_words(&self.withheld, self.ended_words().as_deref());
        }
        if let Some(since) = self.ended_words() {
            return no_longer_held_words(&since);
        }
        self.verdict.map_or_else(
            || "none: it takes trades in their order".to_owned(),
            |verdict| verdict_words(verdict, self.about_more_trades),
        )
    }
}
