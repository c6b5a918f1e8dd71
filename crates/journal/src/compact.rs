//! A journal without its old candles and polls, made as a file of its own: there whole, or not at all. Its first line says of which journal it is
//! and what was left out.

use crate::new_file::NewFile;
use crate::reader::EXCHANGES_SINCE;
use crate::{
    Head, Holder, JournalError, JournalUrl, Line, LineKind, Reader, Store, StoredLine, Verified, is_snapshot,
    seal,
};
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Lines read at once.
const PAGE: u32 = 5_000;

/// Lines of one transaction.
const COMMIT: usize = 5_000;

/// What the first line of a compacted journal says. The hash of the last line of the journal that it was made from stands for all of
/// that: whoever has that journal can show that this one is of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The last line of the journal that it was made from.
    pub of: Head,
    /// Candles and polls from this venue time on were kept.
    pub since: Millis,
    /// How many older candles were left out.
    pub candles: u64,
    /// How many raw exchanges about no intent were left out for their age, or because no seal covered them.
    pub exchanges: u64,
    /// How many lines of snapshots: they name lines by other numbers. The next run writes its own.
    pub snapshots: u64,
}

#[derive(Serialize, Deserialize)]
struct Note {
    compacted: Compaction,
}

impl Compaction {
    /// What a line says of it; none of a line that is no such note.
    pub fn of_line(line: &Line) -> Option<Self> {
        let is_note = line.kind == LineKind::Note && line.body.starts_with("{\"compacted\":");
        is_note.then(|| serde_json::from_str::<Note>(&line.body).ok()).flatten().map(|note| note.compacted)
    }
}

/// A compacted journal that has not got its name yet; dropped before, nothing is left of it.
pub struct CompactedCopy {
    file: NewFile,
    url: JournalUrl,
    /// What was left out.
    pub compaction: Compaction,
    /// Its own chain.
    pub verified: Verified,
}

impl CompactedCopy {
    /// Where it is until it has its name.
    pub const fn url(&self) -> &JournalUrl {
        &self.url
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// [`JournalError::JournalExists`] when the name is taken by now, or the folder cannot be written.
    pub fn put_in_place(self) -> Result<(), JournalError> {
        self.file.put_in_place()
    }
}

/// Makes a copy of a journal, which has to stand still, in a file that is not there yet: without the candles, and the exchanges about no intent, that are older than `keep` at its
/// last line, and without snapshots. All other lines keep their order and their content, in a chain of their own. The journal
/// is verified first and stays as it is.
///
/// # Errors
/// [`JournalError::JournalExists`] when the file is there, [`JournalError::BrokenChain`] for a journal that is not as it was written, and
/// what else keeps it from being read or the copy from being made.
pub async fn compact(url: &JournalUrl, to: &Path, keep: Millis) -> Result<CompactedCopy, JournalError> {
    let mut reader = Reader::open(url).await?;
    let head = reader.head().await?;
    let last = reader.line_at(head).await?.map_or(Millis::ZERO, |stored| stored.line.received);
    let (since, mut candles, mut snapshots, mut first) = (last - keep, 0, 0, None);
    let verified = reader
        .verify_each(|stored| {
            candles += u64::from(is_old_candle(stored, since));
            snapshots += u64::from(is_snapshot(&stored.line.body));
            first.get_or_insert((stored.line.at, stored.line.received));
        })
        .await?;
    let of = Head { seq: verified.entries, hash: verified.head_hash };
    let exchanges = reader.old_exchanges(since).await?;
    let compaction = Compaction { of, since, candles, exchanges, snapshots };
    let (file, _) = NewFile::create(to)?;
    let copy = JournalUrl::from_path(file.partial());
    let mut store = Store::open(&copy, &Holder::of_this_process("candlewick journal compact")).await?;
    let (at, received) = first.unwrap_or_default();
    let body = serde_json::to_string(&Note { compacted: compaction }).unwrap_or_default();
    store.record(Line { run: 0, kind: LineKind::Note, intent: None, at, received, body });
    let mut walk = reader.walk(PAGE).await?;
    loop {
        let page = walk.next().await?;
        if page.is_empty() {
            break;
        }
        for stored in page {
            if let Some(ids) = seal::exchanges_of(&stored.line.body) {
                for exchange in walk.reader().kept_exchanges(ids, since).await? {
                    store.record_exchange(exchange);
                }
                // Sealed where they were.
                store.commit().await?;
            } else if !is_old_candle(&stored, since) && !is_snapshot(&stored.line.body) {
                store.record(stored.line);
            }
            if store.pending() >= COMMIT {
                store.commit().await?;
            }
        }
    }
    store.close().await?;
    let mut made = Reader::open(&copy).await?;
    let verified = made.verify().await?;
    made.close().await;
    Ok(CompactedCopy { file, url: copy, compaction, verified })
}

fn is_old_candle(stored: &StoredLine, since: Millis) -> bool {
    let line = &stored.line;
    line.kind == LineKind::Event && line.at < since && line.body.contains("\"event\":\"candle\"")
}

impl Reader {
    /// How many exchanges are left out: those about no intent that are older, and those before the first seal.
    async fn old_exchanges(&mut self, since: Millis) -> Result<u64, JournalError> {
        if self.schema < EXCHANGES_SINCE {
            return Ok(0);
        }
        let first = self.seals.next(0).map_or(i64::MAX, |(first, _)| first.cast_signed());
        let text = "SELECT COUNT(*) FROM wires WHERE id < $1 OR (intent IS NULL AND sent < $2)";
        self.count(text, &[first, since.get()]).await
    }
}
