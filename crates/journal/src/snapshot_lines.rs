//! Finds the last snapshot of a journal, and reads the lines after it.

use crate::database::connection::{ANSWER_DEADLINE, within};
use crate::database::fault::from_sqlx;
use crate::reader::broken;
use crate::{ChainHash, Head, JournalError, Reader, StoredLine, Walk, lease, point};
use candlewick_sdk::Millis;
use sqlx::Row;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const SNAPSHOT_NEAR: u64 = 1_000_000;

const AT_ONCE: usize = 32;
static NUMBERED: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=AT_ONCE * 2).map(|place| format!("${place}")).collect();
    let columns = "seq, run, kind, intent, at, received, body, hash";
    format!("SELECT {columns} FROM entries WHERE seq IN ({})", places.join(", "))
});

impl Reader {
    /// Walks the lines after `head`, verified against it and the last verified line.
    ///
    /// Lines are only trustworthy once the walk has reached its end.
    pub async fn walk_after(&mut self, head: Head, page: u32) -> Result<Walk<'_>, JournalError> {
        Walk::begin_after(self, head, page).await
    }

    /// Returns the last complete verified snapshot, `None` if none is known nearby.
    ///
    /// The last verified line is recorded in the file next to the journal, or in a server's lease.
    pub async fn last_snapshot(&mut self) -> Result<Option<StoredLine>, JournalError> {
        let url = self.url().clone();
        let verified = match url.file() {
            Some(_) => point::read(&url),
            None => Some(within(ANSWER_DEADLINE, &url, lease::read_head(self.any(), &url)).await?),
        };
        let Some(verified) = verified else { return Ok(None) };
        let text = "SELECT seq FROM entries WHERE seq > $1 AND seq <= $2 AND kind = 'note' \
                    AND body LIKE '{\"snapshot\":%' ORDER BY seq DESC LIMIT 1";
        let from = verified.seq.saturating_sub(SNAPSHOT_NEAR);
        let rows = self.rows(text, &[from.cast_signed(), verified.seq.cast_signed()]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let seq: i64 = row.try_get(0).map_err(|error| from_sqlx(error, self.url()))?;
        self.sound_line(seq.cast_unsigned()).await
    }

    pub async fn line_at(&mut self, head: Head) -> Result<Option<StoredLine>, JournalError> {
        Ok(self.sound_line(head.seq).await?.filter(|line| line.hash == head.hash))
    }

    /// Reads the lines of these numbers, each verified against its predecessor.
    pub async fn lines_numbered(&mut self, numbers: &[u64]) -> Result<Vec<StoredLine>, JournalError> {
        let mut lines = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(AT_ONCE) {
            // Each with the one before it; what is missing at the end of the statement is asked for twice.
            let asked =
                (0..AT_ONCE).map(|place| some.get(place).or(some.last()).copied().unwrap_or_default());
            let asked: Vec<i64> =
                asked.flat_map(|seq| [seq.saturating_sub(1), seq]).map(u64::cast_signed).collect();
            let found: BTreeMap<u64, StoredLine> = self
                .lines_of_rows(&NUMBERED, &asked)
                .await?
                .into_iter()
                .map(|line| (line.seq, line))
                .collect();
            for seq in some {
                let before = found.get(&seq.saturating_sub(1)).map_or(ChainHash::GENESIS, |line| line.hash);
                let line = found.get(seq).filter(|line| before.of_next(*seq, &line.line) == line.hash);
                lines.push(
                    line.cloned().ok_or_else(|| broken(self.url(), *seq, "it is missing, or was changed"))?,
                );
            }
        }
        Ok(lines)
    }

    pub async fn sound_lines_between(
        &mut self,
        from: Millis,
        to: Millis,
        limit: u32,
    ) -> Result<Vec<StoredLine>, JournalError> {
        let lines = self.lines_between(from, to, limit).await?;
        self.check(&lines).await?;
        Ok(lines)
    }

    pub async fn sound_lines_of(&mut self, intent: u64) -> Result<Vec<StoredLine>, JournalError> {
        let lines = self.lines_of(intent).await?;
        self.check(&lines).await?;
        Ok(lines)
    }

    async fn check(&mut self, lines: &[StoredLine]) -> Result<(), JournalError> {
        let mut before: Option<Head> = None;
        for stored in lines {
            before = match before.filter(|before| before.seq + 1 == stored.seq) {
                None if stored.seq == 1 => Some(Head::EMPTY),
                None => self.lines(stored.seq - 1, 1).await?.first().map(StoredLine::head),
                before => before,
            };
            if before.map(|before| before.followed_by(&stored.line)) != Some(stored.head()) {
                return Err(broken(
                    self.url(),
                    stored.seq,
                    "it, or the one before it, was changed or is missing",
                ));
            }
            before = Some(stored.head());
        }
        Ok(())
    }

    async fn sound_line(&mut self, seq: u64) -> Result<Option<StoredLine>, JournalError> {
        let lines = self.lines(seq.saturating_sub(1), 2).await?;
        let Some(line) = lines.iter().find(|line| line.seq == seq) else { return Ok(None) };
        let before =
            lines.iter().find(|line| line.seq + 1 == seq).map_or(ChainHash::GENESIS, |line| line.hash);
        Ok(Some(line.clone()).filter(|line| before.of_next(seq, &line.line) == line.hash))
    }
}
