//! Folds the lines of a journal into a Session, as startup does.

use crate::error::RecordsError;
use candlewick_engine::{Header, JournalDecoder, Recorded, Session};
use candlewick_journal::{LineKind, StoredLine};

use crate::lines::is_candle;

pub struct SessionFold {
    pub session: Session,
    recall: Option<JournalDecoder>,
}

impl SessionFold {
    pub const fn new(session: Session) -> Self {
        Self { session, recall: None }
    }

    /// Applies the next line. Returns its record, `None` for a header, a note or a candle.
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
