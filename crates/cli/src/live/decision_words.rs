//! What was decided, as a line of the screen says it.

use super::line::{BAD, BEFORE, BOLD, DIM, GOOD, NOTE};
use crate::wrap::columns_of;
use candlewick_engine::{Approved, Edge, Judgement, Lateness, Refused, RiskSettings};
use candlewick_sdk::{ExpirationType, Millis, MoneyScale, visible};
use console::Term;

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
    let reason = approved.reason().to_string();
    let reason = fitted(&visible(&reason), columns_of(&Term::stdout()));
    format!("#{intent} {bot} {BOLD}{direction} {symbol}{BOLD:#} {terms}{DIM}{reason}{DIM:#}")
}

/// A reason as far as one line of a terminal of so many columns has room for it; the journal has all of it.
fn fitted(reason: &str, columns: Option<usize>) -> String {
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(BEFORE));
    if reason.chars().count() <= room {
        return reason.to_owned();
    }
    reason.chars().take(room.saturating_sub(1)).chain(['\u{2026}']).collect()
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
    let reason = refused.reason.to_string();
    let reason = fitted(&visible(&reason), columns_of(&Term::stdout()));
    format!("{DIM}{bot} {} refused: {rule}   {reason}{DIM:#}", refused.direction)
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
        assert_eq!(fitted(reason, None), reason);
        // 58 columns, of which 25 are taken, leave 33: as many as it has letters.
        assert_eq!(fitted(reason, Some(58)), reason);
        assert_eq!(fitted(reason, Some(57)), "rsi(14) < 30 and close > sma(20\u{2026}");
        assert_eq!(fitted(reason, Some(40)), "rsi(14) < 30 a\u{2026}");
    }
}
