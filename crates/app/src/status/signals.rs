//! Counts the external signals of an unfinished run from its journal entries.

use crate::error::AppError;
use candlewick_engine::{Event, EventKind};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_records::read_refusal;
use candlewick_runtime::control::SignalTally;

/// Counts signals and decisions from a line on; `None` if there were no signals.
///
/// Dropped and malformed input is in no entry, so it is not counted.
pub(super) async fn signals_since(reader: &mut Reader, begun: u64) -> Result<Option<SignalTally>, AppError> {
    let lines = reader.outside_signals_from(begun).await?;
    let mut tally = SignalTally::default();
    let mut rest = &lines[..];
    while let [first, behind @ ..] = rest {
        rest = behind;
        let Some(door) = door_of(first) else { continue };
        let numbered = (first.seq + 1..).zip(behind);
        let answers =
            numbered.take_while(|(seq, next)| next.seq == *seq && next.line.kind == LineKind::Action);
        let mut decided = None;
        for (_, answer) in answers {
            decided = match read_refusal(answer)? {
                Some(refused) => Some(Err(refused.rule)),
                None if answer.line.intent.is_some() => Some(Ok(())),
                None => decided,
            };
        }
        tally.count(&door, decided);
    }
    Ok((!tally.is_empty()).then_some(tally))
}

fn door_of(stored: &StoredLine) -> Option<String> {
    let event: Event =
        serde_json::from_str(&stored.line.body).ok().filter(|_| stored.line.kind == LineKind::Event)?;
    match event.kind {
        EventKind::OutsideSignal(signal) => Some(signal.source.to_string()),
        _ => None,
    }
}
