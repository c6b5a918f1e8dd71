//! Whether what comes later changes what was decided before.

use super::bench::{Bench, Found, failed, passed};
use super::future::Future;
use super::subject::{Answer, Manner, first_difference};

/// Cuts of each market, and candles of another future after each: more than any horizon that is judged.
const CUTS: usize = 7;
const FUTURE: usize = 80;

/// Shows candles up to a moment, and then another future: what a strategy decided before must stay what it was. And shows each
/// candle where others lie behind it in memory than those that follow. No call of the trait hands it a later candle; this holds
/// whatever else it may know them from.
pub(super) fn look_ahead(bench: &Bench<'_>) -> Found {
    let length = bench.candles.len();
    for cut in (1..=CUTS).map(|k| k * length / (CUTS + 1) + k) {
        for future in Future::ALL {
            let candles = future.of(bench.candles, cut, FUTURE);
            let run = bench.subject.run(&candles, Manner::LIVE)?;
            let known = |answer: &&Answer| answer.candle < cut;
            if let Some(candle) =
                first_difference(run.iter().filter(known), bench.answers.iter().filter(known))
            {
                let how = future.name();
                return failed(format!(
                    "at candle {candle} it decides otherwise when what follows candle {} is {how}",
                    cut - 1
                ));
            }
        }
    }
    let apart = bench.subject.run_apart(bench.candles, Manner::LIVE)?;
    if let Some(candle) = first_difference(&apart, &bench.answers) {
        return failed(behind(candle));
    }
    passed(format!(
        "{CUTS} futures cut off, scrambled, reversed and mirrored change nothing before them, nor do other candles behind \
         each in memory"
    ))
}

/// What is said of a strategy that reads on behind the candle that it is shown.
pub(super) fn behind(candle: usize) -> String {
    format!(
        "at candle {candle} it decides otherwise when other candles lie behind that one in memory: it reads beyond what it is \
         shown; use the fields of the candle alone"
    )
}
