//! Cheats that evade a plain comparison of runs: per instance, by shape, in getters, late, or behind the end.

mod ending;
mod shape;
mod state;

use crate::declare::by_name;
use candlewick_cli::App;

const CAUGHT: [(&str, &str); 6] = [
    (
        "determinism",
        "w-first-instance w-first-shown w-first-two-instances w-first-of-the-symbol w-warmup-changes \
         w-indicators-change w-conditions-change w-gate-changes w-expiries-change w-settlements-change",
    ),
    ("processes", "w-first-ten-instances w-language w-time-zone w-number-of-variables w-exits-elsewhere"),
    (
        "foresight",
        "w-shape-bits w-shape-signs w-shape-signs-both-ways w-shape-nearest w-shape-wicks w-shape-volume \
         w-shape-half w-shape-far",
    ),
    ("declaration", "w-own-expiry w-rare-expiry w-other-expiration-type"),
    ("warm-up", "w-every-5000th w-turns-after-4000 w-first-3000 w-sums-all"),
    ("isolation", "w-rounds-up w-rounds-to-zero-late w-flushes-subnormals w-rounds-when-built"),
];

pub(crate) fn caught() -> Vec<(&'static str, &'static str)> {
    by_name(&CAUGHT)
}

pub(crate) const ENDED: [(&str, &str); 11] = [
    ("w-exits-with-0", "the strategy ended the process with code 0"),
    ("w-exits-in-a-thread", "the strategy ended the process with code 0"),
    ("w-prints-a-report", "the strategy ended the process with code 0"),
    ("w-segfault", "the strategy was killed by SIGSEGV"),
    ("w-aborts", "the strategy was killed by SIGABRT"),
    ("w-overflows-the-stack", "the strategy was killed by SIG"),
    ("w-endless-loop", "did not finish within 6 s in its first run (candle 500)"),
    ("w-endless-warmup", "did not finish within 6 s in its first run"),
    ("w-endless-indicators", "did not finish within 6 s while checking determinism"),
    ("w-slow-after-2000", "did not finish within 6 s while checking"),
    ("w-panics-when-built", "panics when it is built: no such luck"),
];

pub(crate) fn add(app: App) -> App {
    let app = state::add(ending::add(app));
    shape::entries().into_iter().fold(app, App::with_strategy_entry)
}
