//! Text about the opening or closing of a gate.

use crate::moment::utc;
use candlewick_sdk::{EndedSignal, GateMove};

/// Formats `closed at 2026-01-05T08:14:00Z, when the BUY of 2026-01-05T08:13:00Z won`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Direction, Millis};

    #[test]
    fn a_gate_says_when_it_moved_and_by_which_signal() {
        // 2026-01-05 08:14 UTC, by `date -d @1767600840`.
        let at = Millis::new(1_767_600_840_000);
        let by = EndedSignal { decided: at - Millis::MINUTE, direction: Direction::Buy, won: true };
        for (is_open, by, expected) in [
            (
                false,
                Some(by),
                "closed at 2026-01-05T08:14:00.000Z, when the BUY of 2026-01-05T08:13:00.000Z won",
            ),
            (
                true,
                Some(EndedSignal { direction: Direction::Sell, won: false, ..by }),
                "opened at 2026-01-05T08:14:00.000Z, when the SELL of 2026-01-05T08:13:00.000Z lost",
            ),
            (false, None, "closed at 2026-01-05T08:14:00.000Z"),
        ] {
            assert_eq!(gate_move(&GateMove { at, is_open, by }), expected);
        }
    }
}
