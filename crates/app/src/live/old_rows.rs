//! Intents that a run has forgotten because they were over, as its journal has them.

use super::JournalSession;
use crate::error::AppError;
use candlewick_engine::{BotSettings, IntentId, IntentRow, SessionSettings, StakeSettings};
use candlewick_journal::{JournalUrl, Reader};
use candlewick_runtime::{Finished, JournalFold, RuntimeError, RuntimeSettings, Standing};
use std::collections::BTreeMap;

/// The journal that has them. A run without one forgets nothing: nobody else would know it.
pub(super) fn where_they_are(journal: &JournalSession, runtime: &mut RuntimeSettings) -> Option<JournalUrl> {
    let url = journal.url();
    if url.is_none() {
        runtime.remember_s = 0;
    }
    url
}

/// What a run came to, its book filled with what it has forgotten. A journal that cannot be read any more leaves the figures without
/// that, and says so.
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

/// What stands with the intents that the run has forgotten, where any stake depends on them.
///
/// # Errors
/// The journal cannot be read.
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
