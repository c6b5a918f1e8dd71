//! Planted cheats: each does one thing that no strategy may, and the check that is named for it must find it.

mod ahead;
mod breaking;
mod chance;
mod file;
mod growing;
mod history;
mod shared;

use candlewick_cli::App;
use candlewick_sdk::testkit::Check;

pub(crate) const CAUGHT_BY: [(&str, Check, Care); 36] = [
    ("c-knows-these-minutes", Check::Foresight, Care::Careful),
    ("c-recognises-these", Check::Foresight, Care::Careful),
    ("c-counts-through-them", Check::Foresight, Care::Careless),
    ("c-nanoseconds", Check::Determinism, Care::Careless),
    ("c-dice", Check::Determinism, Care::Careless),
    ("c-order-of-a-map", Check::Determinism, Care::Careless),
    ("c-address", Check::Determinism, Care::Careless),
    ("c-remembers-runs", Check::Determinism, Care::Careless),
    ("c-counts-for-all", Check::Determinism, Care::Careless),
    ("c-name-of-the-thread", Check::Determinism, Care::Careful),
    ("c-shared-close", Check::Isolation, Care::Careless),
    ("c-only-one-of-us", Check::Isolation, Care::Careless),
    ("c-counts-in-fives", Check::Warmup, Care::Careless),
    ("c-says-too-little", Check::Warmup, Care::Careless),
    ("c-mean-of-all", Check::Warmup, Care::Careless),
    ("c-every-hundredth", Check::Warmup, Care::Careless),
    ("c-two-too-few", Check::Warmup, Care::Careless),
    ("c-first-of-all", Check::Warmup, Care::Careless),
    ("c-asks-for-all", Check::Warmup, Care::Careful),
    ("c-counts-prices", Check::Warmup, Care::Careless),
    ("c-forming-candle", Check::Warmup, Care::Careless),
    ("c-afraid-of-holes", Check::Restart, Care::Careful),
    ("c-counts-holes", Check::Restart, Care::Careful),
    ("c-keeps-all-closes", Check::Memory, Care::Careful),
    ("c-keeps-a-log", Check::Memory, Care::Careful),
    ("c-keeps-every-minute", Check::Memory, Care::Careful),
    ("c-endless-number", Check::Numbers, Care::Careful),
    ("c-no-number", Check::Numbers, Care::Careless),
    ("c-divides-by-the-range", Check::Extremes, Care::Careful),
    ("c-poisoned-by-rest", Check::Extremes, Care::Careful),
    ("c-needs-every-minute", Check::Extremes, Care::Careless),
    ("c-small-money", Check::Extremes, Care::Careful),
    ("c-reads-the-next-row", Check::Files, Care::Careless),
    ("c-mean-of-the-file", Check::Files, Care::Careful),
    ("c-only-in-the-past", Check::Clock, Care::Careful),
    ("c-takes-its-time", Check::Speed, Care::Careful),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Every other check passes: without this one it would escape.
    Careful,
    /// Others find it as well.
    Careless,
}

pub(crate) fn add(app: App, names: &mut Vec<&'static str>) -> App {
    let app = ahead::add(app, names);
    let app = chance::add(app, names);
    let app = shared::add(app, names);
    let app = history::add(app, names);
    let app = growing::add(app, names);
    let app = breaking::add(app, names);
    file::add(app, names)
}
