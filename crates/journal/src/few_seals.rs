//! Reads the seals of a few exchanges without walking the whole journal.

use crate::database::fault::from_sqlx;
use crate::{JournalError, Reader};
use sqlx::Row;
use std::ops::Range;

const PAGE: u32 = 5_000;

impl Reader {
    /// Reads the seals among these lines and verifies them against their predecessors.
    ///
    /// Later reads of exchanges are checked against these seals and those of the last walk. An
    /// exchange without a known seal triggers a walk of the whole journal.
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
