//! One run of a work of the bench, or of its loop by hand, for whoever counts instructions or takes samples:
//! `one_run <single|every-rule|crowd|extremes> <backtest|by-hand> [candles]`. `BENCHMARKS.md` has the commands.

use candlewick_backtest::bench::{Work, WorkKind};
use std::hint::black_box;
use std::process::ExitCode;

const CANDLES: usize = 200_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [kind, side] => run(kind, side, CANDLES),
        [kind, side, candles] => candles.parse().ok().and_then(|candles| run(kind, side, candles)),
        _ => None,
    }
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Nothing where an argument is none of those it may be.
fn run(kind: &str, side: &str, candles: usize) -> Option<()> {
    let kind = match kind {
        "single" => WorkKind::Single,
        "every-rule" => WorkKind::EveryRule,
        "crowd" => WorkKind::Crowd,
        "extremes" => WorkKind::Extremes,
        _ => return None,
    };
    let work = Work::new(kind, candles).ok()?;
    match side {
        "backtest" => work.run().ok().map(|_| ()),
        "by-hand" => {
            black_box(work.run_by_hand());
            Some(())
        }
        _ => None,
    }
}
