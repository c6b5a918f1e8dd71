//! What was decided, as a line of the screen says it.

use super::screen::{BAD, BOLD, DIM, GOOD, NOTE};
use crate::wrap::columns_of;
use candlewick_engine::{Approved, Edge, Judgement, Lateness, Refused, RiskSettings};
use candlewick_sdk::{ExpirationType, Millis, MoneyScale, visible};
use console::Term;

/// Columns of the time and the label before a line's text.
const BEFORE: usize = 25;
/// Columns that a reason has at least: in fewer nothing is said.
const LEAST: usize = 12;

/// An approved trade.
pub(super) fn open_words(approved: &Approved, (bot, symbol): (&str, &str), scale: MoneyScale) -> String {
    let expiry = approved.expiry();
    let kind = match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => String::new(),
        other => format!(" {other}"),
    };
    let (intent, stake, direction) =
        (approved.intent(), scale.format(approved.stake()), approved.direction());
    let terms = format!("{stake} for {}{kind}   ", expiry.close_type);
    let taken = format!("#{intent} {bot} {direction} {symbol} {terms}").chars().count();
    let reason = approved.reason().to_string();
    let reason = fitted(&visible(&reason), taken, columns_of(&Term::stdout()));
    format!("#{intent} {bot} {BOLD}{direction} {symbol}{BOLD:#} {terms}{DIM}{reason}{DIM:#}")
}

/// A reason as far as a terminal of so many columns has room for it behind what stands before it; the journal has all of it.
fn fitted(reason: &str, taken: usize, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(BEFORE + taken).max(LEAST));
    if reason.chars().count() <= room {
        return reason.to_owned();
    }
    reason.chars().take(room - 1).chain(['\u{2026}']).collect()
}

/// A refusal, with the limit that it comes from where the limits in force are known, and with how late its signal was.
pub(super) fn refusal_words(
    refused: &Refused,
    (bot, interval): (&str, Millis),
    received: Millis,
    risk: Option<&RiskSettings>,
) -> String {
    let rule = risk.map_or_else(|| refused.rule.words(), |risk| refused.rule.words_within(risk, bot));
    let lateness = Lateness::of((refused.decision_time, received), interval, risk);
    let rule = refused.rule.with_lateness(rule, lateness);
    let before = format!("{bot} {} refused: {rule} (", refused.direction);
    let reason = refused.reason.to_string();
    let reason = fitted(&visible(&reason), before.chars().count() + 1, columns_of(&Term::stdout()));
    format!("{DIM}{before}{reason}){DIM:#}")
}

/// A verdict that fell.
pub(super) fn verdict_words(judgement: &Judgement, bot: &str) -> String {
    let (style, text) = match judgement.edge {
        Edge::Open => (NOTE, "is open"),
        Edge::Shown => (GOOD, "is shown"),
        Edge::Rejected => (BAD, "is ruled out"),
        Edge::NoLongerHeld => (BAD, "no longer holds"),
    };
    format!("{bot}: its edge {style}{text}{style:#} after {} trades", judgement.trades)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_ends_where_the_terminal_does_and_nowhere_else() {
        let reason = "rsi(14) < 30 and close > sma(200)";
        assert_eq!(fitted(reason, 30, None), reason);
        // 100 columns, of which 25 and 42 are taken, leave 33: as many as it has letters.
        assert_eq!(fitted(reason, 42, Some(100)), reason);
        assert_eq!(fitted(reason, 43, Some(100)), "rsi(14) < 30 and close > sma(20\u{2026}");
        assert_eq!(fitted(reason, 60, Some(40)), "rsi(14) < 3\u{2026}");
    }
}
