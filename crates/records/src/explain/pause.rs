//! Finds the pause that refused a signal, and its end.

use crate::contents::JournalContents;
use crate::error::RecordsError;
use crate::moment::utc;
use crate::refusal::rejection_in;
use candlewick_engine::{
    EndedTrade, IntentState, Rejection, RiskSettings, VenueAnswer, pause_after, refusal_pause_after,
};
use candlewick_journal::{LineKind, Reader};
use candlewick_sdk::{Millis, Symbol};

const MAX_REFUSALS: usize = 200;

/// Returns `resting until 2026-01-05T12:46:00.000Z after 2 losses in a row`.
///
/// `None` if the trades of the journal do not tell: a compaction removes older trades, and a manual
/// resume restarts the count of losses.
pub(super) fn pause_at(
    contents: &JournalContents,
    risk: &RiskSettings,
    whose: (&str, Symbol),
    at: Millis,
) -> Option<String> {
    if has_resume(contents) {
        return None;
    }
    let ended = contents.intents().filter_map(|(row, origin)| {
        let settled = row.settled_at.filter(|settled| *settled <= at)?;
        Some(EndedTrade { bot: &origin.bot, symbol: origin.symbol, outcome: row.outcome?, at: settled })
    });
    let (pause, until) = pause_after(risk, whose, ended.collect(), at)?;
    Some(format!("resting until {} after {}", utc(until), pause.cause_words()))
}

/// Returns the end and the cause of the pause: `until ... after 2 refusals by the venue in a row: ...`.
///
/// `None` if the journal does not tell.
pub(super) async fn refusal_pause_at(
    reader: &mut Reader,
    contents: &JournalContents,
    risk: &RiskSettings,
    (symbol, at): (Symbol, Millis),
) -> Result<Option<String>, RecordsError> {
    if has_resume(contents) {
        return Ok(None);
    }
    let answered = contents.intents().filter_map(|(row, origin)| {
        let answered = row.answered_at.filter(|answered| *answered <= at)?;
        Some((row.approved, row.state, origin.symbol, answered))
    });
    let mut answered: Vec<_> = answered.collect();
    answered.sort_by_key(|(_, _, _, at)| *at);
    let is_refused = |state: &IntentState| *state == IntentState::Rejected;
    let refused = answered.iter().filter(|(_, state, ..)| is_refused(state)).count();
    let mut skipped = refused.saturating_sub(MAX_REFUSALS);
    let mut answers = Vec::with_capacity(answered.len());
    for (approved, state, symbol, at) in answered {
        let refusal = match state {
            IntentState::Open | IntentState::Settled => None,
            IntentState::Rejected if skipped > 0 => {
                skipped -= 1;
                continue;
            }
            IntentState::Rejected => {
                let lines = reader.sound_lines_of(approved.intent().number()).await?;
                let Some(Rejection::Refused { reason, .. }) = rejection_in(&lines) else { continue };
                Some(reason)
            }
            _ => continue,
        };
        answers.push(VenueAnswer { symbol, decided: approved.decision_time(), at, refusal });
    }
    let pause = refusal_pause_after(risk, symbol, &answers, at);
    Ok(pause.map(|pause| format!("until {} after {}", utc(pause.until), pause.cause())))
}

fn has_resume(contents: &JournalContents) -> bool {
    let is_resume = |body: &str| body.contains(r#""control":"resume""#);
    contents.lines.iter().any(|stored| stored.line.kind == LineKind::Event && is_resume(&stored.line.body))
}
