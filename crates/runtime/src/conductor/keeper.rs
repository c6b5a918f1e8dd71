//! The journal of a run, which takes entries at any moment: those that come while it is being made durable wait until
//! it is back.

use candlewick_engine::{Action, Entry, Event, Header, IntentId};
use candlewick_journal::{Journal, JournalError, LoggedExchange, MAX_PENDING};
use candlewick_sdk::Millis;
use std::io;
use std::pin::Pin;
use std::time::Duration;

/// A journal that does not answer within this is not available.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

type Away = Pin<Box<dyn Future<Output = (Box<dyn Journal>, Result<(), JournalError>)> + Send>>;

/// A journal, here or on its way to the disk.
pub(super) struct Keeper {
    place: Place,
    /// What came while it was away, in order.
    waiting: Vec<Waiting>,
}

enum Place {
    Here(Box<dyn Journal>),
    Away(Away),
    /// Only between the two.
    Nowhere,
}

/// An entry that waits for the journal.
enum Waiting {
    Header(Box<Header>),
    Event(Event),
    Action(Action),
    Note(Millis, String),
    NoteAbout(Millis, IntentId, String),
    LoggedExchange(LoggedExchange),
}

/// What a journal came back with.
pub(super) struct Returned {
    /// Whether all that it had taken when it left is durable.
    pub(super) kept: Result<(), JournalError>,
    /// Whether it took what had waited for it.
    pub(super) taken: io::Result<()>,
}

impl Keeper {
    pub(super) fn new(journal: Box<dyn Journal>) -> Self {
        Self { place: Place::Here(journal), waiting: Vec::new() }
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// When the journal does not take it, or too many wait for it.
    pub(super) fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        match &mut self.place {
            Place::Here(journal) => journal.record(entry),
            Place::Away(_) | Place::Nowhere if self.waiting.len() >= MAX_PENDING => {
                Err(io::Error::other("too many entries wait for a journal that does not answer"))
            }
            Place::Away(_) | Place::Nowhere => {
                self.waiting.push(Waiting::of(entry));
                Ok(())
            }
        }
    }

    /// Takes an alarm or a finding.
    pub(super) fn note(&mut self, at: Millis, body: String) {
        match &mut self.place {
            Place::Here(journal) => journal.note(at, body),
            Place::Away(_) | Place::Nowhere => self.waiting.push(Waiting::Note(at, body)),
        }
    }

    /// Takes a note that belongs to an intent.
    pub(super) fn note_about(&mut self, at: Millis, intent: IntentId, body: String) {
        match &mut self.place {
            Place::Here(journal) => journal.note_about(at, intent, body),
            Place::Away(_) | Place::Nowhere => self.waiting.push(Waiting::NoteAbout(at, intent, body)),
        }
    }

    /// Takes a request and its answer.
    pub(super) fn record_exchange(&mut self, exchange: LoggedExchange) {
        match &mut self.place {
            Place::Here(journal) => journal.record_exchange(exchange),
            Place::Away(_) | Place::Nowhere if self.waiting.len() >= MAX_PENDING => {}
            Place::Away(_) | Place::Nowhere => self.waiting.push(Waiting::LoggedExchange(exchange)),
        }
    }

    /// How many entries are not durable, as far as is known here.
    pub(super) fn pending(&self) -> usize {
        let taken = match &self.place {
            Place::Here(journal) => journal.pending(),
            Place::Away(_) | Place::Nowhere => 0,
        };
        taken + self.waiting.len()
    }

    pub(super) const fn is_away(&self) -> bool {
        matches!(self.place, Place::Away(_))
    }

    /// Sends the journal to make what it has taken durable. One that is away already is left alone.
    pub(super) fn send(&mut self) {
        self.place = match std::mem::replace(&mut self.place, Place::Nowhere) {
            Place::Here(journal) => Place::Away(Box::pin(make_durable(journal))),
            away => away,
        };
    }

    /// Waits for the journal to come back, for ever when it is not away. Dropped on the way, nothing is lost.
    pub(super) async fn returned(&mut self) -> Returned {
        let Place::Away(away) = &mut self.place else { return std::future::pending().await };
        let (journal, kept) = away.await;
        self.place = Place::Here(journal);
        let mut taken = Ok(());
        for waiting in std::mem::take(&mut self.waiting) {
            taken = taken.and(self.hand_over(waiting));
        }
        Returned { kept, taken }
    }

    /// Makes all durable and lets others have the journal.
    ///
    /// # Errors
    /// As [`Journal::close`].
    pub(super) async fn close(&mut self) -> Result<(), JournalError> {
        match &mut self.place {
            Place::Here(journal) => within_deadline(journal.close()).await,
            Place::Away(_) | Place::Nowhere => Ok(()),
        }
    }

    fn hand_over(&mut self, waiting: Waiting) -> io::Result<()> {
        match waiting {
            Waiting::Header(header) => self.record(Entry::Header(&header)),
            Waiting::Event(event) => self.record(Entry::Event(&event)),
            Waiting::Action(action) => self.record(Entry::Action(&action)),
            Waiting::Note(at, body) => {
                self.note(at, body);
                Ok(())
            }
            Waiting::NoteAbout(at, intent, body) => {
                self.note_about(at, intent, body);
                Ok(())
            }
            Waiting::LoggedExchange(exchange) => {
                self.record_exchange(exchange);
                Ok(())
            }
        }
    }
}

impl Waiting {
    fn of(entry: Entry<'_>) -> Self {
        match entry {
            Entry::Header(header) => Self::Header(Box::new(header.clone())),
            Entry::Event(event) => Self::Event(*event),
            Entry::Action(action) => Self::Action(action.clone()),
        }
    }
}

async fn make_durable(mut journal: Box<dyn Journal>) -> (Box<dyn Journal>, Result<(), JournalError>) {
    let kept = within_deadline(journal.make_durable()).await;
    (journal, kept)
}

async fn within_deadline(kept: impl Future<Output = Result<(), JournalError>>) -> Result<(), JournalError> {
    match tokio::time::timeout(DEADLINE, kept).await {
        Ok(kept) => kept,
        Err(elapsed) => Err(unavailable(elapsed.into())),
    }
}

/// That the journal cannot be kept for now.
pub(super) fn unavailable(source: Box<dyn std::error::Error + Send + Sync>) -> JournalError {
    JournalError::Unavailable { url: "the journal".to_owned(), source }
}
