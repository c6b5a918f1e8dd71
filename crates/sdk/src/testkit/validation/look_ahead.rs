//! Whether what comes later changes what was decided before.

use super::bench::{Bench, Found, failed, passed};
use super::future::Future;
use super::subject::{Manner, first_difference};

/// Cuts of each market, and candles of another future after each.
const CUTS: usize = 7;
const FUTURE: usize = 40;

/// Shows candles up to a moment, and then another future: what a strategy decided before must stay what it was. No call of
/// the trait hands it a later candle; this holds whatever else it may know them from.
pub(super) fn look_ahead(bench: &Bench<'_>) -> Found {
    let length = bench.candles.len();
    for cut in (1..=CUTS).map(|k| k * length / (CUTS + 1) + k) {
        for future in Future::ALL {
            let candles = future.of(bench.candles, cut, FUTURE);
            let run = bench.subject.run(&candles, Manner::LIVE)?;
            let known = |answer: &&_| is_before(answer, cut);
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
    passed(format!("{CUTS} futures cut off, scrambled, reversed and mirrored change nothing before them"))
}

const fn is_before(answer: &super::subject::Answer, cut: usize) -> bool {
    answer.candle < cut
}
