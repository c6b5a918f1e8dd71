//! Brings the tables of an idle journal up to date.

use super::fold::JournalFold;
use super::{damaged, read_header};
use crate::RuntimeError;
use candlewick_engine::SessionSettings;
use candlewick_journal::{
    Head, Holder, IntentRows as _, JournalUrl, ProjectionEnd, Projector, Reader, Store,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    CatchUp,
    Anew,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Projected {
    pub up_to: Head,
    pub intents: u64,
}

/// Brings the tables of a journal up to its last entry. Locks the journal, so no bot may write it.
pub async fn project_journal(
    url: &JournalUrl,
    holder: &Holder,
    projection: Projection,
) -> Result<Projected, RuntimeError> {
    // None is made where there is none.
    let mut reader = Reader::open(url).await?;
    let mut store = Store::open(url, holder).await?;
    let projected = project(&mut reader, &mut store, projection).await;
    // Who lets go last brings a file's log of changes into the file.
    reader.close().await;
    store.close().await?;
    projected
}

async fn project(
    reader: &mut Reader,
    store: &mut Store,
    projection: Projection,
) -> Result<Projected, RuntimeError> {
    let header = reader.last_run_header().await?;
    let header = header.ok_or_else(|| damaged(0, "the journal has no run yet"))?;
    let session = read_header(header.seq, &header.line)?.settings.get("session").cloned();
    let settings: SessionSettings = serde_json::from_value(session.unwrap_or_default())
        .map_err(|error| damaged(header.seq, &error.to_string()))?;
    let (_, past, _) = JournalFold::read(reader, &settings, 0).await?.into_parts();
    let mut projector = match projection {
        Projection::CatchUp => Projector::after(store.head()),
        Projection::Anew => Projector::anew(store.head()),
    };
    loop {
        if let ProjectionEnd::Complete(up_to) = projector.keep_piece(store, &past).await? {
            return Ok(Projected { up_to, intents: past.last_intent() });
        }
    }
}
