//! `edge`: statistics of an edge, from numbers, a file of trades or a journal.

mod break_even;
mod gate;
mod plan;
mod ruin;
mod verdict;

use crate::arguments::{parse_payout_percent, parse_percent};
use crate::context::Context;
use crate::failure::{Ending, Failure};
use candlewick_app::configuration::{Base, Loaded};
use clap::Subcommand;

/// The statistics of an edge.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Payouts and win rates are in percent here, and fractions from 0 to 1 with --json.\n\nExamples:\n  \
                  candlewick edge break-even 80 85 92\n  candlewick edge plan --payout 85\n  candlewick edge ruin --martingale 10 --balance 2000\n  candlewick edge verdict \
                  --won 580 --lost 420 --payout 85"
)]
pub(crate) enum EdgeCommand {
    /// The win rate at which a payout neither earns nor costs
    BreakEven(break_even::BreakEvenArguments),
    /// What it would have been worth to trade only after virtual trades went a certain way
    Gate(gate::GateArguments),
    /// How many trades it takes to show an edge
    Plan(plan::PlanArguments),
    /// How probably stakes run out of money, and how much money keeps them from it
    Ruin(ruin::RuinArguments),
    /// What trades say of an edge
    Verdict(verdict::VerdictArguments),
}

pub(super) fn run(command: &EdgeCommand, context: &Context<'_>) -> Result<Ending, Failure> {
    match command {
        EdgeCommand::BreakEven(arguments) => break_even::run(arguments, context)?,
        EdgeCommand::Gate(arguments) => gate::run(arguments, context)?,
        EdgeCommand::Plan(arguments) => plan::run(arguments, context)?,
        EdgeCommand::Ruin(arguments) => ruin::run(arguments, context)?,
        EdgeCommand::Verdict(arguments) => verdict::run(arguments, context)?,
    }
    Ok(Ending::Done)
}

fn load(context: &Context<'_>) -> Result<Loaded, Failure> {
    Ok(Loaded::read(&context.global.config, Base::Bare, Vec::new())?)
}

/// Parses a payout in percent into a fraction of the stake.
fn parse_payout(text: &str) -> Result<f64, String> {
    parse_payout_percent(text).map(|percent| percent / 100.0)
}

/// Parses a probability in percent into a fraction, excluding 0 and 1.
fn parse_rate(text: &str) -> Result<f64, String> {
    let percent = parse_percent(text).filter(|percent| *percent > 0.0 && *percent < 100.0);
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "use a percentage between 0 and 100, such as 55".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_with_or_without_their_sign() {
        for (text, payout, rate) in [
            ("85", Some(0.85), Some(0.85)),
            ("85%", Some(0.85), Some(0.85)),
            ("100", Some(1.0), None),
            ("0", None, None),
            ("-5", None, None),
            ("NaN", None, None),
            ("1e9", None, None),
            ("much", None, None),
        ] {
            assert_eq!((parse_payout(text).ok(), parse_rate(text).ok()), (payout, rate), "{text}");
        }
    }
}
