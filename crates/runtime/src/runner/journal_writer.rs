//! Writes the journal for the runner. Entries are queued while a save makes the journal durable.

use crate::coordinator::JournalEntry;
use candlewick_engine::Entry;
use candlewick_journal::{Journal, JournalError, LoggedExchange, MAX_PENDING, OrderToken};
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

const JOURNAL_DEADLINE: Duration = Duration::from_secs(10);

/// Time that a snapshot piece gets to finish once the journal is needed. After that, the piece is abandoned.
const SNAPSHOT_GRACE_PERIOD: Duration = Duration::from_millis(50);

const WRITE_PAUSE: Duration = Duration::from_millis(20);
const MAX_WRITE_PAUSES: u32 = 50;

type SaveTask = Pin<Box<dyn Future<Output = (Box<dyn Journal>, Result<(), JournalError>, Duration)> + Send>>;

pub(crate) struct JournalWriter {
    slot: JournalSlot,
    waiting: Vec<QueuedItem>,
    write_result: io::Result<()>,
}

enum JournalSlot {
    Here(Box<dyn Journal>),
    Away(SaveTask),
    Storing(SnapshotTask),
    Moving,
}

struct SnapshotTask {
    kept: Pin<Box<dyn Future<Output = Box<dyn Journal>> + Send>>,
    hurry: Option<oneshot::Sender<()>>,
    is_wanted: bool,
}

impl SnapshotTask {
    fn request_early_finish(&mut self) {
        // Sending fails if the task has finished, which is not an error.
        let _ = self.hurry.take().map(|hurry| hurry.send(()));
    }
}

enum QueuedItem {
    Entry(JournalEntry),
    Exchange(LoggedExchange),
    Answer(OrderToken, String),
}

pub(crate) enum LeaseCheck {
    Here(Result<(), JournalError>),
    Returned(SaveReport),
}

pub(crate) struct SaveReport {
    pub(crate) save_result: Result<(), JournalError>,
    pub(crate) write_result: io::Result<()>,
    pub(crate) duration: Duration,
}

impl JournalWriter {
    pub(crate) fn new(journal: Box<dyn Journal>) -> Self {
        Self { slot: JournalSlot::Here(journal), waiting: Vec::new(), write_result: Ok(()) }
    }

    pub(crate) fn record(&mut self, entry: JournalEntry) -> io::Result<()> {
        self.write_or_queue(QueuedItem::Entry(entry))
    }

    pub(crate) fn record_exchange(&mut self, exchange: LoggedExchange) {
        drop(self.write_or_queue(QueuedItem::Exchange(exchange)));
    }

    /// Stores the answer to an operator's order. Drops it if the queue is full, because the order will be sent again.
    pub(crate) fn answer_order(&mut self, order: OrderToken, answer: String) {
        drop(self.write_or_queue(QueuedItem::Answer(order, answer)));
    }

    fn write_or_queue(&mut self, waiting: QueuedItem) -> io::Result<()> {
        let JournalSlot::Here(journal) = &mut self.slot else {
            if self.waiting.len() >= MAX_PENDING {
                return Err(io::Error::other(
                    "too many entries are waiting for a journal that does not respond",
                ));
            }
            self.waiting.push(waiting);
            return Ok(());
        };
        match waiting {
            QueuedItem::Entry(entry) => return write(journal.as_mut(), entry),
            QueuedItem::Exchange(exchange) => journal.record_exchange(exchange),
            QueuedItem::Answer(order, answer) => journal.answer_order(order, answer),
        }
        Ok(())
    }

    /// Checks that this process still holds the lease, by writing to the journal again.
    pub(crate) async fn confirm_lease(&mut self) -> LeaseCheck {
        self.finish_snapshot_early().await;
        let is_away = matches!(self.slot, JournalSlot::Away(_));
        let earlier = if is_away { Some(self.wait_for_save().await) } else { None };
        self.make_durable();
        let SaveReport { save_result: durable, write_result, duration } = self.wait_for_save().await;
        match earlier {
            None => LeaseCheck::Here(durable),
            Some(earlier) => LeaseCheck::Returned(SaveReport {
                save_result: earlier.save_result.and(durable),
                write_result: earlier.write_result.and(write_result),
                duration: earlier.duration + duration,
            }),
        }
    }

    pub(crate) fn make_durable(&mut self) {
        self.slot = match std::mem::replace(&mut self.slot, JournalSlot::Moving) {
            JournalSlot::Here(journal) => JournalSlot::Away(Box::pin(make_durable(journal))),
            JournalSlot::Storing(mut storing) => {
                storing.request_early_finish();
                storing.is_wanted = true;
                JournalSlot::Storing(storing)
            }
            away => away,
        };
    }

    /// Starts storing a snapshot piece if one is due and the journal is idle. Stores more while the tables catch up.
    /// If `waits` is true (for a virtual clock), stores only one piece and waits until it is stored.
    pub(crate) async fn write_snapshot_piece(&mut self, waits: bool) {
        self.slot = match std::mem::replace(&mut self.slot, JournalSlot::Moving) {
            JournalSlot::Here(journal) if journal.is_snapshot_due() => {
                let (hurry, hurried) = oneshot::channel();
                JournalSlot::Storing(SnapshotTask {
                    kept: Box::pin(store_piece(journal, hurried, !waits)),
                    hurry: Some(hurry),
                    is_wanted: false,
                })
            }
            other => other,
        };
        if waits {
            self.finish_snapshot().await;
        }
    }

