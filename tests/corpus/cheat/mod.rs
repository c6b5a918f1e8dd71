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

/// For each check those that no other finds, so that they would escape without it, and those that others find.
const CAUGHT: [(Check, &str, &str); 11] = [
    (Check::Foresight, "c-knows-these-minutes c-recognises-these", "c-counts-through-them"),
    (
        Check::Determinism,
        "c-name-of-the-thread",
        "c-nanoseconds c-dice c-order-of-a-map c-address c-remembers-runs c-counts-for-all",
    ),
    (Check::Isolation, "", "c-shared-close c-only-one-of-us"),
    (
        Check::Warmup,
        "c-asks-for-all",
        "c-counts-in-fives c-says-too-little c-mean-of-all c-every-hundredth c-two-too-few \
         c-first-of-all c-counts-prices c-forming-candle",
    ),
    (Check::Restart, "c-afraid-of-holes c-counts-holes", ""),
    (Check::Memory, "c-keeps-all-closes c-keeps-a-log c-keeps-every-minute", ""),
    (Check::Numbers, "c-endless-number", "c-no-number"),
    (Check::Extremes, "c-divides-by-the-range c-poisoned-by-rest c-small-money", "c-needs-every-minute"),
    (Check::Files, "c-mean-of-the-file", "c-reads-the-next-row"),
    (Check::Clock, "c-only-in-the-past", ""),
    (Check::Speed, "c-takes-its-time", ""),
];

/// The cheats, each with its check and whether no other may find it.
pub(crate) fn caught() -> impl Iterator<Item = (&'static str, Check, bool)> {
    CAUGHT.into_iter().flat_map(|(check, alone, others)| {
        let named = |names: &'static str, is_alone: bool| {
            names.split_whitespace().map(move |name| (name, check, is_alone))
        };
        named(alone, true).chain(named(others, false))
    })
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
