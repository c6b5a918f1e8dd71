//! `edge break-even`: the break-even win rate of a payout.

use super::{parse_payout, parse_rate};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::show;
use candlewick_report::edge::BreakEvenReport;
use candlewick_statistics::PaidStake;
use clap::Args;

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

pub(super) fn run(arguments: &BreakEvenArguments, context: &Context<'_>) -> Result<(), Failure> {
    let named: Vec<f64> = match arguments.payouts.as_slice() {
        [] if arguments.win_rate.is_some() => Vec::new(),
        [] => USUAL.to_vec(),
        named => named.iter().map(|(payout, _)| *payout).collect(),
    };
    let stakes = stakes(&arguments.payouts)?;
    show(&BreakEvenReport::of(&named, &stakes, arguments.win_rate)?, context.global)
}

fn stakes(named: &[(f64, Option<f64>)]) -> Result<Vec<PaidStake>, Failure> {
    let paid = |&(payout_fraction, stake): &(f64, Option<f64>)| {
        stake.map(|stake| PaidStake { stake, payout_fraction })
    };
    let stakes: Vec<PaidStake> = named.iter().filter_map(paid).collect();
    if !stakes.is_empty() && stakes.len() < named.len() {
        return Err(Failure::configuration("some payouts have a stake and some have none")
            .help("name all stakes (80:10 90:30), or none"));
    }
    Ok(stakes)
}

/// Parses `85`, or `85:10` for a stake of 10 at payout 85.
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
    fn stakes_are_named_for_all_payouts_or_for_none() {
        assert!(stakes(&[(0.8, None), (0.9, None)]).unwrap().is_empty());
        assert_eq!(stakes(&[(0.8, Some(10.0)), (0.9, Some(30.0))]).unwrap().len(), 2);
        assert!(stakes(&[(0.8, Some(10.0)), (0.9, None)]).unwrap_err().render().contains("name all stakes"));
    }
}
