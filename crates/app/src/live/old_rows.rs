//! Settled intents that a run has evicted from memory, read back from its journal.

use super::JournalSession;
use crate::error::AppError;
use candlewick_engine::{BotSettings, IntentId, IntentRow, SessionSettings, StakeSettings};
use candlewick_journal::{JournalUrl, Reader};
use candlewick_runtime::{Finished, JournalFold, RuntimeError, RuntimeSettings, Standing};
use std::collections::BTreeMap;

/// Returns the journal of evicted intents.
///
/// Without a journal, nothing is evicted, because it would be lost.
pub(super) fn where_they_are(journal: &JournalSession, runtime: &mut RuntimeSettings) -> Option<JournalUrl> {
    let url = journal.url();
    if url.is_none() {
        runtime.remember_s = 0;
    }
    url
}

/// Completes the book of a finished run with its evicted intents.
///
/// If the journal can no longer be read, the figures lack them and a warning is logged.
pub(super) async fn filled(
    finished: Result<Finished, RuntimeError>,
    url: Option<&JournalUrl>,
    settings: &SessionSettings,
) -> Result<Finished, RuntimeError> {
    let mut finished = finished?;
    let Some(url) = url.filter(|_| finished.forgotten > 0) else { return Ok(finished) };
    match fold(url, settings).await {
        Ok(fold) => {
            finished.book = finished.book.filled_from(fold.past().book(), finished.first_intent);
            finished.forgotten = 0;
        }
        Err(error) => tracing::warn!(
            "the figures of this run lack {} trades and refusals that were over early, as the journal cannot be read again: {}",
            finished.forgotten,
            error.text()
        ),
    }
    Ok(finished)
}

pub(super) async fn whole(
    standing: &Standing,
    url: Option<&JournalUrl>,
    settings: &SessionSettings,
) -> Result<Standing, AppError> {
    let is_alike = |bot: &BotSettings| matches!(bot.stake, StakeSettings::Fixed { .. });
    let is_needed = standing.forgotten > 0 && !settings.bots.iter().all(is_alike);
    let Some(url) = url.filter(|_| is_needed) else { return Ok(standing.clone()) };
    let mut reader = Reader::open(url).await?;
    let fold = JournalFold::read_rows(&mut reader, settings).await;
    reader.close().await;
    let (session, past, _) = fold?.into_parts();
    // What the run knows of an intent is newer than what is durable.
    let known = Standing::of_past(&session, &past).rows.into_iter().chain(standing.rows.iter().copied());
    let rows: BTreeMap<IntentId, IntentRow> = known.map(|row| (row.approved.intent(), row)).collect();
    Ok(Standing { rows: rows.into_values().collect(), forgotten: 0, ..standing.clone() })
}

async fn fold(url: &JournalUrl, settings: &SessionSettings) -> Result<JournalFold, AppError> {
    let mut reader = Reader::open(url).await?;
    let fold = JournalFold::read(&mut reader, settings, 0).await;
    reader.close().await;
    Ok(fold?)
}
