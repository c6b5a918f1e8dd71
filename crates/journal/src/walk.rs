//! Walk over a journal that verifies each line.

use crate::chain::{Head, StoredLine};
use crate::database::connection::{ANSWER_DEADLINE, within};
use crate::reader::{EXCHANGES_SINCE, Reader, broken};
use crate::{JournalError, JournalUrl, LineKind, lease, point};
use sqlx::Row;
use sqlx::any::AnyRow;

/// A walk over all lines. Each is verified, but only the end proves completeness.
pub struct Walk<'a> {
    reader: &'a mut Reader,
    url: JournalUrl,
    page: u32,
    head: Head,
    remembered: Head,
    point: Option<Head>,
}

impl<'a> Walk<'a> {
    pub(crate) async fn begin(reader: &'a mut Reader, page: u32) -> Result<Self, JournalError> {
        let url = reader.url().clone();
        // Both first: lines that are written meanwhile lie after them.
        let point = point::read(&url);
        let remembered = within(ANSWER_DEADLINE, &url, lease::read_head(reader.any(), &url)).await?;
        Ok(Self { reader, url, page, head: Head::EMPTY, remembered, point })
    }

    /// Begins a walk after a line that is trusted for now.
    ///
    /// It is verified once the walk has passed the last previously verified line.
    pub(crate) async fn begin_after(
        reader: &'a mut Reader,
        head: Head,
        page: u32,
    ) -> Result<Self, JournalError> {
        let walk = Self { head, ..Self::begin(reader, page).await? };
        for known in [Some(walk.remembered), walk.point].into_iter().flatten() {
            if known.seq == head.seq && known.hash != head.hash {
                return Err(broken(&walk.url, head.seq, "it is not the entry that was written"));
            }
        }
        Ok(walk)
    }

    pub async fn next(&mut self) -> Result<Vec<StoredLine>, JournalError> {
        let from = self.head.seq + 1;
        let page = match self.reader.lines(from, self.page).await {
            // A row that cannot be read hides the sound ones of its page: one at a time, then.
            Err(JournalError::BrokenChain { .. }) => match self.reader.lines(from, 1).await {
                Err(JournalError::BrokenChain { reason, .. }) => {
                    return Err(broken(&self.url, from, &reason));
                }
                line => line?,
            },
            page => page?,
        };
        for stored in &page {
            self.take(stored)?;
        }
        if page.is_empty() {
            self.check_end()?;
        }
        Ok(page)
    }

    pub const fn head(&self) -> Head {
        self.head
    }

    pub(crate) const fn reader(&mut self) -> &mut Reader {
        self.reader
    }

    fn take(&mut self, stored: &StoredLine) -> Result<(), JournalError> {
        let next = self.head.followed_by(&stored.line);
        let reason = if stored.seq == next.seq { "it was changed" } else { "it is missing" };
        if next != (Head { seq: stored.seq, hash: stored.hash }) {
            return Err(broken(&self.url, next.seq, reason));
        }
        if next.seq == self.remembered.seq && next.hash != self.remembered.hash {
            return Err(broken(&self.url, next.seq, "it is not the entry that was written"));
        }
        if self.point.is_some_and(|point| next.seq == point.seq && next.hash != point.hash) {
            let reason =
                format!("it, or one before it, is not what was verified there before{}", self.advice());
            return Err(broken(&self.url, next.seq, &reason));
        }
        if stored.line.kind == LineKind::Note {
            self.reader.seals.take(stored.seq, &stored.line.body);
        }
        self.head = next;
        Ok(())
    }

    fn check_end(&self) -> Result<(), JournalError> {
        if self.head.seq < self.remembered.seq {
            return Err(broken(&self.url, self.head.seq + 1, "it is missing"));
        }
        match self.point {
            Some(point) if self.head.seq < point.seq => {
                let reason = format!("it was verified before, and is missing{}", self.advice());
                Err(broken(&self.url, self.head.seq + 1, &reason))
            }
            _ => Ok(()),
        }
    }

    fn advice(&self) -> String {
        let file = point::path_of(&self.url).unwrap_or_default();
        format!(
            " (if you put another journal in its place yourself, remove {}, which remembers the former one)",
            file.display()
        )
    }
}

impl Reader {
    /// Counts an intent's exchanges outside of the chain of the last [`Reader::walk`].
    ///
    /// An older program wrote them, so they cannot be verified.
    pub async fn exchanges_outside_of(&mut self, intent: u64) -> Result<u64, JournalError> {
        if self.schema < EXCHANGES_SINCE {
            return Ok(0);
        }
        let rows = self.rows("SELECT id FROM wires WHERE intent = $1", &[intent.cast_signed()]).await?;
        let number = |row: &AnyRow| row.try_get(0).map_or(0, i64::cast_unsigned);
        let numbers: Vec<u64> = rows.iter().map(number).collect();
        self.need_seals(&numbers).await?;
        Ok(numbers.iter().filter(|id| !self.seals.holds(**id)).count() as u64)
    }
}
