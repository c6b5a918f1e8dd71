//! Runs of a work of the bench, or of its loop by hand, for whoever counts instructions (one run) or takes samples (many):
//! `one_run <single|every-rule|crowd|extremes> <backtest|by-hand> [candles] [runs]`, and `crowd-1x1`, `crowd-10x1` or
//! `crowd-1x10` for fewer bots or symbols. `BENCHMARKS.md` has the commands.

use candlewick_backtest::bench::{Crowd, Work, WorkKind};
use std::hint::black_box;
use std::process::ExitCode;

const CANDLES: usize = 200_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [kind, side] => run(kind, side, (CANDLES, 1)),
        [kind, side, candles] => candles.parse().ok().and_then(|candles| run(kind, side, (candles, 1))),
        [kind, side, candles, runs] => {
            let amount = candles.parse().ok().zip(runs.parse().ok());
            amount.and_then(|amount| run(kind, side, amount))
        }
        _ => None,
    }
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Nothing where an argument is none of those it may be.
fn run(kind: &str, side: &str, (candles, runs): (usize, usize)) -> Option<()> {
    let kind = match kind {
        "single" => WorkKind::Single,
        "every-rule" => WorkKind::EveryRule,
        "crowd" => WorkKind::Crowd(Crowd::USUAL),
        "extremes" => WorkKind::Extremes,
        other => WorkKind::Crowd(crowd(other)?),
    };
    let work = Work::new(kind, candles).ok()?;
    for _ in 0..runs {
        match side {
            "backtest" => work.run(&mut |_| {}).ok().map(|_| ())?,
            "by-hand" => {
                black_box(work.run_by_hand());
            }
            _ => return None,
        }
    }
    Some(())
}

/// The crowd of so many bots on each of so many symbols.
fn crowd(name: &str) -> Option<Crowd> {
    let named = |crowd: &Crowd| name == format!("crowd-{}x{}", crowd.bots(), crowd.symbols());
    Crowd::GROWTH.into_iter().find(named)
}
