//! Finds the headers of runs without reading the lines in between.

use crate::database::fault::from_sqlx;
use crate::{JournalError, LineKind, Reader, StoredLine};
use sqlx::Row;

/// Number of lines, from the first one of a run, that contain the run's header.
///
/// Lines that an operator wrote while no bot was running belong to no run.
const AROUND: u32 = 500;

impl Reader {
    /// Returns the unverified header of the last run, `None` if there is no run.
    pub async fn last_run_header(&mut self) -> Result<Option<StoredLine>, JournalError> {
        let head = self.head().await?.seq;
        let Some(last) = self.run_until(head).await? else { return Ok(None) };
        self.header_of(last, 1, head).await
    }

    /// Returns the unverified headers of all runs, in order.
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

    pub async fn run_header(&mut self, run: u64) -> Result<Option<StoredLine>, JournalError> {
        let head = self.head().await?.seq;
        self.header_of(run, 1, head).await
    }

    /// Returns external signals from this line on with the Session's answers, unverified.
    pub async fn outside_signals_from(&mut self, seq: u64) -> Result<Vec<StoredLine>, JournalError> {
        // A day may begin before the answer.
        let text = "SELECT DISTINCT b.seq, b.run, b.kind, b.intent, b.at, b.received, b.body, b.hash FROM entries a \
                    JOIN entries b ON b.seq >= a.seq AND b.seq <= a.seq + 2 WHERE a.seq >= $1 AND a.kind = 'event' \
                    AND a.body LIKE '%\"event\":\"outside_signal\"%' AND (b.seq = a.seq OR b.kind = 'action') ORDER BY b.seq";
        self.lines_of_rows(text, &[seq.cast_signed()]).await
    }

    async fn run_from(&mut self, seq: u64) -> Result<Option<u64>, JournalError> {
        let text = "SELECT run FROM entries WHERE seq >= $1 AND run <> 0 ORDER BY seq LIMIT 1";
        self.run_of(text, seq).await
    }

    async fn run_until(&mut self, seq: u64) -> Result<Option<u64>, JournalError> {
        let text = "SELECT run FROM entries WHERE seq <= $1 AND run <> 0 ORDER BY seq DESC LIMIT 1";
        self.run_of(text, seq).await
    }

    async fn run_of(&mut self, text: &'static str, seq: u64) -> Result<Option<u64>, JournalError> {
        let rows = self.rows(text, &[seq.cast_signed()]).await?;
        let run = rows.first().map(|row| row.try_get::<i64, _>(0)).transpose();
        Ok(run.map_err(|error| from_sqlx(error, self.url()))?.map(i64::cast_unsigned))
    }

    /// Finds a run's first line by bisection. Lines of no run may precede it.
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
