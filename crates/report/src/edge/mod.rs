//! Edge verdicts on trades from any source, break-even payouts, and the effect of stake rules.

mod gate_report;
mod ruin;
mod sample;
mod trade_findings;
mod trades_file;
mod trades_needed;
mod verdict_report;

use crate::figure::{break_even_payout_text, format_percent};
use candlewick_records::table_text;
use candlewick_statistics::{StakeWithPayout, StatisticsError, break_even, mixed_break_even};
use serde::Serialize;
use std::fmt;

pub use gate_report::{GateReport, GateSetup, GatedBot};
pub use ruin::{RuinFigures, RuinRate, RuinSummary, RuinTerms};
pub use sample::{Counts, IndependentFigures, NamedTrade, Sample, TradeMoney};
pub use trade_findings::audit_trades;
pub(crate) use trades_file::is_calendar_time;
pub use trades_file::{TradesFile, read_trades};
pub use trades_needed::{EdgeRequirement, TradesNeeded, TradesNeededTerms, VerdictTrades};
pub use verdict_report::VerdictReport;

#[derive(Debug, Serialize)]
pub struct BreakEvenReport {
    pub payouts: Vec<PayoutLine>,
    pub mixed_break_even: Option<f64>,
    pub win_rate: Option<f64>,
    /// Payout at which `win_rate` would break even, as a fraction of the stake.
    pub payout_needed: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct PayoutLine {
    /// Payout as a fraction of the stake.
    pub payout: f64,
    pub break_even: f64,
    /// Mean return per unit of stake if half of the trades win, as with a coin toss.
    pub coin_return: f64,
}

impl BreakEvenReport {
    pub fn new(
        payouts: &[f64],
        stakes: &[StakeWithPayout],
        win_rate: Option<f64>,
    ) -> Result<Self, StatisticsError> {
        let line = |payout: &f64| {
            let coin_return = f64::midpoint(*payout, -1.0);
            Ok(PayoutLine { payout: *payout, break_even: break_even(*payout)?, coin_return })
        };
        Ok(Self {
            payouts: payouts.iter().map(line).collect::<Result<_, _>>()?,
            mixed_break_even: (!stakes.is_empty()).then(|| mixed_break_even(stakes)).transpose()?,
            win_rate,
            payout_needed: win_rate.map(|rate| (1.0 - rate) / rate),
        })
    }
}

impl fmt::Display for BreakEvenReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.payouts.is_empty() {
            let row = |PayoutLine { payout, break_even, coin_return }: &PayoutLine| {
                let payout = format!("{} %", (payout * 1e6).round() / 1e4);
                let needed = format!("{:.4} %", break_even * 100.0);
                [payout, needed, format!("{:+.2}", coin_return * 100.0)]
            };
            let header = ["payout", "break-even win rate", "coin-toss profit per 100 staked"];
            parts.push(table_text(header, self.payouts.iter().map(row)));
        }
        if let Some(mixed) = self.mixed_break_even {
            parts.push(format!("break-even win rate of all stakes combined: {:.4} %", mixed * 100.0));
        }
        if let (Some(rate), Some(needed)) = (self.win_rate, self.payout_needed) {
            let needed = break_even_payout_text(needed * 100.0);
            parts.push(format!("break-even payout at a win rate of {}: {needed}", format_percent(rate)));
        }
        f.write_str(&parts.join("\n\n"))
    }
}
