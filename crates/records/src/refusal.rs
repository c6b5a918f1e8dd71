//! Parsing of recorded refusals.

use crate::error::RecordsError;
use candlewick_engine::{BotId, Event, EventKind, Refused, Rejection, Rule};
use candlewick_journal::{LineKind, StoredLine};
use candlewick_sdk::{Direction, Millis, Reason};
use serde::Deserialize;

/// Parses a refusal without its reason, which only the text of the line contains.
pub fn read_refusal(stored: &StoredLine) -> Result<Option<Refused>, RecordsError> {
    #[derive(Deserialize)]
    struct Recorded {
        bot: BotId,
        decision_time: Millis,
        direction: Direction,
        rule: String,
    }
    if stored.line.kind != LineKind::Action || !stored.line.body.starts_with(r#"{"action":"refuse""#) {
        return Ok(None);
    }
    let recorded: Recorded =
        serde_json::from_str(&stored.line.body).map_err(|error| RecordsError::unreadable(stored, error))?;
    let rule = Rule::ALL.into_iter().find(|rule| rule.as_str() == recorded.rule);
    let Recorded { bot, decision_time, direction, rule: name } = recorded;
    let rule =
        rule.ok_or_else(|| RecordsError::unreadable(stored, format!("there is no rule \"{name}\"")))?;
    Ok(Some(Refused { bot, decision_time, direction, rule, reason: Reason::new("") }))
}

pub(crate) fn rejection_in(lines: &[StoredLine]) -> Option<Rejection> {
    let events = lines.iter().filter(|stored| stored.line.kind == LineKind::Event);
    let mut events = events.filter_map(|stored| serde_json::from_str::<Event>(&stored.line.body).ok());
    events.find_map(|event| match event.kind {
        EventKind::Rejected { rejection, .. } => Some(rejection),
        _ => None,
    })
}
