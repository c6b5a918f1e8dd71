//! What was decided, as a line of the screen says it.

use super::screen::{BAD, BOLD, DIM, GOOD, NOTE};
use candlewick_engine::{Approved, Edge, Judgement, Lateness, Refused, RiskSettings};
use candlewick_sdk::{ExpirationType, Millis, MoneyScale, visible};

/// An approved trade.
pub(super) fn open_words(approved: &Approved, (bot, symbol): (&str, &str), scale: MoneyScale) -> String {
    let expiry = approved.expiry();
    let kind = match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => String::new(),
        other => format!(" {other}"),
    };
    let (intent, stake, direction) =
        (approved.intent(), scale.format(approved.stake()), approved.direction());
    let reason = approved.reason().to_string();
    format!(
        "#{intent} {bot} {BOLD}{direction} {symbol}{BOLD:#} {stake} for {}{kind}   {DIM}{}{DIM:#}",
        expiry.close_type,
        visible(&reason)
    )
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
