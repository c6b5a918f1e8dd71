//! Whether what comes later changes what was decided before.

use super::bench::{Bench, Found, failed, passed};
use super::future::Future;
use super::subject::{Manner, first_difference};

/// Cuts of each market, and candles of another future after each.
const CUTS: usize = 7;
const FUTURE: usize = 40;

/// All candles at once, as a backtest may show them.
const TOGETHER: Manner = Manner { together: usize::MAX, ..Manner::LIVE };

/// Shows candles in one call and in small ones, and then the first of them with another future: what a strategy decides
/// at a candle must be what it decides when shown one candle at a time.
pub(super) fn look_ahead(bench: &Bench<'_>) -> Found {
    // Without results nothing comes between candles, and calls are longest.
    let alone = Manner { together: usize::MAX, ..Manner::ALONE };
    let calls = [
        (TOGETHER, &bench.answers),
        (Manner { together: 7, ..TOGETHER }, &bench.answers),
        (alone, &bench.alone),
    ];
    for (manner, single) in calls {
        let run = bench.subject.run(bench.candles, manner)?;
        if let Some(candle) = first_difference(&run, single) {
            return failed(format!(
                "at candle {candle} it decides otherwise when later candles are shown in the same call"
            ));
        }
    }
    let length = bench.candles.len();
    for cut in (1..=CUTS).map(|k| k * length / (CUTS + 1) + k) {
        for future in Future::ALL {
            let candles = future.of(bench.candles, cut, FUTURE);
            let run = bench.subject.run(&candles, TOGETHER)?;
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
