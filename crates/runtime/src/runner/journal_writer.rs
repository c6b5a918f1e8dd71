//! The journal of a run as the runner writes it: it takes entries at any moment, and those that come while it is being made
//! durable wait until it is back.

use crate::coordinator::JournalEntry;
use candlewick_engine::Entry;
use candlewick_journal::{Journal, JournalError, LoggedExchange, MAX_PENDING, OrderToken};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// A journal that does not answer within this is not available.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long whoever wants the journal waits for a piece of a snapshot that is on its way, before it is given up.
const PATIENCE: Duration = Duration::from_millis(50);

type Away = Pin<Box<dyn Future<Output = (Box<dyn Journal>, Result<(), JournalError>, Duration)> + Send>>;

/// A journal, here or on its way to the disk.
pub(crate) struct JournalWriter {
    place: Place,
    /// What came while it was away, in order.
    waiting: Vec<Waiting>,
    /// What came of the entries that waited for a snapshot: said with the next return.
    taken: io::Result<()>,
}

enum Place {
    Here(Box<dyn Journal>),
    Away(Away),
    /// It keeps a snapshot, which nobody waits for.
    Storing(Storing),
    /// Only between the two.
    Moving,
}

/// A journal that keeps a piece of a snapshot.
struct Storing {
    kept: Pin<Box<dyn Future<Output = Box<dyn Journal>> + Send>>,
    /// Tells it to come to an end. None once somebody waits for that.
    hurry: Option<oneshot::Sender<()>>,
}

/// What waits for the journal.
enum Waiting {
    Entry(JournalEntry),
    Exchange(LoggedExchange),
    Answer(OrderToken, String),
}

/// What a journal says when it is asked whether it is still ours.
pub(crate) enum Confirmed {
    /// It was here.
    Here(Result<(), JournalError>),
    /// It was on its way to the disk, and came back.
    Returned(Returned),
}

/// What a journal came back with.
pub(crate) struct Returned {
    /// Whether all that it had taken when it left is durable.
    pub(crate) durable: Result<(), JournalError>,
    /// Whether it took what had waited for it.
    pub(crate) taken: io::Result<()>,
    /// How long it was away.
    pub(crate) took: Duration,
}

impl JournalWriter {
    pub(crate) fn new(journal: Box<dyn Journal>) -> Self {
        Self { place: Place::Here(journal), waiting: Vec::new(), taken: Ok(()) }
    }

    /// Takes an entry.
    ///
    /// # Errors
    /// When the journal does not take it, or too many wait for it.
    pub(crate) fn record(&mut self, entry: JournalEntry) -> io::Result<()> {
        match &mut self.place {
            Place::Here(journal) => write(journal.as_mut(), entry),
            Place::Away(_) | Place::Storing(_) | Place::Moving if self.waiting.len() >= MAX_PENDING => {
                Err(io::Error::other("too many entries wait for a journal that does not answer"))
            }
            Place::Away(_) | Place::Storing(_) | Place::Moving => {
                self.waiting.push(Waiting::Entry(entry));
                Ok(())
            }
        }
    }

    /// Takes a request and its answer; where too many wait it is left out.
    pub(crate) fn record_exchange(&mut self, exchange: LoggedExchange) {
        match &mut self.place {
            Place::Here(journal) => journal.record_exchange(exchange),
            Place::Away(_) | Place::Storing(_) | Place::Moving if self.waiting.len() >= MAX_PENDING => {}
            Place::Away(_) | Place::Storing(_) | Place::Moving => {
                self.waiting.push(Waiting::Exchange(exchange));
            }
        }
    }

    /// Takes the answer to an order; where too much waits it is left out, and the order comes again.
    pub(crate) fn answer_order(&mut self, order: OrderToken, answer: String) {
        match &mut self.place {
            Place::Here(journal) => journal.answer_order(order, answer),
            Place::Away(_) | Place::Storing(_) | Place::Moving if self.waiting.len() >= MAX_PENDING => {}
            Place::Away(_) | Place::Storing(_) | Place::Moving => {
                self.waiting.push(Waiting::Answer(order, answer));
            }
        }
    }

    /// Asks the journal itself whether it is ours, and waits for that: what was on its way before does not say.
    pub(crate) async fn confirm(&mut self) -> Confirmed {
        self.end_storing().await;
        let is_away = matches!(self.place, Place::Away(_));
        let earlier = if is_away { Some(self.returned().await) } else { None };
        self.make_durable();
        let Returned { durable, taken, took } = self.returned().await;
        match earlier {
            None => Confirmed::Here(durable),
            Some(earlier) => Confirmed::Returned(Returned {
                durable: earlier.durable.and(durable),
                taken: earlier.taken.and(taken),
                took: earlier.took + took,
            }),
        }
    }

