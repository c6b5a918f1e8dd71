//! Lines that nobody waits for, written in transactions of their own: what becomes of them, nothing else fails for it.

use crate::chain::Head;
use crate::database::connection::within;
use crate::{JournalError, Line, Store};
use std::time::Duration;

/// How long a line may take that nobody waits for.
const APART_DEADLINE: Duration = Duration::from_secs(2);

/// What becomes of lines that were to be written apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    /// They are written now.
    Written,
    /// Unless they were written before, they are left out.
    LeftOut,
}

impl Store {
    /// Writes a line that nobody waits for in a transaction of its own, while nothing else is buffered; where it stands. Of an attempt that fails or is dropped
    /// nothing is left: what is recorded next is chained to what was durable before, or to this line where it was written after all.
    ///
    /// # Errors
    /// As [`Store::commit`]; something is buffered.
    pub(crate) async fn commit_apart(&mut self, line: Line) -> Result<Head, JournalError> {
        let url = self.url.clone();
        if self.pending() > 0 || self.apart > 0 {
            let source = "other entries wait for the journal".into();
            return Err(JournalError::Unavailable { url: url.to_string(), source });
        }
        let moment = self.moment;
        self.record(line);
        (self.moment, self.apart) = (moment, self.lines.len());
        within(APART_DEADLINE, &url, self.write(Apart::Written)).await?;
        self.apart = 0;
        Ok(self.head)
    }

    /// Leaves out what was to be written apart and was not, and chains what was recorded since to what is durable.
    pub(crate) fn leave_out_apart(&mut self) {
        drop(self.lines.drain(..std::mem::take(&mut self.apart)));
        let mut head = self.head;
        for pending in &mut self.lines {
            head = head.followed_by(&pending.line);
            pending.head = head;
        }
    }
}
