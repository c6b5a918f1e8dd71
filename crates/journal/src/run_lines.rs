//! The headers of a journal's runs, found without reading what stands between them.

use crate::database::fault::from_sqlx;
use crate::{JournalError, LineKind, Reader, StoredLine};
use sqlx::Row;

/// Lines among which the header of a run stands, from its first one on: those that a person wrote while no bot ran are none
/// of a run.
const AROUND: u32 = 500;

impl Reader {
    /// The header of the last run; none where there is no run yet. As it stands there, not verified.
    ///
    /// # Errors
    /// The database does not answer, or holds what is no line.
    pub async fn last_run_header(&mut self) -> Result<Option<StoredLine>, JournalError> {
        let head = self.head().await?.seq;
        let Some(last) = self.run_until(head).await? else { return Ok(None) };
        self.header_of(last, 1, head).await
    }

    /// The headers of all runs, in their order. As they stand there, not verified.
    ///
    /// # Errors
    /// As [`Reader::last_run_header`].
    pub async fn run_headers(&mut self) -> Result<Vec<StoredLine>, JournalError> {
        let (head, mut headers, mut from) = (self.head().await?.seq, Vec::new(), 1);
        while let Some(run) = self.run_from(from).await? {
            headers.extend(self.header_of(run, from, head).await?);
            // The first line of a later run.
            from = self.first_of(run + 1, from, head).await?;
            if from >= head {
                break;
            }
        }
        Ok(headers)
    }

    /// The header of the run of this number; none where there is no such run. As it stands there, not verified.
    ///
    /// # Errors
    /// As [`Reader::last_run_header`].
    pub async fn run_header(&mut self, run: u64) -> Result<Option<StoredLine>, JournalError> {
        let head = self.head().await?.seq;
        self.header_of(run, 1, head).await
    }

    /// From this line on, the signals from outside that a Session was handed, each with what it answered behind it. As they stand there, not
    /// verified.
    ///
    /// # Errors
    /// As [`Reader::last_run_header`].
    pub async fn outside_signals_from(&mut self, seq: u64) -> Result<Vec<StoredLine>, JournalError> {
        // A day may begin before the answer.
        let text = "SELECT DISTINCT b.seq, b.run, b.kind, b.intent, b.at, b.received, b.body, b.hash FROM entries a \
                    JOIN entries b ON b.seq >= a.seq AND b.seq <= a.seq + 2 WHERE a.seq >= $1 AND a.kind = 'event' \
                    AND a.body LIKE '%\"event\":\"outside_signal\"%' AND (b.seq = a.seq OR b.kind = 'action') ORDER BY b.seq";
        self.lines_of_rows(text, &[seq.cast_signed()]).await
    }

    /// The run of the first line from this one on that is of a run.
    async fn run_from(&mut self, seq: u64) -> Result<Option<u64>, JournalError> {
        let text = "SELECT run FROM entries WHERE seq >= $1 AND run <> 0 ORDER BY seq LIMIT 1";
        self.run_of(text, seq).await
    }

    /// The run of the last line up to this one that is of a run.
    async fn run_until(&mut self, seq: u64) -> Result<Option<u64>, JournalError> {
        let text = "SELECT run FROM entries WHERE seq <= $1 AND run <> 0 ORDER BY seq DESC LIMIT 1";
        self.run_of(text, seq).await
    }

    async fn run_of(&mut self, text: &'static str, seq: u64) -> Result<Option<u64>, JournalError> {
        let rows = self.rows(text, &[seq.cast_signed()]).await?;
        let run = rows.first().map(|row| row.try_get::<i64, _>(0)).transpose();
        Ok(run.map_err(|error| from_sqlx(error, self.url()))?.map(i64::cast_unsigned))
    }

    /// Where the lines of this run, or of a later one, begin: runs ascend, so it is found by halving. Lines of no run may stand before.
    async fn first_of(&mut self, run: u64, from: u64, head: u64) -> Result<u64, JournalError> {
        let (mut low, mut high) = (from, head);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.run_from(middle).await?.is_none_or(|there| there >= run) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    async fn header_of(
        &mut self,
        run: u64,
        from: u64,
        head: u64,
    ) -> Result<Option<StoredLine>, JournalError> {
        let first = self.first_of(run, from, head).await?;
        let around = self.lines(first, AROUND).await?;
        Ok(around.into_iter().find(|stored| stored.line.kind == LineKind::Run && stored.line.run == run))
    }
}
