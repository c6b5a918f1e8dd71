//! By which check each cheat of the trial is caught.

use crate::declare::by_name;

/// The cheats by the check that catches each for certain; `t-hour` has none, as `strategy check` says.
const CAUGHT: [(&str, &str); 9] = [
    (
        "look-ahead",
        "t-next-by-pointer t-thirty-by-pointer t-sixty-by-pointer t-third-by-pointer t-filter-by-pointer \
         t-volume-by-pointer u-one-in-ten-by-pointer",
    ),
    ("foresight", "t-sleeper t-table-by-time t-table-by-close t-table-third t-table-thirty t-best-minutes"),
    ("outside", "t-nearest-neighbour t-notes-file t-uptime t-machine u-file-of-the-system u-child-process"),
    (
        "determinism",
        "t-static-map t-counter t-hash-order u-every-second-instance u-racing-thread u-stopwatch \
         u-map-of-the-thread",
    ),
    (
        "processes",
        "t-once-model t-rival-symbol t-environment t-working-directory t-arguments t-address t-bot-name \
         u-process-id u-port",
    ),
    ("memory", "t-grows-per-settlement"),
    ("", "t-hour"),
    ("declaration", "t-declared-future t-declared-other"),
    ("isolation", "u-luck-of-all"),
];

pub(crate) fn caught() -> Vec<(&'static str, &'static str)> {
    by_name(&CAUGHT)
}
