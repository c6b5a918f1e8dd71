//! Fast reading of a journal, starting at the last snapshot.

use crate::error::{AppError, Result};
use candlewick_journal::Reader;
use candlewick_records::{FoldedJournal, JournalContents, RecordedRun, RecordsError};
use candlewick_runtime::{JournalFold, OldTrade, RuntimeError};

/// Reads a journal without its rejection and candle counts, and with only the displayed lines.
pub async fn read_recent(reader: &mut Reader) -> Result<JournalContents> {
    Ok(Box::pin(read(reader, false)).await?.0)
}

/// Like [`read_recent`], but also returns the trades of evicted intents, in order.
pub async fn read_recent_trades(reader: &mut Reader) -> Result<(JournalContents, Vec<OldTrade>)> {
    Box::pin(read(reader, true)).await
}

async fn read(reader: &mut Reader, only_trades: bool) -> Result<(JournalContents, Vec<OldTrade>)> {
    loop {
        let header = reader.last_run_header().await?.ok_or(RecordsError::NoRun)?;
        let begun = header.seq;
        let run = RecordedRun::read_all(&[header])?.pop().ok_or(RecordsError::NoRun)?;
        let fold = if only_trades {
            Box::pin(JournalFold::read_trades(reader, &run.settings)).await
        } else {
            Box::pin(JournalFold::read(reader, &run.settings, 0)).await
        };
        let fold = fold.map_err(to_app_error)?;
        if let Some(notice) = fold.notice() {
            tracing::info!("{notice}");
        }
        let (session, mut past, last) = fold.into_parts();
        let lines = reader.lines_by_number(&past.displayed_lines()).await?;
        let trades = past.take_old_trades();
        let last = reader.lines_by_number(&[last]).await?.pop().ok_or(RecordsError::NoRun)?;
        let decided = past.decisions().iter().map(|(id, at)| (*id, at.run, at.seq, at.bot, at.at)).collect();
        let contents = JournalContents::from_folded(FoldedJournal {
            session,
            is_halted: past.is_halted(),
            decided_intents: decided,
            book: past.into_book(),
            lines,
            last_line: last,
        })?;
        // Reads again if a new run has started in the meantime, because its settings may differ.
        if contents.last_run().seq == begun {
            return Ok((contents, trades));
        }
    }
}

fn to_app_error(error: RuntimeError) -> AppError {
    match error {
        RuntimeError::Journal(error) => error.into(),
        RuntimeError::UnreadableEntry { seq, problem } => {
            RecordsError::UnreadableEntry { seq, problem }.into()
        }
        other => other.into(),
    }
}
