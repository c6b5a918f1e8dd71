//! Which pause refused a signal, and until when it lasted.

use crate::contents::JournalContents;
use crate::moment::utc;
use candlewick_engine::{EndedTrade, RiskSettings, pause_after};
use candlewick_journal::LineKind;
use candlewick_sdk::{Millis, Symbol};

/// `resting until 2026-01-05T12:46:00.000Z after 2 losses in a row`; none where the trades of the journal do not tell: those before a
/// compaction are gone, and with a resume of a person losses are counted anew.
pub(super) fn pause_at(
    contents: &JournalContents,
    risk: &RiskSettings,
    whose: (&str, Symbol),
    at: Millis,
) -> Option<String> {
    let is_resume = |body: &str| body.contains(r#""control":"resume""#);
    if contents.lines.iter().any(|stored| stored.line.kind == LineKind::Event && is_resume(&stored.line.body))
    {
        return None;
    }
    let ended = contents.intents().filter_map(|(row, origin)| {
        let settled = row.settled_at.filter(|settled| *settled <= at)?;
        Some(EndedTrade { bot: &origin.bot, symbol: origin.symbol, outcome: row.outcome?, at: settled })
    });
    let (pause, until) = pause_after(risk, whose, ended.collect(), at)?;
    Some(format!("resting until {} after {}", utc(until), pause.cause_words()))
}
