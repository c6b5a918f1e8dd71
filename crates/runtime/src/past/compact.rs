//! Offline maintenance of a journal: compaction, and updates of its tables.

use super::fold::JournalFold;
use super::{read_header, unreadable_entry};
use crate::RuntimeError;
use crate::error::Result;
use candlewick_engine::SessionSettings;
use candlewick_journal::{
    Compaction, Head, Holder, IntentRows as _, JournalUrl, JournalVerification, ProjectionProgress,
    Projector, Reader, Store, compact,
};
use candlewick_sdk::Millis;
use std::path::Path;

/// Copies a journal without candles and polls older than `keep` (see [`compact`]). The journal must not be in use.
/// Gives the copy its final name after checking that it restores the same state, and updating its tables.
pub async fn compact_journal(
    url: &JournalUrl,
    to: &Path,
    keep: Millis,
) -> Result<(Compaction, JournalVerification)> {
    let mut source = Reader::open(url).await?;
    let copy = compact(url, to, keep).await?;
    if let Some(settings) = last_settings(&mut source).await? {
        let mut made = Reader::open(copy.url()).await?;
        let is_same = dump_state(&mut source, &settings).await? == dump_state(&mut made, &settings).await?;
        made.close().await;
        if !is_same {
            return Err(RuntimeError::CompactionDiffers);
        }
        let holder = Holder::current_process("candlewick journal compact");
        project_journal(copy.url(), &holder, Projection::CatchUp).await?;
    }
    let made = (copy.compaction, copy.verification);
    copy.publish()?;
    Ok(made)
}

async fn dump_state(reader: &mut Reader, settings: &SessionSettings) -> Result<Vec<String>> {
    let (session, past, _) = JournalFold::read(reader, settings, 0).await?.into_parts();
    let unreadable = |error: serde_json::Error| unreadable_entry(0, &error.to_string());
    let mut all = vec![serde_json::to_string(&session.snapshot()).map_err(unreadable)?];
    for row in past.book.rows() {
        all.push(serde_json::to_string(&past.book.stored_row(row.approved.intent())).map_err(unreadable)?);
    }
    all.push(format!("{:?} {:?} {:?}", past.sent, past.in_doubt_since, past.book.stored_counts()));
    all.push(format!("{:?} {:?} {:?}", past.unexplained, past.second_trades, past.alarms));
    all.push(format!("{:?} {:?} {:?} {:?}", past.findings, past.is_halted, past.runs, past.began));
    Ok(all)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    CatchUp,
    Rebuild,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectionResult {
    pub last_entry: Head,
    pub intents: u64,
}

/// Updates the tables of a journal up to its last entry. Takes the journal's lease, so no run may hold the lease.
pub async fn project_journal(
    url: &JournalUrl,
    holder: &Holder,
    projection: Projection,
) -> Result<ProjectionResult> {
    // The reader is opened first, because opening it fails if the journal does not exist.
    let mut reader = Reader::open(url).await?;
    let mut store = Store::open(url, holder).await?;
    let projected = project(&mut reader, &mut store, projection).await;
    // The reader is closed first. The last connection to close merges the write-ahead log into the file.
    reader.close().await;
    store.close().await?;
    projected
}

async fn project(reader: &mut Reader, store: &mut Store, projection: Projection) -> Result<ProjectionResult> {
    let settings =
        last_settings(reader).await?.ok_or_else(|| unreadable_entry(0, "the journal has no run yet"))?;
    let (_, past, _) = JournalFold::read(reader, &settings, 0).await?.into_parts();
    let mut projector = match projection {
        Projection::CatchUp => Projector::from_head(store.head()),
        Projection::Rebuild => Projector::for_rebuild(store.head()),
    };
    loop {
        if let ProjectionProgress::Complete(up_to) = projector.write_batch(store, &past).await? {
            return Ok(ProjectionResult { last_entry: up_to, intents: past.last_intent() });
        }
    }
}

async fn last_settings(reader: &mut Reader) -> Result<Option<SessionSettings>> {
    let Some(header) = reader.last_run_header().await? else { return Ok(None) };
    let session = read_header(header.seq, &header.line)?.settings.get("session").cloned();
    let settings = serde_json::from_value(session.unwrap_or_default());
    settings.map(Some).map_err(|error| unreadable_entry(header.seq, &error.to_string()))
}
