//! `edge gate`: what a gate in front of past trades would have been worth.

use super::{load, parse_payout, parse_rate};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::show;
use candlewick_engine::DayStart;
use candlewick_report::edge::{GateReport, TriedGate, read_trades};
use candlewick_sdk::Payout;
use candlewick_statistics::{GateOpening, GateRule};
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;

/// Which gate, on which trades.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("opening").required(true).args(["after_virtual_losses", "virtual_win_rate"]),
    after_help = "A gate lets a bot trade only after its trades without money went a certain way: after losses in a row, or while they \
                  win often enough. This takes trades that were all made, from the CSV of `backtest --trades`, and says what \
                  such a gate would have been worth on them: against trading all, against random gates that let as many \
                  trades be real, and against itself on the same results in random order. On trades that do not depend on \
                  each other it is worth nothing.\n\nExamples:\n  candlewick edge gate --trades trades.csv \
                  --after-virtual-losses 2\n  candlewick edge gate --trades trades.csv --after-virtual-losses 2 \
                  --close-after-losses 1\n  candlewick edge gate --trades trades.csv --virtual-win-rate 60 --over 20\n  candlewick edge \
                  gate --trades trades.csv --after-virtual-losses 2 --close-after-trades 1 --resets day --openings 1"
)]
pub(crate) struct GateArguments {
    /// A CSV of trades
    #[arg(long, value_name = "FILE")]
    trades: PathBuf,
    /// Opens after so many virtual losses in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    after_virtual_losses: Option<u32>,
    /// Opens while the last trades, virtual and real, win at least so often
    #[arg(long, value_name = "PERCENT", value_parser = parse_rate, requires = "over")]
    virtual_win_rate: Option<f64>,
    /// Over how many trades the win rate is taken
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "virtual_win_rate")]
    over: Option<u32>,
    /// Closes after so many real losses in a row
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    close_after_losses: Option<u32>,
    /// Closes after so many real trades; 1 after virtual losses when nothing else closes or resets it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    close_after_trades: Option<u32>,
    /// Closes after so many real wins
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    close_after_wins: Option<u32>,
    /// Closes with each day, and counts anew
    #[arg(long, value_name = "WHEN", value_enum)]
    resets: Option<Resets>,
    /// Opens at most so often a day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "resets")]
    openings: Option<u32>,
    /// When a day begins
    #[arg(long, value_name = "HH:MM", default_value = "00:00", requires = "resets")]
    day_start: String,
    /// The time zone of that, by its IANA name
    #[arg(long, value_name = "ZONE", default_value = "UTC", requires = "resets")]
    day_timezone: String,
    /// Payout in percent, of a CSV without one; simulation.payout_percent when left out
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout)]
    payout: Option<f64>,
    /// Random gates, and random orders, to hold it against
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(99..=1_000_000))]
    draws: u32,
    /// Seed of their chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// What begins a gate anew.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Resets {
    Day,
}

pub(super) fn run(arguments: &GateArguments, context: &Context<'_>) -> Result<(), Failure> {
    let assumed = load(context)?.config.simulation.payout_percent;
    let payout = arguments.payout.and_then(|payout| Payout::from_parts((payout * 1e6).round() as u32));
    let file = read_trades(&arguments.trades, Some(payout.unwrap_or(assumed)))?;
    let gate = TriedGate { rule: arguments.rule(), day: arguments.day()? };
    show(&GateReport::of(&file, gate, arguments.draws, arguments.seed)?, context.global)
}

impl GateArguments {
    fn rule(&self) -> GateRule {
        let opening = match (self.virtual_win_rate, self.over) {
            (Some(rate), Some(over)) => GateOpening::WinRate { rate, over },
            _ => GateOpening::AfterVirtualLosses(self.after_virtual_losses.unwrap_or_default()),
        };
        let close_after_losses = self.close_after_losses.unwrap_or_default();
        let close_after_wins = self.close_after_wins.unwrap_or_default();
        let closes_otherwise = close_after_losses + close_after_wins > 0 || self.resets.is_some();
        let needs_one = matches!(opening, GateOpening::AfterVirtualLosses(_)) && !closes_otherwise;
        let close_after_trades = self.close_after_trades.unwrap_or(u32::from(needs_one));
        GateRule {
            opening,
            resets_daily: self.resets.is_some(),
            openings: self.openings.unwrap_or_default(),
            close_after_losses,
            close_after_trades,
            close_after_wins,
        }
    }

    fn day(&self) -> Result<Option<DayStart>, Failure> {
        let day = |Resets::Day| DayStart::new(&self.day_start, &self.day_timezone, "--resets day");
        Ok(self.resets.map(day).transpose()?)
    }
}
