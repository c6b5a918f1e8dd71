//! Best-effort lines in transactions of their own, whose failure affects nothing else.

use crate::chain::Head;
use crate::database::connection::within;
use crate::{JournalError, Line, Store};
use std::time::Duration;

const APART_DEADLINE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    Written,
    LeftOut,
}

impl Store {
    /// Writes a best-effort line in its own transaction. Nothing may be buffered.
    ///
    /// A failed or cancelled attempt leaves nothing behind: the next line is chained to the last
    /// durable line, which is this one if it was written after all.
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

    pub(crate) fn leave_out_apart(&mut self) {
        drop(self.lines.drain(..std::mem::take(&mut self.apart)));
        let mut head = self.head;
        for pending in &mut self.lines {
            head = head.followed_by(&pending.line);
            pending.head = head;
        }
    }
}
