//! Ruin of several stakes with one balance, as text and JSON.

use super::RuinFigures;
use crate::figure::percent;
use candlewick_records::table;
use candlewick_sdk::{Money, MoneyScale};
use serde::Serialize;
use std::fmt::{self, Write as _};

#[derive(Debug, Serialize)]
pub struct RuinSummary {
    pub balance: f64,
    #[serde(skip)]
    decimals: usize,
    /// As a fraction of the stake.
    pub payout: f64,
    /// Maximum acceptable probability of ruin; 0 for no limit.
    pub limit: f64,
    pub stakes: Vec<RuinFigures>,
    /// Sum over all ladders, at break-even or the lower bound; `None` without a ladder.
    pub ladders: Option<f64>,
}

impl RuinSummary {
    pub fn of(
        (balance, scale): (Money, MoneyScale),
        payout: f64,
        limit: f64,
        stakes: Vec<RuinFigures>,
    ) -> Self {
        let mut ladders = stakes.iter().filter(|stake| stake.is_ladder).map(RuinFigures::decisive).peekable();
        let together = ladders.peek().is_some().then(|| ladders.sum::<f64>().min(1.0));
        let decimals = scale.decimals() as usize;
        Self { balance: scale.to_f64(balance), decimals, payout, limit, ladders: together, stakes }
    }
}

impl fmt::Display for RuinSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (balance, decimals) = (self.balance, self.decimals);
        write!(f, "Ruin with a balance of {balance:.decimals$} at payout {}", percent(self.payout))?;
        for stake in &self.stakes {
            write!(f, "\n\n{}", figures_text(stake, self.limit, decimals))?;
        }
        let Some(together) = self.ladders else { return Ok(()) };
        let limit = match self.limit {
            0.0 => "there is no limit".to_owned(),
            limit if together > limit => {
                format!("more than the limit of {}: no live run starts", percent(limit))
            }
            limit => format!("within the limit of {}", percent(limit)),
        };
        let together = percent(together);
        write!(
            f,
            "\n\nAll ladders together, at the worse of break-even and lower bound: {together}, {limit}."
        )
    }
}

fn figures_text(figures: &RuinFigures, limit: f64, decimals: usize) -> String {
    let bot = figures.bot.as_ref().map(|bot| format!("bot \"{bot}\": ")).unwrap_or_default();
    let mut text = format!("{bot}{}", figures.stakes);
    if let Some(cost) = figures.ladder_cost {
        let _ = write!(text, "; {cost:.decimals$} when every level loses");
    }
    if let Some([losses, all]) = figures.recovery_costs {
        let _ = write!(
            text,
            "\n(to win back the losses at this payout so many levels cost {losses:.1} first stakes, with the profit {all:.1})"
        );
    }
    let within = format!("ruin within {} trades", figures.horizon_trades);
    let enough = format!("balance for {}", percent(limit));
    let mut header =
        vec!["at", "win rate", within.as_str(), "error", "mean trades to it", "half ruined after"];
    if limit > 0.0 {
        header.push(&enough);
    }
    let mut lines = table(header);
    for rate in &figures.rates {
        let mut row = vec![
            rate.words().to_owned(),
            percent(rate.win_rate),
            percent(rate.ruin),
            format!("{:.0e}", rate.error),
            rate.mean_trades.map_or("-".to_owned(), |trades| format!("{trades:.0}")),
            rate.half_after.map_or("-".to_owned(), |trades| trades.to_string()),
        ];
        if limit > 0.0 {
            row.push(
                rate.required_balance
                    .map_or("none found".to_owned(), |needed| format!("{needed:.decimals$}")),
            );
        }
        lines.add_row(row);
    }
    format!("{text}\n\n{}", lines.trim_fmt())
}
