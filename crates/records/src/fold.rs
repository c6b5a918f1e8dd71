//! The lines of a journal folded into a Session, as a start does it.

use crate::error::RecordsError;
use candlewick_engine::{Header, JournalDecoder, Recorded, Session};
use candlewick_journal::{LineKind, StoredLine};

use crate::lines::is_candle;

/// A Session and how the entries of the present run are read into it.
pub struct SessionFold {
    /// What the lines so far have made of it.
    pub session: Session,
    recall: Option<JournalDecoder>,
}

impl SessionFold {
    /// Into a Session that has seen nothing yet.
    pub const fn new(session: Session) -> Self {
        Self { session, recall: None }
    }

    /// Takes the next line; what it recorded, unless it is a header, a note or a candle.
    ///
    /// # Errors
    /// The line is no entry.
    pub fn take(&mut self, stored: &StoredLine) -> Result<Option<Recorded>, RecordsError> {
        let body = &stored.line.body;
        let recorded = match (stored.line.kind, &mut self.recall) {
            (LineKind::Run, recall) => {
                let header: Header =
                    serde_json::from_str(body).map_err(|error| RecordsError::unreadable(stored, error))?;
                let made = JournalDecoder::of_run(&header, &mut self.session);
                *recall = Some(made.map_err(|error| RecordsError::unreadable(stored, error))?);
                return Ok(None);
            }
            (LineKind::Note, _) => return Ok(None),
            (LineKind::Event, _) if is_candle(stored) => return Ok(None),
            (_, None) => return Err(RecordsError::unreadable(stored, "it stands before any run")),
            (LineKind::Event, Some(recall)) => recall.read_event(body),
            (LineKind::Action, Some(recall)) => recall.read_action(body),
        };
        let recorded = recorded.map_err(|error| RecordsError::unreadable(stored, error))?;
        self.session.recall(&recorded);
        Ok(Some(recorded))
    }
}
