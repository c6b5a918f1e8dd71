//! What was decided, as a line of the screen says it.

use super::screen::{BAD, DIM, GOOD, NOTE};
use candlewick_engine::{Edge, Judgement, Refused, RiskSettings};
use candlewick_sdk::visible;

/// A refusal, with the limit that it comes from where the limits in force are known.
pub(super) fn refusal_words(refused: &Refused, bot: &str, risk: Option<&RiskSettings>) -> String {
    let rule = risk.map_or_else(|| refused.rule.words(), |risk| refused.rule.words_within(risk, bot));
    let reason = refused.reason.to_string();
    format!("{DIM}{bot} {} refused: {rule} ({}){DIM:#}", refused.direction, visible(&reason))
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
