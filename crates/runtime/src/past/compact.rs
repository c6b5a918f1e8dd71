//! Compacted copies of a journal, published only if they restore the same state.

use super::fold::JournalFold;
use super::project::{Projection, project_journal};
use super::{damaged, read_header};
use crate::RuntimeError;
use candlewick_engine::SessionSettings;
use candlewick_journal::{Compaction, Holder, JournalUrl, Reader, Verified, compact};
use candlewick_sdk::Millis;
use std::path::Path;

/// Copies an idle journal without the candles and polls older than `keep` at its end; see
/// [`compact`].
///
/// A start from the copy must restore the same money, intents, limits, stakes and verdicts. This is
/// tested before the copy gets its name, and its tables are built.
pub async fn compact_journal(
    url: &JournalUrl,
    to: &Path,
    keep: Millis,
) -> Result<(Compaction, Verified), RuntimeError> {
    let mut source = Reader::open(url).await?;
    let copy = compact(url, to, keep).await?;
    if let Some(header) = source.last_run_header().await? {
        let session = read_header(header.seq, &header.line)?.settings.get("session").cloned();
        let settings: SessionSettings = serde_json::from_value(session.unwrap_or_default())
            .map_err(|error| damaged(header.seq, &error.to_string()))?;
        let mut made = Reader::open(copy.url()).await?;
        let is_same = comes_to(&mut source, &settings).await? == comes_to(&mut made, &settings).await?;
        made.close().await;
        if !is_same {
            return Err(RuntimeError::CompactionDiffers);
        }
        let holder = Holder::of_this_process("candlewick journal compact");
        project_journal(copy.url(), &holder, Projection::CatchUp).await?;
    }
    let made = (copy.compaction, copy.verified);
    copy.put_in_place()?;
    Ok(made)
}

async fn comes_to(reader: &mut Reader, settings: &SessionSettings) -> Result<Vec<String>, RuntimeError> {
    let (session, past, _) = JournalFold::read(reader, settings, 0).await?.into_parts();
    let unreadable = |error: serde_json::Error| damaged(0, &error.to_string());
    let mut all = vec![serde_json::to_string(&session.snapshot()).map_err(unreadable)?];
    for row in past.book.rows() {
        all.push(serde_json::to_string(&past.book.kept_row(row.approved.intent())).map_err(unreadable)?);
    }
    all.push(format!("{:?} {:?} {:?}", past.sent, past.doubted, past.book.totals()));
    all.push(format!("{:?} {:?} {:?}", past.unexplained, past.second_trades, past.alarms));
    all.push(format!("{:?} {:?} {:?} {:?}", past.found, past.is_halted, past.runs, past.began));
    Ok(all)
}
