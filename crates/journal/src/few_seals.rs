//! The seals of a few exchanges, read without the rest of the journal.

use crate::database::fault::from_sqlx;
use crate::{JournalError, Reader};
use sqlx::Row;
use std::ops::Range;

/// Lines read at once where the whole is walked after all.
const PAGE: u32 = 5_000;

impl Reader {
    /// Reads the seals among the lines of these numbers, each held to the hash before it. From now on the exchanges that are asked for
    /// are held against these and those of the last walk; where one of them has its seal elsewhere, or none, the whole journal is
    /// walked for it.
    ///
    /// # Errors
    /// [`JournalError::BrokenChain`] where a seal is not as it was written; the database does not answer.
    pub async fn read_seals(&mut self, numbers: Range<u64>) -> Result<(), JournalError> {
        let text = "SELECT seq FROM entries WHERE seq >= $1 AND seq < $2 AND kind = 'note' \
                    AND body LIKE '{\"exchanges\":%' ORDER BY seq";
        let rows = self.rows(text, &[numbers.start.cast_signed(), numbers.end.cast_signed()]).await?;
        let numbers = rows.iter().map(|row| row.try_get::<i64, _>(0).map(i64::cast_unsigned));
        let numbers: Result<Vec<u64>, sqlx::Error> = numbers.collect();
        let numbers = numbers.map_err(|error| from_sqlx(error, self.url()))?;
        for stored in self.lines_numbered(&numbers).await? {
            self.seals.take(stored.seq, &stored.line.body);
        }
        self.knows_few_seals = true;
        Ok(())
    }

    /// Walks the whole journal where only some seals are known, and that of one of these exchanges is none of them.
    pub(crate) async fn need_seals(&mut self, exchanges: &[u64]) -> Result<(), JournalError> {
        if !self.knows_few_seals || exchanges.iter().all(|id| self.seals.holds(*id)) {
            return Ok(());
        }
        let mut walk = self.walk(PAGE).await?;
        while !walk.next().await?.is_empty() {}
        self.knows_few_seals = false;
        Ok(())
    }
}