    /// Begins to make durable what the journal has taken. One that is away already is left alone, one that keeps a snapshot
    /// comes back soon and goes.
    pub(crate) fn make_durable(&mut self) {
        self.place = match std::mem::replace(&mut self.place, Place::Moving) {
            Place::Here(journal) => Place::Away(Box::pin(make_durable(journal))),
            Place::Storing(mut storing) => {
                // Nobody listens where it has come to its end.
                let _ = storing.hurry.take().map(|hurry| hurry.send(()));
                Place::Storing(storing)
            }
            away => away,
        };
    }

    /// Lets a journal that has nothing else to do keep a piece of a snapshot, where one is due; waits for that only where time stands
    /// still meanwhile.
    pub(crate) async fn keep_snapshot(&mut self, waits: bool) {
        self.place = match std::mem::replace(&mut self.place, Place::Moving) {
            Place::Here(journal) if journal.is_snapshot_due() => {
                let (hurry, hurried) = oneshot::channel();
                Place::Storing(Storing { kept: Box::pin(keep(journal, hurried)), hurry: Some(hurry) })
            }
            other => other,
        };
        if waits {
            self.end_storing().await;
        }
    }

    /// Waits for the end of a snapshot, if one is being kept.
    async fn end_storing(&mut self) {
        let Place::Storing(storing) = &mut self.place else { return };
        let journal = storing.kept.as_mut().await;
        let is_wanted = storing.hurry.is_none();
        self.place = Place::Here(journal);
        let taken = self.hand_in();
        self.taken = std::mem::replace(&mut self.taken, Ok(())).and(taken);
        if is_wanted {
            self.make_durable();
        }
    }

    /// Waits for the journal to come back, for ever when it is not away. Dropped on the way, nothing is lost.
    pub(crate) async fn returned(&mut self) -> Returned {
        self.end_storing().await;
        let Place::Away(away) = &mut self.place else { return std::future::pending().await };
        let (journal, durable, took) = away.await;
        self.place = Place::Here(journal);
        let taken = std::mem::replace(&mut self.taken, Ok(())).and(self.hand_in());
        Returned { durable, taken, took }
    }

    /// Hands in what has waited for the journal.
    fn hand_in(&mut self) -> io::Result<()> {
        let mut taken = Ok(());
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting {
                Waiting::Entry(entry) => taken = taken.and(self.record(entry)),
                Waiting::Exchange(exchange) => self.record_exchange(exchange),
                Waiting::Answer(order, answer) => self.answer_order(order, answer),
            }
        }
        taken
    }

    /// Makes all durable and lets others have the journal.
    ///
    /// # Errors
    /// As [`Journal::close`].
    pub(crate) async fn close(&mut self) -> Result<(), JournalError> {
        self.end_storing().await;
        match &mut self.place {
            Place::Here(journal) => within_deadline(journal.close()).await,
            Place::Away(_) | Place::Storing(_) | Place::Moving => Ok(()),
        }
    }
}

fn write(journal: &mut dyn Journal, entry: JournalEntry) -> io::Result<()> {
    match entry {
        JournalEntry::Header(header) => journal.record(Entry::Header(&header)),
        JournalEntry::Event(event) => journal.record(Entry::Event(&event)),
        JournalEntry::Action(action) => journal.record(Entry::Action(&action)),
        JournalEntry::Note(at, body) => {
            journal.note(at, body);
            Ok(())
        }
        JournalEntry::NoteAbout(at, intent, body) => {
            journal.note_about(at, intent, body);
            Ok(())
        }
    }
}

async fn make_durable(
    mut journal: Box<dyn Journal>,
) -> (Box<dyn Journal>, Result<(), JournalError>, Duration) {
    let began = Instant::now();
    let durable = within_deadline(journal.make_durable()).await;
    (journal, durable, began.elapsed())
}

async fn keep(mut journal: Box<dyn Journal>, hurried: oneshot::Receiver<()>) -> Box<dyn Journal> {
    let enough = async {
        // None hurries where time stands still meanwhile.
        drop(tokio::time::timeout(DEADLINE, hurried).await);
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        biased;
        () = journal.keep_snapshot() => {}
        () = enough => {}
    }
    journal
}

async fn within_deadline(done: impl Future<Output = Result<(), JournalError>>) -> Result<(), JournalError> {
    match tokio::time::timeout(DEADLINE, done).await {
        Ok(done) => done,
        Err(elapsed) => {
            Err(JournalError::Unavailable { url: "the journal".to_owned(), source: elapsed.into() })
        }
    }
}
