//! Check that later candles do not change earlier decisions.

use super::bench::{Bench, Found, failed, passed};
use super::future::Future;
use super::subject::{Answer, Manner, first_difference};

const CUTS: usize = 7;
const FUTURE: usize = 80;

/// Feeds candles up to a cut, then another future.
///
/// Earlier decisions must stay the same. Also feeds each candle with decoys after it in memory. The
/// trait never passes a later candle, but a strategy may know them from elsewhere.
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

pub(super) fn behind(candle: usize) -> String {
    format!(
        "at candle {candle} it decides otherwise when other candles lie behind that one in memory: it reads beyond what it is \
         shown; use the fields of the candle alone"
    )
}
