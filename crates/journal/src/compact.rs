//! Backups and compacted copies of journals. A compacted copy omits old candles and old polling responses.

use crate::database::connection::{Connection, Purpose};
use crate::database::fault::WithUrl;
use crate::database::schema::{self, FoundSchema};
use crate::error::Result;
use crate::private_file::NewFile;
use crate::reader::EXCHANGES_MIN_SCHEMA;
use crate::{
    Head, Holder, JournalError, JournalUrl, JournalVerification, Line, LineKind, Reader, Store, StoredLine,
    exchange, is_snapshot, lease,
};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::path::Path;

const LINES_PER_PAGE: u32 = 5_000;
const LINES_PER_COMMIT: usize = 5_000;

/// Content of the first line of a compacted journal. `of` identifies the last line of the original journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    pub of: Head,
    pub since: Millis,
    pub candles: u64,
    /// Number of omitted API exchanges: all unsealed exchanges, and old exchanges that belong to no intent.
    pub exchanges: u64,
    /// Number of omitted snapshots. Snapshots are invalid after compaction, because it changes the line numbers.
    pub snapshots: u64,
}

#[derive(Serialize, Deserialize)]
struct CompactionNote {
    compacted: Compaction,
}

impl Compaction {
    pub fn from_line(line: &Line) -> Option<Self> {
        let is_note = line.kind == LineKind::Note && line.body.starts_with("{\"compacted\":");
        let note = is_note.then(|| serde_json::from_str::<CompactionNote>(&line.body).ok()).flatten();
        note.map(|note| note.compacted)
    }
}

pub struct CompactedCopy {
    file: NewFile,
    url: JournalUrl,
    pub compaction: Compaction,
    pub verification: JournalVerification,
}

impl CompactedCopy {
    pub const fn url(&self) -> &JournalUrl {
        &self.url
    }

    pub fn publish(self) -> Result<()> {
        self.file.publish()
    }
}

/// Verifies an idle journal, then writes a compacted copy with a new hash chain. The copy omits all snapshots.
/// Also omits candles, and exchanges without an intent, from more than `retention` before the last line.
pub async fn compact(url: &JournalUrl, to: &Path, retention: Millis) -> Result<CompactedCopy> {
    let mut reader = Reader::open(url).await?;
    let head = reader.head().await?;
    let last = reader.line_at(head).await?.map_or(Millis::ZERO, |stored| stored.line.received);
    let (since, mut candles, mut snapshots, mut first) = (last - retention, 0, 0, None);
    let verified = reader
        .verify_each(|stored| {
            candles += u64::from(is_old_candle(stored, since));
            snapshots += u64::from(is_snapshot(&stored.line.body));
            first.get_or_insert((stored.line.at, stored.line.received));
        })
        .await?;
    let of = Head { seq: verified.entries, hash: verified.head_hash };
    let exchanges = if reader.schema < EXCHANGES_MIN_SCHEMA {
        0
    } else {
        let first = reader.seals.next_seal(0).map_or(i64::MAX, |(first, _)| first.cast_signed());
        let text = "SELECT COUNT(*) FROM wires WHERE id < $1 OR (intent IS NULL AND sent < $2)";
        reader.fetch_count(text, &[first, since.get()]).await?
    };
    let compaction = Compaction { of, since, candles, exchanges, snapshots };
    let (file, _) = NewFile::create(to)?;
    let copy = JournalUrl::from_path(file.partial_path());
    let mut store = Store::open(&copy, &Holder::current_process("candlewick journal compact")).await?;
    let (at, received) = first.unwrap_or_default();
    let body = serde_json::to_string(&CompactionNote { compacted: compaction }).unwrap_or_default();
    store.record(Line { run: 0, kind: LineKind::Note, intent: None, at, received, body });
    let mut walk = reader.walk(LINES_PER_PAGE).await?;
    loop {
        let page = walk.next().await?;
        if page.is_empty() {
            break;
        }
        for stored in page {
            if let Some(ids) = exchange::sealed_ids(&stored.line.body) {
                for exchange in walk.reader().retained_exchanges(ids, since).await? {
                    store.record_exchange(exchange);
                }
                // Committing now writes the new seal at the position of the old seal.
                store.commit().await?;
            } else if !is_old_candle(&stored, since) && !is_snapshot(&stored.line.body) {
                store.record(stored.line);
            }
            if store.pending_count() >= LINES_PER_COMMIT {
                store.commit().await?;
            }
        }
    }
    store.close().await?;
    let mut made = Reader::open(&copy).await?;
    let verified = made.verify().await?;
    made.close().await;
    Ok(CompactedCopy { file, url: copy, compaction, verification: verified })
}

fn is_old_candle(stored: &StoredLine, since: Millis) -> bool {
    let line = &stored.line;
    line.kind == LineKind::Event && line.at < since && line.body.contains("\"event\":\"candle\"")
}

/// Copies a journal file. The copy has no lease holder, and it is verified before it receives its final name.
pub async fn back_up(url: &JournalUrl, to: &Path) -> Result<JournalVerification> {
    if url.file().is_none() {
        return Err(JournalError::OnServer { url: url.to_string() });
    }
    let mut source = Connection::open(url, Purpose::Read).await?;
    if schema::inspect(&mut source).await? == FoundSchema::Nothing {
        return Err(JournalError::NotFound { url: url.to_string() });
    }
    let (copy, _) = NewFile::create(to)?;
    let name = copy.partial_path().to_str().ok_or_else(|| JournalError::InvalidUrl {
        url: to.display().to_string(),
        reason: "the file name is not valid UTF-8".to_owned(),
    })?;
    // The statement runs in one read transaction, so the copy contains no part of a concurrent write.
    let copied = sqlx::query("VACUUM INTO $1").bind(name).execute(source.any_connection()).await;
    copied.with_url(&JournalUrl::from_path(to))?;
    source.close().await;
    let verified = verify_copy(copy.partial_path()).await.map_err(|error| with_original_url(error, url))?;
    copy.publish()?;
    Ok(verified)
}

async fn verify_copy(copy: &Path) -> Result<JournalVerification> {
    let url = JournalUrl::from_path(copy);
    let mut connection = Connection::open(&url, Purpose::Write).await?;
    lease::clear_holder(connection.any_connection(), &url).await?;
    connection.close().await;
    Reader::open(&url).await?.verify().await
}

fn with_original_url(error: JournalError, url: &JournalUrl) -> JournalError {
    match error {
        JournalError::BrokenChain { seq, reason, .. } => {
            JournalError::BrokenChain { url: url.to_string(), seq, reason }
        }
        other => other,
    }
}
