//! The verdict on trades in their order, with what stands beside it.

use super::{Counts, IndependentFigures};
use crate::error::ReportError;
use candlewick_engine::{JudgedTrade, judge_trades};
use candlewick_records::{verdict_name, verdict_words};
use candlewick_statistics::EdgeTestPlan;
use serde::Serialize;

/// A trade and the bot that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTrade {
    /// Whose trade it is.
    pub bot: String,
    /// As the verdict sees it.
    pub trade: JudgedTrade,
}

/// What some trades say.
#[derive(Debug, Serialize)]
pub struct Sample {
    /// Whose; null for all together.
    pub bot: Option<String>,
    /// How the trades ended.
    #[serde(flatten)]
    pub counts: Counts,
    /// `edge_shown`, `edge_rejected` or `not_enough_trades`; null without an order.
    pub verdict: Option<&'static str>,
    /// About so many more trades show an edge of the size that is looked for, if there is one.
    pub about_more_trades: Option<u64>,
    /// The evidence for an edge: what an account that bets on one has become, from 1.
    pub account_for: Option<f64>,
    /// The evidence against one, likewise.
    pub account_against: Option<f64>,
    /// Groups of trades that overlap in time.
    pub clusters: Option<u64>,
    /// By how much overlap inflates the variance of the sum of returns.
    pub variance_inflation: Option<f64>,
    /// Figures that assume independent trades.
    pub independent: IndependentFigures,
}

impl Sample {
    /// Of bare counts: they have no order, so that no account could be followed.
    ///
    /// # Errors
    /// A payout that is none, or too many trades.
    pub fn of_counts(counts: Counts, payout_fraction: f64) -> Result<Self, ReportError> {
        Ok(Self {
            bot: None,
            counts,
            verdict: None,
            about_more_trades: None,
            account_for: None,
            account_against: None,
            clusters: None,
            variance_inflation: None,
            independent: IndependentFigures::of_counts(counts, payout_fraction)?,
        })
    }

    /// Of all trades together, and of each bot where there are several, by their first trades.
    ///
    /// # Errors
    /// More trades than can be counted.
    pub fn all_of(trades: &[NamedTrade], plan: EdgeTestPlan) -> Result<Vec<Self>, ReportError> {
        let every: Vec<JudgedTrade> = trades.iter().map(|named| named.trade).collect();
        let mut samples = vec![Self::of_trades(None, &every, plan)?];
        let mut bots: Vec<&str> = Vec::new();
        for named in trades {
            if !bots.contains(&named.bot.as_str()) {
                bots.push(&named.bot);
            }
        }
        if bots.len() > 1 {
            for bot in bots {
                let own = trades.iter().filter(|named| named.bot == bot).map(|named| named.trade);
                let own: Vec<JudgedTrade> = own.collect();
                samples.push(Self::of_trades(Some(bot.to_owned()), &own, plan)?);
            }
        }
        Ok(samples)
    }

    fn of_trades(
        bot: Option<String>,
        trades: &[JudgedTrade],
        plan: EdgeTestPlan,
    ) -> Result<Self, ReportError> {
        let test = judge_trades(trades, plan);
        let (verdict, about_more_trades) = verdict_name(&test);
        Ok(Self {
            bot,
            counts: Counts::of(trades),
            verdict: Some(verdict),
            about_more_trades,
            account_for: Some(test.edge_account()),
            account_against: Some(test.mirror_account()),
            clusters: Some(test.overlap().clusters()),
            variance_inflation: Some(test.overlap().variance_inflation()),
            independent: IndependentFigures::of_trades(trades, plan)?,
        })
    }

    /// The verdict in words.
    pub fn words(&self) -> String {
        self.verdict.map_or_else(
            || "none: it takes trades in their order".to_owned(),
            |verdict| verdict_words(verdict, self.about_more_trades),
        )
    }
}
