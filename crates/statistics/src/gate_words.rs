//! Text descriptions of a gate: its rule, and the distance to opening or closing.

use crate::{GateOpening, GateRule, GateStanding};
use std::fmt;

impl fmt::Display for GateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut closing = Vec::new();
        let Self { close_after_losses, close_after_wins, close_after_trades, .. } = *self;
        for (most, passed) in passed(close_after_losses, close_after_wins, close_after_trades) {
            if most > 0 {
                closing.push(format!("after {passed}"));
            }
        }
        let opening = match self.opening {
            GateOpening::AfterVirtualLosses(losses) => {
                format!("opens after {}", count(losses, "virtual loss", "virtual losses in a row"))
            }
            GateOpening::VerdictShown { payout, .. } => {
                format!("opens once an edge is shown at a payout of {:.2} %", payout * 100.0)
            }
            GateOpening::WinRate { rate, over } => {
                closing.push("below that".to_owned());
                format!("opens at a win rate of {:.2} % or more over the last {over} trades", rate * 100.0)
            }
        };
        if self.resets_daily {
            closing.push("with the day".to_owned());
        }
        let often = match self.openings {
            0 => String::new(),
            1 => ", once a day".to_owned(),
            times => format!(", {times} times a day"),
        };
        let closing = if closing.is_empty() { "never".to_owned() } else { closing.join(" or ") };
        write!(f, "{opening}{often}, closes {closing}")
    }
}

impl fmt::Display for GateStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_open {
            write!(f, "open: {}", self.until_closed())
        } else {
            write!(f, "closed: {}", self.until_open())
        }
    }
}

impl GateStanding {
    fn until_open(&self) -> String {
        let GateRule { openings, opening, .. } = self.rule;
        if openings > 0 && self.opened >= openings {
            return format!("it has opened {} of {} today", self.opened, count(openings, "time", "times"));
        }
        match opening {
            GateOpening::AfterVirtualLosses(losses) => {
                format!("{} of {}", self.losses, count(losses, "virtual loss", "virtual losses in a row"))
            }
            GateOpening::WinRate { rate, over } => {
                format!("{}, opens at {:.0} %", self.win_rate_words(over), rate * 100.0)
            }
            GateOpening::VerdictShown { .. } => {
                let [account, goal] = self.evidence;
                format!("evidence for an edge {account:.2} of {goal:.0}")
            }
        }
    }

    fn until_closed(&self) -> String {
        let rule = &self.rule;
        let mut parts = Vec::new();
        let most = passed(rule.close_after_losses, rule.close_after_wins, rule.close_after_trades);
        for (found, (most, passed)) in [self.losses, self.wins, self.trades].into_iter().zip(most) {
            if most > 0 {
                parts.push(format!("{found} of {passed}"));
            }
        }
        if let GateOpening::WinRate { rate, over } = rule.opening {
            parts.push(format!("{}, closes below {:.0} %", self.win_rate_words(over), rate * 100.0));
        }
        match (parts.is_empty(), rule.resets_daily) {
            (true, true) => "until the day ends".to_owned(),
            (true, false) => "nothing closes it".to_owned(),
            (false, _) => parts.join(", "),
        }
    }

    fn win_rate_words(&self, over: u32) -> String {
        let known = self.known;
        match self.win_rate() {
            None => format!("0 of {over} trades known"),
            Some(rate) if known < over => {
                format!("virtual win rate {:.0} % over {known} of {over}", rate * 100.0)
            }
            Some(rate) => format!("virtual win rate {:.0} % over {over}", rate * 100.0),
        }
    }
}

/// Describes what closes a gate, with counts.
///
/// A signal counts once it passes the gate, even if a limit rejects it afterwards; the text must
/// not claim more.
fn passed(losses: u32, wins: u32, trades: u32) -> [(u32, String); 3] {
    let of = |count: u32| if count == 1 { "of a signal it let pass" } else { "of signals it let pass" };
    [
        (losses, format!("{} {}", count(losses, "loss", "losses in a row"), of(losses))),
        (wins, format!("{} {}", count(wins, "win", "wins"), of(wins))),
        (trades, format!("{} it let pass", count(trades, "signal", "signals"))),
    ]
}

fn count(count: u32, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EdgeTestPlan, TradeGate, TradeOutcome};

    const HOOK: GateRule = GateRule::opening(GateOpening::AfterVirtualLosses(2));
    const RATE: GateRule = GateRule::opening(GateOpening::WinRate { rate: 0.6, over: 4 });

    #[test]
    fn a_gate_says_in_words_what_opens_and_closes_it() {
        for (rule, expected) in [
            (
                GateRule { close_after_trades: 1, ..HOOK },
                "opens after 2 virtual losses in a row, closes after 1 signal it let pass",
            ),
            (
                GateRule { close_after_losses: 2, ..RATE },
                "opens at a win rate of 60.00 % or more over the last 4 trades, closes after 2 losses in a row of signals it let pass or below that",
            ),
            (
                GateRule { close_after_wins: 1, close_after_losses: 1, ..HOOK },
                "opens after 2 virtual losses in a row, closes after 1 loss of a signal it let pass or after 1 win of a signal it let pass",
            ),
            (
                GateRule { resets_daily: true, openings: 1, close_after_trades: 2, ..HOOK },
                "opens after 2 virtual losses in a row, once a day, closes after 2 signals it let pass or with the day",
            ),
        ] {
            assert_eq!(rule.to_string(), expected);
        }
    }

    #[test]
    fn how_far_it_is_from_opening_and_closing_is_said_at_each_trade() {
        let test = EdgeTestPlan::new(0.05, 0.05, 0.04).unwrap();
        let verdict = GateRule::opening(GateOpening::VerdictShown { test, payout: 0.8 });
        let two = GateRule { close_after_losses: 2, close_after_trades: 3, ..HOOK };
        let once = GateRule { resets_daily: true, openings: 1, close_after_trades: 1, ..HOOK };
        for (rule, results, expected) in [
            (two, "", "closed: 0 of 2 virtual losses in a row"),
            (two, "WL", "closed: 1 of 2 virtual losses in a row"),
            (two, "LL", "open: 0 of 2 losses in a row of signals it let pass, 0 of 3 signals it let pass"),
            (two, "LLL", "open: 1 of 2 losses in a row of signals it let pass, 1 of 3 signals it let pass"),
            (two, "LLLW", "open: 0 of 2 losses in a row of signals it let pass, 2 of 3 signals it let pass"),
            (two, "LLLL", "closed: 0 of 2 virtual losses in a row"),
            (RATE, "", "closed: 0 of 4 trades known, opens at 60 %"),
            (RATE, "WLL", "closed: virtual win rate 33 % over 3 of 4, opens at 60 %"),
            (RATE, "WLLW", "closed: virtual win rate 50 % over 4, opens at 60 %"),
            (RATE, "WLWW", "open: virtual win rate 75 % over 4, closes below 60 %"),
            (once, "LLW", "closed: it has opened 1 of 1 time today"),
            (GateRule { openings: 0, close_after_trades: 0, ..once }, "LL", "open: until the day ends"),
            (verdict, "", "closed: evidence for an edge 1.00 of 20"),
        ] {
            let mut gate = TradeGate::new(rule).unwrap();
            for result in results.chars() {
                let trade = gate.on_decided();
                gate.on_ended(trade, if result == 'W' { TradeOutcome::Won } else { TradeOutcome::Lost });
            }
            assert_eq!(gate.standing().to_string(), expected, "{rule} after {results}");
        }
    }
}
