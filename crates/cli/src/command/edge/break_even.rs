//! `edge break-even`: the win rate at which a payout neither earns nor costs.

use super::{parse_payout, parse_rate, percent};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print, print_json, table};
use candlewick_statistics::{PaidStake, break_even, mixed_break_even};
use clap::Args;
use serde::Serialize;

/// Payouts that are shown when none is named.
const USUAL: [f64; 8] = [0.60, 0.70, 0.75, 0.80, 0.85, 0.90, 0.92, 1.00];

/// Of which payouts.
#[derive(Debug, Args)]
#[command(
    after_help = "A win earns the payout, a loss costs the stake, a draw neither: so a coin loses money at every payout below \
                  100. Payouts with stakes (85:10) are summed up together as well; each trade still has a break-even of \
                  its own, and a verdict tests against that.\n\nExamples:\n  candlewick edge break-even\n  candlewick \
                  edge break-even 80 85.5\n  candlewick edge break-even 80:10 90:30\n  candlewick edge break-even \
                  --win-rate 56"
)]
pub(crate) struct BreakEvenArguments {
    /// Payouts in percent, each with a stake if need be; the usual ones without any
    #[arg(value_name = "PAYOUT[:STAKE]", value_parser = parse_paid)]
    payouts: Vec<(f64, Option<f64>)>,
    /// The payout that this win rate, in percent, breaks even at
    #[arg(long, value_name = "PERCENT", value_parser = parse_rate)]
    win_rate: Option<f64>,
}

/// What a payout asks for.
#[derive(Debug, Serialize)]
struct Line {
    payout: f64,
    break_even: f64,
    /// What a coin earns per unit of stake.
    coin_return: f64,
}

#[derive(Debug, Serialize)]
struct Answer {
    payouts: Vec<Line>,
    /// Of all stakes together, where stakes were named.
    mixed_break_even: Option<f64>,
    win_rate: Option<f64>,
    /// The payout at which the win rate breaks even.
    payout_needed: Option<f64>,
}

pub(super) fn run(arguments: &BreakEvenArguments, context: &Context<'_>) -> Result<(), Failure> {
    let named: Vec<f64> = match arguments.payouts.as_slice() {
        [] if arguments.win_rate.is_some() => Vec::new(),
        [] => USUAL.to_vec(),
        named => named.iter().map(|(payout, _)| *payout).collect(),
    };
    let line = |payout: f64| -> Result<Line, Failure> {
        Ok(Line { payout, break_even: break_even(payout)?, coin_return: f64::midpoint(payout, -1.0) })
    };
    let answer = Answer {
        payouts: named.into_iter().map(line).collect::<Result<_, _>>()?,
        mixed_break_even: mixed(&arguments.payouts)?,
        win_rate: arguments.win_rate,
        payout_needed: arguments.win_rate.map(|rate| (1.0 - rate) / rate),
    };
    if context.global.json { print_json(&answer) } else { print(&answer.to_table()) }
}

/// The summary of stakes at several payouts; nothing without stakes.
fn mixed(named: &[(f64, Option<f64>)]) -> Result<Option<f64>, Failure> {
    let paid = |&(payout_fraction, stake): &(f64, Option<f64>)| {
        stake.map(|stake| PaidStake { stake, payout_fraction })
    };
    let stakes: Vec<PaidStake> = named.iter().filter_map(paid).collect();
    if stakes.is_empty() {
        return Ok(None);
    }
    if stakes.len() < named.len() {
        return Err(Failure::configuration("some payouts have a stake and some have none")
            .help("name all stakes (80:10 90:30), or none"));
    }
    Ok(Some(mixed_break_even(&stakes)?))
}

impl Answer {
    fn to_table(&self) -> String {
        let mut parts = Vec::new();
        if !self.payouts.is_empty() {
            let mut lines = table(["payout", "break-even win rate", "a coin earns per 100 staked"]);
            for Line { payout, break_even, coin_return } in &self.payouts {
                let payout = format!("{} %", (payout * 1e6).round() / 1e4);
                let needed = format!("{:.4} %", break_even * 100.0);
                lines.add_row([payout, needed, format!("{:+.2}", coin_return * 100.0)]);
            }
            parts.push(lines.trim_fmt());
        }
        if let Some(mixed) = self.mixed_break_even {
            parts.push(format!("all stakes together break even at {:.4} %", mixed * 100.0));
        }
        if let (Some(rate), Some(needed)) = (self.win_rate, self.payout_needed) {
            parts.push(format!("a win rate of {} breaks even at payout {}", percent(rate), percent(needed)));
        }
        parts.join("\n\n")
    }
}

/// `85`, or `85:10` for a stake of 10 at payout 85.
fn parse_paid(text: &str) -> Result<(f64, Option<f64>), String> {
    let Some((payout, stake)) = text.split_once(':') else { return Ok((parse_payout(text)?, None)) };
    let amount = stake.parse().ok().filter(|stake: &f64| stake.is_finite() && *stake > 0.0);
    let amount = amount.ok_or_else(|| format!("\"{stake}\" is no stake: use an amount such as 85:10"))?;
    Ok((parse_payout(payout)?, Some(amount)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payouts_are_named_with_or_without_stakes() {
        assert_eq!(parse_paid("85"), Ok((0.85, None)));
        assert_eq!(parse_paid("85:10"), Ok((0.85, Some(10.0))));
        for wrong in ["85:", "85:0", "85:x", ":10", "0:10"] {
            assert!(parse_paid(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn stakes_are_summed_up_when_all_are_named() {
        assert_eq!(mixed(&[(0.8, None), (0.9, None)]).unwrap(), None);
        // 10 and 30 staked return 18 and 57 when all win.
        let found = mixed(&[(0.8, Some(10.0)), (0.9, Some(30.0))]).unwrap().unwrap();
        assert!((found - 40.0 / 75.0).abs() < 1e-15, "{found}");
        assert!(mixed(&[(0.8, Some(10.0)), (0.9, None)]).unwrap_err().render().contains("name all stakes"));
    }
}