    async fn finish_snapshot(&mut self) {
        let JournalSlot::Storing(storing) = &mut self.slot else { return };
        let journal = storing.kept.as_mut().await;
        let is_wanted = storing.is_wanted;
        self.slot = JournalSlot::Here(journal);
        let write_result = self.flush_queue();
        self.write_result = std::mem::replace(&mut self.write_result, Ok(())).and(write_result);
        if is_wanted {
            self.make_durable();
        }
    }

    async fn finish_snapshot_early(&mut self) {
        if let JournalSlot::Storing(storing) = &mut self.slot {
            storing.request_early_finish();
        }
        self.finish_snapshot().await;
    }

    /// Waits until the save in progress has ended. Never returns if no save is in progress. Cancel-safe.
    pub(crate) async fn wait_for_save(&mut self) -> SaveReport {
        self.finish_snapshot().await;
        let JournalSlot::Away(away) = &mut self.slot else { return std::future::pending().await };
        let (journal, durable, took) = away.await;
        self.slot = JournalSlot::Here(journal);
        let write_result = std::mem::replace(&mut self.write_result, Ok(())).and(self.flush_queue());
        SaveReport { save_result: durable, write_result, duration: took }
    }

    fn flush_queue(&mut self) -> io::Result<()> {
        let mut write_result = Ok(());
        for waiting in std::mem::take(&mut self.waiting) {
            write_result = write_result.and(self.write_or_queue(waiting));
        }
        write_result
    }

    pub(crate) async fn close(&mut self) -> Result<(), JournalError> {
        self.finish_snapshot_early().await;
        match &mut self.slot {
            JournalSlot::Here(journal) => within_deadline(journal.close()).await,
            JournalSlot::Away(_) | JournalSlot::Storing(_) | JournalSlot::Moving => Ok(()),
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

async fn store_piece(
    mut journal: Box<dyn Journal>,
    mut hurried: oneshot::Receiver<()>,
    goes_on: bool,
) -> Box<dyn Journal> {
    loop {
        let mut is_wanted = false;
        let enough = async {
            // This waits for the deadline, or for a signal to finish soon.
            drop(tokio::time::timeout(JOURNAL_DEADLINE, &mut hurried).await);
            is_wanted = true;
            tokio::time::sleep(SNAPSHOT_GRACE_PERIOD).await;
        };
        tokio::select! {
            biased;
            () = journal.write_background_chunk() => {}
            () = enough => {}
        }
        if is_wanted || !goes_on || !pause_until_due(journal.as_mut(), &mut hurried).await {
            return journal;
        }
    }
}

async fn pause_until_due(journal: &mut dyn Journal, hurried: &mut oneshot::Receiver<()>) -> bool {
    for _ in 0..MAX_WRITE_PAUSES {
        if !journal.is_catching_up() {
            return false;
        }
        if tokio::time::timeout(WRITE_PAUSE, &mut *hurried).await.is_ok() {
            return false;
        }
        if journal.is_snapshot_due() {
            return true;
        }
    }
    false
}

async fn within_deadline(done: impl Future<Output = Result<(), JournalError>>) -> Result<(), JournalError> {
    match tokio::time::timeout(JOURNAL_DEADLINE, done).await {
        Ok(done) => done,
        Err(elapsed) => {
            Err(JournalError::Unavailable { url: "the journal".to_owned(), source: elapsed.into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use candlewick_engine::Recorder;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    const PIECE: Duration = Duration::from_millis(10);

    struct Behind {
        pieces: u32,
        kept: Arc<AtomicU32>,
    }

    impl Recorder for Behind {
        fn record(&mut self, _: Entry<'_>) -> io::Result<()> {
            Ok(())
        }
    }

    #[async_trait]
    impl Journal for Behind {
        async fn make_durable(&mut self) -> Result<(), JournalError> {
            Ok(())
        }

        fn pending_count(&self) -> usize {
            0
        }

        fn is_snapshot_due(&self) -> bool {
            self.pieces > 0
        }

        fn is_catching_up(&self) -> bool {
            self.pieces > 0
        }

        async fn write_background_chunk(&mut self) {
            tokio::time::sleep(PIECE).await;
            self.pieces -= 1;
            self.kept.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn behind(pieces: u32) -> (JournalWriter, Arc<AtomicU32>) {
        let kept = Arc::new(AtomicU32::new(0));
        (JournalWriter::new(Box::new(Behind { pieces, kept: Arc::clone(&kept) })), kept)
    }

    #[tokio::test(start_paused = true)]
    async fn outdated_tables_catch_up_within_one_turn() {
        let (mut writer, kept) = behind(40);
        writer.write_snapshot_piece(false).await;
        drop(tokio::time::timeout(Duration::from_secs(2), writer.wait_for_save()).await);
        assert_eq!(kept.load(Ordering::Relaxed), 40);
        let (mut writer, kept) = behind(40);
        writer.write_snapshot_piece(true).await;
        assert_eq!(kept.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn save_waits_at_most_for_the_current_piece() {
        for after in [5, 15, 35] {
            let (mut writer, kept) = behind(1_000);
            writer.write_snapshot_piece(false).await;
            drop(tokio::time::timeout(Duration::from_millis(after), writer.wait_for_save()).await);
            let (before, wanted) = (kept.load(Ordering::Relaxed), Instant::now());
            writer.make_durable();
            let returned = writer.wait_for_save().await;
            assert!(returned.save_result.is_ok() && wanted.elapsed() <= PIECE, "{:?}", wanted.elapsed());
            assert!(kept.load(Ordering::Relaxed) <= before + 1);
            let closed = Instant::now();
            writer.write_snapshot_piece(false).await;
            writer.close().await.unwrap();
            assert!(closed.elapsed() <= PIECE, "{:?}", closed.elapsed());
        }
    }
}
