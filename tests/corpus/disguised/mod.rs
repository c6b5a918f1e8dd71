//! Cheats that hide from a plain comparison of runs: in one instance, in shapes, in getters, at the end of long runs, or behind the end of the
//! process.

mod ending;
mod instance;
mod mode;
mod rare;
mod shape;

use crate::declare::toward;
use candlewick_cli::App;
use candlewick_sdk::{Candle, Signal};

pub(crate) const CAUGHT: [(&str, &str); 37] = [
    ("w-first-instance", "determinism"),
    ("w-first-shown", "determinism"),
    ("w-first-two-instances", "determinism"),
    ("w-first-ten-instances", "processes"),
    ("w-first-of-the-symbol", "determinism"),
    ("w-shape-bits", "foresight"),
    ("w-shape-rounded", "foresight"),
    ("w-shape-signs", "foresight"),
    ("w-shape-signs-both-ways", "foresight"),
    ("w-shape-nearest", "foresight"),
    ("w-shape-nearest-long", "foresight"),
    ("w-shape-wicks", "foresight"),
    ("w-shape-volume", "foresight"),
    ("w-shape-half", "foresight"),
    ("w-shape-far", "foresight"),
    ("w-warmup-changes", "determinism"),
    ("w-indicators-change", "determinism"),
    ("w-conditions-change", "determinism"),
    ("w-gate-changes", "determinism"),
    ("w-expiries-change", "determinism"),
    ("w-settlements-change", "determinism"),
    ("w-own-expiry", "declaration"),
    ("w-rare-expiry", "declaration"),
    ("w-other-expiration-type", "declaration"),
    ("w-every-5000th", "warm-up"),
    ("w-turns-after-4000", "warm-up"),
    ("w-first-3000", "warm-up"),
    ("w-sums-all", "warm-up"),
    ("w-rounds-up", "isolation"),
    ("w-rounds-to-zero-late", "isolation"),
    ("w-flushes-subnormals", "isolation"),
    ("w-rounds-when-built", "isolation"),
    ("w-home-of-the-user", "processes"),
    ("w-language", "processes"),
    ("w-time-zone", "processes"),
    ("w-number-of-variables", "processes"),
    ("w-exits-elsewhere", "processes"),
];

pub(crate) const ENDED: [(&str, &str); 12] = [
    ("w-exits-with-0", "the strategy ended the process with code 0"),
    ("w-exits-when-built-again", "the strategy ended the process with code 0"),
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

fn follow(candle: &Candle) -> Option<Signal> {
    toward(candle.close() - candle.open(), "goes on")
}

pub(crate) fn add(app: App) -> App {
    let app = instance::add(ending::add(app));
    mode::add(rare::add(shape::add(app)))
}
