//! What opened or closed a gate, in words.

use crate::moment::utc;
use candlewick_sdk::{EndedSignal, GateMove};

/// `closed at 2026-01-05T08:14:00Z, when the BUY of 2026-01-05T08:13:00Z won`.
pub(super) fn gate_move(moved: &GateMove) -> String {
    let what = if moved.is_open { "opened" } else { "closed" };
    let at = utc(moved.at);
    match moved.by {
        Some(EndedSignal { decided, direction, won }) => {
            let result = if won { "won" } else { "lost" };
            format!("{what} at {at}, when the {direction} of {} {result}", utc(decided))
        }
        None => format!("{what} at {at}"),
    }
}
